//! What an asker and the message of its ask share: how far the message has come, and the answer.
//!
//! The phase says who may still decide what becomes of the message:
//!
//! | phase     | set by                                          | the handler  | the asker                             |
//! |-----------|-------------------------------------------------|--------------|---------------------------------------|
//! | queued    | the ask                                         | may claim it | may cancel it                         |
//! | running   | the activation, just before it calls the method | has begun    | may only leave, which stops nobody    |
//! | cancelled | the asker, dropped or timed out before that     | does not run | is gone                               |
//!
//! Claim and cancel are one compare-exchange on the same word, so exactly one of them wins. The answer is under a lock beside
//! it: the first answer counts, and one that comes when the asker is gone is late: counted and dropped.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use crate::dispatch::turn::Orphan;
use crate::error::{AskFailure, Phase};
use crate::panic;
use crate::path::ActorId;
use crate::sync::Mutex;
use crate::system::SystemCore;
use crate::system::counters::add;

use super::recipient::Recipient;
use super::reply::{Claim, WayBack, sealed, unwanted};

const QUEUED: u8 = 0;
const RUNNING: u8 = 1;
const CANCELLED: u8 = 2;
/// There is no asker, and there never was: the answer goes on as a message.
const FORWARDS: u8 = 3;

/// What an asker and the message of its ask share.
pub(super) struct Slot<T> {
    phase: AtomicU8,
    terms: Terms,
    /// Held for a move in or out, and by no code of a user's.
    state: Mutex<State<T>>,
}

/// What has become of the answer.
enum State<T> {
    /// There is none yet. Whom to wake for it.
    Awaited(Option<Waker>),
    Here(Result<T, AskFailure>),
    /// It goes on as a message.
    Forwards(Recipient<T>),
    /// The asker has it. Another one would be a mistake of whoever gives it.
    Taken,
    /// The asker is gone, and where a late answer is counted.
    Unwanted(Option<Arc<SystemCore>>),
}

/// What the message needs to know of its ask.
// Ordering: Relaxed everywhere. The asker writes before it pushes the message, and who reads has the message from the mailbox,
// whose lock is between them.
struct Terms {
    /// The deadline is counted from here, because a number needs no lock.
    clock_made: Instant,
    /// In nanoseconds; [`NEVER`] if there is none.
    deadline: AtomicU64,
    /// 0 if no actor asks.
    asking_actor: AtomicU64,
}

const NEVER: u64 = u64::MAX;

impl Terms {
    fn set(&self, deadline: Option<Instant>, asking_actor: Option<ActorId>) {
        if let Some(deadline) = deadline {
            let passed = deadline.saturating_duration_since(self.clock_made);
            let nanos = passed
                .as_secs()
                .checked_mul(NANOS_PER_SECOND)
                .and_then(|nanos| nanos.checked_add(passed.subsec_nanos().into()));
            self.deadline
                .store(nanos.unwrap_or(NEVER), Ordering::Relaxed);
        }
        if let Some(actor) = asking_actor {
            self.asking_actor.store(actor.as_u64(), Ordering::Relaxed);
        }
    }

    #[inline]
    fn deadline(&self) -> Option<Instant> {
        match self.deadline.load(Ordering::Relaxed) {
            NEVER => None,
            nanos => Some(self.clock_made + Duration::from_nanos(nanos)),
        }
    }

    fn asking_actor(&self) -> Option<ActorId> {
        let actor = self.asking_actor.load(Ordering::Relaxed);
        (actor != 0).then(|| ActorId::new(actor))
    }
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl<T: Send + 'static> Slot<T> {
    /// Makes the slot of an ask that is not yet sent; `clock_made` is a time before any deadline of it.
    pub(super) fn new(clock_made: Instant) -> Self {
        Self {
            phase: AtomicU8::new(QUEUED),
            terms: Terms {
                clock_made,
                deadline: AtomicU64::new(NEVER),
                asking_actor: AtomicU64::new(0),
            },
            state: Mutex::new(State::Awaited(None)),
        }
    }

    /// Makes the slot of a message whose answer goes to `recipient`.
    pub(super) fn forwarding(recipient: Recipient<T>) -> Self {
        let slot = Self::new(Instant::now());
        slot.phase.store(FORWARDS, Ordering::Relaxed);
        *slot.state.lock() = State::Forwards(recipient);
        slot
    }

    /// Says whether the answer goes to a recipient.
    #[inline]
    pub(super) fn forwards(&self) -> bool {
        // Ordering: Relaxed. It was so before anybody else could see the slot, and stays so.
        self.phase.load(Ordering::Relaxed) == FORWARDS
    }

    /// Says what the message needs to know of its ask; once, just before it is sent.
    pub(super) fn prepare(&self, deadline: Option<Instant>, asking_actor: Option<ActorId>) {
        self.terms.set(deadline, asking_actor);
    }

