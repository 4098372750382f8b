//! Promises F2 and F3: how often an actor is restarted, and how soon.

mod common;

use std::time::Duration;

use actors_core::prelude::*;
use common::puppet::{Oops, PuppetRef, Script};
use common::{Log, beside, pass, paused, restart_limit, settle, system, turned_out};
use tokio::time::Instant;

/// A policy without a wait between restarts.
fn at_once(limit: u32, window: Duration) -> Supervision {
    Supervision::restart()
        .restarts(limit, window)
        .backoff(Backoff::none())
}

/// Crashes and waits until what comes of it has come.
async fn crash(puppet: &PuppetRef, text: &'static str) {
    puppet.crash(text).tell();
    settle().await;
}

#[test]
fn there_are_at_most_n_restarts_in_a_sliding_window() {
    paused(async {
        let system = system();
        let puppet = Script::new("a", &Log::default()).supervised(&system, at_once(2, secs(10)));
        for wait in [ms(0), ms(4_000), ms(6_001), ms(4_000)] {
            pass(wait).await;
            crash(&puppet, "granted").await;
            assert!(!puppet.is_stopped());
        }
        pass(ms(5_999)).await;
        crash(&puppet, "spent").await;
        assert_eq!(restart_limit(&puppet).await, "spent");
    });
}

#[test]
fn a_restart_exactly_one_window_old_still_counts() {
    for (late, stopped) in [(Duration::ZERO, true), (Duration::from_nanos(1), false)] {
        paused(async {
            let system = system();
            let puppet =
                Script::new("a", &Log::default()).supervised(&system, at_once(1, secs(10)));
            crash(&puppet, "first").await;
            pass(secs(10) + late).await;
            crash(&puppet, "second").await;
            assert_eq!(puppet.is_stopped(), stopped, "{late:?} late");
        });
    }
}

#[test]
fn the_default_is_5_restarts_in_60_seconds() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        for _ in 0..5 {
            puppet.crash("granted").tell();
            pass(secs(12)).await;
            assert!(!puppet.is_stopped());
        }
        // The first of them is exactly 60 s old.
        crash(&puppet, "spent").await;
        assert_eq!(restart_limit(&puppet).await, "spent");
        assert_eq!(log.count("a made"), 6);
    });
}

#[test]
fn each_child_has_a_budget_of_its_own() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = Script::new("p", &log).spawn(&system);
        let policy = at_once(1, secs(60));
        let one = parent
            .adopt_with(Script::new("c", &log), policy.clone())
            .await
            .unwrap();
        let two = parent
            .adopt_with(Script::new("d", &log), policy)
            .await
            .unwrap();
        crash(&one, "boom").await;
        crash(&two, "boom").await;
        assert!(!one.is_stopped() && !two.is_stopped());
        crash(&one, "boom").await;
        assert!(one.is_stopped() && !two.is_stopped());
    });
}

#[test]
fn a_failed_start_counts_as_a_restart_that_was_asked_for() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log)
            .on_start(|_| Box::pin(async { Err(Oops("no start").into()) }))
            .supervised(&system, at_once(3, secs(60)));
        assert_eq!(restart_limit(&puppet).await, "oops: no start");
        assert_eq!(log.count("a made"), 4);
    });
}

#[test]
fn a_resume_counts_nothing() {
    paused(async {
        let system = system();
        let policy = at_once(1, secs(60)).on_panic(Directive::Resume);
        let puppet = Script::new("a", &Log::default()).supervised(&system, policy);
        for _ in 0..10 {
            crash(&puppet, "boom").await;
        }
        puppet.give_up("now").tell();
        settle().await;
        assert!(!puppet.is_stopped());
    });
}

#[test]
fn an_escalation_counts_nothing() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = Script::new("p", &log).supervised(&system, Supervision::resume());
        let policy = at_once(1, secs(60)).on_panic(Directive::Escalate);
        let child = parent
            .adopt_with(Script::new("c", &log), policy)
            .await
            .unwrap();
        for _ in 0..10 {
            crash(&child, "boom").await;
        }
        child.give_up("now").tell();
        settle().await;
        assert!(!child.is_stopped());
    });
}

#[test]
fn a_limit_of_0_never_restarts() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).supervised(&system, at_once(0, secs(60)));
        crash(&puppet, "boom").await;
        assert_eq!(restart_limit(&puppet).await, "boom");
        assert_eq!(log.count("a made"), 1);
    });
}

#[test]
fn a_spent_budget_stops_and_tells_every_watcher_the_last_failure() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &Log::default()).supervised(&system, at_once(1, secs(60)));
        for name in ["v", "w"] {
            let watcher = Script::new(name, &log).spawn(&system);
            watcher.watch_over(puppet.clone()).await.unwrap();
        }
        log.take();
        crash(&puppet, "first").await;
        crash(&puppet, "last").await;
        let mut lines = log.take();
        lines.sort();
        let text = "saw a end: restart limit reached: handler `Crash` panicked: last";
        assert_eq!(lines, [format!("v {text}"), format!("w {text}")]);
    });
}

