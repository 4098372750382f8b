//! How an actor ends: beside a restart, twice, and with many who wait for it or send to it.

mod common;

use std::thread;

use actors_core::DeadLetterReason;
use actors_core::prelude::*;
use actors_testkit::TestKit;
use common::puppet::{PuppetRef, Script};
use common::recorder::recorder_with;
use common::world::on_two_threads;
use common::{Gate, Log, beside, turned_out};

/// How far a restart has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum During {
    Children,
    Hook,
    BackOff,
    Factory,
    Start,
}

/// Brings an actor into the midst of a restart. Whatever is held there goes on when the gate opens.
async fn restarting(kit: &TestKit, log: &Log, gate: &Gate, during: During) -> PuppetRef {
    let (mut script, held) = (Script::new("a", log), gate.clone());
    let wait = move || {
        let gate = held.clone();
        async move { gate.pass().await }
    };
    let (calls, starts) = (Log::default(), Log::default());
    let in_hook = wait.clone();
    let in_start = wait.clone();
    script = match during {
        During::Children => script.children([Script::new("c", log).stop_at(gate)]),
        During::Hook => script.on_restart(move |_| Box::pin(in_hook())),
        During::Start => script.on_start(move |_| {
            starts.add("start");
            let is_next = starts.count("start") == 2;
            let gate = in_start();
            Box::pin(async move {
                if is_next {
                    gate.await;
                }
                Ok(())
            })
        }),
        During::BackOff | During::Factory => script,
    };
    let factory = move || {
        calls.add("call");
        let is_held = during == During::Factory && calls.count("call") == 2;
        let (gate, make) = (wait(), script.clone());
        async move {
            if is_held {
                gate.await;
            }
            make.factory()()
        }
    };
    let backoff = match during {
        During::BackOff => Backoff::fixed(secs(1)),
        _ => Backoff::none(),
    };
    let puppet = kit
        .actor(factory)
        .name("a")
        .supervision(Supervision::restart().backoff(backoff))
        .spawn()
        .expect("the name is free");
    puppet.note("lives").await.expect("it lives");
    puppet.crash("boom").tell();
    kit.settle().await;
    assert_eq!(log.count("a started"), 1, "{during:?}");
    puppet
}

/// The hooks that run when a restart is beaten there: the old incarnation has one, and the new one if it started.
const BEATEN: [(During, &[&str]); 5] = [
    (During::Children, &["a on_stop: stopped"]),
    (During::Hook, &["a on_restart: boom"]),
    (During::BackOff, &["a on_restart: boom"]),
    (During::Factory, &["a on_restart: boom"]),
    (During::Start, &["a on_restart: boom", "a on_stop: stopped"]),
];

#[test]
fn a_stop_that_arrives_during_a_restart_wins() {
    for (during, hooks) in BEATEN {
        TestKit::run("wins", async |kit| {
            kit.allow_failures();
            let (log, gate) = (Log::default(), Gate::new());
            let puppet = restarting(&kit, &log, &gate, during).await;
            puppet.note("told").tell();
            let asked = beside(puppet.note("asked").ask());
            kit.settle().await;
            let before = kit.elapsed();
            let end = puppet.stop();
            // Whatever the restart waits for, those who wait for the actor do not.
            assert_eq!(asked.await.unwrap(), Err(turned_out()));
            kit.expect_dead_letter(|letter| letter.variant == "Note")
                .await;
            gate.open();
            assert_eq!(end.await, StopReason::Stopped, "{during:?}");
            assert_eq!(kit.elapsed(), before, "{during:?}");
            // There is no restart afterwards either.
            kit.advance(secs(600)).await;
            assert_eq!(log.count("a made"), log.count("a dropped"));
            let mut lines = log.take();
            lines.retain(|line| line.contains("a on_") && !line.contains("done"));
            assert_eq!(lines, hooks, "{during:?}");
            assert!(kit.spawn("a", Script::new("a", &log).factory()).is_ok());
        });
    }
}

#[test]
fn a_kill_that_arrives_during_a_restart_wins_at_once_and_adds_no_hook() {
    for (during, _) in BEATEN {
        TestKit::run("kill", async |kit| {
            kit.allow_failures();
            let (log, gate) = (Log::default(), Gate::new());
            let puppet = restarting(&kit, &log, &gate, during).await;
            log.take();
            let before = kit.elapsed();
            assert_eq!(puppet.kill().await, StopReason::Killed, "{during:?}");
            assert_eq!(kit.elapsed(), before, "{during:?}");
            gate.open();
            kit.advance(secs(600)).await;
            let mut lines = log.take();
            lines.retain(|line| !line.ends_with("dropped"));
            assert_eq!(lines, [""; 0], "{during:?}");
            assert!(kit.spawn("a", Script::new("a", &log).factory()).is_ok());
        });
    }
}

