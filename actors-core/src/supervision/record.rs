//! What a supervisor remembers of the restarts of a child.

use tokio::time::Instant;

use crate::supervision::backoff::Attempts;
use crate::supervision::budget::History;

/// The restarts so far, of one child or, under a strategy that restarts children together, of their group.
///
/// The mechanism keeps it for as long as the actor lives, calls [`running`](Self::running) whenever an incarnation has
/// started, and hands it to `Supervision::verdict` at each failure.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestartRecord {
    pub(super) history: History,
    pub(super) attempts: Attempts,
}

impl RestartRecord {
    /// Takes note that an incarnation has started.
    pub(crate) fn running(&mut self, now: Instant) {
        self.attempts.running(now);
    }
}
