//! What a probe has received and not yet looked at.

use std::collections::VecDeque;
use std::fmt::{self, Debug};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use actors_core::Terminated;

/// One thing that a probe received.
pub(crate) enum Entry<M> {
    Message(M),
    Terminated(Terminated),
}

impl<M: Debug> Debug for Entry<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => message.fmt(f),
            Self::Terminated(end) => write!(f, "the news that {end}"),
        }
    }
}

/// Filled by actors on whatever thread, emptied by one probe.
pub(crate) struct Queue<M>(Mutex<State<M>>);

/// What the lock guards. Messages are formatted and dropped outside of it.
struct State<M> {
    entries: VecDeque<Entry<M>>,
    waker: Option<Waker>,
}

impl<M> Queue<M> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(State {
            entries: VecDeque::new(),
            waker: None,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, entry: Entry<M>) {
        let mut state = self.lock();
        state.entries.push_back(entry);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes the first entry that `wanted` says yes to.
    pub(crate) fn take(&self, wanted: impl Fn(&Entry<M>) -> bool) -> Option<Entry<M>> {
        let mut state = self.lock();
        let at = state.entries.iter().position(wanted)?;
        state.entries.remove(at)
    }

    /// Takes the first entry that `wanted` says yes to, or leaves the waker to be woken for the next.
    pub(crate) fn poll_take(
        &self,
        wanted: impl Fn(&Entry<M>) -> bool,
        waker: &Waker,
    ) -> Poll<Entry<M>> {
        let waker = waker.clone();
        let mut state = self.lock();
        if let Some(at) = state.entries.iter().position(wanted)
            && let Some(entry) = state.entries.remove(at)
        {
            drop(state);
            return Poll::Ready(entry);
        }
        let old = state.waker.replace(waker);
        drop(state);
        drop(old);
        Poll::Pending
    }
}

impl<M: Debug> Queue<M> {
    /// Describes all entries, which stay.
    pub(crate) fn describe(&self) -> Vec<String> {
        let mut entries = std::mem::take(&mut self.lock().entries);
        let texts = entries.iter().map(|entry| format!("{entry:?}")).collect();
        let mut state = self.lock();
        entries.append(&mut state.entries);
        state.entries = entries;
        texts
    }
}
