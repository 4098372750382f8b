//! What became of all messages (promise D4).
//!
//! Each term is counted where it happens, none is computed from the others. What an actor counts for itself (accepted under
//! the lock of its mailbox, handled by its activation) costs nothing shared; it moves here when the actor ends.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A snapshot of what became of the messages of a system.
///
/// When no turn runs and no call is inside the system, `accepted == queued + stashed + running + handled + failed +
/// cancelled + dead` holds exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Messages that a mailbox took, ever.
    pub accepted: u64,
    /// Messages that wait in mailboxes, those included whose asker is gone.
    pub queued: u64,
    /// Messages set aside by their actors; 0 as long as there is no stash.
    pub stashed: u64,
    /// Messages inside handlers.
    pub running: u64,
    /// Messages whose handler returned.
    pub handled: u64,
    /// Messages whose handler panicked, failed its actor, or was cut at an await.
    pub failed: u64,
    /// Messages that were not handled because their asker was gone, or because they were results for an earlier
    /// incarnation.
    pub cancelled: u64,
    /// Accepted messages that nobody could take any more: dead letters, and asks that failed because the actor ended.
    pub dead: u64,
    /// Messages refused at a `tell`; these were never accepted, and are dead letters too.
    pub refused: u64,
    /// Replies that came when their asker was gone.
    pub late_replies: u64,
}

impl Counters {
    /// Says whether every accepted message is accounted for.
    pub const fn is_balanced(&self) -> bool {
        let ended = self.handled + self.failed + self.cancelled + self.dead;
        self.accepted == self.queued + self.stashed + self.running + ended
    }
}

/// What one writer counts, in four bytes: as often as these are full, it spills over into a counter for all.
#[derive(Debug)]
pub(super) struct Count(AtomicU32);

impl Count {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Counts one more; only one thread at a time may.
    #[inline]
    pub(super) fn add_one(&self, spill: &AtomicU64) {
        // Ordering: Relaxed, for an obvious counter. One writes, so this is a load and a store.
        let count = self.0.load(Ordering::Relaxed).wrapping_add(1);
        self.0.store(count, Ordering::Relaxed);
        if count == 0 {
            add(spill, 1 << 32);
        }
    }

    /// What has been counted and not spilled.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed).into()
    }
}

/// The shared part: of actors that have ended, and of what happens seldom.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    accepted: AtomicU64,
    pub(super) handled: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) cancelled: AtomicU64,
    pub(crate) dead: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) late_replies: AtomicU64,
}

pub(crate) fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl Totals {
    /// Takes over what an actor counted that has ended.
    pub(super) fn retire(&self, accepted: u64, handled: u64) {
        add(&self.accepted, accepted);
        add(&self.handled, handled);
    }

    /// Takes over what an actor counted after it was abandoned; `failed` if its handler had been counted as failed, and has
    /// come to an end after all.
    pub(super) fn settle(&self, handled: u64, failed: bool) {
        add(&self.handled, handled);
        self.failed.fetch_sub(u64::from(failed), Ordering::Relaxed);
    }

    pub(super) fn snapshot(&self) -> Counters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            accepted: read(&self.accepted),
            handled: read(&self.handled),
            failed: read(&self.failed),
            cancelled: read(&self.cancelled),
            dead: read(&self.dead),
            refused: read(&self.refused),
            late_replies: read(&self.late_replies),
            ..Counters::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_actor_counts_is_never_lost_however_much_it_is() {
        let (count, all) = (Count(AtomicU32::new(u32::MAX - 1)), AtomicU64::new(5));
        let sum = || count.get() + all.load(Ordering::Relaxed);
        let before = sum();
        for more in 1..=3 {
            count.add_one(&all);
            assert_eq!(sum(), before + more);
        }
    }
}
