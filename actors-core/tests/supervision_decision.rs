//! Promise F7: a parent decides about the failures of its children by a method of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use actors_core::prelude::*;
use actors_core::{LifecycleEvent, ShutdownCause};
use actors_testkit::TestKit;
use common::judge::{Court, JudgeRef};
use common::puppet::{Oops, PuppetRef, Script};
use common::{Gate, Log, beside, panicked};

/// A parent with its log, whose child `c` logs nowhere.
async fn family(kit: &TestKit, court: Court) -> (JudgeRef, PuppetRef) {
    kit.allow_failures();
    let parent = court.spawn(kit.system());
    let child = parent
        .adopt(Script::new("c", &Log::default()))
        .await
        .unwrap();
    (parent, child)
}

fn failed(reason: &StopReason) -> Option<&str> {
    match reason {
        StopReason::Failed(failure) => Some(failure.text()),
        _ => None,
    }
}

#[actors_testkit::test]
async fn a_parent_decides_with_its_own_state(kit: TestKit) {
    let log = Log::default();
    let court = Court::new("p", &log, |case| {
        let directives = [Directive::Resume, Directive::Restart, Directive::Stop];
        Some(directives[case.failures as usize - 1])
    });
    let (_parent, child) = family(&kit, court).await;
    assert_eq!(child.note("x").await, Ok(1));
    child.crash("one").tell();
    assert_eq!(child.note("x").await, Ok(2));
    child.crash("two").tell();
    assert_eq!(child.note("x").await, Ok(1));
    child.crash("three").tell();
    assert_eq!(failed(&child.stopped().await), Some("three"));
    assert_eq!(
        log.take(),
        ["p judges c: one", "p judges c: two", "p judges c: three"]
    );
}

#[actors_testkit::test]
async fn a_parent_sees_the_failure_itself_and_which_child_it_was(kit: TestKit) {
    let (log, seen) = (Log::default(), Log::default());
    let note = seen.clone();
    let court = Court::new("p", &log, move |case| {
        note.add(format_args!(
            "{} {} {} {}",
            case.child.path(),
            case.child.restarts(),
            case.failure.is::<Oops>(),
            case.failure.origin()
        ));
        Some(Directive::Restart)
    });
    let (_parent, child) = family(&kit, court).await;
    let asked = child.give_up("no more").await;
    assert_eq!(asked, Err(AskError::Handler(Oops("no more"))));
    child.crash("boom").tell();
    assert_eq!(child.note("x").await, Ok(1));
    let path = child.actor_path();
    assert_eq!(
        seen.take(),
        [
            format!("{path} 0 true handler `GiveUp`"),
            format!("{path} 1 false handler `Crash`")
        ]
    );
}

#[actors_testkit::test]
async fn none_leaves_it_to_the_declared_policy(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let parent = Court::new("p", &log, |_| None).spawn(kit.system());
    for (policy, notes) in [(Supervision::resume(), 2), (Supervision::restart(), 1)] {
        let child = Script::new(if notes == 2 { "c" } else { "d" }, &Log::default());
        let child = parent.adopt_with(child, policy).await.unwrap();
        assert_eq!(child.note("x").await, Ok(1));
        child.crash("boom").tell();
        assert_eq!(child.note("x").await, Ok(notes));
    }
    assert_eq!(log.take(), ["p judges c: boom", "p judges d: boom"]);
}

#[actors_testkit::test]
async fn the_word_of_the_parent_goes_before_any_declared_policy(kit: TestKit) {
    kit.allow_failures();
    let parent = Court::of("p", &Log::default(), Directive::Resume).spawn(kit.system());
    let policy = Supervision::stop().on_panic(Directive::Escalate);
    let child = Script::new("c", &Log::default());
    let child = parent.adopt_with(child, policy).await.unwrap();
    child.crash("boom").tell();
    child.note("x").tell();
    assert_eq!(child.note("x").await, Ok(2));
}

#[actors_testkit::test]
async fn the_event_of_a_failure_has_the_directive_of_the_parent(kit: TestKit) {
    let court = Court::of("p", &Log::default(), Directive::Resume);
    let (_parent, child) = family(&kit, court).await;
    child.crash("boom").tell();
    let event = kit
        .expect_failure(|event| matches!(event, LifecycleEvent::Failed { .. }))
        .await;
    let LifecycleEvent::Failed { directive, .. } = event else {
        panic!("{event}")
    };
    assert_eq!(directive, Directive::Resume);
}

