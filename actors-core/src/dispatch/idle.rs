//! How workers sleep and are woken.
//!
//! # Rules
//!
//! | step                                | by                  | what                                                             |
//! |-------------------------------------|---------------------|------------------------------------------------------------------|
//! | [`sleep`](Idle::sleep)              | a worker            | leaves its waker under the lock, then a fence                    |
//! | re-check                            | that worker         | looks at the queues once more; finding work, it leaves           |
//! | [`after_push`](Idle::after_push)    | who pushed outside  | a fence, then reads the word: nobody, somebody, or closed        |
//! | [`wake_one`](Idle::wake_one)        | who found somebody  | takes one waker under the lock, wakes it outside                 |
//! | [`leave`](Idle::leave)              | a worker            | takes its entry back, if nobody took it                          |
//! | [`close`](Idle::close)              | once                | takes all wakers; nobody sleeps from here on                     |
//!
//! **No wake-up is lost**: a pusher pushes, fences and reads the word; a worker writes the word, fences and reads the
//! queues. Whatever the order, one of the two sees the other. **Nothing outlives a close** for the same reason: a pusher
//! reads the closed bit after its push, the closer empties the queues after it has set the bit.
//!
//! Each entry is taken once, by a waker, a close, or its own worker; so a worker is never in the list twice, and a waker is
//! never woken for nothing that could have gone to another.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::task::Waker;

use crate::sync::Mutex;

/// Set in the word when the workers are closed; the number of sleepers is above it.
const CLOSED: usize = 1;
const ONE_ASLEEP: usize = 2;

/// Who sleeps, and whether anybody may.
pub(super) struct Idle {
    /// The number of sleepers and [`CLOSED`]: a copy of what the lock guards, written under it, read without.
    word: AtomicUsize,
    sleepers: Mutex<Vec<Sleeper>>,
    count: usize,
}

struct Sleeper {
    worker: usize,
    waker: Waker,
}

/// What a pusher must do now.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum AfterPush {
    /// Every worker is awake.
    Nothing,
    /// Somebody sleeps: [`Idle::wake_one`].
    Wake,
    /// The queues may have been emptied before the push: empty them again.
    Closed,
}

/// Whether a worker sleeps now.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Sleep {
    /// The waker is registered: look at the queues once more.
    Asleep,
    /// The workers are closed: end.
    Closed,
}

/// A sleeper that was taken from the list, to be woken outside the lock.
#[must_use]
pub(super) struct Roused {
    pub(super) waker: Waker,
    /// Whether all workers were asleep until now.
    pub(super) was_everyone: bool,
}

impl Idle {
    pub(super) fn new(count: usize) -> Self {
        let sleepers = Mutex::new(Vec::with_capacity(count));
        Self {
            word: AtomicUsize::new(0),
            sleepers,
            count,
        }
    }

    /// Says whether the workers are closed. A `false` may be out of date: see [`after_push`](Self::after_push).
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // Ordering: Acquire, partner of the store in `publish`: who sees the close sees what was done before it.
        self.word.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Says whether a worker sleeps; a hint, for those whose push is safe without it.
    pub(super) fn anyone_sleeps(&self) -> bool {
        // Ordering: Relaxed, because nothing hangs on a stale answer.
        self.word.load(Ordering::Relaxed) >= ONE_ASLEEP
    }

    /// Says whether all workers sleep. Exact after a fence that follows what the caller has published.
    pub(super) fn everyone_sleeps(&self) -> bool {
        // Ordering: Relaxed; the watchdog brings its own fence.
        self.word.load(Ordering::Relaxed) / ONE_ASLEEP == self.count
    }

    /// Decides, after a push from outside, what the pusher must do.
    pub(super) fn after_push(&self) -> AfterPush {
        // Ordering: SeqCst, partner of the fences in `sleep` and `close`: the push is before it, the read of the word
        // behind it, and there it is the other way round.
        fence(Ordering::SeqCst);
        let word = self.word.load(Ordering::Relaxed);
        if word & CLOSED != 0 {
            AfterPush::Closed
        } else if word >= ONE_ASLEEP {
            AfterPush::Wake
        } else {
            AfterPush::Nothing
        }
    }

    /// Registers a worker that found nothing to do. The caller looks at the queues once more, and leaves if there is work.
    pub(super) fn sleep(&self, worker: usize, waker: &Waker) -> Sleep {
        // The clone is code of the runtime, so it is made before the lock.
        let sleeper = Sleeper {
            worker,
            waker: waker.clone(),
        };
        {
            let mut sleepers = self.sleepers.lock();
            if self.is_closed() {
                return Sleep::Closed;
            }
            debug_assert!(
                sleepers.iter().all(|other| other.worker != worker),
                "asleep twice"
            );
            sleepers.push(sleeper);
            self.publish(sleepers.len(), 0);
        }
        // Ordering: SeqCst, partner of the fence in `after_push`.
        fence(Ordering::SeqCst);
        Sleep::Asleep
    }

