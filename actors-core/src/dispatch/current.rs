//! What this thread is doing for us just now: the only thread-local of the crate.
//!
//! A worker sets it for one poll and puts back what was there before, also when the poll unwinds. So a worker that is
//! polled inside a turn of another (a handler that blocks on a second runtime, say) is the current one for exactly as long
//! as its poll takes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use super::turn::Turn;
use super::worker::Desk;
use super::{Runnable, Schedule, guarded, schedule};

/// A turn that is given in passing has so many messages at most.
const MOST_HERE: u8 = 8;

thread_local! {
    static CURRENT: Current = const { Current::new() };
}

struct Current {
    /// The desk of the worker that is polled on this thread.
    desk: RefCell<Option<Box<Desk>>>,
    /// The runnables that this thread is dropping; `None` when it drops none.
    grave: RefCell<Option<VecDeque<Runnable>>>,
    /// What belongs to the actor whose turn it is.
    turn: Turn,
    /// How many messages the turn that this thread gives in passing may still go on with; 0 if it gives none.
    left_here: Cell<u8>,
    /// Whether a worker was ever polled on this thread: then it is one of the runtime's own.
    had_desk: Cell<bool>,
    /// How many it has given so; wraps.
    given_here: Cell<u8>,
}

impl Current {
    const fn new() -> Self {
        Self {
            desk: RefCell::new(None),
            grave: RefCell::new(None),
            turn: Turn::new(),
            left_here: Cell::new(0),
            had_desk: Cell::new(false),
            given_here: Cell::new(0),
        }
    }
}

/// A desk that is lent to this thread; it goes home, and what was there before comes back, on drop.
pub(super) struct Lent<'a> {
    home: &'a mut Option<Box<Desk>>,
    before: Option<Box<Desk>>,
}

/// Lends the desk at `home` to this thread.
pub(super) fn lend(home: &mut Option<Box<Desk>>) -> Lent<'_> {
    let before = CURRENT.with(|current| {
        current.had_desk.set(true);
        current.desk.replace(home.take())
    });
    Lent { home, before }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let before = self.before.take();
        *self.home = CURRENT.with(|current| current.desk.replace(before));
    }
}

/// Calls `f` with the desk that is lent to this thread.
#[inline]
pub(super) fn at_desk<R>(f: impl FnOnce(&Desk) -> R) -> Option<R> {
    CURRENT
        .try_with(|current| current.desk.borrow().as_deref().map(f))
        .ok()
        .flatten()
}

/// Says whether this thread is in a poll of one of the workers behind `seam`, and they are open.
#[inline]
pub(super) fn is_at_desk(seam: &Arc<dyn Schedule>) -> bool {
    at_desk(|desk| desk.serves(seam)).unwrap_or(false)
}

/// Pushes to the local queue of this thread, which is at the right desk.
#[inline]
pub(super) fn push_local(runnable: Runnable) {
    let _ = at_desk(|desk| desk.push(runnable));
}

/// Runs it on this thread, unless that is in a turn or a poll of a worker, which have a queue of their own and must not be
/// nested, or in a local task. Gives how many turns this thread has given so, modulo 256; `None` if it was scheduled instead.
pub(crate) fn run_here(runnable: Runnable) -> Option<u8> {
    let is_free = CURRENT
        .try_with(|current| {
            let is_free = current.desk.borrow().is_none()
                && !current.turn.has_actor()
                && current.left_here.get() == 0
                && !current.is_in_local_task();
            if is_free {
                current.left_here.set(MOST_HERE);
            }
            is_free
        })
        .unwrap_or(false);
    if !is_free {
        schedule(runnable);
        return None;
    }
    guarded("a turn", || runnable.run());
    CURRENT.with(|current| {
        current.left_here.set(0);
        let given = current.given_here.get().wrapping_add(1);
        current.given_here.set(given);
        Some(given)
    })
}

/// Says whether the turn on this thread has used up its slice of time. An activation asks every few messages.
///
/// Outside of a worker it has not, so that a simulation does not depend on the real clock; but who runs an actor in passing
/// has other things to do.
pub(crate) fn slice_is_over() -> bool {
    at_desk(Desk::slice_is_over).unwrap_or_else(runs_here)
}

/// Says whether this thread gives a turn in passing.
#[inline]
pub(crate) fn runs_here() -> bool {
    CURRENT
        .try_with(|current| current.left_here.get() > 0)
        .unwrap_or(false)
}

/// Takes one more message for the turn that this thread gives in passing. Says whether it may.
pub(crate) fn takes_one_more_here() -> bool {
    CURRENT
        .try_with(|current| {
            let left = current.left_here.get();
            current.left_here.set(left.max(2) - 1);
            left > 1
        })
        .unwrap_or(false)
}

/// Drops runnables, and with them the futures of their actors.
///
/// A future may schedule others as it is dropped, and those come here too: they are put on the list of the outermost call
/// on this thread, so that a long chain needs no deep stack.
pub(super) fn bury(runnables: VecDeque<Runnable>) {
    // At the end of a thread there is no list: the closure is dropped, and what it holds with it.
    let outermost = CURRENT.try_with(|current| match &mut *current.grave.borrow_mut() {
        Some(grave) => {
            grave.extend(runnables);
            false
        }
        grave @ None => {
            *grave = Some(runnables);
            true
        }
    });
    if outermost.unwrap_or(false) {
        while let Some(runnable) = CURRENT.with(Current::next_to_bury) {
            guarded("the destructor of a runnable", || drop(runnable));
        }
    }
}

impl Current {
    /// Says whether this may be a task of a [`LocalSet`](tokio::task::LocalSet): those run on no thread of the runtime's own, and
    /// there a handler could not call `block_in_place`, as it can on a worker.
    fn is_in_local_task(&self) -> bool {
        !self.had_desk.get() && tokio::task::try_id().is_some()
    }

    fn next_to_bury(&self) -> Option<Runnable> {
        let mut grave = self.grave.borrow_mut();
        let next = grave.as_mut()?.pop_front();
        if next.is_none() {
            *grave = None;
        }
        next
    }
}

/// Calls `f` with what belongs to the running actor; not at the end of a thread, which has no thread-locals any more.
#[inline]
pub(super) fn with_turn<R>(f: impl FnOnce(&Turn) -> R) -> Option<R> {
    CURRENT.try_with(|current| f(&current.turn)).ok()
}
