//! Children that are restarted together, whatever they are doing just then.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use actors_core::ActorState;
use actors_core::prelude::*;
use common::puppet::{Puppet, Script};
use common::troupe::{Troupe, calm, coming, going, one_for_all, together, waiting};
use common::world::on_two_threads_with;
use common::{Gate, beside, pass, until};

#[test]
fn a_handler_that_runs_ends_before_its_actor_goes() {
    together(one_for_all(), async |troupe| {
        let [a, b] = troupe.add_all(["a", "b"]).await;
        let gate = Gate::new();
        b.hold(gate.clone()).tell();
        b.note("kept").tell();
        gate.reached(1).await;
        troupe.crash(&a).await;
        assert_eq!(troupe.log.take(), [""; 0]);
        gate.open();
        calm().await;
        let mut expected = vec!["b passed the gate".to_owned(), "b left the gate".to_owned()];
        expected.extend([going("b"), going("a"), coming("a"), coming("b")].concat());
        expected.push("b kept".to_owned());
        assert_eq!(troupe.log.take(), expected);
    });
}

#[test]
fn a_handler_that_does_not_end_is_cut_at_the_stop_timeout_and_its_asker_told() {
    together(one_for_all(), async |troupe| {
        let a = troupe.add("a").await;
        let b = troupe
            .add_as(troupe.script("b"), |spawn| spawn.stop_timeout(secs(2)))
            .await;
        let gate = Gate::new();
        let asked = beside(b.hold(gate.clone()).ask().timeout(secs(60)).into_future());
        gate.reached(1).await;
        b.note("kept").tell();
        troupe.log.take();
        troupe.crash(&a).await;
        pass(ms(1_999)).await;
        assert_eq!(troupe.log.take(), [""; 0]);
        pass(ms(1)).await;
        let mut expected = vec!["b left the gate".to_owned()];
        expected.extend([going("b"), going("a"), coming("a"), coming("b")].concat());
        expected.push("b kept".to_owned());
        assert_eq!(troupe.log.take(), expected);
        let running = AskError::Stopped {
            phase: Phase::Running,
        };
        assert_eq!(asked.await.unwrap(), Err(running));
    });
}

#[test]
fn a_child_that_asks_the_failed_sibling_is_told_of_the_failure_and_goes_then() {
    together(one_for_all(), async |troupe| {
        let [a, b] = troupe.add_all(["a", "b"]).await;
        let other = a.clone();
        let log = troupe.log.clone();
        let asks = async move {
            log.add(other.crash("boom").ask().await.unwrap_err());
        };
        b.wait_for(Box::pin(asks)).tell();
        calm().await;
        let lines = troupe.log.take();
        assert_eq!(lines[0], "the handler panicked: boom");
        assert_eq!(lines[1], "b waited");
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
    });
}

#[test]
fn a_child_that_waits_for_an_answer_queued_behind_the_failure_is_cut_at_its_stop_timeout() {
    together(one_for_all(), async |troupe| {
        let gate = Gate::new();
        let a = troupe.add("a").await;
        let b = troupe
            .add_as(troupe.script("b"), |spawn| spawn.stop_timeout(secs(1)))
            .await;
        a.hold(gate.clone()).tell();
        a.crash("boom").tell();
        let other = a.clone();
        let asks = async move {
            let _ = other.note("never").ask().timeout(secs(60)).await;
        };
        b.wait_for(Box::pin(asks)).tell();
        calm().await;
        gate.open();
        calm().await;
        troupe.expect_restarts(&[("a", 0), ("b", 0)]);
        pass(secs(1)).await;
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
        // The asker is gone, and so is its question.
        assert_eq!(troupe.log.count("a never"), 0);
    });
}

