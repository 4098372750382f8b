//! Which actor runs on this thread, and what its turn leaves behind.
//!
//! An activation says who it is for one poll ([`in_turn`]); what was there before comes back when the poll ends or unwinds. So
//! an ask knows who asks, a dead letter who told it, and a way back that is dropped by the unwinding of its own handler is
//! kept for the activation, which knows what to answer.

use std::cell::{Cell, RefCell};
use std::mem;
use std::sync::Arc;

use tokio::time::Instant;

use super::current::with_turn_state;
use crate::error::AskFailure;
use crate::path::{ActorId, ActorPath};

/// An actor, as far as a turn tells of it.
pub(crate) trait Identity: Send + Sync {
    fn id(&self) -> ActorId;
    fn path(&self) -> &ActorPath;
    /// Counts the begin or the end of a poll of its activation.
    fn count_poll(&self);
    /// The address of its system, to be compared and nothing else.
    fn system(&self) -> *const ();
}

/// An ask whose way back was dropped.
pub(crate) trait Orphan: Send + Sync {
    fn fail(&self, failure: AskFailure);
}

/// The part of the thread-local that belongs to the running actor.
pub(super) struct TurnState {
    actor: RefCell<Option<Arc<dyn Identity>>>,
    deadline: Cell<Option<Instant>>,
    orphans: RefCell<Vec<Arc<dyn Orphan>>>,
    /// A handler is being dropped at an await.
    cutting: Cell<bool>,
    /// The running handler waits for the end of its own actor.
    ends: Cell<bool>,
}

impl TurnState {
    pub(super) const fn new() -> Self {
        Self {
            actor: RefCell::new(None),
            deadline: Cell::new(None),
            orphans: RefCell::new(Vec::new()),
            cutting: Cell::new(false),
            ends: Cell::new(false),
        }
    }
}

/// Puts back what was there before the turn.
struct Before<'a> {
    home: &'a mut Option<Arc<dyn Identity>>,
    actor: Option<Arc<dyn Identity>>,
    deadline: Option<Instant>,
    orphans: Vec<Arc<dyn Orphan>>,
    cutting: bool,
    ends: bool,
}

impl Drop for Before<'_> {
    fn drop(&mut self) {
        let left = with_turn_state(|turn| {
            *self.home = turn.actor.replace(self.actor.take());
            turn.deadline.set(self.deadline);
            turn.cutting.set(self.cutting);
            turn.ends.set(self.ends);
            turn.orphans.replace(mem::take(&mut self.orphans))
        });
        // A handler that caught its own panic left these behind.
        for orphan in left.into_iter().flatten() {
            orphan.fail(AskFailure::NoReply);
        }
    }
}

/// Runs `code` as the actor `me`, which is lent to the thread meanwhile.
pub(crate) fn in_turn<R>(me: &mut Option<Arc<dyn Identity>>, code: impl FnOnce() -> R) -> R {
    let actor = me.take();
    let before = with_turn_state(|turn| {
        (
            turn.actor.replace(actor),
            turn.deadline.replace(None),
            turn.orphans.take(),
            turn.cutting.replace(false),
            turn.ends.replace(false),
        )
    });
    let (actor, deadline, orphans, cutting, ends) = before.unwrap_or_default();
    let _before = Before {
        home: me,
        actor,
        deadline,
        orphans,
        cutting,
        ends,
    };
    code()
}

/// Returns the actor whose turn it is on this thread.
pub(crate) fn running_actor() -> Option<Arc<dyn Identity>> {
    with_turn_state(|turn| turn.actor.borrow().clone()).flatten()
}

/// Returns the time by which the message that is handled must be answered.
pub(crate) fn deadline() -> Option<Instant> {
    with_turn_state(|turn| turn.deadline.get()).flatten()
}

pub(crate) fn set_deadline(deadline: Option<Instant>) {
    with_turn_state(|turn| turn.deadline.set(deadline));
}

/// Keeps a way back that is dropped by the end of its own handler, for the activation to answer; gives it back otherwise.
pub(crate) fn adopt<T: Orphan + 'static>(orphan: Arc<T>) -> Result<(), Arc<T>> {
    let mut orphan = Some(orphan);
    with_turn_state(|turn| {
        let unwinds = std::thread::panicking() && turn.actor.borrow().is_some();
        if (turn.cutting.get() || unwinds)
            && let Some(orphan) = orphan.take()
        {
            turn.orphans.borrow_mut().push(orphan);
        }
    });
    orphan.map_or(Ok(()), Err)
}

/// Takes the ways back that were dropped by the end of their own handler.
pub(crate) fn take_orphans() -> Vec<Arc<dyn Orphan>> {
    with_turn_state(|turn| turn.orphans.take()).unwrap_or_default()
}

/// Runs `code`, which drops a handler at an await.
pub(crate) fn while_cutting(code: impl FnOnce()) {
    let before = with_turn_state(|turn| turn.cutting.replace(true)).unwrap_or(false);
    code();
    with_turn_state(|turn| turn.cutting.set(before));
}

/// Runs `code` and takes the ways back that it leaves; those that were there before stay. For a handler that is dropped
/// outside of its turn, perhaps in the turn of another.
pub(crate) fn orphans_of(code: impl FnOnce()) -> Vec<Arc<dyn Orphan>> {
    let before = take_orphans();
    code();
    with_turn_state(|turn| turn.orphans.replace(before)).unwrap_or_default()
}

/// The running handler waits for the end of its own actor: it is to be dropped there.
pub(crate) fn end_handler() {
    with_turn_state(|turn| turn.ends.set(true));
}

/// Says whether the handler has asked for that, and forgets it.
pub(crate) fn takes_end_of_handler() -> bool {
    with_turn_state(|turn| turn.ends.take()).unwrap_or(false)
}
