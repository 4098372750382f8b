//! Driving a future of the user's (an async handler, a hook, a factory) to its end, or to the moment it is cut.
//!
//! While it waits, the activation is parked as awaiting: messages only queue, but control wakes it, and it does what touches
//! no state of the user's: turns the queue out for a stop, and drops the future when it is to be cut.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::time::Instant;

use crate::dispatch::turn;
use crate::error::{AskFailure, Phase};
use crate::mailbox::Pause;
use crate::panic::{self, Guarded, PanicText};
use crate::system::deadlines::Sleep;
use crate::system::member::Member;
use crate::system::orders::EndKind;

use super::Actor;
use super::lifecycle::Life;
use super::stopwatch::Stopwatch;

/// What a driven future came to.
pub(super) enum Driven<T> {
    Done(T),
    Panicked(PanicText),
    /// It was dropped at an await.
    Cut,
}

/// What may cut a driven future.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// A kill, or the deadline of a stop.
    UntilCut,
    /// Any stop: the future is a wait of the system's own.
    UntilStop,
    /// Any stop, or a recall: the incarnation waits for something to be done with it.
    UntilCalled,
    /// Nothing: the future is bounded by itself.
    ToTheEnd,
}

/// What the activation has seen in its control lane so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) ending: Option<EndKind>,
    pub(super) cut: bool,
    /// The incarnation is to make room, because siblings are restarted together.
    pub(super) recalled: bool,
    /// It has no more time for that.
    recall_cut: bool,
}

impl Seen {
    pub(super) fn is_stopping(self) -> bool {
        self.ending >= Some(EndKind::Stop)
    }

    pub(super) fn is_killed(self) -> bool {
        self.ending == Some(EndKind::Kill)
    }

    /// How the children of this actor are to end with it.
    pub(super) fn kind_for_children(self) -> EndKind {
        if self.is_killed() {
            EndKind::Kill
        } else {
            EndKind::Stop
        }
    }

    pub(super) const fn is_draining(self) -> bool {
        self.ending.is_some()
    }

    /// Says whether anything is to be thought of before the next message.
    pub(super) const fn is_unusual(self) -> bool {
        self.recalled || self.is_draining()
    }

    fn exhausts(self, patience: Patience) -> bool {
        match patience {
            Patience::UntilCut => self.cut || self.recall_cut || self.is_killed(),
            Patience::UntilStop => self.cut || self.is_stopping(),
            Patience::UntilCalled => self.cut || self.is_stopping() || self.recalled,
            Patience::ToTheEnd => false,
        }
    }
}

/// A future of the user's that is to be driven. Boxed as a whole, so that the state of an idle actor has no room for it.
pub(super) struct Work<'f, T> {
    /// `None` when it has been dropped.
    future: Option<Guarded<Driveable<'f, T>>>,
    /// The message that it handles, if it is a handler.
    pub(super) variant: Option<&'static str>,
    /// By when the message must be answered; asks made meanwhile wait no longer.
    deadline: Option<Instant>,
    /// When it is cut at the latest.
    limit: Option<Sleep>,
    /// Sees that a handler is reported that waits for long.
    stopwatch: Stopwatch,
    /// Wakes the cell; made when it is first driven.
    waker: Option<Waker>,
}

/// What can be driven.
pub(super) type Driveable<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

impl<'f, T> Work<'f, T> {
    pub(super) const fn new(future: Driveable<'f, T>) -> Self {
        Self {
            future: Some(Guarded::new(future)),
            variant: None,
            deadline: None,
            limit: None,
            stopwatch: Stopwatch::Unstarted,
            waker: None,
        }
    }

    /// Says which message it handles.
    pub(super) const fn of(mut self, variant: Option<&'static str>) -> Self {
        self.variant = variant;
        self
    }

    /// Sets by when the message must be answered.
    pub(super) const fn by(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets when it is cut at the latest.
    pub(super) fn until(mut self, limit: Option<Sleep>) -> Self {
        self.limit = limit;
        self
    }
}

/// A future of the user's, driven by its activation.
pub(super) struct Drive<'a, 'f, A: Actor, T> {
    life: &'a mut Life<A>,
    work: Box<Work<'f, T>>,
    patience: Patience,
    is_new: bool,
}

impl<A: Actor, T> Drive<'_, '_, A, T> {
    /// Whom it belongs to.
    pub(super) const fn life(&self) -> &Life<A> {
        self.life
    }

    /// The message that it handles, if it is a handler.
    pub(super) const fn variant(&self) -> Option<&'static str> {
        self.work.variant
    }

