//! Nothing is lost silently: every message is counted where it ends, and what nobody handles is a dead letter (D4).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actors_core::prelude::*;
use actors_core::{Counters, DeadLetter, DeadLetterReason, LifecycleEvent, Subscription};

use common::recorder::{Recorder, RecorderRef, held, recorder, recorder_with};
use common::world::{
    beside, bounded, in_virtual_time, on_two_threads, picked, threaded_runtime, virtual_runtime,
};
use common::{Gate, settle};

/// The terms of the account that are not zero, in the order of the equation, and what lies outside of it.
fn account(system: &ActorSystem) -> String {
    let Counters {
        accepted,
        queued,
        stashed,
        running,
        handled,
        failed,
        cancelled,
        dead,
        refused,
        late_replies,
        ..
    } = system.counters();
    [
        (accepted, "accepted"),
        (queued, "queued"),
        (stashed, "stashed"),
        (running, "running"),
        (handled, "handled"),
        (failed, "failed"),
        (cancelled, "cancelled"),
        (dead, "dead"),
        (refused, "refused"),
        (late_replies, "late"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, term)| format!("{count} {term}"))
    .collect::<Vec<_>>()
    .join(", ")
}

/// The dead letters so far: recipient, variant, reason.
fn letters(
    letters: &mut Subscription<DeadLetter>,
) -> Vec<(String, &'static str, DeadLetterReason)> {
    std::iter::from_fn(|| letters.try_next())
        .map(|letter| {
            (
                letter.recipient.name().to_owned(),
                letter.variant,
                letter.reason,
            )
        })
        .collect()
}

#[test]
fn a_message_is_accepted_at_the_push_and_then_queued_running_and_handled() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        recorder.hold(gate.clone()).tell();
        recorder.note(1).tell();
        assert_eq!(account(&system), "2 accepted, 2 queued");
        gate.reached(1).await;
        assert_eq!(account(&system), "2 accepted, 1 queued, 1 running");
        gate.open();
        settle().await;
        assert_eq!(account(&system), "2 accepted, 2 handled");
    });
}

#[test]
fn messages_of_a_burst_that_was_taken_are_still_queued() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        recorder.hold(gate.clone()).tell();
        (0..100).for_each(|number| recorder.note(number).tell());
        gate.reached(1).await;
        assert_eq!(account(&system), "101 accepted, 100 queued, 1 running");
        gate.open();
        recorder.echo(0).await.unwrap();
        assert_eq!(account(&system), "102 accepted, 102 handled");
    });
}

#[test]
fn a_handler_that_panics_or_fails_its_actor_makes_its_message_failed() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        recorder.boom("on purpose").tell();
        recorder.note(1).tell();
        settle().await;
        assert_eq!(account(&system), "2 accepted, 1 handled, 1 failed");
    });
}

#[test]
fn an_error_that_is_only_a_reply_makes_its_message_handled() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        recorder.refuse("no").tell();
        assert_eq!(recorder.refuse("no").await, Err(AskError::Handler("no")));
        assert_eq!(account(&system), "2 accepted, 2 handled");
    });
}

#[test]
fn a_handler_cut_at_an_await_makes_its_message_failed() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let _gate = held(&recorder).await;
        recorder.kill().await;
        assert_eq!(account(&system), "1 accepted, 1 failed");
    });
}

#[test]
fn a_cancelled_ask_is_queued_until_it_is_removed() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let gate = held(&recorder).await;
        let ask = beside(recorder.echo(1).ask());
        settle().await;
        ask.abort();
        settle().await;
        assert_eq!(account(&system), "2 accepted, 1 queued, 1 running");
        gate.open();
        settle().await;
        assert_eq!(account(&system), "2 accepted, 1 handled, 1 cancelled");
        assert_eq!(numbers.entries(), []);
    });
}

#[test]
fn what_a_stop_turns_out_is_dead_and_only_tells_are_dead_letters() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let recorder = system.spawn("recorder", Recorder::default).unwrap();
        let gate = held(&recorder).await;
        recorder.note(1).tell();
        let ask = beside(recorder.echo(2).ask());
        settle().await;
        let ended = recorder.stop();
        settle().await;
        assert_eq!(account(&system), "3 accepted, 1 running, 2 dead");
        gate.open();
        assert_eq!(ended.await, StopReason::Stopped);
        assert_eq!(
            ask.await.unwrap(),
            Err(AskError::Stopped {
                phase: Phase::Queued
            })
        );
        let expected = [("recorder".to_owned(), "Note", DeadLetterReason::Stopped)];
        assert_eq!(letters(&mut dead), expected);
        assert_eq!(account(&system), "3 accepted, 1 handled, 2 dead");
    });
}

