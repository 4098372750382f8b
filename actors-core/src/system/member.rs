//! An actor as its system and its family see it: without its type.
//!
//! [`Core`] is all that is known of an actor but its messages; [`Member`] adds the few things that need the mailbox. How an
//! actor is told to end is written here once, for references, parents and shutdown alike; who sees to it that it does, in
//! `enforce.rs`.

use std::any::Any;
use std::fmt;
use std::mem;
use std::num::NonZeroU16;
use std::ops::Deref;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use ecow::{EcoString, eco_format};
use once_cell::race::OnceBox;
use tokio::time::Instant;

use crate::event::{LifecycleEvent, is_quiet_end};
use crate::path::{ActorId, ActorPath, RESERVED};
use crate::supervision::StopReason;
use crate::sync::Mutex;

use super::breed::Breed;
use super::counters::{Count, add};
use super::end::{End, Terminated};
use super::enforce::see_to_the_end;
use super::family::Family;
use super::orders::{EndKind, Ending, Orders};
use super::pace::Pace;
use super::state::{ActorState, Mark, StateCell};

/// What most actors need only at their end; made when it is first needed.
#[derive(Default)]
struct Rare {
    family: Family,
    end: End,
    account: Mutex<Account>,
    /// The path, of an actor that was asked for it or has children.
    path: OnceLock<ActorPath>,
    /// What runs, if its name has no number.
    handler: Mutex<Option<&'static str>>,
    restarts: AtomicU32,
    /// Counts strong references of users, when [`Options::counted`](super::breed::Options::counted).
    references: AtomicU32,
}

/// What has been taken over of the counts of an actor that was abandoned: its code may return, and count on.
#[derive(Clone, Copy, Default)]
enum Account {
    #[default]
    Open,
    /// Taken over so far; `failed` if a handler ran, which was counted as failed.
    Taken { handled: u64, failed: bool },
    /// Nothing more comes.
    Closed,
}

/// On while the actor is reserved only: it has a name and no activation.
const UNBORN: u8 = 1;
/// On once somebody ends the actor for everybody else.
const FINISHING: u8 = 2;
/// On once this actor was abandoned while its code held a thread.
const ABANDONED: u8 = 4;

/// Says that what runs is in [`Rare::handler`].
const UNNUMBERED: u16 = u16::MAX;

/// What is known of an actor without its message type. It derefs to what it has in common with its siblings.
///
/// There are many actors, so this is small: what few need is made when they do. What the activation writes comes last: the cell
/// wants it away from what senders write.
#[repr(C)]
pub(crate) struct Core {
    pub(crate) id: ActorId,
    breed: Arc<Breed>,
    /// Empty if it has no name but that of its identity.
    name: EcoString,
    rare: OnceBox<Rare>,
    /// How long its handlers take.
    pub(crate) pace: Pace,
    handled: Count,
    /// Grows when a poll of the activation begins and when it ends: odd while its code is on a thread. Whoever sees the
    /// same number twice has seen it stuck or unscheduled.
    polls: AtomicU32,
    /// The number of the variant of the message that runs or ran last; 0 for the factory and the hooks.
    handler: AtomicU16,
    state: StateCell,
    flags: AtomicU8,
}

impl Deref for Core {
    type Target = Breed;

    #[inline]
    fn deref(&self) -> &Breed {
        &self.breed
    }
}

impl Core {
    /// An actor that is reserved; without a name, it has that of its identity.
    pub(crate) const fn new(id: ActorId, breed: Arc<Breed>, name: EcoString) -> Self {
        Self {
            id,
            breed,
            name,
            rare: OnceBox::new(),
            pace: Pace::new(),
            handled: Count::new(),
            polls: AtomicU32::new(0),
            handler: AtomicU16::new(0),
            state: StateCell::new(ActorState::Starting),
            flags: AtomicU8::new(UNBORN),
        }
    }

    /// Its name, unless it has none but that of its identity.
    pub(super) fn own_name(&self) -> Option<&str> {
        Some(&*self.name).filter(|name| !name.is_empty())
    }

    /// Where it is in the tree, for somebody who keeps that himself.
    pub(crate) fn path(&self) -> ActorPath {
        let kept = self.rare.get().and_then(|rare| rare.path.get());
        kept.cloned().unwrap_or_else(|| self.make_path())
    }