    pub(super) fn answer(&self, answer: Answer<T>) {
        let mut state = self.state.lock();
        if !matches!(*state, State::Awaited(_)) {
            drop(state);
            return self.refuse_answer(answer);
        }
        let before = mem::replace(&mut *state, State::Here(answer));
        drop(state);
        if let State::Awaited(Some(waker)) = before {
            panic::wake(waker);
        }
    }

    /// An answer that nobody waits for goes on to its recipient; one that comes too late, or is not the first, is dropped.
    #[cold]
    fn refuse_answer(&self, answer: Answer<T>) {
        if self.forwards() {
            let before = mem::replace(&mut *self.state.lock(), State::Taken);
            if let (State::Forwards(recipient), Ok(answer)) = (before, answer) {
                recipient.tell(answer);
            }
            return;
        }
        let late = match &mut *self.state.lock() {
            State::Unwanted(system) => system.take(),
            State::Awaited(_) | State::Here(_) | State::Forwards(_) | State::Taken => None,
        };
        if let (Some(system), Ok(_)) = (late, &answer) {
            add(&system.counters.late_replies, 1);
        }
        unwanted(answer);
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(*self.state.lock(), State::Awaited(_) | State::Forwards(_))
    }

    /// Says whether the answer is there to be taken.
    pub(super) fn is_answered(&self) -> bool {
        matches!(*self.state.lock(), State::Here(_))
    }

    /// Takes the answer, or leaves the waker to be woken for it. With the answer, the asker's hold on the slot ends.
    #[inline]
    pub(super) fn poll(slot: &mut Option<Arc<Self>>, waker: &Waker) -> Poll<Answer<T>> {
        let Some(shared) = slot.take() else {
            unreachable!("an ask was polled after it had answered");
        };
        // An answer that was given without a waiter needs neither lock nor waker: whoever gave it is gone.
        let shared = match alone(shared) {
            Ok(slot) => return Poll::Ready(slot.into_answer()),
            Err(shared) => shared,
        };
        let answer = shared.take_or_wait(waker.clone());
        if answer.is_none() {
            *slot = Some(shared);
        }
        answer.map_or(Poll::Pending, Poll::Ready)
    }

    /// The answer, once nobody else can give one.
    fn into_answer(self) -> Answer<T> {
        match self.state.into_inner() {
            State::Here(answer) => answer,
            // Whoever kept the way back for the end of its handler was dropped with it.
            State::Awaited(_) | State::Forwards(_) | State::Taken | State::Unwanted(_) => {
                Err(AskFailure::NoReply)
            }
        }
    }

    fn take_or_wait(&self, waker: Waker) -> Option<Answer<T>> {
        let mut state = self.state.lock();
        let before = match &mut *state {
            State::Awaited(before) => before.replace(waker),
            _ => return take(&mut state),
        };
        drop(state);
        drop(before);
        None
    }

    /// The asker goes: cancels the message if its handler has not begun. Gives the answer if there is one after all, or
    /// else says how far the message had come.
    pub(super) fn leave(&self, system: &Arc<SystemCore>) -> Result<Answer<T>, Phase> {
        // Ordering: pairs with the exchange in `claim`; one of the two wins, and the answer itself is under the lock.
        let phase = match self.phase.compare_exchange(
            QUEUED,
            CANCELLED,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) | Err(CANCELLED) => Phase::Queued,
            Err(_) => Phase::Running,
        };
        let mut state = self.state.lock();
        if let Some(answer) = take(&mut state) {
            return Ok(answer);
        }
        let late = (phase == Phase::Running).then(|| Arc::clone(system));
        let before = mem::replace(&mut *state, State::Unwanted(late));
        drop(state);
        // The waker in it is code of an executor.
        drop(before);
        Err(phase)
    }
}

/// What an asker gets.
type Answer<T> = Result<T, AskFailure>;

/// Takes what nobody else holds any more out of its `Arc`.
#[inline]
fn alone<T>(shared: Arc<T>) -> Result<T, Arc<T>> {
    // The look before spares a try that is in vain, and would take the line of memory away from whoever is about to answer.
    if Arc::strong_count(&shared) == 1 {
        Arc::try_unwrap(shared)
    } else {
        Err(shared)
    }
}

fn take<T>(state: &mut State<T>) -> Option<Answer<T>> {
    if !matches!(state, State::Here(_)) {
        return None;
    }
    match mem::replace(state, State::Taken) {
        State::Here(answer) => Some(answer),
        State::Awaited(_) | State::Forwards(_) | State::Taken | State::Unwanted(_) => None,
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
            Ok(_) | Err(_) => Claim::Run(self.terms.deadline()),
        }
    }

    fn refuse(&self, failure: AskFailure) {
        // Ordering: whoever was handed the message on got it from the activation that claimed it.
        let begun = self.phase.load(Ordering::Relaxed) != QUEUED;
        self.answer(Err(if begun { failure.begun() } else { failure }));
    }

    fn asking_actor(&self) -> Option<ActorId> {
        self.terms.asking_actor()
    }
}

impl<T: Send + 'static> Orphan for Slot<T> {
    fn fail(&self, failure: AskFailure) {
        self.answer(Err(failure));
    }
}
