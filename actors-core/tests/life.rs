//! Promise L1 and the hooks: how an actor starts, and how it ends.

mod common;

use actors_core::LifecycleEvent;
use actors_core::prelude::*;
use common::puppet::{Oops, Puppet, PuppetRef, Script};
use common::{Gate, Log, beside, paused, settle, system, turned_out};
use tokio::time::Instant;

#[test]
fn the_factory_runs_before_on_start_and_that_before_any_message() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let waits = gate.clone();
        let puppet = Script::new("a", &log)
            .on_start(move |_| {
                let gate = waits.clone();
                Box::pin(async move {
                    gate.pass().await;
                    Ok(())
                })
            })
            .spawn(&system);
        puppet.note("one").tell();
        settle().await;
        assert_eq!(log.take(), ["a made"]);
        assert_eq!(puppet.actor_state(), ActorState::Starting);
        gate.open();
        assert_eq!(puppet.note("two").await, Ok(2));
        assert_eq!(log.take(), ["a started", "a one", "a two"]);
    });
}

/// An actor with a child and a watcher, that holds at a gate in a handler with an ask and a tell in its queue.
struct Scene {
    system: ActorSystem,
    log: Log,
    gate: Gate,
    puppet: PuppetRef,
    asked: tokio::task::JoinHandle<Result<u32, AskError>>,
    held: tokio::task::JoinHandle<Result<(), AskError>>,
}

async fn scene() -> Scene {
    let (system, log, gate) = (system(), Log::default(), Gate::new());
    let puppet = Script::new("a", &log)
        .children([Script::new("c", &log)])
        .spawn(&system);
    let watcher = Script::new("w", &log).spawn(&system);
    watcher.watch_over(puppet.clone()).await.expect("it lives");
    let held = beside(puppet.hold(gate.clone()).ask());
    gate.reached(1).await;
    let asked = beside(puppet.note("asked").ask());
    settle().await;
    puppet.note("told").tell();
    log.take();
    Scene {
        system,
        log,
        gate,
        puppet,
        asked,
        held,
    }
}

#[test]
fn a_stop_goes_step_by_step() {
    paused(async {
        let Scene {
            system,
            log,
            gate,
            puppet,
            asked,
            held,
        } = scene().await;
        let mut letters = system.dead_letters();
        let before = Instant::now();
        let end = puppet.stop();
        // Closed at the call.
        assert!(puppet.note("late").try_tell().is_err());
        // Mid-await, the queue is turned out.
        assert_eq!(asked.await.unwrap(), Err(turned_out()));
        assert_eq!(letters.next().await.unwrap().variant, "Note");
        assert!(!held.is_finished());
        assert_eq!(log.take(), [""; 0]);
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        assert_eq!(held.await.unwrap(), Ok(()));
        settle().await;
        let expected = [
            "a passed the gate",
            "a left the gate",
            "c on_stop: parent stopped",
            "c dropped",
            "a on_stop: stopped",
            "a dropped",
            "w saw a end: stopped",
        ];
        assert_eq!(log.take(), expected);
        assert_eq!(before.elapsed(), ms(0));
        assert!(system.lookup::<Puppet>("a").is_err());
    });
}

#[test]
fn a_sender_that_waits_for_room_is_told_of_the_stop_mid_await() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let puppet = system
            .actor(Script::new("a", &log).factory())
            .mailbox(Mailbox::bounded(1))
            .spawn()
            .unwrap();
        puppet.hold(gate.clone()).tell();
        gate.reached(1).await;
        puppet.note("fills it").tell();
        let waiting = beside(puppet.note("waits").enqueue());
        let asking = beside(puppet.note("asks").ask().wait_for_room());
        settle().await;
        assert!(!waiting.is_finished() && !asking.is_finished());
        let end = puppet.stop();
        assert!(waiting.await.unwrap().is_err());
        assert_eq!(asking.await.unwrap(), Err(turned_out()));
        assert!(!puppet.is_stopped());
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
    });
}

#[test]
fn a_handler_that_does_not_end_is_cut_at_the_deadline() {
    paused(async {
        let Scene {
            system: _system,
            log,
            puppet,
            held,
            ..
        } = scene().await;
        let before = Instant::now();
        assert_eq!(puppet.stop_within(secs(2)).await, StopReason::Stopped);
        assert_eq!(before.elapsed(), secs(2));
        assert_eq!(
            held.await.unwrap(),
            Err(AskError::Stopped {
                phase: Phase::Running
            })
        );
        settle().await;
        let expected = [
            "a left the gate",
            "c on_stop: parent stopped",
            "c dropped",
            "a on_stop: stopped",
            "a dropped",
            "w saw a end: stopped",
        ];
        assert_eq!(log.take(), expected);
    });
}

#[test]
fn a_stopping_actor_runs_no_handler_and_no_on_terminated() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let watched = Script::new("b", &log).spawn(&system);
        let puppet = Script::new("a", &log).stop_at(&gate).spawn(&system);
        puppet.watch_over(watched.clone()).await.unwrap();
        let held = Gate::new();
        puppet.hold(held.clone()).tell();
        held.reached(1).await;
        watched.stop().await;
        puppet.note("queued").tell();
        let end = puppet.stop();
        held.open();
        gate.reached(1).await;
        puppet.note("late").tell();
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        settle().await;
        let lines = log.take();
        let wrong = ["a saw b end: stopped", "a queued", "a late"];
        assert!(
            lines.iter().all(|line| !wrong.contains(&line.as_str())),
            "{lines:?}"
        );
    });
}

