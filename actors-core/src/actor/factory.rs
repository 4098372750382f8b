//! Where the state of an actor comes from: a factory makes it for each incarnation.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::supervision::Failure;
use crate::sync::Mutex;

use super::Actor;

/// Makes the state of an actor, afresh for each incarnation: `Fn() -> A`, `Fn() -> Result<A, E>`, or a future of that.
///
/// `M` tells the four forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot make the state of an actor",
    label = "not a factory",
    note = "a factory is `Fn() -> A`, `Fn() -> Result<A, E>` or a future of that, where `A` is an actor; it is `Send + Sync + 'static`"
)]
pub trait Factory<A, M>: Send + Sync + 'static {
    #[doc(hidden)]
    fn make(&self) -> Made<A>;
}

/// What a factory may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the state of an actor",
    note = "a factory returns `A`, `Result<A, E>` or a future of that, where `A` is an actor and `E` turns into a `Failure`"
)]
pub trait IntoState<A, M> {
    #[doc(hidden)]
    fn into_state(self) -> Made<A>;
}

/// The state, now or later, or why there is none.
#[doc(hidden)]
pub enum Made<A> {
    Now(Result<A, Failure>),
    Later(Pin<Box<dyn Future<Output = Result<A, Failure>> + Send>>),
}

impl<A> std::fmt::Debug for Made<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "Now",
            Self::Later(_) => "Later",
        })
    }
}

/// Marks a factory that returns the state.
#[derive(Debug)]
pub enum Plain {}
/// Marks a factory that returns a result.
#[derive(Debug)]
pub enum Trying {}
/// Marks a factory that returns a future of the state.
#[derive(Debug)]
pub enum Async {}
/// Marks a factory that returns a future of a result.
#[derive(Debug)]
pub enum AsyncTrying {}

impl<A: Actor> IntoState<A, Plain> for A {
    fn into_state(self) -> Made<A> {
        Made::Now(Ok(self))
    }
}

impl<A: Actor, E: Into<Failure>> IntoState<A, Trying> for Result<A, E> {
    fn into_state(self) -> Made<A> {
        Made::Now(self.map_err(Into::into))
    }
}

impl<A: Actor, F: Future<Output = A> + Send + 'static> IntoState<A, Async> for F {
    fn into_state(self) -> Made<A> {
        Made::Later(Box::pin(async { Ok(self.await) }))
    }
}

impl<A, E, F> IntoState<A, AsyncTrying> for F
where
    A: Actor,
    E: Into<Failure>,
    F: Future<Output = Result<A, E>> + Send + 'static,
{
    fn into_state(self) -> Made<A> {
        Made::Later(Box::pin(async { self.await.map_err(Into::into) }))
    }
}

impl<A, M, R, F> Factory<A, M> for F
where
    F: Fn() -> R + Send + Sync + 'static,
    R: IntoState<A, M>,
{
    fn make(&self) -> Made<A> {
        self().into_state()
    }
}

/// A factory without its type.
pub(super) trait Source<A>: Send + Sync {
    fn make(&self) -> Made<A>;

    /// Says whether it will never make another, so that [`spent`] does as well.
    fn is_spent(&self) -> bool {
        false
    }
}

struct Repeatable<F, M>(F, std::marker::PhantomData<fn() -> M>);

impl<A, M: 'static, F: Factory<A, M>> Source<A> for Repeatable<F, M> {
    fn make(&self) -> Made<A> {
        self.0.make()
    }
}

pub(super) fn source<A, M: 'static>(factory: impl Factory<A, M>) -> Box<dyn Source<A>>
where
    A: 'static,
{
    Box::new(Repeatable(factory, std::marker::PhantomData))
}

/// A state that was given and not made.
struct Once<A>(Mutex<Option<A>>);

impl<A: Send> Source<A> for Once<A> {
    fn make(&self) -> Made<A> {
        let state = self.0.lock().take();
        state.map_or_else(|| Spent.make(), |state| Made::Now(Ok(state)))
    }

    fn is_spent(&self) -> bool {
        self.0.lock().is_none()
    }
}

/// What is left of a state that was given: it takes no memory.
struct Spent;

impl<A> Source<A> for Spent {
    fn make(&self) -> Made<A> {
        Made::Now(Err(Failure::from(
            "the state was given once, and is used up",
        )))
    }
}

pub(super) fn spent<A>() -> Box<dyn Source<A>> {
    Box::new(Spent)
}

pub(super) fn once<A: Send + 'static>(state: A) -> Box<dyn Source<A>> {
    Box::new(Once(Mutex::new(Some(state))))
}

/// Turns a factory with arguments into one without, which clones them for each incarnation.
pub(super) fn with_args<P, R>(
    args: P,
    make: impl Fn(P) -> R + Send + Sync + 'static,
) -> impl Fn() -> R + Send + Sync + 'static
where
    P: Clone + Send + Sync + 'static,
{
    let args = Arc::new(args);
    move || make(P::clone(&args))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_was_given_leaves_nothing_behind_when_it_is_taken() {
        let source = once(1);
        assert!(!source.is_spent());
        assert!(matches!(source.make(), Made::Now(Ok(1))));
        assert!(source.is_spent());
        assert!(matches!(source.make(), Made::Now(Err(_))));
        assert_eq!(size_of_val(&*spent::<u64>()), 0);
    }
}
