//! The end of an actor: who waits for it, who watches for it, and what they are told.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use crate::panic;
use crate::path::{ActorId, ActorPath};
use crate::supervision::StopReason;
use crate::sync::Mutex;

use super::waiters::Waiters;

/// The news that a watched actor has ended, as `#[on_terminated]` gets it.
///
/// It comes exactly once for each watching pair, after everything that the ended actor had told the watcher. A restart is no
/// end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Terminated {
    /// Where it was. The path may belong to another actor by now.
    pub path: ActorPath,
    /// Which actor it was; never used again.
    pub id: ActorId,
    /// Why it ended.
    pub reason: StopReason,
}

impl Terminated {
    pub(crate) fn new(path: ActorPath, id: ActorId, reason: StopReason) -> Self {
        Self { path, id, reason }
    }
}

impl fmt::Display for Terminated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ended: {}", self.path, self.reason)
    }
}

/// Identifies a watcher: an actor watches another at most once; others get numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WatchKey {
    Actor(ActorId),
    Other(u64),
}

type Watcher = Box<dyn FnOnce(Terminated) + Send>;

/// Guards, under its own lock, the reason of the end once there is one, and until then those who want to know.
#[derive(Default)]
pub(crate) struct End(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Alone,
    Awaited(Box<Bonds>),
    /// It has ended, and its watchers are being told.
    Telling(Box<(Terminated, Waiters)>),
    Over(Box<Terminated>),
}

#[derive(Default)]
struct Bonds {
    others: u64,
    waiters: Waiters,
    watchers: BTreeMap<WatchKey, Watcher>,
}

impl State {
    fn bonds(&mut self) -> Option<&mut Bonds> {
        if matches!(self, Self::Alone) {
            *self = Self::Awaited(Box::default());
        }
        match self {
            Self::Awaited(bonds) => Some(bonds),
            Self::Alone | Self::Telling(_) | Self::Over(_) => None,
        }
    }

    /// Those who wait, unless there is nothing to wait for any more.
    fn waiters(&mut self) -> Option<&mut Waiters> {
        if let Self::Telling(telling) = self {
            return Some(&mut telling.1);
        }
        self.bonds().map(|bonds| &mut bonds.waiters)
    }

    /// The end, once it has come.
    fn end(&self) -> Option<&Terminated> {
        match self {
            Self::Telling(telling) => Some(&telling.0),
            Self::Over(end) => Some(end),
            Self::Alone | Self::Awaited(_) => None,
        }
    }
}

impl End {
    pub(crate) fn is_over(&self) -> bool {
        self.0.lock().end().is_some()
    }

    /// Says whether those who watch have been told.
    pub(crate) fn is_told(&self) -> bool {
        matches!(&*self.0.lock(), State::Over(_))
    }

    /// Makes `watcher` be told of the end; at once, when it is over. A watcher that is known already stays as it is.
    pub(crate) fn watch(&self, key: WatchKey, watcher: Watcher) {
        let mut state = self.0.lock();
        if let Some(end) = state.end().cloned() {
            drop(state);
            watcher(end);
        } else if let Some(bonds) = state.bonds() {
            let spare = match bonds.watchers.entry(key) {
                Entry::Occupied(_) => Some(watcher),
                Entry::Vacant(place) => {
                    place.insert(watcher);
                    None
                }
            };
            drop(state);
            drop(spare);
        }
    }

    /// Makes a key for a watcher that is no actor.
    pub(crate) fn new_key(&self) -> WatchKey {
        WatchKey::Other(self.0.lock().bonds().map_or(0, |bonds| {
            bonds.others += 1;
            bonds.others
        }))
    }

    pub(crate) fn unwatch(&self, key: WatchKey) {
        let watcher = match &mut *self.0.lock() {
            State::Awaited(bonds) => bonds.watchers.remove(&key),
            State::Alone | State::Telling(_) | State::Over(_) => None,
        };
        drop(watcher);
    }

    /// Waits for the end and says why. Cancel safe.
    pub(crate) async fn wait(&self) -> StopReason {
        let mut place = Place {
            end: self,
            place: None,
        };
        poll_fn(|cx| place.poll(cx.waker())).await
    }

