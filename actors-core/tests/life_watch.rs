//! Promise L4: death watch.

mod common;

use actors_core::prelude::*;
use common::puppet::{Puppet, PuppetRef, Script};
use common::{Gate, Log, beside, paused, settle, system, threads};

/// A watcher `w` of an actor `b`, and their log.
async fn pair(system: &ActorSystem) -> (PuppetRef, PuppetRef, Log) {
    let log = Log::default();
    let watcher = Script::new("w", &log).spawn(system);
    let other = Script::new("b", &log).spawn(system);
    watcher.watch_over(other.clone()).await.expect("it lives");
    other.note("lives").await.expect("it lives");
    log.take();
    (watcher, other, log)
}

#[test]
fn each_watching_pair_is_told_once_with_the_reason() {
    for (kind, reason) in [
        ("stop", "stopped"),
        ("drain", "drained"),
        ("kill", "killed"),
    ] {
        paused(async {
            let system = system();
            let (watcher, other, log) = pair(&system).await;
            // Watching twice is watching once.
            watcher.watch_over(other.clone()).await.unwrap();
            let second = Script::new("v", &log).spawn(&system);
            second.watch_over(other.clone()).await.unwrap();
            match kind {
                "stop" => other.stop().await,
                "drain" => other.drain().await,
                _ => other.kill().await,
            };
            settle().await;
            for name in ["w", "v"] {
                assert_eq!(log.count(&format!("{name} saw b end: {reason}")), 1);
            }
        });
    }
}

#[test]
fn a_failure_that_ends_an_actor_is_the_reason() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let watcher = Script::new("w", &log).spawn(&system);
        let other = Script::new("b", &log).supervised(&system, Supervision::stop());
        watcher.watch_over(other.clone()).await.unwrap();
        other.crash("boom").tell();
        settle().await;
        assert_eq!(log.count("w saw b end: handler `Crash` panicked: boom"), 1);
    });
}

#[test]
fn the_news_comes_after_all_that_the_dead_actor_had_told_the_watcher() {
    threads(2, async {
        for _ in 0..50 {
            let system = system();
            let (watcher, other, log) = pair(&system).await;
            let to = watcher.clone();
            let act = move |ctx: &mut ActorContext<Puppet>| {
                for _ in 0..100 {
                    to.note("told").tell();
                }
                ctx.stop();
            };
            other.act(Box::new(act)).tell();
            other.stopped().await;
            // Whoever knows of the end comes after the news.
            watcher.note("after").await.unwrap();
            let mut expected = vec!["w told"; 100];
            expected.extend(["w saw b end: stopped", "w after"]);
            let lines: Vec<_> = log
                .take()
                .into_iter()
                .filter(|line| line.starts_with('w'))
                .collect();
            assert_eq!(lines, expected);
        }
    });
}

#[test]
fn a_watch_of_a_dead_actor_is_answered_at_once() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let watcher = Script::new("w", &log).spawn(&system);
        let other = Script::new("b", &log).spawn(&system);
        other.stop().await;
        watcher.watch_over(other.clone()).tell();
        watcher.note("next").await.unwrap();
        settle().await;
        assert_eq!(log.count("w saw b end: stopped"), 1);
        // And again, for each watch.
        watcher.watch_over(other).await.unwrap();
        settle().await;
        assert_eq!(log.count("w saw b end: stopped"), 2);
    });
}

#[test]
fn after_an_unwatch_no_news_comes_not_even_queued_news() {
    paused(async {
        let system = system();
        let (watcher, other, log) = pair(&system).await;
        let gate = Gate::new();
        watcher.hold(gate.clone()).tell();
        watcher.look_away(other.clone()).tell();
        gate.reached(1).await;
        // The news is queued behind the handler that unwatches.
        other.stop().await;
        settle().await;
        gate.open();
        settle().await;
        assert_eq!(log.count("w saw b end: stopped"), 0);
        // A watch after that is one of its own.
        watcher.watch_over(other).await.unwrap();
        settle().await;
        assert_eq!(log.count("w saw b end: stopped"), 1);
    });
}

