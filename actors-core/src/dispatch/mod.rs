//! Gives runnable actors a thread; knows no actor.
//!
//! An [`Activation`] owns itself: a [`Runnable`] is the activation of an actor, taken out of its mailbox, or a turn of a task of the
//! system's. So a runnable is in one queue, or on one stack, and needs no state that says where it is. After its turn, the actor
//! puts its activation where it belongs ([`settle`](turn::Identity::settle)). Only tasks of the system and pipes are made with
//! `async-task`.
//!
//! Whatever makes an actor runnable hands a [`Runnable`] to a [`Schedule`]: the one seam between actors and threads. In
//! production that is [`Workers`], a fixed number of long-lived tasks on the Tokio runtime; a simulation is another.
//!
//! # Terms
//!
//! A *turn* is one run of a runnable. A *poll* is one visit of Tokio to a worker: a row of turns. Each worker has a
//! *local queue*, first in first out, that the other workers may steal from. The *injector* is the queue of everyone who
//! schedules from outside of a turn of these workers.
//!
//! # The way of a runnable
//!
//! ```text
//! schedule -> the local queue, from inside a turn of the same workers -> the same worker, or a thief
//!          -> the injector, from anywhere else; wakes a sleeper       -> any worker
//!          -> dropped, when the workers are closed
//! ```
//!
//! # Guarantees
//!
//! - A runnable is run once or dropped once. None is left behind by [`Workers::close`], and none when the runtime is
//!   dropped under the workers: a worker that is dropped closes them all, then says so through `lost`.
//! - Dropping runnables does not recurse, however long the chain of futures that schedule others as they are dropped.
//! - Tokio keeps its share: a poll ends after 200 µs, and every millisecond a worker yields to the I/O and
//!   timer drivers. No turn starts once the poll has used up its cooperative budget, or a Tokio resource would tell an
//!   actor `Pending` although it is ready.
//! - Outsiders keep theirs: the first turn of each poll and every 31st look at the injector first.
//! - A push from outside finds a worker awake or wakes one; see the rules in `idle.rs`.
//! - A worker never dies of a panic.
//!
//! # A worker is woken by nobody who may keep it waiting
//!
//! A task that is woken on a thread of Tokio waits in a slot of that thread, out of reach of the others, until the poll
//! of whoever woke it ends. So a turn wakes nobody: the worker looks at its queue when the turn is over, and if more is
//! there than it can run next, it wakes a sleeper and ends its poll at once. A lone runnable wakes nobody. Whatever waits
//! behind a turn that does not end is the watchdog's care (`watchdog.rs`).
//!
//! # Not guaranteed
//!
//! With one worker, or on a `current_thread` runtime, nothing runs beside a turn that holds its thread. Runnables keep
//! their order within one queue, not across queues. Slices and the watchdog follow the real clock, so no run is
//! repeatable here; that is what the seam is for.

mod current;
mod idle;
mod runnable;
pub(crate) mod turn;
mod watchdog;
mod worker;

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::Waker;

use crossbeam_deque::{Injector, Steal, Stealer};

use self::idle::{AfterPush, Idle};
use self::watchdog::Watchdog;
use self::worker::Desk;
use crate::panic;
use crate::sync::Mutex;

pub(crate) use self::current::{run_here, runs_here, slice_is_over, takes_one_more_here};
pub use self::runnable::Runnable;
pub(crate) use self::runnable::{Activation, TaskInfo, schedule};
pub(crate) use self::watchdog::Overseer;
pub(crate) use self::worker::Worker;

/// Gives runnable actors a thread, now or later.
///
/// `schedule` is called from any thread, also from inside a turn and while a future is dropped. It must not run the
/// runnable itself, and each runnable must be run or dropped in the end.
pub trait Schedule: Send + Sync + 'static {
    /// Takes a runnable, to be run soon.
    fn schedule(&self, runnable: Runnable);
}

/// The workers of one system, seen from outside.
pub(crate) struct Workers {
    injector: Injector<Runnable>,
    /// What the workers share of themselves, by their index.
    shared: Box<[Shared]>,
    idle: Idle,
    watchdog: Watchdog,
    /// Guards itself alone; taken by whoever closes or runs it.
    lost: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

/// What others see of a worker. Aligned, so that no two workers write to one cache line.
#[repr(align(128))]
struct Shared {
    local: Stealer<Runnable>,
    /// The number of turns begun, written by the worker and read by the watchdog.
    turns: AtomicUsize,
    /// Its waker while it yields to the drivers of Tokio, for the watchdog. The lock guards nothing else.
    yielding: Mutex<Option<Waker>>,
}

impl Workers {
    /// Makes `count` workers; the caller spawns each of them on Tokio.
    ///
    /// `overseer` hears of turns that do not end, if there is more than one worker.
    ///
    /// `lost` runs at most once: when a worker is dropped before [`close`](Self::close), because its runtime went away. The
    /// workers close right after.
    pub(crate) fn new(
        count: NonZeroUsize,
        overseer: impl Overseer,
        lost: impl FnOnce() + Send + 'static,
    ) -> (Arc<Self>, Vec<Worker>) {
        let (workers, tasks) = Self::unwatched(count, lost);
        if count.get() > 1 {
            watchdog::start(&workers, overseer);
        }
        (workers, tasks)
    }

