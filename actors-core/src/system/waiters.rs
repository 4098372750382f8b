//! Those who wait for one event, each in a place of its own.

use std::collections::BTreeMap;
use std::task::Waker;

use crate::panic;

/// The wakers of those who wait. Guarded by the lock of its owner: wakers leave it before they are woken or dropped.
///
/// A place is made with the first poll and given back when its holder waits no more, so that nothing is kept of a wait
/// that was dropped.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Waiters {
    /// Leaves a waker at `place`; the first call, without one, makes it. Returns the waker that this replaces.
    #[must_use]
    pub(super) fn wait(&mut self, place: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        let place = *place.get_or_insert_with(|| {
            self.next += 1;
            self.next
        });
        self.wakers.insert(place, waker)
    }

    /// Gives a place back, and with it the waker that waits there.
    #[must_use]
    pub(super) fn leave(&mut self, place: u64) -> Option<Waker> {
        self.wakers.remove(&place)
    }

    /// Wakes all, in the order of their first polls; to be called outside the lock.
    pub(super) fn wake_all(self) {
        self.wakers.into_values().for_each(panic::wake);
    }
}