#[test]
fn a_spent_budget_escalates_when_told_to() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = Script::new("p", &log).spawn(&system);
        let policy = at_once(0, secs(60)).when_spent(Directive::Escalate);
        let child = parent
            .adopt_with(Script::new("c", &log), policy)
            .await
            .unwrap();
        child.crash("boom").tell();
        assert_eq!(child.stopped().await, StopReason::ParentStopped);
        assert_eq!(parent.note("x").await, Ok(1));
        assert_eq!(log.count("p on_restart: boom"), 1);
    });
}

/// Crashes an actor again and again as soon as it runs, and measures how long each restart takes.
async fn waits(puppet: &PuppetRef, count: usize) -> Vec<Duration> {
    let mut waits = Vec::new();
    for _ in 0..count {
        let before = Instant::now();
        puppet.crash("boom").tell();
        puppet
            .note("x")
            .ask()
            .timeout(Duration::MAX)
            .await
            .expect("it restarts");
        waits.push(before.elapsed());
    }
    waits
}

#[test]
fn the_first_restart_is_at_once_and_the_next_waits_double_from_10_ms_to_1_s() {
    paused(async {
        let system = system();
        let policy = Supervision::restart().restarts(100, within(secs(60)));
        let puppet = Script::new("a", &Log::default()).supervised(&system, policy);
        let expected = [0, 10, 20, 40, 80, 160, 320, 640, 1_000, 1_000].map(ms);
        assert_eq!(waits(&puppet, 10).await, expected);
    });
}

#[test]
fn jitter_spreads_the_waits_and_never_goes_beyond_the_maximum() {
    paused(async {
        let system = system();
        let backoff = Backoff::new(ms(100), ms(150)).jitter(1.0);
        let policy = Supervision::restart()
            .restarts(u32::MAX, within(secs(60)))
            .backoff(backoff);
        let puppet = Script::new("a", &Log::default()).supervised(&system, policy);
        let waits = waits(&puppet, 100).await;
        // The timer rounds up to a millisecond.
        assert!(waits.iter().all(|wait| *wait <= ms(151)), "{waits:?}");
        let distinct: std::collections::BTreeSet<_> = waits.iter().collect();
        assert!(distinct.len() > 10, "{waits:?}");
    });
}

#[test]
fn healthy_running_for_the_window_or_as_set_makes_the_next_restart_a_first_one() {
    let table = [
        (Backoff::default(), secs(60)),
        (Backoff::default().reset_after(secs(5)), secs(5)),
    ];
    for (backoff, healthy) in table {
        for (run, wait) in [(healthy - ms(1), ms(20)), (healthy, ms(0))] {
            paused(async {
                let system = system();
                let policy = Supervision::restart()
                    .restarts(100, within(secs(60)))
                    .backoff(backoff);
                let puppet = Script::new("a", &Log::default()).supervised(&system, policy);
                assert_eq!(waits(&puppet, 2).await, [ms(0), ms(10)]);
                pass(run).await;
                assert_eq!(waits(&puppet, 1).await, [wait], "{run:?} of {healthy:?}");
            });
        }
    }
}

/// Spawns an actor that waits for a second before its first restart, and crashes it.
async fn backing_off(system: &ActorSystem, log: &Log) -> PuppetRef {
    let policy = Supervision::restart().backoff(Backoff::fixed(secs(1)));
    let puppet = Script::new("a", log).supervised(system, policy);
    crash(&puppet, "boom").await;
    puppet
}

#[test]
fn messages_wait_in_order_for_the_restart() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = backing_off(&system, &log).await;
        for text in ["one", "two", "three"] {
            puppet.note(text).tell();
        }
        pass(ms(999)).await;
        assert_eq!(log.count("a one"), 0);
        pass(ms(1)).await;
        let lines = log.take();
        assert_eq!(
            lines[lines.len() - 4..],
            ["a started", "a one", "a two", "a three"]
        );
    });
}

#[test]
fn ask_timeouts_run_during_the_wait_for_a_restart() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = backing_off(&system, &log).await;
        let before = Instant::now();
        let answer = puppet.note("x").ask().timeout(ms(50)).await;
        assert_eq!(
            answer,
            Err(AskError::Timeout {
                phase: Phase::Queued
            })
        );
        assert_eq!(before.elapsed(), ms(50));
        pass(secs(2)).await;
        assert_eq!((log.count("a started"), log.count("a x")), (2, 0));
    });
}

#[test]
fn a_stop_or_a_kill_ends_the_wait_for_a_restart_at_once() {
    for kill in [false, true] {
        paused(async {
            let (system, log) = (system(), Log::default());
            let puppet = backing_off(&system, &log).await;
            let queued = beside(puppet.note("x").ask());
            settle().await;
            let before = Instant::now();
            let reason = if kill { puppet.kill() } else { puppet.stop() }.await;
            assert_eq!(
                reason,
                if kill {
                    StopReason::Killed
                } else {
                    StopReason::Stopped
                }
            );
            assert_eq!(queued.await.unwrap(), Err(turned_out()));
            assert_eq!(before.elapsed(), Duration::ZERO);
            // The old incarnation had its hook, a new one there is not.
            assert_eq!(
                log.take(),
                ["a made", "a started", "a on_restart: boom", "a dropped"]
            );
        });
    }
}

#[test]
fn a_drain_waits_for_the_restart_and_handles_what_was_accepted() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = backing_off(&system, &log).await;
        puppet.note("x").tell();
        assert_eq!(puppet.drain().await, StopReason::Drained);
        assert_eq!(log.count("a x"), 1);
    });
}
