//! Attacks on children that are restarted together, and on starts that are awaited.

mod common;

use std::convert::identity;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use actors_core::prelude::*;
use actors_core::{__private, Spawn, StartError};
use common::bomb::Drops;
use common::puppet::{Puppet, Script};
use common::troupe::{calm, one_for_all, rest_for_one, together, waiting};
use common::world::on_two_threads_with;
use common::{Gate, Log, beside, until};
use tokio::sync::oneshot;

#[test]
fn a_child_that_fails_while_its_group_is_stopped_for_good_is_stopped_as_well() {
    let policy = one_for_all().restarts(0, within(secs(60)));
    together(policy, async |troupe| {
        let gate = Gate::new();
        let a = troupe
            .add_as(troupe.script("a").stop_at(&gate), |spawn| spawn)
            .await;
        troupe.crash(&a).await;
        gate.reached(1).await;
        let [late, unharmed] = troupe.add_all(["late", "unharmed"]).await;
        troupe.crash(&late).await;
        assert!(!late.is_stopped());
        gate.open();
        calm().await;
        let reason = late.stopped().await;
        assert!(
            matches!(&reason, StopReason::RestartLimit(last) if last.text() == "boom"),
            "{reason}"
        );
        assert!(unharmed.is_stopped());
    });
}

#[test]
fn a_start_is_awaited_to_its_end_although_those_who_watch_it_take_long() {
    on_two_threads_with(identity, async |system| {
        let never = Script::new("never", &Log::default());
        let never = never.on_start(|_| Box::pin(pending()));
        let mut starting = system.start("never", never.factory());
        let never = system.lookup::<Puppet>("/test/never").unwrap();
        let polls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&polls);
        let starting = beside(poll_fn(move |cx| {
            counted.fetch_add(1, Ordering::SeqCst);
            Pin::new(&mut starting).poll(cx)
        }));
        until(|| polls.load(Ordering::SeqCst) == 1).await;
        let (reached, is_reached) = channel();
        let (go_on, goes_on) = channel::<()>();
        __private::watch_with(never.actor(), move |_| {
            reached.send(()).unwrap();
            let _ = goes_on.recv();
        });
        let ended = never.stop_within(Duration::ZERO);
        is_reached.recv().unwrap();
        // It learns that there will be no start, and not yet why.
        until(|| polls.load(Ordering::SeqCst) == 2).await;
        drop(go_on);
        assert_eq!(ended.await, StopReason::Stopped);
        let error = starting.await.unwrap().unwrap_err();
        assert!(matches!(
            error,
            StartError::Stopped {
                reason: StopReason::Stopped,
                ..
            }
        ));
    });
}

/// Options that keep something counted as long as anything is left of the actor.
fn counted(drops: &Drops) -> impl FnOnce(Spawn<Puppet>) -> Spawn<Puppet> + Send + 'static {
    let kept = drops.counted();
    let policy = Supervision::restart().decide_with(move |_, _| {
        let _ = &kept;
        None
    });
    move |spawn| spawn.supervision(policy)
}

#[test]
fn a_restart_that_waits_ends_with_its_parent_and_keeps_nothing() {
    for wait in [secs(3_000), Duration::MAX] {
        together(waiting(one_for_all(), wait), async |troupe| {
            let drops = Drops::default();
            let a = troupe.add_as(troupe.script("a"), counted(&drops)).await;
            let b = troupe.add_as(troupe.script("b"), counted(&drops)).await;
            troupe.crash(&a).await;
            troupe.crash(&b).await;
            assert_eq!(troupe.log.count("a dropped"), 1);
            troupe.parent.stop().await;
            drop((a, b));
            calm().await;
            assert_eq!(drops.count(), 2);
        });
    }
}

#[test]
fn many_children_that_wait_for_their_turn_cost_their_stopping_parent_no_time() {
    const MANY: usize = 8_000;
    together(rest_for_one(), async |troupe| {
        let began = Instant::now();
        let gate = Gate::new();
        let script = Script::new("older", &Log::default());
        let (give, given) = oneshot::channel();
        let adopt = move |ctx: &mut ActorContext<Puppet>| {
            let older = (0..MANY).map(|_| ctx.spawn_anonymous(script.factory()).unwrap());
            drop(give.send(older.collect::<Vec<_>>()));
        };
        troupe.parent.act(Box::new(adopt)).tell();
        let older = given.await.unwrap();
        // The youngest goes first, and lets none of the others have its turn.
        let youngest = troupe.script("youngest").restart_at(&gate);
        let youngest = troupe.add_as(youngest, |spawn| spawn).await;
        troupe.crash(&youngest).await;
        gate.reached(1).await;
        for older in &older {
            older.crash("boom").tell();
        }
        while troupe.system.counters().failed <= MANY as u64 {
            calm().await;
        }
        let limit = began.elapsed() * 3;
        let began = Instant::now();
        troupe.parent.stop().await;
        calm().await;
        let took = began.elapsed();
        assert!(took < limit, "{took:?}, and not {limit:?} at most");
    });
}

#[test]
fn a_handler_that_was_abandoned_is_counted_once_whatever_it_comes_to() {
    for panics in [false, true] {
        on_two_threads_with(identity, async move |system| {
            let gate = Gate::new();
            let log = Log::default();
            let stuck = Script::new("stuck", &log).spawn(&system);
            let held = gate.clone();
            let hold = move |_: &mut ActorContext<Puppet>| {
                held.block();
                assert!(!panics, "late");
            };
            stuck.act(Box::new(hold)).tell();
            gate.reached(1).await;
            stuck.note("turned out").tell();
            let reason = stuck.stop_within(Duration::ZERO).await;
            assert!(matches!(reason, StopReason::Abandoned { .. }), "{reason}");
            until(|| system.counters().is_balanced()).await;
            assert_eq!(system.counters().failed, 1);
            gate.open();
            until(|| log.count("stuck dropped") == 1).await;
            let expected = u64::from(panics);
            until(|| system.counters().failed == expected).await;
            until(|| system.counters().is_balanced()).await;
        });
    }
}
