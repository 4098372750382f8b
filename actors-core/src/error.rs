//! Every public error: one type for each verb, which gives the message back where there is one.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::path::ActorPath;

/// How far the message of an ask had come when the ask ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The handler did not run, and will not.
    Queued,
    /// The handler had begun; what it did is unknown.
    Running,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "the handler did not run",
            Self::Running => "the handler had begun",
        })
    }
}

/// A cycle of actors that would wait for each other for ever: each asked the next, and the last would ask the first.
#[derive(Clone, PartialEq, Eq)]
pub struct CyclePath(Arc<[ActorPath]>);

impl CyclePath {
    pub(crate) fn new(actors: Vec<ActorPath>) -> Self {
        Self(actors.into())
    }

    /// Returns the actors, from the one whose ask failed; the last is the one that waits for the first.
    pub fn actors(&self) -> &[ActorPath] {
        &self.0
    }
}

impl fmt::Display for CyclePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for actor in self.actors() {
            write!(f, "{actor} -> ")?;
        }
        match self.actors() {
            [first, ..] => write!(f, "{first}"),
            [] => Ok(()),
        }
    }
}

impl fmt::Debug for CyclePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why an ask brought no reply. `E` is the handler's own error; a handler without one leaves it at [`Infallible`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AskError<E = Infallible> {
    /// The handler answered with its own error. The actor is not touched by that.
    Handler(E),
    /// The handler panicked; this is the text of the panic.
    Panicked(Arc<str>),
    /// The actor has ended, or ended before it answered.
    Stopped {
        /// How far the message had come.
        phase: Phase,
    },
    /// The mailbox is bounded and was full: the handler did not run. Use
    /// [`wait_for_room`](crate::Ask::wait_for_room) to wait instead.
    MailboxFull,
    /// The handler, or whoever it gave the [`ReplyTo`](crate::ReplyTo) to, dropped it without an answer.
    NoReply,
    /// The time was up.
    Timeout {
        /// How far the message had come.
        phase: Phase,
    },
    /// The ask would have closed a cycle of actors that wait for each other: it could never be answered.
    Cycle(CyclePath),
}

impl<E> AskError<E> {
    /// Says how far the message had come: with [`Phase::Queued`] it is safe to try again, since the handler did not run and
    /// will not.
    pub const fn phase(&self) -> Phase {
        match self {
            Self::Stopped { phase } | Self::Timeout { phase } => *phase,
            Self::MailboxFull | Self::Cycle(_) => Phase::Queued,
            Self::Handler(_) | Self::Panicked(_) | Self::NoReply => Phase::Running,
        }
    }

    /// Parts the handler's own error from what went wrong on the way.
    ///
    /// ```
    /// # use actors_core::prelude::*;
    /// let error: AskError<&str> = AskError::Handler("overdrawn");
    /// assert_eq!(error.split(), Ok("overdrawn"));
    /// ```
    ///
    /// # Errors
    ///
    /// Every error but [`Handler`](Self::Handler).
    pub fn split(self) -> Result<E, AskError> {
        self.part()
    }

    /// Changes the handler's own error and leaves the others.
    pub fn map_handler<F>(self, change: impl FnOnce(E) -> F) -> AskError<F> {
        match self.part() {
            Ok(error) => AskError::Handler(change(error)),
            Err(other) => other,
        }
    }

    /// Parts the handler's own error from the others, which fit an ask of any handler.
    fn part<F>(self) -> Result<E, AskError<F>> {
        Err(match self {
            Self::Handler(error) => return Ok(error),
            Self::Panicked(text) => AskError::Panicked(text),
            Self::Stopped { phase } => AskError::Stopped { phase },
            Self::MailboxFull => AskError::MailboxFull,
            Self::NoReply => AskError::NoReply,
            Self::Timeout { phase } => AskError::Timeout { phase },
            Self::Cycle(path) => AskError::Cycle(path),
        })
    }
}

impl AskError {
    /// Gives the error of an ask whose handler has none the type of another, so that both fit one `?`.
    pub fn widen<E>(self) -> AskError<E> {
        match self.part() {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }
}

impl<E: fmt::Display> fmt::Display for AskError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handler(error) => error.fmt(f),
            Self::Panicked(text) => write!(f, "the handler panicked: {text}"),
            Self::Stopped { phase } => write!(f, "the actor has stopped: {phase}"),
            Self::MailboxFull => {
                f.write_str("the mailbox is full: try again later, or use `wait_for_room`")
            }
            Self::NoReply => {
                f.write_str("the reply was dropped: each way through the handler must `send` one")
            }
            Self::Timeout { phase } => write!(f, "no reply in time: {phase}"),
            Self::Cycle(path) => write!(
                f,
                "the ask would wait for itself, {path}: use `pipe` for one of its answers"
            ),
        }
    }
}

impl<E: Error + 'static> Error for AskError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Handler(error) => error.source(),
            _ => None,
        }
    }
}

/// What the system says to an asker in place of a reply.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum AskFailure {
    Panicked(Arc<str>),
    Stopped(Phase),
    MailboxFull,
    NoReply,
    Cycle(CyclePath),
}

impl AskFailure {
    /// What is left of a failure that says that no handler ran, when one has, and handed the message on.
    pub(crate) fn begun(self) -> Self {
        match self {
            Self::Stopped(_) => Self::Stopped(Phase::Running),
            Self::MailboxFull | Self::Cycle(_) | Self::NoReply => Self::NoReply,
            Self::Panicked(text) => Self::Panicked(text),
        }
    }
}