    /// Where it is in the tree; kept from now on.
    pub(crate) fn kept_path(&self) -> &ActorPath {
        self.rare().path.get_or_init(|| self.make_path())
    }

    fn make_path(&self) -> ActorPath {
        self.home.child(if self.name.is_empty() {
            eco_format!("{RESERVED}{}", self.id.as_u64())
        } else {
            self.name.clone()
        })
    }

    /// The table of its children.
    pub(crate) fn family(&self) -> &Family {
        &self.rare().family
    }

    /// The table of its children, if it may have any.
    pub(crate) fn existing_family(&self) -> Option<&Family> {
        self.rare.get().map(|rare| &rare.family)
    }

    /// Its end, and who waits for it.
    pub(crate) fn end(&self) -> &End {
        &self.rare().end
    }

    /// Says whether it has ended for everybody else.
    pub(crate) fn is_over(&self) -> bool {
        self.rare.get().is_some_and(|rare| rare.end.is_over())
    }

    /// Says whether it has ended and those who watch have been told.
    pub(crate) fn is_told(&self) -> bool {
        self.rare.get().is_some_and(|rare| rare.end.is_told())
    }

    fn rare(&self) -> &Rare {
        self.rare.get_or_init(Box::default)
    }

    pub(crate) fn state(&self) -> ActorState {
        self.state.get()
    }

    #[inline]
    pub(crate) fn set_state(&self, state: ActorState) {
        self.state.set(state);
    }

    /// Says whether it waits for its supervisor's decision on a failure.
    pub(crate) fn is_deciding(&self) -> bool {
        self.state() == ActorState::Deciding
    }

