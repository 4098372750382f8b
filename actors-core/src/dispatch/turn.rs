//! Which actor runs on this thread, and what its turn leaves behind.
//!
//! An activation says who it is for one poll ([`in_turn`]); what was there before comes back when the poll ends or unwinds. So
//! an ask knows who asks, a dead letter who told it, and a way back that is dropped by the unwinding of its own handler is
//! kept for the activation, which knows what to answer.

use std::cell::{Cell, RefCell, RefMut};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use tokio::time::Instant;

use super::current::with_turn;
use super::{Activation, Schedule};
use crate::error::AskFailure;
use crate::path::{ActorId, ActorPath};

/// An actor, as far as a turn tells of it.
pub(crate) trait Identity: Send + Sync {
    fn id(&self) -> ActorId;
    fn path(&self) -> &ActorPath;
    /// Counts the begin or the end of a turn of its activation.
    fn count_poll(&self);
    /// Who gives it a thread.
    fn seam(&self) -> &Arc<dyn Schedule>;
    /// Puts its activation, which has paused, where it belongs; gives it back if it is to go on at once.
    fn settle(&self, activation: Pin<Box<dyn Activation>>) -> Option<Pin<Box<dyn Activation>>>;
    /// The address of its system, to be compared and nothing else.
    fn system(&self) -> *const ();
}

/// An ask whose way back was dropped.
pub(crate) trait Orphan: Send + Sync {
    fn fail(&self, failure: AskFailure);
}

/// The part of the thread-local that belongs to the running actor.
#[derive(Default)]
pub(super) struct Turn {
    actor: Cell<Option<Arc<dyn Identity>>>,
    /// By when the message that is handled must be answered.
    deadline: Cell<Option<Instant>>,
    /// Whether `rest` is anything but its default: most turns leave it alone.
    is_marked: Cell<bool>,
    rest: RefCell<Rest>,
}

/// What few turns need.
#[derive(Default)]
struct Rest {
    orphans: Vec<Arc<dyn Orphan>>,
    /// A handler is being dropped at an await.
    cutting: bool,
    /// The running handler waits for the end of its own actor.
    ends: bool,
}

impl Turn {
    pub(super) const fn new() -> Self {
        Self {
            actor: Cell::new(None),
            deadline: Cell::new(None),
            is_marked: Cell::new(false),
            rest: RefCell::new(Rest {
                orphans: Vec::new(),
                cutting: false,
                ends: false,
            }),
        }
    }

    #[inline]
    pub(super) fn has_actor(&self) -> bool {
        let actor = self.actor.take();
        let has_one = actor.is_some();
        self.actor.set(actor);
        has_one
    }

    fn mark(&self) -> RefMut<'_, Rest> {
        self.is_marked.set(true);
        self.rest.borrow_mut()
    }

    /// Lets `me` take the place of whoever is there.
    #[inline]
    fn begin(&self, me: Arc<dyn Identity>) -> Option<Box<Outer>> {
        let actor = self.actor.replace(Some(me));
        let is_nested = actor.is_some() || self.is_marked.get() || self.deadline.get().is_some();
        is_nested.then(|| self.take_outer(actor))
    }

    #[cold]
    fn take_outer(&self, actor: Option<Arc<dyn Identity>>) -> Box<Outer> {
        Box::new(Outer {
            actor,
            deadline: self.deadline.take(),
            is_marked: self.is_marked.take(),
            rest: self.rest.take(),
        })
    }

    /// Puts back what was there before, and gives the actor whose turn it was.
    #[inline]
    fn end(&self, outer: Option<Box<Outer>>) -> Option<Arc<dyn Identity>> {
        self.deadline.set(None);
        let me = self.actor.take();
        if self.is_marked.get() || outer.is_some() {
            self.put_back(outer);
        }
        me
    }

    #[cold]
    fn put_back(&self, outer: Option<Box<Outer>>) {
        self.is_marked.set(false);
        // A handler that caught its own panic left these behind.
        for orphan in self.rest.take().orphans {
            orphan.fail(AskFailure::NoReply);
        }
        if let Some(outer) = outer {
            self.actor.set(outer.actor);
            self.deadline.set(outer.deadline);
            self.is_marked.set(outer.is_marked);
            *self.rest.borrow_mut() = outer.rest;
        }
    }
}