    /// Polls for the end; `place` is the caller's among the waiters, to be given back with [`leave`](Self::leave).
    pub(crate) fn poll_wait(&self, place: &mut Option<u64>, waker: &Waker) -> Poll<StopReason> {
        // The clone is code of an executor, so it is made before the lock.
        let waker = waker.clone();
        let mut state = self.0.lock();
        if let State::Over(end) = &*state {
            return Poll::Ready(end.reason.clone());
        }
        let old = state
            .waiters()
            .and_then(|waiters| waiters.wait(place, waker));
        drop(state);
        drop(old);
        Poll::Pending
    }

    /// Gives a place among the waiters back.
    pub(crate) fn leave(&self, place: u64) {
        let waker = match &mut *self.0.lock() {
            State::Awaited(bonds) => bonds.waiters.leave(place),
            State::Telling(telling) => telling.1.leave(place),
            State::Alone | State::Over(_) => None,
        };
        drop(waker);
    }

    /// Sets the reason, tells the watchers, and then lets those go on who wait: whoever knows of the end comes after the news
    /// of it. Only the first call counts.
    pub(crate) fn finish(&self, end: &Terminated) {
        let mut state = self.0.lock();
        let (watchers, waiters) = match std::mem::take(&mut *state) {
            State::Alone => (BTreeMap::new(), Waiters::default()),
            State::Awaited(bonds) => (bonds.watchers, bonds.waiters),
            ended @ (State::Telling(_) | State::Over(_)) => {
                *state = ended;
                return;
            }
        };
        if watchers.is_empty() {
            *state = State::Over(Box::new(end.clone()));
            drop(state);
            return waiters.wake_all();
        }
        *state = State::Telling(Box::new((end.clone(), waiters)));
        drop(state);
        for watcher in watchers.into_values() {
            // A watcher may be a function of a user's; its panic is not ours.
            let _ = panic::catch(|| watcher(end.clone()));
        }
        let over = State::Over(Box::new(end.clone()));
        let told = std::mem::replace(&mut *self.0.lock(), over);
        if let State::Telling(telling) = told {
            telling.1.wake_all();
        }
    }
}

struct Place<'a> {
    end: &'a End,
    place: Option<u64>,
}

impl Place<'_> {
    fn poll(&mut self, waker: &Waker) -> Poll<StopReason> {
        self.end.poll_wait(&mut self.place, waker)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.end.leave(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn whoever_knows_of_an_end_comes_after_the_news_of_it() {
        let end = Arc::new(End::default());
        let place = &mut None;
        assert!(end.poll_wait(place, Waker::noop()).is_pending());
        let told = Arc::new(AtomicU32::new(0));
        for number in 0..3 {
            let (told, looks) = (Arc::clone(&told), Arc::clone(&end));
            let watcher = move |_| {
                // One that comes now waits for the others as well, and a watch is answered at once.
                let place = &mut None;
                assert!(looks.poll_wait(place, Waker::noop()).is_pending());
                looks.leave(place.take().expect("a place"));
                assert!(looks.is_over() && !looks.is_told());
                let late = Arc::clone(&told);
                let late = move |_| {
                    late.fetch_add(10, Ordering::Relaxed);
                };
                looks.watch(looks.new_key(), Box::new(late));
                told.fetch_add(1, Ordering::Relaxed);
            };
            end.watch(WatchKey::Other(number), Box::new(watcher));
        }
        let news = Terminated::new(ActorPath::root("a"), ActorId::new(1), StopReason::Killed);
        end.finish(&news);
        assert_eq!(told.load(Ordering::Relaxed), 33);
        assert!(end.is_told());
        assert!(end.poll_wait(place, Waker::noop()).is_ready());
        // The first end counts.
        end.finish(&Terminated {
            reason: StopReason::Stopped,
            ..news
        });
        let reason = end.poll_wait(place, Waker::noop());
        assert_eq!(reason, Poll::Ready(StopReason::Killed));
    }
}
