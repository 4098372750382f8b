//! A world for one test: a system with its own clock, a limit, and an account of every message in the end.

use std::future::Future;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use actors_core::prelude::*;
use actors_core::{LifecycleEvent, Subscription, SystemBuilder};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::{settle, spin};

/// No test takes as long as this on the real clock, unless it hangs.
const REAL_LIMIT: Duration = Duration::from_secs(30);

/// No test takes as long as this on its own clock, unless it hangs.
const VIRTUAL_LIMIT: Duration = Duration::from_secs(3_600);

/// Runs a test on a thread of its own, and fails it when it hangs.
#[track_caller]
pub(crate) fn bounded<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, is_done) = channel();
    let running = thread::spawn(move || {
        let result = test();
        let _ = done.send(());
        result
    });
    if matches!(
        is_done.recv_timeout(REAL_LIMIT),
        Err(RecvTimeoutError::Timeout)
    ) {
        panic!("the test hangs");
    }
    running.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// A runtime of one thread whose time stands still while anything can run, and jumps to the next timer when nothing can.
pub(crate) fn virtual_runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
}

/// A runtime of two threads and the real clock.
pub(crate) fn threaded_runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Runs a test with a system of its own in virtual time. In the end every accepted message must be accounted for.
#[track_caller]
pub(crate) fn in_virtual_time<T>(test: T)
where
    T: AsyncFnOnce(ActorSystem) + Send + 'static,
{
    in_virtual_time_with(|builder| builder, test);
}

/// The same, with settings.
#[track_caller]
pub(crate) fn in_virtual_time_with<T>(
    settings: impl FnOnce(SystemBuilder) -> SystemBuilder + Send + 'static,
    test: T,
) where
    T: AsyncFnOnce(ActorSystem) + Send + 'static,
{
    bounded(move || {
        virtual_runtime().block_on(async move {
            let system = settings(ActorSystem::builder("test")).build().unwrap();
            timeout(VIRTUAL_LIMIT, test(system.clone()))
                .await
                .expect("the test hangs");
            settle().await;
            let counters = system.counters();
            assert!(counters.is_balanced(), "{counters:?}");
        });
    });
}

/// Runs a test with a system of its own on two threads and the real clock. In the end every accepted message must be
/// accounted for.
#[track_caller]
pub(crate) fn on_two_threads<T>(test: T)
where
    T: AsyncFnOnce(ActorSystem) + Send + 'static,
{
    on_two_threads_with(|builder| builder, test);
}

/// The same, with settings.
#[track_caller]
pub(crate) fn on_two_threads_with<T>(
    settings: impl FnOnce(SystemBuilder) -> SystemBuilder + Send + 'static,
    test: T,
) where
    T: AsyncFnOnce(ActorSystem) + Send + 'static,
{
    bounded(move || {
        threaded_runtime().block_on(async move {
            let system = settings(ActorSystem::builder("test")).build().unwrap();
            test(system.clone()).await;
            system.shutdown().await;
            let counters = system.counters();
            assert!(counters.is_balanced(), "{counters:?}");
        });
    });
}

/// How much virtual time a future takes, and what it gives.
pub(crate) async fn timed<F: Future>(future: F) -> (Duration, F::Output) {
    let began = Instant::now();
    let output = future.await;
    (began.elapsed(), output)
}

/// Checks that no timer is left: while nothing can run and there is one, virtual time jumps to it.
pub(crate) async fn expect_no_timer() {
    let (done, is_done) = oneshot::channel();
    let outsider = thread::spawn(move || {
        spin(Duration::from_millis(20));
        done.send(())
    });
    let (passed, is_done) = timed(is_done).await;
    assert_eq!((passed, is_done), (Duration::ZERO, Ok(())));
    outsider.join().unwrap().unwrap();
}

/// Runs a future beside the test.
pub(crate) fn beside<F: Future<Output: Send + 'static> + Send + 'static>(
    future: F,
) -> JoinHandle<F::Output> {
    Handle::current().spawn(future)
}

/// The events so far that say what `pick` picks.
pub(crate) fn picked<T>(
    events: &mut Subscription<LifecycleEvent>,
    pick: impl Fn(LifecycleEvent) -> Option<T>,
) -> Vec<T> {
    std::iter::from_fn(|| events.try_next())
        .filter_map(pick)
        .collect()
}
