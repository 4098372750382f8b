//! Promise F5: what happens at a restart, in which order, and what stays.

mod common;

use actors_core::prelude::*;
use common::puppet::{Puppet, PuppetRef, Script};
use common::{Gate, Log, pass, paused, settle, system};

#[test]
fn a_restart_goes_step_by_step() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let policy = Supervision::restart().backoff(Backoff::fixed(ms(100)));
        let child = Script::new("c", &log).stop_at(&gate);
        let puppet = Script::new("a", &log)
            .children([child])
            .on_restart(|_| Box::pin(tokio::task::yield_now()))
            .supervised(&system, policy);
        settle().await;
        log.take();
        puppet.crash("boom").tell();
        settle().await;
        assert_eq!(log.take(), ["c on_stop: parent stopped"]);
        gate.open();
        pass(ms(99)).await;
        let ended = [
            "c on_stop done",
            "c dropped",
            "a on_restart: boom",
            "a on_restart done",
            "a dropped",
        ];
        assert_eq!(log.take(), ended);
        pass(ms(1)).await;
        assert_eq!(log.take(), ["a made", "a started", "c made", "c started"]);
    });
}

#[test]
fn references_name_watchers_and_mailbox_stay_with_what_it_told_itself() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        let watcher = Script::new("w", &log).spawn(&system);
        watcher.watch_over(puppet.clone()).await.unwrap();
        let id = puppet.actor_id();
        log.take();
        let told_itself = |ctx: &mut ActorContext<Puppet>| {
            ctx.me().note("to myself").tell();
            panic!("boom");
        };
        puppet.act(Box::new(told_itself)).tell();
        puppet.note("from outside").tell();
        settle().await;
        let expected = [
            "a on_restart: boom",
            "a dropped",
            "a made",
            "a started",
            "a from outside",
            "a to myself",
        ];
        assert_eq!(log.take(), expected);
        assert_eq!(system.lookup::<Puppet>("a").unwrap(), puppet);
        assert_eq!(puppet.actor_id(), id);
        assert_eq!(puppet.stop().await, StopReason::Stopped);
        settle().await;
        assert_eq!(log.count("w saw a end: stopped"), 1);
    });
}

/// Pipes a future that waits at a gate, to be noted as `late`.
async fn pipe_late(puppet: &PuppetRef, gate: &Gate) {
    let gate = gate.clone();
    let pipe = move |ctx: &mut ActorContext<Puppet>| {
        ctx.pipe(
            async move {
                gate.pass().await;
                "late"
            },
            PuppetRef::note,
        );
    };
    puppet.act(Box::new(pipe)).await.expect("the actor lives");
}

#[test]
fn a_piped_result_reaches_its_own_incarnation() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = Script::new("a", &log).spawn(&system);
        pipe_late(&puppet, &gate).await;
        gate.open();
        settle().await;
        assert_eq!(log.count("a late"), 1);
    });
}

#[test]
fn a_piped_result_that_is_under_way_or_queued_never_reaches_a_new_incarnation() {
    for queued in [false, true] {
        paused(async {
            let (system, log, gate) = (system(), Log::default(), Gate::new());
            let puppet = Script::new("a", &log).spawn(&system);
            pipe_late(&puppet, &gate).await;
            gate.reached(1).await;
            let held = Gate::new();
            puppet.hold(held.clone()).tell();
            puppet.crash("boom").tell();
            held.reached(1).await;
            if queued {
                gate.open();
                settle().await;
            }
            held.open();
            settle().await;
            gate.open();
            assert_eq!(puppet.note("x").await, Ok(1));
            settle().await;
            assert_eq!((log.count("a late"), log.count("a started")), (0, 2));
            assert!(system.counters().is_balanced(), "{:?}", system.counters());
        });
    }
}

#[test]
fn a_reply_that_an_old_incarnation_awaited_never_reaches_a_new_one() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = Script::new("a", &log).spawn(&system);
        let other = Script::new("b", &log).spawn(&system);
        other.hold(gate.clone()).tell();
        let asked = other.clone();
        let ask = move |ctx: &mut ActorContext<Puppet>| {
            let reply = ctx.recipient(PuppetRef::number);
            asked.note("asked").reply_to(reply);
        };
        puppet.act(Box::new(ask)).await.unwrap();
        puppet.crash("boom").tell();
        assert_eq!(puppet.note("x").await, Ok(1));
        gate.open();
        settle().await;
        assert_eq!((log.count("b asked"), log.count("a number 1")), (1, 0));
    });
}

