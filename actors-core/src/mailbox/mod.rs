//! The mailbox of an actor: queue, scheduled flag and parked waker behind one small lock.
//!
//! Everybody pushes; only the actor's own activation takes. Which thread may do what follows from the state, and every
//! change of it happens under the lock:
//!
//! | state    | the activation is                | a push of a message      | a control signal           |
//! |----------|----------------------------------|--------------------------|----------------------------|
//! | idle     | parked                           | makes it active, wakes   | makes it active, wakes     |
//! | active   | in a run queue, or being polled  | queues, wakes nobody     | sets the attention flag    |
//! | awaiting | parked in the midst of user code | queues, wakes nobody     | makes it active, wakes     |
//! | gone     | ended, or never to run again     | is refused               | is kept, changes nothing   |
//!
//! An activation that is gone while it runs cannot park: it is woken at once, and whoever runs it drops it (the workers are
//! closed by then).
//!
//! Why no wake-up is lost: the activation parks (idle, awaiting) only under the lock, and only after it has seen there
//! that the queue is empty (idle) and the attention flag is off. A push or signal that comes before is seen, one that comes
//! after finds it parked. Whoever makes it active, and nobody else, wakes it, by the one waker that it left at its first
//! park: an actor that goes to sleep between any two messages counts no references for it.
//!
//! What is under the lock is data: messages, wakers and verdicts leave it, and are dropped, woken or told outside. A push
//! waits for nothing but the lock.
//!
//! **Burst.** When the queue is long and unbounded, the activation takes all of it at once. What it has taken but not begun
//! is still mailbox: [`depth`](MailboxCell::depth) counts it. A bounded mailbox is taken from one by one, so that its room is
//! exact.
//!
//! **Room.** Waiters for room are first come, first served. Room that frees is granted to the first of them there and then, so
//! that nobody overtakes; a granted waiter that goes away passes its grant on.

mod queue;
mod room;
mod settings;

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{MutexGuard, OnceLock};
use std::task::Waker;

use crate::panic;
use crate::sync::Mutex;

pub(crate) use queue::Burst;
use queue::Queue;
use room::Room;
pub use settings::{Mailbox, Overflow};

/// A queue no longer than this is taken from one by one, without giving up its buffer.
const SHORT: usize = 4;

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

    fn is_message(&self) -> bool {
        match self {
            Self::Message(_) => true,
            Self::Notice(notice) => notice.brings_message(),
        }
    }
}

/// Why a push was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Closed,
    Full(Overflow),
}

/// How the pusher came by the right to push.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Admission {
    /// It waits for nothing, and accepts what the overflow policy does.
    Tell,
    /// It waits for nothing, and wants the message back when there is no room, whatever the policy.
    Try,
    /// It was granted the room for this ticket.
    Granted(u64),
}

/// What a push did, and what its caller must do now, outside the lock.
#[must_use]
#[derive(Debug)]
pub(crate) enum Push<M> {
    Accepted {
        /// The actor was idle: [`MailboxCell::wake`] it.
        wake: bool,
        /// The victim of [`Overflow::DropOldest`], now a dead letter.
        evicted: Option<M>,
        /// The depth, when it has just passed the mark set for a warning.
        deep: Option<usize>,
    },
    Refused(M, Refusal),
}

/// What the activation got.
#[must_use]
#[derive(Debug)]
pub(crate) enum Take<M, N> {
    Entry(Entry<M, N>),
    /// There is a control signal to look at first.
    Attention,
    /// There is nothing, and the activation is parked.
    Parked,
}

/// What a wait for room came to.
#[must_use]
#[derive(Debug)]
pub(crate) enum Wait {
    Granted,
    Pending,
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Park {
    Idle,
    Active,
    Awaiting,
    Gone,
}

/// The mailbox proper. `M` is a message, `N` a notice, `C` the control lane: data of the actor's own making that is under
/// the same lock.
pub(crate) struct MailboxCell<M, N, C> {
    /// On while there is something in the control lane that the activation has not looked at.
    // Ordering: Relaxed everywhere. It changes under the lock, and is read there when it matters (parking); the look
    // between two messages may come one message late.
    attention: AtomicBool,
    /// How many messages the activation has taken as a burst and not begun.
    // Ordering: Relaxed everywhere. It grows under the lock, where others read it, so that no message is counted twice;
    // the activation alone counts it down.
    taken: AtomicU32,
    /// The activation's; set at its first park.
    waker: OnceLock<Waker>,
    inner: Mutex<Inner<M, N, C>>,
}

struct Inner<M, N, C> {
    queue: Queue<M, N>,
    park: Park,
    closed: bool,
    /// The depth at which it is reported; `u32::MAX` for never, or no more.
    warn_at: u32,
    accepted: u64,
    room: Option<Box<Room>>,
    control: C,
}

impl<M, N: Notice, C: Default> MailboxCell<M, N, C> {
    /// An open mailbox whose activation is active: about to run for the first time.
    pub(crate) fn new(settings: &Mailbox) -> Self {
        let room = settings
            .bound()
            .map(|(capacity, overflow)| Box::new(Room::new(capacity, overflow)));
        Self {
            attention: AtomicBool::new(false),
            taken: AtomicU32::new(0),
            waker: OnceLock::new(),
            inner: Mutex::new(Inner {
                queue: Queue::new(),
                park: Park::Active,
                closed: false,
                warn_at: u32::try_from(settings.warning_depth()).unwrap_or(u32::MAX),
                accepted: 0,
                room,
                control: C::default(),
            }),
        }
    }
}

/// What everybody may call.
impl<M, N: Notice, C> MailboxCell<M, N, C> {
    #[inline]
    pub(crate) fn push(&self, message: M, admission: Admission) -> Push<M> {
        let mut inner = self.inner.lock();
        let taken = self.taken.load(Ordering::Relaxed);
        inner.push(message, admission, taken)
    }

