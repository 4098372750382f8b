//! The side of a mailbox that its activation uses with each message, and that needs no lock.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

/// Why an activation gives up its thread before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Pause {
    /// It has handled all there was.
    Idle,
    /// It is in the midst of user code, which will be woken.
    Awaiting,
    /// Others come first.
    Turn,
    /// It was parked since.
    Parked,
}

/// The part of a mailbox that the activation reads and writes with each message, without the lock.
///
/// It is to lie away from the other part, at least a cache line from what pushers write: or each message would cost both sides a
/// transfer between their processors.
pub(crate) struct Side {
    /// How many messages the activation has taken as a burst and not begun.
    // Ordering: Relaxed everywhere. It grows under the lock, where others read it, so that no message is counted twice;
    // the activation alone counts it down.
    pub(super) taken: AtomicU32,
    /// On while there is something in the control lane that the activation has not looked at.
    // Ordering: Relaxed everywhere. It changes under the lock, and is read there when it matters (parking); the look
    // between two messages may come one message late.
    pub(super) attention: AtomicBool,
    /// Why the activation paused last.
    // Ordering: Relaxed everywhere. It belongs to whoever has the activation, and that goes from one to the next through the
    // lock or a queue.
    pub(super) pause: AtomicU8,
}

impl Side {
    pub(crate) const fn new() -> Self {
        Self {
            taken: AtomicU32::new(0),
            attention: AtomicBool::new(false),
            pause: AtomicU8::new(Pause::Idle as u8),
        }
    }

    /// Says whether the control lane wants to be looked at; a hint that may come one message late.
    #[inline]
    pub(crate) fn has_attention(&self) -> bool {
        self.attention.load(Ordering::Relaxed)
    }

    /// Says why the activation is about to give up its thread; just before it does.
    #[inline]
    pub(crate) fn will_pause(&self, pause: Pause) {
        self.pause.store(pause as u8, Ordering::Relaxed);
    }

    /// Says whether the activation was parked when it paused last.
    #[inline]
    pub(crate) fn was_parked(&self) -> bool {
        self.pause.load(Ordering::Relaxed) == Pause::Parked as u8
    }

    /// One of the burst is begun.
    #[inline]
    pub(super) fn count_begun(&self) {
        let taken = self.taken.load(Ordering::Relaxed);
        self.taken.store(taken - 1, Ordering::Relaxed);
    }
}
