//! What an actor is doing, seen from outside.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

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
    const ALL: [Self; 7] = [
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

/// Set while the run of a handler goes on that somebody has marked.
const MARKED: u8 = 0x40;
/// Set while the run of a handler goes on that has been reported.
const REPORTED: u8 = 0x80;

/// The state of an actor, with what is known of the run of its handler.
///
/// Each run of a handler begins and ends with a change of state, and a change wipes the mark away. So a mark that is still
/// there tells that the same run goes on, and costs the activation nothing.
#[derive(Debug)]
pub(super) struct StateCell(AtomicU8);

/// What [`StateCell::mark`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Mark {
    /// No handler runs, or its run has been reported.
    Nothing,
    /// The run was not marked before.
    New,
    /// The run that was marked before goes on.
    Kept,
}

impl StateCell {
    pub(super) const fn new(state: ActorState) -> Self {
        Self(AtomicU8::new(state as u8))
    }

    pub(super) fn get(&self) -> ActorState {
        // Ordering: Relaxed here and everywhere: a picture for those outside, which may be of a moment ago, and marks that
        // publish nothing.
        Self::read(self.0.load(Ordering::Relaxed))
    }

    fn read(state: u8) -> ActorState {
        let state = state & !(MARKED | REPORTED);
        ActorState::ALL[usize::from(state) % ActorState::ALL.len()]
    }

    #[inline]
    pub(super) fn set(&self, state: ActorState) {
        self.0.store(state as u8, Ordering::Relaxed);
    }

    /// Sets the state, and says what it was, whoever else sets it.
    pub(super) fn replace(&self, state: ActorState) -> ActorState {
        Self::read(self.0.swap(state as u8, Ordering::Relaxed))
    }

    /// Marks the run of a handler that goes on now.
    pub(super) fn mark(&self) -> Mark {
        const BUSY: u8 = ActorState::Busy as u8;
        match self.exchange(BUSY, BUSY | MARKED) {
            Ok(_) => Mark::New,
            Err(state) if state == BUSY | MARKED => Mark::Kept,
            Err(_) => Mark::Nothing,
        }
    }

    /// Gives the report of a marked run to one caller; says whether this is the one.
    pub(super) fn claim_report(&self) -> bool {
        let marked = ActorState::Busy as u8 | MARKED;
        self.exchange(marked, marked | REPORTED).is_ok()
    }

    fn exchange(&self, from: u8, to: u8) -> Result<u8, u8> {
        self.0
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_one_run_of_a_handler_from_the_next() {
        let state = StateCell::new(ActorState::Ready);
        assert_eq!(state.mark(), Mark::Nothing);
        state.set(ActorState::Busy);
        assert_eq!([state.mark(), state.mark()], [Mark::New, Mark::Kept]);
        state.set(ActorState::Ready);
        state.set(ActorState::Busy);
        assert!(
            !state.claim_report(),
            "this run is not the one that was marked"
        );
        assert_eq!(state.mark(), Mark::New);
        assert_eq!(state.get(), ActorState::Busy);
    }

    #[test]
    fn a_run_is_reported_once() {
        let state = StateCell::new(ActorState::Busy);
        assert_eq!(state.mark(), Mark::New);
        assert_eq!([(); 2].map(|()| state.claim_report()), [true, false]);
        assert_eq!(state.mark(), Mark::Nothing);
        assert_eq!(state.get(), ActorState::Busy);
        state.set(ActorState::Stopped);
        assert!(!state.claim_report());
        assert_eq!(state.get(), ActorState::Stopped);
    }
}
