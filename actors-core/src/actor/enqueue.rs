//! [`Enqueue`]: waiting for room in the mailbox of an actor.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::EnqueueError;
use crate::mailbox::{Admission, Wait};

use super::Actor;
use super::reference::ActorRef;

/// Waits for room in a bounded mailbox; made by [`Call::enqueue`](crate::Call::enqueue).
///
/// # Cancel safety
///
/// Dropped before it is ready, nothing is sent, and room already granted passes to the next.
#[must_use = "the message is queued when the future is awaited"]
pub struct Enqueue<A: Actor> {
    to: ActorRef<A>,
    message: Option<A::Msg>,
    ticket: Option<u64>,
}

/// Nothing in it is pinned.
impl<A: Actor> Unpin for Enqueue<A> {}

impl<A: Actor> Enqueue<A> {
    pub(super) const fn new(to: ActorRef<A>, message: A::Msg) -> Self {
        Self {
            to,
            message: Some(message),
            ticket: None,
        }
    }
}

impl<A: Actor> Future for Enqueue<A> {
    type Output = Result<(), EnqueueError<A::Msg>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(message) = this.message.take() else {
            unreachable!("an enqueue was polled after it was done");
        };
        let cell = this.to.cell();
        match cell.poll_room(&mut this.ticket, cx.waker()) {
            Wait::Pending => {
                this.message = Some(message);
                return Poll::Pending;
            }
            Wait::Closed => {
                this.ticket = None;
                return Poll::Ready(Err(EnqueueError(message)));
            }
            Wait::Granted => {}
        }
        let admission = this
            .ticket
            .take()
            .map_or(Admission::Try, Admission::Granted);
        Poll::Ready(
            cell.offer(message, admission)
                .map_err(|(message, _)| EnqueueError(message)),
        )
    }
}

impl<A: Actor> Drop for Enqueue<A> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.to.cell().leave_room(ticket);
        }
    }
}

impl<A: Actor> fmt::Debug for Enqueue<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Enqueue to {}", self.to.actor_path())
    }
}
