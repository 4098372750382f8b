//! Everything in a system that waits for a point in time, behind one Tokio timer.
//!
//! An [`Alarm`] is an entry in an ordered queue, a [`Sleep`] a future that has one; the [`Timekeeper`], one Tokio task a system,
//! holds the only Tokio timer, set to the earliest entry. Thousands of asks therefore cost the runtime
//! one timer, and a sleep can be polled on any thread and by any executor.
//!
//! # Guarantees
//!
//! - A sleep is never early by [`Clock::now`], and at most a millisecond late while the runtime is
//!   not overloaded (Tokio rounds up to whole milliseconds). Under paused time it is exact to that
//!   millisecond.
//! - Sleeps wake in the order of their instants, those of one instant in the order of their first
//!   polls.
//! - There is no periodic tick. While nothing is pending no Tokio timer exists on a runtime whose
//!   time can be paused, where a leftover would let time jump. On other runtimes the timer of the
//!   last sleep may fire once more, for nothing: cancelling it would wake a thread after each lone
//!   ask.
//! - After [`Deadlines::close`], or once the runtime dropped the timekeeper, no sleep fires any
//!   more and no waker is held.
//!
//! # Protocol
//!
//! | who | under the lock | and then, outside it |
//! |---|---|---|
//! | alarm, pending | adds its entry; takes the keeper's waker if the entry is due before the timer | wakes the keeper |
//! | alarm, cancelled | removes its entry; takes the keeper's waker if none is left and time is pausable | drops its waker, wakes the keeper |
//! | timekeeper | leaves its waker, takes a batch of due entries, notes the next instant | wakes the batch, sets the timer |
//! | close | marks the end, takes everything | wakes them all, and the keeper |
//!
//! A task of Tokio that is woken in a turn may have to wait for the end of that turn, and no other thread can take it over.
//! When the turn holds its thread, the timekeeper is such a task: then the watchdog of the workers wakes what is due
//! ([`Deadlines::stand_in`]).
//!
//! An absent waker of the keeper means that it has been woken and will look again, so nobody wakes
//! it twice.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use super::clock::Clock;
use crate::panic;
use crate::sync::Mutex;

/// As many due entries leave under one lock: a sleep that registers meanwhile waits no longer than
/// that takes.
const BATCH: usize = 64;

/// As many batches are woken in one poll of the timekeeper, before other tasks of the runtime get
/// their turn.
const BATCHES: usize = 16;

/// What is due for longer than this has been missed by the timekeeper.
const MISSED: Duration = Duration::from_millis(2);

/// Tokio's timer is never set further ahead: it rounds instants up, and would overflow at the very
/// last ones.
const HORIZON: Duration = Duration::from_secs(30 * 365 * 86_400);

/// The queue of all pending sleeps of a system.
#[derive(Debug)]
pub(crate) struct Deadlines {
    clock: Clock,
    queue: Mutex<Queue>,
}

/// What the lock guards: data only. Every waker leaves it before it is woken or dropped.
#[derive(Debug)]
struct Queue {
    sleepers: BTreeMap<Key, Waker>,
    /// Makes the keys of one instant differ, and orders them.
    registered: NonZeroU64,
    /// The waker of the timekeeper, absent from a wake-up until it looks again.
    keeper: Option<Waker>,
    /// What the timekeeper's timer is set to.
    armed: Option<Instant>,
    closed: bool,
}

/// The instant, then the order of registration.
type Key = (Instant, NonZeroU64);

impl Deadlines {
    /// Makes the queue, and the task that serves it: the caller spawns that on the runtime of
    /// `clock`.
    pub(crate) fn new(clock: Clock) -> (Arc<Self>, Timekeeper) {
        let deadlines = Arc::new(Self {
            clock,
            queue: Mutex::new(Queue::new()),
        });
        let keeper = Timekeeper {
            deadlines: Arc::clone(&deadlines),
            timer: None,
        };
        (deadlines, keeper)
    }

    /// Returns a future that is ready from `at` on.
    pub(crate) fn sleep_until(self: &Arc<Self>, at: Instant) -> Sleep {
        Sleep {
            deadlines: Arc::clone(self),
            at: Some(at),
            alarm: Alarm::default(),
        }
    }

    /// Returns a future that is ready once `duration` has passed since this call, or never if that
    /// instant cannot be told.
    pub(crate) fn sleep(self: &Arc<Self>, duration: Duration) -> Sleep {
        let at = self.clock.now().checked_add(duration);
        Sleep {
            deadlines: Arc::clone(self),
            at,
            alarm: Alarm::default(),
        }
    }

