//! Children that are restarted together: one-for-all and rest-for-one.
//!
//! The failed child asks its group, counts the restart there, and waits. The restart itself is a task of its own, since
//! neither the parent, which may be busy asking that very child, nor a child, which has to go down itself, could do it:
//!
//! ```text
//! failed child -> Group::join -> restart_together:  recall, in reverse start order, each down before the next
//!                                                   back-off
//!                                                   go, in start order, each ready before the next
//! ```
//!
//! | phase    | a failure of a child meanwhile                                                              |
//! |----------|---------------------------------------------------------------------------------------------|
//! | none     | begins a restart, and counts                                                                |
//! | stopping | counts no more: it is down anyhow; a child that was not concerned takes part as well         |
//! | starting | counts, and the restart begins anew                                                         |
//!
//! A recalled child ends its incarnation within its stop timeout, or is cut, or is abandoned. An order to end beats the recall;
//! what has ended stays down. The task holds no child longer than that, and ends with the parent: a parent that stops or
//! restarts closes its family, and orders each child to end.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::path::ActorId;
use crate::supervision::{
    Directive, Failure, RestartRecord, RestartType, Situation, StopReason, Supervision,
};
use crate::sync::Mutex;

use super::SystemCore;
use super::enforce::{recall, see_to_the_end};
use super::family::Family;
use super::member::{Core, Member};
use super::orders::{EndKind, Ending, Failed};

/// The children of one incarnation of a parent, as far as they are restarted together.
pub(crate) struct Group {
    policy: Supervision,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    record: RestartRecord,
    restart: Option<Restart>,
}

/// A restart that is under way.
struct Restart {
    phase: Phase,
    /// The children that failed since the phase began.
    failed: Vec<Failed>,
    /// How long to wait before the children start.
    after: Duration,
    /// The budget is spent: all children stop instead.
    spent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Stopping,
    Starting,
}

/// What a failed child does now.
#[must_use]
pub(crate) enum Joined {
    /// It waits for its recall, or for its end.
    Waits,
    /// The same, and it begins the restart.
    Begins,
    /// It escalates: the budget is spent, and the policy says so.
    Escalates,
}

impl Group {
    pub(super) fn new(policy: Supervision) -> Arc<Self> {
        Arc::new(Self {
            policy,
            state: Mutex::default(),
        })
    }

    /// Takes a failure that asks for a restart. `may_escalate`: whether the parent may still be asked.
    pub(crate) fn join(&self, failed: Failed, situation: Situation, may_escalate: bool) -> Joined {
        let State { record, restart } = &mut *self.state.lock();
        if let Some(restart) = restart
            && restart.phase == Phase::Stopping
        {
            restart.failed.push(failed);
            return Joined::Waits;
        }
        let after = self.policy.restart_of_group(record, situation);
        if after.is_none() && may_escalate && self.policy.spent() == Directive::Escalate {
            return Joined::Escalates;
        }
        let begins = restart.is_none();
        let restart = restart.get_or_insert(Restart {
            phase: Phase::Stopping,
            failed: Vec::new(),
            after: Duration::ZERO,
            spent: false,
        });
        // From here on the children are to go down, and who else fails before they do counts no more.
        restart.phase = Phase::Stopping;
        restart.failed.push(failed);
        restart.spent |= after.is_none();
        restart.after = after.unwrap_or_default();
        if begins {
            Joined::Begins
        } else {
            Joined::Waits
        }
    }

    /// Looks at the restart that is under way. Only the task that does it ends it.
    fn under_way<R>(&self, look: impl FnOnce(&mut Restart) -> R) -> Option<R> {
        self.state.lock().restart.as_mut().map(look)
    }

    fn has_failed(&self) -> bool {
        self.under_way(|restart| !restart.failed.is_empty()) == Some(true)
    }

    fn is_spent(&self) -> bool {
        self.under_way(|restart| restart.spent) == Some(true)
    }

    /// All of `concerned` are down: goes on to the start, or is over if they are down for good. Unless another child has
    /// failed meanwhile, which waits to go as well.
    fn down(&self, concerned: &[Arc<dyn Member>]) -> Result<Duration, Failed> {
        let under_way = &mut self.state.lock().restart;
        let Some(restart) = under_way else {
            return Ok(Duration::ZERO);
        };
        restart.failed.retain(|failed| {
            concerned
                .binary_search_by_key(&failed.id, |member| member.core().id)
                .is_err()
        });
        if let Some(other) = restart.take_oldest() {
            return Err(other);
        }
        let after = restart.after;
        if restart.spent {
            *under_way = None;
        } else {
            restart.phase = Phase::Starting;
        }
        Ok(after)
    }

    /// All have started: the restart is over, unless a child has failed meanwhile.
    fn up(&self, now: Instant) -> Result<(), Failed> {
        let State { record, restart } = &mut *self.state.lock();
        if let Some(restart) = restart
            && let Some(failed) = restart.take_oldest()
        {
            return Err(failed);
        }
        record.running(now);
        *restart = None;
        Ok(())
    }

    fn end(&self) {
        self.state.lock().restart = None;
    }
}

