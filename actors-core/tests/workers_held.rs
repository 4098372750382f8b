//! Threads that are held: what becomes of the other actors (W).

mod common;

use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use actors_core::prelude::*;
use tokio::runtime::Builder;
use tokio::task::block_in_place;

use common::Gate;
use common::recorder::{RecorderRef, recorder};
use common::world::{bounded, on_two_threads};

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

    /// Begins to wait for an answer, for a time, and holds its thread at the gate.
    #[handler]
    async fn ask_and_hold(&mut self, other: RecorderRef, gate: Gate) {
        let mut ask = other.hold(gate.clone()).ask().timeout(ms(1)).into_future();
        assert!(futures::poll!(&mut ask).is_pending());
        gate.block();
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

#[test]
fn time_goes_on_for_all_others_when_a_handler_sets_itself_a_limit_and_holds_its_thread() {
    for _ in 0..5 {
        on_two_threads(async |system| {
            let hog = system.spawn("hog", Hog::default).unwrap();
            let (recorder, _) = recorder(&system);
            let gate = Gate::new();
            hog.ask_and_hold(recorder.clone(), gate.clone()).tell();
            gate.reached(2).await;
            let asked = recorder.hold(gate.clone()).ask().timeout(ms(10)).await;
            let timeout = AskError::Timeout {
                phase: Phase::Queued,
            };
            assert_eq!(asked, Err(timeout));
            gate.open();
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