impl<E> From<AskFailure> for AskError<E> {
    fn from(failure: AskFailure) -> Self {
        match failure {
            AskFailure::Panicked(text) => Self::Panicked(text),
            AskFailure::Stopped(phase) => Self::Stopped { phase },
            AskFailure::MailboxFull => Self::MailboxFull,
            AskFailure::NoReply => Self::NoReply,
            AskFailure::Cycle(path) => Self::Cycle(path),
        }
    }
}

/// A message that `try_tell` could not queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TryTellError<M> {
    /// The mailbox is at capacity, or others wait for its room; a later try may succeed.
    Full(M),
    /// The actor has stopped or is stopping; no later try can succeed.
    Closed(M),
}

impl<M> TryTellError<M> {
    /// Gives the message back.
    pub fn into_message(self) -> M {
        match self {
            Self::Full(message) | Self::Closed(message) => message,
        }
    }
}

impl<M> fmt::Debug for TryTellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<M> fmt::Display for TryTellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the mailbox is full: try again later, or use `enqueue`",
            Self::Closed(_) => "the actor has stopped, and takes no more messages",
        })
    }
}

impl<M> Error for TryTellError<M> {}

/// A message that `enqueue` waited to queue until its actor stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EnqueueError<M>(pub M);

impl<M> EnqueueError<M> {
    /// Gives the message back.
    pub fn into_message(self) -> M {
        self.0
    }
}

impl<M> fmt::Debug for EnqueueError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnqueueError(..)")
    }
}

impl<M> fmt::Display for EnqueueError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the actor has stopped, and takes no more messages")
    }
}

impl<M> Error for EnqueueError<M> {}

/// What is wrong with the name of an actor or a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// It is empty.
    Empty,
    /// It has a `/`, which separates the names in a path.
    Slash,
    /// It starts with `$`, as the names that the system makes do.
    Reserved,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty: give a name, or spawn without one",
            Self::Slash => "it has a `/`, which separates the names in a path",
            Self::Reserved => "it starts with `$`, which is kept for names that the system makes",
        })
    }
}

impl Error for NameError {}

/// Why an actor could not be spawned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnError {
    /// Another actor has this name under the same parent.
    NameTaken {
        /// The path that both would have.
        path: ActorPath,
    },
    /// The name is no good.
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        error: NameError,
    },
    /// The parent has stopped or is stopping; so have its children to.
    ParentStopped {
        /// The parent.
        parent: ActorPath,
    },
    /// The system is shutting down.
    ShuttingDown,
    /// The mailbox was bounded to 0 messages.
    ZeroCapacity,
    /// The throughput was 0.
    ZeroThroughput,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { path } => write!(
                f,
                "there is an actor {path} already: give another name, or look that one up with `lookup`"
            ),
            Self::Name { name, error } => write!(f, "{name:?} is no name for an actor: {error}"),
            Self::ParentStopped { parent } => {
                write!(f, "{parent} is stopping, and takes no more children")
            }
            Self::ShuttingDown => {
                f.write_str("the system is shutting down, and takes no more actors")
            }
            Self::ZeroCapacity => f.write_str("a mailbox needs a capacity of at least 1"),
            Self::ZeroThroughput => {
                f.write_str("a throughput of 0 would handle no message: use at least 1")
            }
        }
    }
}

impl Error for SpawnError {}

/// Why a lookup found no reference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// There is no actor at this path.
    Absent {
        /// The path asked for.
        path: String,
        /// The part of it that exists.
        found: String,
    },
    /// There is an actor at this path, of another type.
    WrongType {
        /// The path asked for.
        path: String,
        /// The type asked for.
        wanted: &'static str,
        /// The type of the actor that is there.
        found: &'static str,
    },
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { path, found } => write!(
                f,
                "there is no actor {path}: the path exists as far as {found}"
            ),
            Self::WrongType {
                path,
                wanted,
                found,
            } => {
                write!(f, "the actor {path} is a `{found}`, and not a `{wanted}`")
            }
        }
    }
}

impl Error for LookupError {}

/// Why a system could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no Tokio runtime on this thread, and none was asked for.
    NoRuntime,
    /// The current Tokio runtime has no time driver.
    NoTime,
    /// The name of the system is no good.
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        error: NameError,
    },
    /// [`worker_threads`](crate::SystemBuilder::worker_threads) was 0.
    ZeroThreads,
    /// [`throughput`](crate::SystemBuilder::throughput) was 0.
    ZeroThroughput,
    /// The default mailbox was bounded to 0 messages.
    ZeroCapacity,
    /// The operating system refused the threads of the runtime.
    Runtime(std::io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime => f.write_str(
                "there is no Tokio runtime on this thread: call it in async code, or give the system threads of its own \
                 with `ActorSystem::builder(name).worker_threads(n)`",
            ),
            Self::NoTime => f.write_str(
                "the current Tokio runtime has no time driver: build it with `enable_time()` or `enable_all()`",
            ),
            Self::Name { name, error } => write!(f, "{name:?} is no name for a system: {error}"),
            Self::ZeroThreads => f.write_str("a system needs at least one worker thread"),
            Self::ZeroThroughput => f.write_str("a throughput of 0 would handle no message: use at least 1"),
            Self::ZeroCapacity => f.write_str("a mailbox needs a capacity of at least 1"),
            Self::Runtime(_) => f.write_str("the threads of the runtime could not be started"),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Runtime(error) => Some(error),
            // The text has the error of a name in it already.
            Self::Name { .. }
            | Self::NoRuntime
            | Self::NoTime
            | Self::ZeroThreads
            | Self::ZeroThroughput
            | Self::ZeroCapacity => None,
        }
    }
}
