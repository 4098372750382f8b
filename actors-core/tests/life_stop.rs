//! Promise L2: stop, drain and kill.

mod common;

use actors_core::prelude::*;
use common::bomb::Drops;
use common::puppet::{Puppet, PuppetRef, Script};
use common::{Gate, Log, beside, pass, paused, settle, system, threads, turned_out, until};
use tokio::time::Instant;

/// An actor that waits at a gate in a handler, with two notes in its queue.
async fn held(system: &ActorSystem, log: &Log, gate: &Gate) -> PuppetRef {
    let puppet = Script::new("a", log).spawn(system);
    puppet.hold(gate.clone()).tell();
    gate.reached(1).await;
    puppet.note("one").tell();
    puppet.note("two").tell();
    log.take();
    puppet
}

#[test]
fn a_stop_acts_after_the_current_message() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = held(&system, &log, &gate).await;
        let end = puppet.stop();
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        assert_eq!(
            log.take(),
            [
                "a passed the gate",
                "a left the gate",
                "a on_stop: stopped",
                "a dropped"
            ]
        );
    });
}

#[test]
fn a_drain_closes_at_once_and_handles_what_was_accepted() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = held(&system, &log, &gate).await;
        let end = puppet.drain();
        assert!(puppet.note("late").try_tell().is_err());
        gate.open();
        assert_eq!(end.await, StopReason::Drained);
        let lines = log.take();
        assert_eq!(
            lines[2..],
            ["a one", "a two", "a on_stop: drained", "a dropped"]
        );
    });
}

#[test]
fn a_drained_idle_actor_ends_at_once() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        settle().await;
        let before = Instant::now();
        assert_eq!(puppet.drain().await, StopReason::Drained);
        assert_eq!(before.elapsed(), ms(0));
    });
}

#[test]
fn a_kill_acts_at_the_next_await_without_any_hook() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = held(&system, &log, &gate).await;
        let before = Instant::now();
        assert_eq!(puppet.kill().await, StopReason::Killed);
        assert_eq!(before.elapsed(), ms(0));
        assert_eq!(log.take(), ["a left the gate", "a dropped"]);
    });
}

#[test]
fn an_order_acts_at_the_call_and_dropping_its_future_undoes_nothing() {
    paused(async {
        for (order, reason) in [
            (
                ActorRef::stop as fn(&ActorRef<Puppet>) -> actors_core::Ended,
                StopReason::Stopped,
            ),
            (ActorRef::drain, StopReason::Drained),
            (ActorRef::kill, StopReason::Killed),
        ] {
            let (system, log) = (system(), Log::default());
            let puppet = Script::new("a", &log).spawn(&system);
            drop(order(&puppet));
            assert!(puppet.note("x").try_tell().is_err());
            assert_eq!(puppet.stopped().await, reason);
        }
    });
}

#[test]
fn a_deadline_of_the_caller_s_or_of_the_options_goes_before_the_default() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = held(&system, &log, &gate).await;
        let before = Instant::now();
        assert_eq!(puppet.stop_within(ms(70)).await, StopReason::Stopped);
        assert_eq!(before.elapsed(), ms(70));
        let script = Script::new("b", &log);
        let puppet = system
            .actor(script.factory())
            .name("b")
            .stop_timeout(ms(30))
            .spawn()
            .unwrap();
        puppet.hold(gate.clone()).tell();
        gate.reached(2).await;
        let before = Instant::now();
        assert_eq!(puppet.stop().await, StopReason::Stopped);
        assert_eq!(before.elapsed(), ms(30));
    });
}

#[test]
fn a_hook_that_does_not_end_is_cut_at_the_deadline() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).stop_at(&Gate::new()).spawn(&system);
        settle().await;
        let before = Instant::now();
        assert_eq!(puppet.stop_within(ms(70)).await, StopReason::Stopped);
        assert_eq!(before.elapsed(), ms(70));
        assert_eq!(log.count("a dropped"), 1);
        assert_eq!(log.count("a on_stop done"), 0);
    });
}

#[test]
fn an_on_restart_that_does_not_end_is_cut_at_the_stop_timeout() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log)
            .on_restart(|_| Box::pin(std::future::pending()))
            .spawn(&system);
        settle().await;
        let before = Instant::now();
        puppet.crash("boom").tell();
        assert_eq!(puppet.note("x").ask().timeout(secs(60)).await, Ok(1));
        assert_eq!(before.elapsed(), secs(5));
    });
}

