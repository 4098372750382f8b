//! Mailboxes: telling waits for nothing, full ones do what they are set to, and who waits for room comes in order (D5).

mod common;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actors_core::prelude::*;
use actors_core::{DeadLetterReason, LifecycleEvent, SpawnError, TryTellError};
use futures::future::join_all;
use futures::poll;

use common::recorder::{
    Numbers, Recorder, RecorderMsg, RecorderRef, held, recorder, recorder_with,
};
use common::world::{beside, bounded, in_virtual_time, on_two_threads, picked, threaded_runtime};
use common::{Gate, settle};

/// A recorder whose mailbox holds this many messages, which waits in a handler; and the gate that lets it go on.
async fn small(system: &ActorSystem, capacity: usize) -> (RecorderRef, Numbers, Gate) {
    let (recorder, numbers) = recorder_with(system, Mailbox::bounded(capacity));
    let gate = held(&recorder).await;
    (recorder, numbers, gate)
}

fn is_full(recorder: &RecorderRef) -> bool {
    matches!(recorder.note(99).try_tell(), Err(TryTellError::Full(_)))
}

/// The number in a refused note.
fn noted(message: RecorderMsg) -> u64 {
    match message {
        RecorderMsg::Note { number, .. } => number,
        other => panic!("{other:?} is no note"),
    }
}

#[test]
fn tell_returns_while_the_handler_holds_its_thread_and_from_a_thread_without_a_runtime() {
    on_two_threads(async |system| {
        let (bounded, _) = recorder_with(&system, Mailbox::bounded(1));
        let (unbounded, _) = recorder(&system);
        let blocker = system.spawn("blocker", Blocker::default).unwrap();
        let gate = Gate::new();
        blocker.block(gate.clone()).tell();
        gate.reached(1).await;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..1_000 {
                    blocker.count().tell();
                    bounded.note(number).tell();
                    unbounded.note(number).tell();
                }
            });
        });
        gate.open();
        assert_eq!(blocker.count().await, Ok(1_001));
    });
}

/// Holds its thread when it is told to.
#[derive(Default)]
struct Blocker {
    count: u64,
}

#[actor]
impl Blocker {
    #[handler]
    fn block(&mut self, gate: Gate) {
        gate.block();
    }

    #[handler]
    fn count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
}

/// A part of a message whose destructor tells the very actor it was for.
struct Echo {
    to: SinkRef,
    dropped: Arc<AtomicU64>,
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        self.to.plain().tell();
        let _ = self.to.plain().try_tell();
        let _ = self.to.actor_state();
    }
}

#[derive(Default)]
struct Sink;

#[actor]
impl Sink {
    #[handler]
    fn take(&mut self, echo: Echo) {
        drop(echo);
    }

    #[handler]
    fn plain(&mut self) {}
}

#[test]
fn a_message_that_is_turned_away_has_left_the_lock_before_its_destructor_runs() {
    let fates = [
        (Overflow::DropOldest, "the oldest makes room"),
        (Overflow::Reject, "the newest is refused"),
        (Overflow::DropNewest, "the newest is dropped"),
    ];
    for (overflow, fate) in fates {
        in_virtual_time(async move |system| {
            let mailbox = Mailbox::bounded(1).overflow(overflow);
            let sink = system
                .actor(Sink::default)
                .mailbox(mailbox)
                .spawn()
                .unwrap();
            let dropped = Arc::new(AtomicU64::new(0));
            for _ in 0..2 {
                let echo = Echo {
                    to: sink.clone(),
                    dropped: Arc::clone(&dropped),
                };
                sink.take(echo).tell();
            }
            assert_eq!(
                dropped.load(Ordering::Relaxed),
                1 + u64::from(overflow == Overflow::DropOldest),
                "{fate}"
            );
            sink.stop().await;
            assert_eq!(dropped.load(Ordering::Relaxed), 2, "the rest is turned out");
        });
    }
}

