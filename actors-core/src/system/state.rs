//! What an actor is doing, seen from outside.

use std::fmt;

/// What an actor is doing, for those who look at the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActorState {
    /// It has a name and a mailbox, and no state yet: it is reserved, or its factory or `on_start` runs.
    Starting,
    /// It has nothing to do, or waits for a thread.
    Ready,
    /// A handler is running, or waits at an `.await`.
    Busy,
    /// It failed, and waits for the decision of its supervisor.
    Deciding,
    /// It failed, and its fresh state is being made, perhaps after a back-off.
    Restarting,
    /// It is ending: its children stop, or its hook runs.
    Stopping,
    /// It has ended.
    Stopped,
}

impl ActorState {
    pub(super) const ALL: [Self; 7] = [
        Self::Starting,
        Self::Ready,
        Self::Busy,
        Self::Deciding,
        Self::Restarting,
        Self::Stopping,
        Self::Stopped,
    ];
}

impl fmt::Display for ActorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Deciding => "deciding",
            Self::Restarting => "restarting",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
        })
    }
}
