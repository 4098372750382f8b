//! Parents and children: neither waits for the other for ever, and what ends with its parent is not restarted.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actors_core::prelude::*;
use actors_core::{Ended, LifecycleEvent};
use actors_testkit::TestKit;
use common::puppet::{Puppet, PuppetRef, Script, spawn_under};
use common::{Gate, Log, beside, threads, turned_out};
use tokio::task::yield_now;

/// A child that waits for its parent, at a place of its life.
struct Needy {
    parent: PuppetRef,
    at: &'static str,
    log: Log,
}

impl Needy {
    /// Asks the parent, and asks it with patience for room, and sends with patience for room; notes that it goes on, and
    /// whether all asks failed.
    async fn need(&self) {
        let ask = || self.parent.note("asked").ask().timeout(Duration::MAX);
        let (asked, patient, sent) = tokio::join!(
            ask(),
            ask().wait_for_room(),
            self.parent.note("sent").enqueue()
        );
        drop(sent);
        let failed = asked.is_err() && patient == Err(turned_out());
        self.log
            .add(format_args!("{} goes on, failed: {failed}", self.at));
    }
}

#[actor]
impl Needy {
    #[on_stop]
    async fn end(&mut self) {
        if self.at == "on_stop" {
            self.need().await;
        }
    }

    #[handler]
    async fn work(&mut self) {
        if self.at == "handler" {
            self.need().await;
        }
    }
}

/// A child needs its parent, at a place of its life, while the parent is held in a handler and is ordered to end.
async fn needs_its_parent(
    kit: &TestKit,
    (at, how): (&'static str, &'static str),
    mailbox: Mailbox,
) {
    kit.allow_dead_letters();
    let (log, gate) = (Log::default(), Gate::new());
    let parent = Script::new("p", &log);
    let parent = kit.actor(parent.factory()).mailbox(mailbox);
    let parent = parent.spawn().expect("its name is free");
    let (to, seen) = (parent.clone(), log.clone());
    let factory = move || Needy {
        parent: to.clone(),
        at,
        log: seen.clone(),
    };
    let child = spawn_under(&parent, "c", factory).await;
    // Where there is room for one only, this is it.
    parent.hold(gate.clone()).tell();
    gate.reached(1).await;
    parent.number(1).tell();
    let working = beside(child.work().ask().timeout(Duration::MAX));
    kit.settle().await;
    assert_eq!(working.is_finished(), at == "on_stop");
    let before = kit.elapsed();
    let end = match how {
        "stop" => parent.stop(),
        _ => parent.drain(),
    };
    kit.settle().await;
    if how == "stop" {
        // The child goes on although the handler of its parent does not.
        assert!(working.is_finished());
        assert_eq!(
            log.count("handler goes on, failed: true"),
            usize::from(at == "handler")
        );
    }
    gate.open();
    end.await;
    assert_eq!(kit.elapsed(), before);
    assert_eq!(child.stopped().await, StopReason::ParentStopped);
    assert!(working.await.expect("it ends").is_ok());
    let went_on =
        ["true", "false"].map(|failed| log.count(&format!("{at} goes on, failed: {failed}")));
    assert_eq!(went_on.iter().sum::<usize>(), 1);
}

#[test]
fn a_child_that_asks_its_stopping_parent_or_waits_for_room_there_does_not_hang_the_stop() {
    for how in ["stop", "drain"] {
        for at in ["handler", "on_stop"] {
            for mailbox in [Mailbox::unbounded(), Mailbox::bounded(1)] {
                TestKit::run("needy", async move |kit| {
                    needs_its_parent(&kit, (at, how), mailbox).await;
                });
            }
        }
    }
}

/// Counts those who are alive.
struct Shift(Arc<AtomicUsize>);

impl Shift {
    /// Makes states, each only when no other is alive.
    fn make(alive: &Arc<AtomicUsize>) -> impl Fn() -> Self + Send + Sync + 'static {
        let alive = Arc::clone(alive);
        move || {
            assert_eq!(alive.fetch_add(1, Ordering::SeqCst), 0, "two at once");
            Self(Arc::clone(&alive))
        }
    }
}

impl Drop for Shift {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[actor]
impl Shift {
    #[on_start]
    async fn start(&mut self) {
        yield_now().await;
        assert_eq!(self.0.load(Ordering::SeqCst), 1);
    }

    #[on_restart]
    async fn replaced(&mut self) {
        self.end().await;
    }

    #[on_stop]
    async fn end(&mut self) {
        for _ in 0..3 {
            yield_now().await;
            assert_eq!(self.0.load(Ordering::SeqCst), 1);
        }
    }