#[test]
fn a_message_that_a_cancelled_or_dropped_enqueue_held_is_dropped_outside_of_the_lock() {
    in_virtual_time(async |system| {
        let sink = system
            .actor(Sink::default)
            .mailbox(Mailbox::bounded(1))
            .spawn()
            .unwrap();
        sink.plain().tell();
        let dropped = Arc::new(AtomicU64::new(0));
        let echo = Echo {
            to: sink.clone(),
            dropped: Arc::clone(&dropped),
        };
        let mut waiting = Box::pin(sink.take(echo).enqueue());
        assert!(poll!(&mut waiting).is_pending());
        drop(waiting);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        sink.stop().await;
    });
}

#[test]
fn an_unbounded_mailbox_warns_once_when_a_depth_is_passed() {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let (recorder, _) = recorder_with(&system, Mailbox::unbounded().warn_at(5));
        let gate = held(&recorder).await;
        let mut depths = async |count: u64| {
            (0..count).for_each(|number| recorder.note(number).tell());
            picked(&mut events, |event| match event {
                LifecycleEvent::MailboxDeep { depth, .. } => Some(depth),
                _ => None,
            })
        };
        assert_eq!(depths(5).await, []);
        assert_eq!(depths(1).await, [6]);
        assert_eq!(depths(100).await, []);
        gate.open();
    });
}

#[test]
fn an_unbounded_mailbox_warns_at_10_000_unless_it_is_set_otherwise_and_counts_a_burst_that_was_taken()
 {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        recorder.hold(gate.clone()).tell();
        (0..9_000).for_each(|number| recorder.note(number).tell());
        gate.reached(1).await;
        (0..1_001).for_each(|number| recorder.note(number).tell());
        let depths = picked(&mut events, |event| match event {
            LifecycleEvent::MailboxDeep { depth, .. } => Some(depth),
            _ => None,
        });
        assert_eq!(depths, [10_001]);
        gate.open();
    });
}

#[test]
fn a_full_mailbox_does_with_a_tell_what_it_is_set_to_do() {
    let cases = [
        (
            Mailbox::bounded(2),
            vec![1, 2],
            DeadLetterReason::MailboxFull,
        ),
        (
            Mailbox::bounded(2).overflow(Overflow::DropNewest),
            vec![1, 2],
            DeadLetterReason::DroppedNewest,
        ),
        (
            Mailbox::bounded(2).overflow(Overflow::DropOldest),
            vec![3, 4],
            DeadLetterReason::DroppedOldest,
        ),
    ];
    for (mailbox, expected, reason) in cases {
        in_virtual_time(async move |system| {
            let mut dead = system.dead_letters();
            let (recorder, numbers) = recorder_with(&system, mailbox);
            let gate = held(&recorder).await;
            (1..=4).for_each(|number| recorder.note(number).tell());
            gate.open();
            settle().await;
            assert_eq!(numbers.entries(), expected, "{mailbox:?}");
            let reasons: Vec<_> = std::iter::from_fn(|| dead.try_next())
                .map(|letter| letter.reason)
                .collect();
            assert_eq!(reasons, [reason; 2], "{mailbox:?}");
        });
    }
}

#[test]
fn try_tell_gives_the_message_back_whatever_the_overflow() {
    for overflow in [Overflow::Reject, Overflow::DropOldest, Overflow::DropNewest] {
        in_virtual_time(async move |system| {
            let mut dead = system.dead_letters();
            let (recorder, numbers) =
                recorder_with(&system, Mailbox::bounded(1).overflow(overflow));
            assert_eq!(
                recorder
                    .note(1)
                    .try_tell()
                    .map_err(TryTellError::into_message)
                    .unwrap_or(()),
                ()
            );
            let refused = recorder.note(2).try_tell().unwrap_err();
            assert!(matches!(refused, TryTellError::Full(_)));
            assert_eq!(noted(refused.into_message()), 2);
            settle().await;
            assert_eq!(numbers.entries(), [1]);
            recorder.stop().await;
            let refused = recorder.note(3).try_tell().unwrap_err();
            assert!(matches!(refused, TryTellError::Closed(_)));
            assert_eq!(noted(refused.into_message()), 3);
            assert!(dead.try_next().is_none());
            assert_eq!(system.counters().refused, 0);
        });
    }
}