#[test]
fn an_unwatched_and_watched_again_actor_is_told_of_once() {
    paused(async {
        let system = system();
        let (watcher, other, log) = pair(&system).await;
        let gate = Gate::new();
        watcher.hold(gate.clone()).tell();
        let again = other.clone();
        let act = move |ctx: &mut ActorContext<Puppet>| {
            ctx.unwatch(&again);
            ctx.watch(&again);
        };
        watcher.act(Box::new(act)).tell();
        gate.reached(1).await;
        other.stop().await;
        gate.open();
        settle().await;
        assert_eq!(log.count("w saw b end: stopped"), 1);
    });
}

#[test]
fn a_restart_of_the_watched_says_nothing() {
    paused(async {
        let system = system();
        let (_watcher, other, log) = pair(&system).await;
        other.crash("boom").tell();
        other.note("again").await.unwrap();
        settle().await;
        assert_eq!(log.count("b made"), 1);
        assert!(!log.take().iter().any(|line| line.starts_with("w saw")));
    });
}

#[test]
fn a_watcher_that_ends_is_told_no_more() {
    paused(async {
        let system = system();
        let (watcher, other, log) = pair(&system).await;
        watcher.stop().await;
        other.stop().await;
        settle().await;
        assert_eq!(log.count("w saw b end: stopped"), 0);
        assert_eq!(system.counters().dead, 0);
    });
}

#[test]
fn whoever_holds_a_reference_can_wait_for_the_end() {
    paused(async {
        let system = system();
        let (_watcher, other, _log) = pair(&system).await;
        let waiting: Vec<_> = (0..3).map(|_| beside(other.stopped())).collect();
        settle().await;
        drop(other.stopped());
        drop(other.stop());
        for wait in waiting {
            assert_eq!(wait.await.unwrap(), StopReason::Stopped);
        }
        assert_eq!(other.stopped().await, StopReason::Stopped);
        assert!(other.is_stopped());
    });
}

#[test]
fn the_end_can_be_awaited_on_any_executor() {
    let (sender, receiver) = std::sync::mpsc::channel();
    threads(1, async move {
        let system = system();
        let (_watcher, other, _log) = pair(&system).await;
        let end = other.stopped();
        let thread = std::thread::spawn(move || sender.send(futures::executor::block_on(end)));
        drop(other.stop());
        other.stopped().await;
        thread.join().unwrap().unwrap();
    });
    assert_eq!(receiver.recv(), Ok(StopReason::Stopped));
}

#[test]
fn actors_may_watch_each_other_and_themselves() {
    paused(async {
        let system = system();
        let (watcher, other, log) = pair(&system).await;
        other.watch_over(watcher.clone()).await.unwrap();
        watcher.watch_over(watcher.clone()).await.unwrap();
        assert_eq!(watcher.stop().await, StopReason::Stopped);
        settle().await;
        assert_eq!(log.count("b saw w end: stopped"), 1);
        assert_eq!(log.count("w saw w end: stopped"), 0);
    });
}

#[test]
fn a_watch_of_the_hook_that_ends_an_incarnation_does_not_stand_in_the_way_of_the_next() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let other = Script::new("b", &log).spawn(&system);
        let (by_hook, by_start) = (other.clone(), other.clone());
        let watcher = Script::new("w", &log)
            .on_restart(move |ctx| {
                ctx.watch(&by_hook);
                Box::pin(async {})
            })
            .on_start(move |ctx| {
                ctx.watch(&by_start);
                Box::pin(async { Ok(()) })
            })
            .spawn(&system);
        watcher.crash("boom").tell();
        watcher.note("lives").await.unwrap();
        other.stop().await;
        settle().await;
        assert_eq!(log.count("w saw b end: stopped"), 1);
    });
}