#[actors_testkit::test]
async fn it_runs_after_the_running_handler_and_before_the_messages_that_wait(kit: TestKit) {
    let (log, gate) = (Log::default(), Gate::new());
    let court = Court::of("p", &log, Directive::Resume);
    let (parent, child) = family(&kit, court).await;
    parent.hold(gate.clone()).tell();
    gate.reached(1).await;
    parent.note("one").tell();
    parent.note("two").tell();
    child.crash("boom").tell();
    kit.settle().await;
    assert_eq!(log.take(), Vec::<String>::new());
    gate.open();
    kit.settle().await;
    assert_eq!(
        log.take(),
        ["p passed the gate", "p judges c: boom", "p one", "p two"]
    );
}

#[actors_testkit::test]
async fn a_busy_parent_is_waited_for_as_long_as_the_policy_says_and_no_longer(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let parent = Court::of("p", &log, Directive::Resume).spawn(kit.system());
    for (name, policy, limit) in [
        ("c", Supervision::stop(), secs(5)),
        ("d", Supervision::stop().decision_timeout(ms(70)), ms(70)),
        ("e", Supervision::stop().decision_timeout(ms(0)), ms(0)),
    ] {
        let child = Script::new(name, &Log::default());
        let child = parent.adopt_with(child, policy).await.unwrap();
        let gate = Gate::new();
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        let before = kit.elapsed();
        let asked = beside(child.crash("boom").ask());
        assert_eq!(failed(&child.stopped().await), Some("boom"));
        assert_eq!(kit.elapsed() - before, limit);
        assert_eq!(asked.await.unwrap(), Err(panicked("boom")));
        // What is decided is not decided again.
        gate.open();
        kit.settle().await;
        assert_eq!(log.take(), ["p passed the gate"]);
    }
}

#[actors_testkit::test]
async fn a_parent_that_is_free_just_in_time_decides(kit: TestKit) {
    kit.allow_failures();
    let (log, gate) = (Log::default(), Gate::new());
    let parent = Court::of("p", &log, Directive::Resume).spawn(kit.system());
    let policy = Supervision::stop().decision_timeout(ms(70));
    let child = Script::new("c", &Log::default());
    let child = parent.adopt_with(child, policy).await.unwrap();
    parent.hold(gate.clone()).tell();
    gate.reached(1).await;
    child.note("x").tell();
    child.crash("boom").tell();
    kit.advance(ms(69)).await;
    gate.open();
    assert_eq!(child.note("x").await, Ok(2));
}

#[actors_testkit::test]
async fn a_failed_start_goes_to_the_parent_and_resume_acts_as_restart(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let parent = Court::of("p", &log, Directive::Resume).spawn(kit.system());
    let child = Script::new("c", &log).no_start_at_first(2);
    let child = parent.adopt_with(child, Supervision::stop()).await.unwrap();
    assert_eq!(child.note("x").await, Ok(1));
    assert_eq!(
        log.take(),
        [
            "c made",
            "p judges c: oops: no start",
            "c dropped",
            "c made",
            "p judges c: oops: no start",
            "c dropped",
            "c made",
            "c started",
            "c x"
        ]
    );
}

#[actors_testkit::test]
async fn what_the_parent_says_is_counted_by_the_budget_of_the_policy(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let parent = Court::of("p", &log, Directive::Restart).spawn(kit.system());
    let policy = Supervision::resume().restarts(2, within(secs(60)));
    let child = Script::new("c", &Log::default()).no_start_at_first(u32::MAX);
    let child = parent.adopt_with(child, policy).await.unwrap();
    let reason = child.stopped().await;
    assert!(
        matches!(&reason, StopReason::RestartLimit(failure) if failure.text() == "oops: no start"),
        "{reason}"
    );
    assert_eq!(log.count("p judges c: oops: no start"), 3);
}

#[actors_testkit::test]
async fn escalate_makes_the_parent_fail_with_the_failure(kit: TestKit) {
    let log = Log::default();
    let court = Court::of("p", &log, Directive::Escalate);
    let (parent, child) = family(&kit, court).await;
    assert_eq!(child.crash("boom").await, Err(panicked("boom")));
    assert_eq!(child.stopped().await, StopReason::ParentStopped);
    assert_eq!(parent.note("x").await, Ok(()));
    assert_eq!(
        log.take(),
        ["p judges c: boom", "p on_restart: boom", "p x"]
    );
}

