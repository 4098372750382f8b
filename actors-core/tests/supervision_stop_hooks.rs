//! Stop hooks that fail, hooks that never end, and those who wait for the end of an actor.

mod common;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actors_core::prelude::*;
use actors_core::{ActorState, SpawnError};
use actors_testkit::TestKit;
use common::bomb::{Counted, Drops};
use common::puppet::{Oops, Puppet, PuppetRef, Script, spawn_under};
use common::{Gate, Log, beside, threads};
use tokio::task::yield_now;

/// Has a stop hook that does not end well.
struct Sour {
    how: &'static str,
    _counted: Counted,
}

#[actor]
impl Sour {
    #[on_stop]
    async fn end(&mut self) -> Result<(), Oops> {
        match self.how {
            "fails" => return Err(Oops("no end")),
            "panics" => panic!("no end"),
            "waits for ever" => pending().await,
            _ => yield_now().await,
        }
        match self.how {
            "fails later" => Err(Oops("no end")),
            _ => panic!("no end"),
        }
    }

    #[handler]
    fn rest(&mut self) {}
}

/// Has one that does not wait.
struct Curt {
    how: &'static str,
    _counted: Counted,
}

#[actor]
impl Curt {
    #[on_stop]
    fn end(&mut self) -> Result<(), Oops> {
        match self.how {
            "fails" => Err(Oops("no end")),
            _ => panic!("no end"),
        }
    }

    #[handler]
    fn rest(&mut self) {}
}

/// Stops a child, and looks whether everybody is told and its name is free.
async fn stops<A: Actor>(
    kit: &TestKit,
    make: impl Fn(Counted) -> A + Clone + Send + Sync + 'static,
    time: Duration,
) {
    kit.allow_failures();
    let (log, drops) = (Log::default(), Drops::default());
    let parent = Script::new("p", &log).spawn(kit);
    let made = drops.clone();
    let factory = move || make(made.counted());
    let child = spawn_under(&parent, "c", factory.clone()).await;
    let child = child.actor().clone();
    kit.settle().await;
    let mut watcher = kit.probe::<()>();
    watcher.watch(&child);
    let watched = child.clone();
    let watch = move |ctx: &mut ActorContext<Puppet>| ctx.watch(&watched);
    parent.act(Box::new(watch)).await.expect("it lives");
    let waiting = beside(child.stopped());
    let before = kit.elapsed();
    assert_eq!(child.stop().await, StopReason::Stopped);
    assert_eq!(kit.elapsed() - before, time);
    assert_eq!(drops.count(), 1);
    assert_eq!(waiting.await.expect("it ends"), StopReason::Stopped);
    assert_eq!(watcher.expect_terminated(&child).await, StopReason::Stopped);
    kit.settle().await;
    assert_eq!(log.count("p saw c end: stopped"), 1);
    let noted = log.clone();
    let count = move |ctx: &mut ActorContext<Puppet>| {
        noted.add(format_args!("{} children", ctx.children().len()));
    };
    parent.act(Box::new(count)).await.expect("it lives");
    assert_eq!(log.count("0 children"), 1);
    let again = spawn_under(&parent, "c", factory).await;
    assert_ne!(*again.actor(), child);
}

#[test]
fn a_stop_hook_that_fails_or_panics_ends_with_everybody_told_and_the_name_free() {
    let table = [
        ("fails", ms(0)),
        ("fails later", ms(0)),
        ("panics", ms(0)),
        ("panics later", ms(0)),
        ("waits for ever", secs(5)),
    ];
    for (how, time) in table {
        TestKit::run("sour", async move |kit| {
            let make = move |_counted| Sour { how, _counted };
            stops(&kit, make, time).await;
        });
    }
    for how in ["fails", "panics"] {
        TestKit::run("curt", async move |kit| {
            let make = move |_counted| Curt { how, _counted };
            stops(&kit, make, ms(0)).await;
        });
    }
}

