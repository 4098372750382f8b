//! Promise F1: who decides about a failure, and when.

mod common;

use actors_core::ShutdownCause;
use actors_core::prelude::*;
use common::puppet::{Oops, Puppet, PuppetRef, Script};
use common::{Gate, Log, beside, panicked, paused, settle, system};
use tokio::time::Instant;

/// An actor whose type says how it judges the failures of its children.
struct Lenient;

#[actor(supervision = Supervision::resume())]
impl Lenient {
    #[handler]
    fn adopt(
        &mut self,
        ctx: &mut ActorContext<Self>,
        child: Script,
        policy: Option<Supervision>,
    ) -> PuppetRef {
        let spawn = ctx.actor(child.factory());
        match policy {
            Some(policy) => spawn.supervision(policy),
            None => spawn,
        }
        .spawn()
        .expect("the parent lives")
    }
}

/// Says how many notes an actor has had after a crash between two: 2 when it was resumed, 1 when it was restarted.
async fn notes_around_a_crash(puppet: &PuppetRef) -> Result<u32, AskError> {
    puppet.note("before").tell();
    puppet.crash("boom").tell();
    puppet.note("after").await
}

#[test]
fn the_directive_is_restart_unless_somebody_says_otherwise() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let root = Script::new("a", &log).spawn(&system);
        assert_eq!(notes_around_a_crash(&root).await, Ok(1));
        let child = root.adopt(Script::new("c", &log)).await.unwrap();
        assert_eq!(notes_around_a_crash(&child).await, Ok(1));
    });
}

#[test]
fn the_system_judges_its_top_level_actors() {
    paused(async {
        let system = ActorSystem::builder("test")
            .supervision(Supervision::resume())
            .build()
            .unwrap();
        let puppet = Script::new("a", &Log::default()).spawn(&system);
        assert_eq!(notes_around_a_crash(&puppet).await, Ok(2));
    });
}

#[test]
fn a_parent_judges_its_children_and_a_policy_of_the_child_s_own_goes_before() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = system.spawn("p", || Lenient).unwrap();
        let child = parent.adopt(Script::new("c", &log), None).await.unwrap();
        assert_eq!(notes_around_a_crash(&child).await, Ok(2));
        let child = parent
            .adopt(Script::new("d", &log), Some(Supervision::restart()))
            .await
            .unwrap();
        assert_eq!(notes_around_a_crash(&child).await, Ok(1));
    });
}

#[test]
fn a_decider_sees_the_error_and_who_failed() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let seen = log.clone();
        let policy = Supervision::stop()
            .on::<Oops>(|oops| {
                if oops.0 == "go on" {
                    Directive::Resume
                } else {
                    Directive::Restart
                }
            })
            .decide_with(move |failure, child| {
                seen.add(format_args!(
                    "{} {} {}",
                    child.path(),
                    child.restarts(),
                    failure.text()
                ));
                failure.is_panic().then_some(Directive::Restart)
            });
        let puppet = Script::new("a", &Log::default()).supervised(&system, policy);
        assert_eq!(puppet.note("x").await, Ok(1));
        puppet.give_up("go on").tell();
        assert_eq!(puppet.note("x").await, Ok(2));
        puppet.give_up("begin anew").tell();
        assert_eq!(puppet.note("x").await, Ok(1));
        puppet.crash("boom").tell();
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(log.take(), ["/test/a 1 boom"]);
    });
}

#[test]
fn a_policy_decides_while_the_parent_is_busy() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let parent = Script::new("p", &log).spawn(&system);
        let child = parent.adopt(Script::new("c", &log)).await.unwrap();
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        let before = Instant::now();
        assert_eq!(notes_around_a_crash(&child).await, Ok(1));
        assert_eq!(Instant::now(), before);
    });
}

#[test]
fn an_escalation_waits_for_the_running_handler_of_the_parent() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let parent = Script::new("p", &log).spawn(&system);
        let child = parent
            .adopt_with(Script::new("c", &log), Supervision::escalate())
            .await
            .unwrap();
        let held = beside(parent.hold(gate.clone()).ask());
        gate.reached(1).await;
        child.crash("boom").tell();
        settle().await;
        assert!(!child.is_stopped());
        assert_eq!(
            system.tree().find("/test/p/c").unwrap().state,
            ActorState::Deciding
        );
        gate.open();
        assert_eq!(held.await.unwrap(), Ok(()));
        assert_eq!(child.stopped().await, StopReason::ParentStopped);
        assert_eq!(parent.note("x").await, Ok(1));
        assert_eq!(log.count("p on_restart: boom"), 1);
    });
}

