//! Promises W, as far as an actor sees them: what a handler that waits is polled for, and what is left of a runtime.

mod common;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actors_core::prelude::*;
use common::{Gate, paused, settle, system};
use tokio::runtime::{Builder, Runtime};

/// An actor whose state counts its end, and whose handler counts its polls.
#[derive(Default)]
struct Counted {
    polls: Arc<AtomicUsize>,
    drops: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

#[actor]
impl Counted {
    #[handler]
    async fn wait(&mut self, gate: Gate) {
        let mut pass = pin!(gate.pass());
        poll_fn(|cx| {
            self.polls.fetch_add(1, Ordering::Relaxed);
            pass.as_mut().poll(cx)
        })
        .await;
    }

    #[handler]
    fn note(&mut self) {}
}

fn spawn(system: &ActorSystem, counts: &(Arc<AtomicUsize>, Arc<AtomicUsize>)) -> CountedRef {
    let (polls, drops) = counts.clone();
    let factory = move || Counted {
        polls: Arc::clone(&polls),
        drops: Arc::clone(&drops),
    };
    system.spawn_anonymous(factory).expect("the system is up")
}

#[test]
fn ten_thousand_messages_to_a_waiting_handler_cause_no_poll_and_control_causes_one() {
    paused(async {
        let (system, gate) = (system(), Gate::new());
        let counts = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let actor = spawn(&system, &counts);
        actor.wait(gate.clone()).tell();
        gate.reached(1).await;
        settle().await;
        assert_eq!(counts.0.load(Ordering::Relaxed), 1);

        for _ in 0..10_000 {
            actor.note().tell();
        }
        settle().await;
        assert_eq!(counts.0.load(Ordering::Relaxed), 1);

        let mut stop = actor.stop();
        assert!(futures::poll!(&mut stop).is_pending());
        settle().await;
        assert_eq!(actor.mailbox_depth(), 0);
        gate.open();
        assert_eq!(stop.await, StopReason::Stopped);
    });
}

fn runtimes() -> [Runtime; 2] {
    let one = Builder::new_current_thread().enable_time().build();
    let two = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build();
    [one, two].map(|runtime| runtime.expect("a runtime"))
}

#[test]
fn a_runtime_dropped_under_its_actors_drops_every_state_once_and_resolves_what_waits() {
    for runtime in runtimes() {
        let counts = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let (waits, asks) = runtime.block_on(async {
            let (system, gate) = (system(), Gate::new());
            let [idle, awaiting] = [(); 2].map(|()| spawn(&system, &counts));
            assert_eq!(idle.note().await, Ok(()));
            let mut running = awaiting.wait(gate.clone()).ask();
            assert!(futures::poll!(&mut running).is_pending());
            gate.reached(1).await;
            let mut queued = awaiting.note().ask();
            assert!(futures::poll!(&mut queued).is_pending());
            // Whether this one gets to run before the runtime goes is up to the threads.
            let busy = spawn(&system, &counts);
            busy.note().tell();
            let waits = [&idle, &awaiting, &busy].map(|actor| actor.stopped());
            // The system is kept, so that it is the loss of the runtime that ends the actors.
            ((waits, system), [running, queued])
        });
        drop(runtime);

        let (waits, system) = waits;
        let phases = [Phase::Running, Phase::Queued];
        assert_eq!(
            asks.map(futures::executor::block_on),
            phases.map(|phase| Err(AskError::Stopped { phase }))
        );
        for end in waits.map(futures::executor::block_on) {
            assert_eq!(end, StopReason::SystemGone);
        }
        assert!(system.counters().is_balanced());
        let drops = counts.1.load(Ordering::Relaxed);
        // The factory of the last may not have run; what was made is dropped once.
        assert!((2..=3).contains(&drops), "{drops} states were dropped");
        drop(system);
        assert_eq!(counts.1.load(Ordering::Relaxed), drops);
    }
}
