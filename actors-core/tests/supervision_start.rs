//! Waiting for an actor to have started.

mod common;

use std::future::pending;

use actors_core::prelude::*;
use common::puppet::{Oops, Puppet, PuppetRef, Script};
use common::world::{in_virtual_time, in_virtual_time_with, on_two_threads, virtual_runtime};
use common::{Gate, Log, beside, pass, settle};
use futures::FutureExt;

fn script(log: &Log) -> Script {
    Script::new("a", log)
}

/// A script whose `on_start` never ends.
fn hanging(log: &Log) -> Script {
    script(log).on_start(|_| Box::pin(pending()))
}

/// The text of the failure that an actor ended with before it had started.
#[track_caller]
fn last<A: std::fmt::Debug>(result: Result<A, StartError>) -> (&'static str, String) {
    match result.expect_err("it has not started") {
        StartError::Stopped { reason, .. } => {
            let text = reason.failure().map(|failure| failure.text().to_owned());
            (reason.name(), text.unwrap_or_default())
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_start_that_is_awaited_resolves_when_on_start_is_done_and_not_before() {
    in_virtual_time(async |system| {
        let (log, gate) = (Log::default(), Gate::new());
        let starting = beside(system.start("a", script(&log).start_at(&gate).factory()));
        gate.reached(1).await;
        pass(secs(60)).await;
        assert!(!starting.is_finished());
        gate.open();
        let puppet = starting.await.unwrap().unwrap();
        assert_eq!(log.take(), ["a made", "a started"]);
        assert_eq!(puppet.note("one").await, Ok(1));
    });
}

#[test]
fn what_an_actor_is_told_while_its_start_is_awaited_waits_for_it() {
    in_virtual_time(async |system| {
        let (log, gate) = (Log::default(), Gate::new());
        let starting = system.start("a", script(&log).start_at(&gate).factory());
        let puppet: PuppetRef = system.lookup::<Puppet>("/test/a").unwrap();
        puppet.note("early").tell();
        gate.open();
        starting.await.unwrap();
        settle().await;
        assert_eq!(log.take(), ["a made", "a started", "a early"]);
    });
}

#[test]
fn a_start_that_fails_twice_and_then_works_is_waited_for() {
    in_virtual_time(async |system| {
        let log = Log::default();
        let factory = script(&log).no_start([0, 1]).factory();
        system.start("a", factory).await.unwrap();
        assert_eq!(log.count("a made"), 3);
        assert_eq!(system.tree().find("/test/a").unwrap().restarts, 2);
    });
}

#[test]
fn a_start_that_never_works_ends_with_the_last_failure() {
    in_virtual_time(async |system| {
        let log = Log::default();
        let script = script(&log).on_start(|ctx| {
            let text = ["first", "second", "third"][ctx.restarts() as usize];
            Box::pin(async move { Err(Oops(text).into()) })
        });
        let limited = system
            .actor(script.factory())
            .supervision(Supervision::restart().restarts(2, within(secs(60))));
        let expected = ("restart limit", "oops: third".to_owned());
        assert_eq!(last(limited.start().await), expected);
        let stopping = system
            .actor(script.factory())
            .supervision(Supervision::stop());
        let expected = ("failed", "oops: first".to_owned());
        assert_eq!(last(stopping.start().await), expected);
        let temporary = system
            .actor(script.factory())
            .restart_type(RestartType::Temporary);
        assert_eq!(last(temporary.start().await), expected);
    });
}

#[test]
fn a_factory_that_fails_or_panics_ends_an_awaited_start() {
    in_virtual_time(async |system| {
        let stop = Supervision::stop;
        let fails = || Err::<Puppet, _>(Oops("no state"));
        let failed = system.actor(fails).supervision(stop()).start();
        assert_eq!(last(failed.await), ("failed", "oops: no state".to_owned()));
        let panics = || -> Puppet { panic!("no state either") };
        let failed = system.actor(panics).supervision(stop()).start();
        assert_eq!(last(failed.await), ("failed", "no state either".to_owned()));
    });
}

#[test]
fn an_actor_that_could_not_be_spawned_says_so_when_its_start_is_awaited() {
    in_virtual_time(async |system| {
        let script = script(&Log::default());
        let factory = || script.factory();
        let taken = system.start("a", factory()).await.unwrap();
        let refused = |error| match error {
            Err(StartError::Spawn(error)) => error,
            other => panic!("{other:?}"),
        };
        let error = refused(system.start("a", factory()).await);
        let path = taken.actor_path().clone();
        assert_eq!(error, SpawnError::NameTaken { path });
        let error = refused(system.start("a/b", factory()).await);
        assert!(matches!(error, SpawnError::Name { .. }));
        let spawn = system.actor(factory()).mailbox(Mailbox::bounded(0));
        assert_eq!(refused(spawn.start().await), SpawnError::ZeroCapacity);
        system.shutdown().await;
        let error = refused(system.start("b", factory()).await);
        assert_eq!(error, SpawnError::ShuttingDown);
    });
}

#[test]
fn a_start_that_nobody_awaits_any_more_goes_on() {
    in_virtual_time(async |system| {
        let (log, gate) = (Log::default(), Gate::new());
        drop(system.start("never polled", script(&log).factory()));
        let mut starting = system.start("a", script(&log).start_at(&gate).factory());
        assert!((&mut starting).now_or_never().is_none());
        drop(starting);
        gate.open();
        settle().await;
        let names: Vec<_> = system
            .tree()
            .nodes()
            .iter()
            .map(|node| node.path.name().to_owned())
            .collect();
        assert_eq!(names, ["never polled", "a"]);
        assert_eq!(log.count("a started"), 2);
    });
}

#[test]
fn a_start_may_be_awaited_on_any_executor() {
    on_two_threads(async |system| {
        let (log, gate) = (Log::default(), Gate::new());
        let starting = system.start("a", script(&log).start_at(&gate).factory());
        let waits = std::thread::spawn(move || futures::executor::block_on(starting));
        gate.reached(1).await;
        gate.open();
        let waited = tokio::task::spawn_blocking(move || waits.join().unwrap());
        let puppet = waited.await.unwrap().unwrap();
        assert_eq!(puppet.note("one").await, Ok(1));
    });
}

#[test]
fn a_stop_while_an_actor_starts_lets_its_start_end_or_cuts_it() {
    in_virtual_time(async |system| {
        let (log, gate) = (Log::default(), Gate::new());
        let starting = beside(system.start("a", script(&log).start_at(&gate).factory()));
        gate.reached(1).await;
        let puppet = system.lookup::<Puppet>("/test/a").unwrap();
        let end = puppet.stop();
        settle().await;
        assert!(!starting.is_finished());
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        assert!(starting.await.unwrap().is_ok(), "it had started");
        let expected = ["a made", "a started", "a on_stop: stopped", "a dropped"];
        assert_eq!(log.take(), expected);

        let starting = beside(system.start("b", hanging(&log).factory()));
        settle().await;
        drop(system.lookup::<Puppet>("/test/b").unwrap().stop());
        pass(ms(4_999)).await;
        assert!(!starting.is_finished());
        pass(ms(1)).await;
        assert_eq!(last(starting.await.unwrap()).0, "stopped");
        assert_eq!(log.take(), ["a made", "a dropped"]);
    });
}

#[test]
fn a_kill_while_an_actor_starts_ends_the_wait_at_once() {
    in_virtual_time(async |system| {
        let starting = beside(system.start("a", hanging(&Log::default()).factory()));
        settle().await;
        drop(system.lookup::<Puppet>("/test/a").unwrap().kill());
        settle().await;
        assert_eq!(last(starting.now_or_never().unwrap().unwrap()).0, "killed");
    });
}

#[test]
fn a_stop_between_two_tries_to_start_ends_the_wait_with_that_reason() {
    let policy = Supervision::one_for_one().backoff(Backoff::fixed(secs(10)));
    in_virtual_time_with(
        |builder| builder.supervision(policy),
        async |system| {
            let log = Log::default();
            let factory = script(&log).no_start([0, 1, 2]).factory();
            let starting = beside(system.start("a", factory));
            pass(secs(15)).await;
            drop(system.lookup::<Puppet>("/test/a").unwrap().stop());
            settle().await;
            assert_eq!(last(starting.now_or_never().unwrap().unwrap()).0, "stopped");
            assert_eq!(log.count("a made"), 2);
        },
    );
}

#[test]
fn a_shutdown_while_an_actor_starts_ends_the_wait() {
    in_virtual_time(async |system| {
        let starting = beside(system.start("a", hanging(&Log::default()).factory()));
        settle().await;
        let report = system.shutdown().await;
        assert_eq!(last(starting.await.unwrap()).0, "shutdown");
        assert_eq!(report.total(), 1);
    });
}

#[test]
fn a_runtime_that_is_dropped_while_an_actor_starts_ends_the_wait() {
    let runtime = virtual_runtime();
    let context = runtime.enter();
    let system = ActorSystem::new("test").unwrap();
    let starting = system.start("a", hanging(&Log::default()).factory());
    drop(context);
    runtime.block_on(settle());
    drop(runtime);
    let result = futures::executor::block_on(starting);
    assert_eq!(last(result).0, "system gone");
}

#[test]
fn an_actor_that_stops_itself_in_on_start_has_started() {
    in_virtual_time(async |system| {
        let log = Log::default();
        let stops = script(&log).on_start(|ctx| {
            ctx.stop();
            Box::pin(async { Ok(()) })
        });
        let puppet = system.start("a", stops.factory()).await.unwrap();
        assert_eq!(puppet.stopped().await, StopReason::Stopped);
        let expected = ["a made", "a started", "a on_stop: stopped", "a dropped"];
        assert_eq!(log.take(), expected);
    });
}

/// What a parent hears of the start of a child that it awaits in `on_start`.
fn parent_of(child: Script, policy: Supervision, heard: &Log) -> Script {
    let heard = heard.clone();
    Script::new("parent", &Log::default()).on_start(move |ctx| {
        let child = ctx.actor(child.factory()).name("child");
        let starting = child.supervision(policy.clone()).start();
        let heard = heard.clone();
        Box::pin(async move {
            match starting.await {
                Ok(_) => heard.add("started"),
                Err(error) => heard.add(error),
            }
            Ok(())
        })
    })
}

#[test]
fn a_parent_may_await_the_start_of_a_child_in_its_own_start() {
    in_virtual_time(async |system| {
        let (log, heard, gate) = (Log::default(), Log::default(), Gate::new());
        let policy = Supervision::default();
        let parent = parent_of(script(&log).start_at(&gate), policy, &heard);
        let starting = beside(system.start("parent", parent.factory()));
        gate.reached(1).await;
        settle().await;
        assert!(!starting.is_finished(), "it waits for its child");
        gate.open();
        starting.await.unwrap().unwrap();
        assert_eq!(heard.take(), ["started"]);
    });
}

#[test]
fn a_parent_that_awaits_the_start_of_a_child_hears_of_its_failure_whatever_the_policy() {
    let failed = "/test/parent/child ended before it had started: start failed: oops: no start";
    let limit = "/test/parent/child ended before it had started: restart limit reached: start failed: oops: no start";
    let table = [
        (Supervision::stop(), failed),
        (Supervision::restart().restarts(1, within(secs(1))), limit),
        // It cannot decide while it waits.
        (Supervision::escalate(), failed),
    ];
    for (policy, expected) in table {
        in_virtual_time(async move |system| {
            let (log, heard) = (Log::default(), Log::default());
            let child = script(&log).no_start([0, 1]);
            let parent = parent_of(child, policy, &heard);
            system.start("parent", parent.factory()).await.unwrap();
            assert_eq!(heard.take(), [expected]);
            assert_eq!(system.tree().nodes().len(), 1);
        });
    }
}

#[test]
fn a_parent_that_has_waited_decides_again() {
    in_virtual_time(async |system| {
        let (log, heard) = (Log::default(), Log::default());
        let parent = parent_of(script(&log), Supervision::escalate(), &heard);
        let parent = system.start("parent", parent.factory()).await.unwrap();
        let child = system.lookup::<Puppet>("/test/parent/child").unwrap();
        child.crash("boom").tell();
        settle().await;
        assert!(child.is_stopped() && !parent.is_stopped());
        assert_eq!(
            heard.take(),
            ["started", "started"],
            "its parent has failed"
        );
    });
}
