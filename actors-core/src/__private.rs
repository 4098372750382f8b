//! What generated code and the test kit call. No promise holds for it between versions.

use std::any::{Any, type_name};
use std::error::Error;
use std::fmt::Debug;

pub use crate::actor::factory::{Async, AsyncTrying, Made, Plain, Trying};
pub use crate::actor::flow::{Flow, Later};
pub use crate::actor::reply::Claim;
pub use crate::actor::reply::sealed::WayBack as WayBackOfReply;
pub use crate::error::AskFailure;
pub use crate::private_autoref::*;

use crate::actor::Actor;
use crate::actor::call::{Call, IsResult, ReplyKind};
use crate::actor::reference::ActorRef;
use crate::actor::reply::{ReplyTo, unwanted};
use crate::panic;
use crate::path::ActorId;
use crate::supervision::{Directive, Failure, FailureOrigin, FailureValue};
use crate::system::Terminated;

/// Makes a call, for a stub.
#[inline]
pub const fn call<A: Actor, K: ReplyKind, P>(
    to: &ActorRef<A>,
    args: P,
    make: fn(P, ReplyTo<K::Raw>) -> A::Msg,
) -> Call<'_, A, K, P> {
    Call::new(to, args, make)
}

/// Ends a handler that cannot fail.
#[inline]
pub fn finish<T: Send + 'static>(reply: ReplyTo<T>, value: T) -> Flow<'static> {
    reply.send(value);
    Flow::done()
}

/// Ends a handler whose error is an ordinary reply. If nobody asked, it is worth a warning.
pub fn finish_fallible<R: IsResult>(
    reply: ReplyTo<R>,
    result: R,
    describe: fn(&R::Err) -> Described<'_>,
) -> Flow<'static> {
    if reply.was_asked() {
        reply.send(result);
        return Flow::done();
    }
    match result.into_result() {
        Ok(value) => {
            unwanted(value);
            Flow::done()
        }
        Err(error) => {
            // To show an error is user code, and its panic no failure of the actor.
            let text = panic::catch(|| describe(&error).text);
            unwanted(error);
            Flow::ignored(text.unwrap_or_else(|_| type_name::<R::Err>().to_owned()))
        }
    }
}

/// Ends a handler whose error is also a failure of the actor.
pub fn finish_failing<R: IsResult<Err: Sync>>(
    reply: ReplyTo<R>,
    result: R,
    describe: fn(&R::Err) -> Described<'_>,
) -> Flow<'static> {
    match result.into_result() {
        Ok(value) => {
            reply.send(R::from_result(Ok(value)));
            Flow::done()
        }
        Err(error) => {
            let asked = Asked {
                parts: Some((error, reply)),
                describe,
            };
            Flow::failed(Failure::from_value(
                Box::new(asked),
                FailureOrigin::Detached,
            ))
        }
    }
}

/// An error on its way to the supervisor, and then to the asker: whoever is done with the failure drops it.
struct Asked<R: IsResult> {
    parts: Option<(R::Err, ReplyTo<R>)>,
    describe: fn(&R::Err) -> Described<'_>,
}

impl<R: IsResult> Asked<R> {
    fn value(&self) -> Option<&R::Err> {
        self.parts.as_ref().map(|(error, _)| error)
    }
}

impl<R: IsResult<Err: Sync>> FailureValue for Asked<R> {
    fn any(&self) -> &dyn Any {
        self.value().map_or(&(), |error| error as &dyn Any)
    }

    fn error(&self) -> Option<&(dyn Error + 'static)> {
        (self.describe)(self.value()?).error
    }

    fn text(&self) -> String {
        self.value()
            .map(|error| (self.describe)(error).text)
            .unwrap_or_default()
    }

    fn type_name(&self) -> &'static str {
        type_name::<R::Err>()
    }

    fn asking_actor(&self) -> Option<ActorId> {
        let (_, reply) = self.parts.as_ref()?;
        reply.way_back()?.asking_actor()
    }
}

impl<R: IsResult> Drop for Asked<R> {
    fn drop(&mut self) {
        if let Some((error, reply)) = self.parts.take() {
            reply.send(R::from_result(Err(error)));
        }
    }
}

impl<R: IsResult> Debug for Asked<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Asked(..)")
    }
}

/// Ends a handler that has taken the way back itself.
#[inline]
pub const fn finish_deferred((): ()) -> Flow<'static> {
    Flow::done()
}

/// Goes on as a future.
#[inline]
pub fn later(future: Later<'_>) -> Flow<'_> {
    Flow::boxed(future)
}

/// What a hook may return: nothing, or a result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no outcome of a hook",
    note = "a hook returns `()` or `Result<(), E>`, where `E` turns into a `Failure`"
)]
pub trait IntoHook {
    /// Says whether the hook failed.
    fn into_flow(self) -> Flow<'static>;
}

impl IntoHook for () {
    fn into_flow(self) -> Flow<'static> {
        Flow::done()
    }
}

impl<E: Into<Failure>> IntoHook for Result<(), E> {
    fn into_flow(self) -> Flow<'static> {
        match self {
            Ok(()) => Flow::done(),
            Err(error) => Flow::failed(error),
        }
    }
}

/// Ends a hook.
pub fn hook(outcome: impl IntoHook) -> Flow<'static> {
    outcome.into_flow()
}

/// What an `#[on_failure]` may return: a directive, or none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no decision about a failure",
    note = "`#[on_failure]` returns `Directive`, or `Option<Directive>` where `None` leaves it to the declared policy"
)]
pub trait IntoDecision {
    /// Gives the directive; `None` for as the declared policy says.
    fn into_decision(self) -> Option<Directive>;
}

impl IntoDecision for Directive {
    fn into_decision(self) -> Option<Directive> {
        Some(self)
    }
}

impl IntoDecision for Option<Directive> {
    fn into_decision(self) -> Option<Directive> {
        self
    }
}

/// Ends a hook that decides.
pub fn decision(decision: impl IntoDecision) -> Option<Directive> {
    decision.into_decision()
}

/// Gives a reference to one actor the type of another with the same messages: a stand-in.
pub fn stand_in<A: Actor, S: Actor<Msg = A::Msg>>(stand_in: &ActorRef<S>) -> A::Ref {
    A::Ref::from(stand_in.retyped())
}

/// Calls `tell` once when the actor has ended, after everything that it told others; for the probes of the test kit.
pub fn watch_with<A: Actor>(actor: &ActorRef<A>, tell: impl FnOnce(Terminated) + Send + 'static) {
    let end = actor.core().end();
    end.watch(end.new_key(), Box::new(tell));
}
