//! The mailbox of an actor: its queue, and the actor itself while it is idle, behind one small lock.
//!
//! Everybody pushes; only the actor's own activation takes. The activation itself is kept here while it has nothing to do:
//! whoever makes it active takes it out, owns it, and gives it to a queue. So an activation is in one place at any time, and
//! needs no state and no lock of its own. Which thread may do what follows from the state, and every change of it happens
//! under the lock:
//!
//! | state    | the activation is                       | a push of a message  | a control signal       | a wake-up             |
//! |----------|-----------------------------------------|----------------------|------------------------|-----------------------|
//! | idle     | parked here                             | takes it out         | takes it out           | is stale, and nothing |
//! | active   | in a run queue, or being polled         | queues               | sets the attention flag | is remembered        |
//! | awaiting | parked here, in the midst of user code  | queues               | takes it out           | takes it out          |
//! | gone     | ended, or never to run again            | is refused           | is kept, changes nothing | nothing             |
//!
//! An activation that is gone while it runs cannot park: it is given back to a queue, and whoever runs that drops it (the
//! workers are closed by then).
//!
//! Why no wake-up is lost: the activation parks (idle, awaiting) only under the lock, and only after it has been seen there
//! that the queue is empty (idle), that no wake-up has come (awaiting), and that the attention flag is off. What comes before is
//! seen, what comes after finds it parked.
//!
//! What is under the lock is data: messages, activations, wakers and verdicts leave it, and are dropped, run, woken or told
//! outside. A push waits for nothing but the lock.
//!
//! **Burst.** When an unbounded mailbox holds more than one entry, the activation takes all of them at once, and leaves its
//! emptied buffer for those who push meanwhile. When it becomes idle the buffer goes, unless it is small and bursts follow one
//! another. What the activation has taken but not begun is still mailbox: [`depth`](MailboxCell::depth) counts it, and a failure
//! puts it back. A bounded mailbox is taken from one by one, so that its room is exact.
//!
//! **Room.** Waiters for room are first come, first served. Room that frees is granted to the first of them there and then, so
//! that nobody overtakes; a granted waiter that goes away passes its grant on.

mod queue;
mod room;
mod settings;
mod side;
mod verdict;

use std::collections::VecDeque;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::task::Waker;

use crate::panic;
use crate::sync::Mutex;

pub(crate) use queue::Burst;
use queue::Queue;
use room::Room;
pub use settings::{Mailbox, Overflow};
pub(crate) use side::{Pause, Side};
pub(crate) use verdict::{Admission, Push, Refusal, Rest, Take, Wait};

/// What the mailbox must know of a notice.
pub(crate) trait Notice {
    /// Says whether it brings a message of a user, and so counts as one.
    fn brings_message(&self) -> bool;
}

/// An entry of the queue: a message of a user, or a notice of the system (the end of a watched actor, a piped result),
/// which is in order with the messages but needs no room.
#[derive(Debug)]
pub(crate) enum Entry<M, N> {
    Message(M),
    Notice(Box<N>),
}

impl<M, N: Notice> Entry<M, N> {
    fn is_notice(&self) -> bool {
        matches!(self, Self::Notice(_))
    }