    /// Says whether a worker sleeps.
    pub(super) fn is_asleep(&self, worker: usize) -> bool {
        let sleepers = self.sleepers.lock();
        sleepers.iter().any(|sleeper| sleeper.worker == worker)
    }

    /// Takes a worker off the list, if it is still there. Says whether all workers were asleep until now.
    pub(super) fn leave(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let everyone = sleepers.len() == self.count;
        let Some(at) = sleepers.iter().position(|sleeper| sleeper.worker == worker) else {
            return false;
        };
        let sleeper = sleepers.swap_remove(at);
        self.publish(sleepers.len(), 0);
        drop(sleepers);
        // The waker is dropped outside the lock.
        drop(sleeper);
        everyone
    }

    /// Takes one sleeper off the list, for the caller to wake.
    #[must_use]
    pub(super) fn wake_one(&self) -> Option<Roused> {
        let mut sleepers = self.sleepers.lock();
        let was_everyone = sleepers.len() == self.count;
        let Sleeper { waker, .. } = sleepers.pop()?;
        self.publish(sleepers.len(), 0);
        Some(Roused {
            waker,
            was_everyone,
        })
    }

    /// Closes and returns the wakers of all sleepers; `None` when it was closed before. The caller then empties the queues.
    #[must_use]
    pub(super) fn close(&self) -> Option<Vec<Waker>> {
        let mut sleepers = self.sleepers.lock();
        if self.is_closed() {
            return None;
        }
        let wakers = sleepers.drain(..).map(|sleeper| sleeper.waker).collect();
        self.publish(0, CLOSED);
        drop(sleepers);
        // Ordering: SeqCst, partner of the fence in `after_push`.
        fence(Ordering::SeqCst);
        Some(wakers)
    }

    /// Copies what the lock guards into the word; the caller holds the lock.
    fn publish(&self, asleep: usize, closed: usize) {
        // Ordering: Release, partner of `is_closed`. No read-modify-write, because writers hold the lock.
        self.word
            .store((asleep * ONE_ASLEEP) | closed, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::task::noop_waker;

    use super::*;

    #[test]
    fn a_pusher_is_told_of_sleepers_and_of_the_close() {
        let idle = Idle::new(2);
        assert_eq!(idle.after_push(), AfterPush::Nothing);
        assert_eq!(idle.sleep(0, &noop_waker()), Sleep::Asleep);
        assert_eq!(idle.after_push(), AfterPush::Wake);
        assert!(idle.close().is_some());
        assert_eq!(idle.after_push(), AfterPush::Closed);
    }

    #[test]
    fn an_entry_is_taken_once() {
        let idle = Idle::new(2);
        assert_eq!(idle.sleep(1, &noop_waker()), Sleep::Asleep);
        assert!(idle.wake_one().is_some());
        assert!(idle.wake_one().is_none());
        assert!(!idle.leave(1));
        assert!(!idle.anyone_sleeps());
    }

    #[test]
    fn a_worker_that_left_is_not_woken() {
        let idle = Idle::new(2);
        assert_eq!(idle.sleep(1, &noop_waker()), Sleep::Asleep);
        let _ = idle.leave(1);
        assert!(idle.wake_one().is_none());
    }

    #[test]
    fn the_first_to_wake_learns_that_everyone_slept() {
        let idle = Idle::new(2);
        assert_eq!(idle.sleep(0, &noop_waker()), Sleep::Asleep);
        assert!(!idle.everyone_sleeps());
        assert_eq!(idle.sleep(1, &noop_waker()), Sleep::Asleep);
        assert!(idle.everyone_sleeps());
        assert!(idle.leave(0));
        assert!(!idle.wake_one().unwrap().was_everyone);
    }

    #[test]
    fn a_close_takes_every_waker_and_nobody_sleeps_after_it() {
        let idle = Idle::new(2);
        assert_eq!(idle.sleep(0, &noop_waker()), Sleep::Asleep);
        assert_eq!(idle.close().unwrap().len(), 1);
        assert!(idle.close().is_none());
        assert_eq!(idle.sleep(1, &noop_waker()), Sleep::Closed);
        assert!(!idle.anyone_sleeps());
    }

    #[test]
    fn no_waker_is_kept_after_its_entry_is_gone() {
        struct Flag;
        impl std::task::Wake for Flag {
            fn wake(self: Arc<Self>) {}
        }
        let flag = Arc::new(Flag);
        let idle = Idle::new(1);
        let waker = Waker::from(Arc::clone(&flag));
        assert_eq!(idle.sleep(0, &waker), Sleep::Asleep);
        let _ = idle.leave(0);
        assert_eq!(idle.sleep(0, &waker), Sleep::Asleep);
        drop((idle.close(), waker));
        assert_eq!(Arc::strong_count(&flag), 1);
    }
}