    pub(crate) fn handler(&self) -> Option<&'static str> {
        // Ordering: pairs with the store in `set_handler`. Whoever has read the name of a later run sees that the mark on the
        // state of an earlier one is gone.
        match self.handler.load(Ordering::Acquire) {
            UNNUMBERED => *self.rare().handler.lock(),
            number => self.system.names.name(NonZeroU16::new(number)?),
        }
    }

    /// Says what runs. Only the activation writes.
    pub(crate) fn set_handler(&self, name: Option<&'static str>) {
        let number = name.map_or(0, |name| match self.system.names.number(name) {
            Some(number) => number.get(),
            None => {
                *self.rare().handler.lock() = Some(name);
                UNNUMBERED
            }
        });
        // Ordering: pairs with the load in `handler`.
        self.handler.store(number, Ordering::Release);
    }

    pub(crate) fn restarts(&self) -> u32 {
        let rare = self.rare.get();
        rare.map_or(0, |rare| rare.restarts.load(Ordering::Relaxed))
    }

    /// The count of strong references of users; of an actor that is [`counted`](super::breed::Options::counted).
    pub(crate) fn references(&self) -> &AtomicU32 {
        &self.rare().references
    }

    /// The number of handled messages, but for those that have spilled into the counters of the system.
    pub(super) fn handled(&self) -> u64 {
        self.handled.get()
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        // Ordering: pairs with the store in `abandon`; user code of an abandoned actor is refused from then on.
        self.flags.load(Ordering::Acquire) & ABANDONED != 0
    }

    /// Gives the actor to the one caller who may give it an activation, or end it without; says whether this is the one.
    pub(crate) fn claim_birth(&self) -> bool {
        // Ordering: nothing is published by the flag; it only picks one caller.
        self.flags.fetch_and(!UNBORN, Ordering::Relaxed) & UNBORN != 0
    }

    pub(crate) fn is_unborn(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & UNBORN != 0
    }

    /// Counts one more handled message. Only the activation does.
    #[inline]
    pub(crate) fn count_handled(&self) {
        self.handled.add_one(&self.system.counters.handled);
    }

    /// Counts the begin or the end of a poll. Only the activation writes.
    #[inline]
    pub(crate) fn count_poll(&self) {
        // Ordering: Relaxed. Who compares two readings has been through the lock of the mailbox before each, and so has the
        // activation since any poll that could have gone by between them.
        self.polls.store(
            self.polls.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
    }

    /// Returns the number of the poll that is under way: while its code is on a thread.
    pub(crate) fn poll_under_way(&self) -> Option<u32> {
        // Ordering: Relaxed, as in `count_poll`; the mark on the state tells one run of a handler from another.
        let poll = self.polls.load(Ordering::Relaxed);
        (!poll.is_multiple_of(2)).then_some(poll)
    }

    /// Marks the run of a handler; see [`StateCell`].
    pub(crate) fn mark_handler(&self) -> Mark {
        self.state.mark()
    }

    /// Reports the run of a handler that is marked, unless it has been reported or is over.
    pub(crate) fn report_slow_handler(&self, running_for: Duration) {
        // Before the claim: a claim of this run says that no other had begun until then.
        let handler = self.handler();
        if let Some(variant) = handler
            && self.state.claim_report()
        {
            self.pace.report();
            self.event(|actor, id| LifecycleEvent::HandlerSlow {
                actor,
                id,
                variant,
                running_for,
            });
        }
    }

    /// Lets the system take over what the actor has counted. `busy` says whether a handler runs.
    fn retire(&self, accepted: u64, busy: bool) {
        let totals = &self.system.counters;
        if !self.is_abandoned() {
            return totals.retire(accepted, self.handled());
        }
        // Its activation may be in the midst of anything, and settles what it counts from here on.
        let mut account = self.rare().account.lock();
        let handled = self.handled();
        if matches!(*account, Account::Open) {
            add(&totals.failed, u64::from(busy));
            *account = Account::Taken {
                handled,
                failed: busy,
            };
        }
        totals.retire(accepted, handled);
    }

    /// Called by the activation, which counts no more: what it has counted since the actor was abandoned is taken over as well.
    pub(crate) fn settle(&self) {
        if !self.is_abandoned() {
            return;
        }
        let account = mem::replace(&mut *self.rare().account.lock(), Account::Closed);
        if let Account::Taken { handled, failed } = account {
            // The handler that ran has been counted as what it came to, unless it never came to an end.
            let has_ended = self.state() != ActorState::Stopped;
            let totals = &self.system.counters;
            // If it has spilled meanwhile, this is negative, and the sum is right all the same.
            totals.settle(self.handled().wrapping_sub(handled), failed && has_ended);
        }
    }

    /// Counts one more restart.
    pub(crate) fn count_restart(&self) {
        self.rare().restarts.fetch_add(1, Ordering::Relaxed);
    }

    /// Publishes and logs what happened to this actor.
    pub(crate) fn event(&self, make: impl FnOnce(ActorPath, ActorId) -> LifecycleEvent) {
        self.system
            .events
            .lifecycle(self.system.clock.now(), make(self.path(), self.id));
    }

    /// Publishes and logs what happens to every actor; not even made if nobody looks.
    pub(crate) fn detail(&self, make: impl FnOnce(ActorPath, ActorId) -> LifecycleEvent) {
        if self.system.events.tells_details() {
            self.event(make);
        }
    }

    /// Publishes and logs its end.
    fn tell_end(&self, reason: &StopReason) {
        let make = |actor, id| LifecycleEvent::Stopped {
            actor,
            id,
            reason: reason.clone(),
        };
        if is_quiet_end(reason) {
            self.detail(make);
        } else {
            self.event(make);
        }
    }

    /// Says whether the actor with this identity is the parent.
    pub(crate) fn is_child_of(&self, parent: ActorId) -> bool {
        self.parent
            .as_ref()
            .and_then(Weak::upgrade)
            .is_some_and(|own| own.core().id == parent)
    }

    pub(crate) fn terminated(&self, reason: StopReason) -> Terminated {
        Terminated::new(self.path(), self.id, reason)
    }

    /// The time at which a stop that begins now is cut.
    pub(crate) fn stop_deadline(&self) -> Option<Instant> {
        self.system
            .clock
            .now()
            .checked_add(self.options.stop_timeout)
    }
}

/// An actor of whatever type.
pub(crate) trait Member: Send + Sync + 'static {
    fn core(&self) -> &Core;

    /// Changes the control lane and wakes the activation to look at it. The closure runs under the lock of the mailbox.
    fn control(&self, change: &mut dyn FnMut(&mut Orders));

    /// Looks at the order to end, if there is one.
    fn ending(&self) -> Option<Ending>;

    /// Refuses messages from now on; wakes those who wait for room.
    fn close_door(&self);

    /// Turns out what is queued: asks fail, tells become dead letters.
    fn turn_out(&self);

    /// Takes the activation out of its mailbox for good and lets it go, so that it is dropped if nothing runs it.
    fn let_go(&self);

    /// Drops what children wait for, who will be stopped instead; with a failure, its asker is told.
    fn drop_childrens_signals(&self);

    /// Drops all that an activation would still have to hear of, and with it tells those who wait that nothing will come.
    fn drop_orders(&self);

    /// The number of messages that wait to be begun.
    fn depth(&self) -> usize;

    /// The number of messages ever accepted.
    fn accepted(&self) -> u64;

    /// Whether the activation is in a run queue or on a thread.
    fn is_active(&self) -> bool;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl fmt::Debug for dyn Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.core().path(), self.core().id)
    }
}

