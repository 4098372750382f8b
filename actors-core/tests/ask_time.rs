//! The time of an ask: when its clock starts, how long it waits, what it inherits; and the ways to wait for it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::sync::mpsc::channel;
use std::time::Duration;

use actors_core::TryTellError;
use actors_core::prelude::*;
use futures::poll;
use tokio::time::Instant;

use common::recorder::{Recorder, RecorderRef, held, recorder, recorder_with};
use common::world::{
    beside, bounded, expect_no_timer, in_virtual_time, in_virtual_time_with, on_two_threads,
    threaded_runtime, timed, virtual_runtime,
};
use common::{Gate, pass, settle};

const QUEUED: Phase = Phase::Queued;
const RUNNING: Phase = Phase::Running;

fn timeout(phase: Phase) -> Result<u64, AskError> {
    Err(AskError::Timeout { phase })
}

#[test]
fn an_ask_is_sent_and_its_clock_starts_at_the_first_poll() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        let ask = recorder.wait(gate.clone(), 1).ask().timeout(ms(100));
        pass(secs(10)).await;
        assert_eq!(system.counters().accepted, 0);
        assert_eq!(timed(ask).await, (ms(100), timeout(RUNNING)));
    });
}

#[test]
fn an_ask_fails_exactly_at_its_time_and_never_earlier() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        for limit in [ms(1), ms(17), ms(250), secs(100)] {
            let ask = recorder.wait(gate.clone(), 1).ask().timeout(limit);
            assert_eq!(timed(ask).await.0, limit);
        }
    });
}

#[test]
fn an_ask_of_less_than_a_millisecond_is_not_early_and_at_most_a_millisecond_late() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let _gate = held(&recorder).await;
        for micros in [1, 500, 999, 1_001, 2_500] {
            let limit = Duration::from_micros(micros);
            let (took, answer) = timed(recorder.echo(1).ask().timeout(limit)).await;
            assert_eq!(answer, timeout(QUEUED));
            assert!(
                took >= limit && took <= limit + ms(1),
                "{took:?} for {limit:?}"
            );
        }
    });
}

#[test]
fn a_reply_that_comes_just_in_time_counts() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        let ask = beside(timed(recorder.wait(gate.clone(), 1).ask().timeout(ms(100))));
        pass(ms(99)).await;
        gate.open();
        assert_eq!(ask.await.unwrap(), (ms(99), Ok(1)));
    });
}

#[test]
fn many_asks_end_each_at_its_own_time() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let _gate = held(&recorder).await;
        let asks = (1..=100).rev().map(|limit| {
            let ask = recorder.echo(limit).ask().timeout(ms(limit));
            beside(async move { (limit, timed(ask).await) })
        });
        for ask in asks.collect::<Vec<_>>() {
            let (limit, (took, answer)) = ask.await.unwrap();
            assert_eq!((took, answer), (ms(limit), timeout(QUEUED)));
        }
    });
}

#[test]
fn an_ask_waits_5_seconds_unless_it_or_the_system_says_otherwise() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let _gate = held(&recorder).await;
        assert_eq!(timed(recorder.echo(1).ask()).await.0, secs(5));
    });
    in_virtual_time_with(
        |builder| builder.ask_timeout(ms(300)),
        async |system| {
            let (recorder, _) = recorder(&system);
            let _gate = held(&recorder).await;
            assert_eq!(timed(recorder.echo(1).ask()).await.0, ms(300));
            assert_eq!(
                timed(recorder.echo(1).ask().timeout(secs(9))).await.0,
                secs(9)
            );
        },
    );
}

#[test]
fn an_ask_without_a_limit_waits_for_ever() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        let ask = beside(recorder.wait(gate.clone(), 1).ask().timeout(Duration::MAX));
        pass(secs(3_000)).await;
        gate.open();
        assert_eq!(ask.await.unwrap(), Ok(1));
    });
}

#[test]
fn an_ask_with_no_time_sends_nothing() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let answer = timed(recorder.echo(1).ask().timeout(ms(0))).await;
        assert_eq!(answer, (ms(0), timeout(QUEUED)));
        settle().await;
        assert_eq!(system.counters().accepted, 0);
    });
}