#[test]
fn a_kill_cuts_a_running_on_stop() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = Script::new("a", &log).stop_at(&gate).spawn(&system);
        settle().await;
        let end = puppet.stop();
        gate.reached(1).await;
        let before = Instant::now();
        assert_eq!(puppet.kill().await, StopReason::Killed);
        assert_eq!(end.await, StopReason::Killed);
        assert_eq!(before.elapsed(), ms(0));
    });
}

#[test]
fn a_stop_beats_a_drain_and_a_kill_beats_a_stop_but_never_the_other_way_round() {
    paused(async {
        let orders: [fn(&ActorRef<Puppet>) -> actors_core::Ended; 3] =
            [ActorRef::drain, ActorRef::stop, ActorRef::kill];
        let reasons = [StopReason::Drained, StopReason::Stopped, StopReason::Killed];
        for (first, one) in orders.iter().enumerate() {
            for (second, two) in orders.iter().enumerate() {
                let (system, log, gate) = (system(), Log::default(), Gate::new());
                let puppet = held(&system, &log, &gate).await;
                drop(one(&puppet));
                drop(two(&puppet));
                gate.open();
                assert_eq!(
                    puppet.stopped().await,
                    reasons[first.max(second)],
                    "{first} then {second}"
                );
            }
        }
    });
}

#[test]
fn a_drain_at_its_deadline_becomes_a_stop_with_a_deadline_of_its_own() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = held(&system, &log, &gate).await;
        let asked = beside(puppet.note("asked").ask().timeout(secs(60)));
        settle().await;
        let before = Instant::now();
        let end = puppet.drain_within(secs(1));
        pass(ms(999)).await;
        assert!(!asked.is_finished());
        pass(ms(1)).await;
        assert_eq!(asked.await.unwrap(), Err(turned_out()));
        assert_eq!(end.await, StopReason::Stopped);
        assert_eq!(before.elapsed(), secs(6));
        assert_eq!(
            log.take(),
            ["a left the gate", "a on_stop: stopped", "a dropped"]
        );
    });
}

#[test]
fn a_stop_beats_a_restart_whenever_it_comes() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = Script::new("a", &log)
            .children([Script::new("c", &log).stop_at(&gate)])
            .spawn(&system);
        settle().await;
        puppet.crash("boom").tell();
        // It restarts, and its child stops.
        gate.reached(1).await;
        let end = puppet.stop();
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        assert_eq!(log.count("a made"), 1);
        assert_eq!(log.count("a on_stop: stopped"), 1);
    });
}

#[test]
fn ctx_stop_ends_the_actor_after_the_current_message() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        let act = puppet.act(Box::new(ActorContext::stop)).ask();
        let (answer, next) = tokio::join!(act, puppet.note("x").ask());
        assert_eq!((answer, next), (Ok(()), Err(turned_out())));
        assert_eq!(puppet.stopped().await, StopReason::Stopped);
    });
}

#[test]
fn awaiting_one_s_own_end_in_a_handler_ends_the_handler_there() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        let me = puppet.clone();
        let answer = puppet
            .wait_for(Box::pin(async move { drop(me.stop().await) }))
            .await;
        assert_eq!(
            answer,
            Err(AskError::Stopped {
                phase: Phase::Running
            })
        );
        let before = Instant::now();
        assert_eq!(puppet.stopped().await, StopReason::Stopped);
        assert_eq!(before.elapsed(), ms(0));
        assert_eq!(
            log.take(),
            ["a made", "a started", "a on_stop: stopped", "a dropped"]
        );
    });
}

#[test]
fn awaiting_the_end_of_one_s_own_system_in_a_handler_ends_the_handler_there() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        let act: BoxFuture = {
            let system = system.clone();
            Box::pin(async move { drop(system.shutdown().await) })
        };
        puppet.wait_for(act).tell();
        let report = system.stopped().await;
        assert!(report.is_clean(), "{report}");
        assert_eq!(report.took, ms(0));
        assert_eq!(log.count("a on_stop: system shut down"), 1);
    });
}

type BoxFuture = futures::future::BoxFuture<'static, ()>;

#[test]
fn a_handler_that_waits_for_its_end_without_an_order_is_ended_and_the_actor_goes_on() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        let me = puppet.clone();
        puppet
            .wait_for(Box::pin(async move { drop(me.stopped().await) }))
            .tell();
        settle().await;
        assert_eq!(puppet.actor_state(), ActorState::Ready);
        assert_eq!(puppet.note("x").await, Ok(1));
    });
}