#[actors_testkit::test]
async fn stopping_twice_is_fine(kit: TestKit) {
    let (log, gate) = (Log::default(), Gate::new());
    let puppet = Script::new("a", &log).stop_at(&gate).spawn(&kit);
    puppet.note("lives").await.unwrap();
    let (first, second) = (puppet.stop(), puppet.stop());
    gate.reached(1).await;
    let third = puppet.stop();
    kit.settle().await;
    gate.open();
    for end in [first, second, third, puppet.stop(), puppet.stopped()] {
        assert_eq!(end.await, StopReason::Stopped);
    }
    let hooks = (log.count("a on_stop: stopped"), log.count("a dropped"));
    assert_eq!(hooks, (1, 1));
    // What came too late changes nothing.
    assert_eq!(puppet.drain().await, StopReason::Stopped);
    assert_eq!(puppet.kill().await, StopReason::Stopped);
}

#[actors_testkit::test]
async fn three_who_wait_before_the_end_and_two_after_it_all_return(kit: TestKit) {
    let puppet = Script::new("a", &Log::default()).spawn(&kit);
    let waiting: Vec<_> = (0..3).map(|_| beside(puppet.stopped())).collect();
    kit.settle().await;
    assert!(waiting.iter().all(|wait| !wait.is_finished()));
    puppet.stop().await;
    for wait in waiting {
        assert_eq!(wait.await.unwrap(), StopReason::Stopped);
    }
    for _ in 0..2 {
        assert_eq!(puppet.stopped().await, StopReason::Stopped);
    }
}

#[actors_testkit::test]
async fn a_tell_after_a_stop_is_refused(kit: TestKit) {
    let (log, gate) = (Log::default(), Gate::new());
    let puppet = Script::new("a", &log).stop_at(&gate).spawn(&kit);
    puppet.note("lives").await.unwrap();
    let end = puppet.stop();
    // Before it acts, in the midst of it, and when it is over.
    puppet.number(1).tell();
    assert!(puppet.number(1).try_tell().is_err());
    gate.reached(1).await;
    puppet.number(2).tell();
    gate.open();
    end.await;
    puppet.number(3).tell();
    kit.settle().await;
    let letters = kit.dead_letters();
    assert_eq!(letters.len(), 3);
    assert!(
        letters
            .iter()
            .all(|letter| letter.reason == DeadLetterReason::Stopped)
    );
    let counters = kit.counters();
    assert_eq!(
        (counters.accepted, counters.refused, counters.dead),
        (1, 3, 0)
    );
    assert!(!log.take().iter().any(|line| line.contains("number")));
}

#[test]
fn a_drain_that_races_eight_senders_handles_each_message_that_was_accepted() {
    const SENDERS: u64 = 8;
    on_two_threads(async |system| {
        for round in 0..40 {
            let (recorder, numbers) = recorder_with(&system, Mailbox::bounded(256));
            let begun = Gate::new();
            let senders: Vec<_> = (0..SENDERS)
                .map(|sender| {
                    let (to, begun) = (recorder.clone(), begun.clone());
                    thread::spawn(move || {
                        begun.arrive();
                        let mut accepted = 0;
                        loop {
                            match to.note(accepted * SENDERS + sender).try_tell() {
                                Ok(()) => accepted += 1,
                                Err(TryTellError::Full(_)) => thread::yield_now(),
                                Err(TryTellError::Closed(_)) => return accepted,
                            }
                        }
                    })
                })
                .collect();
            begun.reached(1 + round % SENDERS as usize).await;
            assert_eq!(recorder.drain().await, StopReason::Drained);
            let mut handled = [0; SENDERS as usize];
            for number in numbers.entries() {
                let sender = (number % SENDERS) as usize;
                assert_eq!(number / SENDERS, handled[sender], "in order, and once");
                handled[sender] += 1;
            }
            let accepted: Vec<_> = senders
                .into_iter()
                .map(|sender| sender.join().unwrap())
                .collect();
            assert_eq!(Vec::from(handled), accepted);
        }
    });
}
