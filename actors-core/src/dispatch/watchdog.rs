//! The watchdog: a thread that looks after what waits behind a turn that does not end.
//!
//! A worker wakes others only between its turns. While a turn holds its thread, what it made runnable waits; the watchdog
//! looks every 5 ms, and if a worker has begun no turn since its last look and work waits, it wakes a sleeping worker from
//! its own thread: a worker that is woken on a thread of Tokio could wait there for the same turn. If none sleeps, it wakes
//! one that yields to the drivers of Tokio, for the same reason. It follows the real clock, and dozes while all workers
//! sleep.
//!
//! It also tells an [`Overseer`] of turns that take long, who finds out whose they are.

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::{Workers, guarded};

/// The time between two looks.
const PERIOD: Duration = Duration::from_millis(5);
/// It dozes off after so many looks in a row at workers that all sleep, so that an exchange with an actor every few
/// milliseconds does not wake a thread each time.
const LOOKS_BEFORE_DOZE: u32 = 4;

/// Hears of turns that do not end, on the thread of the watchdog.
pub(crate) trait Overseer: Send + 'static {
    /// How long a turn may take before the overseer hears of it; [`Duration::MAX`] for ever.
    fn patience(&self) -> Duration;

    /// Does what a task of Tokio would do that may wait behind a turn. Called every few milliseconds while somebody is awake.
    fn stand_in(&mut self);

    /// One more turn takes longer than that: finds out who is on a thread.
    fn search(&mut self);

    /// Looks after those it has found. Called as often.
    fn check(&mut self);
}

/// The thread, seen from outside.
pub(super) struct Watchdog {
    /// Unset with one worker: there is nobody to wake.
    thread: OnceLock<Thread>,
    dozing: AtomicBool,
}

impl Watchdog {
    pub(super) const fn new() -> Self {
        Self {
            thread: OnceLock::new(),
            dozing: AtomicBool::new(false),
        }
    }

    /// Rouses the watchdog if it dozes. Called when the first worker rises after all slept.
    pub(super) fn everyone_slept(&self) {
        // Ordering: SeqCst, partner of the fence in `doze`: the worker's rise is before it, the read of `dozing` behind it,
        // and there it is the other way round.
        fence(Ordering::SeqCst);
        if self.dozing.load(Ordering::Relaxed) {
            self.rouse();
        }
    }

    /// Ends the thread; the workers are closed.
    pub(super) fn end(&self) {
        self.rouse();
    }

    #[cfg(test)]
    pub(super) fn is_dozing(&self) -> bool {
        self.dozing.load(Ordering::SeqCst)
    }

    fn rouse(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    fn doze(&self, workers: &Workers) {
        self.dozing.store(true, Ordering::Relaxed);
        // Ordering: SeqCst, partner of the fence in `everyone_slept`.
        fence(Ordering::SeqCst);
        if workers.idle.everyone_sleeps() && !workers.is_closed() {
            thread::park();
        }
        self.dozing.store(false, Ordering::Relaxed);
    }
}

/// Starts the watchdog of these workers. It ends when they are closed, and each of them closes all when it is dropped.
pub(super) fn start(workers: &Arc<Workers>, overseer: impl Overseer) {
    let watched = Arc::clone(workers);
    let thread = thread::Builder::new().name("actors-watchdog".into());
    match thread.spawn(move || watch(&watched, overseer)) {
        Ok(thread) => {
            // Nobody else sets it.
            let _ = workers.watchdog.thread.set(thread.thread().clone());
        }
        Err(error) => {
            tracing::warn!(%error, "no watchdog: work may wait behind a handler that holds its thread");
        }
    }
}

fn watch(workers: &Workers, mut overseer: impl Overseer) {
    let mut seen = vec![0; workers.shared.len()];
    let mut turns = vec![LongTurn::default(); workers.shared.len()];
    let mut quiet = 0;
    while !workers.is_closed() {
        if quiet < LOOKS_BEFORE_DOZE {
            thread::park_timeout(PERIOD);
        } else {
            workers.watchdog.doze(workers);
        }
        quiet = if workers.idle.everyone_sleeps() {
            quiet + 1
        } else {
            0
        };
        guarded("what waits behind a turn", || overseer.stand_in());
        look(workers, &mut seen);
        oversee(workers, &mut turns, &mut overseer);
    }
}

/// What is known of the turn of a worker.
#[derive(Clone, Copy, Default)]
pub(super) struct LongTurn {
    turn: usize,
    /// When this turn was first seen; `None` while the worker sleeps.
    since: Option<Instant>,
    /// Whether the overseer has heard of it.
    told: bool,
}

impl LongTurn {
    /// Sees that the worker is in this turn, or was last; says whether that takes longer than `patience`.
    fn takes_longer(&mut self, turn: usize, patience: Duration, now: Instant) -> bool {
        if self.turn != turn {
            *self = Self {
                turn,
                since: None,
                told: false,
            };
        }
        match self.since {
            Some(since) => now.saturating_duration_since(since) >= patience,
            None => {
                self.since = Some(now);
                false
            }
        }
    }
}

/// Tells the overseer of turns that take long.
pub(super) fn oversee(workers: &Workers, turns: &mut [LongTurn], overseer: &mut impl Overseer) {
    let patience = overseer.patience();
    if patience == Duration::MAX {
        return;
    }
    let now = Instant::now();
    let mut new = false;
    for (index, (worker, long)) in workers.shared.iter().zip(turns).enumerate() {
        // Ordering: Relaxed, as in `look`.
        let turn = worker.turns.load(Ordering::Relaxed);
        if !long.takes_longer(turn, patience, now) {
            continue;
        }
        // A worker that sleeps is in no turn; it begins another when it rises.
        if workers.idle.is_asleep(index) {
            long.since = None;
            continue;
        }
        new |= !std::mem::replace(&mut long.told, true);
    }
    guarded("the report of a turn that takes long", || {
        if new {
            overseer.search();
        }
        overseer.check();
    });
}

/// Helps if work waits that no worker has come to since the last look, when `seen` was written.
pub(super) fn look(workers: &Workers, seen: &mut [usize]) {
    let injected = !workers.injector.is_empty();
    let stuck: Vec<_> = workers
        .shared
        .iter()
        .zip(seen)
        .filter_map(|(worker, seen)| {
            // Ordering: Relaxed, partner of the store in `Desk::begin_turn`; only the change matters.
            let turns = worker.turns.load(Ordering::Relaxed);
            let stuck = std::mem::replace(seen, turns) == turns;
            (stuck && (injected || !worker.local.is_empty())).then_some(worker)
        })
        .collect();
    if stuck.is_empty() || workers.wake_one() {
        return;
    }
    // Nobody sleeps, but one that yields waits in a list of a thread that may be held by a turn of another.
    let yielding = stuck
        .into_iter()
        .find_map(|worker| worker.yielding.lock().take());
    if let Some(waker) = yielding {
        waker.wake();
    }
}
