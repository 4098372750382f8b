//! Workers, as the user of a system sees them: who gets the thread, and when (W, D6). The tests of `dispatch` are about the
//! same one layer below. Where a test counts, it counts turns: a machine that is busy with other things stretches time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use actors_core::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::yield_now;

use common::recorder::recorder;
use common::spin;
use common::world::{beside, bounded, threaded_runtime};

/// Counts the turns of those who share it.
#[derive(Clone, Default)]
struct Turns(Arc<AtomicUsize>);

impl Turns {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Keeps a worker busy in one way or another, for ever.
struct Busy {
    turns: Turns,
    spin: Duration,
}

#[actor]
impl Busy {
    fn take_turn(&self) {
        self.turns.add();
        spin(self.spin);
    }

    /// Tells itself to go on.
    #[handler]
    fn tell_itself(&mut self, ctx: &mut ActorContext<Self>) {
        self.take_turn();
        ctx.me().tell_itself().tell();
    }

    /// Sends the ball back.
    #[handler]
    fn play(&mut self, ctx: &mut ActorContext<Self>, with: BusyRef) {
        self.take_turn();
        with.play(ctx.me()).tell();
    }

    /// Waits for nothing but itself.
    #[handler]
    async fn wake_itself(&mut self) {
        loop {
            self.take_turn();
            let mut woken = false;
            poll_fn(|cx| {
                if std::mem::replace(&mut woken, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
    }
}

/// Spawns an actor whose turns hold their thread for so long.
fn busy(system: &ActorSystem, turns: &Turns, spin: Duration) -> BusyRef {
    let turns = turns.clone();
    let factory = move || Busy {
        turns: turns.clone(),
        spin,
    };
    // One message a turn, so that turns are what is counted.
    system.actor(factory).throughput(1).spawn().unwrap()
}

/// Keeps the workers of a system busy in every way there is, `each` times. Returns the count of all turns.
fn saturate(system: &ActorSystem, each: usize, spin: Duration) -> Turns {
    let turns = Turns::default();
    for _ in 0..each {
        busy(system, &turns, spin).tell_itself().tell();
        busy(system, &turns, spin).wake_itself().tell();
        let other = busy(system, &turns, spin);
        busy(system, &turns, spin).play(other).tell();
    }
    turns
}

/// Answers how many turns of others there have been.
struct Teller(Turns);

#[actor]
impl Teller {
    #[handler]
    fn turns_so_far(&self) -> usize {
        self.0.count()
    }
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn an_outsiders_ask_beside_actors_that_never_rest_is_answered_within_64_turns() {
    bounded(|| {
        one_thread().block_on(async {
            let system = common::system();
            let turns = saturate(&system, 1, Duration::ZERO);
            let teller = system.spawn_once("teller", Teller(turns.clone())).unwrap();
            teller.turns_so_far().await.unwrap();
            for _ in 0..100 {
                let before = turns.count();
                let waited = teller.turns_so_far().await.unwrap() - before;
                assert!(waited <= 64, "{waited} turns of others came first");
            }
            assert!(turns.count() > 100, "they do not rest");
        });
    });
}

#[test]
fn other_tasks_go_on_beside_actors_that_never_rest_and_these_beside_other_tasks() {
    bounded(|| {
        one_thread().block_on(async {
            let system = common::system();
            let turns = saturate(&system, 4, Duration::ZERO);
            let polls = Turns::default();
            for _ in 0..40 {
                let polls = polls.clone();
                beside(async move {
                    loop {
                        polls.add();
                        yield_now().await;
                    }
                });
            }
            while turns.count() + polls.count() < 100_000 {
                yield_now().await;
            }
            let (turns, polls) = (turns.count(), polls.count());
            let least = (turns + polls) / 20;
            assert!(
                turns > least && polls > least,
                "{turns} turns of actors, {polls} polls of tasks"
            );
        });
    });
}

/// The median of how many turns of 10 µs there are while a task sleeps for 1 ms.
async fn turns_during_a_sleep(turns: &Turns) -> usize {
    let mut taken = Vec::new();
    for _ in 0..31 {
        let before = turns.count();
        sleep(Duration::from_millis(1)).await;
        taken.push(turns.count() - before);
    }
    taken.sort_unstable();
    taken[taken.len() / 2]
}

#[expect(
    clippy::disallowed_methods,
    reason = "Tokio's timer beside the actors is what is tested"
)]
async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}

#[test]
fn a_sleep_of_1_ms_beside_saturated_actors_takes_less_than_5_ms() {
    for (make, threads) in [(one_thread as fn() -> Runtime, 1), (threaded_runtime, 2)] {
        bounded(move || {
            let runtime = make();
            let asleep = runtime.spawn(async {
                let turns = saturate(&common::system(), 4, Duration::from_micros(10));
                turns_during_a_sleep(&turns).await
            });
            let taken = runtime.block_on(asleep).unwrap();
            runtime.shutdown_background();
            let in_5_ms = threads * 500;
            assert!(
                taken < in_5_ms,
                "{taken} turns of 10 µs on {threads} threads"
            );
        });
    }
}

/// Receives from a channel of Tokio in which something is.
#[derive(Default)]
struct Receiver {
    refused: Turns,
}

#[actor]
impl Receiver {
    /// Takes 32 of the 128 units that Tokio gives to a poll, so that they run out at the end of a turn.
    #[handler]
    async fn receive(&mut self, mut from: mpsc::UnboundedReceiver<u32>) {
        for _ in 0..32 {
            poll_fn(|cx| {
                let polled = from.poll_recv(cx);
                if polled.is_pending() {
                    self.refused.add();
                }
                polled
            })
            .await;
        }
    }
}

#[test]
fn what_is_ready_is_ready_for_each_of_many_actors_in_one_poll() {
    bounded(|| {
        one_thread().block_on(async {
            let system = common::system();
            let refused = Turns::default();
            let asks = (0..1_000).map(|_| {
                let refused = refused.clone();
                let receiver = system.spawn_anonymous(move || Receiver {
                    refused: refused.clone(),
                });
                let (sender, from) = mpsc::unbounded_channel();
                (0..32).for_each(|number| sender.send(number).unwrap());
                receiver.unwrap().receive(from).ask()
            });
            for answer in futures::future::join_all(asks.collect::<Vec<_>>()).await {
                answer.unwrap();
            }
            assert_eq!(
                refused.count(),
                0,
                "a message was there, and `Pending` the answer"
            );
        });
    });
}

#[test]
fn a_runtime_of_one_thread_and_the_real_clock_is_enough() {
    bounded(|| {
        one_thread().block_on(async {
            let system = common::system();
            let (recorder, numbers) = recorder(&system);
            (0..1_000).for_each(|number| recorder.note(number).tell());
            assert_eq!(recorder.echo(1_000).await, Ok(1_000));
            assert_eq!(numbers.entries(), Vec::from_iter(0..=1_000));
            assert!(system.shutdown().await.is_clean());
        });
    });
}
