//! Promise L3: parents take their children along, in order and in time, however deep.

mod common;

use actors_core::prelude::*;
use common::puppet::{Puppet, Script};
use common::{Gate, Log, pass, paused, settle, system};
use futures::FutureExt;
use tokio::time::Instant;

#[test]
fn named_children_stop_one_after_another_in_reverse_start_order() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let children = ["c", "d", "e"].map(|name| Script::new(name, &log).stop_at(&gate));
        let parent = Script::new("p", &log).children(children).spawn(&system);
        settle().await;
        log.take();
        let end = parent.stop();
        settle().await;
        assert_eq!(log.take(), ["e on_stop: parent stopped"]);
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        let expected = [
            "e on_stop done",
            "e dropped",
            "d on_stop: parent stopped",
            "d on_stop done",
            "d dropped",
            "c on_stop: parent stopped",
            "c on_stop done",
            "c dropped",
            "p on_stop: stopped",
            "p dropped",
        ];
        assert_eq!(log.take(), expected);
    });
}

#[test]
fn anonymous_children_stop_all_at_once_after_the_named_ones() {
    paused(async {
        let (system, log, gate, gates) = (system(), Log::default(), Gate::new(), Gate::new());
        let named = Script::new("named", &log).stop_at(&gate);
        let anonymous = ["one", "two", "three"].map(|name| Script::new(name, &log).stop_at(&gates));
        let parent = Script::new("p", &log)
            .on_start(move |ctx| {
                for child in &anonymous {
                    ctx.spawn_anonymous(child.factory()).unwrap();
                }
                ctx.spawn("named", named.factory()).unwrap();
                async { Ok(()) }.boxed()
            })
            .spawn(&system);
        settle().await;
        log.take();
        let end = parent.stop_within(ms(100));
        settle().await;
        assert_eq!(log.take(), ["named on_stop: parent stopped"]);
        pass(ms(99)).await;
        assert_eq!(log.take(), [""; 0]);
        gate.open();
        settle().await;
        let lines = log.take();
        assert_eq!(lines[..2], ["named on_stop done", "named dropped"]);
        let mut stops: Vec<_> = lines[2..5].to_vec();
        stops.sort();
        assert_eq!(
            stops,
            ["one", "three", "two"].map(|name| format!("{name} on_stop: parent stopped"))
        );
        gates.open();
        assert_eq!(end.await, StopReason::Stopped);
    });
}

#[test]
fn a_parent_hands_its_children_the_smaller_of_their_deadline_and_its_own_rest() {
    for (own, rest, expected) in [(ms(30), secs(1), ms(30)), (secs(60), ms(70), ms(70))] {
        paused(async {
            let (system, log) = (system(), Log::default());
            let child = Script::new("c", &log).stop_at(&Gate::new());
            let parent = Script::new("p", &log)
                .on_start(move |ctx| {
                    ctx.actor(child.factory())
                        .name("c")
                        .stop_timeout(own)
                        .spawn()
                        .unwrap();
                    async { Ok(()) }.boxed()
                })
                .spawn(&system);
            settle().await;
            let before = Instant::now();
            assert_eq!(parent.stop_within(rest).await, StopReason::Stopped);
            assert_eq!(before.elapsed(), expected);
            assert_eq!(
                (log.count("c dropped"), log.count("c on_stop done")),
                (1, 0)
            );
        });
    }
}

#[test]
fn a_parent_whose_time_is_up_still_stops_its_children_with_their_hook() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let leaf = Script::new("leaf", &log);
        let child = Script::new("c", &log).children([leaf]);
        let parent = Script::new("p", &log).children([child]).spawn(&system);
        let gate = Gate::new();
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        settle().await;
        log.take();
        let before = Instant::now();
        assert_eq!(parent.stop_within(ms(10)).await, StopReason::Stopped);
        assert_eq!(before.elapsed(), ms(10));
        let expected = [
            "p left the gate",
            "leaf on_stop: parent stopped",
            "leaf dropped",
            "c on_stop: parent stopped",
            "c dropped",
            "p on_stop: stopped",
            "p dropped",
        ];
        assert_eq!(log.take(), expected);
    });
}

#[test]
fn a_kill_kills_the_whole_tree() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let leaf = Script::new("leaf", &log).stop_at(&Gate::new());
        let child = Script::new("c", &log).children([leaf]);
        let parent = Script::new("p", &log).children([child]).spawn(&system);
        settle().await;
        log.take();
        let before = Instant::now();
        assert_eq!(parent.kill().await, StopReason::Killed);
        assert_eq!(before.elapsed(), ms(0));
        assert_eq!(log.take(), ["leaf dropped", "c dropped", "p dropped"]);
    });
}

#[test]
fn a_stopping_parent_takes_no_more_children() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let (child, noted) = (Script::new("c", &log), log.clone());
        let parent = Script::new("p", &log)
            .on_stop(move |ctx| {
                let error = ctx.spawn("c", child.factory()).unwrap_err();
                noted.add(error);
                async {}.boxed()
            })
            .spawn(&system);
        settle().await;
        parent.stop().await;
        assert_eq!(
            log.count("/test/p is stopping, and takes no more children"),
            1
        );
        assert_eq!(log.count("c made"), 0);
    });
}

