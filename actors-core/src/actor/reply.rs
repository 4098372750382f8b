//! The way back: [`ReplyTo`], which a message carries to the slot that it shares with the asker.

use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::sync::Arc;

use tokio::time::Instant;

use crate::dispatch::turn;
use crate::error::AskFailure;
use crate::panic;

use super::recipient::Recipient;
use super::slot::Slot;

/// Answers the sender of one message: an asker, a recipient, or nobody.
///
/// A handler gets one by taking `reply: ReplyTo<T>`; it may keep it and answer later, or give it to another actor. Dropped
/// without an answer, the asker gets [`AskError::NoReply`](crate::AskError::NoReply) at once.
///
/// ```
/// use actors_core::prelude::*;
///
/// #[derive(Default)]
/// struct Gate { waiting: Vec<ReplyTo<u32>> }
///
/// #[actor]
/// impl Gate {
///     #[handler]
///     fn pass(&mut self, reply: ReplyTo<u32>) { self.waiting.push(reply); }
///
///     #[handler]
///     fn open(&mut self) {
///         for (place, reply) in self.waiting.drain(..).enumerate() {
///             reply.send(place as u32);
///         }
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let system = ActorSystem::new("demo")?;
/// let gate = system.spawn("gate", Gate::default)?;
/// let (first, second, ()) = tokio::join!(gate.pass().ask(), gate.pass().ask(), async { gate.open().tell() });
/// assert_eq!((first?, second?), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
// One pointer, because each message has one.
pub struct ReplyTo<T: Send + 'static>(Option<Arc<Slot<T>>>);

impl<T: Send + 'static> ReplyTo<T> {
    /// Makes the way back of a message whose sender wants no answer.
    pub const fn nobody() -> Self {
        Self(None)
    }

    /// Makes the way back of a message whose answer goes to `recipient` as a message.
    pub fn recipient(recipient: Recipient<T>) -> Self {
        Self(Some(Arc::new(Slot::forwarding(recipient))))
    }

    pub(super) fn asker(slot: Arc<Slot<T>>) -> Self {
        Self(Some(slot))
    }

    /// Answers. When the asker is gone, the answer is dropped and counted as late.
    #[inline]
    pub fn send(self, answer: T) {
        // The way is used up, so there is nothing left to drop.
        let mut this = ManuallyDrop::new(self);
        match this.0.take() {
            None => unwanted(answer),
            Some(slot) => slot.answer(Ok(answer)),
        }
    }

    /// Nobody will answer.
    fn abandon(&mut self) {
        if let Some(slot) = self.0.take()
            && !slot.forwards()
        {
            match turn::adopt(slot) {
                Ok(()) => {}
                Err(slot) => slot.answer(Err(AskFailure::NoReply)),
            }
        }
    }

    /// Says whether somebody still waits for the answer, or has it sent somewhere.
    pub fn is_wanted(&self) -> bool {
        self.0.as_ref().is_some_and(|slot| slot.is_open())
    }

    /// Says whether the message had a sender who wanted an answer, whether or not they still wait.
    #[inline]
    pub(crate) const fn was_asked(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the way back for [`Message::way_back`](crate::Message::way_back), if the message is that of an ask.
    #[inline]
    pub fn way_back(&self) -> Option<&dyn WayBack> {
        match &self.0 {
            Some(slot) if !slot.forwards() => Some(&**slot),
            _ => None,
        }
    }
}

/// Whoever drops the way back leaves the asker without an answer; but in the unwinding of a handler, or when one is cut,
/// the activation knows better what to say.
impl<T: Send + 'static> Drop for ReplyTo<T> {
    #[inline]
    fn drop(&mut self) {
        if self.was_asked() {
            self.abandon();
        }
    }
}

impl<T: Send + 'static> fmt::Debug for ReplyTo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            None => "nobody",
            Some(slot) if slot.forwards() => "a recipient",
            Some(_) => "an asker",
        })
    }
}

/// What the runtime does with the way back of a message, whatever the type of the answer. Only [`ReplyTo`] has it.
pub trait WayBack: sealed::WayBack {}

pub(crate) mod sealed {
    use super::{AskFailure, Claim};
    use crate::path::ActorId;

    /// The methods behind [`WayBack`](super::WayBack), for the activation alone.
    pub trait WayBack {
        #[doc(hidden)]
        fn claim(&self) -> Claim;
        #[doc(hidden)]
        fn refuse(&self, failure: AskFailure);
        #[doc(hidden)]
        fn asking_actor(&self) -> Option<ActorId>;
    }
}

/// What came of the claim on a message.
#[derive(Debug)]
pub enum Claim {
    /// The handler may run; the asker waits until then, if it has a limit.
    Run(Option<Instant>),
    /// The asker is gone: the handler must not run.
    Cancelled,
}

/// Drops an answer that nobody waits for. Whether its destructor harms the actor must not depend on who listens.
#[inline]
pub(crate) fn unwanted<T>(answer: T) {
    if mem::needs_drop::<T>() {
        panic::drop_quietly(answer);
    }
}