    /// Returns the number of sleeps that have been polled, are not due and still exist.
    #[cfg(test)]
    pub(crate) fn pending(&self) -> usize {
        self.queue.lock().sleepers.len()
    }

    /// Ends the timekeeper and forgets all sleeps: none of them fires any more. Whoever polls one is woken for the last time,
    /// and can see that it is [lost](Watch::Lost).
    pub(crate) fn close(&self) {
        let (sleepers, keeper) = self.queue.lock().close();
        sleepers.into_values().for_each(panic::wake);
        keeper.into_iter().for_each(Waker::wake);
    }

    /// Wakes what the timekeeper has missed, since its own wake-up waits behind somebody who holds a thread.
    pub(crate) fn stand_in(&self) {
        let Some(missed) = self.clock.now().checked_sub(MISSED) else {
            return;
        };
        loop {
            let mut due = Vec::new();
            let more = self.queue.lock().take_due(missed, &mut due);
            due.into_iter().for_each(panic::wake);
            if !more {
                return;
            }
        }
    }

    /// Adds the waker of an alarm, or replaces the one it had. Says whether that is in vain, because the queue is closed.
    fn register(&self, alarm: &mut Alarm, at: Instant, waker: Waker) -> Watch {
        let registered = self.queue.lock().register(alarm, at, waker);
        drop(registered.replaced);
        registered.keeper.into_iter().for_each(Waker::wake);
        registered.watch
    }

    fn forget(&self, key: Key) {
        let (removed, keeper) = self.queue.lock().forget(key, self.clock.is_pausable());
        drop(removed);
        keeper.into_iter().for_each(Waker::wake);
    }

    /// Says whether the entry of an alarm is still there and already has this waker.
    fn is_registered(&self, key: Key, waker: &Waker) -> bool {
        self.queue
            .lock()
            .sleepers
            .get(&key)
            .is_some_and(|known| known.will_wake(waker))
    }
}

/// What came of a look at an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Watch {
    /// Its instant lies ahead, and the waker will be woken.
    Pending,
    /// Its instant has come.
    Due,
    /// It will never be due, because the queue is closed.
    Lost,
}

/// The number of an entry in the queue, for somebody who knows the instant and has the queue at hand, and counts no reference
/// for it. Whoever has set it must [`cancel`](Self::cancel) it.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Option<NonZeroU64>);

impl Alarm {
    /// Sets it for an instant that lies ahead, as its owner has just seen.
    pub(crate) fn set(&mut self, deadlines: &Deadlines, at: Instant, waker: &Waker) -> Watch {
        deadlines.register(self, at, waker.clone())
    }

    /// Says whether it has been set, and not cancelled since.
    pub(crate) const fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Looks at the clock, and sets it if the instant lies ahead.
    pub(crate) fn poll(&mut self, deadlines: &Deadlines, at: Instant, waker: &Waker) -> Watch {
        if deadlines.clock.now() >= at {
            self.cancel(deadlines, at);
            // The queue's word comes last: nothing fires after a close.
            let closed = deadlines.queue.lock().closed;
            return if closed { Watch::Lost } else { Watch::Due };
        }
        let is_set = self
            .0
            .is_some_and(|number| deadlines.is_registered((at, number), waker));
        if is_set {
            Watch::Pending
        } else {
            self.set(deadlines, at, waker)
        }
    }

    /// Removes its entry, if it has one.
    #[inline]
    pub(crate) fn cancel(&mut self, deadlines: &Deadlines, at: Instant) {
        if let Some(number) = self.0.take() {
            deadlines.forget((at, number));
        }
    }
}

/// What the lock gave out at a registration.
struct Registered {
    replaced: Option<Waker>,
    /// The keeper's, if its timer is set too late for the new entry.
    keeper: Option<Waker>,
    watch: Watch,
}

impl Queue {
    const fn new() -> Self {
        Self {
            sleepers: BTreeMap::new(),
            registered: NonZeroU64::MIN,
            keeper: None,
            armed: None,
            closed: false,
        }
    }

    fn register(&mut self, alarm: &mut Alarm, at: Instant, waker: Waker) -> Registered {
        if self.closed {
            return Registered {
                replaced: Some(waker),
                keeper: None,
                watch: Watch::Lost,
            };
        }
        let number = *alarm.0.get_or_insert_with(|| self.next_number());
        let replaced = self.sleepers.insert((at, number), waker);
        let in_time = self.armed.is_some_and(|armed| armed <= at);
        Registered {
            replaced,
            keeper: if in_time { None } else { self.keeper.take() },
            watch: Watch::Pending,
        }
    }

    fn next_number(&mut self) -> NonZeroU64 {
        self.registered = self.registered.saturating_add(1);
        self.registered
    }

