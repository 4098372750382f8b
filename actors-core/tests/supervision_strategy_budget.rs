//! Children that are restarted together: how often, and how soon.

mod common;

use std::time::Duration;

use actors_core::ShutdownCause;
use actors_core::prelude::*;
use common::puppet::{Puppet, PuppetRef, Script};
use common::troupe::{Troupe, calm, coming, going, one_for_all, rest_for_one, together, waiting};
use common::world::in_virtual_time_with;
use common::{Gate, Log, pass, restart_limit};

/// Crashes a child and lets exactly so much time pass until the first line of the next incarnation.
async fn expect_wait(troupe: &Troupe, child: &PuppetRef, wait: Duration) {
    troupe.crash(child).await;
    if !wait.is_zero() {
        pass(wait - ms(1)).await;
        assert_eq!(troupe.log.count("a made"), 0, "before {wait:?}");
        pass(ms(1)).await;
    }
    calm().await;
    assert_eq!(troupe.log.count("a made"), 1, "after {wait:?}");
    troupe.log.take();
}

#[test]
fn a_budget_counts_one_for_each_restart_of_all_and_slides() {
    for (late, stopped) in [(Duration::ZERO, true), (Duration::from_nanos(1), false)] {
        let policy = one_for_all().restarts(2, within(secs(10)));
        together(policy, async move |troupe| {
            let children = troupe.add_all(["a", "b", "c"]).await;
            troupe.crash(&children[0]).await;
            pass(secs(4)).await;
            troupe.crash(&children[1]).await;
            troupe.expect_restarts(&[("a", 2), ("b", 2), ("c", 2)]);
            pass(secs(6) + late).await;
            troupe.crash(&children[2]).await;
            for child in &children {
                assert_eq!(child.is_stopped(), stopped, "{late:?} late");
            }
        });
    }
}

#[test]
fn a_limit_of_0_never_restarts_and_stops_all() {
    together(
        one_for_all().restarts(0, within(secs(10))),
        async |troupe| {
            let [a, b] = troupe.add_all(["a", "b"]).await;
            troupe.crash(&b).await;
            for child in [&a, &b] {
                assert_eq!(restart_limit(child).await, "boom");
            }
        },
    );
}

#[test]
fn a_spent_budget_stops_all_in_reverse_order_with_the_last_failure_and_watchers_are_told() {
    for policy in [one_for_all(), rest_for_one()] {
        together(policy.restarts(1, within(secs(10))), async |troupe| {
            let children = troupe.add_all(["a", "b", "c"]).await;
            for child in &children {
                troupe.parent.watch_over(child.clone()).tell();
            }
            troupe.crash(&children[2]).await;
            troupe.log.take();
            troupe.parents_log.take();
            children[2].crash("the last").tell();
            calm().await;
            let own = "restart limit reached: handler `Crash` panicked: the last";
            let path = children[2].actor_path();
            let of_c =
                format!("restart limit reached: handler `Crash` of {path} panicked: the last");
            let whys = [("c", own), ("b", &of_c), ("a", &of_c)];
            let stops = whys
                .map(|(name, why)| [format!("{name} on_stop: {why}"), format!("{name} dropped")]);
            assert_eq!(troupe.log.take(), stops.concat());
            let told = whys.map(|(name, why)| format!("parent saw {name} end: {why}"));
            assert_eq!(troupe.parents_log.take(), told);
            assert!(!troupe.parent.is_stopped());
        });
    }
}

#[test]
fn a_parent_whose_childrens_budget_is_spent_can_spawn_them_anew() {
    together(
        one_for_all().restarts(1, within(secs(10))),
        async |troupe| {
            let [a, _b] = troupe.add_all(["a", "b"]).await;
            troupe.crash(&a).await;
            troupe.crash(&a).await;
            troupe.expect_restarts(&[]);
            pass(secs(11)).await;
            let [a, _b] = troupe.add_all(["a", "b"]).await;
            troupe.crash(&a).await;
            troupe.expect_restarts(&[("a", 1), ("b", 1)]);
        },
    );
}

#[test]
fn a_spent_budget_that_escalates_fails_the_parent() {
    let policy = one_for_all()
        .restarts(2, within(secs(10)))
        .when_spent(Directive::Escalate);
    in_virtual_time_with(
        |builder| builder.supervision(policy),
        async |system| {
            let log = Log::default();
            let [a, b] = ["a", "b"].map(|name| Script::new(name, &log));
            let parents_log = Log::default();
            let parent = Script::new("parent", &parents_log).children([a, b]);
            let parent = parent.spawn(&system);
            calm().await;
            let child = || -> PuppetRef { system.lookup::<Puppet>("/test/parent/b").unwrap() };
            for _ in 0..2 {
                child().crash("boom").tell();
                calm().await;
            }
            assert_eq!(parents_log.take(), ["parent made", "parent started"]);
            log.take();
            child().crash("the last").tell();
            calm().await;
            let parents = [
                "parent on_restart: the last",
                "parent dropped",
                "parent made",
                "parent started",
            ];
            assert_eq!(parents_log.take(), parents);
            let stopped = ["b", "a"].map(|name| {
                [
                    format!("{name} on_stop: parent stopped"),
                    format!("{name} dropped"),
                ]
            });
            assert_eq!(log.take()[..4], stopped.concat());
            assert!(!parent.is_stopped());
            let restarts: Vec<_> = system
                .tree()
                .nodes()
                .iter()
                .map(|node| node.restarts)
                .collect();
            assert_eq!(restarts, [1, 0, 0], "the new children have a new budget");
        },
    );
}

