//! Handlers that take long are reported (L7).

mod common;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use actors_core::prelude::*;
use actors_core::{LifecycleEvent, Subscription, SystemBuilder};
use tokio::time::timeout;

use common::Gate;
use common::world::{
    bounded, expect_no_timer, in_virtual_time, in_virtual_time_with, threaded_runtime, timed,
    virtual_runtime,
};

/// Takes its time, in one way or the other.
#[derive(Clone, Default)]
struct Worker {
    /// How long each hook waits.
    hooks_wait: Duration,
    /// How long each hook holds its thread.
    hooks_hold: Duration,
    longest: Longest,
}

/// The longest time that a handler has held its thread, by its own clock, in nanoseconds.
#[derive(Clone, Default)]
struct Longest(Arc<AtomicU64>);

impl Longest {
    fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }
}

/// Waits for so long.
async fn wait(time: Duration) {
    if !time.is_zero() {
        let _ = timeout(time, pending::<()>()).await;
    }
}

/// Holds this thread for so long.
fn hold(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        thread::yield_now();
    }
}

#[actor]
impl Worker {
    #[on_start]
    async fn begin(&mut self) -> Result<(), Failure> {
        hold(self.hooks_hold);
        wait(self.hooks_wait).await;
        Ok(())
    }

    #[on_stop]
    async fn end(&mut self) {
        hold(self.hooks_hold);
        wait(self.hooks_wait).await;
    }

    #[on_terminated]
    async fn gone(&mut self, _: Terminated) {
        hold(self.hooks_hold);
        wait(self.hooks_wait).await;
    }

    #[handler]
    fn watch(&mut self, ctx: &mut ActorContext<Self>, other: WorkerRef) {
        ctx.watch(&other);
    }

    /// Waits so long, in two parts.
    #[handler]
    async fn wait(&mut self, time: Duration) {
        wait(time / 2).await;
        wait(time / 2).await;
    }

    #[handler]
    fn hold(&mut self, time: Duration) {
        let began = Instant::now();
        hold(time);
        let held = u64::try_from(began.elapsed().as_nanos()).expect("no test takes centuries");
        self.longest.0.fetch_max(held, Ordering::SeqCst);
    }

    /// Holds its thread until the gate is open, and for so long after.
    #[handler]
    fn hold_at(&mut self, gate: Gate, time: Duration) {
        gate.block();
        hold(time);
    }

    /// Waits at the gate, and then holds its thread.
    #[handler]
    async fn wait_and_hold(&mut self, gate: Gate, time: Duration) {
        gate.pass().await;
        hold(time);
    }

    /// Holds its thread until the gate is open, and then waits.
    #[handler]
    async fn hold_and_wait(&mut self, gate: Gate, time: Duration) {
        gate.block();
        wait(time).await;
    }
}

/// What a report says: the actor, the variant of the message, and for how long the handler has run.
type Report = (String, &'static str, Duration);

fn report(event: LifecycleEvent) -> Option<Report> {
    match event {
        LifecycleEvent::HandlerSlow {
            actor,
            variant,
            running_for,
            ..
        } => Some((actor.to_string(), variant, running_for)),
        _ => None,
    }
}

/// The reports so far.
fn reports(events: &mut Subscription<LifecycleEvent>) -> Vec<Report> {
    std::iter::from_fn(|| events.try_next())
        .filter_map(report)
        .collect()
}

/// Waits for the next report.
async fn next_report(events: &mut Subscription<LifecycleEvent>) -> Report {
    loop {
        let event = events.next().await.expect("the system lives");
        if let Some(report) = report(event) {
            return report;
        }
    }
}

/// Runs a test with settings on two threads and the real clock.
#[track_caller]
fn on_two_threads_with(
    settings: impl FnOnce(SystemBuilder) -> SystemBuilder + Send + 'static,
    test: impl AsyncFnOnce(ActorSystem) + Send + 'static,
) {
    bounded(move || {
        threaded_runtime().block_on(async move {
            let system = settings(ActorSystem::builder("test"))
                .build()
                .expect("the settings are good");
            test(system.clone()).await;
            system.shutdown().await;
        });
    });
}

/// The limit of tests on the real clock.
const LIMIT: Duration = ms(30);

#[test]
fn a_handler_that_waits_longer_than_a_second_is_reported_once_and_goes_on() {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let worker = system.spawn("worker", Worker::default).unwrap();
        let waiting = worker.wait(secs(1800)).ask().timeout(Duration::MAX);
        let (seen, answer) = futures::join!(timed(next_report(&mut events)), waiting);
        let (after, report) = seen;
        assert_eq!(after, secs(1));
        assert_eq!(report, ("/test/worker".to_owned(), "Wait", secs(1)));
        assert_eq!(answer, Ok(()));
        assert_eq!(reports(&mut events), []);
    });
}