#[test]
fn a_handler_that_holds_its_thread_is_abandoned() {
    threads(2, async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let mut letters = system.dead_letters();
        let watcher = Script::new("w", &log).spawn(&system);
        let puppet = Script::new("a", &log)
            .children([Script::new("c", &log)])
            .spawn(&system);
        watcher.watch_over(puppet.clone()).await.unwrap();
        let blocked = beside(puppet.block(gate.clone()).ask());
        gate.reached(1).await;
        puppet.note("x").tell();
        let reason = puppet.stop_within(ms(5)).await;
        assert_eq!(
            reason,
            StopReason::Abandoned {
                handler: Some("Block")
            }
        );
        // Name free, watcher told, queue turned out; the state lives on until the code returns.
        assert_eq!(letters.next().await.unwrap().variant, "Note");
        let new = Script::new("a", &log).spawn(&system);
        assert_eq!(new.note("new").await, Ok(1));
        watcher.note("y").await.unwrap();
        assert_eq!(log.count("w saw a end: abandoned in handler `Block`"), 1);
        assert_eq!(log.count("a dropped"), 0);
        gate.open();
        let _ = blocked.await.unwrap();
        until(|| log.count("a dropped") == 1).await;
        assert_eq!(log.count("a on_stop: stopped"), 0);
        until(|| log.count("c dropped") == 1).await;
        assert_eq!(new.note("still new").await, Ok(2));
        until(|| system.counters().is_balanced()).await;
    });
}

#[test]
fn a_kill_with_a_limit_of_its_own_abandons_what_holds_its_thread_beyond_it() {
    threads(2, async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = Script::new("a", &log).spawn(&system);
        let blocked = beside(puppet.block(gate.clone()).ask());
        gate.reached(1).await;
        let began = std::time::Instant::now();
        let abandoned = StopReason::Abandoned {
            handler: Some("Block"),
        };
        assert_eq!(puppet.kill_within(ms(5)).await, abandoned);
        // The stop timeout of its options is 5 s.
        assert!(began.elapsed() < secs(4), "{:?}", began.elapsed());
        gate.open();
        let _ = blocked.await.unwrap();
        until(|| log.count("a dropped") == 1).await;
        assert_eq!(log.count("a on_stop: killed"), 0);
    });
}

#[test]
fn what_an_abandoned_actor_does_through_its_context_is_refused() {
    threads(2, async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let drops = Drops::default();
        let puppet = Script::new("a", &log).spawn(&system);
        let (blocks, noted, counted, other) = (
            gate.clone(),
            log.clone(),
            drops.counted(),
            Script::new("b", &log).spawn(&system),
        );
        let child = Script::new("c", &log);
        let act = move |ctx: &mut ActorContext<Puppet>| {
            blocks.block();
            noted.add(format_args!(
                "spawn {}",
                ctx.spawn("c", child.factory()).is_ok()
            ));
            ctx.watch(&other);
            ctx.pipe(
                async move {
                    drop(counted);
                    noted.add("piped");
                    "x"
                },
                PuppetRef::note,
            );
            ctx.me().note("to myself").tell();
        };
        puppet.act(Box::new(act)).tell();
        gate.reached(1).await;
        assert!(matches!(
            puppet.stop_within(ms(5)).await,
            StopReason::Abandoned { .. }
        ));
        gate.open();
        until(|| log.count("a dropped") == 1).await;
        assert_eq!(log.count("spawn false"), 1);
        assert_eq!(
            (
                log.count("piped"),
                log.count("c made"),
                log.count("a to myself")
            ),
            (0, 0, 0)
        );
        assert_eq!(drops.count(), 1);
        system.shutdown().await;
    });
}

#[test]
fn a_factory_or_hook_that_holds_its_thread_is_abandoned_as_well() {
    threads(2, async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let (script, blocks) = (Script::new("a", &log), gate.clone());
        let puppet = system
            .spawn("a", move || {
                blocks.block();
                script.factory()()
            })
            .unwrap();
        gate.reached(1).await;
        let reason = puppet.stop_within(ms(5)).await;
        assert_eq!(reason, StopReason::Abandoned { handler: None });
        gate.open();
        until(|| log.count("a dropped") == 1).await;
        assert_eq!(log.take(), ["a made", "a dropped"]);
    });
}