#[test]
fn no_timer_is_left_behind_by_an_ask_that_has_ended() {
    bounded(|| {
        virtual_runtime().block_on(async {
            let system = ActorSystem::new("test").unwrap();
            let (recorder, _) = recorder(&system);
            assert_eq!(recorder.echo(1).await, Ok(1));
            let mut dropped = recorder.keep().ask();
            assert!(poll!(&mut dropped).is_pending());
            drop(dropped);
            expect_no_timer().await;
        });
    });
}

/// Asks a recorder in its handlers.
struct Front {
    back: RecorderRef,
}

#[actor]
impl Front {
    /// Asks on, and gives what came of it and how long it took.
    #[handler]
    async fn ask_on(
        &mut self,
        gate: Gate,
        limit: Option<Duration>,
    ) -> (Duration, Result<u64, AskError>) {
        let ask = self.back.wait(gate, 1).ask();
        timed(match limit {
            Some(limit) => ask.timeout(limit),
            None => ask,
        })
        .await
    }

    /// Waits a while, and says how much time is left.
    #[handler]
    async fn left(&mut self, ctx: &mut ActorContext<Self>, after: Duration) -> Option<Duration> {
        let deadline = ctx.deadline();
        pass(after).await;
        assert_eq!(ctx.deadline(), deadline, "it stays through an await");
        deadline.map(|deadline| deadline - Instant::now())
    }

    /// Says whether there is a limit.
    #[handler]
    fn has_limit(&mut self, ctx: &mut ActorContext<Self>) -> bool {
        ctx.deadline().is_some()
    }
}

fn front(system: &ActorSystem) -> (FrontRef, RecorderRef) {
    let (back, _) = recorder(system);
    let front = system.spawn_with("front", back.clone(), |back| Front { back });
    (front.unwrap(), back)
}

#[test]
fn an_ask_made_in_a_turn_inherits_what_is_left_of_its_deadline() {
    in_virtual_time(async |system| {
        let (front, _) = front(&system);
        let outer = front.ask_on(Gate::new(), None).ask().timeout(ms(100));
        assert_eq!(timed(outer).await.0, ms(100));
        let next = timed(front.has_limit().ask()).await;
        assert_eq!(next, (ms(0), Ok(true)), "the inner ask has ended as well");
    });
}

#[test]
fn what_is_inherited_shrinks_while_the_message_waits_and_the_handler_works() {
    in_virtual_time(async |system| {
        let (front, _) = front(&system);
        let first = beside(front.left(ms(30)).ask().timeout(ms(100)));
        let second = beside(front.left(ms(20)).ask().timeout(ms(100)));
        assert_eq!(first.await.unwrap(), Ok(Some(ms(70))));
        assert_eq!(second.await.unwrap(), Ok(Some(ms(50))));
    });
}

#[test]
fn an_ask_made_in_a_turn_may_wait_less_than_what_is_left_but_not_more() {
    in_virtual_time(async |system| {
        let (front, _) = front(&system);
        let gate = Gate::new();
        let inner = front
            .ask_on(gate.clone(), Some(ms(40)))
            .ask()
            .timeout(ms(100))
            .await;
        assert_eq!(inner, Ok((ms(40), timeout(RUNNING))));
        let outer = front.ask_on(gate, Some(secs(9))).ask().timeout(ms(100));
        assert_eq!(timed(outer).await.0, ms(100));
        let next = timed(front.has_limit().ask()).await;
        assert_eq!(next, (ms(0), Ok(true)), "the inner ask has ended as well");
    });
}

#[test]
fn a_message_that_nobody_asked_has_no_deadline_to_inherit() {
    in_virtual_time(async |system| {
        let (front, _) = front(&system);
        assert_eq!(
            front.has_limit().ask().timeout(Duration::MAX).await,
            Ok(false)
        );
        assert_eq!(front.has_limit().ask().timeout(secs(1)).await, Ok(true));
        let (limits, heard) = channel();
        front
            .has_limit()
            .reply_to(Recipient::from_fn(move |limit| limits.send(limit).unwrap()));
        settle().await;
        assert_eq!(heard.try_recv(), Ok(false));
    });
}

