//! Attacks by panics in odd places.

mod common;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use actors_core::prelude::*;
use actors_core::{Flow, Message, WayBack};
use common::bomb::{Bomb, Drops};
use common::world::in_virtual_time;
use common::{settle, turned_out};
use futures::FutureExt;

/// Takes and gives values whose destructors panic.
struct Store {
    drops: Drops,
    kept: Vec<ReplyTo<Bomb>>,
    taken: Vec<Bomb>,
    handled: u32,
}

impl Store {
    fn of(drops: &Drops) -> impl Fn() -> Self + Send + Sync + 'static {
        let drops = drops.clone();
        move || Self {
            drops: drops.clone(),
            kept: Vec::new(),
            taken: Vec::new(),
            handled: 0,
        }
    }
}

#[actor]
impl Store {
    #[handler]
    fn give(&mut self) -> Bomb {
        self.handled += 1;
        self.drops.bomb()
    }

    #[handler]
    fn keep(&mut self, reply: ReplyTo<Bomb>) {
        self.kept.push(reply);
    }

    #[handler]
    fn give_kept(&mut self) {
        for reply in self.kept.drain(..) {
            reply.send(self.drops.bomb());
        }
    }

    #[handler]
    fn take(&mut self, bomb: Bomb) -> u32 {
        self.taken.push(bomb);
        self.handled
    }

    #[handler]
    fn handled(&mut self) -> u32 {
        self.handled
    }
}

#[test]
fn an_ask_that_cannot_be_sent_fails_although_its_message_panics_when_dropped() {
    in_virtual_time(async |system| {
        let drops = Drops::default();
        let store = system.spawn("store", Store::of(&drops)).unwrap();
        store.stop().await;
        let asked = AssertUnwindSafe(store.take(drops.bomb()).ask()).catch_unwind();
        assert_eq!(asked.await.expect("the ask panics"), Err(turned_out()));
        let asked = store.take(drops.bomb()).ask().timeout(ms(0));
        let asked = AssertUnwindSafe(asked).catch_unwind().await;
        assert!(asked.expect("the ask panics").is_err());
        assert_eq!(drops.count(), 2);
    });
}

#[test]
fn a_reply_that_nobody_wants_and_that_panics_when_dropped_is_no_failure_of_the_actor() {
    in_virtual_time(async |system| {
        let drops = Drops::default();
        let store = system.spawn("store", Store::of(&drops)).unwrap();
        store.give().tell();
        assert_eq!(store.handled().await, Ok(1));
        let mut asked = store.keep().ask();
        assert!(futures::poll!(&mut asked).is_pending());
        settle().await;
        drop(asked);
        store.give_kept().tell();
        assert_eq!(store.handled().await, Ok(1));
        assert_eq!(drops.count(), 2);
    });
}

struct BadWaker;

impl Wake for BadWaker {
    fn wake(self: Arc<Self>) {
        panic!("a waker panics");
    }
}

#[test]
fn a_waker_that_panics_harms_no_actor() {
    in_virtual_time(async |system| {
        let drops = Drops::default();
        let store = system.spawn("store", Store::of(&drops)).unwrap();
        let waker = Waker::from(Arc::new(BadWaker));
        let mut cx = Context::from_waker(&waker);
        let mut asked = store.handled().ask();
        assert!(asked.poll_unpin(&mut cx).is_pending());
        settle().await;
        store.give().tell();
        assert_eq!(store.handled().await, Ok(1));
        // The end of an actor wakes whoever waits for it.
        let mut stopped = store.stopped();
        assert!(stopped.poll_unpin(&mut cx).is_pending());
        let mut system_stopped = system.stopped();
        assert!(system_stopped.poll_unpin(&mut cx).is_pending());
        let mut asked = store.keep().ask();
        assert!(asked.poll_unpin(&mut cx).is_pending());
        assert_eq!(store.stop().await, StopReason::Stopped);
        // A dead letter and an event wake who listens to them.
        let mut events = system.events();
        let mut letters = system.dead_letters();
        {
            let mut next = std::pin::pin!(events.next());
            let mut letter = std::pin::pin!(letters.next());
            assert!(next.poll_unpin(&mut cx).is_pending());
            assert!(letter.poll_unpin(&mut cx).is_pending());
        }
        let other = system.spawn("store", Store::of(&drops)).unwrap();
        assert_eq!(other.handled().await, Ok(0));
        store.handled().tell();
        // A sleeper with a bad waker keeps no other sleeper from its time.
        let mut asked = other.keep().ask().timeout(ms(10));
        assert!(asked.poll_unpin(&mut cx).is_pending());
        let late = other.keep().ask().timeout(ms(20)).await;
        assert!(matches!(late, Err(AskError::Timeout { .. })), "{late:?}");
        assert!(system.shutdown().await.is_clean());
    });
}

/// A message that panics when it is asked about itself.
#[derive(Debug)]
enum Odd {
    Variant,
    WayBack,
    Count(ReplyTo<u32>),
}

impl Message for Odd {
    fn variant(&self) -> &'static str {
        match self {
            Self::Variant => panic!("no variant"),
            Self::WayBack => "WayBack",
            Self::Count(_) => "Count",
        }
    }

    fn way_back(&self) -> Option<&dyn WayBack> {
        match self {
            Self::Variant => None,
            Self::WayBack => panic!("no way back"),
            Self::Count(reply) => reply.way_back(),
        }
    }
}

struct Taker(u32);

impl Actor for Taker {
    type Msg = Odd;
    type Ref = ActorRef<Self>;

    fn receive<'a>(&'a mut self, message: Odd, _: &'a mut ActorContext<Self>) -> Flow<'a> {
        self.0 += 1;
        if let Odd::Count(reply) = message {
            reply.send(self.0);
        }
        Flow::done()
    }
}

#[test]
fn a_message_that_panics_about_itself_is_a_failure_and_not_the_end() {
    in_virtual_time(async |system| {
        let taker = system.spawn("taker", || Taker(0)).unwrap();
        for message in [Odd::Variant, Odd::WayBack] {
            taker.tell(message);
            assert!(
                taker.ask(Odd::Count).await.is_ok(),
                "{:?}",
                taker.actor_state()
            );
        }
        let stopping = {
            taker.tell(Odd::Variant);
            taker.tell(Odd::WayBack);
            taker.stop()
        };
        assert_eq!(stopping.await, StopReason::Stopped);
        for message in [Odd::Variant, Odd::WayBack] {
            taker.tell(message);
        }
    });
}

/// Panics about everything it is told of this crate.
struct BadSubscriber;

impl tracing::Subscriber for BadSubscriber {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        if !std::thread::panicking() {
            panic!("a subscriber panics");
        }
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn a_log_that_panics_harms_no_actor() {
    in_virtual_time(async |system| {
        let _bad = tracing::subscriber::set_default(BadSubscriber);
        let drops = Drops::default();
        let store = system.spawn("store", Store::of(&drops)).unwrap();
        assert_eq!(store.handled().await, Ok(0));
        store.take(drops.bomb()).tell();
        assert_eq!(store.stop().await, StopReason::Stopped);
        store.handled().tell();
        let other = system.spawn("store", Store::of(&drops)).unwrap();
        assert_eq!(other.handled().await, Ok(0));
        assert!(system.shutdown().await.is_clean());
    });
}
