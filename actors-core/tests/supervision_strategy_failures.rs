//! Children that are restarted together, and fail meanwhile.

mod common;

use actors_core::prelude::*;
use common::puppet::{Oops, PuppetRef};
use common::troupe::{
    Troupe, calm, coming, going, one_for_all, rest_for_one, round, together, waiting,
};
use common::world::picked;
use common::{Gate, pass, restart_limit};

/// The last budget that allows `count` restarts.
fn counting(policy: Supervision, count: u32) -> Supervision {
    policy.restarts(count, within(secs(60)))
}

/// Checks that exactly `left` more restarts are allowed.
async fn expect_left(troupe: &Troupe, child: &PuppetRef, left: u32) {
    for nth in 0..left {
        troupe.crash(child).await;
        assert!(!child.is_stopped(), "restart {nth} of {left} is refused");
    }
    troupe.crash(child).await;
    assert!(child.is_stopped(), "more than {left} are allowed");
}

#[test]
fn a_start_that_fails_stops_those_already_started_and_the_restart_is_repeated() {
    together(counting(one_for_all(), 4), async |troupe| {
        let a = troupe.add("a").await;
        let b = troupe.script("b").no_start([1, 2]);
        troupe.add_script(b).await;
        troupe.add("c").await;
        troupe.log.take();
        troupe.crash(&a).await;
        let tries = |name: &str| [format!("{name} made"), format!("{name} dropped")];
        let again = || {
            let back = ["a on_restart: oops: no start", "a dropped"];
            back.map(str::to_owned)
        };
        let expected = [
            going("c"),
            going("b"),
            going("a"),
            coming("a"),
            tries("b"),
            again(),
            coming("a"),
            tries("b"),
            again(),
            coming("a"),
            coming("b"),
            coming("c"),
        ];
        assert_eq!(troupe.log.take(), expected.concat());
        troupe.expect_restarts(&[("a", 3), ("b", 3), ("c", 1)]);
        expect_left(&troupe, &a, 1).await; // 4, and 3 of them are used
    });
}

#[test]
fn a_start_that_always_fails_spends_the_budget_and_stops_all() {
    for limit in 0..5 {
        together(counting(one_for_all(), limit), async move |troupe| {
            let a = troupe.add("a").await;
            let b = troupe.script("b").no_start([1, 2, 3, 4, 5, 6]);
            let b = troupe.add_script(b).await;
            let c = troupe.add("c").await;
            troupe.crash(&a).await;
            let last = if limit == 0 { "boom" } else { "oops: no start" };
            for child in [&a, &b, &c] {
                assert_eq!(restart_limit(child).await, last);
            }
            let made = usize::try_from(limit).unwrap();
            assert_eq!(troupe.log.count("b made"), made + 1, "limit {limit}");
            assert_eq!(troupe.log.count("c made"), 1, "limit {limit}");
        });
    }
}

#[test]
fn a_child_that_has_never_started_makes_its_siblings_restart() {
    together(one_for_all(), async |troupe| {
        troupe.add_all(["a"]).await;
        let b = troupe.script("b").no_start([0]);
        troupe.add_script(b).await;
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
    });
}

#[test]
fn a_failure_while_the_children_stop_is_logged_and_counts_no_more() {
    together(counting(one_for_all(), 2), async |troupe| {
        let (leaves, gate) = (Gate::new(), Gate::new());
        let a = troupe.add("a").await;
        let b = troupe.add("b").await;
        let c = troupe.script("c").restart_at(&leaves);
        troupe.add_script(c).await;
        b.crash_at(gate.clone(), "while it stops").tell();
        gate.reached(1).await;
        let mut events = troupe.system.events();
        troupe.crash(&a).await; // c is asked to go
        gate.open(); // b fails before it is asked
        calm().await;
        leaves.open();
        calm().await;
        troupe.expect_restarts(&[("a", 1), ("b", 1), ("c", 1)]);
        let failed = picked(&mut events, |event| match event {
            LifecycleEvent::Failed { failure, .. } => Some(failure.text().to_owned()),
            _ => None,
        });
        assert_eq!(failed, ["boom", "while it stops"]);
        expect_left(&troupe, &a, 1).await;
    });
}

#[test]
fn a_handler_that_fails_after_its_actor_was_asked_to_go_counts_no_more() {
    together(counting(one_for_all(), 2), async |troupe| {
        let gate = Gate::new();
        let [a, b] = troupe.add_all(["a", "b"]).await;
        b.crash_at(gate.clone(), "while it stops").tell();
        gate.reached(1).await;
        troupe.crash(&a).await; // b is asked to go
        gate.open();
        calm().await;
        let mut expected = vec![
            "b on_restart: while it stops".to_owned(),
            "b dropped".to_owned(),
        ];
        expected.extend([going("a"), coming("a"), coming("b")].concat());
        assert_eq!(troupe.log.take(), expected);
        expect_left(&troupe, &a, 1).await;
    });
}

#[test]
fn a_hook_that_fails_while_the_children_stop_is_an_event_and_nothing_else() {
    together(counting(one_for_all(), 2), async |troupe| {
        let a = troupe.add("a").await;
        let b = troupe
            .script("b")
            .on_restart(|_| Box::pin(async { panic!("in the hook") }));
        troupe.add_script(b).await;
        troupe.log.take();
        let mut events = troupe.system.events();
        troupe.crash(&a).await;
        let hooks = picked(&mut events, |event| match event {
            LifecycleEvent::HookFailed { failure, .. } => Some(failure.text().to_owned()),
            _ => None,
        });
        assert_eq!(hooks, ["in the hook"]);
        assert_eq!(troupe.log.take(), round(&["a", "b"]));
        expect_left(&troupe, &a, 1).await;
    });
}