#[test]
fn every_one_of_several_messages_with_one_deadline_knows_it() {
    in_virtual_time(async |system| {
        let (front, _) = front(&system);
        for _ in 0..3 {
            let asks = [1, 2, 3].map(|_| front.has_limit().ask().timeout(ms(100)));
            assert_eq!(
                futures::future::join_all(asks).await,
                [Ok(true), Ok(true), Ok(true)]
            );
        }
        let asks = [front.has_limit().ask(), front.has_limit().ask()];
        let mut asks = asks.map(|ask| ask.timeout(ms(100)));
        assert!(poll!(&mut asks[0]).is_pending());
        settle().await;
        let [_, second] = asks;
        assert_eq!(second.await, Ok(true));
    });
}

/// Says in its hooks whether there is a deadline.
struct Hooked {
    heard: Recipient<bool>,
}

#[actor]
impl Hooked {
    #[handler]
    async fn see_to(&mut self, ctx: &mut ActorContext<Self>, other: RecorderRef) {
        ctx.watch(&other);
        other.stop().await;
    }

    #[on_terminated]
    fn gone(&mut self, ctx: &mut ActorContext<Self>, _who: Terminated) {
        self.heard.tell(ctx.deadline().is_some());
        ctx.stop();
    }

    #[on_stop]
    fn stop(&mut self, ctx: &mut ActorContext<Self>) {
        self.heard.tell(ctx.deadline().is_some());
    }
}

#[test]
fn a_hook_has_no_deadline_of_the_message_before_it() {
    in_virtual_time(async |system| {
        let (limits, heard) = channel();
        let recipient = Recipient::from_fn(move |limit| limits.send(limit).unwrap());
        let hooked = system
            .spawn_with("hooked", recipient, |heard| Hooked { heard })
            .unwrap();
        let (other, _) = recorder(&system);
        hooked.see_to(other).await.unwrap();
        hooked.stopped().await;
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), [false, false]);
    });
}

#[test]
fn an_ask_never_waits_for_room_unless_it_is_told_to() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder_with(&system, Mailbox::bounded(1));
        let gate = held(&recorder).await;
        recorder.note(1).tell();
        assert_eq!(
            timed(recorder.echo(2).ask()).await,
            (ms(0), Err(AskError::MailboxFull))
        );
        let waits = beside(recorder.echo(3).ask().wait_for_room());
        settle().await;
        gate.open();
        assert_eq!(waits.await.unwrap(), Ok(3));
        assert_eq!(numbers.entries(), [1, 3]);
    });
}

#[test]
fn an_ask_that_waits_for_room_has_no_more_time_for_that() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder_with(&system, Mailbox::bounded(1));
        let gate = held(&recorder).await;
        recorder.note(1).tell();
        let ask = recorder.echo(2).ask().wait_for_room().timeout(ms(100));
        assert_eq!(timed(ask).await, (ms(100), timeout(QUEUED)));
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), [1]);
    });
}

#[test]
fn an_ask_that_stops_waiting_for_room_leaves_the_line() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder_with(&system, Mailbox::bounded(1));
        let gate = held(&recorder).await;
        recorder.note(1).tell();
        let mut late = recorder.echo(2).ask().wait_for_room().timeout(ms(10));
        assert_eq!((&mut late).await, timeout(QUEUED));
        let full = recorder.note(3).try_tell();
        assert!(matches!(full, Err(TryTellError::Full(_))));
        gate.open();
        settle().await;
        assert!(
            recorder.note(4).try_tell().is_ok(),
            "though the ask that has ended is still there"
        );
        drop(late);
    });
}

#[test]
fn an_ask_that_waits_for_room_fails_when_the_actor_stops() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder_with(&system, Mailbox::bounded(1));
        let gate = held(&recorder).await;
        recorder.note(1).tell();
        let waits = beside(recorder.echo(2).ask().wait_for_room());
        settle().await;
        let ended = recorder.stop();
        assert_eq!(
            waits.await.unwrap(),
            Err(AskError::Stopped { phase: QUEUED })
        );
        gate.open();
        ended.await;
    });
}

#[test]
fn an_ask_may_be_awaited_on_any_executor() {
    bounded(|| {
        let runtime = threaded_runtime();
        let system = runtime.block_on(async { ActorSystem::new("test").unwrap() });
        let (recorder, _) = recorder(&system);
        assert_eq!(futures::executor::block_on(recorder.echo(1).ask()), Ok(1));
        let gate = Gate::new();
        let late = recorder.wait(gate.clone(), 2).ask().timeout(ms(5));
        assert_eq!(futures::executor::block_on(late), timeout(RUNNING));
        gate.open();
    });
}