#[test]
fn a_child_that_ends_leaves_its_parent_alone() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = Script::new("p", &log).spawn(&system);
        let child = parent.adopt(Script::new("c", &log)).await.unwrap();
        child.stop().await;
        assert_eq!(parent.note("x").await, Ok(1));
        assert!(parent.adopt(Script::new("c", &log)).await.is_ok());
    });
}

#[test]
fn a_shutdown_stops_top_level_actors_in_reverse_start_order_and_reports_by_reason() {
    paused(async {
        let (system, log) = (system(), Log::default());
        for name in ["a", "b", "c"] {
            Script::new(name, &log).spawn(&system);
        }
        system
            .spawn_anonymous(Script::new("anonymous", &log).factory())
            .unwrap();
        settle().await;
        log.take();
        let report = system.shutdown().await;
        let lines: Vec<_> = log
            .take()
            .into_iter()
            .filter(|line| line.ends_with("dropped"))
            .collect();
        assert_eq!(
            lines,
            ["c dropped", "b dropped", "a dropped", "anonymous dropped"]
        );
        assert_eq!(report.ended, [("shutdown", 4)].into());
        assert!(report.is_clean() && report.total() == 4 && report.took == ms(0));
        assert!(matches!(
            report.cause,
            actors_core::ShutdownCause::Requested
        ));
    });
}

#[test]
fn a_shutdown_reports_who_did_not_end_well() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let killed = Script::new("killed", &log).spawn(&system);
        let failing = Script::new("failing", &log).supervised(&system, Supervision::stop());
        let well = Script::new("well", &log).spawn(&system);
        let last = Script::new("last", &log).stop_at(&gate).spawn(&system);
        settle().await;
        let end = system.shutdown();
        gate.reached(1).await;
        // While the last waits, others come to ends of their own.
        drop(killed.kill());
        failing.crash("boom").tell();
        settle().await;
        gate.open();
        let report = end.await;
        assert!(!report.is_clean());
        let mut listed: Vec<_> = report
            .unclean
            .iter()
            .map(|(path, reason)| (path.name(), reason.name()))
            .collect();
        listed.sort_unstable();
        assert_eq!(listed, [("failing", "failed"), ("killed", "killed")]);
        assert_eq!(
            report.ended,
            [("failed", 1), ("killed", 1), ("shutdown", 2)].into()
        );
        drop((well, last));
    });
}

#[test]
fn a_shutdown_report_lists_at_most_a_thousand_and_counts_the_rest() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let last = Script::new("last", &log).stop_at(&gate).spawn(&system);
        let script = Script::new("one", &log);
        let many: Vec<_> = (0..1_005)
            .map(|_| system.spawn_anonymous(script.factory()).unwrap())
            .collect();
        settle().await;
        let end = system.shutdown();
        gate.reached(1).await;
        for one in &many {
            drop(one.kill());
        }
        pass(ms(1)).await;
        gate.open();
        let report = end.await;
        assert_eq!((report.unclean.len(), report.unlisted), (1_000, 5));
        assert_eq!(report.ended["killed"], 1_005);
        drop(last);
    });
}

#[test]
fn a_shutdown_takes_30_seconds_at_most_or_as_set() {
    for (limit, builder) in [
        (secs(30), ActorSystem::builder("test")),
        (
            secs(7),
            ActorSystem::builder("test").shutdown_timeout(secs(7)),
        ),
    ] {
        paused(async {
            let system = builder.stop_timeout(secs(20)).build().unwrap();
            let log = Log::default();
            for name in ["a", "b", "c"] {
                Script::new(name, &log).stop_at(&Gate::new()).spawn(&system);
            }
            settle().await;
            let report = system.shutdown().await;
            assert_eq!(report.took, limit);
            assert_eq!(report.total(), 3);
            assert_eq!(log.count("a dropped"), 1);
        });
    }
}

#[test]
fn a_shutdown_acts_at_the_call_and_happens_once() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        drop(system.shutdown());
        assert!(system.is_shutting_down());
        let error = system
            .spawn("late", Script::new("late", &log).factory())
            .unwrap_err();
        assert_eq!(error, SpawnError::ShuttingDown);
        let (one, two) = tokio::join!(system.shutdown(), system.stopped());
        assert_eq!((one.total(), two.total()), (1, 1));
        assert!(puppet.is_stopped());
    });
}

#[test]
fn children_are_made_of_arguments_or_given_once_as_top_level_actors_are() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let (made, given) = (Script::new("made", &log), Script::new("given", &log));
        let parent = Script::new("p", &log)
            .on_start(move |ctx| {
                ctx.spawn_with("made", made.clone(), |script| script.factory()())
                    .unwrap();
                ctx.spawn_once("given", given.factory()()).unwrap();
                async { Ok(()) }.boxed()
            })
            .spawn(&system);
        parent.note("has started").await.unwrap();
        let made = system.lookup::<Puppet>("p/made").unwrap();
        let given = system.lookup::<Puppet>("p/given").unwrap();
        for child in [&made, &given] {
            child.crash("boom").tell();
        }
        assert_eq!(made.note("was made again").await, Ok(1));
        assert!(given.stopped().await.is_failure());
    });
}