    #[handler]
    fn crash(&mut self) {
        panic!("boom");
    }
}

#[test]
fn the_start_of_the_next_incarnation_never_overlaps_the_stop_of_the_one_before() {
    threads(2, async {
        let system = common::system();
        let mut events = system.events_with_capacity(usize::MAX);
        let alive = Arc::new(AtomicUsize::new(0));
        let policy = Supervision::restart()
            .restarts(u32::MAX, within(secs(60)))
            .backoff(Backoff::none());
        let spawn = || {
            let spawn = system.actor(Shift::make(&alive)).name("a");
            spawn.supervision(policy.clone()).spawn()
        };
        for _ in 0..50 {
            let shift = spawn().unwrap();
            let tellers: Vec<_> = (0..2)
                .map(|_| {
                    let shift = shift.clone();
                    beside(async move {
                        for _ in 0..4 {
                            shift.crash().tell();
                            yield_now().await;
                        }
                    })
                })
                .collect();
            for teller in tellers {
                teller.await.unwrap();
            }
            // Whoever takes the name as soon as it is free does not overlap either.
            let end = shift.drain();
            while spawn().map(drop).is_err() {
                yield_now().await;
            }
            end.await;
            system.lookup::<Shift>("a").unwrap().drain().await;
        }
        system.shutdown().await;
        let mut restarts = 0;
        while let Some(event) = events.next().await {
            match event {
                LifecycleEvent::Restarted { .. } => restarts += 1,
                LifecycleEvent::Failed { failure, .. } => assert_eq!(failure.text(), "boom"),
                LifecycleEvent::HookFailed { failure, .. } => panic!("{failure}"),
                _ => {}
            }
        }
        assert_eq!((restarts, alive.load(Ordering::SeqCst)), (400, 0));
    });
}

#[actors_testkit::test]
async fn ten_restarts_of_a_parent_that_spawns_a_child_in_its_start_always_succeed(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let grandchild = Script::new("g", &log);
    let parent = Script::new("p", &log).children([Script::new("a", &log).children([grandchild])]);
    let policy = Supervision::restart().restarts(10, within(secs(60)));
    let parent = parent.supervised(&kit, policy);
    let mut before = Vec::new();
    for restarts in 0..=10 {
        if restarts > 0 {
            parent.crash("boom").tell();
            kit.advance(secs(2)).await;
        }
        assert_eq!(parent.note("x").await, Ok(1));
        let tree = kit.tree();
        let names: Vec<_> = tree.nodes().iter().map(|node| node.path.name()).collect();
        assert_eq!(names, ["p", "a", "g"]);
        assert_eq!(tree.nodes()[0].restarts, restarts);
        let path = tree.nodes()[1].path.to_string();
        let child = kit.lookup::<Puppet>(&path).unwrap();
        assert_eq!(child.note("x").await, Ok(1));
        let (made, dropped) = (log.count("a made"), log.count("a dropped"));
        assert_eq!((made, dropped), (restarts as usize + 1, restarts as usize));
        assert!(!before.contains(&child));
        before.push(child);
    }
}

#[test]
fn a_child_that_is_stopped_while_its_back_off_is_pending_is_not_restarted() {
    let orders: [fn(&ActorRef<Puppet>) -> Ended; 2] = [ActorRef::stop, ActorRef::kill];
    for order in orders {
        for by_parent in [false, true] {
            TestKit::run("back off", async |kit| {
                kit.allow_failures();
                let log = Log::default();
                let parent = Script::new("p", &log).spawn(&kit);
                let policy = Supervision::restart().backoff(Backoff::fixed(secs(1)));
                let child = Script::new("c", &log);
                let child = parent.adopt_with(child, policy).await.unwrap();
                child.crash("boom").tell();
                kit.advance(ms(999)).await;
                if by_parent {
                    order(&parent).await;
                    assert_eq!(child.stopped().await, StopReason::ParentStopped);
                } else {
                    assert!(!order(&child).await.is_failure());
                }
                assert_eq!(kit.elapsed(), ms(999));
                kit.advance(secs(600)).await;
                let made = (log.count("c made"), log.count("c dropped"));
                assert_eq!(made, (1, 1));
                assert_eq!(kit.tree().nodes().len(), usize::from(!by_parent));
                if !by_parent {
                    assert_eq!(parent.note("x").await, Ok(1));
                    assert!(parent.adopt(Script::new("c", &log)).await.is_ok());
                }
            });
        }
    }
}

/// A way to end an actor.
type End = fn(&PuppetRef);

#[test]
fn a_parent_that_ends_is_no_failure_of_its_children_and_none_is_restarted() {
    let ends: [(&str, End); 5] = [
        ("stop", |parent| drop(parent.stop())),
        ("drain", |parent| drop(parent.drain())),
        ("kill", |parent| drop(parent.kill())),
        ("fail", |parent| parent.crash("boom").tell()),
        ("ctx.stop", |parent| {
            parent.act(Box::new(ActorContext::stop)).tell();
        }),
    ];
    for (how, end) in ends {
        TestKit::run("ends", async move |kit| {
            kit.allow_failures();
            let (log, gate) = (Log::default(), Gate::new());
            let mut events = kit.events();
            let children = ["c", "d"].map(|name| Script::new(name, &log));
            let parent = Script::new("p", &log).children(children);
            let parent = parent.supervised(&kit, Supervision::stop());
            kit.settle().await;
            let busy = kit.lookup::<Puppet>("/ends/p/d").unwrap();
            busy.hold(gate.clone()).tell();
            gate.reached(1).await;
            end(&parent);
            // What still runs ends in its own time, or is cut.
            kit.settle().await;
            gate.open();
            parent.stopped().await;
            kit.advance(secs(600)).await;
            for name in ["p", "c", "d"] {
                let lived = ["made", "started", "dropped"];
                let lived = lived.map(|what| log.count(&format!("{name} {what}")));
                assert_eq!(lived, [1, 1, 1], "{how}: {name}");
            }
            assert_eq!(busy.stopped().await, StopReason::ParentStopped);
            let wrong: Vec<_> = std::iter::from_fn(|| events.try_next())
                .filter(|event| match event {
                    LifecycleEvent::Started { .. } | LifecycleEvent::Stopped { .. } => false,
                    LifecycleEvent::Failed { actor, .. } => actor.name() != "p",
                    _ => true,
                })
                .collect();
            assert!(wrong.is_empty(), "{how}: {wrong:?}");
        });
    }
}