#[test]
fn a_spent_budget_that_escalates_at_the_top_shuts_the_system_down() {
    let policy = one_for_all()
        .restarts(0, within(secs(10)))
        .when_spent(Directive::Escalate);
    in_virtual_time_with(
        |builder| builder.supervision(policy),
        async |system| {
            let puppets = ["a", "b"].map(|name| Script::new(name, &Log::default()).spawn(&system));
            puppets[0].crash("boom").tell();
            let report = system.stopped().await;
            match report.cause {
                ShutdownCause::Escalated { actor, failure } => {
                    assert_eq!((actor.name(), failure.text()), ("a", "boom"));
                }
                other => panic!("{other:?}"),
            }
        },
    );
}

#[test]
fn the_wait_lies_between_the_last_end_and_the_first_start() {
    let policy = waiting(Supervision::one_for_all(), secs(1));
    together(policy, async |troupe| {
        let a = troupe.add("a").await;
        let leaves = Gate::new();
        let slow = troupe.script("b").restart_at(&leaves);
        troupe.add_script(slow).await;
        troupe.log.take();
        troupe.crash(&a).await;
        pass(secs(3)).await;
        leaves.open();
        calm().await;
        let mut expected = vec![
            "b on_restart: boom".to_owned(),
            "b on_restart done".to_owned(),
        ];
        expected.push("b dropped".to_owned());
        expected.extend(going("a"));
        assert_eq!(troupe.log.take(), expected);
        pass(ms(999)).await;
        assert_eq!(troupe.log.take(), [""; 0]);
        pass(ms(1)).await;
        assert_eq!(troupe.log.take(), [coming("a"), coming("b")].concat());
    });
}

#[test]
fn the_wait_grows_with_each_restart_of_all_whoever_failed_and_is_forgotten_in_health() {
    let backoff = Backoff::new(ms(100), secs(10)).reset_after(secs(5));
    let policy = Supervision::one_for_all()
        .backoff(backoff)
        .restarts(100, within(secs(60)));
    together(policy, async |troupe| {
        let [a, b] = troupe.add_all(["a", "b"]).await;
        expect_wait(&troupe, &a, ms(0)).await;
        expect_wait(&troupe, &b, ms(100)).await;
        expect_wait(&troupe, &a, ms(200)).await;
        pass(ms(4_999)).await;
        expect_wait(&troupe, &b, ms(400)).await;
        pass(secs(5)).await;
        expect_wait(&troupe, &b, ms(0)).await;
        expect_wait(&troupe, &a, ms(100)).await;
    });
}

#[test]
fn health_begins_when_the_last_child_is_ready() {
    let backoff = Backoff::new(ms(100), secs(10)).reset_after(secs(5));
    let policy = Supervision::one_for_all().backoff(backoff);
    together(policy, async |troupe| {
        let comes = Gate::new();
        let a = troupe.add("a").await;
        let b = troupe.script("b").start_again_at(&comes);
        troupe.add_script(b).await;
        troupe.log.take();
        expect_wait(&troupe, &a, ms(0)).await;
        pass(secs(10)).await;
        comes.open();
        pass(ms(4_999)).await;
        expect_wait(&troupe, &a, ms(100)).await;
    });
}

#[test]
fn of_a_childs_own_policy_only_the_deciders_count_among_siblings() {
    together(one_for_all(), async |troupe| {
        let own = Supervision::one_for_one()
            .restarts(0, within(secs(1)))
            .on_value::<&'static str>(|_| Directive::Stop)
            .decide_with(|failure, _| (failure.text() == "resume").then_some(Directive::Resume));
        let a = troupe
            .add_as(troupe.script("a"), |spawn| spawn.supervision(own))
            .await;
        troupe.add("b").await;
        troupe.crash(&a).await;
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
        a.crash("resume").tell();
        calm().await;
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
    });
}

#[test]
fn a_policy_with_a_strategy_of_a_childs_own_does_not_make_it_one_of_a_group() {
    in_virtual_time_with(
        |builder| builder,
        async |system| {
            let troupe = Troupe::new(&system);
            let own = |spawn: actors_core::Spawn<_>| spawn.supervision(Supervision::one_for_all());
            let a = troupe.add_as(troupe.script("a"), own).await;
            troupe.add_as(troupe.script("b"), own).await;
            troupe.crash(&a).await;
            troupe.expect_restarts(&[("a", 1), ("b", 0)]);
        },
    );
}
