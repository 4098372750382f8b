//! Every ask ends exactly once, with the reply or an error that says how far its message came (A1 to A5).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actors_core::prelude::*;
use futures::future::join_all;
use futures::poll;
use tokio::time::Instant;

use common::recorder::{Numbers, Recorder, RecorderRef, held, recorder, recorder_with};
use common::world::{beside, in_virtual_time, on_two_threads, timed};
use common::{Gate, settle};

const QUEUED: Phase = Phase::Queued;
const RUNNING: Phase = Phase::Running;

#[test]
fn an_ask_ends_with_the_reply() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        assert_eq!(recorder.echo(7).ask().await, Ok(7));
        assert_eq!(recorder.echo(8).await, Ok(8), "awaiting a call is asking");
    });
}

#[test]
fn an_ask_ends_with_the_handlers_own_error() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let error = recorder.refuse("overdrawn").await.unwrap_err();
        assert_eq!(error.clone().split(), Ok("overdrawn"));
        assert_eq!(error.phase(), RUNNING);
        assert_eq!(recorder.echo(1).await, Ok(1), "the actor is not touched");
    });
}

#[test]
fn an_ask_whose_handler_panics_ends_with_the_text_of_the_panic() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let error = recorder.boom("on purpose").await.unwrap_err();
        assert_eq!(error, AskError::Panicked("on purpose".into()));
        assert_eq!(error.phase(), RUNNING);
    });
}

#[test]
fn an_ask_whose_handler_panics_after_an_await_ends_with_the_text_of_the_panic() {
    in_virtual_time(async |system| {
        let late = system.spawn("late", Late::default).unwrap();
        assert_eq!(
            late.boom().await,
            Err(AskError::Panicked("after an await".into()))
        );
    });
}

#[derive(Default)]
struct Late;

#[actor]
impl Late {
    #[handler]
    async fn boom(&mut self) -> u64 {
        tokio::task::yield_now().await;
        panic!("after an await");
    }
}

#[test]
fn an_ask_to_an_actor_that_stops_first_ends_stopped_and_queued() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let _gate = held(&recorder).await;
        let ask = beside(recorder.echo(1).ask());
        settle().await;
        recorder.kill().await;
        assert_eq!(ask.await.unwrap(), Err(AskError::Stopped { phase: QUEUED }));
        assert_eq!(numbers.entries(), []);
    });
}

#[test]
fn an_ask_whose_handler_is_cut_ends_stopped_and_running() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let gate = Gate::new();
        let ask = beside(recorder.wait(gate.clone(), 1).ask());
        gate.reached(1).await;
        recorder.stop_within(ms(10)).await;
        assert_eq!(
            ask.await.unwrap(),
            Err(AskError::Stopped { phase: RUNNING })
        );
        assert_eq!(numbers.entries(), [1]);
    });
}

#[test]
fn an_ask_to_a_full_mailbox_ends_with_mailbox_full() {
    for overflow in [Overflow::Reject, Overflow::DropNewest] {
        in_virtual_time(async move |system| {
            let (recorder, numbers) =
                recorder_with(&system, Mailbox::bounded(1).overflow(overflow));
            let gate = held(&recorder).await;
            recorder.note(1).tell();
            let (took, error) = timed(recorder.echo(2).ask()).await;
            assert_eq!((took, error.clone()), (ms(0), Err(AskError::MailboxFull)));
            assert_eq!(error.unwrap_err().phase(), QUEUED);
            gate.open();
            settle().await;
            assert_eq!(numbers.entries(), [1]);
        });
    }
}

#[test]
fn an_ask_that_makes_room_for_another_message_ends_with_mailbox_full() {
    in_virtual_time(async |system| {
        let mailbox = Mailbox::bounded(1).overflow(Overflow::DropOldest);
        let (recorder, numbers) = recorder_with(&system, mailbox);
        let gate = held(&recorder).await;
        let ask = beside(recorder.echo(1).ask());
        settle().await;
        recorder.note(2).tell();
        assert_eq!(ask.await.unwrap(), Err(AskError::MailboxFull));
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), [2]);
    });
}

