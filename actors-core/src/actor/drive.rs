//! Driving a future of the user's (an async handler, a hook, a factory) to its end, or to the moment it is cut.
//!
//! While it waits, the activation is parked as awaiting: messages only queue, but control wakes it, and it does what touches
//! no state of the user's: turns the queue out for a stop, and drops the future when it is to be cut.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::Instant;

use crate::dispatch::turn;
use crate::panic::{self, Guarded, PanicText};
use crate::system::deadlines::Sleep;
use crate::system::member::{EndKind, Member};

use super::Actor;
use super::lifecycle::Life;

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
    /// Nothing: the future is bounded by itself.
    ToTheEnd,
}

/// What the activation has seen in its control lane so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) ending: Option<EndKind>,
    pub(super) cut: bool,
}

impl Seen {
    pub(super) fn is_stopping(self) -> bool {
        self.ending >= Some(EndKind::Stop)
    }

    pub(super) fn is_killed(self) -> bool {
        self.ending == Some(EndKind::Kill)
    }

    fn exhausts(self, patience: Patience) -> bool {
        match patience {
            Patience::UntilCut => self.cut || self.is_killed(),
            Patience::UntilStop => self.cut || self.is_stopping(),
            Patience::ToTheEnd => false,
        }
    }
}

impl<A: Actor> Life<A> {
    /// Drives `future`, at most until `limit`.
    pub(super) async fn drive<T>(
        &mut self,
        future: Pin<Box<dyn Future<Output = T> + Send + '_>>,
        patience: Patience,
        limit: Option<Instant>,
    ) -> Driven<T> {
        let mut future = Guarded::new(future);
        let mut limit = limit.map(|at| self.cell.core.system.deadlines.sleep_until(at));
        let mut first = true;
        let driven = poll_fn(|cx| {
            if !mem::take(&mut first) {
                self.cell.mail.unpark();
                self.look();
                if self.seen.exhausts(patience) {
                    return Poll::Ready(Driven::Cut);
                }
            }
            turn::set_deadline(self.deadline);
            self.drive_once(&mut future, patience, limit.as_mut(), cx)
        })
        .await;
        if matches!(driven, Driven::Cut) {
            turn::while_cutting(|| drop(future));
        }
        driven
    }

    fn drive_once<T>(
        &mut self,
        future: &mut Pin<Box<dyn Future<Output = T> + Send + '_>>,
        patience: Patience,
        mut limit: Option<&mut Sleep>,
        cx: &mut Context<'_>,
    ) -> Poll<Driven<T>> {
        loop {
            match panic::catch(|| future.as_mut().poll(cx)) {
                Err(text) => return Poll::Ready(Driven::Panicked(text)),
                Ok(Poll::Ready(value)) => return Poll::Ready(Driven::Done(value)),
                Ok(Poll::Pending) => {}
            }
            let is_late = limit
                .as_mut()
                .is_some_and(|sleep| Pin::new(&mut **sleep).poll(cx).is_ready());
            if is_late || turn::takes_end_of_handler() {
                return Poll::Ready(Driven::Cut);
            }
            self.look();
            if self.seen.exhausts(patience) {
                return Poll::Ready(Driven::Cut);
            }
            if self.cell.mail.park_awaiting(cx.waker()) {
                return Poll::Pending;
            }
        }
    }

    /// Looks at the control lane, if it wants to be looked at, and does at once what a stop asks for.
    pub(super) fn look(&mut self) {
        if !self.cell.mail.has_attention() {
            return;
        }
        let (seen, signals) = self.cell.mail.attend(|control| match control {
            None => (Seen::default(), false),
            Some(orders) => {
                let ending = orders.ending.as_ref().map(|ending| ending.kind);
                (
                    Seen {
                        ending,
                        cut: orders.cut,
                    },
                    !orders.signals.is_empty(),
                )
            }
        });
        self.seen = seen;
        self.has_signals |= signals;
        if seen.is_stopping() {
            self.turn_out();
        }
    }

    /// Refuses further messages and turns out all there are.
    pub(super) fn turn_out(&mut self) {
        self.cell.close_door();
        self.cell.mail.put_back(&mut self.batch);
        self.batch = VecDeque::new();
        self.cell.turn_out();
    }
}
