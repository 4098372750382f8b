//! The way back: [`ReplyTo`], which a message carries, and the slot that it shares with the asker.
//!
//! The slot's phase says who may still decide what becomes of the message:
//!
//! | phase     | set by                                         | the handler              | the asker                |
//! |-----------|------------------------------------------------|--------------------------|--------------------------|
//! | queued    | the ask                                        | may claim it             | may cancel it            |
//! | running   | the activation, just before it calls the method | has begun               | may only leave           |
//! | cancelled | the asker, dropped or timed out before that    | does not run             | is gone, `Queued`        |
//! | left      | the asker, dropped or timed out after that     | runs on                  | is gone, `Running`       |
//!
//! Claim and cancel are one compare-exchange on the same word, so exactly one of them wins. The answer is under a lock beside
//! it: the first answer counts, and one that comes when the asker is gone is late: counted and dropped.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Poll, Waker};

use tokio::time::Instant;

use crate::dispatch::turn::{self, Orphan};
use crate::error::{AskFailure, Phase};
use crate::panic;
use crate::path::ActorId;
use crate::sync::Mutex;
use crate::system::SystemCore;
use crate::system::counters::add;

use super::recipient::Recipient;

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
pub struct ReplyTo<T: Send + 'static>(Way<T>);

enum Way<T: Send + 'static> {
    Nobody,
    Asker(Arc<Slot<T>>),
    Recipient(Box<Recipient<T>>),
}

impl<T: Send + 'static> ReplyTo<T> {
    /// Makes the way back of a message whose sender wants no answer.
    pub const fn nobody() -> Self {
        Self(Way::Nobody)
    }

    /// Makes the way back of a message whose answer goes to `recipient` as a message.
    pub fn recipient(recipient: Recipient<T>) -> Self {
        Self(Way::Recipient(Box::new(recipient)))
    }

    pub(super) fn asker(slot: Arc<Slot<T>>) -> Self {
        Self(Way::Asker(slot))
    }

    /// Answers. When the asker is gone, the answer is dropped and counted as late.
    #[inline]
    pub fn send(mut self, answer: T) {
        match mem::replace(&mut self.0, Way::Nobody) {
            Way::Nobody => unwanted(answer),
            Way::Asker(slot) => slot.answer(Ok(answer)),
            Way::Recipient(recipient) => recipient.tell(answer),
        }
    }

    /// Says whether somebody still waits for the answer, or has it sent somewhere.
    pub fn is_wanted(&self) -> bool {
        match &self.0 {
            Way::Nobody => false,
            Way::Asker(slot) => slot.is_open(),
            Way::Recipient(_) => true,
        }
    }

    /// Says whether the message had a sender who wanted an answer, whether or not they still wait.
    pub(crate) const fn was_asked(&self) -> bool {
        !matches!(self.0, Way::Nobody)
    }

    /// Returns the way back for [`Message::way_back`](crate::Message::way_back), if the message is that of an ask.
    #[inline]
    pub fn way_back(&self) -> Option<&dyn WayBack> {
        match &self.0 {
            Way::Asker(slot) => Some(&**slot),
            Way::Nobody | Way::Recipient(_) => None,
        }
    }
}

/// Whoever drops the way back leaves the asker without an answer; but in the unwinding of a handler, or when one is cut,
/// the activation knows better what to say.
impl<T: Send + 'static> Drop for ReplyTo<T> {
    fn drop(&mut self) {
        if let Way::Asker(slot) = mem::replace(&mut self.0, Way::Nobody) {
            match turn::adopt(slot) {
                Ok(()) => {}
                Err(slot) => slot.answer(Err(AskFailure::NoReply)),
            }
        }
    }
}

impl<T: Send + 'static> fmt::Debug for ReplyTo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Way::Nobody => "nobody",
            Way::Asker(_) => "an asker",
            Way::Recipient(_) => "a recipient",
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

const QUEUED: u8 = 0;
const RUNNING: u8 = 1;
const CANCELLED: u8 = 2;
const LEFT: u8 = 3;

/// What an asker and the message of its ask share.
pub(super) struct Slot<T> {
    phase: AtomicU8,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    answer: Option<Result<T, AskFailure>>,
    /// No answer counts any more: there was one, or the asker is gone.
    closed: bool,
    waker: Option<Waker>,
    deadline: Option<Instant>,
    asking_actor: Option<ActorId>,
    /// Where late answers are counted; set when the asker goes.
    late: Option<Arc<SystemCore>>,
}