    /// Wakes the activation, which was parked. To be called outside every lock, and once for each time it was parked.
    #[inline]
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }

    /// Queues a notice, which needs no room, and wakes the activation if it was idle. Gives the notice back when the mailbox
    /// is closed.
    pub(crate) fn notify(&self, notice: Box<N>) -> Result<(), Box<N>> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Err(notice);
        }
        inner.accepted += u64::from(notice.brings_message());
        inner.queue.push(Entry::Notice(notice));
        let wake = inner.unpark_idle();
        drop(inner);
        if wake {
            self.wake();
        }
        Ok(())
    }

    /// Changes the control lane, draws the activation's attention to it, and wakes it if it is parked. The closure runs
    /// under the lock.
    pub(crate) fn control<R>(&self, change: impl FnOnce(&mut C) -> R) -> R {
        let mut inner = self.inner.lock();
        let answer = change(&mut inner.control);
        self.attention.store(true, Ordering::Relaxed);
        let wake = inner.unpark();
        drop(inner);
        if wake {
            self.wake();
        }
        answer
    }

    /// Changes the control lane without drawing attention to it.
    pub(crate) fn amend<R>(&self, change: impl FnOnce(&mut C) -> R) -> R {
        change(&mut self.inner.lock().control)
    }

    /// Looks at the control lane.
    pub(crate) fn peek<R>(&self, look: impl FnOnce(&C) -> R) -> R {
        look(&self.inner.lock().control)
    }

    /// Refuses every push from now on, and returns those who wait for room, to be woken. What is queued stays.
    #[must_use]
    pub(crate) fn close(&self) -> Vec<Waker> {
        let mut inner = self.inner.lock();
        inner.closed = true;
        inner
            .room
            .as_mut()
            .map(|room| room.release_all())
            .unwrap_or_default()
    }

    /// Ends the mailbox: nothing makes the activation runnable through it again. Says whether it was parked; on closed
    /// workers a wake-up drops it then.
    pub(crate) fn end(&self) -> bool {
        let mut inner = self.inner.lock();
        let was_parked = inner.unpark();
        inner.park = Park::Gone;
        was_parked
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inner.lock().closed
    }

    /// The number of messages that wait to be begun, those of a taken burst included.
    pub(crate) fn depth(&self) -> usize {
        let inner = self.inner.lock();
        (inner.queue.messages() + self.taken.load(Ordering::Relaxed)) as usize
    }

    /// How many messages were ever accepted.
    pub(crate) fn accepted(&self) -> u64 {
        self.inner.lock().accepted
    }

    /// Says whether the activation is in a run queue or on a thread.
    pub(crate) fn is_active(&self) -> bool {
        self.inner.lock().park == Park::Active
    }
}