#[test]
fn a_handler_that_waits_less_than_its_limit_is_not_reported() {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let worker = system.spawn("worker", Worker::default).unwrap();
        for _ in 0..3 {
            worker.wait(ms(998)).await.unwrap();
        }
        assert_eq!(reports(&mut events), []);
    });
}

#[test]
fn every_handler_that_waits_too_long_is_reported_and_none_between_them() {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let worker = system.spawn("worker", Worker::default).unwrap();
        for (time, count) in [(2000, 1), (10, 0), (3000, 1), (4000, 1), (998, 0)] {
            worker.wait(ms(time)).await.unwrap();
            assert_eq!(reports(&mut events).len(), count, "{time} ms");
        }
    });
}

#[test]
fn the_limit_of_an_actor_beats_that_of_its_system() {
    let settings = |builder: SystemBuilder| builder.slow_handler(ms(500));
    in_virtual_time_with(settings, async |system| {
        let mut events = system.events();
        let table = [(None, 500), (Some(ms(100)), 100), (Some(secs(4)), 4000)];
        for (own, expected) in table {
            let worker = system.actor(Worker::default);
            let worker = match own {
                Some(limit) => worker.slow_handler(limit),
                None => worker,
            };
            let worker = worker.spawn().unwrap();
            worker.wait(ms(expected - 2)).await.unwrap();
            assert_eq!(reports(&mut events), []);
            worker.wait(ms(expected + 2)).await.unwrap();
            let told: Vec<_> = reports(&mut events)
                .into_iter()
                .map(|told| told.2)
                .collect();
            assert_eq!(told, [ms(expected)]);
        }
    });
}

#[test]
fn no_handler_is_reported_when_the_limit_is_never() {
    let settings = |builder: SystemBuilder| builder.slow_handler(Duration::MAX);
    in_virtual_time_with(settings, async |system| {
        let mut events = system.events();
        let worker = system.spawn("worker", Worker::default).unwrap();
        let waiting = worker.wait(secs(3000)).ask().timeout(Duration::MAX);
        assert_eq!(waiting.await, Ok(()));
        assert_eq!(reports(&mut events), []);
    });
    in_virtual_time(async |system| {
        let mut events = system.events();
        let worker = system.actor(Worker::default).slow_handler(Duration::MAX);
        let waiting = worker.spawn().unwrap().wait(secs(3000)).ask();
        assert_eq!(waiting.timeout(Duration::MAX).await, Ok(()));
        assert_eq!(reports(&mut events), []);
    });
}

#[test]
fn a_hook_that_takes_long_is_no_slow_handler() {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let other = system.spawn("other", Worker::default).unwrap();
        let slow = Worker {
            hooks_wait: secs(2),
            ..Worker::default()
        };
        let worker = system.spawn("worker", move || slow.clone()).unwrap();
        worker.watch(other.clone()).await.unwrap();
        other.stop().await;
        // Behind the hook that hears of the end.
        worker.wait(ms(2)).await.unwrap();
        worker.stop().await;
        assert_eq!(reports(&mut events), []);
    });
}

#[test]
fn a_handler_that_was_not_slow_leaves_no_timer_behind() {
    bounded(|| {
        virtual_runtime().block_on(async {
            let system = common::system();
            let worker = system.spawn("worker", Worker::default).unwrap();
            worker.wait(ms(10)).await.unwrap();
            expect_no_timer().await;
        });
    });
}

/// Has a handler hold its thread until it is reported, and for a while after; gives the report.
async fn hold_until_reported(
    worker: &WorkerRef,
    events: &mut Subscription<LifecycleEvent>,
) -> Report {
    let gate = Gate::new();
    let held = worker.hold_at(gate.clone(), LIMIT * 2).ask();
    let opened = async {
        let report = next_report(events).await;
        gate.open();
        report
    };
    let (answer, report) = futures::join!(held, opened);
    assert_eq!(answer, Ok(()));
    report
}

