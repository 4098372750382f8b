//! The end of a system, and the report about it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use crate::path::ActorPath;
use crate::supervision::{FailureReport, StopReason};
use crate::sync::Mutex;

use super::waiters::Waiters;

/// How many actors that did not end well a report lists at most; the rest is counted.
const LISTED: usize = 1_000;

/// Why a system ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ShutdownCause {
    /// Somebody called [`shutdown`](crate::ActorSystem::shutdown).
    Requested,
    /// The last [`ActorSystem`](crate::ActorSystem) was dropped.
    Dropped,
    /// A failure was escalated by a top-level actor.
    Escalated {
        /// The top-level actor.
        actor: ActorPath,
        /// What it escalated.
        failure: FailureReport,
    },
    /// The Tokio runtime went away under the system.
    RuntimeGone,
}

impl fmt::Display for ShutdownCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requested => f.write_str("requested"),
            Self::Dropped => f.write_str("the last reference to the system was dropped"),
            Self::Escalated { actor, failure } => write!(f, "{actor} escalated: {failure}"),
            Self::RuntimeGone => f.write_str("its Tokio runtime was dropped"),
        }
    }
}

/// How a system ended: why, how many actors ended for which reason since the shutdown began, and which did not end well.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Why the system was shut down.
    pub cause: ShutdownCause,
    /// How many actors ended for each reason, by the reason's short name.
    pub ended: BTreeMap<&'static str, u64>,
    /// The actors that failed, were cut or abandoned; at most 1,000 of them.
    pub unclean: Vec<(ActorPath, StopReason)>,
    /// How many more there were than are listed in `unclean`.
    pub unlisted: u64,
    /// How long it took, on the clock of the system.
    pub took: Duration,
}

impl ShutdownReport {
    fn new(cause: ShutdownCause) -> Self {
        Self {
            cause,
            ended: BTreeMap::new(),
            unclean: Vec::new(),
            unlisted: 0,
            took: Duration::ZERO,
        }
    }

    /// Says whether every actor ended in good order.
    pub fn is_clean(&self) -> bool {
        self.unclean.is_empty()
    }

    /// Returns how many actors ended.
    pub fn total(&self) -> u64 {
        self.ended.values().sum()
    }

    fn count(&mut self, actor: impl FnOnce() -> ActorPath, reason: &StopReason) {
        *self.ended.entry(reason.name()).or_default() += 1;
        if reason.ended_well() {
        } else if self.unclean.len() < LISTED {
            self.unclean.push((actor(), reason.clone()));
        } else {
            self.unlisted += 1;
        }
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (total, took) = (self.total(), self.took);
        let actors = if total == 1 { "actor" } else { "actors" };
        write!(
            f,
            "shutdown ({}) in {took:?}: {total} {actors} ended",
            self.cause
        )?;
        for (reason, count) in &self.ended {
            write!(f, "\n  {count:>8} {reason}")?;
        }
        for (actor, reason) in &self.unclean {
            write!(f, "\n  not well: {actor}: {reason}")?;
        }
        if self.unlisted > 0 {
            write!(f, "\n  and {} more that did not end well", self.unlisted)?;
        }
        Ok(())
    }
}

/// Guards where the system is on its way to its end.
#[derive(Debug, Default)]
pub(crate) struct Shutdown(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    waiters: Waiters,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Running,
    /// With the time at which it began.
    Stopping(ShutdownReport, Instant),
    Over(Arc<ShutdownReport>),
}

impl Shutdown {
    /// Begins the shutdown; says whether this call did.
    pub(crate) fn begin(&self, cause: ShutdownCause, now: Instant) -> bool {
        let mut state = self.0.lock();
        let first = matches!(state.phase, Phase::Running);
        if first {
            state.phase = Phase::Stopping(ShutdownReport::new(cause), now);
        }
        first
    }

    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self.0.lock().phase, Phase::Running)
    }

    /// Counts the end of an actor, if the shutdown has begun and is not over.
    pub(crate) fn tally(&self, actor: impl FnOnce() -> ActorPath, reason: &StopReason) {
        if let Phase::Stopping(report, _) = &mut self.0.lock().phase {
            report.count(actor, reason);
        }
    }

    /// Completes the report and wakes those who wait for it. Only the first call counts.
    pub(crate) fn finish(&self, now: Instant) {
        let mut state = self.0.lock();
        state.phase = match std::mem::take(&mut state.phase) {
            Phase::Stopping(report, began) => {
                let took = now.duration_since(began);
                Phase::Over(Arc::new(ShutdownReport { took, ..report }))
            }
            other => other,
        };
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.wake_all();
    }

    /// Polls for the end; `place` is the caller's among the waiters, to be given back with [`leave`](Self::leave).
    pub(crate) fn poll_over(
        &self,
        place: &mut Option<u64>,
        waker: &Waker,
    ) -> Poll<Arc<ShutdownReport>> {
        // The clone is code of an executor, so it is made before the lock.
        let waker = waker.clone();
        let mut state = self.0.lock();
        if let Phase::Over(report) = &state.phase {
            return Poll::Ready(Arc::clone(report));
        }
        let old = state.waiters.wait(place, waker);
        drop(state);
        drop(old);
        Poll::Pending
    }

    /// Gives a place among the waiters back.
    pub(crate) fn leave(&self, place: u64) {
        let waker = self.0.lock().waiters.leave(place);
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use futures::task::noop_waker_ref;

    use super::*;

    #[test]
    fn a_shutdown_that_is_finished_twice_stays_finished_as_it_was() {
        let shutdown = Shutdown::default();
        let now = Instant::now();
        assert!(shutdown.begin(ShutdownCause::Requested, now));
        for took in [1, 2] {
            shutdown.finish(now + Duration::from_secs(took));
            let Poll::Ready(report) = shutdown.poll_over(&mut None, noop_waker_ref()) else {
                panic!("it is not over");
            };
            assert_eq!(report.took, Duration::from_secs(1));
        }
        assert!(!shutdown.begin(ShutdownCause::Requested, now));
    }
}
