//! Actors: the nouns that cannot be defined without each other.
//!
//! Read them in the order in which a message passes: [`call`] (a message not yet sent), [`reference`] (who takes it),
//! [`cell`] (its mailbox and all that is known of the actor), [`activation`] (one turn), [`lifecycle`] (what happens around
//! the turns: the end of an incarnation, and what comes between two; with [`start`], [`signals`], and for a failure [`judge`]
//! and [`decision`]), [`ask`] (the way back).

pub(crate) mod activation;
pub(crate) mod ask;
pub(crate) mod call;
pub(crate) mod cell;
pub(crate) mod context;
mod decision;
mod drive;
pub(crate) mod enqueue;
pub(crate) mod factory;
pub(crate) mod flow;
mod in_passing;
mod judge;
pub(crate) mod lifecycle;
mod lookup;
mod nest;
pub(crate) mod recipient;
pub(crate) mod reference;
pub(crate) mod reply;
mod serve;
mod signals;
mod slot;
pub(crate) mod spawn;
mod start;
pub(crate) mod starting;
pub(crate) mod stopping;
mod stopwatch;

use std::fmt;

use crate::supervision::{ChildInfo, Directive, Failure, StopReason, Supervision};
use crate::system::Terminated;

use context::ActorContext;
use flow::Flow;
use reference::ActorRef;
use reply::WayBack;

/// A type whose values are actors: they own their state and handle one message at a time.
///
/// `#[actor]` writes this, the message type and the reference for an ordinary `impl`. By hand it looks as below; an actor
/// written so runs on the same runtime.
///
/// ```
/// use actors_core::prelude::*;
/// use actors_core::{Flow, Message, WayBack};
///
/// #[derive(Debug)]
/// enum CounterMsg {
///     Add(u64),
///     Sum(ReplyTo<u64>),
/// }
///
/// impl Message for CounterMsg {
///     fn variant(&self) -> &'static str {
///         match self {
///             CounterMsg::Add(_) => "Add",
///             CounterMsg::Sum(_) => "Sum",
///         }
///     }
///     fn way_back(&self) -> Option<&dyn WayBack> {
///         match self {
///             CounterMsg::Add(_) => None,
///             CounterMsg::Sum(reply) => reply.way_back(),
///         }
///     }
/// }
///
/// struct Counter { sum: u64 }
///
/// impl Actor for Counter {
///     type Msg = CounterMsg;
///     type Ref = ActorRef<Self>;
///
///     fn receive<'a>(&'a mut self, message: CounterMsg, _: &'a mut ActorContext<Self>) -> Flow<'a> {
///         match message {
///             CounterMsg::Add(number) => self.sum += number,
///             CounterMsg::Sum(reply) => reply.send(self.sum),
///         }
///         Flow::done()
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let system = ActorSystem::new("demo")?;
/// let counter = system.spawn("counter", || Counter { sum: 0 })?;
/// counter.tell(CounterMsg::Add(42));
/// assert_eq!(counter.ask(CounterMsg::Sum).await?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an actor",
    note = "put `#[actor]` on the `impl` block with its handlers"
)]
pub trait Actor: Sized + Send + 'static {
    /// What it takes: by `#[actor]`, an enum with a variant for each handler.
    type Msg: Message;

    /// How others hold it: by `#[actor]`, a reference with a method for each handler.
    type Ref: Handle<Self>;

    /// Handles one message: calls the handler, and says what came of it.
    fn receive<'a>(&'a mut self, message: Self::Msg, ctx: &'a mut ActorContext<Self>) -> Flow<'a>;

    /// Runs before the first message of each incarnation.
    fn on_start<'a>(&'a mut self, ctx: &'a mut ActorContext<Self>) -> Flow<'a> {
        let _ = ctx;
        Flow::done()
    }

    /// Runs when the actor ends, after its children have ended. Not when it is killed, nor when its start failed.
    fn on_stop<'a>(
        &'a mut self,
        ctx: &'a mut ActorContext<Self>,
        reason: &'a StopReason,
    ) -> Flow<'a> {
        let _ = (ctx, reason);
        Flow::done()
    }

    /// Runs when this incarnation makes room for the next; without one of its own, an actor gets
    /// [`on_stop`](Self::on_stop) with [`StopReason::Restarting`].
    fn on_restart<'a>(
        &'a mut self,
        ctx: &'a mut ActorContext<Self>,
        cause: &'a Failure,
    ) -> Flow<'a> {
        let _ = cause;
        self.on_stop(ctx, &StopReason::Restarting)
    }

    /// Runs when an actor has ended that this one watches.
    fn on_terminated<'a>(
        &'a mut self,
        ctx: &'a mut ActorContext<Self>,
        who: Terminated,
    ) -> Flow<'a> {
        let _ = (ctx, who);
        Flow::done()
    }

    /// How it judges the failures of its children, unless a child has a policy of its own; `None` for as the system does.
    fn supervision() -> Option<Supervision> {
        None
    }

    /// Whether it decides itself, by [`on_failure`](Self::on_failure), about failures of its children.
    const DECIDES: bool = false;

    /// Decides about the failure of a child, if [`DECIDES`](Self::DECIDES); `None` for as the declared policy does.
    ///
    /// Runs between two messages, before those that wait, and while the child waits. A parent that is busy for longer than
    /// the policy's [`decision_timeout`](Supervision::decision_timeout) is not asked: the declared policy decides.
    fn on_failure(
        &mut self,
        ctx: &mut ActorContext<Self>,
        failure: &Failure,
        child: &ChildInfo,
    ) -> Option<Directive> {
        let _ = (ctx, failure, child);
        None
    }
}

/// A message of an actor. Written by `#[actor]`; by hand as in [`Actor`].
pub trait Message: fmt::Debug + Send + 'static {
    /// Returns the name of the variant, for dead letters and reports.
    fn variant(&self) -> &'static str;

    /// Returns the way back to the asker, if this is the message of an ask:
    /// [`reply.way_back()`](crate::ReplyTo::way_back) for a variant with a `reply`.
    fn way_back(&self) -> Option<&dyn WayBack>;
}

/// A reference to an actor: the plain [`ActorRef`], or the one with methods that `#[actor]` makes.
pub trait Handle<A: Actor>: Clone + From<ActorRef<A>> + Send + Sync + 'static {
    /// Returns the plain reference.
    fn actor(&self) -> &ActorRef<A>;
}
