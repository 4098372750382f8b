//! Waiting for an actor that was spawned to have started.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::sync::oneshot;

use crate::error::SpawnError;
use crate::path::ActorPath;
use crate::supervision::StopReason;
use crate::system::member::Member;

use super::stopping::Ended;
use super::{Actor, Handle};

/// Waits for the first successful start of an actor, and gives the reference. Made by [`ActorSystem::start`],
/// [`ActorContext::start`] and [`Spawn::start`].
///
/// The actor is spawned by the call that makes this: what it is told meanwhile waits in its mailbox. A start that fails and is
/// tried again is still waited for.
///
/// An actor that waits for a child of its own cannot decide about that child: the declared policy does, and what it escalates
/// stops the child.
///
/// [`ActorSystem::start`]: crate::ActorSystem::start
/// [`ActorContext::start`]: crate::ActorContext::start
/// [`Spawn::start`]: crate::Spawn::start
///
/// # Errors
///
/// [`StartError::Spawn`] if there is no actor, [`StartError::Stopped`] with the last failure if it has ended before it had
/// started.
///
/// # Cancel safety
///
/// Dropping it changes nothing but that nobody waits: the actor lives.
#[must_use = "the actor starts by itself, but only awaiting this tells when, and whether"]
pub struct Starting<A: Actor>(State<A>);

enum State<A: Actor> {
    Refused(SpawnError),
    Waiting(Box<Waiting<A>>),
    Over,
}

struct Waiting<A: Actor> {
    reference: A::Ref,
    /// `None` once it is known that there will be no start.
    started: Option<oneshot::Receiver<()>>,
    ended: Ended,
    /// The parent is the one that waits.
    is_parents: bool,
}

impl<A: Actor> Starting<A> {
    pub(super) const fn refused(error: SpawnError) -> Self {
        Self(State::Refused(error))
    }

    pub(super) fn waiting(reference: A::Ref, started: oneshot::Receiver<()>) -> Self {
        let ended = Ended::new(reference.actor().member());
        Self(State::Waiting(Box::new(Waiting {
            reference,
            started: Some(started),
            ended,
            is_parents: false,
        })))
    }
}

/// Nothing in it is pinned.
impl<A: Actor> Unpin for Starting<A> {}

impl<A: Actor> Future for Starting<A> {
    type Output = Result<A::Ref, StartError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Waiting(waiting) = &mut self.0 {
            waiting.tell_if_parent_waits();
            if !ready!(waiting.poll_started(cx)) {
                let reason = ready!(Pin::new(&mut waiting.ended).poll(cx));
                let actor = waiting.reference.actor().core().path();
                self.0 = State::Over;
                return Poll::Ready(Err(StartError::Stopped { actor, reason }));
            }
        }
        match std::mem::replace(&mut self.0, State::Over) {
            State::Refused(error) => Poll::Ready(Err(StartError::Spawn(error))),
            State::Waiting(waiting) => Poll::Ready(Ok(waiting.reference.clone())),
            State::Over => panic!("a start is awaited once"),
        }
    }
}

impl<A: Actor> Waiting<A> {
    /// Says, once it is known, whether the actor has started.
    fn poll_started(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let Some(started) = &mut self.started else {
            return Poll::Ready(false);
        };
        let has_started = ready!(Pin::new(started).poll(cx)).is_ok();
        if !has_started {
            // Its end may take a while to be told, and a receiver is not to be asked twice.
            self.started = None;
        }
        Poll::Ready(has_started)
    }

    fn member(&self) -> Arc<dyn Member> {
        self.reference.actor().member()
    }

    fn tell_if_parent_waits(&mut self) {
        let core = self.reference.actor().core();
        let running = core.system.running_actor();
        if !self.is_parents && running.is_some_and(|actor| core.is_child_of(actor.id())) {
            self.is_parents = true;
            self.member()
                .control(&mut |orders| orders.parent_waits = true);
        }
    }
}