#[test]
fn an_older_sibling_that_fails_while_the_younger_ones_stop_takes_part() {
    together(counting(rest_for_one(), 2), async |troupe| {
        let leaves = Gate::new();
        let a = troupe.add("a").await;
        let b = troupe.add("b").await;
        let c = troupe.script("c").restart_at(&leaves);
        troupe.add_script(c).await;
        troupe.log.take();
        troupe.crash(&b).await;
        assert_eq!(troupe.log.take(), ["c on_restart: boom"]);
        a.crash("too").tell();
        a.note("kept").tell();
        calm().await;
        assert_eq!(troupe.log.take(), [""; 0], "a waits for its turn");
        leaves.open();
        calm().await;
        let mut expected = vec!["c on_restart done".to_owned(), "c dropped".to_owned()];
        expected.extend(going("b"));
        expected.extend(["a on_restart: too", "a dropped"].map(str::to_owned));
        expected.extend(coming("a"));
        let lines = troupe.log.take();
        assert_eq!(lines[..expected.len()], expected);
        troupe.expect_restarts(&[("a", 1), ("b", 1), ("c", 1)]);
        assert!(lines.contains(&"a kept".to_owned()));
        expect_left(&troupe, &a, 1).await;
    });
}

#[test]
fn a_younger_sibling_that_fails_while_the_others_stop_is_no_restart_of_its_own() {
    together(counting(rest_for_one(), 2), async |troupe| {
        let leaves = Gate::new();
        let [a, b] = troupe.add_all(["a", "b"]).await;
        let c = troupe.script("c").restart_at(&leaves);
        troupe.add_script(c).await;
        troupe.crash(&a).await;
        troupe.crash(&b).await;
        leaves.open();
        calm().await;
        troupe.expect_restarts(&[("a", 1), ("b", 1), ("c", 1)]);
        expect_left(&troupe, &b, 1).await;
    });
}

#[test]
fn an_older_sibling_that_fails_during_the_wait_begins_a_restart_that_counts() {
    let policy = counting(waiting(Supervision::rest_for_one(), secs(1)), 2);
    together(policy, async |troupe| {
        let [a, b] = troupe.add_all(["a", "b"]).await;
        troupe.crash(&b).await;
        pass(ms(500)).await;
        troupe.crash(&a).await;
        pass(ms(500)).await;
        pass(secs(1)).await;
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
        b.crash("spent").tell();
        pass(secs(2)).await;
        assert!(a.is_stopped() && b.is_stopped());
    });
}

#[test]
fn a_child_that_fails_while_a_younger_one_starts_begins_anew_and_counts() {
    together(counting(one_for_all(), 3), async |troupe| {
        let comes = Gate::new();
        let a = troupe.add("a").await;
        let b = troupe.script("b").start_again_at(&comes);
        troupe.add_script(b).await;
        troupe.log.take();
        troupe.crash(&a).await;
        assert_eq!(troupe.log.take()[4..], ["a made", "a started", "b made"]);
        a.crash("again").tell();
        calm().await;
        assert_eq!(troupe.log.take(), [""; 0], "b has not started yet");
        comes.open();
        calm().await;
        let expected = [
            "b started",
            "b on_restart: again",
            "b dropped",
            "a on_restart: again",
            "a dropped",
            "a made",
            "a started",
            "b made",
            "b started",
        ];
        assert_eq!(troupe.log.take(), expected);
        troupe.expect_restarts(&[("a", 2), ("b", 2)]);
        expect_left(&troupe, &a, 1).await;
    });
}

#[test]
fn two_children_that_fail_at_the_same_moment_are_one_restart() {
    together(counting(one_for_all(), 2), async |troupe| {
        let gate = Gate::new();
        let children = troupe.add_all(["a", "b", "c"]).await;
        for child in &children[1..] {
            child.crash_at(gate.clone(), "at once").tell();
        }
        gate.reached(2).await;
        gate.open();
        calm().await;
        troupe.expect_restarts(&[("a", 1), ("b", 1), ("c", 1)]);
        expect_left(&troupe, &children[0], 1).await;
    });
}

#[test]
fn two_children_that_fail_while_a_third_one_starts_are_one_restart() {
    together(counting(one_for_all(), 3), async |troupe| {
        let comes = Gate::new();
        let [a, b] = troupe.add_all(["a", "b"]).await;
        let c = troupe.script("c").start_again_at(&comes);
        troupe.add_script(c).await;
        troupe.crash(&a).await;
        a.crash("one").tell();
        b.crash("two").tell();
        calm().await;
        comes.open();
        calm().await;
        troupe.expect_restarts(&[("a", 2), ("b", 2), ("c", 2)]);
        expect_left(&troupe, &a, 1).await;
    });
}

#[test]
fn a_child_that_fails_itself_or_answers_an_error_restarts_its_siblings_too() {
    together(one_for_all(), async |troupe| {
        let [a, _b] = troupe.add_all(["a", "b"]).await;
        a.answer_and_fail("itself").await.unwrap();
        calm().await;
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
        let error = a.give_up("an error").await;
        assert_eq!(error, Err(AskError::Handler(Oops("an error"))));
        calm().await;
        troupe.expect_restarts(&[("a", 2), ("b", 2)]);
    });
}