    fn unwatched(
        count: NonZeroUsize,
        lost: impl FnOnce() + Send + 'static,
    ) -> (Arc<Self>, Vec<Worker>) {
        let locals: Vec<_> = (0..count.get())
            .map(|_| crossbeam_deque::Worker::new_fifo())
            .collect();
        let shared = locals.iter().map(|local| Shared {
            local: local.stealer(),
            turns: AtomicUsize::new(0),
            yielding: Mutex::new(None),
        });
        let workers = Arc::new(Self {
            injector: Injector::new(),
            shared: shared.collect(),
            idle: Idle::new(count.get()),
            watchdog: Watchdog::new(),
            lost: Mutex::new(Some(Box::new(lost))),
        });
        let tasks = locals
            .into_iter()
            .enumerate()
            .map(|(index, local)| Worker::new(Desk::new(Arc::clone(&workers), index, local)))
            .collect();
        (workers, tasks)
    }

    /// Ends the workers and drops every runnable; one that is scheduled later is dropped at once.
    ///
    /// A turn that runs goes on to its end. Inside the destructor of a future of these workers, what is left to drop is
    /// dropped when that destructor has returned.
    pub(crate) fn close(&self) {
        let Some(sleepers) = self.idle.close() else {
            return;
        };
        let lost = self.lost.lock().take();
        drop(lost);
        for sleeper in sleepers {
            sleeper.wake();
        }
        self.watchdog.end();
        self.empty_queues();
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.idle.is_closed()
    }

    /// A worker went away before its time: tells whoever made the workers, so that they know before the first actor is
    /// dropped for it, and closes.
    fn lose(&self) {
        let lost = self.lost.lock().take();
        if let Some(lost) = lost {
            guarded("the report of a lost runtime", lost);
        }
        self.close();
    }

    /// Pushes from outside of a turn of these workers, and sees that somebody comes for it.
    fn inject(&self, runnable: Runnable) {
        self.injector.push(runnable);
        match self.idle.after_push() {
            AfterPush::Nothing => {}
            AfterPush::Wake => {
                self.wake_one();
            }
            // The close may have emptied the injector before this push.
            AfterPush::Closed => self.empty_queues(),
        }
    }

    /// Drops what is in the injector and in every local queue.
    fn empty_queues(&self) {
        let injected = std::iter::from_fn(|| drain(|| self.injector.steal()));
        let local = self
            .shared
            .iter()
            .flat_map(|worker| std::iter::from_fn(|| drain(|| worker.local.steal())));
        current::bury(injected.chain(local).collect());
    }

    /// Wakes a sleeping worker, if there is one; not to be called by a turn, see the module.
    fn wake_one(&self) -> bool {
        let Some(roused) = self.idle.wake_one() else {
            return false;
        };
        if roused.was_everyone {
            self.watchdog.everyone_slept();
        }
        roused.waker.wake();
        true
    }

    /// Says whether a worker that has nothing to do should stay: for the injector, and for a worker with more than it can
    /// run next.
    fn has_work_to_share(&self) -> bool {
        !self.injector.is_empty() || self.shared.iter().any(|worker| worker.local.len() > 1)
    }
}

impl Schedule for Workers {
    fn schedule(&self, runnable: Runnable) {
        if self.is_closed() {
            return current::bury(VecDeque::from([runnable]));
        }
        self.inject(runnable);
    }
}

/// Takes one runnable from a queue that may be contended, until it is empty.
fn drain(mut steal: impl FnMut() -> Steal<Runnable>) -> Option<Runnable> {
    loop {
        match steal() {
            Steal::Success(runnable) => return Some(runnable),
            Steal::Empty => return None,
            // Somebody else has made progress with this queue, so the loop ends when its other users do.
            Steal::Retry => std::hint::spin_loop(),
        }
    }
}

/// Runs code that should not panic, and lets nothing through if it does.
fn guarded(what: &str, code: impl FnOnce()) {
    if let Err(panic) = panic::catch(code) {
        // The log is user code too.
        let _ = panic::catch(|| {
            tracing::error!(%panic, "{what} panicked, which is a bug of the actor runtime");
        });
    }
}

#[cfg(test)]
mod tests;