/// What was there before a turn that is inside of another.
struct Outer {
    actor: Option<Arc<dyn Identity>>,
    deadline: Option<Instant>,
    is_marked: bool,
    rest: Rest,
}

/// A turn that goes on; it ends on drop, if it was not ended before.
struct Going {
    outer: Option<Box<Outer>>,
    has_ended: bool,
}

impl Going {
    #[inline]
    fn end(&mut self) -> Option<Arc<dyn Identity>> {
        self.has_ended = true;
        let outer = self.outer.take();
        with_turn(|turn| turn.end(outer)).flatten()
    }
}

impl Drop for Going {
    #[inline]
    fn drop(&mut self) {
        if !self.has_ended {
            self.end();
        }
    }
}

/// Runs `code` as the actor `me`, which is lent to the thread meanwhile. Gives it back; not at the end of a thread.
#[inline]
pub(crate) fn in_turn<R>(
    me: Arc<dyn Identity>,
    code: impl FnOnce() -> R,
) -> (R, Option<Arc<dyn Identity>>) {
    let mut turn = Going {
        outer: with_turn(|turn| turn.begin(me)).flatten(),
        has_ended: false,
    };
    let result = code();
    (result, turn.end())
}

/// Says whether it is the turn of an actor on this thread.
#[inline]
pub(crate) fn is_running() -> bool {
    with_turn(Turn::has_actor).unwrap_or(false)
}

/// Returns the actor whose turn it is on this thread.
pub(crate) fn running_actor() -> Option<Arc<dyn Identity>> {
    with_turn(|turn| {
        let actor = turn.actor.take();
        turn.actor.set(actor.clone());
        actor
    })
    .flatten()
}

/// Returns the time by which the message that is handled must be answered.
pub(crate) fn deadline() -> Option<Instant> {
    with_turn(|turn| turn.deadline.get()).flatten()
}

pub(crate) fn set_deadline(deadline: Option<Instant>) {
    with_turn(|turn| turn.deadline.set(deadline));
}

/// Keeps a way back that is dropped by the end of its own handler, for the activation to answer; gives it back otherwise.
pub(crate) fn adopt<T: Orphan + 'static>(orphan: Arc<T>) -> Result<(), Arc<T>> {
    let mut orphan = Some(orphan);
    with_turn(|turn| {
        let unwinds = std::thread::panicking() && turn.has_actor();
        if (turn.rest.borrow().cutting || unwinds)
            && let Some(orphan) = orphan.take()
        {
            turn.mark().orphans.push(orphan);
        }
    });
    orphan.map_or(Ok(()), Err)
}

/// Takes the ways back that were dropped by the end of their own handler.
pub(crate) fn take_orphans() -> Vec<Arc<dyn Orphan>> {
    with_turn(|turn| mem::take(&mut turn.rest.borrow_mut().orphans)).unwrap_or_default()
}

/// Runs `code`, which drops a handler at an await.
pub(crate) fn while_cutting(code: impl FnOnce()) {
    let before = with_turn(|turn| mem::replace(&mut turn.mark().cutting, true)).unwrap_or(false);
    code();
    with_turn(|turn| turn.mark().cutting = before);
}

/// Runs `code` and takes the ways back that it leaves; those that were there before stay. For a handler that is dropped
/// outside of its turn, perhaps in the turn of another.
pub(crate) fn orphans_of(code: impl FnOnce()) -> Vec<Arc<dyn Orphan>> {
    let before = take_orphans();
    code();
    with_turn(|turn| mem::replace(&mut turn.mark().orphans, before)).unwrap_or_default()
}

/// The running handler waits for the end of its own actor: it is to be dropped there.
pub(crate) fn end_handler() {
    with_turn(|turn| turn.mark().ends = true);
}

/// Says whether the handler has asked for that, and forgets it.
pub(crate) fn takes_end_of_handler() -> bool {
    with_turn(|turn| mem::take(&mut turn.rest.borrow_mut().ends)).unwrap_or(false)
}