#[test]
fn a_watch_ends_with_its_incarnation() {
    for queued in [false, true] {
        paused(async {
            let (system, log, gate) = (system(), Log::default(), Gate::new());
            let watcher = Script::new("w", &log).spawn(&system);
            let other = Script::new("b", &log).spawn(&system);
            watcher.watch_over(other.clone()).await.unwrap();
            watcher.hold(gate.clone()).tell();
            watcher.crash("boom").tell();
            gate.reached(1).await;
            if queued {
                other.stop().await;
            }
            gate.open();
            assert_eq!(watcher.note("x").await, Ok(1));
            other.stop().await;
            settle().await;
            assert_eq!(log.count("w saw b end: stopped"), 0);
            // The new incarnation may watch as well, and hears of its own watch.
            watcher.watch_over(other).await.unwrap();
            settle().await;
            assert_eq!(log.count("w saw b end: stopped"), 1);
        });
    }
}

#[test]
fn a_piped_future_is_dropped_with_its_incarnation() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let drops = common::bomb::Drops::default();
        let puppet = Script::new("a", &log).spawn(&system);
        let counted = drops.counted();
        let pipe = |ctx: &mut ActorContext<Puppet>| {
            ctx.pipe(
                async move {
                    let _counted = counted;
                    std::future::pending::<&'static str>().await
                },
                PuppetRef::note,
            );
        };
        puppet.act(Box::new(pipe)).await.unwrap();
        settle().await;
        assert_eq!(drops.count(), 0);
        puppet.crash("boom").tell();
        settle().await;
        assert_eq!(drops.count(), 1);
    });
}

#[test]
fn a_restart_waits_for_the_handler_of_the_old_incarnation() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = Script::new("a", &log).spawn(&system);
        let late = Gate::new();
        let fails = late.clone();
        let pipe = move |ctx: &mut ActorContext<Puppet>| {
            ctx.pipe(
                async move {
                    fails.pass().await;
                    panic!("beside")
                },
                |me: &PuppetRef, never: &'static str| me.note(never),
            );
        };
        puppet.act(Box::new(pipe)).tell();
        puppet.hold(gate.clone()).tell();
        gate.reached(1).await;
        log.take();
        late.open();
        settle().await;
        assert_eq!(log.take(), [""; 0]);
        gate.open();
        settle().await;
        let expected = [
            "a passed the gate",
            "a left the gate",
            "a on_restart: beside",
            "a dropped",
            "a made",
            "a started",
        ];
        assert_eq!(log.take(), expected);
    });
}

#[test]
fn a_failure_beside_an_old_incarnation_never_fails_a_new_one() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = Script::new("a", &log).spawn(&system);
        let late = Gate::new();
        let fails = late.clone();
        let pipe = move |ctx: &mut ActorContext<Puppet>| {
            ctx.pipe(
                async move {
                    fails.pass().await;
                    panic!("beside")
                },
                |me: &PuppetRef, never: &'static str| me.note(never),
            );
        };
        puppet.act(Box::new(pipe)).await.unwrap();
        puppet.crash_at(gate.clone(), "itself").tell();
        gate.reached(1).await;
        late.open();
        settle().await;
        gate.open();
        assert_eq!(puppet.note("x").await, Ok(1));
        settle().await;
        assert_eq!(puppet.note("x").await, Ok(2));
        assert_eq!(
            (log.count("a on_restart: itself"), log.count("a made")),
            (1, 2)
        );
    });
}

#[test]
fn the_children_of_an_old_incarnation_are_gone_and_their_names_free() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log)
            .children([Script::new("c", &log)])
            .spawn(&system);
        settle().await;
        let old = system.lookup::<Puppet>("a/c").unwrap();
        puppet.crash("boom").tell();
        settle().await;
        assert_eq!(old.stopped().await, StopReason::ParentStopped);
        let new = system.lookup::<Puppet>("a/c").unwrap();
        assert_ne!(old, new);
        assert_eq!(new.note("x").await, Ok(1));
        assert!(old.note("x").await.is_err());
    });
}

#[test]
fn factory_arguments_are_cloned_for_each_incarnation() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = system
            .spawn_with("a", Script::new("a", &log), |script| script.factory()())
            .unwrap();
        puppet.crash("boom").tell();
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(log.count("a made"), 2);
    });
}