#[actors_testkit::test]
async fn those_who_wait_wake_after_the_stop_hook_and_never_before(kit: TestKit) {
    let (log, gate) = (Log::default(), Gate::new());
    let puppet = Script::new("a", &log).stop_at(&gate).spawn(&kit);
    puppet.note("lives").await.unwrap();
    let mut watcher = kit.probe::<()>();
    watcher.watch(&puppet);
    let waiting = [
        beside(puppet.stopped()),
        beside(puppet.stop_within(secs(60))),
    ];
    gate.reached(1).await;
    watcher.expect_nothing_for(secs(59)).await;
    assert!(waiting.iter().all(|wait| !wait.is_finished()));
    assert_eq!(puppet.actor_state(), ActorState::Stopping);
    let taken = kit.spawn("a", Script::new("a", &log).factory());
    assert!(matches!(taken, Err(SpawnError::NameTaken { .. })));
    gate.open();
    for wait in waiting {
        assert_eq!(wait.await.unwrap(), StopReason::Stopped);
        assert_eq!(
            (log.count("a on_stop done"), log.count("a dropped")),
            (1, 1)
        );
    }
    watcher.expect_terminated(&puppet).await;
}

/// Says when its hook is over, and when it is dropped.
struct Ending(Arc<AtomicBool>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[actor]
impl Ending {
    #[on_stop]
    async fn end(&mut self) {
        yield_now().await;
        assert!(!self.0.load(Ordering::SeqCst));
    }

    #[handler]
    fn rest(&mut self) {}
}

#[test]
fn those_who_wait_on_another_thread_wake_after_the_stop_hook_and_never_before() {
    threads(2, async {
        let system = common::system();
        for _ in 0..1_000 {
            let is_over = Arc::new(AtomicBool::new(false));
            let ending = system.actor_once(Ending(Arc::clone(&is_over)));
            let ending = ending.spawn().unwrap();
            ending.rest().await.unwrap();
            let waiting = beside(ending.stopped());
            ending.stop().await;
            assert!(is_over.load(Ordering::SeqCst));
            waiting.await.unwrap();
        }
    });
}

/// Waits for ever in one of its hooks or in its handler.
struct Stuck {
    at: &'static str,
    gate: Gate,
    drops: Drops,
    _counted: Counted,
}

impl Stuck {
    async fn pass(&self, place: &'static str) {
        if self.at == place {
            let _cut = self.drops.counted();
            self.gate.arrive();
            pending::<()>().await;
        }
    }
}

#[actor]
impl Stuck {
    #[on_start]
    async fn start(&mut self) {
        self.pass("on_start").await;
    }

    #[on_restart]
    async fn replaced(&mut self) {
        self.pass("on_restart").await;
    }

    #[on_stop]
    async fn end(&mut self) {
        self.pass("on_stop").await;
    }

    #[on_terminated]
    async fn gone(&mut self, _who: Terminated) {
        self.pass("on_terminated").await;
    }

    #[handler]
    async fn work(&mut self) {
        self.pass("handler").await;
    }

    #[handler]
    fn crash(&mut self) {
        panic!("boom");
    }

    /// Watches an actor that is gone.
    #[handler]
    fn look(&mut self, ctx: &mut ActorContext<Self>, other: PuppetRef) {
        ctx.watch(&other);
    }
}

#[test]
fn a_kill_ends_each_hook_and_a_handler_that_wait_for_ever() {
    let places = [
        "factory",
        "on_start",
        "handler",
        "on_terminated",
        "on_restart",
        "on_stop",
    ];
    for at in places {
        TestKit::run("stuck", async move |kit| {
            kit.allow_failures();
            let (gate, drops) = (Gate::new(), Drops::default());
            let (held, made) = (gate.clone(), drops.clone());
            let stuck = kit
                .spawn("a", move || {
                    let stuck = Stuck {
                        at,
                        gate: held.clone(),
                        drops: made.clone(),
                        _counted: made.counted(),
                    };
                    async move {
                        stuck.pass("factory").await;
                        stuck
                    }
                })
                .unwrap();
            let gone = Script::new("b", &Log::default()).spawn(&kit);
            gone.stop().await;
            stuck.look(gone).tell();
            stuck.work().tell();
            match at {
                "on_restart" => stuck.crash().tell(),
                "on_stop" => {
                    kit.settle().await;
                    drop(stuck.stop_within(secs(600)));
                }
                _ => {}
            }
            gate.reached(1).await;
            let before = kit.elapsed();
            assert_eq!(stuck.kill().await, StopReason::Killed, "{at}");
            assert_eq!(kit.elapsed(), before, "{at}");
            // The future, and the state.
            assert_eq!(drops.count(), 2, "{at}");
            kit.allow_dead_letters();
        });
    }
}
