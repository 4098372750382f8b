//! [`Recipient`]: whatever takes an `M`, without its type.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use crate::error::TryTellError;
use crate::panic;

use super::Actor;
use super::call::{Call, ReplyKind};
use super::reference::ActorRef;

/// Takes messages of one type: an actor through one of its handlers, a probe of a test, or a function. A cheap clone.
///
/// ```
/// use actors_core::prelude::*;
///
/// #[derive(Default)]
/// struct Log { lines: Vec<String> }
///
/// #[actor]
/// impl Log {
///     #[handler]
///     fn line(&mut self, line: String) { self.lines.push(line); }
///     #[handler]
///     fn count(&self) -> usize { self.lines.len() }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let system = ActorSystem::new("demo")?;
/// let log = system.spawn("log", Log::default)?;
/// let lines: Recipient<String> = log.recipient(LogRef::line);
/// lines.tell("hello".to_owned());
/// assert_eq!(log.count().await?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct Recipient<M>(Arc<dyn Deliver<M>>);

/// Panics of what stands behind it are caught there, and reach nobody who could see what they left.
impl<M> UnwindSafe for Recipient<M> {}
impl<M> RefUnwindSafe for Recipient<M> {}

/// What stands behind a [`Recipient`].
trait Deliver<M>: Send + Sync {
    fn tell(&self, message: M);
    fn try_tell(&self, message: M) -> Result<(), TryTellError<()>>;
}

impl<M: 'static> Recipient<M> {
    /// Makes a recipient of a function, which is called on the teller's thread. A panic in it is caught, and ends there.
    pub fn from_fn(function: impl Fn(M) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Function(function)))
    }

    pub(super) fn of_stub<A, K, F>(to: ActorRef<A>, stub: F) -> Self
    where
        A: Actor,
        K: ReplyKind,
        F: for<'a> Fn(&'a A::Ref, M) -> Call<'a, A, K, (M,)> + Send + Sync + 'static,
    {
        Self(Arc::new(Stub {
            to: A::Ref::from(to),
            stub,
            types: PhantomData,
        }))
    }

    pub(super) fn of_message<A: Actor>(
        to: ActorRef<A>,
        make: impl Fn(M) -> A::Msg + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Made { to, make }))
    }

    /// Gives the message over without waiting, as [`ActorRef::tell`] does.
    pub fn tell(&self, message: M) {
        // The panic hook has reported it; the teller has nothing to do with it.
        let _ = panic::catch(|| self.0.tell(message));
    }

    /// Gives the message over without waiting, or says why that cannot be.
    ///
    /// # Errors
    ///
    /// [`TryTellError`] without the message: what became of it is already a message of the actor's own.
    pub fn try_tell(&self, message: M) -> Result<(), TryTellError<()>> {
        panic::catch(|| self.0.try_tell(message)).unwrap_or(Ok(()))
    }
}

impl<M> Clone for Recipient<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> fmt::Debug for Recipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient<{}>", std::any::type_name::<M>())
    }
}

impl<M> From<&Self> for Recipient<M> {
    fn from(recipient: &Self) -> Self {
        recipient.clone()
    }
}

struct Function<F>(F);

impl<M, F: Fn(M) + Send + Sync> Deliver<M> for Function<F> {
    fn tell(&self, message: M) {
        (self.0)(message);
    }

    fn try_tell(&self, message: M) -> Result<(), TryTellError<()>> {
        self.tell(message);
        Ok(())
    }
}

struct Stub<A: Actor, K, F> {
    to: A::Ref,
    stub: F,
    types: PhantomData<fn() -> K>,
}

impl<M, A, K, F> Deliver<M> for Stub<A, K, F>
where
    A: Actor,
    K: ReplyKind,
    F: for<'a> Fn(&'a A::Ref, M) -> Call<'a, A, K, (M,)> + Send + Sync,
{
    fn tell(&self, message: M) {
        (self.stub)(&self.to, message).tell();
    }

    fn try_tell(&self, message: M) -> Result<(), TryTellError<()>> {
        without_message((self.stub)(&self.to, message).try_tell())
    }
}

struct Made<A: Actor, F> {
    to: ActorRef<A>,
    make: F,
}

impl<M, A: Actor, F: Fn(M) -> A::Msg + Send + Sync> Deliver<M> for Made<A, F> {
    fn tell(&self, message: M) {
        self.to.tell((self.make)(message));
    }

    fn try_tell(&self, message: M) -> Result<(), TryTellError<()>> {
        without_message(self.to.try_tell((self.make)(message)))
    }
}

fn without_message<M>(result: Result<(), TryTellError<M>>) -> Result<(), TryTellError<()>> {
    result.map_err(|error| match error {
        TryTellError::Full(_) => TryTellError::Full(()),
        TryTellError::Closed(_) => TryTellError::Closed(()),
    })
}
