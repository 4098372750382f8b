//! An actor as its system and its family see it: without its type.
//!
//! [`Core`] is all that is known of an actor but its messages; [`Member`] adds the few things that need the mailbox. How an
//! actor is told to end is written here once, for references, parents and shutdown alike; who sees to it that it does, in
//! `enforce.rs`.

use std::any::{Any, TypeId};
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::event::LifecycleEvent;
use crate::mailbox::Mailbox;
use crate::path::{ActorId, ActorPath};
use crate::supervision::{RestartType, StopReason, Supervision};
use crate::sync::Mutex;

use super::SystemCore;
use super::counters::add;
use super::end::{End, Terminated};
use super::enforce::see_to_the_end;
use super::family::Family;
use super::orders::{EndKind, Ending, Orders};
use super::pace::Pace;
use super::state::{ActorState, Mark, StateCell};

/// The type behind an actor. It lives in a constant, so that a cell holds one pointer.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) type_id: fn() -> TypeId,
    pub(crate) name: fn() -> &'static str,
    pub(crate) message: fn() -> &'static str,
    /// Whether it decides itself about failures of its children.
    pub(crate) decides: bool,
}

/// The options of one actor; shared by all that were spawned with the same.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) mailbox: Mailbox,
    pub(crate) throughput: u32,
    pub(crate) stop_timeout: Duration,
    /// How long a handler may take before it is reported.
    pub(crate) slow_handler: Duration,
    /// How this actor's failures are judged, if not as its parent does for all its children.
    pub(crate) supervision: Option<Supervision>,
    pub(crate) restart_type: RestartType,
    /// Whether it drains when nobody outside refers to it any more.
    pub(crate) counted: bool,
}

/// What most actors need only at their end; made when it is first needed.
#[derive(Default)]
struct Rare {
    family: Family,
    end: End,
    account: Mutex<Account>,
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

/// What is known of an actor without its message type.
pub(crate) struct Core {
    pub(crate) id: ActorId,
    pub(crate) path: ActorPath,
    pub(crate) system: Arc<SystemCore>,
    /// `None` for a top-level actor. Weak, so that no chain of parents hangs on one reference; a parent outlives its
    /// children by its own activation.
    pub(crate) parent: Option<Weak<dyn Member>>,
    pub(crate) kind: &'static Kind,
    pub(crate) options: Arc<Options>,
    rare: OnceLock<Box<Rare>>,
    /// The variant of the message that runs or ran last; `None` for the factory and the hooks.
    handler: Mutex<Option<&'static str>>,
    /// Counts strong references of users, when [`Options::counted`].
    pub(crate) references: AtomicU32,
    /// Grows when a poll of the activation begins and when it ends: odd while its code is on a thread. Whoever sees the
    /// same number twice has seen it stuck or unscheduled.
    polls: AtomicU32,
    /// How long its handlers take.
    pub(crate) pace: Pace,
    restarts: AtomicU32,
    handled: AtomicU64,
    state: StateCell,
    finishing: AtomicBool,
    /// Whether this actor was abandoned while its code held a thread.
    abandoned: AtomicBool,
    /// Whether it is reserved only: it has a name and no activation.
    unborn: AtomicBool,
}

impl Core {
    pub(crate) fn new(
        id: ActorId,
        system: Arc<SystemCore>,
        parent: Option<Weak<dyn Member>>,
        path: ActorPath,
        kind: &'static Kind,
        options: Arc<Options>,
    ) -> Self {
        Self {
            id,
            path,
            system,
            parent,
            kind,
            options,
            rare: OnceLock::new(),
            handler: Mutex::new(None),
            references: AtomicU32::new(0),
            polls: AtomicU32::new(0),
            pace: Pace::new(),
            restarts: AtomicU32::new(0),
            handled: AtomicU64::new(0),
            state: StateCell::new(ActorState::Starting),
            finishing: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            unborn: AtomicBool::new(true),
        }
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

    pub(crate) fn set_state(&self, state: ActorState) {
        self.state.set(state);
    }

    /// Says whether it waits for its supervisor's decision on a failure.
    pub(crate) fn is_deciding(&self) -> bool {
        self.state() == ActorState::Deciding
    }

    pub(crate) fn handler(&self) -> Option<&'static str> {
        *self.handler.lock()
    }

    pub(crate) fn set_handler(&self, name: Option<&'static str>) {
        *self.handler.lock() = name;
    }

    pub(crate) fn restarts(&self) -> u32 {
        self.restarts.load(Ordering::Relaxed)
    }

    pub(crate) fn handled(&self) -> u64 {
        self.handled.load(Ordering::Relaxed)
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        // Ordering: pairs with the store in `abandon`; user code of an abandoned actor is refused from then on.
        self.abandoned.load(Ordering::Acquire)
    }

    /// Gives the actor to the one caller who may give it an activation, or end it without; says whether this is the one.
    pub(crate) fn claim_birth(&self) -> bool {
        // Ordering: nothing is published by the flag; it only picks one caller.
        self.unborn.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn is_unborn(&self) -> bool {
        self.unborn.load(Ordering::Relaxed)
    }

    /// Counts one more handled message. Only the activation writes, so this is a load and a store.
    pub(crate) fn count_handled(&self) {
        self.handled.store(self.handled() + 1, Ordering::Relaxed);
    }

    /// Counts the begin or the end of a poll. Only the activation writes.
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

    /// Counts one more restart. Only the activation writes.
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
            totals.settle(self.handled() - handled, failed && has_ended);
        }
    }

    pub(crate) fn count_restart(&self) {
        self.restarts.store(self.restarts() + 1, Ordering::Relaxed);
    }

    /// Publishes and logs what happened to this actor.
    pub(crate) fn event(&self, make: impl FnOnce(ActorPath, ActorId) -> LifecycleEvent) {
        self.system
            .events
            .lifecycle(self.system.clock.now(), make(self.path.clone(), self.id));
    }

    /// Says whether the actor with this identity is the parent.
    pub(crate) fn is_child_of(&self, parent: ActorId) -> bool {
        self.parent
            .as_ref()
            .and_then(Weak::upgrade)
            .is_some_and(|own| own.core().id == parent)
    }

    pub(crate) fn terminated(&self, reason: StopReason) -> Terminated {
        Terminated::new(self.path.clone(), self.id, reason)
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

    /// Takes the parked waker for good and lets it go, so that the activation is dropped if nothing runs it.
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
        write!(f, "{} {}", self.core().path, self.core().id)
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
        core.abandoned.store(true, Ordering::Release);
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
        if core.finishing.swap(true, Ordering::AcqRel) {
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
        system.tally(&core.path, &reason);
        core.event(|actor, id| LifecycleEvent::Stopped {
            actor,
            id,
            reason: reason.clone(),
        });
        core.end().finish(&core.terminated(reason));
        self.drop_orders();
        true
    }
}