#[test]
fn a_stop_while_it_starts_ends_after_the_start_with_its_hook() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let waits = gate.clone();
        let puppet = Script::new("a", &log)
            .on_start(move |_| {
                let gate = waits.clone();
                Box::pin(async move {
                    gate.pass().await;
                    Ok(())
                })
            })
            .spawn(&system);
        gate.reached(1).await;
        let end = puppet.stop();
        settle().await;
        assert!(!puppet.is_stopped());
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        assert_eq!(
            log.take(),
            ["a made", "a started", "a on_stop: stopped", "a dropped"]
        );
    });
}

#[test]
fn a_start_that_is_cut_has_no_hook() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log)
            .children([Script::new("c", &log)])
            .on_start(|ctx| {
                let _ = ctx.spawn_anonymous(Script::new("c", &Log::default()).factory());
                Box::pin(std::future::pending())
            })
            .spawn(&system);
        settle().await;
        assert_eq!(puppet.stop_within(ms(10)).await, StopReason::Stopped);
        assert_eq!(log.take(), ["a made", "a dropped"]);
    });
}

#[test]
fn a_start_that_fails_has_no_hook() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log)
            .on_start(|_| Box::pin(async { Err(Oops("no").into()) }))
            .supervised(&system, Supervision::stop());
        let reason = puppet.stopped().await;
        assert!(matches!(reason, StopReason::Failed(failure) if failure.origin().is_start()));
        assert_eq!(log.take(), ["a made", "a dropped"]);
    });
}

#[test]
fn a_failed_start_stops_the_children_it_has_spawned() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let child = Script::new("c", &log);
        let puppet = Script::new("a", &log)
            .on_start(move |ctx| {
                ctx.spawn("c", child.factory()).unwrap();
                Box::pin(async {
                    tokio::task::yield_now().await;
                    Err(Oops("no").into())
                })
            })
            .supervised(&system, Supervision::stop());
        puppet.stopped().await;
        assert_eq!(log.count("c dropped"), log.count("c made"));
        assert_eq!(system.tree().nodes().len(), 0);
    });
}

#[test]
fn every_started_incarnation_ends_with_exactly_one_hook() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        puppet.crash("boom").tell();
        puppet.note("x").await.unwrap();
        puppet.stop().await;
        let hooks: Vec<_> = log
            .take()
            .into_iter()
            .filter(|line| line.contains("on_"))
            .collect();
        assert_eq!(hooks, ["a on_restart: boom", "a on_stop: stopped"]);
    });
}

/// Has no `on_restart` of its own.
struct Plain(Log);

#[actor]
impl Plain {
    #[on_stop]
    fn end(&mut self, reason: &StopReason) {
        self.0.add(reason);
    }

    #[handler]
    fn crash(&mut self) {
        panic!("boom");
    }
}

#[test]
fn without_on_restart_a_replaced_incarnation_has_on_stop_with_restarting() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let made = log.clone();
        let plain = system.spawn("a", move || Plain(made.clone())).unwrap();
        plain.crash().tell();
        plain.drain().await;
        assert_eq!(log.take(), ["restarting", "drained"]);
    });
}

#[test]
fn a_kill_runs_no_hook() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        puppet.note("x").await.unwrap();
        assert_eq!(puppet.kill().await, StopReason::Killed);
        assert_eq!(log.take(), ["a made", "a started", "a x", "a dropped"]);
    });
}

#[test]
fn a_stop_during_on_restart_beats_the_restart_and_adds_no_second_hook() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let waits = gate.clone();
        let puppet = Script::new("a", &log)
            .on_restart(move |_| {
                let gate = waits.clone();
                Box::pin(async move { gate.pass().await })
            })
            .spawn(&system);
        puppet.crash("boom").tell();
        gate.reached(1).await;
        let asked = beside(puppet.note("x").ask());
        settle().await;
        let end = puppet.stop();
        assert_eq!(asked.await.unwrap(), Err(turned_out()));
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        let expected = [
            "a made",
            "a started",
            "a on_restart: boom",
            "a on_restart done",
            "a dropped",
        ];
        assert_eq!(log.take(), expected);
    });
}

#[test]
fn the_events_tell_the_story() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let mut events = system.events();
        let puppet = Script::new("a", &log).spawn(&system);
        puppet.crash("boom").tell();
        puppet.note("x").await.unwrap();
        puppet.stop().await;
        let mut told = Vec::new();
        while let Some(event) = events.try_next() {
            assert_eq!(event.actor(), puppet.actor_path());
            told.push(match event {
                LifecycleEvent::Started { .. } => "started",
                LifecycleEvent::Failed {
                    directive: Directive::Restart,
                    ..
                } => "failed",
                LifecycleEvent::Restarted { restarts: 1, .. } => "restarted",
                LifecycleEvent::Stopped {
                    reason: StopReason::Stopped,
                    ..
                } => "stopped",
                other => panic!("{other}"),
            });
        }
        assert_eq!(told, ["started", "failed", "restarted", "stopped"]);
    });
}
