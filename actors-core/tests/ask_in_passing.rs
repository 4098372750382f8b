//! Asks whose handler the asker's own thread runs: when, and that it costs nobody anything.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use actors_core::prelude::*;
use common::world::bounded;
use common::{beside, system};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::coop;

#[derive(Default)]
struct Clerk {
    served: Arc<AtomicU64>,
}

impl Clerk {
    fn counting(served: Arc<AtomicU64>) -> Self {
        Self { served }
    }
}

#[actor]
impl Clerk {
    /// Counts itself, where others can see it.
    #[handler]
    fn count(&mut self) {
        self.served.fetch_add(1, Ordering::SeqCst);
    }

    /// Says which thread it runs on.
    #[handler]
    fn thread(&mut self) -> ThreadId {
        thread::current().id()
    }

    /// The same, of the other, asked in this handler.
    #[handler]
    async fn thread_of(&mut self, other: ClerkRef) -> (ThreadId, ThreadId) {
        let own = thread::current().id();
        (own, other.thread().await.expect("it lives"))
    }

    /// Holds its thread for so long.
    #[handler]
    fn hold(&mut self, time: std::time::Duration) -> ThreadId {
        let began = std::time::Instant::now();
        while began.elapsed() < time {
            std::hint::spin_loop();
        }
        thread::current().id()
    }
}

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .expect("threads are to be had")
}

/// Says whether the asker's own thread ran the handler: the answer comes from it, and at the first poll.
async fn in_passing(call: impl IntoFuture<Output = Result<ThreadId, AskError>>) -> bool {
    let mut ask = std::pin::pin!(call.into_future());
    let mut waited = false;
    let here = thread::current().id();
    let answer = std::future::poll_fn(|cx| {
        let poll = ask.as_mut().poll(cx);
        waited |= poll.is_pending();
        poll
    });
    answer.await.expect("it lives") == here && !waited
}

/// Asks until it is so, which takes a few: the actor must be known, and idle.
async fn until_in_passing(clerk: &ClerkRef) {
    while !in_passing(clerk.thread()).await {
        tokio::task::yield_now().await;
    }
}

#[test]
fn an_idle_actor_that_is_known_to_be_quick_runs_on_the_asker_s_thread_and_answers_at_once() {
    bounded(|| {
        runtime(2).block_on(async {
            let system = system();
            let clerk = system.spawn("clerk", Clerk::default).unwrap();
            beside(async move { until_in_passing(&clerk).await })
                .await
                .unwrap();
        });
    });
}

#[test]
fn where_one_thread_runs_all_and_time_may_be_paused_no_actor_runs_in_passing() {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let system = system();
        let clerk = system.spawn("clerk", Clerk::default).unwrap();
        for _ in 0..100 {
            assert!(!in_passing(clerk.thread()).await);
        }
    });
}

#[test]
fn a_handler_that_was_slow_when_it_was_measured_is_dispatched() {
    bounded(|| {
        runtime(2).block_on(async {
            let system = system();
            let clerk = system.spawn("clerk", Clerk::default).unwrap();
            beside(async move {
                for _ in 0..20 {
                    assert!(!in_passing(clerk.hold(ms(1))).await);
                }
            })
            .await
            .unwrap();
        });
    });
}

/// The real clock is the point: virtual time stands still while a thread is held.
#[test]
fn a_limit_ends_an_ask_while_the_handler_that_was_not_quick_holds_its_thread() {
    bounded(|| {
        runtime(2).block_on(async {
            let system = system();
            let clerk = system.spawn("clerk", Clerk::default).unwrap();
            beside(async move {
                until_in_passing(&clerk).await;
                let began = std::time::Instant::now();
                // Another handler of the same actor being quick says nothing of this one.
                let answer = clerk.hold(ms(500)).ask().timeout(ms(20)).await;
                assert_eq!(
                    answer,
                    Err(AskError::Timeout {
                        phase: Phase::Running
                    })
                );
                assert!(began.elapsed() < ms(400), "{:?}", began.elapsed());
            })
            .await
            .unwrap();
        });
    });
}