#[test]
fn an_ask_that_takes_too_long_ends_with_a_timeout_that_says_whether_the_handler_had_begun() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let gate = Gate::new();
        let running = recorder.wait(gate.clone(), 1).ask().timeout(ms(100));
        let queued = recorder.echo(2).ask().timeout(ms(100));
        let (took, ended) = timed(futures::future::join(running, queued)).await;
        let timeout = |phase| Err(AskError::Timeout { phase });
        assert_eq!(
            (took, ended),
            (ms(100), (timeout(RUNNING), timeout(QUEUED)))
        );
        gate.open();
        settle().await;
        assert_eq!(
            numbers.entries(),
            [1],
            "what was queued did not run, and will not"
        );
    });
}

#[test]
fn no_error_of_an_ask_speaks_of_channels() {
    let texts = [
        (AskError::Handler("overdrawn"), "overdrawn"),
        (
            AskError::Panicked("boom".into()),
            "the handler panicked: boom",
        ),
        (
            AskError::Stopped { phase: QUEUED },
            "the actor has stopped: the handler did not run",
        ),
        (
            AskError::Stopped { phase: RUNNING },
            "the actor has stopped: the handler had begun",
        ),
        (
            AskError::MailboxFull,
            "the mailbox is full: try again later, or use `wait_for_room`",
        ),
        (
            AskError::NoReply,
            "the reply was dropped: each way through the handler must `send` one",
        ),
        (
            AskError::Timeout { phase: QUEUED },
            "no reply in time: the handler did not run",
        ),
        (
            AskError::Timeout { phase: RUNNING },
            "no reply in time: the handler had begun",
        ),
    ];
    for (error, text) in texts {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_dropped_ask_cancels_a_queued_message() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let gate = held(&recorder).await;
        let mut ask = recorder.echo(1).ask();
        assert!(poll!(&mut ask).is_pending());
        recorder.note(2).tell();
        drop(ask);
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), [2]);
    });
}

#[test]
fn a_dropped_ask_leaves_a_handler_that_has_begun_alone() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let gate = Gate::new();
        let mut ask = recorder.wait(gate.clone(), 1).ask();
        assert!(poll!(&mut ask).is_pending());
        gate.reached(1).await;
        drop(ask);
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), [1]);
        assert_eq!(system.counters().handled, 1);
    });
}

#[test]
fn an_ask_that_was_never_polled_sends_nothing() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        drop(recorder.echo(1).ask());
        settle().await;
        assert_eq!(system.counters().accepted, 0);
    });
}

#[test]
fn a_late_reply_is_dropped_and_counted() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        let error = recorder.wait(gate.clone(), 1).ask().timeout(ms(10)).await;
        assert_eq!(error, Err(AskError::Timeout { phase: RUNNING }));
        gate.open();
        assert_eq!(recorder.echo(2).await, Ok(2), "and answers no other ask");
        assert_eq!(system.counters().late_replies, 1);
    });
}

#[test]
fn a_reply_that_was_kept_until_its_asker_had_left_answers_no_other_ask() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        assert!(recorder.keep().ask().timeout(ms(10)).await.is_err());
        let second = beside(recorder.keep().ask());
        settle().await;
        recorder.answer_kept(1).tell();
        assert_eq!(second.await.unwrap(), Ok(2));
        assert_eq!(system.counters().late_replies, 1);
    });
}

#[test]
fn a_failure_that_comes_when_the_asker_has_left_is_no_late_reply() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        assert!(recorder.keep().ask().timeout(ms(10)).await.is_err());
        recorder.drop_kept().await.unwrap();
        assert_eq!(system.counters().late_replies, 0);
    });
}

#[test]
fn asking_a_stopped_actor_fails_at_once() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        recorder.stop().await;
        let stopped = Err(AskError::Stopped { phase: QUEUED });
        assert_eq!(
            timed(recorder.echo(1).ask()).await,
            (ms(0), stopped.clone())
        );
        assert_eq!(
            timed(recorder.echo(1).ask().wait_for_room()).await,
            (ms(0), stopped)
        );
    });
}

#[test]
fn asking_a_stopping_actor_fails_at_once() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = held(&recorder).await;
        let ended = recorder.stop();
        let stopped = Err(AskError::Stopped { phase: QUEUED });
        assert_eq!(timed(recorder.echo(1).ask()).await, (ms(0), stopped));
        gate.open();
        ended.await;
    });
}