    /// Returns the waker of the entry, and the keeper's if its timer has to go.
    fn forget(&mut self, key: Key, disarm: bool) -> (Option<Waker>, Option<Waker>) {
        let removed = self.sleepers.remove(&key);
        let idle = disarm && self.sleepers.is_empty() && self.armed.is_some();
        (removed, if idle { self.keeper.take() } else { None })
    }

    fn close(&mut self) -> (BTreeMap<Key, Waker>, Option<Waker>) {
        self.closed = true;
        (std::mem::take(&mut self.sleepers), self.keeper.take())
    }

    /// Moves at most a batch of entries due at `now` into `due`, and says what the timekeeper does
    /// next.
    fn look(&mut self, now: Instant, due: &mut Vec<Waker>) -> Next {
        if self.closed {
            return Next::End;
        }
        if self.take_due(now, due) {
            return Next::More;
        }
        let latest = now.checked_add(HORIZON).unwrap_or(now);
        let first = self.sleepers.first_key_value();
        self.armed = first.map(|(&(at, _), _)| at.min(latest));
        Next::Wait
    }

    /// Moves at most a batch of entries due at `now` into `due`, and says whether there are more.
    fn take_due(&mut self, now: Instant, due: &mut Vec<Waker>) -> bool {
        while let Some(first) = self.sleepers.first_entry()
            && first.key().0 <= now
        {
            if due.len() == BATCH {
                return true;
            }
            due.push(first.remove());
        }
        false
    }
}

/// Returns the earlier of two deadlines, where `None` is never.
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// What the timekeeper does after a look at the queue.
enum Next {
    /// More entries are due.
    More,
    /// It waits for the instant noted as `armed`, or for a wake-up if there is none.
    Wait,
    /// The queue is closed.
    End,
}

/// A future that is ready from an instant on, and never earlier.
///
/// # Cancel safety
///
/// Dropping it removes its entry from the queue.
#[derive(Debug)]
#[must_use = "a sleep does nothing unless polled"]
pub(crate) struct Sleep {
    deadlines: Arc<Deadlines>,
    /// Absent when the instant lies beyond what the clock can tell.
    at: Option<Instant>,
    /// The entry in the queue, since the first pending poll.
    alarm: Alarm,
}

impl Sleep {
    /// Returns the instant from which this future is ready, unless it never is.
    #[cfg(test)]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.at
    }

    /// Says whether this will never be ready, because the queue is closed.
    #[cfg(test)]
    pub(crate) fn is_lost(&self) -> bool {
        self.deadlines.queue.lock().closed
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(at) = this.at else {
            return Poll::Pending;
        };
        match this.alarm.poll(&this.deadlines, at, cx.waker()) {
            Watch::Due => Poll::Ready(()),
            Watch::Pending | Watch::Lost => Poll::Pending,
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(at) = self.at {
            self.alarm.cancel(&self.deadlines, at);
        }
    }
}

/// The task that holds the one Tokio timer and wakes what is due; it ends when the queue is closed.
///
/// Dropping it closes the queue: without it, nothing would fire.
#[derive(Debug)]
#[must_use = "no sleep fires unless the timekeeper is spawned"]
pub(crate) struct Timekeeper {
    deadlines: Arc<Deadlines>,
    timer: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Timekeeper {
    /// Leaves the keeper's waker in the queue, and wakes at most a batch of what is due.
    fn wake_due(&self, waker: &Waker) -> (Next, Option<Instant>) {
        let now = self.deadlines.clock.now();
        let waker = waker.clone();
        let mut due = Vec::new();
        let mut queue = self.deadlines.queue.lock();
        let replaced = queue.keeper.replace(waker);
        let next = queue.look(now, &mut due);
        let armed = queue.armed;
        drop(queue);
        drop(replaced);
        due.into_iter().for_each(panic::wake);
        (next, armed)
    }

    /// Sets the timer, touching it only if the instant changed.
    fn wait_until(&mut self, at: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = at else {
            self.timer = None;
            return Poll::Pending;
        };
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if timer.deadline() != at {
            timer.as_mut().reset(at);
        }
        timer.as_mut().poll(cx)
    }
}

impl Future for Timekeeper {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..BATCHES {
            match self.wake_due(cx.waker()) {
                (Next::End, _) => return Poll::Ready(()),
                (Next::More, _) => {}
                (Next::Wait, at) => {
                    if self.wait_until(at, cx).is_pending() {
                        return Poll::Pending;
                    }
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Timekeeper {
    fn drop(&mut self) {
        self.deadlines.close();
    }
}

#[cfg(test)]
mod tests;
