//! Promises F: what a failure is, and what each directive does.

mod common;

use actors_core::prelude::*;
use actors_core::{FailureKind, LifecycleEvent, Subscription};
use common::puppet::{Oops, Script};
use common::{Gate, Log, panicked, paused, settle, system, turned_out};

/// Takes the next event that is no start, restart or end.
async fn trouble(events: &mut Subscription<LifecycleEvent>) -> LifecycleEvent {
    loop {
        let event = events.next().await.expect("the system lives");
        if !matches!(
            event,
            LifecycleEvent::Started { .. }
                | LifecycleEvent::Restarted { .. }
                | LifecycleEvent::Stopped { .. }
        ) {
            return event;
        }
    }
}

/// Takes the next failure, as kind and origin.
async fn failed(events: &mut Subscription<LifecycleEvent>) -> (FailureKind, FailureOrigin) {
    match trouble(events).await {
        LifecycleEvent::Failed { failure, .. } => (failure.kind(), failure.origin().clone()),
        other => panic!("no failure but: {other}"),
    }
}

#[test]
fn a_panic_in_a_handler_restarts_by_default() {
    paused(async {
        let log = Log::default();
        let system = system();
        let puppet = Script::new("a", &log).spawn(&system);
        assert_eq!(puppet.note("one").await, Ok(1));
        puppet.crash("boom").tell();
        assert_eq!(puppet.note("two").await, Ok(1));
        assert_eq!(
            log.take(),
            [
                "a made",
                "a started",
                "a one",
                "a on_restart: boom",
                "a dropped",
                "a made",
                "a started",
                "a two"
            ]
        );
    });
}

#[test]
fn a_panic_or_an_error_of_on_start_is_a_failure_of_the_start() {
    paused(async {
        let (log, tries) = (Log::default(), Log::default());
        let system = system();
        let mut events = system.events();
        let puppet = Script::new("a", &log)
            .on_start(move |_| {
                tries.add("try");
                match tries.count("try") {
                    1 => panic!("boom"),
                    2 => Box::pin(async { panic!("later boom") }),
                    3 => Box::pin(async { Err(Oops("three").into()) }),
                    _ => Box::pin(async { Ok(()) }),
                }
            })
            .spawn(&system);
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(
            failed(&mut events).await,
            (FailureKind::Panic, FailureOrigin::Start)
        );
        assert_eq!(
            failed(&mut events).await,
            (FailureKind::Panic, FailureOrigin::Start)
        );
        assert_eq!(
            failed(&mut events).await,
            (FailureKind::Error, FailureOrigin::Start)
        );
        // After a failed start there is no hook.
        let expected = [
            "a made",
            "a dropped",
            "a made",
            "a dropped",
            "a made",
            "a dropped",
            "a made",
            "a started",
            "a x",
        ];
        assert_eq!(log.take(), expected);
    });
}

#[test]
fn a_panic_or_an_error_of_a_factory_is_a_failure_of_the_start() {
    paused(async {
        let (log, tries) = (Log::default(), Log::default());
        let system = system();
        let mut events = system.events();
        let script = Script::new("a", &log);
        let puppet = system
            .spawn("a", move || {
                tries.add("try");
                let (tries, script) = (tries.count("try"), script.clone());
                async move {
                    match tries {
                        1 => panic!("boom"),
                        2 => Err(Oops("two")),
                        _ => Ok(script.factory()()),
                    }
                }
            })
            .unwrap();
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(
            failed(&mut events).await,
            (FailureKind::Panic, FailureOrigin::Start)
        );
        assert_eq!(
            failed(&mut events).await,
            (FailureKind::Error, FailureOrigin::Start)
        );
        assert_eq!(log.take(), ["a made", "a started", "a x"]);
    });
}

#[test]
fn an_error_of_an_err_is_failure_handler_is_a_failure_and_its_asker_gets_it() {
    paused(async {
        let log = Log::default();
        let system = system();
        let mut events = system.events();
        let puppet = Script::new("a", &log).spawn(&system);
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(
            puppet.give_up("now").await,
            Err(AskError::Handler(Oops("now")))
        );
        assert_eq!(puppet.note("y").await, Ok(1));
        let origin = FailureOrigin::Handler { variant: "GiveUp" };
        assert_eq!(failed(&mut events).await, (FailureKind::Error, origin));
    });
}