impl Restart {
    fn take_oldest(&mut self) -> Option<Failed> {
        let oldest = (0..self.failed.len()).min_by_key(|&at| self.failed[at].id)?;
        Some(self.failed.swap_remove(oldest))
    }
}

/// Whose children they are.
pub(crate) enum Home {
    Top(Arc<SystemCore>),
    Under(Weak<dyn Member>),
}

impl Home {
    pub(crate) fn of(core: &Core) -> Self {
        match &core.parent {
            None => Self::Top(Arc::clone(&core.system)),
            Some(parent) => Self::Under(Weak::clone(parent)),
        }
    }

    pub(crate) fn group(&self) -> Option<Arc<Group>> {
        self.look(Family::group).flatten()
    }

    /// The children that `group` is about, in start order; `None` once the parent stops or has a new incarnation.
    fn members(&self, group: &Arc<Group>) -> Option<Vec<Arc<dyn Member>>> {
        self.look(|family| family.members_of(group)).flatten()
    }

    fn look<R>(&self, look: impl FnOnce(&Family) -> R) -> Option<R> {
        match self {
            Self::Top(system) => Some(look(&system.family)),
            Self::Under(parent) => parent.upgrade()?.core().existing_family().map(look),
        }
    }
}

/// Restarts the children of a group that a failure concerns, as often as it takes until all have started.
pub(crate) async fn restart_together(system: Arc<SystemCore>, home: Home, group: Arc<Group>) {
    let Some(mut cause) = group.under_way(Restart::take_oldest).flatten() else {
        return;
    };
    let mut oldest = cause.id;
    // All children of a parent that goes are ordered to end, whatever they wait for.
    while let Some(members) = home.members(&group) {
        match try_restart(&system, &group, members, oldest, &cause).await {
            Ok(()) => return,
            Err(other) => {
                oldest = oldest.min(other.id);
                cause = other;
            }
        }
    }
    group.end();
}

/// Goes down and up once, with all that a failure of `oldest` concerns. Gives a child that has failed meanwhile.
async fn try_restart(
    system: &SystemCore,
    group: &Group,
    mut members: Vec<Arc<dyn Member>>,
    oldest: ActorId,
    cause: &Failed,
) -> Result<(), Failed> {
    if group.is_spent() {
        return stop_together(&members, group, cause).await;
    }
    let strategy = group.policy.strategy();
    members.retain(|member| {
        let core = member.core();
        strategy.concerns(oldest, core.id) && !core.is_unborn()
    });
    for member in members.iter().rev() {
        bring_down(member, cause).await;
    }
    let after = group.down(&members)?;
    back_off(system, after, &members).await;
    for member in &members {
        if group.has_failed() || !start(member).await {
            break;
        }
    }
    group.up(system.clock.now())
}

/// The budget is spent: all children end for the last failure. One that came meanwhile may have failed as well.
async fn stop_together(
    members: &[Arc<dyn Member>],
    group: &Group,
    last: &Failed,
) -> Result<(), Failed> {
    let of_sibling = Failure::of_sibling(&last.path, &last.report).report();
    for member in members.iter().rev() {
        let is_it = member.core().id == last.id;
        let report = if is_it { &last.report } else { &of_sibling };
        stop(member, StopReason::RestartLimit(report.clone())).await;
    }
    group.down(members).map(|_| ())
}

/// Waits before the children start, unless none is left that could: nothing of them is to be kept for a wait that may be long.
async fn back_off(system: &SystemCore, after: Duration, members: &[Arc<dyn Member>]) {
    let mut sleep = pin!(system.deadlines.sleep(after));
    let mut none_is_left = pin!(async {
        for member in members {
            member.core().end().wait().await;
        }
    });
    poll_fn(|cx| match sleep.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => none_is_left.as_mut().poll(cx),
    })
    .await;
}

async fn stop(member: &Arc<dyn Member>, reason: StopReason) {
    member.order(&Ending {
        kind: EndKind::Stop,
        reason,
        deadline: member.core().stop_deadline(),
    });
    see_to_the_end(Arc::clone(member)).await;
}

/// Ends the incarnation of a child, or the child if it is not one to be restarted.
async fn bring_down(member: &Arc<dyn Member>, cause: &Failed) {
    if member
        .ending()
        .is_some_and(|ending| ending.kind >= EndKind::Stop)
    {
        see_to_the_end(Arc::clone(member)).await;
    } else if member.core().options.restart_type == RestartType::Temporary {
        stop(member, StopReason::SiblingFailed).await;
    } else {
        recall(member, cause.clone()).await;
    }
}

/// Lets a child start again. Says whether the next may: not if its start failed.
async fn start(member: &Arc<dyn Member>) -> bool {
    let (go, ready) = oneshot::channel();
    let mut go = Some(go);
    member.control(&mut |orders| orders.go = go.take());
    let (mut ready, mut ended) = (pin!(ready), pin!(member.core().end().wait()));
    poll_fn(|cx| {
        if ended.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        let ready = ready.as_mut().poll(cx);
        ready.map(|ready| ready.is_ok() || member.core().is_over())
    })
    .await
}
