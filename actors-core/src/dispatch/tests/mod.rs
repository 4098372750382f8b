//! The rules of the module, by hand and on Tokio.

mod by_hand;
mod closing;
mod on_tokio;

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use super::{Overseer, Runnable, Schedule, Worker, Workers, schedule};
use crate::path::ActorId;

/// Hears of nothing.
struct NoOverseer;

impl Overseer for NoOverseer {
    fn patience(&self) -> Duration {
        Duration::MAX
    }

    fn stand_in(&mut self) {}

    fn search(&mut self) {}

    fn check(&mut self) {}
}

/// Workers without a watchdog, so that a lost wake-up stays lost.
fn unwatched(count: usize) -> (Arc<Workers>, Vec<Worker>) {
    Workers::unwatched(NonZeroUsize::new(count).unwrap(), || {})
}

fn watched(count: usize) -> (Arc<Workers>, Vec<Worker>) {
    Workers::new(NonZeroUsize::new(count).unwrap(), NoOverseer, || {})
}

/// One worker, to be polled by hand.
fn single() -> (Arc<Workers>, Worker) {
    let (workers, mut tasks) = unwatched(1);
    (workers, tasks.pop().unwrap())
}

fn runnable(workers: &Arc<Workers>, future: impl Future<Output = ()> + Send + 'static) -> Runnable {
    let seam = Arc::clone(workers) as Arc<dyn Schedule>;
    let (runnable, task) = Runnable::task(ActorId::new(1), seam, future);
    task.detach();
    runnable
}

/// Schedules a new task, from wherever the caller is.
fn start(workers: &Arc<Workers>, future: impl Future<Output = ()> + Send + 'static) {
    schedule(runnable(workers, future));
}

/// Calls `turn` at each poll, and wakes itself while that answers `true`.
fn turns(
    mut turn: impl FnMut() -> bool + Send + Unpin + 'static,
) -> impl Future<Output = ()> + Send {
    std::future::poll_fn(move |cx| {
        if turn() {
            cx.waker().wake_by_ref();
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
}

/// Calls `f` as somebody who is in no turn of any worker.
fn from_outside<R>(f: impl FnOnce() -> R) -> R {
    let mut nothing = None;
    let _lent = super::current::lend(&mut nothing);
    f()
}

/// Counts how often it is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wakes {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn poll(worker: &mut Worker) -> Poll<()> {
    poll_with(worker, Waker::noop())
}

fn poll_with(worker: &mut Worker, waker: &Waker) -> Poll<()> {
    Pin::new(worker).poll(&mut Context::from_waker(waker))
}

/// A counter that tests and tasks share.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicUsize>);

impl Counter {
    fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Counts its drop.
struct Tally(Counter);

impl Drop for Tally {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// Holds this thread for a time by the real clock, or until `done`. Says whether it was done.
fn hold_thread(time: Duration, mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if done() {
            return true;
        }
        thread::yield_now();
    }
    done()
}

/// Waits for what other threads bring about.
#[track_caller]
fn eventually(done: impl FnMut() -> bool) {
    assert!(
        hold_thread(Duration::from_secs(20), done),
        "it did not happen"
    );
}

/// A task that waits for nothing, and holds `held`.
async fn forever(held: impl Send + 'static) {
    let _held = held;
    std::future::pending::<()>().await;
}