#[test]
fn ctx_fail_is_a_failure_after_the_reply() {
    paused(async {
        let log = Log::default();
        let system = system();
        let mut events = system.events();
        let puppet = Script::new("a", &log).spawn(&system);
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(puppet.answer_and_fail("now").await, Ok(1));
        assert_eq!(puppet.note("y").await, Ok(1));
        let origin = FailureOrigin::Handler {
            variant: "AnswerAndFail",
        };
        assert_eq!(failed(&mut events).await, (FailureKind::Error, origin));
    });
}

#[test]
fn the_first_ctx_fail_of_a_handler_counts() {
    paused(async {
        let log = Log::default();
        let system = system();
        let puppet = Script::new("a", &log).supervised(&system, Supervision::stop());
        let twice = |ctx: &mut ActorContext<_>| {
            ctx.fail(Oops("first"));
            ctx.fail(Oops("second"));
        };
        puppet.act(Box::new(twice)).tell();
        let reason = puppet.stopped().await;
        assert_eq!(reason.failure().unwrap().text(), "oops: first");
    });
}

#[test]
fn an_error_of_any_other_handler_is_a_reply_and_touches_nothing() {
    paused(async {
        let log = Log::default();
        let system = system();
        let mut events = system.events();
        let puppet = Script::new("a", &log).spawn(&system);
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(
            puppet.refuse("no").await,
            Err(AskError::Handler(Oops("no")))
        );
        assert_eq!(puppet.note("y").await, Ok(2));
        system.shutdown().await;
        while let Some(event) = events.next().await {
            let harmless = matches!(
                event,
                LifecycleEvent::Started { .. } | LifecycleEvent::Stopped { .. }
            );
            assert!(harmless, "{event}");
        }
    });
}

#[test]
fn an_error_that_nobody_asked_for_is_an_event_and_nothing_else() {
    paused(async {
        let log = Log::default();
        let system = system();
        let mut events = system.events();
        let puppet = Script::new("a", &log).spawn(&system);
        assert_eq!(puppet.note("x").await, Ok(1));
        puppet.refuse("no").tell();
        assert_eq!(puppet.note("y").await, Ok(2));
        match trouble(&mut events).await {
            LifecycleEvent::ErrorIgnored { variant, error, .. } => {
                assert_eq!((variant, error.as_str()), ("Refuse", "oops: no"));
            }
            other => panic!("{other}"),
        }
    });
}

#[test]
fn a_failed_hook_of_an_ending_is_an_event_and_the_ending_goes_on() {
    paused(async {
        let log = Log::default();
        let system = system();
        let mut events = system.events();
        let puppet = Script::new("a", &log)
            .on_stop(|_| Box::pin(async { panic!("no stop") }))
            .on_restart(|_| panic!("no restart"))
            .spawn(&system);
        puppet.crash("boom").tell();
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(puppet.stop().await, StopReason::Stopped);
        let mut hooks = Vec::new();
        for _ in 0..3 {
            if let LifecycleEvent::HookFailed { failure, .. } = trouble(&mut events).await {
                hooks.push(failure.to_string());
            }
        }
        assert_eq!(
            hooks,
            [
                "hook `on_restart` panicked: no restart",
                "hook `on_stop` panicked: no stop"
            ]
        );
    });
}

#[test]
fn resume_keeps_state_and_mailbox_and_drops_the_failing_message() {
    paused(async {
        let log = Log::default();
        let system = system();
        let puppet = Script::new("a", &log).supervised(&system, Supervision::resume());
        puppet.note("x").tell();
        let (crash, next) = tokio::join!(puppet.crash("boom").ask(), puppet.note("y").ask());
        assert_eq!((crash, next), (Err(panicked("boom")), Ok(2)));
        assert_eq!(log.take(), ["a made", "a started", "a x", "a y"]);
    });
}