#[test]
fn a_tell_that_is_refused_is_a_dead_letter_and_counted_as_refused_only() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let recorder = system.spawn("recorder", Recorder::default).unwrap();
        recorder.stop().await;
        recorder.note(1).tell();
        let full = system
            .actor(Recorder::default)
            .name("full")
            .mailbox(Mailbox::bounded(1))
            .spawn()
            .unwrap();
        full.note(1).tell();
        full.note(2).tell();
        let expected = [
            ("recorder".to_owned(), "Note", DeadLetterReason::Stopped),
            ("full".to_owned(), "Note", DeadLetterReason::MailboxFull),
        ];
        assert_eq!(letters(&mut dead), expected);
        assert_eq!(account(&system), "1 accepted, 1 queued, 2 refused");
    });
}

#[test]
fn a_message_that_makes_room_for_another_is_dead_and_a_dead_letter() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let mailbox = Mailbox::bounded(1).overflow(Overflow::DropOldest);
        let (recorder, numbers) = recorder_with(&system, mailbox);
        recorder.note(1).tell();
        recorder.note(2).tell();
        assert_eq!(account(&system), "2 accepted, 1 queued, 1 dead");
        settle().await;
        assert_eq!(numbers.entries(), [2]);
        let reasons: Vec<_> = letters(&mut dead)
            .into_iter()
            .map(|(_, _, reason)| reason)
            .collect();
        assert_eq!(reasons, [DeadLetterReason::DroppedOldest]);
    });
}

/// Tells another actor what it is told.
struct Relay {
    to: RecorderRef,
}

#[actor]
impl Relay {
    #[handler]
    fn pass_on(&mut self, number: u64) {
        self.to.note(number).tell();
    }
}

#[test]
fn a_dead_letter_names_recipient_message_reason_and_the_actor_that_told_it() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let to = system.spawn("recorder", Recorder::default).unwrap();
        to.stop().await;
        let id = to.actor_id();
        let relay = system.spawn_with("relay", to, |to| Relay { to }).unwrap();
        relay.pass_on(1).await.unwrap();
        let letter = dead.next().await.unwrap();
        assert_eq!(letter.recipient.to_string(), "/test/recorder");
        assert_eq!(letter.recipient_id, id);
        assert!(
            letter.message_type.ends_with("RecorderMsg"),
            "{}",
            letter.message_type
        );
        assert_eq!(letter.variant, "Note");
        assert_eq!(letter.reason, DeadLetterReason::Stopped);
        assert_eq!(letter.sender.unwrap().to_string(), "/test/relay");
    });
}

#[test]
fn a_message_from_outside_of_any_actor_has_no_sender() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let (recorder, _) = recorder(&system);
        recorder.stop().await;
        recorder.note(1).tell();
        assert_eq!(dead.next().await.unwrap().sender, None);
    });
}

#[test]
fn a_message_whose_destructor_panics_as_it_is_turned_away_is_reported_and_counted() {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let bin = system.spawn("bin", Bin::default).unwrap();
        let gate = Gate::new();
        bin.hold(gate.clone()).tell();
        bin.take(Bomb).tell();
        bin.take(Bomb).tell();
        gate.reached(1).await;
        bin.kill().await;
        assert_eq!(account(&system), "3 accepted, 1 failed, 2 dead");
        let texts = picked(&mut events, |event| match event {
            LifecycleEvent::DestructorPanicked { text, .. } => Some(text),
            _ => None,
        });
        assert_eq!(texts, ["boom"; 2]);
    });
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("boom");
    }
}

#[derive(Default)]
struct Bin;

#[actor]
impl Bin {
    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }

    #[handler]
    fn take(&mut self, bomb: Bomb) {
        drop(bomb);
    }
}

/// Has results of its own on their way, and fails.
struct Piper {
    gate: Gate,
    heard: Arc<AtomicU64>,
}

#[actor]
impl Piper {
    #[handler]
    async fn run(&mut self, ctx: &mut ActorContext<Self>) {
        ctx.pipe(async { 1 }, PiperRef::hear);
        self.gate.pass().await;
        panic!("on purpose");
    }

    #[handler]
    fn hear(&mut self, number: u64) {
        self.heard.fetch_add(number, Ordering::Relaxed);
    }
}

