//! Children that are restarted together, and what arrives meanwhile.

mod common;

use actors_core::prelude::*;
use common::puppet::PuppetRef;
use common::troupe::{Troupe, calm, rest_for_one, together, waiting};
use common::{Gate, beside, pass, turned_out};

/// Where a restart of three children is when an order arrives. The middle one is the one that gets it.
#[derive(Clone, Copy, Debug)]
enum When {
    /// It waits for its turn to go.
    WaitsToGo,
    /// Its hook runs.
    Goes,
    /// All are down.
    Down,
    /// Its factory has run, and `on_start` runs.
    Starts,
    /// An older one starts.
    WaitsToStart,
}

const TIMES: [When; 5] = [
    When::WaitsToGo,
    When::Goes,
    When::Down,
    When::Starts,
    When::WaitsToStart,
];

/// Brings a restart to a moment and holds it there, until the gate is opened.
async fn bring_to(troupe: &Troupe, when: When) -> ([PuppetRef; 3], Gate) {
    let gate = Gate::new();
    let scripts = ["a", "b", "c"].map(|name| {
        let script = troupe.script(name);
        match (when, name) {
            (When::WaitsToGo, "c") | (When::Goes, "b") => script.restart_at(&gate),
            (When::Starts, "b") | (When::WaitsToStart, "a") => script.start_again_at(&gate),
            _ => script,
        }
    });
    let [a, b, c] = scripts;
    let children = [
        troupe.add_script(a).await,
        troupe.add_script(b).await,
        troupe.add_script(c).await,
    ];
    let failed = if matches!(when, When::WaitsToGo) {
        1
    } else {
        0
    };
    troupe.crash(&children[failed]).await;
    if !matches!(when, When::WaitsToGo | When::Goes | When::Down) {
        pass(secs(1)).await;
        gate.reached(1).await;
    }
    troupe.log.take();
    (children, gate)
}

/// Lets a restart go on to its end.
async fn finish(gate: &Gate) {
    gate.open();
    calm().await;
    pass(secs(1)).await;
}

fn with_a_wait() -> Supervision {
    waiting(Supervision::one_for_all(), secs(1))
}

#[test]
fn a_stop_that_arrives_while_children_are_restarted_wins_at_once() {
    for when in TIMES {
        together(with_a_wait(), async move |troupe| {
            let ([_a, b, _c], gate) = bring_to(&troupe, when).await;
            let asked = beside(b.note("late").ask().into_future());
            calm().await;
            let end = b.stop();
            calm().await;
            assert_eq!(asked.await.unwrap(), Err(turned_out()), "{when:?}");
            // A hook or a start that runs goes on until its deadline.
            let at_once = !matches!(when, When::Goes | When::Starts);
            assert_eq!(b.is_stopped(), at_once, "{when:?}");
            finish(&gate).await;
            assert_eq!(end.await, StopReason::Stopped, "{when:?}");
            troupe.expect_restarts(&[("a", 1), ("c", 1)]);
            let hooks = troupe.log.count("b on_stop: stopped");
            let expected = usize::from(matches!(when, When::WaitsToGo | When::Starts));
            assert_eq!(hooks, expected, "{when:?}: {:?}", troupe.log.take());
        });
    }
}

#[test]
fn a_kill_that_arrives_while_children_are_restarted_wins_at_once() {
    for when in TIMES {
        together(with_a_wait(), async move |troupe| {
            let ([_a, b, _c], gate) = bring_to(&troupe, when).await;
            let end = b.kill();
            calm().await;
            assert!(b.is_stopped(), "{when:?}");
            finish(&gate).await;
            assert_eq!(end.await, StopReason::Killed, "{when:?}");
            troupe.expect_restarts(&[("a", 1), ("c", 1)]);
            assert_eq!(troupe.log.count("b started"), 0, "{when:?}");
        });
    }
}

#[test]
fn a_parent_that_is_killed_stopped_or_fails_while_its_children_are_restarted_takes_them_along() {
    for (when, how) in TIMES
        .into_iter()
        .flat_map(|when| (0..4).map(move |how| (when, how)))
    {
        together(with_a_wait(), async move |troupe| {
            let (children, gate) = bring_to(&troupe, when).await;
            match how {
                0 => drop(troupe.parent.kill()),
                1 => drop(troupe.parent.stop()),
                2 => drop(troupe.system.shutdown()),
                _ => troupe.parent.crash("boom").tell(),
            }
            calm().await;
            gate.open();
            calm().await;
            for child in &children {
                assert!(child.is_stopped(), "{when:?}, {how}: {child:?}");
                assert_eq!(
                    child.stopped().await,
                    StopReason::ParentStopped,
                    "{when:?}, {how}"
                );
            }
            troupe.log.take();
            pass(secs(10)).await;
            assert_eq!(troupe.log.take(), [""; 0], "{when:?}, {how}");
            assert_eq!(troupe.parent.is_stopped(), how < 3, "{when:?}, {how}");
            if how == 3 {
                // The new incarnation's children have a restart of their own.
                let [a, _b] = troupe.add_all(["a", "b"]).await;
                troupe.crash(&a).await;
                pass(secs(1)).await;
                troupe.expect_restarts(&[("a", 1), ("b", 1)]);
            }
        });
    }
}

#[test]
fn a_child_spawned_while_the_others_stop_or_wait_is_no_part_of_the_restart() {
    let policy = waiting(Supervision::one_for_all(), secs(1));
    together(policy, async |troupe| {
        let leaves = Gate::new();
        let a = troupe.add("a").await;
        let b = troupe.script("b").restart_at(&leaves);
        troupe.add_script(b).await;
        troupe.crash(&a).await;
        troupe.add("c").await;
        leaves.open();
        calm().await;
        troupe.add("d").await;
        pass(secs(1)).await;
        troupe.expect_restarts(&[("a", 1), ("b", 1), ("c", 0), ("d", 0)]);
    });
}

#[test]
fn a_child_spawned_while_the_others_wait_that_fails_restarts_them_all() {
    let policy = waiting(Supervision::one_for_all(), secs(1));
    together(policy, async |troupe| {
        let a = troupe.add("a").await;
        troupe.crash(&a).await;
        let b = troupe.add("b").await;
        troupe.crash(&b).await;
        for _ in 0..20 {
            pass(ms(100)).await;
        }
        troupe.expect_restarts(&[("a", 1), ("b", 1)]);
    });
}

#[test]
fn the_failed_child_may_be_stopped_before_the_restart_and_the_others_restart_all_the_same() {
    together(rest_for_one(), async |troupe| {
        let leaves = Gate::new();
        let a = troupe.add("a").await;
        let b = troupe.script("b").restart_at(&leaves);
        troupe.add_script(b).await;
        troupe.crash(&a).await;
        assert_eq!(a.stop().await, StopReason::Stopped);
        leaves.open();
        calm().await;
        troupe.expect_restarts(&[("b", 1)]);
    });
}