#[test]
fn a_message_that_is_dropped_unsent_fails_no_ask_but_its_own() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let asks = [1, 2, 3].map(|number| recorder.echo(number).ask());
        let [first, second, third] = asks;
        drop(second);
        assert_eq!((third.await, first.await), (Ok(3), Ok(1)));
    });
}

/// Notes which numbers were begun, and takes a moment for each.
#[derive(Clone, Default)]
struct Clerk {
    begun: Arc<Mutex<HashSet<u64>>>,
}

#[actor]
impl Clerk {
    #[handler]
    async fn serve(&mut self, number: u64) -> u64 {
        self.begun.lock().unwrap().insert(number);
        for _ in 0..number % 3 {
            tokio::task::yield_now().await;
        }
        assert_ne!(number % 50, 49, "on purpose");
        number
    }
}

/// The real clock is the point: asks run out while their handlers begin, on another thread.
#[test]
fn phase_queued_always_means_that_the_handler_did_not_run_and_will_not() {
    on_two_threads(async |system| {
        let clerk = Clerk::default();
        let begun = Arc::clone(&clerk.begun);
        let policy = Supervision::one_for_one().on_panic(Directive::Resume);
        let clerk = system
            .actor_once(clerk)
            .supervision(policy)
            .spawn()
            .unwrap();
        let (mut queued, mut running) = (Vec::new(), Vec::new());
        for round in 0..40 {
            let asks = (0..100).map(|place| {
                let number = round * 100 + place;
                let ask = clerk
                    .serve(number)
                    .ask()
                    .timeout(Duration::from_micros(number % 7 * 100));
                beside(async move { (number, ask.await) })
            });
            for ended in join_all(asks).await {
                let (number, answer) = ended.unwrap();
                match answer {
                    Ok(answer) => assert_eq!(answer, number),
                    Err(error) if error.phase() == QUEUED => queued.push(number),
                    Err(AskError::Timeout { .. } | AskError::Panicked(_)) => running.push(number),
                    Err(error) => panic!("{error}"),
                }
            }
        }
        // A handler that was claimed may not have said so yet.
        clerk.drain().await;
        let begun = begun.lock().unwrap();
        assert!(!queued.is_empty(), "some must have run out");
        assert!(running.iter().all(|number| begun.contains(number)));
        assert!(queued.iter().all(|number| !begun.contains(number)));
    });
}

#[test]
fn every_ask_ends_exactly_once_whatever_becomes_of_the_actors() {
    on_two_threads(async |system| {
        let ended = Arc::new(AtomicU64::new(0));
        let actors: Vec<RecorderRef> = (0..4)
            .map(|_| recorder_with(&system, Mailbox::bounded(64)).0)
            .collect();
        let asks: Vec<_> = (0..2_000_usize)
            .map(|number| {
                let (actor, ended) = (actors[number % 4].clone(), Arc::clone(&ended));
                beside(async move {
                    let answer = match number % 10 {
                        0 => actor.boom("on purpose").await,
                        1 => actor.keep().ask().timeout(ms(1)).await,
                        _ => actor.echo(1).ask().wait_for_room().await,
                    };
                    ended.fetch_add(1, Ordering::Relaxed);
                    answer
                })
            })
            .collect();
        for (place, actor) in actors.iter().enumerate() {
            while ended.load(Ordering::Relaxed) < 200 * place as u64 {
                tokio::task::yield_now().await;
            }
            let _ends = if place % 2 == 0 {
                actor.stop_within(ms(10))
            } else {
                actor.drain()
            };
        }
        join_all(asks).await;
        assert_eq!(ended.load(Ordering::Relaxed), 2_000);
    });
}

#[test]
fn an_ask_is_told_nothing_twice() {
    in_virtual_time(async |system| {
        let numbers = Numbers::default();
        let recorder = system
            .spawn("recorder", Recorder::writing_to(&numbers))
            .unwrap();
        let mut ask = recorder.keep().ask();
        assert!(poll!(&mut ask).is_pending());
        settle().await;
        let before = Instant::now();
        recorder.answer_kept(1).tell();
        recorder.drop_kept().tell();
        recorder.drain().await;
        assert_eq!((&mut ask).await, Ok(1));
        assert_eq!(before.elapsed(), ms(0));
        drop(ask);
        assert_eq!(system.counters().late_replies, 0);
    });
}
