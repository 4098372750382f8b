//! What a handler or hook came to.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::supervision::Failure;

/// What came of a handler or a hook: it is done, it failed its actor, or it goes on as a future.
#[must_use = "a flow that is dropped loses the handler's future"]
pub struct Flow<'a>(pub(crate) Step<'a>);

pub(crate) enum Step<'a> {
    Done,
    /// It answered with an error that nobody asked for.
    Ignored(Box<str>),
    Failed(Failure),
    Later(Later<'a>),
}

/// The future of an async handler: boxed, so that an idle actor is small.
pub type Later<'a> = Pin<Box<dyn Future<Output = Flow<'static>> + Send + 'a>>;

impl<'a> Flow<'a> {
    /// Says that the handler has run to its end.
    pub const fn done() -> Self {
        Self(Step::Done)
    }

    /// Says that the actor has failed: its supervisor decides.
    pub fn failed(failure: impl Into<Failure>) -> Self {
        Self(Step::Failed(failure.into()))
    }

    /// Goes on as this future; the actor handles nothing else meanwhile.
    pub fn later(future: impl Future<Output = Flow<'static>> + Send + 'a) -> Self {
        Self(Step::Later(Box::pin(future)))
    }

    /// Says whether it goes on as a future.
    pub(super) const fn waits(&self) -> bool {
        matches!(self.0, Step::Later(_))
    }

    /// Parts what is done from what goes on.
    pub(super) fn now(self) -> Result<Flow<'static>, Later<'a>> {
        Ok(Flow(match self.0 {
            Step::Done => Step::Done,
            Step::Ignored(error) => Step::Ignored(error),
            Step::Failed(failure) => Step::Failed(failure),
            Step::Later(future) => return Err(future),
        }))
    }

    pub(crate) fn boxed(future: Later<'a>) -> Self {
        Self(Step::Later(future))
    }

    pub(crate) fn ignored(error: String) -> Self {
        Self(Step::Ignored(error.into_boxed_str()))
    }
}

impl fmt::Debug for Flow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Step::Done => "Done",
            Step::Ignored(_) => "Ignored",
            Step::Failed(_) => "Failed",
            Step::Later(_) => "Later",
        })
    }
}
