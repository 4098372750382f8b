//! The four answers to a failure.

use std::fmt;

/// What a supervisor wants done with an actor that failed.
///
/// Whatever it is, the message that caused the failure is gone and its asker has been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Directive {
    /// The actor goes on with its state as it is. After a failed start there is none, so this acts as `Restart`.
    Resume,
    /// The actor gets a fresh state from its factory and keeps its mailbox, name, references and watchers.
    Restart,
    /// The actor stops; its queued messages become dead letters.
    Stop,
    /// The supervisor itself fails with this failure, and its own supervisor decides. At the top the system shuts down.
    Escalate,
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resume => "resume",
            Self::Restart => "restart",
            Self::Stop => "stop",
            Self::Escalate => "escalate",
        })
    }
}
