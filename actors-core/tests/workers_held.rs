//! Threads that are held, and runtimes that go away: what becomes of the other actors (W).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use actors_core::ShutdownCause;
use actors_core::prelude::*;
use futures::executor::block_on;
use futures::future::join_all;
use tokio::runtime::{Builder, Runtime};
use tokio::task::block_in_place;

use common::Gate;
use common::bomb::{Counted, Drops};
use common::recorder::{RecorderRef, recorder};
use common::world::{bounded, on_two_threads, threaded_runtime, virtual_runtime};

/// Holds its thread until somebody has done something.
#[derive(Default)]
struct Hog;

#[actor]
impl Hog {
    #[handler]
    fn hold(&mut self, until: Flag) {
        until.wait();
    }

    /// Tells others, and holds its thread until the last of them has run.
    #[handler]
    fn tell_and_hold(&mut self, others: Vec<SetterRef>, until: Flag) {
        let last = others.len() - 1;
        for other in &others[..last] {
            other.set(Flag::default()).tell();
        }
        others[last].set(until.clone()).tell();
        until.wait();
    }

    /// Lets Tokio have another thread for this one, and holds it at the gate.
    #[handler]
    fn block_in_place(&mut self, gate: Gate) {
        block_in_place(|| gate.block());
    }

    #[handler]
    fn answer(&self) -> u64 {
        42
    }
}

/// Set once.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Holds this thread until it is set.
    fn wait(&self) {
        while !self.0.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    }
}

#[derive(Default)]
struct Setter;

#[actor]
impl Setter {
    #[handler]
    fn set(&mut self, flag: Flag) {
        flag.set();
    }
}

#[test]
fn a_handler_that_holds_its_thread_leaves_the_others_running() {
    on_two_threads(async |system| {
        let hog = system.spawn("hog", Hog::default).unwrap();
        let setter = system.spawn("setter", Setter::default).unwrap();
        let flag = Flag::default();
        let held = hog.hold(flag.clone()).ask();
        let others = async {
            for _ in 0..100 {
                setter.set(Flag::default()).await.unwrap();
            }
            setter.set(flag).await.unwrap();
        };
        let (held, ()) = futures::join!(held, others);
        assert_eq!(held, Ok(()));
    });
}

#[test]
fn whom_a_handler_tells_before_it_holds_its_thread_does_not_wait_for_it() {
    for count in [1, 2, 5] {
        on_two_threads(async move |system| {
            let hog = system.spawn("hog", Hog::default).unwrap();
            let mut others = Vec::new();
            for _ in 0..count {
                let other = system.spawn_anonymous(Setter::default).unwrap();
                other.set(Flag::default()).await.unwrap();
                others.push(other);
            }
            assert_eq!(hog.tell_and_hold(others, Flag::default()).await, Ok(()));
        });
    }
}

/// Asks a recorder on some thread.
async fn answers(recorder: &RecorderRef) {
    for number in 0..100 {
        assert_eq!(recorder.echo(number).await, Ok(number));
    }
}

#[test]
fn all_workers_but_one_may_block_in_place() {
    bounded(|| {
        let runtime = Builder::new_multi_thread()
            .worker_threads(3)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = common::system();
            let gate = Gate::new();
            let hogs = [(); 2].map(|()| system.spawn_anonymous(Hog::default).unwrap());
            for hog in &hogs {
                hog.block_in_place(gate.clone()).tell();
            }
            gate.reached(2).await;
            let (recorder, _) = recorder(&system);
            answers(&recorder).await;
            gate.open();
            for hog in &hogs {
                assert_eq!(hog.answer().await, Ok(42), "it goes on afterwards");
            }
            answers(&recorder).await;
        });
    });
}

/// Counts its end, and waits where it is told to.
struct Witness {
    _counted: Counted,
}

#[actor]
impl Witness {
    #[handler]
    async fn wait(&mut self, gate: Gate) {
        gate.pass().await;
    }

    #[handler]
    fn nothing(&mut self) {}
}

/// Spawns so many actors whose states are counted when they are dropped.
fn witnesses(system: &ActorSystem, drops: &Drops, count: usize) -> Vec<WitnessRef> {
    let spawn = |_| {
        let drops = drops.clone();
        let factory = move || Witness {
            _counted: drops.counted(),
        };
        system.spawn_anonymous(factory).unwrap()
    };
    (0..count).map(spawn).collect()
}

/// Drops a runtime under actors that are idle, that wait in a handler, and that have something to do.
fn drop_under_actors(make: fn() -> Runtime) {
    let runtime = make();
    let drops = Drops::default();
    let (system, actors) = runtime.block_on(async {
        let system = common::system();
        let actors = witnesses(&system, &drops, 30);
        for actor in &actors {
            actor.nothing().await.unwrap();
        }
        let gate = Gate::new();
        for actor in &actors[10..20] {
            actor.wait(gate.clone()).tell();
        }
        gate.reached(10).await;
        for actor in &actors[20..] {
            (0..1_000).for_each(|_| actor.nothing().tell());
        }
        (system, actors)
    });
    assert_eq!(drops.count(), 0);
    drop(runtime);
    assert_eq!(drops.count(), 30, "each state is dropped once");
    let ends = block_on(join_all(actors.iter().map(|actor| actor.stopped())));
    assert_eq!(ends, vec![StopReason::SystemGone; 30]);
    let report = block_on(system.stopped());
    assert!(
        matches!(report.cause, ShutdownCause::RuntimeGone),
        "{report}"
    );
    assert!(system.counters().is_balanced());
}

#[test]
fn a_runtime_dropped_under_actors_ends_each_of_them_once() {
    for make in [virtual_runtime, threaded_runtime] {
        bounded(move || drop_under_actors(make));
    }
}

#[test]
fn actors_that_were_never_polled_end_with_their_runtime() {
    bounded(|| {
        let runtime = virtual_runtime();
        let drops = Drops::default();
        let (system, actors) = {
            let _context = runtime.enter();
            let system = common::system();
            let actors = witnesses(&system, &drops, 10);
            (system, actors)
        };
        let mut ask = Box::pin(actors[0].nothing().ask());
        runtime.block_on(async { assert!(futures::poll!(&mut ask).is_pending()) });
        drop(runtime);
        let queued = AskError::Stopped {
            phase: Phase::Queued,
        };
        assert_eq!(block_on(ask), Err(queued));
        let ends = block_on(join_all(actors.iter().map(|actor| actor.stopped())));
        assert_eq!(ends, vec![StopReason::SystemGone; 10]);
        assert_eq!(drops.count(), 0, "no state was made");
        assert!(system.is_shutting_down());
    });
}

#[test]
fn what_is_told_when_the_runtime_is_gone_is_turned_away_at_once() {
    bounded(|| {
        let runtime = threaded_runtime();
        let (system, actors) = runtime.block_on(async {
            let system = common::system();
            let actors = witnesses(&system, &Drops::default(), 1);
            (system, actors)
        });
        drop(runtime);
        actors[0].nothing().tell();
        assert_eq!(
            block_on(actors[0].nothing().ask()),
            Err(common::turned_out())
        );
        assert!(system.spawn("late", Hog::default).is_err());
    });
}