#[test]
fn a_child_in_its_first_start_starts_and_goes_then() {
    together(one_for_all(), async |troupe| {
        let gate = Gate::new();
        let a = troupe.add("a").await;
        let held = gate.clone();
        let slow = troupe.script("b").on_start(move |_| {
            let gate = held.clone();
            Box::pin(async move {
                gate.pass().await;
                Ok(())
            })
        });
        let b = troupe.add_script(slow).await;
        b.note("kept").tell();
        troupe.log.take();
        troupe.crash(&a).await;
        assert_eq!(troupe.log.take(), [""; 0]);
        gate.open();
        calm().await;
        let mut expected = vec!["b started".to_owned()];
        expected.extend([going("b"), going("a"), coming("a"), coming("b")].concat());
        expected.push("b kept".to_owned());
        assert_eq!(troupe.log.take(), expected);
    });
}

#[test]
fn a_child_in_its_first_start_is_cut_at_its_stop_timeout_without_a_hook() {
    together(one_for_all(), async |troupe| {
        let a = troupe.add("a").await;
        let starts = Arc::new(AtomicU32::new(0));
        let slow = troupe.script("b").on_start(move |_| {
            let first = starts.fetch_add(1, Ordering::Relaxed) == 0;
            Box::pin(async move {
                if first {
                    std::future::pending::<()>().await;
                }
                Ok(())
            })
        });
        troupe
            .add_as(slow, |spawn| spawn.stop_timeout(secs(1)))
            .await;
        troupe.log.take();
        troupe.crash(&a).await;
        pass(secs(1)).await;
        let mut expected = vec!["b dropped".to_owned()];
        expected.extend([going("a"), coming("a"), coming("b")].concat());
        assert_eq!(troupe.log.take(), expected);
    });
}

#[test]
fn a_child_that_waits_to_come_back_goes_with_an_older_sibling_that_fails() {
    let policy = waiting(Supervision::rest_for_one(), secs(1));
    together(policy, async |troupe| {
        let [a, b] = troupe.add_all(["a", "b"]).await;
        troupe.crash(&b).await;
        b.note("kept").tell();
        pass(ms(500)).await;
        troupe.log.take();
        troupe.crash(&a).await;
        for _ in 0..20 {
            pass(ms(100)).await;
        }
        let mut expected = [going("a"), coming("a"), coming("b")].concat();
        expected.push("b kept".to_owned());
        assert_eq!(troupe.log.take(), expected);
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
    });
}

#[test]
fn a_child_that_drains_is_restarted_with_its_siblings_and_drains_on() {
    let policy = waiting(Supervision::one_for_all(), secs(1));
    together(policy, async |troupe| {
        let [a, b] = troupe.add_all(["a", "b"]).await;
        let gate = Gate::new();
        b.hold(gate.clone()).tell();
        gate.reached(1).await;
        for number in 0..3 {
            b.number(number).tell();
        }
        let drained = b.drain();
        troupe.crash(&a).await;
        gate.open();
        pass(secs(1)).await;
        assert_eq!(drained.await, StopReason::Drained);
        let of_b: Vec<_> = troupe
            .log
            .take()
            .into_iter()
            .filter(|line| line.starts_with('b'))
            .collect();
        let expected = [
            "b passed the gate",
            "b left the gate",
            "b on_restart: boom",
            "b dropped",
            "b made",
            "b started",
            "b number 0",
            "b number 1",
            "b number 2",
            "b on_stop: drained",
            "b dropped",
        ];
        assert_eq!(of_b, expected);
        troupe.expect_restarts(&[("a", 1)]);
    });
}

#[test]
fn a_child_that_is_stopping_stays_down_and_the_others_wait_for_its_end() {
    together(one_for_all(), async |troupe| {
        let gate = Gate::new();
        let a = troupe.add("a").await;
        let b = troupe.add_script(troupe.script("b").stop_at(&gate)).await;
        troupe.log.take();
        drop(b.stop());
        calm().await;
        troupe.crash(&a).await;
        assert_eq!(troupe.log.take(), ["b on_stop: stopped"]);
        gate.open();
        calm().await;
        let mut expected = vec!["b on_stop done".to_owned(), "b dropped".to_owned()];
        expected.extend([going("a"), coming("a")].concat());
        assert_eq!(troupe.log.take(), expected);
        troupe.expect_restarts(&[("a", 1)]);
    });
}

