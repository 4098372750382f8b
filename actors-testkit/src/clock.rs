//! Virtual time, and rest.
//!
//! # Rest
//!
//! A runtime with one thread knows when there is nothing to run: just before it parks, it calls a hook. [`Idle::found`] is that
//! hook, and [`Clock::settle`] waits for it. A hook that wakes a task keeps the thread from parking, so time, which moves
//! while the thread is parked, stands still meanwhile.
//!
//! That is exact, but a runtime that is always busy never calls its hook. So before it waits, a settle looks at the actors in
//! rounds, bounded in number: as long as some have a message to handle and nothing to wait for, or the picture changes from
//! look to look, it waits no further than for the next round; after the last it gives up. A livelock of tasks that are no
//! actors is not found.

use std::fmt::Write;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use actors_core::{ActorId, ActorState, ActorSystem, Counters, TreeNode};
use tokio::time::Instant;

/// The runtime polls the test after this many other tasks, if it wants to be polled: the length of a round.
pub(crate) const TASKS_A_ROUND: u32 = 8;
/// Actors that are busy after so many rounds do not come to rest. A round takes 1 to 2 ms then, so this is the better part of
/// a minute of nothing but work: a test may do much.
const ROUNDS: u32 = 32_768;
const MILLISECOND: Duration = Duration::from_millis(1);
/// No wait is longer than this; past it Tokio cannot tell instants.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 86_400);

/// Those who wait for the runtime to have nothing to run.
#[derive(Debug, Default)]
pub(crate) struct Idle(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// How often somebody waited and the runtime came to rest.
    rests: u64,
    wakers: Vec<Waker>,
}

impl Idle {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The runtime has nothing to run.
    pub(crate) fn found(&self) {
        let mut waiting = self.lock();
        if waiting.wakers.is_empty() {
            return;
        }
        waiting.rests += 1;
        let wakers = std::mem::take(&mut waiting.wakers);
        drop(waiting);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits until the runtime has had nothing to run, once from the first poll on.
    async fn rest(&self) {
        let mut before = None;
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let mut waiting = self.lock();
            if *before.get_or_insert(waiting.rests) != waiting.rests {
                return Poll::Ready(());
            }
            waiting.wakers.push(waker);
            Poll::Pending
        })
        .await;
    }
}

/// Why there is no rest: who is busy.
#[derive(Debug)]
pub(crate) struct Restless(pub(crate) String);

/// The clock of a test.
#[derive(Debug)]
pub(crate) struct Clock {
    system: ActorSystem,
    idle: Arc<Idle>,
    /// When the runtime began. Its timers fire at whole milliseconds from here.
    start: Instant,
}

impl Clock {
    /// Makes the clock; to be called before any time has passed.
    pub(crate) fn new(system: ActorSystem, idle: Arc<Idle>) -> Self {
        Self {
            system,
            idle,
            start: Instant::now(),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Waits until nothing is runnable; no time passes. Cancel safe.
    pub(crate) async fn settle(&self) -> Result<(), Restless> {
        self.settle_in(ROUNDS).await
    }

    async fn settle_in(&self, rounds: u32) -> Result<(), Restless> {
        let mut before = None;
        for round in 1..=rounds {
            // A picture of the actors is not free, so it is taken ever more seldom.
            if round.is_power_of_two() {
                let now = Picture::take(&self.system);
                if !now.shows_work && before.as_ref() == Some(&now) {
                    self.idle.rest().await;
                    return Ok(());
                }
                before = Some(now);
            }
            one_round().await;
        }
        Err(Restless(self.who_is_busy()))
    }

    /// Lets `duration` pass, and everything that is due by then run. Cancel safe: dropped, it leaves the time that it came to.
    pub(crate) async fn advance(&self, duration: Duration) -> Result<(), Restless> {
        let target = Instant::now() + duration.min(FOREVER);
        // The runtime moves time by whole milliseconds, so it begins and ends at one.
        self.skip_to(target.min(self.next_millisecond())).await?;
        let whole = target - fraction(target - self.start);
        if whole > Instant::now() {
            // Time goes from timer to timer meanwhile, so that each fires at its own time.
            tokio::time::sleep_until(whole).await;
        }
        self.skip_to(target).await?;
        self.settle().await
    }

    /// Moves time by less than a millisecond, so that no timer can be due on the way.
    async fn skip_to(&self, target: Instant) -> Result<(), Restless> {
        if target > Instant::now() {
            self.settle().await?;
            tokio::time::advance(target.saturating_duration_since(Instant::now())).await;
        }
        Ok(())
    }

    /// The next instant, from now on, at which timers fire.
    fn next_millisecond(&self) -> Instant {
        let now = Instant::now();
        match fraction(now - self.start) {
            Duration::ZERO => now,
            passed => now + (MILLISECOND - passed),
        }
    }

    /// Waits for `event` no longer than `limit`, and then once more for rest: what comes at the very end counts.
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        mut event: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Result<Option<T>, Restless> {
        let mut time = pin!(self.advance(limit));
        poll_fn(|cx| {
            if let Poll::Ready(event) = event(cx) {
                return Poll::Ready(Ok(Some(event)));
            }
            let Poll::Ready(passed) = time.as_mut().poll(cx) else {
                return Poll::Pending;
            };
            Poll::Ready(match event(cx) {
                Poll::Ready(event) => Ok(Some(event)),
                Poll::Pending => passed.map(|()| None),
            })
        })
        .await
    }

    fn who_is_busy(&self) -> String {
        let mut text = "the actors do not come to rest; busy:".to_owned();
        for node in self
            .system
            .tree()
            .nodes()
            .iter()
            .filter(|node| is_busy(node))
            .take(5)
        {
            // Writing to a string does not fail.
            let _ = write!(text, " {} ({} queued)", node.path, node.mailbox_depth);
        }
        text
    }
}

/// What actors look like from outside.
#[derive(PartialEq)]
struct Picture {
    counters: Counters,
    states: Vec<(ActorId, ActorState)>,
    shows_work: bool,
}

impl Picture {
    fn take(system: &ActorSystem) -> Self {
        let tree = system.tree();
        let states = tree
            .nodes()
            .iter()
            .map(|node| (node.id, node.state))
            .collect();
        Self {
            counters: system.counters(),
            states,
            shows_work: tree.nodes().iter().any(is_busy),
        }
    }
}

/// Says whether an actor has something to do and nothing to wait for.
fn is_busy(node: &TreeNode) -> bool {
    node.state == ActorState::Ready && node.mailbox_depth > 0
}

/// Lets the runtime run what is runnable, up to the length of a round.
async fn one_round() {
    let mut over = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut over, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// What is beyond the whole milliseconds.
fn fraction(duration: Duration) -> Duration {
    Duration::from_nanos(u64::from(duration.subsec_nanos() % 1_000_000))
}

#[cfg(test)]
mod tests {
    use actors_core::prelude::*;

    use crate::TestKit;

    /// Sends itself a message for each that it handles.
    #[derive(Default)]
    struct Hog;

    #[actor]
    impl Hog {
        #[handler]
        fn more(&mut self, ctx: &mut ActorContext<Self>) {
            ctx.me().more().tell();
        }
    }

    #[test]
    fn actors_that_never_rest_are_named() {
        TestKit::run("busy", async |kit| {
            let hog = kit.spawn("hog", Hog::default).unwrap();
            hog.more().tell();
            let busy = kit.shared().clock.settle_in(64).await.unwrap_err();
            assert_eq!(
                busy.0,
                "the actors do not come to rest; busy: /busy/hog (1 queued)"
            );
            hog.stop().await;
            kit.allow_dead_letters();
        });
    }
}
