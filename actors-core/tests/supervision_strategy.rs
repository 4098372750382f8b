//! Children that are restarted together: who goes, and in which order.

mod common;

use std::time::Duration;

use actors_core::prelude::*;
use common::puppet::Script;
use common::troupe::{calm, coming, going, one_for_all, rest_for_one, round, together, waiting};
use common::world::{in_virtual_time_with, picked};
use common::{Gate, Log, pass};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn whoever_fails_the_children_go_in_reverse_start_order_and_come_in_start_order() {
    for failed in 0..5 {
        together(one_for_all(), async move |troupe| {
            let children = troupe.add_all(NAMES).await;
            troupe.crash(&children[failed]).await;
            assert_eq!(troupe.log.take(), round(&NAMES), "{failed} failed");
            troupe.expect_restarts(&NAMES.map(|name| (name, 1)));
        });
    }
}

#[test]
fn the_failed_child_and_those_spawned_after_it_go_and_come_and_the_older_ones_notice_nothing() {
    for failed in 0..5 {
        together(rest_for_one(), async move |troupe| {
            let children = troupe.add_all(NAMES).await;
            troupe.crash(&children[failed]).await;
            assert_eq!(
                troupe.log.take(),
                round(&NAMES[failed..]),
                "{failed} failed"
            );
            let restarts: Vec<_> = (0..5)
                .map(|child| (NAMES[child], u32::from(child >= failed)))
                .collect();
            troupe.expect_restarts(&restarts);
        });
    }
}

#[test]
fn each_child_ends_before_the_next_one_goes_and_is_ready_before_the_next_one_comes() {
    together(one_for_all(), async |troupe| {
        let (leaves, comes) = (Gate::new(), Gate::new());
        let a = troupe.add("a").await;
        let b = troupe.script("b").start_again_at(&comes);
        troupe.add_script(b).await;
        let c = troupe.script("c").restart_at(&leaves);
        troupe.add_script(c).await;
        troupe.log.take();
        troupe.crash(&a).await;
        assert_eq!(troupe.log.take(), ["c on_restart: boom"]);
        leaves.open();
        calm().await;
        let lines = troupe.log.take();
        assert_eq!(
            lines,
            [
                "c on_restart done",
                "c dropped",
                "b on_restart: boom",
                "b dropped",
                "a on_restart: boom",
                "a dropped",
                "a made",
                "a started",
                "b made",
            ]
        );
        comes.open();
        calm().await;
        assert_eq!(troupe.log.take(), ["b started", "c made", "c started"]);
    });
}

#[test]
fn a_child_that_ended_normally_stays_down_when_its_sibling_fails() {
    together(one_for_all(), async |troupe| {
        let [a, b] = troupe.add_all(["a", "b"]).await;
        a.act(Box::new(|ctx| ctx.stop())).tell();
        assert_eq!(a.stopped().await, StopReason::Stopped);
        troupe.crash(&b).await;
        troupe.expect_restarts(&[("b", 1)]);
        assert_eq!(troupe.log.count("a made"), 0);
    });
}

#[test]
fn a_temporary_sibling_and_one_that_was_given_once_stop_and_stay_down() {
    together(one_for_all(), async |troupe| {
        let a = troupe.add("a").await;
        let b = troupe.add_typed("b", RestartType::Temporary).await;
        let state = troupe.script("c").factory()();
        let spawn_once = |ctx: &mut ActorContext<_>| {
            ctx.spawn_once("c", state).unwrap();
        };
        troupe.parent.act(Box::new(spawn_once)).tell();
        let d = troupe.add("d").await;
        troupe.log.take();
        troupe.crash(&d).await;
        assert_eq!(b.stopped().await, StopReason::SiblingFailed);
        let stops = |name| {
            [
                format!("{name} on_stop: sibling failed"),
                format!("{name} dropped"),
            ]
        };
        let expected = [
            going("d"),
            stops("c"),
            stops("b"),
            going("a"),
            coming("a"),
            coming("d"),
        ];
        assert_eq!(troupe.log.take(), expected.concat());
        troupe.expect_restarts(&[("a", 1), ("d", 1)]);
        assert!(!a.is_stopped());
    });
}

#[test]
fn a_temporary_child_that_fails_stops_alone() {
    for policy in [one_for_all(), rest_for_one()] {
        together(policy, async |troupe| {
            let a = troupe.add_typed("a", RestartType::Temporary).await;
            troupe.add_all(["b", "c"]).await;
            troupe.crash(&a).await;
            assert!(matches!(a.stopped().await, StopReason::Failed(_)));
            assert_eq!(
                troupe.log.take(),
                ["a on_stop: handler `Crash` panicked: boom", "a dropped"]
            );
            troupe.expect_restarts(&[("b", 0), ("c", 0)]);
        });
    }
}

