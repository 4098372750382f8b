//! What a user says about the mailbox of an actor: how much it holds, and what happens beyond that.

use std::num::NonZeroUsize;

/// What a `tell` to a full bounded mailbox does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The new message becomes a dead letter ([`MailboxFull`](crate::DeadLetterReason::MailboxFull)). The default.
    #[default]
    Reject,
    /// The oldest queued message becomes a dead letter, and the new one takes the room.
    DropOldest,
    /// The new message becomes a dead letter ([`DroppedNewest`](crate::DeadLetterReason::DroppedNewest)): for streams of
    /// which the past matters more than the present.
    DropNewest,
}

/// The settings of a mailbox: unbounded (the default), or bounded with an [`Overflow`] policy.
///
/// ```
/// use actors_core::prelude::*;
///
/// let small = Mailbox::bounded(64).overflow(Overflow::DropOldest);
/// assert_eq!(small.capacity(), Some(64));
/// assert_eq!(Mailbox::unbounded().capacity(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mailbox {
    capacity: Option<usize>,
    overflow: Overflow,
    warn_at: usize,
}

impl Mailbox {
    /// The depth at which an unbounded mailbox is reported, unless set otherwise.
    pub const WARN_AT: usize = 10_000;

    /// Makes a mailbox that takes whatever comes, and is reported once when it is [`warn_at`](Self::warn_at) deep.
    #[must_use]
    pub const fn unbounded() -> Self {
        Self {
            capacity: None,
            overflow: Overflow::Reject,
            warn_at: Self::WARN_AT,
        }
    }

    /// Makes a mailbox for `capacity` messages. Control, ends of watched actors and piped results need no room.
    ///
    /// A capacity of 0 is refused where the settings are used, with
    /// [`SpawnError::ZeroCapacity`](crate::SpawnError::ZeroCapacity) or
    /// [`BuildError::ZeroCapacity`](crate::BuildError::ZeroCapacity).
    #[must_use]
    pub const fn bounded(capacity: usize) -> Self {
        Self {
            capacity: Some(capacity),
            overflow: Overflow::Reject,
            warn_at: usize::MAX,
        }
    }

    /// Sets what a `tell` to the full mailbox does; it has no effect on an unbounded one.
    #[must_use]
    pub const fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// Sets the depth, in messages, at which one warning event is published; `usize::MAX` for never.
    #[must_use]
    pub const fn warn_at(mut self, depth: usize) -> Self {
        self.warn_at = depth;
        self
    }

    /// Returns the number of messages that fit, or `None` when there is no bound.
    pub const fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    pub(crate) const fn has_zero_capacity(&self) -> bool {
        matches!(self.capacity, Some(0))
    }

    pub(crate) fn bound(&self) -> Option<(NonZeroUsize, Overflow)> {
        let capacity = self.capacity.and_then(NonZeroUsize::new)?;
        Some((capacity, self.overflow))
    }

    pub(crate) const fn warning_depth(&self) -> usize {
        self.warn_at
    }
}

impl Default for Mailbox {
    fn default() -> Self {
        Self::unbounded()
    }
}
