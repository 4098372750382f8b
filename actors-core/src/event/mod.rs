//! What a system tells about itself: a stream of dead letters and one of lifecycle events.
//!
//! An `EventStream` hands each event to everyone who holds a [`Subscription`] at that moment.
//! Publishing never waits: without subscribers it is one load, and a subscriber that does not keep
//! up loses events, and can tell how many.
//!
//! # Guarantees
//!
//! - A subscription sees every event whose publishing began after it was made, in the order of each
//!   publisher, as long as it has room. Once full it loses the **newest**: what is queued stays,
//!   and [`Subscription::missed`] counts the rest.
//! - After a close a subscription yields what is queued, then ends.
//!
//! # What is not guaranteed
//!
//! Events published on different threads at the same time may reach two subscriptions in different
//! orders.

mod dead_letter;
mod lifecycle;
mod log;
mod rate_limit;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;

pub use self::dead_letter::{DeadLetter, DeadLetterReason};
pub use self::lifecycle::LifecycleEvent;
pub(crate) use self::log::{EventLog, is_quiet_end, reads_details};
use crate::sync::Mutex;

/// The sending side: one for each kind of event in a system.
pub(crate) struct EventStream<T> {
    /// Whether somebody may be listening; changed only under the lock of `audience`.
    watched: AtomicBool,
    audience: Mutex<Audience<T>>,
}

/// What the lock guards. The list is shared, so that an event is made and handed out without the
/// lock.
struct Audience<T> {
    listeners: Arc<Vec<Listener<T>>>,
    closed: bool,
}

struct Listener<T> {
    events: mpsc::Sender<T>,
    missed: Arc<AtomicU64>,
}

impl<T: Clone> EventStream<T> {
    pub(crate) fn new() -> Self {
        let audience = Audience {
            listeners: Arc::default(),
            closed: false,
        };
        Self {
            watched: AtomicBool::new(false),
            audience: Mutex::new(audience),
        }
    }

    /// Hands the event to everyone who listens, and does not even make it if nobody does.
    pub(crate) fn publish(&self, make: impl FnOnce() -> T) {
        if !self.is_watched() {
            return;
        }
        let listeners = self.listeners();
        if listeners.is_empty() {
            return;
        }
        let event = make();
        for listener in listeners.iter() {
            listener.offer(event.clone());
        }
    }

    /// Says whether somebody may be listening.
    pub(crate) fn is_watched(&self) -> bool {
        // Ordering: Relaxed is enough: a publisher that comes after a `subscribe` comes after its
        // store, and sees it; for one at the same time either answer is right.
        self.watched.load(Ordering::Relaxed)
    }

    /// Starts to listen, with room for `capacity` events (at least one) that were not yet taken.
    pub(crate) fn subscribe(&self, capacity: usize) -> Subscription<T> {
        let capacity = capacity.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        let (sender, events) = mpsc::channel(capacity);
        let missed = Arc::new(AtomicU64::new(0));
        let listener = Listener {
            events: sender,
            missed: Arc::clone(&missed),
        };
        self.add(listener);
        Subscription { events, missed }
    }

    /// Ends all subscriptions, those to come included, after what they have queued.
    pub(crate) fn close(&self) {
        let mut audience = self.audience.lock();
        audience.closed = true;
        let listeners = std::mem::take(&mut audience.listeners);
        // Ordering: Relaxed, as in `publish`.
        self.watched.store(false, Ordering::Relaxed);
        drop(audience);
        drop(listeners);
    }

    fn add(&self, listener: Listener<T>) {
        let mut audience = self.audience.lock();
        if audience.closed {
            drop(audience);
            drop(listener);
            return;
        }
        let mut listeners = audience.living();
        listeners.push(listener);
        let replaced = std::mem::replace(&mut audience.listeners, Arc::new(listeners));
        // Ordering: Relaxed, as in `publish`.
        self.watched.store(true, Ordering::Relaxed);
        drop(audience);
        drop(replaced);
    }

    /// Returns those who listen, and forgets subscriptions that were dropped.
    fn listeners(&self) -> Arc<Vec<Listener<T>>> {
        let mut audience = self.audience.lock();
        if audience.listeners.iter().all(Listener::is_living) {
            return Arc::clone(&audience.listeners);
        }
        let living = Arc::new(audience.living());
        let replaced = std::mem::replace(&mut audience.listeners, Arc::clone(&living));
        // Ordering: Relaxed, as in `publish`.
        self.watched.store(!living.is_empty(), Ordering::Relaxed);
        drop(audience);
        drop(replaced);
        living
    }
}

impl<T> fmt::Debug for EventStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let audience = self.audience.lock();
        f.debug_struct("EventStream")
            .field("listeners", &audience.listeners.len())
            .field("closed", &audience.closed)
            .finish()
    }
}

impl<T> Audience<T> {
    /// Returns the listeners whose subscription still exists.
    fn living(&self) -> Vec<Listener<T>> {
        let living = self
            .listeners
            .iter()
            .filter(|listener| listener.is_living());
        living.cloned().collect()
    }
}

impl<T> Listener<T> {
    fn is_living(&self) -> bool {
        !self.events.is_closed()
    }