#[test]
fn in_a_turn_no_other_actor_runs_in_passing() {
    bounded(|| {
        // Askers on the runtime's one thread know the actor; a handler on that thread asks it all the same as ever.
        runtime(1).block_on(async {
            let system = system();
            let clerk = system.spawn("clerk", Clerk::default).unwrap();
            let other = system.spawn("other", Clerk::default).unwrap();
            beside(async move {
                until_in_passing(&other).await;
                for _ in 0..100 {
                    let mut ask = std::pin::pin!(clerk.thread_of(other.clone()).ask());
                    let mut polls = 0;
                    let answer = std::future::poll_fn(|cx| {
                        polls += 1;
                        ask.as_mut().poll(cx)
                    });
                    answer.await.expect("both live");
                    assert!(polls > 1, "the handler waited for the answer of the other");
                }
            })
            .await
            .unwrap();
        });
    });
}

#[test]
fn a_row_of_asks_that_are_answered_at_once_lets_other_tasks_run() {
    bounded(|| {
        runtime(1).block_on(async {
            let system = system();
            let clerk = system.spawn("clerk", Clerk::default).unwrap();
            let asked = Arc::new(AtomicU64::new(0));
            let seen = Arc::new(AtomicU64::new(0));
            let (go, gone) = oneshot::channel();
            let other = beside({
                let (asked, seen) = (Arc::clone(&asked), Arc::clone(&seen));
                async move {
                    let _ = gone.await;
                    seen.store(asked.load(Ordering::SeqCst), Ordering::SeqCst);
                }
            });
            beside({
                let asked = Arc::clone(&asked);
                async move {
                    until_in_passing(&clerk).await;
                    go.send(()).expect("it waits");
                    for _ in 0..10_000 {
                        clerk.thread().await.expect("it lives");
                        asked.fetch_add(1, Ordering::SeqCst);
                    }
                }
            })
            .await
            .unwrap();
            other.await.unwrap();
            let seen = seen.load(Ordering::SeqCst);
            assert!(seen < 2_000, "the other task waited for {seen} asks");
        });
    });
}

#[test]
fn an_asker_that_has_used_up_its_share_waits_for_its_answer() {
    bounded(|| {
        runtime(1).block_on(async {
            let system = system();
            let clerk = system.spawn("clerk", Clerk::default).unwrap();
            beside(async move {
                until_in_passing(&clerk).await;
                while coop::has_budget_remaining() {
                    coop::consume_budget().await;
                }
                let mut first = true;
                let waited = Arc::new(AtomicBool::new(false));
                let mut ask = std::pin::pin!(clerk.thread().ask());
                std::future::poll_fn(|cx| {
                    let poll = ask.as_mut().poll(cx);
                    if std::mem::take(&mut first) {
                        waited.store(poll.is_pending(), Ordering::SeqCst);
                    }
                    poll
                })
                .await
                .expect("it lives");
                assert!(waited.load(Ordering::SeqCst));
            })
            .await
            .unwrap();
        });
    });
}

/// Polls asks, one after another and each once, until one is not ready. Gives that one, and how many were polled.
async fn ask_until_one_waits<F: Future + Unpin>(ask: impl Fn() -> F) -> (F, u64) {
    tokio::task::yield_now().await;
    let mut polled = 0;
    std::future::poll_fn(|cx| {
        loop {
            let mut asked = ask();
            polled += 1;
            if std::pin::Pin::new(&mut asked).poll(cx).is_pending() {
                return std::task::Poll::Ready((asked, polled));
            }
        }
    })
    .await
}

/// Says whether the ask that took the last of the share of this task still had its handler run on the way.
async fn the_last_ask_of_a_share_is_served(clerk: &ClerkRef, served: &AtomicU64) -> bool {
    let before = served.load(Ordering::SeqCst);
    let (last, polled) = ask_until_one_waits(|| clerk.count().ask()).await;
    let is_served = served.load(Ordering::SeqCst) == before + polled;
    let is_used_up = !coop::has_budget_remaining();
    last.await.expect("it is woken and has its answer");
    is_used_up && is_served
}

