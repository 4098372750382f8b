//! What an actor does to itself: it stops, it asks for a fresh state, it fails; and what its restart type makes of it.

mod common;

use actors_core::prelude::*;
use common::puppet::{Puppet, PuppetRef, Script};
use common::troupe::{Troupe, calm, coming, one_for_all, together, waiting};
use common::world::picked;
use common::{Gate, pass, restart_limit};

/// What an actor does to itself.
type Act = fn(&mut ActorContext<Puppet>);

/// What a permanent actor fails with that stops itself.
const ENDED: &str = "it stopped itself, and is permanent";

/// What hooks are told of an actor that asked for a restart.
const ASKED: &str = "it asked to be restarted";

fn one_for_one() -> Supervision {
    Supervision::one_for_one().backoff(Backoff::none())
}

/// Lets an actor do something to itself, and everything happen that comes of it without the clock.
async fn itself(puppet: &PuppetRef, act: Act) {
    puppet.act(Box::new(act)).tell();
    calm().await;
}

async fn stops_itself(puppet: &PuppetRef) {
    itself(puppet, |ctx| ctx.stop()).await;
}

async fn restarts_itself(puppet: &PuppetRef) {
    itself(puppet, |ctx| ctx.restart()).await;
}

/// The lines of an incarnation that makes room for another.
fn replaced(name: &str, why: &str) -> Vec<String> {
    let goes = [
        format!("{name} on_restart: {why}"),
        format!("{name} dropped"),
    ];
    goes.into_iter().chain(coming(name)).collect()
}

/// Adds a child whose `on_start` does something to itself, as long as it has been restarted less often than so.
async fn add_restless(troupe: &Troupe, kind: RestartType, less_than: u32, act: Act) -> PuppetRef {
    let script = troupe.script("a").on_start(move |ctx| {
        if ctx.restarts() < less_than {
            act(ctx);
        }
        Box::pin(async { Ok(()) })
    });
    troupe
        .add_as(script, move |spawn| spawn.restart_type(kind))
        .await
}

#[test]
fn an_actor_that_stops_itself_is_stopped_unless_it_is_permanent() {
    for kind in [RestartType::Transient, RestartType::Temporary] {
        together(one_for_one(), async move |troupe| {
            let a = troupe.add_typed("a", kind).await;
            stops_itself(&a).await;
            assert_eq!(a.stopped().await, StopReason::Stopped, "{kind}");
            let expected = ["a made", "a started", "a on_stop: stopped", "a dropped"];
            assert_eq!(troupe.log.take(), expected, "{kind}");
        });
    }
    together(one_for_one(), async |troupe| {
        let a = troupe.add_typed("a", RestartType::Permanent).await;
        troupe.log.take();
        let mut events = troupe.system.events();
        stops_itself(&a).await;
        assert_eq!(troupe.log.take(), replaced("a", ENDED));
        troupe.expect_restarts(&[("a", 1)]);
        let failed = picked(&mut events, |event| match event {
            LifecycleEvent::Failed {
                failure, directive, ..
            } => Some((failure.text().to_owned(), directive)),
            _ => None,
        });
        assert_eq!(failed, [(ENDED.to_owned(), Directive::Restart)]);
    });
}

#[test]
fn the_type_is_transient_unless_it_is_set() {
    assert_eq!(RestartType::default(), RestartType::Transient);
    together(one_for_one(), async |troupe| {
        let a = troupe.add("a").await;
        troupe.crash(&a).await;
        troupe.expect_restarts(&[("a", 1)]);
        stops_itself(&a).await;
        assert_eq!(a.stopped().await, StopReason::Stopped);
    });
}

#[test]
fn an_order_to_end_is_final_for_every_type() {
    let kinds = [
        RestartType::Permanent,
        RestartType::Transient,
        RestartType::Temporary,
    ];
    for kind in kinds {
        together(one_for_all(), async move |troupe| {
            let mut children = Vec::new();
            for name in ["a", "b", "c"] {
                children.push(troupe.add_typed(name, kind).await);
            }
            assert_eq!(children[0].stop().await, StopReason::Stopped, "{kind}");
            assert_eq!(children[1].drain().await, StopReason::Drained, "{kind}");
            assert_eq!(children[2].kill().await, StopReason::Killed, "{kind}");
            calm().await;
            troupe.expect_restarts(&[]);
        });
    }
}

#[test]
fn a_permanent_actor_that_keeps_stopping_itself_spends_its_budget_and_waits_between() {
    let policy = waiting(one_for_one().restarts(2, within(secs(60))), secs(1));
    together(policy, async |troupe| {
        let a = troupe.add_typed("a", RestartType::Permanent).await;
        for nth in 1..=2 {
            stops_itself(&a).await;
            a.note("kept").tell();
            pass(ms(999)).await;
            troupe.expect_restarts(&[("a", nth - 1)]);
            pass(ms(1)).await;
            troupe.expect_restarts(&[("a", nth)]);
        }
        assert_eq!(troupe.log.count("a kept"), 2);
        stops_itself(&a).await;
        assert_eq!(restart_limit(&a).await, ENDED);
    });
}

