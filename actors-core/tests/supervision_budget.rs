//! How often and how soon an actor is restarted, exactly, whatever the phase of the clock.

mod common;

use std::time::Duration;

use actors_core::prelude::*;
use actors_testkit::TestKit;
use common::puppet::{Oops, PuppetRef, Script};
use common::{Log, panicked};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Three restarts in ten seconds, without a wait.
fn three_in_ten_seconds() -> Supervision {
    Supervision::restart()
        .restarts(3, within(secs(10)))
        .backoff(Backoff::none())
}

/// Fails an actor, and says whether it lives on.
async fn survives(kit: &TestKit, puppet: &PuppetRef) -> bool {
    puppet.crash("boom").tell();
    kit.settle().await;
    !puppet.is_stopped()
}

#[test]
fn a_sliding_window_stops_at_10_2_s_whatever_the_phase_of_the_clock() {
    for phase in [0, 1, 4_999, 5_000, 9_899, 9_999, 10_000, 60_000] {
        TestKit::run("slide", async |kit| {
            kit.allow_failures();
            let policy = three_in_ten_seconds();
            let puppet = Script::new("a", &Log::default()).supervised(&kit, policy);
            kit.advance(ms(phase)).await;
            let began = kit.elapsed();
            let table = [
                (0, true),
                (8_000, true),
                (9_000, true),
                (10_100, true),
                (10_200, false),
            ];
            for (at, lives) in table {
                kit.advance(began + ms(at) - kit.elapsed()).await;
                assert_eq!(survives(&kit, &puppet).await, lives, "{phase}: at {at} ms");
            }
            let reason = puppet.stopped().await;
            assert!(matches!(reason, StopReason::RestartLimit(_)), "{reason}");
        });
    }
}

#[actors_testkit::test]
async fn three_failures_a_quiet_hour_and_three_more_leave_it_alive(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let puppet = Script::new("a", &log).supervised(&kit, three_in_ten_seconds());
    for pause in [Duration::ZERO, secs(3_600)] {
        kit.advance(pause).await;
        for _ in 0..3 {
            assert!(survives(&kit, &puppet).await);
        }
    }
    assert_eq!(puppet.note("x").await, Ok(1));
    assert_eq!(log.count("a made"), 7);
    assert!(!survives(&kit, &puppet).await);
}

/// Says when each state was asked for, and makes none.
fn never_made(times: mpsc::UnboundedSender<Instant>) -> impl Fn() -> Result<Never, Oops> {
    move || {
        let _ = times.send(Instant::now());
        Err(Oops("none"))
    }
}

struct Never;

#[actor]
impl Never {
    #[handler]
    fn never(&mut self) {}
}

#[actors_testkit::test]
async fn ten_thousand_waits_with_jitter_are_never_longer_than_the_maximum(kit: TestKit) {
    kit.allow_failures();
    const SAMPLES: usize = 10_000;
    let max = ms(50);
    let (sender, mut times) = mpsc::unbounded_channel();
    let backoff = Backoff::new(ms(40), max).jitter(0.5);
    let actor = kit
        .actor(never_made(sender))
        .supervision(
            Supervision::restart()
                .restarts(u32::MAX, within(secs(1)))
                .backoff(backoff),
        )
        .spawn()
        .unwrap();
    let mut waits = Vec::new();
    let mut last = times.recv().await.unwrap();
    while waits.len() < SAMPLES {
        let now = times.recv().await.unwrap();
        assert!(now - last <= max, "{:?}", now - last);
        waits.push(now - last);
        last = now;
    }
    actor.kill().await;
    // The first is at once. Waits end on a millisecond of the clock, as the maximum does.
    assert_eq!(waits.remove(0), Duration::ZERO);
    let (shortest, longest) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert_eq!(*longest, max);
    assert!(*shortest >= ms(20) && *shortest < ms(30), "{shortest:?}");
}

#[test]
fn an_actor_still_answers_after_50_failures_that_are_resumed_restarted_and_escalated_by_turns() {
    TestKit::run("turns", async |kit| {
        kit.allow_failures();
        let log = Log::default();
        let parent = Script::new("p", &log).supervised(&kit, Supervision::resume());
        let policy = Supervision::restart()
            .restarts(100, within(secs(60)))
            .decide_with(|failure, _| {
                Some(match failure.text() {
                    "resume" => Directive::Resume,
                    "restart" => Directive::Restart,
                    _ => Directive::Escalate,
                })
            });
        let child = parent
            .adopt_with(Script::new("c", &log), policy)
            .await
            .unwrap();
        let (mut notes, mut restarts) = (0, 0);
        for turn in 0..50 {
            let text = ["resume", "restart", "escalate"][turn % 3];
            // An answer before, between and behind.
            let crash = child.crash(text).ask();
            let behind = child.note("behind").ask().timeout(Duration::MAX);
            let (crash, behind) = tokio::join!(crash, behind);
            assert_eq!(crash, Err(panicked(text)));
            if text == "restart" {
                (notes, restarts) = (0, restarts + 1);
            }
            notes += 1;
            assert_eq!(behind, Ok(notes), "{turn}: {text}");
        }
        assert_eq!(child.note("last").await, Ok(notes + 1));
        assert_eq!(kit.tree().find("/turns/p/c").unwrap().restarts, restarts);
        assert_eq!(log.count("c made"), restarts as usize + 1);
        // The parent was failed by each escalation, and went on.
        assert_eq!(parent.note("x").await, Ok(1));
        assert_eq!(log.count("p made"), 1);
    });
}
