//! [`ActorRef`]: how others hold an actor.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::panic::RefUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::error::TryTellError;
use crate::mailbox::{Admission, Refusal};
use crate::path::{ActorId, ActorPath};
use crate::supervision::StopReason;
use crate::system::member::{Core, Member};
use crate::system::orders::EndKind;
use crate::system::{ActorState, ActorSystem};

use super::ask::Ask;
use super::call::{Call, ReplyKind, Value};
use super::cell::Cell;
use super::enqueue::Enqueue;
use super::recipient::Recipient;
use super::reply::ReplyTo;
use super::stopping::{Ended, order_end};
use super::{Actor, Handle, Message};

/// A reference to an actor of type `A`: a cheap clone, which sends messages and says when to stop.
///
/// It stays valid through restarts, and when the actor has ended: messages are dead letters then, and asks fail. It never
/// reaches another actor that has the same name later. References are equal when they are to the same actor.
///
/// `#[actor]` makes a reference with one method for each handler, which derefs to this one. With a message enum of one's
/// own, [`tell`](Self::tell) and [`ask`](Self::ask) take the messages.
pub struct ActorRef<A: Actor> {
    cell: Arc<dyn Shared<A::Msg>>,
    actor: PhantomData<fn() -> A>,
}

/// A cell, seen so that the compiler need not look into it.
///
/// Messages hold references. Were a reference `Send` because of what its cell is made of, the compiler would walk from the
/// messages of one actor through its cell to those of the next, and would reach its recursion limit in a program of a dozen
/// actors that know each other. That every message is `Send` is said once, at [`Message`].
trait Shared<M>: Member + RefUnwindSafe {
    fn cell(&self) -> &Cell<M>;
}

impl<M: Message> Shared<M> for Cell<M> {
    #[inline]
    fn cell(&self) -> &Self {
        self
    }
}

impl<A: Actor> ActorRef<A> {
    /// Makes a reference, and counts it if the actor drains without.
    pub(super) fn new(cell: Arc<Cell<A::Msg>>) -> Self {
        Self::counted(cell)
    }

    fn counted(shared: Arc<dyn Shared<A::Msg>>) -> Self {
        let core = &shared.cell().core;
        if core.options.counted {
            // Ordering: as for any reference count, only the way down needs to be ordered.
            core.references().fetch_add(1, Ordering::Relaxed);
        }
        Self {
            cell: shared,
            actor: PhantomData,
        }
    }

    #[inline]
    pub(super) fn cell(&self) -> &Cell<A::Msg> {
        self.cell.cell()
    }

    /// The same actor under another type with the same messages.
    pub(crate) fn retyped<B: Actor<Msg = A::Msg>>(&self) -> ActorRef<B> {
        ActorRef::counted(Arc::clone(&self.cell))
    }

    pub(crate) fn core(&self) -> &Core {
        &self.cell().core
    }

    pub(super) fn system(&self) -> ActorSystem {
        ActorSystem::within(&self.core().system)
    }

    pub(super) fn member(&self) -> Arc<dyn Member> {
        Arc::clone(&self.cell) as Arc<dyn Member>
    }

    /// Sends a message and returns at once, from any thread. Whatever cannot be queued is a dead letter.
    #[inline]
    pub fn tell(&self, message: A::Msg) {
        self.cell().tell(move || message);
    }

    /// Sends the message that generated code puts together.
    // Inlined always, as `Cell::tell` is.
    #[inline(always)]
    pub(super) fn tell_made(&self, make: impl FnOnce() -> A::Msg) {
        self.cell().tell(make);
    }

    /// Sends a message if there is room, or gives it back.
    ///
    /// # Errors
    ///
    /// [`TryTellError::Full`] and [`TryTellError::Closed`], each with the message.
    pub fn try_tell(&self, message: A::Msg) -> Result<(), TryTellError<A::Msg>> {
        self.cell()
            .offer(message, Admission::Try)
            .map_err(|(message, refusal)| match refusal {
                Refusal::Full(_) => TryTellError::Full(message),
                Refusal::Closed => TryTellError::Closed(message),
            })
    }

    /// Sends a message when there is room in a bounded mailbox; those who wait come first in the order of their first
    /// polls.
    ///
    /// # Errors
    ///
    /// [`EnqueueError`](crate::EnqueueError) brings the message back when the actor stops first.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing is sent, and room already granted passes to the next.
    pub fn enqueue(&self, message: A::Msg) -> Enqueue<A> {
        Enqueue::new(self.clone(), message)
    }