#[actors_testkit::test]
async fn a_parent_that_escalates_and_is_resumed_lets_the_child_go_on(kit: TestKit) {
    kit.allow_failures();
    let top = Court::of("top", &Log::default(), Directive::Resume).spawn(kit.system());
    let court = Court::of("p", &Log::default(), Directive::Escalate);
    let parent = top.seat(court).await.unwrap();
    let child = Script::new("c", &Log::default());
    let child = parent.adopt(child).await.unwrap();
    assert_eq!(child.note("x").await, Ok(1));
    child.crash("boom").tell();
    assert_eq!(child.note("x").await, Ok(2));
}

#[actors_testkit::test]
async fn what_a_grandchild_escalates_is_the_failure_of_the_child(kit: TestKit) {
    kit.allow_failures();
    let (log, seen) = (Log::default(), Log::default());
    let note = seen.clone();
    let court = Court::new("p", &log, move |case| {
        note.add(format_args!(
            "{} {}",
            case.child.name(),
            case.failure.origin()
        ));
        Some(Directive::Restart)
    });
    let parent = court.spawn(kit.system());
    let child = parent.adopt(Script::new("c", &log)).await.unwrap();
    let resumed = Script::new("g", &Log::default());
    let resumed = child
        .adopt_with(resumed, Supervision::resume())
        .await
        .unwrap();
    resumed.crash("no matter").tell();
    assert_eq!(resumed.note("x").await, Ok(1));
    assert_eq!(log.count("p judges c: no matter"), 0);
    let grandchild = Script::new("h", &Log::default());
    let grandchild = child
        .adopt_with(grandchild, Supervision::escalate())
        .await
        .unwrap();
    assert_eq!(grandchild.crash("boom").await, Err(panicked("boom")));
    assert_eq!(grandchild.stopped().await, StopReason::ParentStopped);
    let path = grandchild.actor_path();
    assert_eq!(seen.take(), [format!("c handler `Crash` of {path}")]);
    assert_eq!(log.count("p judges c: boom"), 1);
}

#[actors_testkit::test]
async fn a_panic_in_it_fails_the_parent_and_the_declared_policy_decides_if_that_is_resumed(
    kit: TestKit,
) {
    kit.allow_failures();
    let log = Log::default();
    let court = Court::new("p", &log, |_| panic!("no idea"));
    let parent = court.supervised(kit.system(), Supervision::resume());
    for (policy, notes) in [(Supervision::resume(), 2), (Supervision::restart(), 1)] {
        let child = Script::new(if notes == 2 { "c" } else { "d" }, &Log::default());
        let child = parent.adopt_with(child, policy).await.unwrap();
        assert_eq!(child.note("x").await, Ok(1));
        assert_eq!(child.crash("boom").await, Err(panicked("boom")));
        assert_eq!(child.note("x").await, Ok(notes));
    }
    let child = Script::new("e", &Log::default());
    let child = parent.adopt_with(child, Supervision::stop()).await.unwrap();
    child.crash("boom").tell();
    assert_eq!(failed(&child.stopped().await), Some("boom"));
    assert_eq!(parent.note("x").await, Ok(()));
    assert!(!log.take().contains(&"p on_restart: no idea".to_owned()));
}

#[actors_testkit::test]
async fn a_panic_in_it_that_restarts_or_stops_the_parent_ends_the_child_with_it(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    for (policy, line) in [
        (Supervision::restart(), "p on_restart: no idea"),
        (
            Supervision::stop(),
            "p on_stop: hook `on_failure` panicked: no idea",
        ),
    ] {
        let court = Court::new("p", &log, |_| panic!("no idea"));
        let parent = court.supervised(kit.system(), policy);
        let child = parent.adopt(Script::new("c", &log)).await.unwrap();
        assert_eq!(child.crash("boom").await, Err(panicked("boom")));
        assert_eq!(child.stopped().await, StopReason::ParentStopped);
        kit.settle().await;
        assert_eq!(
            log.take(),
            [
                "c made",
                "c started",
                "p judges c: boom",
                "c on_stop: parent stopped",
                "c dropped",
                line
            ]
        );
        parent.stop().await;
        log.take();
    }
}