    fn poll_once(&mut self) -> Poll<Driven<T>> {
        if !mem::take(&mut self.is_new) {
            self.life.cell.mail.forget_wakes();
            self.life.look();
            if self.life.seen.exhausts(self.patience) {
                return Poll::Ready(Driven::Cut);
            }
        }
        turn::set_deadline(self.work.deadline);
        // An earlier handler may have looked at its own end and not waited for it.
        turn::takes_end_of_handler();
        let waker = self.work.waker.take();
        let waker = waker.unwrap_or_else(|| Waker::from(Arc::clone(&self.life.cell)));
        let cx = &mut Context::from_waker(&waker);
        loop {
            let Some(future) = self.work.future.as_mut() else {
                return Poll::Ready(Driven::Cut);
            };
            match panic::catch(|| future.as_mut().poll(cx)) {
                Err(text) => return Poll::Ready(Driven::Panicked(text)),
                Ok(Poll::Ready(value)) => return Poll::Ready(Driven::Done(value)),
                Ok(Poll::Pending) => {}
            }
            let is_late = self
                .work
                .limit
                .as_mut()
                .is_some_and(|sleep| Pin::new(sleep).poll(cx).is_ready());
            if is_late || turn::takes_end_of_handler() {
                return Poll::Ready(Driven::Cut);
            }
            let has_looked = self.life.look();
            if self.life.seen.exhausts(self.patience) {
                return Poll::Ready(Driven::Cut);
            }
            // What came since the poll may be what a future of the system's own waits for, and nothing would wake it again.
            if has_looked {
                continue;
            }
            if self.work.variant.is_some() {
                self.work.stopwatch.look(&self.life.cell.core, cx);
            }
            self.work.waker = Some(waker);
            self.life.cell.side.will_pause(Pause::Awaiting);
            return Poll::Pending;
        }
    }
}

impl<A: Actor, T> Future for Drive<'_, '_, A, T> {
    type Output = Driven<T>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Driven<T>> {
        let driven = self.poll_once();
        match driven {
            Poll::Pending => {}
            // What a future keeps that panicked is dropped by the panic as well.
            Poll::Ready(Driven::Cut | Driven::Panicked(_)) => {
                let future = self.work.future.take();
                turn::while_cutting(|| drop(future));
            }
            Poll::Ready(Driven::Done(_)) => self.work.future = None,
        }
        driven
    }
}

/// A future that is left was neither driven to its end nor cut: nobody polls its activation any more. Its askers learn that
/// the actor has stopped.
impl<A: Actor, T> Drop for Drive<'_, '_, A, T> {
    fn drop(&mut self) {
        if let Some(future) = self.work.future.take() {
            for orphan in turn::orphans_of(|| turn::while_cutting(|| drop(future))) {
                orphan.fail(AskFailure::Stopped(Phase::Running));
            }
        }
    }
}

impl<A: Actor> Life<A> {
    /// Drives a future to its end, or to the moment it is cut.
    pub(super) const fn drive<'f, T>(
        &mut self,
        work: Box<Work<'f, T>>,
        patience: Patience,
    ) -> Drive<'_, 'f, A, T> {
        Drive {
            life: self,
            work,
            patience,
            is_new: true,
        }
    }

    /// Looks at the control lane, if it wants to be looked at, and does at once what a stop asks for. Says whether it has.
    #[inline]
    pub(super) fn look(&mut self) -> bool {
        let wants = self.cell.side.has_attention();
        if wants {
            self.look_closely();
        }
        wants
    }

    /// The same, although nothing new wants to be looked at.
    pub(super) fn look_closely(&mut self) {
        let (seen, signals) = self.cell.mail.attend(&self.cell.side, |control| {
            // An actor that nobody wants anything of any more is as small as another.
            control.take_if(|orders| orders.is_empty());
            let Some(orders) = control else {
                return (Seen::default(), false);
            };
            let ending = orders.ending.as_ref().map(|ending| ending.kind);
            let seen = Seen {
                ending,
                cut: orders.cut,
                recalled: orders.recall.is_some(),
                recall_cut: orders.recall.as_ref().is_some_and(|recall| recall.cut),
            };
            (seen, !orders.signals.is_empty())
        });
        self.seen = seen;
        self.has_signals |= signals;
        self.is_alert = self.has_signals || seen.is_unusual();
        if seen.is_stopping() {
            self.turn_out();
        }
    }

    /// Refuses further messages and turns out all there are.
    pub(super) fn turn_out(&mut self) {
        self.cell.close_door();
        self.cell.mail.put_back(&self.cell.side, &mut self.burst);
        self.cell.turn_out();
        // A child that waits for a decision is stopped instead; what the actor says of itself may still count.
        self.cell.drop_childrens_signals();
    }
}
