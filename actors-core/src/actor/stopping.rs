//! Ending an actor from outside, and waiting for its end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::dispatch::turn;
use crate::supervision::StopReason;
use crate::system::enforce::see_to_the_end;
use crate::system::member::Member;
use crate::system::orders::{EndKind, Ending};

/// Orders the end, sees to it that it comes, and returns the wait for it.
pub(super) fn order_end(
    member: Arc<dyn Member>,
    kind: EndKind,
    reason: StopReason,
    limit: Option<Duration>,
) -> Ended {
    let core = member.core();
    if !core.is_over() {
        let deadline = match limit {
            None => core.stop_deadline(),
            Some(limit) => core.system.clock.now().checked_add(limit),
        };
        member.order(&Ending {
            kind,
            reason,
            deadline,
        });
        core.system
            .run(core.id, see_to_the_end(Arc::clone(&member)))
            .detach();
    }
    Ended::new(member)
}

/// Waits for the end of an actor and gives the reason.
///
/// Awaited by a handler of that very actor, it ends the handler there: the end waits for the handler, which would wait for
/// ever.
///
/// # Cancel safety
///
/// Dropping it changes nothing but that nobody waits.
#[must_use = "the end comes by itself, but only awaiting it tells when and why"]
pub struct Ended {
    member: Arc<dyn Member>,
    place: Option<u64>,
}

impl Ended {
    pub(super) const fn new(member: Arc<dyn Member>) -> Self {
        Self {
            member,
            place: None,
        }
    }
}

impl Future for Ended {
    type Output = StopReason;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<StopReason> {
        let this = &mut *self;
        let core = this.member.core();
        let reason = core.end().poll_wait(&mut this.place, cx.waker());
        if reason.is_pending() {
            let running = core.system.running_actor();
            if running.is_some_and(|actor| actor.id() == core.id) {
                turn::end_handler();
            }
        }
        reason
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.member.core().end().leave(place);
        }
    }
}

impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ended({:?})", self.member)
    }
}