    /// Queues the event, or counts it as missed if there is no room.
    fn offer(&self, event: T) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.events.try_send(event) {
            // Ordering: Relaxed, for an obvious counter.
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<T> Clone for Listener<T> {
    fn clone(&self) -> Self {
        Self {
            events: self.events.clone(),
            missed: Arc::clone(&self.missed),
        }
    }
}

/// The receiving side of an event stream, of dead letters for example: a [`Stream`], with the
/// methods that most need.
///
/// It has room for a number of events that were not yet taken; while that is used up, further
/// events pass it by, counted by [`missed`](Self::missed). Dropping it ends the subscription.
pub struct Subscription<T> {
    events: mpsc::Receiver<T>,
    missed: Arc<AtomicU64>,
}

impl<T> Subscription<T> {
    /// Waits for the next event; `None` says that the stream is closed and everything was taken.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, it has taken nothing.
    pub async fn next(&mut self) -> Option<T> {
        self.events.recv().await
    }

    /// Takes the next event if one is there, without waiting.
    pub fn try_next(&mut self) -> Option<T> {
        self.events.try_recv().ok()
    }

    /// Returns how many events have passed this subscription by, because it was full.
    pub fn missed(&self) -> u64 {
        // Ordering: Relaxed, for an obvious counter.
        self.missed.load(Ordering::Relaxed)
    }
}

impl<T> Stream for Subscription<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.events.poll_recv(cx)
    }
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("queued", &self.events.len())
            .field("missed", &self.missed())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures::StreamExt;
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn an_event_that_nobody_hears_is_not_made() {
        let stream = EventStream::<u32>::new();
        stream.publish(|| unreachable!("nobody listens"));
        drop(stream.subscribe(1));
        stream.publish(|| unreachable!("nobody listens any more"));
        assert!(!stream.watched.load(Ordering::Relaxed));
    }

    #[test]
    fn everyone_who_listens_hears_each_event_in_order_and_it_is_made_once() {
        let stream = EventStream::new();
        let mut one = stream.subscribe(8);
        let made = Cell::new(0);
        let publish = |event| {
            stream.publish(|| {
                made.set(made.get() + 1);
                event
            });
        };
        publish(1);
        let mut two = stream.subscribe(usize::MAX);
        publish(2);
        publish(3);
        assert_eq!(made.get(), 3);
        assert_eq!(
            [one.try_next(), one.try_next(), one.try_next()],
            [1, 2, 3].map(Some)
        );
        assert_eq!(
            [two.try_next(), two.try_next(), two.try_next()],
            [Some(2), Some(3), None]
        );
    }

    #[test]
    fn a_slow_subscriber_loses_the_newest_and_learns_how_many() {
        let stream = EventStream::new();
        let (mut slow, mut fast) = (stream.subscribe(2), stream.subscribe(usize::MAX));
        for event in 1..=5 {
            stream.publish(|| event);
        }
        assert_eq!((slow.missed(), fast.missed()), (3, 0));
        assert_eq!(
            [slow.try_next(), slow.try_next(), slow.try_next()],
            [Some(1), Some(2), None]
        );
        stream.publish(|| 6);
        assert_eq!((slow.try_next(), slow.missed()), (Some(6), 3));
        assert_eq!(std::iter::from_fn(|| fast.try_next()).count(), 6);
    }

    #[test]
    fn no_room_at_all_is_room_for_one() {
        let stream = EventStream::new();
        let mut only = stream.subscribe(0);
        stream.publish(|| 1);
        stream.publish(|| 2);
        assert_eq!((only.try_next(), only.missed()), (Some(1), 1));
    }

    #[test]
    fn a_dropped_subscription_leaves_the_others_and_is_forgotten() {
        let stream = EventStream::new();
        let (gone, mut stays) = (stream.subscribe(1), stream.subscribe(1));
        drop(gone);
        stream.publish(|| 1);
        assert_eq!(stays.try_next(), Some(1));
        assert_eq!(stream.audience.lock().listeners.len(), 1);
        for _ in 0..100 {
            drop(stream.subscribe(1));
        }
        assert!(stream.audience.lock().listeners.len() <= 2);
    }

    #[test]
    fn a_close_ends_a_stream_after_what_is_queued() {
        let stream = EventStream::new();
        let mut before = stream.subscribe(8);
        stream.publish(|| 1);
        stream.publish(|| 2);
        stream.close();
        stream.publish(|| unreachable!("closed"));
        let after = stream.subscribe(8);
        assert_eq!(block_on(before.next()), Some(1));
        assert_eq!(block_on(before.collect::<Vec<_>>()), [2]);
        assert_eq!(block_on(after.collect::<Vec<_>>()), [0; 0]);
    }

    #[test]
    fn a_dropped_stream_ends_its_subscriptions() {
        let stream = EventStream::<u32>::new();
        let mut subscription = stream.subscribe(1);
        drop(stream);
        assert_eq!(block_on(subscription.next()), None);
    }

    #[test]
    fn making_an_event_may_use_the_stream() {
        let stream = EventStream::new();
        let mut outer = stream.subscribe(8);
        stream.publish(|| {
            stream.publish(|| 1);
            stream.close();
            2
        });
        assert_eq!(block_on(outer.next()), Some(1));
        assert_eq!(block_on(outer.next()), Some(2));
        assert_eq!(block_on(outer.next()), None);
    }

    #[tokio::test]
    async fn a_waiting_subscriber_is_woken() {
        let stream = Arc::new(EventStream::new());
        let mut subscription = stream.subscribe(1);
        let publisher = Arc::clone(&stream);
        let (event, ()) = tokio::join!(subscription.next(), async move { publisher.publish(|| 1) });
        assert_eq!(event, Some(1));
    }

    #[test]
    fn events_from_many_threads_arrive_or_are_counted() {
        let stream = EventStream::new();
        let mut subscription = stream.subscribe(100);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|event| stream.publish(|| event)));
            }
        });
        stream.close();
        let missed = subscription.missed();
        let heard = std::iter::from_fn(|| block_on(subscription.next())).count();
        assert_eq!((heard, missed), (100, 3900));
    }
}