    /// Asks with a message of one's own making: `make` puts the way back into it.
    ///
    /// # Errors
    ///
    /// [`AskError`](crate::AskError) says what went wrong and how far the message had come.
    ///
    /// # Cancel safety
    ///
    /// As for [`Call::ask`].
    pub fn ask<T: Send + 'static>(
        &self,
        make: impl FnOnce(ReplyTo<T>) -> A::Msg,
    ) -> Ask<A, Value<T>> {
        Ask::new(self.clone(), make)
    }

    /// Ends the actor after its current message. What is queued is turned out: asks fail, tells are dead letters.
    ///
    /// Acts at the call; the future waits for the reason. The actor has the stop timeout of its options (5 s unless set)
    /// before its user code is cut.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future undoes nothing.
    pub fn stop(&self) -> Ended {
        order_end(self.member(), EndKind::Stop, StopReason::Stopped, None)
    }

    /// Ends the actor as [`stop`](Self::stop) does, with a time limit of its own.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future undoes nothing.
    pub fn stop_within(&self, limit: Duration) -> Ended {
        order_end(
            self.member(),
            EndKind::Stop,
            StopReason::Stopped,
            Some(limit),
        )
    }

    /// Refuses new messages at once, lets the actor handle what it has accepted, and then ends it.
    ///
    /// This is about the messages of this actor alone. Its children are stopped afterwards, and what is queued for them is
    /// turned out: drain them first if they are to finish.
    ///
    /// Acts at the call; the future waits for the reason. After the stop timeout of the actor's options (5 s unless set) the
    /// drain becomes a stop; [`StopReason::Drained`] says that all was handled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future undoes nothing.
    pub fn drain(&self) -> Ended {
        order_end(self.member(), EndKind::Drain, StopReason::Drained, None)
    }

    /// Ends the actor as [`drain`](Self::drain) does, with a time limit of its own.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future undoes nothing.
    pub fn drain_within(&self, limit: Duration) -> Ended {
        order_end(
            self.member(),
            EndKind::Drain,
            StopReason::Drained,
            Some(limit),
        )
    }

    /// Ends the actor at the next await of its handler, or after its current message, without any hook. Its children are
    /// killed as well.
    ///
    /// Acts at the call; the future waits for the reason. Code that holds its thread beyond the stop timeout of the actor's
    /// options (5 s unless set) is abandoned.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future undoes nothing.
    pub fn kill(&self) -> Ended {
        order_end(self.member(), EndKind::Kill, StopReason::Killed, None)
    }

    /// Ends the actor as [`kill`](Self::kill) does, with a time limit of its own: code that holds its thread beyond it is
    /// abandoned.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future undoes nothing.
    pub fn kill_within(&self, limit: Duration) -> Ended {
        order_end(
            self.member(),
            EndKind::Kill,
            StopReason::Killed,
            Some(limit),
        )
    }

    /// Waits for the end of the actor, whoever ends it, and gives the reason; at once when it has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping it changes nothing.
    pub fn stopped(&self) -> Ended {
        Ended::new(self.member())
    }

    /// Says whether the actor has ended.
    pub fn is_stopped(&self) -> bool {
        self.core().is_told()
    }

    /// Returns the place of the actor in the tree.
    pub fn actor_path(&self) -> &ActorPath {
        self.core().kept_path()
    }

    /// Returns the identity of the actor, which is never used again.
    pub fn actor_id(&self) -> ActorId {
        self.core().id
    }

    /// Returns what the actor is doing just now.
    pub fn actor_state(&self) -> ActorState {
        self.core().state()
    }

    /// Returns how many messages wait in the mailbox just now; those in handlers are not among them.
    pub fn mailbox_depth(&self) -> usize {
        self.cell().depth()
    }

    /// Returns a reference that does not count for `stop_when_unreferenced`.
    pub fn downgrade(&self) -> WeakActorRef<A> {
        WeakActorRef {
            cell: Arc::downgrade(&self.cell),
            actor: PhantomData,
        }
    }

    /// Returns this actor as a recipient of the arguments of one of its handlers: `counter.recipient(CounterRef::add)`.
    pub fn recipient<M: 'static, K: ReplyKind>(
        &self,
        stub: impl for<'a> Fn(&'a A::Ref, M) -> Call<'a, A, K, (M,)> + Send + Sync + 'static,
    ) -> Recipient<M> {
        Recipient::of_stub(self.clone(), stub)
    }

    /// Returns this actor as a recipient of whatever `make` can turn into one of its messages.
    pub fn recipient_with<M: 'static>(
        &self,
        make: impl Fn(M) -> A::Msg + Send + Sync + 'static,
    ) -> Recipient<M> {
        Recipient::of_message(self.clone(), make)
    }
}

impl<A: Actor> Handle<A> for ActorRef<A> {
    fn actor(&self) -> &Self {
        self
    }
}

impl<A: Actor> Clone for ActorRef<A> {
    fn clone(&self) -> Self {
        Self::counted(Arc::clone(&self.cell))
    }
}

impl<A: Actor> Drop for ActorRef<A> {
    #[inline]
    fn drop(&mut self) {
        let core = self.core();
        if !core.options.counted {
            return;
        }
        // Ordering: pairs with the other decrements, so that the last one comes after every use.
        if core.references().fetch_sub(1, Ordering::AcqRel) == 1 {
            drop(order_end(
                self.member(),
                EndKind::Drain,
                StopReason::Unreferenced,
                None,
            ));
        }
    }
}

impl<A: Actor> PartialEq for ActorRef<A> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cell, &other.cell)
    }
}

impl<A: Actor> Eq for ActorRef<A> {}

impl<A: Actor> Hash for ActorRef<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.actor_id().hash(state);
    }
}

impl<A: Actor> fmt::Debug for ActorRef<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.cell(), f)
    }
}

/// A reference that does not count: an actor with `stop_when_unreferenced` drains in spite of it.
pub struct WeakActorRef<A: Actor> {
    cell: Weak<dyn Shared<A::Msg>>,
    actor: PhantomData<fn() -> A>,
}

impl<A: Actor> WeakActorRef<A> {
    /// Returns the reference, unless the actor has ended or is ending.
    pub fn upgrade(&self) -> Option<A::Ref> {
        let open = |shared: &Arc<dyn Shared<_>>| !shared.cell().mail.is_closed();
        let shared = self.cell.upgrade().filter(open)?;
        Some(A::Ref::from(ActorRef::counted(shared)))
    }
}

impl<A: Actor> Clone for WeakActorRef<A> {
    fn clone(&self) -> Self {
        Self {
            cell: Weak::clone(&self.cell),
            actor: PhantomData,
        }
    }
}

impl<A: Actor> fmt::Debug for WeakActorRef<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cell.upgrade() {
            Some(shared) => fmt::Debug::fmt(shared.cell(), f),
            None => f.write_str("(gone)"),
        }
    }
}