    #[inline]
    fn is_message(&self) -> bool {
        match self {
            Self::Message(_) => true,
            Self::Notice(notice) => notice.brings_message(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Park {
    Idle,
    Active,
    Awaiting,
    Gone,
}

/// The mailbox proper. `M` is a message, `N` a notice, `C` the control lane: data of the actor's own making that is under
/// the same lock; `P` is the activation.
pub(crate) struct MailboxCell<M, N, C, P>(Mutex<Inner<M, N, C, P>>);

/// In the order of how often they are needed: what few pushers and takers need comes last.
#[repr(C)]
struct Inner<M, N, C, P> {
    queue: Queue<M, N>,
    /// The activation, while it is idle or awaits.
    parked: Option<P>,
    accepted: u64,
    park: Park,
    /// A wake-up came while it was active.
    woken: bool,
    closed: bool,
    /// How many bursts were taken in a row, as far as it matters.
    bursts: u8,
    /// The depth at which it is reported; `u32::MAX` for never, or no more.
    warn_at: u32,
    room: Option<Box<Room>>,
    control: C,
}

impl<M, N: Notice, C: Default, P> MailboxCell<M, N, C, P> {
    /// An open mailbox whose activation is active: about to run for the first time.
    pub(crate) fn new(settings: &Mailbox) -> Self {
        let room = settings
            .bound()
            .map(|(capacity, overflow)| Box::new(Room::new(capacity, overflow)));
        let warn_at = u32::try_from(settings.warning_depth()).unwrap_or(u32::MAX);
        Self(Mutex::new(Inner {
            queue: Queue::new(warn_at),
            parked: None,
            accepted: 0,
            park: Park::Active,
            woken: false,
            closed: false,
            bursts: 0,
            warn_at,
            room,
            control: C::default(),
        }))
    }
}

/// What everybody may call.
impl<M, N: Notice, C, P> MailboxCell<M, N, C, P> {
    /// Queues the message that `make` makes, as a tell. It is made under the lock, in its place: so `make` may only put values
    /// together, and call no code of a user's.
    // Made before, it would be written and read again at once in pieces of other sizes, for which processors have to wait.
    #[inline(always)]
    pub(crate) fn push_made(&self, side: &Side, make: impl FnOnce() -> M) -> Push<M, P> {
        let mut inner = self.0.lock();
        if inner.closed || inner.room.is_some() {
            drop(inner);
            return self.push(side, make(), Admission::Tell);
        }
        inner.queue.reserve();
        inner.accept(make(), None, side)
    }

    pub(crate) fn push(&self, side: &Side, message: M, admission: Admission) -> Push<M, P> {
        self.0.lock().push(message, admission, side)
    }

    /// Queues a notice, which needs no room. Gives the activation if it was idle, to be run; and the notice back when the
    /// mailbox is closed.
    pub(crate) fn notify(&self, notice: Box<N>) -> Result<Option<P>, Box<N>> {
        let mut inner = self.0.lock();
        if inner.closed {
            return Err(notice);
        }
        inner.accepted += u64::from(notice.brings_message());
        inner.queue.push(Entry::Notice(notice));
        Ok(inner.unpark_idle())
    }

    /// Changes the control lane, and draws the activation's attention to it. Gives the activation if it is parked, to be
    /// run. The closure runs under the lock.
    #[must_use]
    pub(crate) fn control(&self, side: &Side, change: impl FnOnce(&mut C)) -> Option<P> {
        let mut inner = self.0.lock();
        change(&mut inner.control);
        side.attention.store(true, Ordering::Relaxed);
        inner.unpark()
    }

    /// Something has happened that user code waits for. Gives the activation if it is parked, to be run.
    #[must_use]
    pub(crate) fn wake(&self) -> Option<P> {
        let mut inner = self.0.lock();
        match inner.park {
            Park::Awaiting => inner.unpark(),
            Park::Active => {
                inner.woken = true;
                None
            }
            Park::Idle | Park::Gone => None,
        }
    }

    /// Changes the control lane without drawing attention to it.
    pub(crate) fn amend<R>(&self, change: impl FnOnce(&mut C) -> R) -> R {
        change(&mut self.0.lock().control)
    }

    /// Looks at the control lane.
    pub(crate) fn peek<R>(&self, look: impl FnOnce(&C) -> R) -> R {
        look(&self.0.lock().control)
    }

    /// Refuses every push from now on, and returns those who wait for room, to be woken. What is queued stays.
    #[must_use]
    pub(crate) fn close(&self) -> Vec<Waker> {
        let mut inner = self.0.lock();
        inner.closed = true;
        inner
            .room
            .as_mut()
            .map(|room| room.release_all())
            .unwrap_or_default()
    }

    /// Ends the mailbox: nothing makes the activation runnable through it again. Gives the activation if it was parked; closed
    /// workers drop it.
    #[must_use]
    pub(crate) fn end(&self) -> Option<P> {
        let mut inner = self.0.lock();
        let parked = inner.unpark();
        inner.park = Park::Gone;
        parked
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    /// The number of messages that wait to be begun, those of a taken burst included.
    pub(crate) fn depth(&self, side: &Side) -> usize {
        let inner = self.0.lock();
        (inner.queue.messages() + side.taken.load(Ordering::Relaxed)) as usize
    }

    /// How many messages were ever accepted.
    pub(crate) fn accepted(&self) -> u64 {
        self.0.lock().accepted
    }

    /// Says whether the activation is in a run queue or on a thread.
    pub(crate) fn is_active(&self) -> bool {
        self.0.lock().park == Park::Active
    }
}

/// Waiting for room: a ticket is taken once, polled until it is granted or the mailbox closed, and given back when its holder
/// goes away before that.
impl<M, N: Notice, C, P> MailboxCell<M, N, C, P> {
    /// Polls for room; the first call, without a ticket, makes one.
    pub(crate) fn poll_room(&self, ticket: &mut Option<u64>, waker: &Waker) -> Wait {
        // The clone is code of an executor, so it is made before the lock.
        let waker = waker.clone();
        let mut inner = self.0.lock();
        if inner.closed {
            return Wait::Closed;
        }
        let queued = inner.queue.counted();
        let Some(room) = inner.room.as_mut() else {
            return Wait::Granted;
        };
        let (wait, old) = room.poll(ticket, queued, waker);
        drop(inner);
        drop(old);
        wait
    }

    /// Gives a ticket back, granted or not.
    pub(crate) fn leave_room(&self, ticket: u64) {
        let mut inner = self.0.lock();
        let queued = inner.queue.counted();
        let Some(room) = inner.room.as_mut() else {
            return;
        };
        let old = room.leave(ticket);
        let next = room.grant(queued);
        drop(inner);
        drop(old);
        next.into_iter().for_each(panic::wake);
    }
}

/// What only the actor's own activation calls.
impl<M, N: Notice, C, P> MailboxCell<M, N, C, P> {
    /// Takes the attention flag down and looks at the control lane.
    pub(crate) fn attend<R>(&self, side: &Side, look: impl FnOnce(&mut C) -> R) -> R {
        let mut inner = self.0.lock();
        side.attention.store(false, Ordering::Relaxed);
        look(&mut inner.control)
    }

    /// Takes the next entry, from `burst` first.
    #[inline]
    pub(crate) fn take(&self, side: &Side, burst: &mut Burst<M, N>) -> Take<M, N> {
        let Some(entry) = burst.pop() else {
            burst.trim();
            return self.take_queued(side, burst);
        };
        if entry.is_message() {
            side.count_begun();
        }
        Take::Entry(entry)
    }

    /// Looks at the entry that [`take`](Self::take) would give. The closure may run under the lock.
    pub(crate) fn look_at_next<R>(
        &self,
        burst: &Burst<M, N>,
        look: impl FnOnce(Option<&Entry<M, N>>) -> R,
    ) -> R {
        match burst.front() {
            None => look(self.0.lock().queue.front()),
            next => look(next),
        }
    }

    #[inline]
    fn take_queued(&self, side: &Side, burst: &mut Burst<M, N>) -> Take<M, N> {
        let mut inner = self.0.lock();
        if side.has_attention() {
            return Take::Attention;
        }
        if inner.room.is_some() {
            return Self::take_one(inner);
        }
        let Inner { queue, bursts, .. } = &mut *inner;
        let Some((entry, messages)) = queue.take_burst(burst, bursts) else {
            return Take::Nothing;
        };
        if burst.is_empty() {
            return Take::Last(entry);
        }
        side.taken.store(messages, Ordering::Relaxed);
        inner.queue.look_at = inner.warn_at.saturating_sub(messages);
        Take::Entry(entry)
    }

    /// Takes one entry of a bounded mailbox, and lets in who waits for its room.
    fn take_one(mut inner: MutexGuard<'_, Inner<M, N, C, P>>) -> Take<M, N> {
        let Some(entry) = inner.queue.pop() else {
            return Take::Nothing;
        };
        let queued = inner.queue.counted();
        let granted = inner.room.as_mut().and_then(|room| room.grant(queued));
        drop(inner);
        granted.into_iter().for_each(panic::wake);
        Take::Entry(entry)
    }

    /// Called with an activation that has just paused: parks it, unless there is more for it to do. One that is gone is given
    /// back to a queue: parked it would be reached by nobody, and perhaps hold itself for ever.
    #[inline]
    pub(crate) fn rest(&self, side: &Side, activation: P) -> Rest<P> {
        let pause = side.pause.load(Ordering::Relaxed);
        if pause == Pause::Turn as u8 {
            return Rest::Again(activation);
        }
        let is_idle = pause == Pause::Idle as u8;
        let mut inner = self.0.lock();
        let attention = side.has_attention();
        if inner.park == Park::Gone || (!is_idle && (inner.woken || attention)) {
            return Rest::Again(activation);
        }
        if is_idle && (attention || !inner.queue.is_empty()) {
            return Rest::GoesOn(activation);
        }
        side.will_pause(Pause::Parked);
        inner.park = if is_idle { Park::Idle } else { Park::Awaiting };
        inner.parked = Some(activation);
        let bursts = inner.bursts;
        let spare = is_idle.then(|| inner.queue.take_buffer(bursts));
        drop(inner);
        drop(spare);
        Rest::Parked
    }

    /// User code is about to be polled: what woke it before is no news any more.
    pub(crate) fn forget_wakes(&self) {
        self.0.lock().woken = false;
    }

    /// Puts what is left of a burst back to the front of the queue, in order.
    pub(crate) fn put_back(&self, side: &Side, burst: &mut Burst<M, N>) {
        if burst.is_empty() {
            return;
        }
        let mut inner = self.0.lock();
        let messages = side.taken.load(Ordering::Relaxed);
        inner.queue.put_back(burst, messages);
        side.taken.store(0, Ordering::Relaxed);
        drop(inner);
        burst.shrink();
    }

    /// Takes everything that is queued, for a mailbox that closes.
    pub(crate) fn turn_out(&self) -> VecDeque<Entry<M, N>> {
        self.0.lock().queue.take()
    }

    /// Takes out of the queue each message for which `pick` says so; the order of the rest stays. The closure runs under
    /// the lock: it may look, and nothing else.
    ///
    /// Those who wait get the room that this frees; their wakers come out too, to be woken.
    pub(crate) fn extract(&self, pick: impl FnMut(&M) -> bool) -> (Vec<M>, Vec<Waker>) {
        let mut inner = self.0.lock();
        let picked = inner.queue.extract(pick);
        let queued = inner.queue.counted();
        let granted = inner.room.as_mut().map(|room| {
            let grants = std::iter::from_fn(|| room.grant(queued));
            grants.collect()
        });
        (picked, granted.unwrap_or_default())
    }
}

impl<M, N: Notice, C, P> Inner<M, N, C, P> {
    fn push(&mut self, message: M, admission: Admission, side: &Side) -> Push<M, P> {
        if self.closed {
            return Push::Refused(message, Refusal::Closed);
        }
        if self.room.is_some() {
            return self.push_bounded(message, admission, side);
        }
        self.accept(message, None, side)
    }

    fn push_bounded(&mut self, message: M, admission: Admission, side: &Side) -> Push<M, P> {
        let Some(room) = self.room.as_mut() else {
            return self.accept(message, None, side);
        };
        let mut evicted = None;
        if let Admission::Granted(ticket) = admission {
            room.use_grant(ticket);
        } else if room.is_full(self.queue.counted()) {
            match (admission, room.overflow()) {
                (Admission::Tell, Overflow::DropOldest) => match self.queue.evict() {
                    Some(oldest) => evicted = Some(oldest),
                    // All room is granted to waiters who have not pushed yet: there is no oldest.
                    None => return Push::Refused(message, Refusal::Full(Overflow::Reject)),
                },
                (_, overflow) => return Push::Refused(message, Refusal::Full(overflow)),
            }
        }
        self.accept(message, evicted, side)
    }

    // Inlined always, for `push_made`.
    #[inline(always)]
    fn accept(&mut self, message: M, evicted: Option<M>, side: &Side) -> Push<M, P> {
        self.accepted += 1;
        self.queue.push_message(message);
        let idle = self.unpark_idle();
        if evicted.is_none() && self.queue.messages() <= self.queue.look_at {
            return Push::Accepted(idle);
        }
        Push::Strained {
            idle,
            evicted,
            deep: self.passes_mark(side),
        }
    }

    /// Gives the depth if it has just passed the mark.
    #[cold]
    fn passes_mark(&mut self, side: &Side) -> Option<usize> {
        let depth = self.queue.messages() + side.taken.load(Ordering::Relaxed);
        if depth <= self.warn_at {
            return None;
        }
        (self.warn_at, self.queue.look_at) = (u32::MAX, u32::MAX);
        Some(depth as usize)
    }

    /// Makes a parked activation active, and gives it.
    fn unpark(&mut self) -> Option<P> {
        let parked = self.parked.take();
        if parked.is_some() {
            self.park = Park::Active;
        }
        parked
    }

    #[inline]
    fn unpark_idle(&mut self) -> Option<P> {
        if self.park != Park::Idle {
            return None;
        }
        self.park = Park::Active;
        self.parked.take()
    }
}