#[test]
fn a_result_for_an_earlier_incarnation_is_accepted_and_then_cancelled() {
    in_virtual_time(async |system| {
        let heard = Arc::new(AtomicU64::new(0));
        let gate = Gate::new();
        let args = (gate.clone(), Arc::clone(&heard));
        let piper = system
            .spawn_with("piper", args, |(gate, heard)| Piper { gate, heard })
            .unwrap();
        piper.run().tell();
        settle().await;
        assert_eq!(account(&system), "2 accepted, 1 queued, 1 running");
        gate.open();
        settle().await;
        assert_eq!(account(&system), "2 accepted, 1 failed, 1 cancelled");
        assert_eq!(heard.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn the_account_is_exact_after_many_threads_told_asked_dropped_and_stopped() {
    on_two_threads(async |system| {
        let told = AtomicU64::new(0);
        let actors: Vec<_> = (0..8)
            .map(|_| recorder_with(&system, Mailbox::bounded(16)).0)
            .collect();
        std::thread::scope(|scope| {
            for seed in 0..4_usize {
                let (actors, told, system) = (&actors, &told, &system);
                scope.spawn(move || {
                    for step in 0..1_000 {
                        let to = &actors[(seed + step) % actors.len()];
                        told.fetch_add(1, Ordering::Relaxed);
                        match step % 5 {
                            0 => drop(system.block_on(to.echo(1).ask().timeout(ms(5)))),
                            1 if step % 100 == 1 => to.boom("on purpose").tell(),
                            _ => to.note(1).tell(),
                        }
                    }
                    drop(actors[seed].stop_within(ms(50)));
                });
            }
        });
        for actor in &actors {
            actor.drain().await;
        }
        let counters = system.counters();
        assert!(counters.is_balanced(), "{counters:?}");
        assert_eq!((counters.queued, counters.running), (0, 0), "{counters:?}");
        assert!(
            counters.accepted + counters.refused <= told.load(Ordering::Relaxed),
            "{counters:?}"
        );
    });
}

/// Holds its thread, and counts its ends.
struct Holder {
    ends: Arc<AtomicU64>,
}

#[actor]
impl Holder {
    #[handler]
    fn hold(&mut self, gate: Gate) {
        gate.block();
    }

    /// Waits in the end for what never comes. The handler owns what would wake it, and so could keep itself for ever.
    #[handler]
    async fn hold_and_wait(&mut self, gate: Gate, never: Gate) {
        gate.block();
        never.pass().await;
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.ends.fetch_add(1, Ordering::Relaxed);
    }
}

/// Drops a runtime while a handler holds one of its two threads; gives the answer, the ends of the state, and the account.
fn dropped_while_held(waits: bool) -> (Result<(), AskError>, u64, String) {
    bounded(move || {
        let runtime = threaded_runtime();
        let (ends, gate) = (Arc::new(AtomicU64::new(0)), Gate::new());
        let (system, mut asked) = runtime.block_on(async {
            let system = ActorSystem::new("test").unwrap();
            let holder = system.spawn_with("holder", Arc::clone(&ends), |ends| Holder { ends });
            let holder = holder.unwrap();
            let asked = match waits {
                true => holder.hold_and_wait(gate.clone(), Gate::new()).ask(),
                false => holder.hold(gate.clone()).ask(),
            };
            (system, asked)
        });
        runtime.block_on(async { assert!(futures::poll!(&mut asked).is_pending()) });
        futures::executor::block_on(gate.reached(1));
        let dropping = std::thread::spawn(move || drop(runtime));
        while !system.is_shutting_down() {
            std::thread::yield_now();
        }
        gate.open();
        dropping.join().unwrap();
        let answer = futures::executor::block_on(asked);
        (answer, ends.load(Ordering::Relaxed), account(&system))
    })
}

#[test]
fn an_actor_that_runs_while_its_runtime_is_dropped_ends_when_its_code_returns() {
    let handled = "1 accepted, 1 handled".to_owned();
    assert_eq!(dropped_while_held(false), (Ok(()), 1, handled));
    let (stopped, cut) = (
        AskError::Stopped {
            phase: Phase::Running,
        },
        "1 accepted, 1 failed".to_owned(),
    );
    assert_eq!(dropped_while_held(true), (Err(stopped), 1, cut));
}

#[test]
fn a_runtime_that_is_dropped_leaves_nothing_unaccounted_for() {
    for make in [virtual_runtime, threaded_runtime] {
        bounded(move || {
            let runtime = make();
            let (system, asks) = runtime.block_on(async {
                let system = ActorSystem::new("test").unwrap();
                let (idle, _) = recorder(&system);
                idle.echo(1).await.unwrap();
                let (recorder, _) = recorder(&system);
                let gate = Gate::new();
                let mut running = recorder.wait(gate.clone(), 1).ask();
                assert!(futures::poll!(&mut running).is_pending());
                (0..10).for_each(|number| recorder.note(number).tell());
                let mut queued = recorder.echo(2).ask();
                assert!(futures::poll!(&mut queued).is_pending());
                gate.reached(1).await;
                (0..10).for_each(|number| recorder.note(number).tell());
                (system, [running, queued])
            });
            drop(runtime);
            let stopped = asks.map(futures::executor::block_on);
            let phases = [Phase::Running, Phase::Queued];
            assert_eq!(
                stopped,
                phases.map(|phase| Err(AskError::Stopped { phase }))
            );
            assert_eq!(
                account(&system),
                "23 accepted, 1 handled, 1 failed, 21 dead"
            );
        });
    }
}
