//! Attacks on what is left when the threads below a system are gone.

#![allow(
    clippy::unwrap_used,
    reason = "tests: a failed unwrap is a failed test"
)]

mod common;

use actors_core::prelude::*;
use common::Gate;
use common::bomb::{Counted, Drops};
use common::world::{bounded, threaded_runtime, virtual_runtime};
use futures::executor::block_on;

/// An actor whose drops are counted.
struct Leaf {
    _drops: Counted,
    drops: Drops,
}

impl Leaf {
    fn counted_by(drops: &Drops) -> impl Fn() -> Self + Send + Sync + 'static {
        let drops = drops.clone();
        move || Self {
            _drops: drops.counted(),
            drops: drops.clone(),
        }
    }
}

#[actor]
impl Leaf {
    #[handler]
    fn idle(&mut self) {}

    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }

    /// Spawns `left` generations below this one, and answers the last.
    #[handler]
    fn descend(&mut self, ctx: &mut ActorContext<Self>, left: u32, reply: ReplyTo<LeafRef>) {
        if left == 0 {
            return reply.send(ctx.me());
        }
        let child = ctx.spawn("child", Self::counted_by(&self.drops)).unwrap();
        child.descend(left - 1).forward(reply);
    }
}

#[test]
fn a_runtime_that_is_dropped_while_parents_are_queued_ends_their_idle_descendants_too() {
    for make in [virtual_runtime, threaded_runtime] {
        let (made, dropped) = bounded(move || {
            let drops = Drops::default();
            let runtime = make();
            let (system, root, last) = runtime.block_on(async {
                let system = ActorSystem::new("test").unwrap();
                let root = system.spawn("root", Leaf::counted_by(&drops)).unwrap();
                let last = root.descend(3).await.unwrap();
                last.idle().await.unwrap();
                (system, root, last)
            });
            // No thread polls a runtime of one thread now, so this is queued when the runtime goes.
            root.idle().tell();
            drop(runtime);
            drop(root);
            assert_eq!(block_on(last.stopped()), StopReason::SystemGone);
            drop((system, last));
            (4, drops.count())
        });
        assert_eq!(made, dropped);
    }
}

#[test]
fn a_reserved_actor_ends_with_its_runtime() {
    for make in [virtual_runtime, threaded_runtime] {
        bounded(move || {
            let runtime = make();
            let (reserved, mut asked) = runtime.block_on(async {
                let system = ActorSystem::new("test").unwrap();
                let reserved = system.reserve::<Leaf>("reserved").unwrap();
                let mut asked = reserved.reference().idle().ask();
                assert!(futures::poll!(&mut asked).is_pending());
                (reserved, asked)
            });
            drop(runtime);
            let gone = AskError::Stopped {
                phase: Phase::Queued,
            };
            assert_eq!(block_on(&mut asked), Err(gone));
            assert!(reserved.reference().is_stopped());
        });
    }
}

#[test]
fn a_system_may_be_dropped_by_the_end_of_a_thread() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<ActorSystem>> = const { std::cell::RefCell::new(None) };
    }
    for make in [virtual_runtime, threaded_runtime] {
        bounded(move || {
            let runtime = make();
            let system = runtime.block_on(async { ActorSystem::new("test").unwrap() });
            let stopped = system.stopped();
            // The thread knows this before it knows Tokio, and so drops it after that.
            let thread = std::thread::spawn(move || {
                KEPT.set(Some(system));
                assert!(tokio::runtime::Handle::try_current().is_err());
            });
            thread.join().unwrap();
            runtime.block_on(stopped);
        });
    }
}

#[test]
fn a_runtime_dropped_by_the_end_of_a_thread_drops_every_state() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<tokio::runtime::Runtime>> =
            const { std::cell::RefCell::new(None) };
    }
    bounded(move || {
        let drops = Drops::default();
        let factory = Leaf::counted_by(&drops);
        let thread = std::thread::spawn(move || {
            KEPT.set(Some(virtual_runtime()));
            KEPT.with_borrow(|kept| {
                kept.as_ref().unwrap().block_on(async {
                    let system = ActorSystem::new("test").unwrap();
                    let root = system.spawn("root", factory).unwrap();
                    let last = root.descend(1).await.unwrap();
                    last.hold(Gate::new()).tell();
                    root.idle().await.unwrap();
                    (system, root)
                })
            })
        });
        let (_system, root) = thread.join().unwrap();
        assert!(root.is_stopped());
        assert_eq!(drops.count(), 2);
    });
}