impl<T: Send + 'static> Slot<T> {
    pub(super) fn new() -> Self {
        Self {
            phase: AtomicU8::new(QUEUED),
            inner: Mutex::new(Inner {
                answer: None,
                closed: false,
                waker: None,
                deadline: None,
                asking_actor: None,
                late: None,
            }),
        }
    }

    /// Says what the message needs to know of its ask; just before it is sent.
    pub(super) fn prepare(&self, deadline: Option<Instant>, asking_actor: Option<ActorId>) {
        let mut inner = self.inner.lock();
        inner.deadline = deadline;
        inner.asking_actor = asking_actor;
    }

    fn answer(&self, answer: Result<T, AskFailure>) {
        let mut inner = self.inner.lock();
        if inner.closed {
            let late = inner.late.take();
            drop(inner);
            if let (Some(system), Ok(_)) = (late, &answer) {
                add(&system.counters.late_replies, 1);
            }
            unwanted(answer);
            return;
        }
        inner.closed = true;
        inner.answer = Some(answer);
        let waker = inner.waker.take();
        drop(inner);
        if let Some(waker) = waker {
            panic::wake(waker);
        }
    }

    fn is_open(&self) -> bool {
        !self.inner.lock().closed
    }

    /// Takes the answer, or leaves the waker to be woken for it.
    pub(super) fn poll(&self, waker: &Waker) -> Poll<Result<T, AskFailure>> {
        let mut inner = self.inner.lock();
        if let Some(answer) = inner.answer.take() {
            return Poll::Ready(answer);
        }
        let old = match &inner.waker {
            Some(old) if old.will_wake(waker) => None,
            _ => inner.waker.replace(waker.clone()),
        };
        drop(inner);
        drop(old);
        Poll::Pending
    }

    /// The asker goes: cancels the message if its handler has not begun. Gives the answer if there is one after all, or
    /// else says how far the message had come.
    pub(super) fn leave(&self, system: &Arc<SystemCore>) -> Result<Result<T, AskFailure>, Phase> {
        // Ordering: pairs with the exchange in `claim`; one of the two wins, and the answer itself is under the lock.
        let phase = match self.phase.compare_exchange(
            QUEUED,
            CANCELLED,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) | Err(CANCELLED) => Phase::Queued,
            Err(_) => {
                self.phase.store(LEFT, Ordering::Release);
                Phase::Running
            }
        };
        let mut inner = self.inner.lock();
        if let Some(answer) = inner.answer.take() {
            return Ok(answer);
        }
        if !inner.closed && phase == Phase::Running {
            inner.late = Some(Arc::clone(system));
        }
        inner.closed = true;
        let waker = inner.waker.take();
        drop(inner);
        drop(waker);
        Err(phase)
    }
}

/// Drops an answer that nobody waits for. Whether its destructor harms the actor must not depend on who listens.
pub(crate) fn unwanted<T>(answer: T) {
    if mem::needs_drop::<T>() {
        panic::drop_quietly(answer);
    }
}

impl<T: Send + 'static> WayBack for Slot<T> {}

impl<T: Send + 'static> sealed::WayBack for Slot<T> {
    fn claim(&self) -> Claim {
        // Ordering: pairs with the exchange in `leave`.
        match self
            .phase
            .compare_exchange(QUEUED, RUNNING, Ordering::AcqRel, Ordering::Acquire)
        {
            Err(CANCELLED) => Claim::Cancelled,
            // A way back that was given on was claimed before; whether its asker has left does not matter then.
            Ok(_) | Err(_) => Claim::Run(self.inner.lock().deadline),
        }
    }

    fn refuse(&self, failure: AskFailure) {
        // Ordering: whoever was handed the message on got it from the activation that claimed it.
        let begun = self.phase.load(Ordering::Relaxed) != QUEUED;
        self.answer(Err(if begun { failure.begun() } else { failure }));
    }

    fn asking_actor(&self) -> Option<ActorId> {
        self.inner.lock().asking_actor
    }
}

impl<T: Send + 'static> Orphan for Slot<T> {
    fn fail(&self, failure: AskFailure) {
        self.answer(Err(failure));
    }
}
