//! What came of a call of a mailbox, and what its caller must do now, outside of the lock.

use super::{Entry, Overflow};

/// Why a push was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Closed,
    Full(Overflow),
}

/// How the pusher came by the right to push.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Admission {
    /// It waits for nothing, and accepts what the overflow policy does.
    Tell,
    /// It waits for nothing, and wants the message back when there is no room, whatever the policy.
    Try,
    /// It was granted the room for this ticket.
    Granted(u64),
}

/// What a push did, and what its caller must do now, outside the lock.
#[must_use]
#[derive(Debug)]
pub(crate) enum Push<M, P> {
    /// With the activation if it was idle, to be run.
    Accepted(Option<P>),
    /// The same, and the caller has something to tell of.
    Strained {
        idle: Option<P>,
        /// The victim of [`Overflow::DropOldest`], now a dead letter.
        evicted: Option<M>,
        /// The depth, when it has just passed the mark set for a warning.
        deep: Option<usize>,
    },
    Refused(M, Refusal),
}

/// What the activation got.
#[must_use]
#[derive(Debug)]
pub(crate) enum Take<M, N> {
    Entry(Entry<M, N>),
    /// An entry, and nothing was behind it.
    Last(Entry<M, N>),
    /// There is a control signal to look at first.
    Attention,
    /// There is nothing.
    Nothing,
}

/// What becomes of an activation that has paused.
#[must_use]
pub(crate) enum Rest<P> {
    Parked,
    /// There is more for it to do in this very turn.
    GoesOn(P),
    /// It goes to the back of a queue.
    Again(P),
}

/// What a wait for room came to.
#[must_use]
#[derive(Debug)]
pub(crate) enum Wait {
    Granted,
    Pending,
    Closed,
}
