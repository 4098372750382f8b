//! What happens to an actor between its start and its end.

use std::fmt;
use std::time::Duration;

use crate::path::{ActorId, ActorPath};
use crate::supervision::{Directive, FailureReport, StopReason};

/// Tells of a change in the life of an actor, or of something about it that an operator wants to
/// know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LifecycleEvent {
    /// The actor's first incarnation is ready for messages.
    Started {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
    },
    /// The actor failed, and this was decided about it.
    Failed {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
        /// What went wrong.
        failure: FailureReport,
        /// What its supervisor decided, before the budget was looked at: a `Restart` whose budget is spent becomes a stop, or
        /// what the policy says with `when_spent`.
        directive: Directive,
    },
    /// A new incarnation is ready for messages.
    Restarted {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
        /// How often the actor has been restarted since it was spawned.
        restarts: u32,
    },
    /// The actor has ended, and its name is free.
    Stopped {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
        /// Why it ended.
        reason: StopReason,
    },
    /// More messages wait in an unbounded mailbox than its owner finds healthy.
    MailboxDeep {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
        /// The number of messages that wait.
        depth: usize,
    },
    /// A handler takes longer than its owner finds healthy. Told once of each run of a handler, while it goes on.
    HandlerSlow {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
        /// The variant of the message, which is named after its handler.
        variant: &'static str,
        /// For how long it has waited, since its first `.await` that was not ready; or for how long, at least, it has held
        /// its thread.
        running_for: Duration,
    },
    /// A handler answered an `Err` to a message that nobody awaits an answer to.
    ErrorIgnored {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
        /// The variant of the message, which is named after its handler.
        variant: &'static str,
        /// The text of the error.
        error: String,
    },
    /// The hook that ends an incarnation failed, or a decider panicked (`decider`) and so ended it; the end came all the same.
    HookFailed {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
        /// What went wrong, and in which hook.
        failure: FailureReport,
    },
    /// The destructor of the actor's state, of a message or of a future panicked; nothing else came
    /// of it.
    DestructorPanicked {
        /// The path of the actor.
        actor: ActorPath,
        /// Its identity, which later actors of that path do not share.
        id: ActorId,
        /// The text of the panic.
        text: String,
    },
}

impl LifecycleEvent {
    /// Returns the path of the actor that the event is about.
    pub fn actor(&self) -> &ActorPath {
        self.subject().0
    }

    /// Returns the identity of the actor that the event is about.
    pub fn id(&self) -> ActorId {
        self.subject().1
    }

    fn subject(&self) -> (&ActorPath, ActorId) {
        match self {
            Self::Started { actor, id }
            | Self::Failed { actor, id, .. }
            | Self::Restarted { actor, id, .. }
            | Self::Stopped { actor, id, .. }
            | Self::MailboxDeep { actor, id, .. }
            | Self::HandlerSlow { actor, id, .. }
            | Self::ErrorIgnored { actor, id, .. }
            | Self::HookFailed { actor, id, .. }
            | Self::DestructorPanicked { actor, id, .. } => (actor, *id),
        }
    }

    /// Returns what is said about the actor, for a place where its path stands already.
    pub(crate) fn predicate(&self) -> impl fmt::Display + '_ {
        Predicate(self)
    }
}

impl fmt::Display for LifecycleEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (actor, id) = self.subject();
        write!(f, "{actor} ({id}) {}", self.predicate())
    }
}

struct Predicate<'a>(&'a LifecycleEvent);

impl fmt::Display for Predicate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            LifecycleEvent::Started { .. } => f.write_str("started"),
            LifecycleEvent::Failed {
                failure, directive, ..
            } => {
                write!(f, "failed ({directive}): {failure}")
            }
            LifecycleEvent::Restarted { restarts, .. } => {
                write!(f, "restarted, restart number {restarts}")
            }
            LifecycleEvent::Stopped { reason, .. } => write!(f, "ended: {reason}"),
            LifecycleEvent::MailboxDeep { depth, .. } => {
                write!(f, "has {depth} messages waiting in its mailbox")
            }
            LifecycleEvent::HandlerSlow {
                variant,
                running_for,
                ..
            } => {
                write!(f, "has been handling {variant} for {running_for:?}")
            }
            LifecycleEvent::ErrorIgnored { variant, error, .. } => {
                write!(
                    f,
                    "answered {variant} with an error that nobody awaits: {error}"
                )
            }
            LifecycleEvent::HookFailed { failure, .. } => write!(f, "ended although {failure}"),
            LifecycleEvent::DestructorPanicked { text, .. } => {
                write!(f, "had a destructor panic: {text}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervision::{Failure, FailureOrigin};

    fn boom() -> FailureReport {
        Failure::from("boom").at(FailureOrigin::Start).report()
    }

    #[test]
    fn an_event_reads_as_one_line() {
        let (actor, id) = (ActorPath::root("bank").child("alice"), ActorId::new(3));
        let cases = [
            (
                LifecycleEvent::Failed {
                    actor: actor.clone(),
                    id,
                    failure: boom(),
                    directive: Directive::Restart,
                },
                "failed (restart): start failed: boom",
            ),
            (
                LifecycleEvent::Stopped {
                    actor: actor.clone(),
                    id,
                    reason: StopReason::Killed,
                },
                "ended: killed",
            ),
            (
                LifecycleEvent::Started {
                    actor: actor.clone(),
                    id,
                },
                "started",
            ),
            (
                LifecycleEvent::Restarted {
                    actor: actor.clone(),
                    id,
                    restarts: 2,
                },
                "restarted, restart number 2",
            ),
            (
                LifecycleEvent::MailboxDeep {
                    actor: actor.clone(),
                    id,
                    depth: 10_000,
                },
                "has 10000 messages waiting in its mailbox",
            ),
            (
                LifecycleEvent::ErrorIgnored {
                    actor: actor.clone(),
                    id,
                    variant: "Withdraw",
                    error: "overdrawn".into(),
                },
                "answered Withdraw with an error that nobody awaits: overdrawn",
            ),
            (
                LifecycleEvent::DestructorPanicked {
                    actor: actor.clone(),
                    id,
                    text: "oh".into(),
                },
                "had a destructor panic: oh",
            ),
        ];
        for (event, predicate) in cases {
            assert_eq!(event.to_string(), format!("/bank/alice (#3) {predicate}"));
            assert_eq!((event.actor(), event.id()), (&actor, id));
        }
    }

    #[test]
    fn a_slow_handler_is_told_with_its_message_and_time() {
        let event = LifecycleEvent::HandlerSlow {
            actor: ActorPath::root("bank").child("alice"),
            id: ActorId::new(3),
            variant: "Withdraw",
            running_for: Duration::from_millis(1_250),
        };
        let line = "/bank/alice (#3) has been handling Withdraw for 1.25s";
        assert_eq!(event.to_string(), line);
        assert_eq!(event.id(), ActorId::new(3));
    }
}