#[test]
fn the_ask_that_takes_the_last_of_the_share_wakes_no_worker_and_waits_for_the_other_tasks() {
    bounded(|| {
        // On one thread nobody else can have run the handler in the same poll.
        runtime(1).block_on(async {
            let system = system();
            let served = Arc::new(AtomicU64::new(0));
            let clerk = system
                .spawn_with("clerk", Arc::clone(&served), Clerk::counting)
                .unwrap();
            beside(async move {
                // Not at the first try, if the actor is not yet known or was once held up by the machine.
                while !the_last_ask_of_a_share_is_served(&clerk, &served).await {}
            })
            .await
            .unwrap();
        });
    });
}

/// A task of Tokio's has so many steps before it must let others run.
const STEPS: u64 = 128;

/// As many asks that take no time are one of them.
const ASKS_PER_STEP: u64 = 8;

#[test]
fn a_row_of_asks_uses_up_the_share_of_its_task_however_many_actors_it_asks() {
    bounded(|| {
        runtime(1).block_on(async {
            let system = system();
            // More than can be asked in one share, so that each is asked once.
            let spawn = |_| system.spawn_anonymous(Clerk::default).unwrap();
            let clerks: Vec<_> = (0..2_000).map(spawn).collect();
            beside(async move {
                for clerk in &clerks {
                    until_in_passing(clerk).await;
                }
                let next = AtomicUsize::new(0);
                let ask = || {
                    let clerk = clerks.get(next.fetch_add(1, Ordering::SeqCst));
                    let clerk = clerk.expect("the share is used up before all were asked");
                    clerk.thread().ask()
                };
                let (last, polled) = ask_until_one_waits(ask).await;
                last.await.expect("it lives");
                let most = ASKS_PER_STEP * STEPS;
                assert!(polled <= most, "{polled} asks in one share");
            })
            .await
            .unwrap();
        });
    });
}

/// The real clock is the point: a handler takes its time.
#[test]
fn an_ask_that_takes_longer_than_a_moment_is_a_step_of_its_own() {
    bounded(|| {
        runtime(1).block_on(async {
            let system = system();
            let clerk = system.spawn("clerk", Clerk::default).unwrap();
            beside(async move {
                let hold = || clerk.hold(std::time::Duration::from_micros(3)).ask();
                let mut is_used_up = false;
                // Not at the first try, if the actor is not yet known or was once held up by the machine.
                while !is_used_up {
                    let (last, polled) = ask_until_one_waits(hold).await;
                    is_used_up = !coop::has_budget_remaining();
                    last.await.expect("it lives");
                    assert!(polled <= STEPS + 1, "{polled} asks in one share");
                }
            })
            .await
            .unwrap();
        });
    });
}

/// The real clock is the point: a handler holds its thread.
#[test]
fn a_handler_that_takes_long_in_passing_is_reported_once_and_dispatched_from_then_on() {
    bounded(|| {
        runtime(2).block_on(async {
            let system = ActorSystem::builder("test")
                .slow_handler(ms(20))
                .build()
                .unwrap();
            let mut events = system.events();
            let clerk = system.spawn("clerk", Clerk::default).unwrap();
            let reported = beside(async move {
                // Not at the first try, if the machine held it up when it was to be known as quick.
                loop {
                    while !in_passing(clerk.hold(ms(0))).await {
                        tokio::task::yield_now().await;
                    }
                    while events.try_next().is_some() {}
                    if in_passing(clerk.hold(ms(40))).await {
                        break;
                    }
                }
                assert!(
                    !in_passing(clerk.hold(ms(0))).await,
                    "it is not known any more"
                );
                std::iter::from_fn(|| events.try_next()).collect::<Vec<_>>()
            })
            .await
            .unwrap();
            let reports = reported
                .iter()
                .filter(|event| matches!(event, LifecycleEvent::HandlerSlow { variant: "Hold", running_for, .. } if *running_for >= ms(40)))
                .count();
            assert_eq!(reports, 1);
        });
    });
}
