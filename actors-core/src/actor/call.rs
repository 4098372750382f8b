//! [`Call`]: a message that is not yet sent.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;

use crate::error::TryTellError;

use super::Actor;
use super::ask::Ask;
use super::enqueue::Enqueue;
use super::recipient::Recipient;
use super::reference::ActorRef;
use super::reply::ReplyTo;

/// How the reply of a handler reads to its asker: [`Value`] or [`Fallible`].
pub trait ReplyKind: 'static {
    /// What the handler returns.
    type Raw: Send + 'static;
    /// What an ask gives when all went well.
    type Ok;
    /// The handler's own error.
    type Err;

    #[doc(hidden)]
    fn settle(raw: Self::Raw) -> Result<Self::Ok, Self::Err>;
}

/// The reply of a handler that cannot fail.
#[derive(Debug)]
pub struct Value<T>(PhantomData<fn() -> T>);

/// The reply of a handler that returns a `Result` (of whatever name): the error is the handler's own, and no failure of the
/// actor.
#[derive(Debug)]
pub struct Fallible<R>(PhantomData<fn() -> R>);

/// A `Result`, under whatever alias.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `Result`",
    note = "a handler marked `fallible` or `err_is_failure` returns a `Result`"
)]
pub trait IsResult: Send + 'static {
    /// Its `T`.
    type Ok: Send + 'static;
    /// Its `E`.
    type Err: Send + 'static;

    #[doc(hidden)]
    fn into_result(self) -> Result<Self::Ok, Self::Err>;
    #[doc(hidden)]
    fn from_result(result: Result<Self::Ok, Self::Err>) -> Self;
}

impl<T: Send + 'static, E: Send + 'static> IsResult for Result<T, E> {
    type Ok = T;
    type Err = E;

    fn into_result(self) -> Self {
        self
    }

    fn from_result(result: Self) -> Self {
        result
    }
}

impl<T: Send + 'static> ReplyKind for Value<T> {
    type Raw = T;
    type Ok = T;
    type Err = std::convert::Infallible;

    fn settle(raw: T) -> Result<T, Self::Err> {
        Ok(raw)
    }
}

impl<R: IsResult> ReplyKind for Fallible<R> {
    type Raw = R;
    type Ok = R::Ok;
    type Err = R::Err;

    fn settle(raw: R) -> Result<R::Ok, R::Err> {
        raw.into_result()
    }
}

/// A message that is not yet sent: the arguments of a handler, and whom they are for.
///
/// The methods of a generated reference make it. It does nothing until one of its own methods is called, or until it is
/// awaited, which is its [`ask`](Self::ask).
///
/// `A` is the actor, `K` how its reply reads, `P` the arguments as a tuple.
#[must_use = "a call does nothing until it is told, asked or awaited: add `.tell()`, or `.await` it"]
pub struct Call<'a, A: Actor, K: ReplyKind, P> {
    to: &'a ActorRef<A>,
    args: P,
    make: fn(P, ReplyTo<K::Raw>) -> A::Msg,
}

impl<'a, A: Actor, K: ReplyKind, P> Call<'a, A, K, P> {
    #[inline]
    pub(crate) const fn new(
        to: &'a ActorRef<A>,
        args: P,
        make: fn(P, ReplyTo<K::Raw>) -> A::Msg,
    ) -> Self {
        Self { to, args, make }
    }

    #[inline]
    fn into_message(self, reply: ReplyTo<K::Raw>) -> A::Msg {
        (self.make)(self.args, reply)
    }

    /// The message alone, for one who sends it in a way of its own.
    pub(super) fn into_untold(self) -> A::Msg {
        self.into_message(ReplyTo::nobody())
    }

    /// Sends the message and returns at once, from any thread. Whatever cannot be queued is a dead letter.
    #[inline]
    pub fn tell(self) {
        let to = self.to;
        to.tell_made(move || self.into_message(ReplyTo::nobody()));
    }

    /// Sends the message if there is room, or gives it back.
    ///
    /// # Errors
    ///
    /// [`TryTellError::Full`] and [`TryTellError::Closed`], each with the message.
    pub fn try_tell(self) -> Result<(), TryTellError<A::Msg>> {
        let to = self.to;
        to.try_tell(self.into_message(ReplyTo::nobody()))
    }

    /// Sends the message when there is room in a bounded mailbox; those who wait come first in the order of their first
    /// polls.
    ///
    /// # Errors
    ///
    /// [`EnqueueError`](crate::EnqueueError) brings the message back when the actor stops first.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing is sent, and room already granted passes to the next.
    pub fn enqueue(self) -> Enqueue<A> {
        let to = self.to;
        to.enqueue(self.into_message(ReplyTo::nobody()))
    }

    /// Sends the message when first polled and waits for the reply.
    ///
    /// The ask is `'static` and `Send`: it can be joined, spawned and raced. It waits as long as the system's
    /// [`ask_timeout`](crate::SystemBuilder::ask_timeout), and in a handler that was itself asked no longer than its asker.
    ///
    /// # Errors
    ///
    /// [`AskError::Handler`](crate::AskError::Handler) brings the handler's own error;
    /// [`AskError::phase`](crate::AskError::phase) says of every other whether the handler had begun.
    ///
    /// # Cancel safety
    ///
    /// Dropped before the handler began, it never runs; dropped later, the reply is discarded.
    pub fn ask(self) -> Ask<A, K> {
        Ask::new(self.to.clone(), |reply| self.into_message(reply))
    }

    /// Sends the message as [`tell`](Self::tell) does, and has the reply delivered to `recipient` as a message. If there is
    /// none, because the handler failed, nothing is delivered.
    pub fn reply_to(self, recipient: impl Into<Recipient<K::Raw>>) {
        let to = self.to;
        to.tell(self.into_message(ReplyTo::recipient(recipient.into())));
    }

    /// Sends the message as [`tell`](Self::tell) does, and leaves the answer to whoever `reply` belongs to: a handler that
    /// was asked lets another actor answer.
    ///
    /// If it cannot be queued there, the asker gets [`Stopped`](crate::AskError::Stopped) in the phase `Running`, or
    /// [`NoReply`](crate::AskError::NoReply) from a full mailbox: a handler of theirs has run.
    pub fn forward(self, reply: ReplyTo<K::Raw>) {
        let to = self.to;
        to.tell(self.into_message(reply));
    }
}

impl<A: Actor, K: ReplyKind, P> IntoFuture for Call<'_, A, K, P> {
    type Output = <Ask<A, K> as Future>::Output;
    type IntoFuture = Ask<A, K>;

    fn into_future(self) -> Ask<A, K> {
        self.ask()
    }
}

impl<A: Actor, K: ReplyKind, P: Clone> Clone for Call<'_, A, K, P> {
    fn clone(&self) -> Self {
        Self {
            to: self.to,
            args: self.args.clone(),
            make: self.make,
        }
    }
}

impl<A: Actor, K: ReplyKind, P> fmt::Debug for Call<'_, A, K, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call to {}", self.to.actor_path())
    }
}