impl<A: Actor> Drop for Waiting<A> {
    fn drop(&mut self) {
        if self.is_parents {
            self.member()
                .control(&mut |orders| orders.parent_waits = false);
        }
    }
}

impl<A: Actor> fmt::Debug for Starting<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            State::Refused(error) => f.debug_tuple("Starting").field(error).finish(),
            State::Waiting(waiting) => f
                .debug_tuple("Starting")
                .field(waiting.reference.actor())
                .finish(),
            State::Over => f.write_str("Starting(..)"),
        }
    }
}

/// Why an actor that was to be started has not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// It was not spawned.
    Spawn(SpawnError),
    /// It has ended before it had started; after failures, the reason has the last one.
    Stopped {
        /// The actor.
        actor: ActorPath,
        /// Why it ended.
        reason: StopReason,
    },
}

impl From<SpawnError> for StartError {
    fn from(error: SpawnError) -> Self {
        Self::Spawn(error)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn(error) => error.fmt(f),
            Self::Stopped { actor, reason } => {
                write!(f, "{actor} ended before it had started: {reason}")
            }
        }
    }
}

impl Error for StartError {}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::runtime::Builder;

    use super::super::Message;
    use super::super::context::ActorContext;
    use super::super::flow::{Flow, Step};
    use super::super::reference::ActorRef;
    use super::super::reply::{ReplyTo, WayBack};
    use super::*;
    use crate::supervision::Supervision;
    use crate::system::ActorSystem;

    struct Parent(Arc<Mutex<Option<ActorRef<Child>>>>);

    struct Child;

    type Ping = ReplyTo<()>;

    impl Message for Ping {
        fn variant(&self) -> &'static str {
            "Ping"
        }

        fn way_back(&self) -> Option<&dyn WayBack> {
            Self::way_back(self)
        }
    }

    impl Actor for Child {
        type Msg = Ping;
        type Ref = ActorRef<Self>;

        fn receive<'a>(&'a mut self, ping: Ping, ctx: &'a mut ActorContext<Self>) -> Flow<'a> {
            ping.send(());
            ctx.fail("resumed");
            Flow::done()
        }
    }

    impl Actor for Parent {
        type Msg = Ping;
        type Ref = ActorRef<Self>;

        fn on_start<'a>(&'a mut self, ctx: &'a mut ActorContext<Self>) -> Flow<'a> {
            Flow(Step::Later(Box::pin(async move {
                let child = ctx.start("child", || Child).await;
                *self.0.lock().expect("no panic") = child.ok();
                Flow::done()
            })))
        }

        fn receive<'a>(&'a mut self, _: Ping, _: &'a mut ActorContext<Self>) -> Flow<'a> {
            Flow::done()
        }
    }

    fn keeps_orders<A: Actor<Msg = Ping>>(actor: &ActorRef<A>) -> bool {
        let cell = actor
            .member()
            .into_any()
            .downcast::<super::super::cell::Cell<Ping>>();
        let cell = cell.expect("that is its message");
        cell.mail.peek(|control| control.is_some())
    }

    async fn settle() {
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn an_actor_that_was_waited_for_keeps_nothing_of_it() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let system = ActorSystem::new("test").unwrap();
            let child = system.start("child", || Child).await.unwrap();
            assert!(!keeps_orders(&child), "waited for by the system's user");
            let slot = Arc::default();
            let its = Arc::clone(&slot);
            let parent = system
                .start("parent", move || Parent(Arc::clone(&its)))
                .await
                .unwrap();
            let child = slot.lock().unwrap().clone().unwrap();
            settle().await;
            assert!(!keeps_orders(&parent), "of a child it waited for");
            assert!(!keeps_orders(&child), "waited for by its parent");
        });
    }

    #[test]
    fn an_actor_that_has_heard_what_was_said_keeps_nothing_of_it() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let system = ActorSystem::new("test").unwrap();
            let child = system.actor(|| Child).supervision(Supervision::resume());
            let child = child.start().await.unwrap();
            child.ask(|reply| reply).await.unwrap();
            settle().await;
            assert!(!keeps_orders(&child));
        });
    }
}