/// Waiting for room: a ticket is taken once, polled until it is granted or the mailbox closed, and given back when its holder
/// goes away before that.
impl<M, N: Notice, C> MailboxCell<M, N, C> {
    /// Polls for room; the first call, without a ticket, makes one.
    pub(crate) fn poll_room(&self, ticket: &mut Option<u64>, waker: &Waker) -> Wait {
        // The clone is code of an executor, so it is made before the lock.
        let waker = waker.clone();
        let mut inner = self.inner.lock();
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
        let mut inner = self.inner.lock();
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
impl<M, N: Notice, C> MailboxCell<M, N, C> {
    /// Says whether the control lane wants to be looked at; a hint that may come one message late.
    pub(crate) fn has_attention(&self) -> bool {
        self.attention.load(Ordering::Relaxed)
    }

    /// Takes the attention flag down and looks at the control lane.
    pub(crate) fn attend<R>(&self, look: impl FnOnce(&mut C) -> R) -> R {
        let mut inner = self.inner.lock();
        self.attention.store(false, Ordering::Relaxed);
        look(&mut inner.control)
    }

    /// Takes the next entry, from `burst` first; parks when there is none and a waker is given.
    #[inline]
    pub(crate) fn take(&self, burst: &mut Option<Burst<M, N>>, park: Option<&Waker>) -> Take<M, N> {
        if let Some(entry) = burst.as_mut().and_then(|burst| burst.pop_front()) {
            if entry.is_message() {
                self.taken
                    .store(self.taken.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
            }
            return Take::Entry(entry);
        }
        let mut inner = self.inner.lock();
        if self.attention.load(Ordering::Relaxed) {
            return Take::Attention;
        }
        let entry = if inner.room.is_none() && inner.queue.len() > SHORT {
            inner.queue.take_burst().map(|(entry, taken, messages)| {
                self.taken.store(messages, Ordering::Relaxed);
                (entry, mem::replace(burst, taken), None)
            })
        } else {
            inner.queue.pop().map(|entry| {
                let queued = inner.queue.counted();
                (
                    entry,
                    None,
                    inner.room.as_mut().and_then(|room| room.grant(queued)),
                )
            })
        };
        if let Some((entry, emptied, granted)) = entry {
            drop(inner);
            drop(emptied);
            granted.into_iter().for_each(panic::wake);
            return Take::Entry(entry);
        }
        if let Some(waker) = park {
            // A burst is over: its memory goes back, so that an idle actor is small.
            let emptied = (inner.queue.shrink(), burst.take());
            self.park(Park::Idle, inner, waker);
            drop(emptied);
        }
        Take::Parked
    }

    /// Parks in the midst of user code, unless there is something to attend to.
    #[must_use]
    pub(crate) fn park_awaiting(&self, waker: &Waker) -> bool {
        let inner = self.inner.lock();
        if self.attention.load(Ordering::Relaxed) {
            return false;
        }
        self.park(Park::Awaiting, inner, waker);
        true
    }

    /// Runs again, whoever woke it.
    pub(crate) fn unpark(&self) {
        self.inner.lock().unpark();
    }

    /// Parks the activation. One that is gone is woken at once: a task that parked then would be reached by nobody, and
    /// perhaps hold itself for ever.
    #[inline]
    fn park(&self, park: Park, mut inner: MutexGuard<'_, Inner<M, N, C>>, waker: &Waker) {
        // It is ours, and cloned once: no code of a user's runs under the lock.
        self.waker.get_or_init(|| waker.clone());
        let is_gone = inner.park == Park::Gone;
        if !is_gone {
            inner.park = park;
        }
        drop(inner);
        if is_gone {
            waker.wake_by_ref();
        }
    }

    /// Puts what is left of a burst back to the front of the queue, in order.
    pub(crate) fn put_back(&self, burst: &mut Option<Burst<M, N>>) {
        let Some(burst) = burst.take() else { return };
        let mut inner = self.inner.lock();
        inner.queue.put_back(burst);
        self.taken.store(0, Ordering::Relaxed);
    }

    /// Takes everything that is queued, for a mailbox that closes.
    pub(crate) fn turn_out(&self) -> VecDeque<Entry<M, N>> {
        self.inner.lock().queue.take()
    }

    /// Takes out of the queue each message for which `pick` says so; the order of the rest stays. The closure runs under
    /// the lock: it may look, and nothing else.
    ///
    /// Those who wait get the room that this frees; their wakers come out too, to be woken.
    pub(crate) fn extract(&self, pick: impl FnMut(&M) -> bool) -> (Vec<M>, Vec<Waker>) {
        let mut inner = self.inner.lock();
        let picked = inner.queue.extract(pick);
        let queued = inner.queue.counted();
        let granted = inner.room.as_mut().map(|room| {
            let grants = std::iter::from_fn(|| room.grant(queued));
            grants.collect()
        });
        (picked, granted.unwrap_or_default())
    }
}

impl<M, N: Notice, C> Inner<M, N, C> {
    #[inline]
    fn push(&mut self, message: M, admission: Admission, taken: u32) -> Push<M> {
        if self.closed {
            return Push::Refused(message, Refusal::Closed);
        }
        let mut evicted = None;
        if let Some(room) = self.room.as_mut() {
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
        }
        self.accepted += 1;
        self.queue.push(Entry::Message(message));
        let deep = self.passes_mark(taken);
        Push::Accepted {
            wake: self.unpark_idle(),
            evicted,
            deep,
        }
    }

    /// Gives the depth if it has just passed the mark.
    #[inline]
    fn passes_mark(&mut self, taken: u32) -> Option<usize> {
        let depth = self.queue.messages() + taken;
        if depth <= self.warn_at {
            return None;
        }
        self.warn_at = u32::MAX;
        Some(depth as usize)
    }

    /// Makes a parked activation active; says whether it was parked, and has to be woken.
    fn unpark(&mut self) -> bool {
        let was_parked = matches!(self.park, Park::Idle | Park::Awaiting);
        if was_parked {
            self.park = Park::Active;
        }
        was_parked
    }

    #[inline]
    fn unpark_idle(&mut self) -> bool {
        let was_idle = self.park == Park::Idle;
        if was_idle {
            self.park = Park::Active;
        }
        was_idle
    }
}
