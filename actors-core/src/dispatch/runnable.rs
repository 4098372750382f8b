//! [`Runnable`]: what is ready for a turn, an activation or a task.
//!
//! An activation owns itself: it is in a mailbox while it has nothing to do, in a queue when it has, and on the stack of
//! whoever runs it during its turn. So it needs no state of its own that says where it is. A task is a future of the
//! system's, with handle and wakers from `async-task`.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use crate::path::ActorId;

use super::turn::{self, Identity};
use super::{Schedule, current};

/// The task of an actor, which owns itself.
pub(crate) trait Activation: Send {
    fn identity(&self) -> &Arc<dyn Identity>;
    /// Goes on, until its end or until it pauses.
    fn poll(self: Pin<&mut Self>) -> Poll<()>;
}

/// An actor or a task of its system that is ready for a turn: [`run`](Self::run) gives it one, dropping it ends it.
pub struct Runnable(Kind);

enum Kind {
    Activation(Pin<Box<dyn Activation>>),
    Task(async_task::Runnable<TaskInfo>),
}

/// What is known of a task from outside.
pub(crate) struct TaskInfo {
    actor: ActorId,
    seam: Arc<dyn Schedule>,
}

impl Runnable {
    #[inline]
    pub(crate) fn activation(activation: Pin<Box<dyn Activation>>) -> Self {
        Self(Kind::Activation(activation))
    }

    /// Makes a task of a future, to be scheduled; `actor` is whom it belongs to.
    pub(crate) fn task<F>(
        actor: ActorId,
        seam: Arc<dyn Schedule>,
        future: F,
    ) -> (Self, async_task::Task<F::Output, TaskInfo>)
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (runnable, task) = async_task::Builder::new()
            .metadata(TaskInfo { actor, seam })
            .spawn(
                move |_| future,
                |runnable| schedule(Self(Kind::Task(runnable))),
            );
        (Self(Kind::Task(runnable)), task)
    }

    /// Gives it its turn.
    pub fn run(self) {
        match self.0 {
            Kind::Activation(activation) => take_turn(activation),
            Kind::Task(task) => {
                task.run();
            }
        }
    }

    /// Returns the actor that it belongs to.
    pub fn actor_id(&self) -> ActorId {
        match &self.0 {
            Kind::Activation(activation) => activation.identity().id(),
            Kind::Task(task) => task.metadata().actor,
        }
    }

    /// Who gives it a thread.
    #[inline]
    pub(super) fn seam(&self) -> &Arc<dyn Schedule> {
        match &self.0 {
            Kind::Activation(activation) => activation.identity().seam(),
            Kind::Task(task) => &task.metadata().seam,
        }
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runnable of {}", self.actor_id())
    }
}

/// Gives an activation its turn, and puts it where it belongs afterwards.
fn take_turn(mut activation: Pin<Box<dyn Activation>>) {
    let mut me = Arc::clone(activation.identity());
    loop {
        me.count_poll();
        let (poll, lent) = turn::in_turn(me, || activation.as_mut().poll());
        me = lent.unwrap_or_else(|| Arc::clone(activation.identity()));
        // Before somebody else may give it the next.
        me.count_poll();
        if poll.is_ready() {
            return;
        }
        match me.settle(activation) {
            None => return,
            Some(goes_on) => activation = goes_on,
        }
    }
}

/// Hands a runnable to whoever gives it a thread. All that becomes runnable comes through here.
#[inline]
pub(crate) fn schedule(runnable: Runnable) {
    // What a turn makes runnable on its own worker takes the short way.
    if let Some(runnable) = current::push_local(runnable) {
        let seam = Arc::clone(runnable.seam());
        seam.schedule(runnable);
    }
}