#[test]
fn enqueue_waits_for_room_and_those_who_wait_come_in_the_order_of_their_first_polls() {
    in_virtual_time(async |system| {
        let (recorder, numbers, gate) = small(&system, 1).await;
        recorder.note(0).tell();
        let waiting = [3, 1, 2].map(|number| beside(recorder.note(number).enqueue()));
        settle().await;
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
        gate.open();
        for waiting in waiting {
            waiting.await.unwrap().unwrap();
        }
        settle().await;
        assert_eq!(numbers.entries(), [0, 3, 1, 2]);
    });
}

#[test]
fn nobody_overtakes_one_who_waits_for_room() {
    in_virtual_time(async |system| {
        let (recorder, numbers, gate) = small(&system, 1).await;
        recorder.note(1).tell();
        let mut waiting = Box::pin(recorder.note(2).enqueue());
        assert!(poll!(&mut waiting).is_pending());
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), [1], "the room is free, and promised");
        assert!(is_full(&recorder));
        recorder.note(98).tell();
        waiting.await.unwrap();
        settle().await;
        assert_eq!(numbers.entries(), [1, 2]);
        assert!(!is_full(&recorder));
    });
}

#[test]
fn room_granted_to_one_who_goes_away_passes_to_the_next() {
    in_virtual_time(async |system| {
        let (recorder, numbers, gate) = small(&system, 1).await;
        recorder.note(1).tell();
        let mut first = Box::pin(recorder.note(2).enqueue());
        assert!(poll!(&mut first).is_pending());
        let second = beside(recorder.note(3).enqueue());
        settle().await;
        gate.open();
        settle().await;
        assert!(!second.is_finished(), "the room is the first one's");
        drop(first);
        second.await.unwrap().unwrap();
        settle().await;
        assert_eq!(numbers.entries(), [1, 3]);
        assert!(!is_full(&recorder), "and is free again in the end");
    });
}

#[test]
fn one_who_gives_up_waiting_leaves_the_line() {
    in_virtual_time(async |system| {
        let (recorder, numbers, gate) = small(&system, 1).await;
        recorder.note(1).tell();
        let mut lines = [2, 3, 4].map(|number| Box::pin(recorder.note(number).enqueue()));
        for waiting in &mut lines {
            assert!(poll!(waiting).is_pending());
        }
        let [first, second, third] = lines;
        drop(second);
        gate.open();
        first.await.unwrap();
        third.await.unwrap();
        settle().await;
        assert_eq!(numbers.entries(), [1, 2, 4]);
    });
}

#[test]
fn one_who_waits_for_room_gets_the_message_back_when_the_actor_stops() {
    in_virtual_time(async |system| {
        let (recorder, _, _gate) = small(&system, 1).await;
        recorder.note(1).tell();
        let waiting = beside(recorder.note(2).enqueue());
        settle().await;
        let _ended = recorder.stop();
        let refused = waiting.await.unwrap().unwrap_err();
        assert_eq!(noted(refused.into_message()), 2);
        let refused = recorder.note(3).enqueue().await.unwrap_err();
        assert_eq!(noted(refused.into_message()), 3);
        assert_eq!(system.counters().refused, 0);
    });
}

#[test]
fn enqueue_to_an_unbounded_mailbox_never_waits() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let gate = held(&recorder).await;
        for number in 0..100 {
            assert!(poll!(pin!(recorder.note(number).enqueue())).is_ready());
        }
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), Vec::from_iter(0..100));
    });
}

#[test]
fn a_bounded_mailbox_never_holds_more_and_loses_none_of_those_who_wait() {
    on_two_threads(async |system| {
        let (recorder, numbers) = recorder_with(&system, Mailbox::bounded(3));
        let senders = (0..8_u64).map(|sender| {
            let recorder = recorder.clone();
            beside(async move {
                for number in 0..250 {
                    recorder
                        .note(sender * 1_000 + number)
                        .enqueue()
                        .await
                        .unwrap();
                }
            })
        });
        let senders = join_all(senders);
        let mut senders = pin!(senders);
        while poll!(&mut senders).is_pending() {
            let depth = system
                .tree()
                .nodes()
                .iter()
                .map(|node| node.mailbox_depth)
                .max();
            assert!(depth <= Some(3), "{depth:?}");
            tokio::task::yield_now().await;
        }
        recorder.drain().await;
        let mut numbers = numbers.entries();
        numbers.sort_unstable();
        let expected: Vec<_> = (0..8)
            .flat_map(|sender| (0..250).map(move |number| sender * 1_000 + number))
            .collect();
        assert_eq!(numbers, expected);
    });
}