#[test]
fn restart_makes_the_state_afresh_keeps_the_mailbox_and_drops_the_failing_message() {
    paused(async {
        let log = Log::default();
        let system = system();
        let puppet = Script::new("a", &log).supervised(&system, Supervision::restart());
        puppet.note("x").tell();
        let (crash, one, two) = tokio::join!(
            puppet.crash("boom").ask(),
            puppet.note("y").ask(),
            puppet.note("z").ask()
        );
        assert_eq!((crash, one, two), (Err(panicked("boom")), Ok(1), Ok(2)));
    });
}

#[test]
fn stop_drops_the_state_after_on_stop_and_turns_the_mailbox_out() {
    paused(async {
        let log = Log::default();
        let system = system();
        let mut letters = system.dead_letters();
        let puppet = Script::new("a", &log).supervised(&system, Supervision::stop());
        let crash = puppet.crash("boom").ask();
        let next = puppet.note("asked").ask();
        let (crash, (), next) = tokio::join!(crash, async { puppet.note("told").tell() }, next);
        assert_eq!((crash, next), (Err(panicked("boom")), Err(turned_out())));
        assert!(
            matches!(puppet.stopped().await, StopReason::Failed(failure) if failure.text() == "boom")
        );
        let on_stop = "a on_stop: handler `Crash` panicked: boom";
        assert_eq!(log.take(), ["a made", "a started", on_stop, "a dropped"]);
        assert_eq!(letters.next().await.unwrap().variant, "Note");
        assert!(system.counters().is_balanced());
    });
}

#[test]
fn escalate_fails_the_parent_and_keeps_the_mailbox_until_it_has_decided() {
    paused(async {
        let (log, gate) = (Log::default(), Gate::new());
        let system = system();
        let parent = Script::new("p", &log).supervised(&system, Supervision::restart());
        let child = escalating_child(&parent, &Script::new("c", &log)).await;
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        let crash = child.crash("boom").ask();
        let next = child.note("x").ask();
        let look = async {
            settle().await;
            let depth = system.tree().find("/test/p/c").unwrap().mailbox_depth;
            gate.open();
            depth
        };
        let (crash, next, depth) = tokio::join!(crash, next, look);
        assert_eq!(
            (crash, next, depth),
            (Err(panicked("boom")), Err(turned_out()), 1)
        );
        assert_eq!(child.stopped().await, StopReason::ParentStopped);
        assert_eq!(parent.note("again").await, Ok(1));
        let lines = log.take();
        assert!(
            lines.contains(&"p on_restart: boom".to_owned()),
            "{lines:?}"
        );
    });
}

#[test]
fn a_parent_that_resumes_lets_its_escalated_child_go_on() {
    paused(async {
        let log = Log::default();
        let system = system();
        let parent = Script::new("p", &log).supervised(&system, Supervision::resume());
        let child = escalating_child(&parent, &Script::new("c", &log)).await;
        assert_eq!(child.note("x").await, Ok(1));
        let (crash, next) = tokio::join!(child.crash("boom").ask(), child.note("y").ask());
        assert_eq!((crash, next), (Err(panicked("boom")), Ok(2)));
        assert_eq!(parent.note("z").await, Ok(1));
    });
}

#[test]
fn an_escalated_failure_says_where_it_began() {
    paused(async {
        let log = Log::default();
        let system = system();
        let parent = Script::new("p", &log).supervised(&system, Supervision::stop());
        let child = escalating_child(&parent, &Script::new("c", &log)).await;
        child.crash("boom").tell();
        let reason = parent.stopped().await;
        let origin = reason.failure().unwrap().origin().clone();
        let FailureOrigin::Child { path, origin } = origin else {
            panic!("{origin:?}")
        };
        assert_eq!(path.to_string(), "/test/p/c");
        assert_eq!(*origin, FailureOrigin::Handler { variant: "Crash" });
    });
}

/// Spawns a child that escalates whatever happens.
async fn escalating_child(
    parent: &common::puppet::PuppetRef,
    script: &Script,
) -> common::puppet::PuppetRef {
    parent
        .adopt_with(script.clone(), Supervision::escalate())
        .await
        .expect("a parent that lives")
}
