//! Sees to it that an actor, or its incarnation, ends when it was told to.
//!
//! Both end by themselves as a rule. At the deadline user code that waits is cut at its `.await`. What has not let go a moment
//! later holds its thread, or no thread has come for it, and is abandoned.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::member::Member;
use super::orders::{EndKind, Failed, Recall};
use super::{GRACE, LONG_GRACE, SystemCore};

/// Makes the running incarnation of `member` end, and waits until it has, or the actor has.
pub(super) async fn recall(member: &Arc<dyn Member>, cause: Failed) {
    let system = &member.core().system;
    let deadline = member.core().stop_deadline();
    let (down, is_down) = oneshot::channel();
    let mut order = Some(Recall {
        deadline,
        cut: false,
        cause,
        down,
    });
    member.control(&mut |orders| orders.recall = order.take());
    let mut is_down = pin!(async { drop(is_down.await) });
    let Some(deadline) = deadline else {
        return is_down.await;
    };
    if comes_before(system, is_down.as_mut(), deadline).await {
        return;
    }
    loop {
        let poll = member.cut_recalled();
        if lets_go(member, is_down.as_mut(), poll, deadline).await {
            return;
        }
    }
}

/// Waits until `member` has ended, as it was ordered to.
///
/// Cancel safe: dropping it leaves the order, and nobody who enforces it.
pub(crate) async fn see_to_the_end(member: Arc<dyn Member>) {
    let system = Arc::clone(&member.core().system);
    loop {
        let Some(ending) = member.ending() else {
            return;
        };
        let Some(deadline) = ending.deadline else {
            member.core().end().wait().await;
            return;
        };
        let mut ended = pin!(ended(&member));
        if comes_before(&system, ended.as_mut(), deadline).await {
            return;
        }
        if ending.kind != member.ending().map_or(ending.kind, |now| now.kind) {
            continue; // A stronger order came meanwhile, with a deadline of its own.
        }
        let poll = member.cut();
        if ending.kind != EndKind::Drain && lets_go(&member, ended.as_mut(), poll, deadline).await {
            return;
        }
    }
}

async fn ended(member: &Arc<dyn Member>) {
    member.core().end().wait().await;
}

/// Waits a moment for what was cut just now, after its `deadline`, and abandons `member` if it holds its thread since `poll`.
/// Says whether there is nothing to wait for any more.
async fn lets_go(
    member: &Arc<dyn Member>,
    awaited: Pin<&mut (impl Future<Output = ()> + Send)>,
    poll: u32,
    deadline: Instant,
) -> bool {
    let system = &member.core().system;
    let Some(patience) = system.clock.now().checked_add(GRACE) else {
        return true;
    };
    if comes_before(system, awaited, patience).await {
        return true;
    }
    let waited_long = system.clock.now().duration_since(deadline) >= LONG_GRACE;
    member.abandon_if_stuck(poll, waited_long);
    false
}

/// Says whether what is waited for comes before a time. Nothing is lost when it does not: it can be waited for again.
async fn comes_before(
    system: &SystemCore,
    mut awaited: Pin<&mut (impl Future<Output = ()> + Send)>,
    deadline: Instant,
) -> bool {
    let mut sleep = system.deadlines.sleep_until(deadline);
    poll_fn(|cx| {
        if awaited.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        Pin::new(&mut sleep).poll(cx).map(|()| false)
    })
    .await
}