#[test]
fn a_child_that_holds_its_thread_is_abandoned_and_the_others_go_on() {
    on_two_threads_with(
        |builder| builder.supervision(one_for_all()).stop_timeout(ms(20)),
        async |system| {
            let troupe = Troupe::new(&system);
            let [a, b] = troupe.add_all(["a", "b"]).await;
            let gate = Gate::new();
            b.block(gate.clone()).tell();
            gate.reached(1).await;
            a.crash("boom").tell();
            let expected = StopReason::Abandoned {
                handler: Some("Block"),
            };
            assert_eq!(b.stopped().await, expected);
            let log = troupe.log.clone();
            until(|| log.count("a started") > 0).await;
            gate.open();
            assert_eq!(a.note("back").await, Ok(1));
            troupe.expect_restarts(&[("a", 1)]);
        },
    );
}

#[test]
fn a_child_that_waits_for_an_escalation_to_be_decided_goes_with_its_siblings() {
    together(one_for_all(), async |troupe| {
        let a = troupe.add("a").await;
        let own = Supervision::one_for_one()
            .otherwise(Directive::Escalate)
            .decision_timeout(secs(60));
        let b = troupe
            .add_as(troupe.script("b"), |spawn| spawn.supervision(own))
            .await;
        let gate = Gate::new();
        troupe.parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        b.crash("escalated").tell();
        b.note("kept").tell();
        calm().await;
        assert_eq!(b.actor_state(), ActorState::Deciding);
        troupe.log.take();
        troupe.crash(&a).await;
        let mut expected = [going("b"), going("a"), coming("a"), coming("b")].concat();
        expected.push("b kept".to_owned());
        assert_eq!(troupe.log.take(), expected);
        troupe.parents_log.take();
        gate.open();
        calm().await;
        assert_eq!(
            troupe.parents_log.take(),
            ["parent passed the gate", "parent left the gate"],
            "nobody waits for its decision any more"
        );
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
    });
}

#[test]
fn a_child_that_is_reserved_and_not_spawned_is_left_alone() {
    together(one_for_all(), async |troupe| {
        let a = troupe.add("a").await;
        let (give, given) = tokio::sync::oneshot::channel();
        let reserve = move |ctx: &mut ActorContext<Puppet>| {
            let reserved = ctx.reserve::<Puppet>("b").unwrap();
            assert!(give.send(reserved).is_ok());
        };
        troupe.parent.act(Box::new(reserve)).tell();
        let reserved = given.await.unwrap();
        reserved.reference().note("kept").tell();
        troupe.crash(&a).await;
        troupe.expect_restarts(&[("a", 1), ("b", 0)]);
        reserved.spawn(troupe.script("b").factory()).unwrap();
        calm().await;
        assert_eq!(troupe.log.count("b kept"), 1);
        troupe.crash(&a).await;
        troupe.expect_restarts(&[("a", 2), ("b", 1)]);
    });
}

#[test]
fn children_of_a_child_stop_with_it_and_are_spawned_by_its_next_incarnation() {
    together(one_for_all(), async |troupe| {
        let a = troupe.add("a").await;
        let grandchild = Script::new("g", &troupe.log);
        let b = troupe.script("b").children([grandchild]);
        troupe.add_script(b).await;
        troupe.log.take();
        troupe.crash(&a).await;
        let lines = troupe.log.take();
        let expected = [
            "g on_stop: parent stopped",
            "g dropped",
            "b on_restart: boom",
            "b dropped",
        ];
        assert_eq!(lines[..4], expected);
        assert_eq!(lines.iter().filter(|line| *line == "g started").count(), 1);
    });
}