/// Watches a recorder, writes down its end as number 0, and otherwise numbers that it is told.
struct Watcher {
    numbers: Numbers,
}

#[actor]
impl Watcher {
    #[handler]
    fn see_to(&mut self, ctx: &mut ActorContext<Self>, other: RecorderRef) {
        ctx.watch(&other);
    }

    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }

    #[handler]
    fn note(&mut self, number: u64) {
        self.numbers.add(number);
    }

    #[on_terminated]
    fn gone(&mut self, _who: Terminated) {
        self.numbers.add(0);
    }
}

#[test]
fn the_end_of_a_watched_actor_is_queued_in_order_and_needs_no_room() {
    in_virtual_time(async |system| {
        let numbers = Numbers::default();
        let state = numbers.clone();
        let factory = move || Watcher {
            numbers: state.clone(),
        };
        let watcher = system
            .actor(factory)
            .mailbox(Mailbox::bounded(2))
            .spawn()
            .unwrap();
        let (recorder, _) = recorder(&system);
        watcher.see_to(recorder.clone()).await.unwrap();
        let gate = Gate::new();
        watcher.hold(gate.clone()).tell();
        gate.reached(1).await;
        watcher.note(1).tell();
        recorder.stop().await;
        watcher.note(2).tell();
        assert!(
            watcher.note(3).try_tell().is_err(),
            "the notice takes no room, the notes do"
        );
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), [1, 0, 2]);
    });
}

#[test]
fn a_mailbox_without_room_for_a_message_is_refused() {
    in_virtual_time(async |system| {
        let spawned = system
            .actor(Recorder::default)
            .mailbox(Mailbox::bounded(0))
            .spawn();
        assert_eq!(spawned.unwrap_err(), SpawnError::ZeroCapacity);
    });
}

#[test]
fn a_failure_hands_the_rest_of_a_burst_on_in_order() {
    let directives = [Directive::Resume, Directive::Restart];
    for directive in directives {
        in_virtual_time(async move |system| {
            let numbers = Numbers::default();
            let policy = Supervision::one_for_one().on_panic(directive);
            let recorder = system
                .actor(Recorder::writing_to(&numbers))
                .supervision(policy)
                .spawn()
                .unwrap();
            let gate = Gate::new();
            (0..10).for_each(|number| recorder.note(number).tell());
            recorder.boom_later(gate.clone(), "on purpose").tell();
            (10..20).for_each(|number| recorder.note(number).tell());
            gate.reached(1).await;
            (20..30).for_each(|number| recorder.note(number).tell());
            gate.open();
            assert_eq!(recorder.echo(30).await, Ok(30));
            assert_eq!(numbers.entries(), Vec::from_iter(0..=30), "{directive:?}");
        });
    }
}

#[test]
fn a_thousand_mailboxes_that_are_told_under_contention_lose_no_wake_up() {
    bounded(|| {
        let runtime = threaded_runtime();
        runtime.block_on(async {
            let system = ActorSystem::new("test").unwrap();
            let actors: Vec<_> = (0..1_000).map(|_| recorder(&system).0).collect();
            for _ in 0..5 {
                let asks = actors.iter().map(|actor| beside(actor.echo(1).ask()));
                for ask in join_all(asks).await {
                    assert_eq!(ask.unwrap(), Ok(1));
                }
            }
        });
    });
}

/// Nothing here is about a type; the bound is what a caller may rely on.
#[test]
fn waiting_for_room_may_be_spawned_and_moved() {
    fn may_be_spawned(_: impl Future + Send + Unpin + 'static) {}
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        may_be_spawned(recorder.note(1).enqueue());
        may_be_spawned(recorder.echo(1).ask());
    });
}