#[test]
fn a_permanent_actor_that_stops_itself_restarts_its_siblings_as_well() {
    together(
        one_for_all().restarts(1, within(secs(60))),
        async |troupe| {
            let a = troupe.add_typed("a", RestartType::Permanent).await;
            let b = troupe.add("b").await;
            stops_itself(&a).await;
            troupe.expect_restarts(&[("a", 1), ("b", 1)]);
            stops_itself(&a).await;
            assert!(matches!(b.stopped().await, StopReason::RestartLimit(_)));
        },
    );
}

#[test]
fn a_permanent_actor_that_stops_itself_in_on_start_has_failed_to_start() {
    together(
        one_for_one().restarts(3, within(secs(60))),
        async |troupe| {
            add_restless(&troupe, RestartType::Permanent, 3, |ctx| ctx.stop()).await;
            troupe.expect_restarts(&[("a", 3)]);
            assert_eq!(troupe.log.count(&format!("a on_restart: {ENDED}")), 0);
        },
    );
    together(
        one_for_one().restarts(2, within(secs(60))),
        async |troupe| {
            let a = add_restless(&troupe, RestartType::Permanent, 3, |ctx| ctx.stop()).await;
            assert_eq!(restart_limit(&a).await, ENDED);
        },
    );
}

#[test]
fn an_actor_that_asks_for_a_restart_gets_a_fresh_state_and_keeps_its_mailbox() {
    together(one_for_one(), async |troupe| {
        let a = troupe.add("a").await;
        assert_eq!(a.note("one").await, Ok(1));
        assert_eq!(a.note("two").await, Ok(2));
        troupe.log.take();
        let gate = Gate::new();
        a.hold(gate.clone()).tell();
        a.act(Box::new(|ctx| ctx.restart())).tell();
        a.note("three").tell();
        a.note("four").tell();
        gate.open();
        calm().await;
        let mut expected = vec!["a passed the gate".to_owned(), "a left the gate".to_owned()];
        expected.extend(replaced("a", ASKED));
        expected.extend(["a three", "a four"].map(str::to_owned));
        assert_eq!(troupe.log.take(), expected);
        assert_eq!(a.note("five").await, Ok(3));
    });
}

#[test]
fn a_restart_that_was_asked_for_neither_counts_nor_waits_nor_touches_siblings() {
    for strategy in [
        Supervision::one_for_one(),
        Supervision::one_for_all(),
        Supervision::rest_for_one(),
    ] {
        let policy = strategy
            .restarts(1, within(secs(60)))
            .backoff(Backoff::fixed(secs(10)));
        together(policy, async |troupe| {
            let [a, b] = troupe.add_all(["a", "b"]).await;
            let mut events = troupe.system.events();
            for _ in 0..5 {
                restarts_itself(&a).await;
            }
            troupe.expect_restarts(&[("a", 5), ("b", 0)]);
            let failed = picked(&mut events, |event| match event {
                LifecycleEvent::Failed { actor, .. } => Some(actor),
                _ => None,
            });
            assert!(failed.is_empty(), "it is no failure");
            troupe.crash(&a).await;
            pass(secs(10)).await;
            assert!(!a.is_stopped() && !b.is_stopped(), "one is left");
            troupe.crash(&a).await;
            assert!(a.is_stopped());
        });
    }
}

#[test]
fn an_actor_may_ask_for_a_thousand_restarts_in_a_row() {
    together(one_for_one(), async |troupe| {
        let a = troupe.add_typed("a", RestartType::Permanent).await;
        for number in 0..1_000 {
            a.act(Box::new(|ctx| ctx.restart())).tell();
            a.number(number).tell();
        }
        assert_eq!(a.note("done").await, Ok(1));
        troupe.expect_restarts(&[("a", 1_000)]);
        let lines = troupe.log.take();
        let numbers: Vec<u32> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("a number ")?.parse().ok())
            .collect();
        assert_eq!(numbers, (0..1_000).collect::<Vec<_>>());
        let count = |line: &str| lines.iter().filter(|other| *other == line).count();
        assert_eq!(count(&format!("a on_restart: {ASKED}")), 1_000);
        assert_eq!(count("a started"), 1_001);
    });
}