#[actors_testkit::test]
async fn a_panic_in_it_that_is_escalated_to_the_top_shuts_the_system_down(kit: TestKit) {
    let log = Log::default();
    let system = ActorSystem::new("other").unwrap();
    let court = Court::new("p", &log, |_| panic!("no idea"));
    let parent = court.supervised(&system, Supervision::escalate());
    let child = parent
        .adopt(Script::new("c", &Log::default()))
        .await
        .unwrap();
    assert_eq!(child.crash("boom").await, Err(panicked("boom")));
    let report = system.stopped().await;
    let ShutdownCause::Escalated { actor, failure } = &report.cause else {
        panic!("{report}")
    };
    assert_eq!((actor.name(), failure.text()), ("p", "no idea"));
    assert_eq!(failure.origin(), &FailureOrigin::Hook("on_failure"));
    assert_eq!(child.stopped().await, StopReason::ParentStopped);
    drop(kit);
}

#[actors_testkit::test]
async fn a_parent_may_fail_itself_in_it_after_it_has_decided(kit: TestKit) {
    let log = Log::default();
    let court = Court::new("p", &log, |case| {
        case.ctx.fail(Oops("me too"));
        Some(Directive::Resume)
    });
    let (parent, child) = family(&kit, court).await;
    assert_eq!(child.crash("boom").await, Err(panicked("boom")));
    assert_eq!(child.stopped().await, StopReason::ParentStopped);
    assert_eq!(parent.note("x").await, Ok(()));
    assert_eq!(
        log.take(),
        ["p judges c: boom", "p on_restart: oops: me too", "p x"]
    );
}

#[actors_testkit::test]
async fn a_parent_may_spawn_a_substitute_in_it(kit: TestKit) {
    let (log, own) = (Log::default(), Log::default());
    let below = own.clone();
    let court = Court::new("p", &log, move |case| {
        let substitute = Script::new("d", &below);
        case.ctx.spawn("d", substitute.factory()).unwrap();
        Some(Directive::Stop)
    });
    let (parent, child) = family(&kit, court).await;
    child.crash("boom").tell();
    assert_eq!(failed(&child.stopped().await), Some("boom"));
    kit.settle().await;
    assert_eq!(own.take(), ["d made", "d started"]);
    assert_eq!(parent.stop().await, StopReason::Stopped);
    assert_eq!(own.take(), ["d on_stop: parent stopped", "d dropped"]);
}

#[actors_testkit::test]
async fn a_parent_may_watch_the_child_in_it_and_sees_its_end(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let known = std::sync::Arc::new(std::sync::Mutex::new(None::<PuppetRef>));
    let watched = std::sync::Arc::clone(&known);
    let court = Court::new("p", &log, move |case| {
        let child = watched.lock().unwrap().clone().unwrap();
        case.ctx.watch(&child);
        Some(Directive::Stop)
    });
    let parent = court.spawn(kit.system());
    let child = parent
        .adopt(Script::new("c", &Log::default()))
        .await
        .unwrap();
    *known.lock().unwrap() = Some(child.clone());
    child.crash("boom").tell();
    child.stopped().await;
    kit.settle().await;
    assert_eq!(
        log.take(),
        [
            "p judges c: boom",
            "p saw c end: handler `Crash` panicked: boom"
        ]
    );
}

#[actors_testkit::test]
async fn a_parent_that_stops_itself_in_it_decides_about_no_other_child(kit: TestKit) {
    kit.allow_failures();
    let (log, gate) = (Log::default(), Gate::new());
    let court = Court::new("p", &log, |case| {
        case.ctx.stop();
        Some(Directive::Resume)
    });
    let parent = court.spawn(kit.system());
    let one = parent
        .adopt(Script::new("c", &Log::default()))
        .await
        .unwrap();
    let two = parent
        .adopt(Script::new("d", &Log::default()))
        .await
        .unwrap();
    parent.hold(gate.clone()).tell();
    gate.reached(1).await;
    let one_asked = beside(one.crash("first").ask());
    kit.settle().await;
    let two_asked = beside(two.crash("second").ask());
    kit.settle().await;
    gate.open();
    assert_eq!(parent.stopped().await, StopReason::Stopped);
    assert_eq!(one_asked.await.unwrap(), Err(panicked("first")));
    assert_eq!(two_asked.await.unwrap(), Err(panicked("second")));
    assert_eq!(two.stopped().await, StopReason::ParentStopped);
    assert_eq!(
        log.take(),
        [
            "p passed the gate",
            "p judges c: first",
            "p on_stop: stopped"
        ]
    );
}
