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

/// What takes turns, and owns itself.
pub(crate) trait Activation: Send {
    /// Whose turns they are; `None` for a task of the system's.
    fn identity(&self) -> Option<&Arc<dyn Identity>>;
    /// The actor that it belongs to.
    fn actor(&self) -> ActorId;
    /// Who gives it a thread.
    fn seam(&self) -> &Arc<dyn Schedule>;
    /// Goes on, until its end or until it pauses. A task is done with its turn.
    fn poll(self: Pin<&mut Self>) -> Poll<()>;
}

/// An actor or a task of its system that is ready for a turn: [`run`](Self::run) gives it one, dropping it ends it.
pub struct Runnable(Pin<Box<dyn Activation>>);

impl Runnable {
    #[inline]
    pub(crate) const fn new(activation: Pin<Box<dyn Activation>>) -> Self {
        Self(activation)
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
            .spawn(move |_| future, |runnable| schedule(TaskTurn::of(runnable)));
        (TaskTurn::of(runnable), task)
    }

    /// Gives it its turn.
    #[inline]
    pub fn run(self) {
        take_turn(self.0);
    }

    /// Returns the actor that it belongs to.
    pub fn actor_id(&self) -> ActorId {
        self.0.actor()
    }

    /// Who gives it a thread.
    #[inline]
    pub(super) fn seam(&self) -> &Arc<dyn Schedule> {
        self.0.seam()
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runnable of {}", self.actor_id())
    }
}

/// What is known of a task from outside.
pub(crate) struct TaskInfo {
    actor: ActorId,
    seam: Arc<dyn Schedule>,
}

/// A turn of a task, whose handle, wakers and state are those of `async-task`.
struct TaskTurn(Option<async_task::Runnable<TaskInfo>>);

impl TaskTurn {
    fn of(task: async_task::Runnable<TaskInfo>) -> Runnable {
        Runnable(Box::pin(Self(Some(task))))
    }

    fn info(&self) -> &TaskInfo {
        let task = self.0.as_ref();
        task.expect("a turn of a task is taken once").metadata()
    }
}

impl Activation for TaskTurn {
    fn identity(&self) -> Option<&Arc<dyn Identity>> {
        None
    }

    fn actor(&self) -> ActorId {
        self.info().actor
    }

    fn seam(&self) -> &Arc<dyn Schedule> {
        &self.info().seam
    }

    fn poll(mut self: Pin<&mut Self>) -> Poll<()> {
        if let Some(task) = self.0.take() {
            task.run();
        }
        Poll::Ready(())
    }
}

/// Gives an activation its turn, and puts it where it belongs afterwards.
fn take_turn(mut activation: Pin<Box<dyn Activation>>) {
    let Some(me) = activation.identity() else {
        let _ = activation.as_mut().poll();
        return;
    };
    let mut me = Arc::clone(me);
    // Bounded: what goes on uses up the messages of this very turn, and then gives way.
    loop {
        me.count_poll();
        let (poll, lent) = turn::in_turn(me, || activation.as_mut().poll());
        // A thread at its end does not give back what it was lent.
        let Some(lent) = lent.or_else(|| activation.identity().cloned()) else {
            return;
        };
        me = lent;
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
    if current::is_at_desk(runnable.seam()) {
        return current::push_local(runnable);
    }
    let seam = Arc::clone(runnable.seam());
    seam.schedule(runnable);
}