#[test]
fn an_escalation_waits_at_most_for_the_decision_timeout_and_is_decided_then() {
    for (policy, limit) in [
        (Supervision::escalate(), secs(5)),
        (Supervision::escalate().decision_timeout(ms(70)), ms(70)),
    ] {
        paused(async {
            let (system, log, gate) = (system(), Log::default(), Gate::new());
            let parent = Script::new("p", &log).spawn(&system);
            let child = parent
                .adopt_with(Script::new("c", &log), policy)
                .await
                .unwrap();
            assert_eq!(parent.note("x").await, Ok(1));
            parent.hold(gate.clone()).tell();
            gate.reached(1).await;
            let before = Instant::now();
            child.crash("boom").tell();
            let reason = child.stopped().await;
            assert!(
                matches!(&reason, StopReason::Failed(failure) if failure.text() == "boom"),
                "{reason}"
            );
            assert_eq!(before.elapsed(), limit);
            // What was decided is not decided again.
            gate.open();
            assert_eq!(parent.note("x").await, Ok(2));
        });
    }
}

#[test]
fn two_children_that_escalate_at_once_fail_their_parent_once() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let parent = Script::new("p", &log).supervised(
            &system,
            Supervision::restart().restarts(1, within(secs(60))),
        );
        let one = parent
            .adopt_with(Script::new("c", &log), Supervision::escalate())
            .await
            .unwrap();
        let two = parent
            .adopt_with(Script::new("d", &log), Supervision::escalate())
            .await
            .unwrap();
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        one.crash("first").tell();
        two.crash("second").tell();
        settle().await;
        gate.open();
        assert_eq!(parent.note("x").await, Ok(1));
        settle().await;
        assert_eq!(parent.note("x").await, Ok(2));
        assert_eq!(log.count("p made"), 2);
    });
}

#[test]
fn resume_after_a_failed_start_is_a_restart() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log)
            .no_start_at_first(1)
            .supervised(&system, Supervision::resume());
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(
            log.take(),
            ["a made", "a dropped", "a made", "a started", "a x"]
        );
    });
}

#[test]
fn a_parent_that_resumes_a_failed_start_spends_the_child_s_budget() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = Script::new("p", &log).supervised(&system, Supervision::resume());
        let policy = Supervision::escalate().restarts(3, within(secs(60)));
        let child = parent
            .adopt_with(Script::new("c", &log).no_start_at_first(u32::MAX), policy)
            .await
            .unwrap();
        let reason = child.stopped().await;
        assert!(
            matches!(&reason, StopReason::RestartLimit(failure) if failure.text() == "oops: no start"),
            "{reason}"
        );
        assert_eq!(log.count("c made"), 4);
        assert_eq!(parent.note("x").await, Ok(1));
    });
}

#[test]
fn an_escalation_at_the_top_shuts_the_system_down_with_the_cause_in_the_report() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).supervised(&system, Supervision::escalate());
        let other = Script::new("b", &log).spawn(&system);
        assert_eq!(puppet.crash("boom").await, Err(panicked("boom")));
        let report = system.stopped().await;
        let ShutdownCause::Escalated { actor, failure } = &report.cause else {
            panic!("{report}")
        };
        assert_eq!(
            (actor.to_string().as_str(), failure.text()),
            ("/test/a", "boom")
        );
        assert_eq!(report.unclean.len(), 1);
        assert_eq!(other.stopped().await, StopReason::Shutdown);
    });
}

#[test]
fn an_escalation_climbs_level_by_level() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let root = Script::new("root", &log).supervised(&system, Supervision::escalate());
        let middle = root
            .adopt_with(Script::new("middle", &log), Supervision::escalate())
            .await
            .unwrap();
        let leaf = middle
            .adopt_with(Script::new("leaf", &log), Supervision::escalate())
            .await
            .unwrap();
        leaf.crash("boom").tell();
        let report = system.stopped().await;
        let ShutdownCause::Escalated { actor, failure } = &report.cause else {
            panic!("{report}")
        };
        assert_eq!((actor.name(), failure.text()), ("root", "boom"));
        assert!(
            matches!(failure.origin(), FailureOrigin::Child { path, .. } if path == leaf.actor_path())
        );
    });
}

#[test]
fn a_state_that_was_given_once_stops_in_place_of_a_restart() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet: Puppet = Script::new("a", &log).factory()();
        let puppet = system.spawn_once("a", puppet).unwrap();
        puppet.crash("boom").tell();
        assert!(
            matches!(puppet.stopped().await, StopReason::Failed(failure) if failure.text() == "boom")
        );
        assert_eq!(log.count("a made"), 1);
    });
}
