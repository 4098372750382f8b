//! What several test files share: runtimes with a limit, a log, a gate, and an actor that does what a test tells it to.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "tests: each file uses its own part of this, and a failed unwrap is a failed test"
)]

pub(crate) mod bomb;
pub(crate) mod judge;
pub(crate) mod puppet;
pub(crate) mod recorder;
pub(crate) mod troupe;
pub(crate) mod world;

use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use actors_core::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Runs a test on one thread with virtual time, which jumps when nothing can run: a test that waits for something that never
/// comes fails at once.
pub(crate) fn paused<T>(test: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    bounded(&runtime, secs(100_000), test)
}

/// Runs a test on threads of its own, in real time, for what is about threads.
pub(crate) fn threads<T>(count: usize, test: impl Future<Output = T>) -> T {
    let runtime = Builder::new_multi_thread()
        .worker_threads(count)
        .enable_time()
        .build()
        .unwrap();
    let result = bounded(&runtime, secs(20), test);
    runtime.shutdown_background();
    result
}

fn bounded<T>(runtime: &Runtime, limit: std::time::Duration, test: impl Future<Output = T>) -> T {
    runtime
        .block_on(async { tokio::time::timeout(limit, test).await })
        .expect("the test waits for something that never comes")
}

/// Lets virtual time pass, and everything that is due then run.
pub(crate) async fn pass(time: std::time::Duration) {
    settle().await;
    tokio::time::advance(time).await;
    settle().await;
}

/// Lets everything run that can run now, without moving the clock.
pub(crate) async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

/// Runs a future beside the test.
#[expect(
    clippy::disallowed_methods,
    reason = "the test is a user here, and no part of the runtime"
)]
pub(crate) fn beside<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> tokio::task::JoinHandle<T> {
    tokio::spawn(future)
}

/// Waits in real time until something holds, without sleeping: for tests on [`threads`].
pub(crate) async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

/// What happened, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: impl Display) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line.to_string());
    }

    /// Takes the lines so far.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at the lines so far.
    pub(crate) fn peek(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Counts the lines that read so.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|other| *other == line)
            .count()
    }
}

/// Holds those who come to it until a test opens it.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Arc<Doors>);

#[derive(Debug)]
struct Doors {
    open: watch::Sender<bool>,
    reached: watch::Sender<usize>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Doors {
            open: watch::Sender::new(false),
            reached: watch::Sender::new(0),
        }))
    }

    pub(crate) fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Says that somebody has come, who does not wait.
    pub(crate) fn arrive(&self) {
        self.0.reached.send_modify(|count| *count += 1);
    }

    /// Waits until it is open.
    pub(crate) async fn pass(&self) {
        self.arrive();
        self.0
            .open
            .subscribe()
            .wait_for(|open| *open)
            .await
            .expect("a gate outlives those who hold it");
    }

    /// Holds this thread until it is open.
    pub(crate) fn block(&self) {
        futures::executor::block_on(self.pass());
    }

    /// Waits until so many have come to it.
    pub(crate) async fn reached(&self, times: usize) {
        self.0
            .reached
            .subscribe()
            .wait_for(|count| *count >= times)
            .await
            .expect("a gate outlives those who hold it");
    }
}

/// Makes a system with the default settings.
pub(crate) fn system() -> ActorSystem {
    ActorSystem::new("test").unwrap()
}

/// Says which failure spent the budget of an actor.
pub(crate) async fn restart_limit<A: Actor>(actor: &ActorRef<A>) -> String {
    match actor.stopped().await {
        StopReason::RestartLimit(failure) => failure.text().to_owned(),
        other => panic!("no limit but: {other}"),
    }
}

/// Holds this thread for so long: for what is about the real clock.
pub(crate) fn spin(time: std::time::Duration) {
    let began = std::time::Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The error of an ask whose handler panicked.
pub(crate) fn panicked<E>(text: &str) -> AskError<E> {
    AskError::Panicked(text.into())
}

/// The error of an ask whose actor stopped before its handler began.
pub(crate) const fn turned_out<E>() -> AskError<E> {
    AskError::Stopped {
        phase: Phase::Queued,
    }
}