#[test]
fn siblings_keep_what_is_queued_for_them_in_order() {
    together(one_for_all(), async |troupe| {
        let children = troupe.add_all(["a", "b", "c"]).await;
        let gate = Gate::new();
        for child in &children {
            child.hold(gate.clone()).tell();
        }
        gate.reached(3).await;
        for number in 0..100 {
            if number == 50 {
                children[1].crash("boom").tell();
            }
            for child in &children {
                child.number(number).tell();
            }
        }
        gate.open();
        calm().await;
        for name in ["a", "b", "c"] {
            let of = format!("{name} number ");
            let lines: Vec<_> = troupe.log.peek();
            let numbers: Vec<u32> = lines
                .iter()
                .filter_map(|line| line.strip_prefix(&of)?.parse().ok())
                .collect();
            assert_eq!(numbers, (0..100).collect::<Vec<_>>(), "{name}");
        }
        troupe.expect_restarts(&[("a", 1), ("b", 1), ("c", 1)]);
    });
}

#[test]
fn what_a_child_is_told_while_it_is_down_is_handled_when_it_is_back() {
    let policy = waiting(Supervision::one_for_all(), secs(1));
    together(policy, async |troupe| {
        let [a, b] = troupe.add_all(["a", "b"]).await;
        troupe.crash(&a).await;
        troupe.log.take();
        let asked = common::beside(b.note("asked").ask().into_future());
        a.note("one").tell();
        a.note("two").tell();
        pass(ms(999)).await;
        assert_eq!(troupe.log.take(), [""; 0]);
        pass(ms(1)).await;
        let mut lines = troupe.log.take();
        lines.sort();
        let mut expected = [coming("a"), coming("b")].concat();
        expected.extend(["a one", "a two", "b asked"].map(str::to_owned));
        expected.sort();
        assert_eq!(lines, expected);
        assert_eq!(asked.await.unwrap(), Ok(1));
    });
}

#[test]
fn a_child_whose_hook_hangs_is_cut_at_its_stop_timeout_and_the_others_go_on() {
    together(one_for_all(), async |troupe| {
        let a = troupe.add("a").await;
        let hangs = troupe.script("b").restart_at(&Gate::new());
        troupe
            .add_as(hangs, |spawn| spawn.stop_timeout(secs(2)))
            .await;
        troupe.add("c").await;
        troupe.log.take();
        troupe.crash(&a).await;
        pass(ms(1_999)).await;
        let lines = troupe.log.take();
        assert_eq!(
            lines,
            ["c on_restart: boom", "c dropped", "b on_restart: boom"]
        );
        pass(ms(1)).await;
        let mut expected = vec!["b dropped".to_owned()];
        expected.extend([going("a"), coming("a"), coming("b"), coming("c")].concat());
        assert_eq!(troupe.log.take(), expected);
    });
}

#[test]
fn the_top_level_actors_of_a_system_are_restarted_together_as_well() {
    in_virtual_time_with(
        |builder| builder.supervision(one_for_all()),
        async |system| {
            let log = Log::default();
            let puppets = ["a", "b", "c"].map(|name| Script::new(name, &log).spawn(&system));
            calm().await;
            log.take();
            puppets[1].crash("boom").tell();
            calm().await;
            assert_eq!(log.take(), round(&["a", "b", "c"]));
            assert!(system.tree().nodes().iter().all(|node| node.restarts == 1));
        },
    );
}

struct Mourner {
    log: Log,
}

#[actor]
impl Mourner {
    #[on_restart]
    fn goes(&mut self, cause: &Failure) {
        let origin = cause.origin();
        self.log.add(format_args!("{origin}: {}", cause.text()));
    }
}

#[test]
fn a_child_hears_which_sibling_failed_and_where() {
    together(one_for_all(), async |troupe| {
        let log = troupe.log.clone();
        let spawn = move |ctx: &mut ActorContext<_>| {
            let factory = move || Mourner { log: log.clone() };
            ctx.spawn("mourner", factory).unwrap();
        };
        troupe.parent.act(Box::new(spawn)).tell();
        let b = troupe.add("b").await;
        troupe.log.take();
        let mut events = troupe.system.events();
        troupe.crash(&b).await;
        let heard = &troupe.log.take()[2];
        assert_eq!(heard, "handler `Crash` of /test/parent/b: boom");
        let failed = picked(&mut events, |event| match event {
            LifecycleEvent::Failed { actor, .. } => Some(actor.name().to_owned()),
            _ => None,
        });
        assert_eq!(failed, ["b"], "its siblings have not failed");
    });
}

#[test]
fn a_group_of_many_is_restarted_in_a_moment() {
    together(one_for_all(), async |troupe| {
        let names: Vec<_> = (0..500).map(|n| format!("child{n}")).collect();
        let log = troupe.log.clone();
        let spawn = move |ctx: &mut ActorContext<_>| {
            for name in &names {
                ctx.spawn(name, Script::new("child", &log).factory())
                    .unwrap();
            }
        };
        troupe.parent.act(Box::new(spawn)).tell();
        let last = troupe.add("last").await;
        let before = tokio::time::Instant::now();
        last.crash("boom").tell();
        last.note("back").await.unwrap();
        assert_eq!(before.elapsed(), Duration::ZERO);
        assert_eq!(troupe.log.count("child started"), 1_000);
    });
}