#[test]
fn a_plain_thread_may_block_for_an_answer() {
    bounded(|| {
        let system = ActorSystem::builder("test")
            .worker_threads(2)
            .build()
            .unwrap();
        let (recorder, _) = recorder(&system);
        assert_eq!(recorder.echo(1).ask().blocking(), Ok(1));
        let gate = Gate::new();
        let late = recorder
            .wait(gate.clone(), 2)
            .ask()
            .timeout(ms(5))
            .blocking();
        assert_eq!(late, timeout(RUNNING));
        gate.open();
        assert!(system.block_on(system.shutdown()).is_clean());
        assert_eq!(
            recorder.echo(3).ask().blocking(),
            Err(AskError::Stopped { phase: QUEUED })
        );
    });
}

#[test]
fn a_thread_of_spawn_blocking_may_block_for_an_answer() {
    on_two_threads(async |system| {
        let (recorder, _) = recorder(&system);
        let asking = tokio::task::spawn_blocking(move || recorder.echo(1).ask().blocking());
        assert_eq!(asking.await.unwrap(), Ok(1));
    });
}

/// Blocks for an answer where it must not.
struct Rash {
    back: RecorderRef,
}

#[actor]
impl Rash {
    #[handler]
    fn block(&mut self) -> u64 {
        self.back.echo(1).ask().blocking().unwrap()
    }

    #[handler]
    fn block_in_place(&mut self) -> u64 {
        tokio::task::block_in_place(|| self.back.echo(1).ask().blocking().unwrap())
    }
}

#[test]
fn blocking_in_a_handler_panics_even_where_its_thread_may_block() {
    on_two_threads(async |system| {
        let (back, _) = recorder(&system);
        let rash = system
            .spawn_with("rash", back, |back| Rash { back })
            .unwrap();
        let Err(AskError::Panicked(text)) = rash.block_in_place().await else {
            panic!("a handler may not block for an answer");
        };
        assert!(text.contains("await the ask instead"), "{text}");
    });
}

#[test]
fn blocking_in_async_code_panics_with_what_to_do() {
    in_virtual_time(async |system| {
        let (back, numbers) = recorder(&system);
        let ask = back.echo(1).ask();
        let panic = beside(async move { ask.blocking() })
            .await
            .unwrap_err()
            .into_panic();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(
            text.contains("await the ask instead") && text.contains("spawn_blocking"),
            "{text}"
        );
        let rash = system
            .spawn_with("rash", back, |back| Rash { back })
            .unwrap();
        let Err(AskError::Panicked(text)) = rash.block().await else {
            panic!("a handler may not block for an answer");
        };
        assert!(text.contains("await the ask instead"), "{text}");
        settle().await;
        assert_eq!(numbers.entries(), []);
    });
}

#[test]
fn an_ask_may_be_joined_raced_and_moved_between_tasks() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let (one, two) = tokio::join!(recorder.echo(1).ask(), recorder.echo(2).ask());
        assert_eq!((one, two), (Ok(1), Ok(2)));
        let gate = Gate::new();
        let winner = tokio::select! {
            biased;
            answer = recorder.wait(gate.clone(), 3).ask() => answer.unwrap(),
            () = pass(ms(5)) => 0,
        };
        assert_eq!(winner, 0);
        gate.open();
        let mut moved = recorder.keep().ask();
        assert!(poll!(&mut moved).is_pending());
        let moved = beside(moved);
        settle().await;
        recorder.answer_kept(4).tell();
        assert_eq!(moved.await.unwrap(), Ok(4));
        assert_eq!(numbers.entries(), [1, 2, 3]);
    });
}

#[test]
fn an_actor_that_starts_late_answers_what_was_asked_before() {
    in_virtual_time(async |system| {
        let reserved = system.reserve::<Recorder>("late").unwrap();
        let asked = beside(reserved.reference().echo(1).ask());
        pass(ms(10)).await;
        reserved.spawn(Recorder::default).unwrap();
        assert_eq!(asked.await.unwrap(), Ok(1));
    });
}
