//! A message that nobody handled.

use std::fmt;

use crate::path::{ActorId, ActorPath};

/// Tells of a message that was sent and will never be handled, and why. The message itself is
/// already dropped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The path of the actor that the message was for.
    pub recipient: ActorPath,
    /// The identity of that actor: a later actor with the same path has another one.
    pub recipient_id: ActorId,
    /// The type of the message, `bank::AccountMsg` for example.
    pub message_type: &'static str,
    /// The variant of the message, which is named after its handler.
    pub variant: &'static str,
    /// Why nobody handled it.
    pub reason: DeadLetterReason,
    /// The path of the actor that sent it, where that is known: a message from outside of any actor
    /// has none.
    pub sender: Option<ActorPath>,
}

impl fmt::Display for DeadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            recipient,
            recipient_id,
            message_type,
            variant,
            reason,
            sender,
        } = self;
        write!(
            f,
            "{message_type}::{variant} for {recipient} ({recipient_id})"
        )?;
        if let Some(sender) = sender {
            write!(f, " from {sender}")?;
        }
        write!(f, ": {reason}")
    }
}

/// Why a message became a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DeadLetterReason {
    /// The actor had stopped, or stopped before it came to the message.
    Stopped,
    /// The mailbox was full, and rejects messages then.
    MailboxFull,
    /// The mailbox was full, and this was its oldest message, which made room for a new one.
    DroppedOldest,
    /// The mailbox was full, and drops new messages then.
    DroppedNewest,
    /// The actor's system, or the Tokio runtime below it, was gone.
    SystemGone,
}

impl DeadLetterReason {
    const fn text(self) -> &'static str {
        match self {
            Self::Stopped => "the actor has stopped",
            Self::MailboxFull => "the mailbox is full",
            Self::DroppedOldest => "dropped as the oldest of a full mailbox",
            Self::DroppedNewest => "dropped as the newest for a full mailbox",
            Self::SystemGone => "the system is gone",
        }
    }
}

impl fmt::Display for DeadLetterReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_letter_reads_as_one_line() {
        let bank = ActorPath::root("bank");
        let mut letter = DeadLetter {
            recipient: bank.child("alice"),
            recipient_id: ActorId::new(3),
            message_type: "bank::AccountMsg",
            variant: "Deposit",
            reason: DeadLetterReason::Stopped,
            sender: Some(bank.child("teller")),
        };
        let line = "bank::AccountMsg::Deposit for /bank/alice (#3) from /bank/teller: the actor has stopped";
        assert_eq!(letter.to_string(), line);
        letter.sender = None;
        letter.reason = DeadLetterReason::MailboxFull;
        let line = "bank::AccountMsg::Deposit for /bank/alice (#3): the mailbox is full";
        assert_eq!(letter.to_string(), line);
    }
}