#[test]
fn a_handler_that_holds_its_thread_is_reported_while_it_does() {
    on_two_threads_with(
        |builder| builder.slow_handler(LIMIT),
        async |system| {
            let mut events = system.events();
            let worker = system.spawn("worker", Worker::default).unwrap();
            let (actor, variant, running_for) = hold_until_reported(&worker, &mut events).await;
            assert_eq!((actor.as_str(), variant), ("/test/worker", "HoldAt"));
            assert!(running_for >= LIMIT, "{running_for:?}");
        },
    );
}

#[test]
fn each_handler_that_holds_its_thread_too_long_is_reported_once() {
    on_two_threads_with(
        |builder| builder.slow_handler(LIMIT),
        async |system| {
            let mut events = system.events();
            let worker = system.spawn("worker", Worker::default).unwrap();
            for _ in 0..3 {
                hold_until_reported(&worker, &mut events).await;
                assert_eq!(reports(&mut events), []);
            }
        },
    );
}

#[test]
fn a_handler_that_holds_its_thread_for_less_than_its_limit_is_not_reported() {
    on_two_threads_with(
        |builder| builder.slow_handler(LIMIT * 5),
        async |system| {
            let mut events = system.events();
            let worker = Worker::default();
            let longest = worker.longest.clone();
            let worker = system.spawn("worker", move || worker.clone()).unwrap();
            // Many in one turn, which takes longer than the limit.
            (0..8).for_each(|_| worker.hold(LIMIT).tell());
            worker.hold(LIMIT).await.unwrap();
            // The machine may have held one of them up.
            if longest.get() < LIMIT * 5 {
                assert_eq!(reports(&mut events), []);
            }
        },
    );
}

#[test]
fn one_run_is_reported_once_whether_it_waits_or_holds_its_thread() {
    on_two_threads_with(
        |builder| builder.slow_handler(LIMIT),
        async |system| {
            let mut events = system.events();
            let worker = system.spawn("worker", Worker::default).unwrap();
            for variant in ["WaitAndHold", "HoldAndWait"] {
                let gate = Gate::new();
                let time = LIMIT * 5;
                let opened = async {
                    assert_eq!(next_report(&mut events).await.1, variant);
                    gate.open();
                };
                let (answer, ()) = if variant == "WaitAndHold" {
                    futures::join!(worker.wait_and_hold(gate.clone(), time).ask(), opened)
                } else {
                    futures::join!(worker.hold_and_wait(gate.clone(), time).ask(), opened)
                };
                assert_eq!(answer, Ok(()));
                assert_eq!(reports(&mut events), []);
            }
        },
    );
}

#[test]
fn a_hook_that_holds_its_thread_is_no_slow_handler() {
    on_two_threads_with(
        // So long that no handler takes it because the machine is busy.
        |builder| builder.slow_handler(LIMIT * 4),
        async |system| {
            let mut events = system.events();
            let other = system.spawn("other", Worker::default).unwrap();
            let slow = Worker {
                hooks_hold: LIMIT * 8,
                ..Worker::default()
            };
            let worker = system.spawn("worker", move || slow.clone()).unwrap();
            worker.watch(other.clone()).await.unwrap();
            other.stop().await;
            worker.hold(ms(1)).await.unwrap();
            worker.stop().await;
            assert_eq!(reports(&mut events), []);
        },
    );
}

#[test]
fn an_actor_may_have_a_limit_although_its_system_has_none() {
    on_two_threads_with(
        |builder| builder.slow_handler(Duration::MAX),
        async |system| {
            let mut events = system.events();
            let patient = system.spawn("patient", Worker::default).unwrap();
            let worker = system.actor(Worker::default).slow_handler(LIMIT);
            let worker = worker.name("worker").spawn().unwrap();
            patient.hold(LIMIT * 5).await.unwrap();
            let (actor, ..) = hold_until_reported(&worker, &mut events).await;
            assert_eq!(actor, "/test/worker");
            assert_eq!(reports(&mut events), []);
        },
    );
}