#[test]
fn an_actor_that_asks_for_a_restart_in_on_start_has_failed_to_start() {
    together(
        one_for_one().restarts(2, within(secs(60))),
        async |troupe| {
            add_restless(&troupe, RestartType::Transient, 2, |ctx| ctx.restart()).await;
            troupe.expect_restarts(&[("a", 2)]);
            assert_eq!(
                troupe.log.count("a started"),
                3,
                "it logs before it is judged"
            );
            assert_eq!(troupe.log.count(&format!("a on_restart: {ASKED}")), 0);
        },
    );
    together(
        one_for_one().restarts(1, within(secs(60))),
        async |troupe| {
            let a = add_restless(&troupe, RestartType::Transient, 2, |ctx| ctx.restart()).await;
            assert_eq!(restart_limit(&a).await, ASKED);
        },
    );
}

#[test]
fn a_temporary_actor_that_asks_for_a_restart_stops() {
    together(one_for_one(), async |troupe| {
        let a = troupe.add_typed("a", RestartType::Temporary).await;
        troupe.log.take();
        restarts_itself(&a).await;
        assert_eq!(a.stopped().await, StopReason::Stopped);
        assert_eq!(troupe.log.take(), ["a on_stop: stopped", "a dropped"]);
    });
}

#[test]
fn a_restart_asked_for_in_a_hook_of_the_end_is_nothing() {
    together(one_for_one(), async |troupe| {
        let script = troupe
            .script("a")
            .on_restart(|ctx| {
                ctx.restart();
                Box::pin(async {})
            })
            .on_stop(|ctx| {
                ctx.restart();
                Box::pin(async {})
            });
        let a = troupe.add_script(script).await;
        restarts_itself(&a).await;
        troupe.expect_restarts(&[("a", 1)]);
        assert_eq!(a.stop().await, StopReason::Stopped);
    });
}

#[test]
fn of_what_an_actor_says_of_itself_a_stop_wins_and_otherwise_the_first_word() {
    let table: [(Act, Option<&str>); 4] = [
        (
            |ctx| {
                ctx.restart();
                ctx.stop();
            },
            None,
        ),
        (
            |ctx| {
                ctx.stop();
                ctx.restart();
            },
            None,
        ),
        (
            |ctx| {
                ctx.restart();
                ctx.fail("failed");
            },
            Some(ASKED),
        ),
        (
            |ctx| {
                ctx.fail("failed");
                ctx.restart();
            },
            Some("failed"),
        ),
    ];
    for (row, (act, cause)) in table.into_iter().enumerate() {
        together(one_for_one(), async move |troupe| {
            let a = troupe.add("a").await;
            troupe.log.take();
            itself(&a, act).await;
            let expected = match cause {
                None => ["a on_stop: stopped", "a dropped"]
                    .map(str::to_owned)
                    .to_vec(),
                Some(cause) => replaced("a", cause),
            };
            assert_eq!(troupe.log.take(), expected, "row {row}");
        });
    }
}

#[test]
fn an_actor_that_panics_after_it_asked_for_a_restart_has_failed_once() {
    together(
        one_for_one().restarts(1, within(secs(60))),
        async |troupe| {
            let a = troupe.add("a").await;
            troupe.log.take();
            itself(&a, |ctx| {
                ctx.restart();
                panic!("boom");
            })
            .await;
            assert_eq!(troupe.log.take(), replaced("a", "boom"));
            troupe.expect_restarts(&[("a", 1)]);
        },
    );
}

#[test]
fn an_actor_that_asks_for_a_restart_while_it_drains_drains_on() {
    together(one_for_one(), async |troupe| {
        let a = troupe.add("a").await;
        let gate = Gate::new();
        a.hold(gate.clone()).tell();
        a.act(Box::new(|ctx| ctx.restart())).tell();
        a.note("last").tell();
        gate.reached(1).await;
        let drained = a.drain();
        troupe.log.take();
        gate.open();
        assert_eq!(drained.await, StopReason::Drained);
        let mut expected = vec!["a passed the gate".to_owned(), "a left the gate".to_owned()];
        expected.extend(replaced("a", ASKED));
        let end = ["a last", "a on_stop: drained", "a dropped"];
        expected.extend(end.map(str::to_owned));
        assert_eq!(troupe.log.take(), expected);
    });
}

#[test]
fn a_restart_that_was_asked_for_takes_its_children_along_and_their_names_are_free() {
    together(one_for_all(), async |troupe| {
        let child = Script::new("child", &troupe.log);
        let a = troupe.script("a").children([child]);
        let a = troupe.add_script(a).await;
        troupe.log.take();
        for _ in 0..10 {
            restarts_itself(&a).await;
        }
        assert_eq!(troupe.log.count("child on_stop: parent stopped"), 10);
        assert_eq!(troupe.log.count("child started"), 10);
        let children = troupe.system.tree();
        let children = children.nodes().iter().filter(|node| node.depth == 3);
        assert_eq!(children.count(), 1);
    });
}
