//! Where in the life of an actor a failure happened.

use std::fmt;

use crate::path::ActorPath;

/// Where a failure happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureOrigin {
    /// No actor has failed with it yet: a failure made by hand, in a test of a policy for example.
    Detached,
    /// The factory or `on_start`.
    Start,
    /// The handler of a message.
    Handler {
        /// The variant of the actor's message, as in `Deposit`.
        variant: &'static str,
    },
    /// A hook other than `on_start`.
    Hook(&'static str),
    /// Another actor further down: its failure was escalated to the actor that now fails with it.
    Child {
        /// The actor in which it began, however many levels it has come up since.
        path: ActorPath,
        /// Where it happened there.
        origin: Box<Self>,
    },
    /// A sibling, with which this actor is restarted.
    Sibling {
        /// The sibling.
        path: ActorPath,
        /// Where it happened there.
        origin: Box<Self>,
    },
}

impl FailureOrigin {
    /// Says whether the failed actor has no state, because its own factory or `on_start` failed.
    pub fn is_start(&self) -> bool {
        matches!(self, Self::Start)
    }

    /// Returns the origin as the parent of `child` sees it after an escalation.
    pub(super) fn escalated_by(self, child: &ActorPath) -> Self {
        match self {
            Self::Child { .. } => self,
            origin => Self::Child {
                path: child.clone(),
                origin: Box::new(origin),
            },
        }
    }
}

/// Reads as the subject of a sentence; a detached origin is empty.
impl fmt::Display for FailureOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detached => Ok(()),
            Self::Start => f.write_str("start"),
            Self::Handler { variant } => write!(f, "handler `{variant}`"),
            Self::Hook(name) => write!(f, "hook `{name}`"),
            Self::Child { path, origin } | Self::Sibling { path, origin }
                if **origin == Self::Detached =>
            {
                write!(f, "{path}")
            }
            Self::Child { path, origin } | Self::Sibling { path, origin } => {
                write!(f, "{origin} of {path}")
            }
        }
    }
}