impl dyn Member {
    /// Gives the order to end, which acts from this moment: messages are refused, and the activation looks at it before
    /// its next message.
    pub(crate) fn order(&self, ending: &Ending) {
        // The door first: what a drain finds accepted is what it has to handle.
        self.close_door();
        self.control(&mut |orders| orders.end(ending));
        if self.core().claim_birth() {
            self.turn_out();
            self.finish(ending.reason.clone());
        }
    }

    /// Cuts what user code still runs, at its await; a drain becomes a stop with a deadline of its own. Returns the number
    /// of the poll that was under way or last.
    pub(super) fn cut(&self) -> u32 {
        let deadline = self.core().stop_deadline();
        self.control(&mut |orders| orders.run_out(deadline));
        self.core().polls.load(Ordering::Relaxed)
    }

    /// Cuts what user code of a recalled incarnation still runs. Returns the number of the poll, as [`cut`](Self::cut) does.
    pub(super) fn cut_recalled(&self) -> u32 {
        self.control(&mut |orders| {
            if let Some(recall) = &mut orders.recall {
                recall.cut = true;
            }
        });
        self.core().polls.load(Ordering::Relaxed)
    }

    /// Abandons the actor if its code has held a thread since `poll` began, or if no thread has come for it for long.
    pub(super) fn abandon_if_stuck(&self, poll: u32, waited_long: bool) {
        let core = self.core();
        let is_in_poll = !poll.is_multiple_of(2);
        let same = self.is_active() && core.polls.load(Ordering::Relaxed) == poll;
        if !same || !(is_in_poll || waited_long) || core.is_over() {
            return;
        }
        // Ordering: pairs with the load in `is_abandoned`.
        core.flags.fetch_or(ABANDONED, Ordering::Release);
        let reason = StopReason::Abandoned {
            handler: core.handler(),
        };
        // When its code returns it is to find that it is over, whatever it was told before.
        let end = Ending {
            kind: EndKind::Kill,
            reason: reason.clone(),
            deadline: None,
        };
        self.control(&mut |orders| orders.end(&end));
        if let Some(family) = core.existing_family() {
            family.close();
            let deadline = Some(core.system.clock.now());
            for child in family.members() {
                child.order(&Ending {
                    kind: EndKind::Kill,
                    reason: StopReason::ParentStopped,
                    deadline,
                });
                core.system
                    .run(child.core().id, see_to_the_end(child))
                    .detach();
            }
        }
        self.finish(reason);
        self.turn_out();
    }

    /// Ends the actor for everybody else, once: name free, then watchers, waiters and parent told.
    ///
    /// Says whether this call was the one.
    pub(crate) fn finish(&self, reason: StopReason) -> bool {
        let core = self.core();
        // Ordering: an activation that comes second is to see that the actor was abandoned.
        if core.flags.fetch_or(FINISHING, Ordering::AcqRel) & FINISHING != 0 {
            return false;
        }
        self.close_door();
        let was = core.state.replace(ActorState::Stopped);
        let system = &core.system;
        let parent = core.parent.as_ref().and_then(Weak::upgrade);
        let family = match (&core.parent, &parent) {
            (None, _) => Some(&system.family),
            (Some(_), Some(parent)) => Some(parent.core().family()),
            (Some(_), None) => None,
        };
        core.retire(self.accepted(), was == ActorState::Busy);
        if let Some(family) = family {
            family.remove(core);
        }
        system.tally(|| core.path(), &reason);
        core.tell_end(&reason);
        core.end().finish(&core.terminated(reason));
        self.drop_orders();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_an_idle_actor_is_small() {
        let size = size_of::<Core>();
        assert!(
            size <= 56,
            "{size} bytes: what few actors use is to be made when they do, and what siblings share kept once"
        );
    }
}
