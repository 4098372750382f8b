//! [`Cell`]: the mailbox of an actor, with all that is known of it. References point here.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::panic::RefUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Wake, Waker};

use tokio::time::Instant;

use crate::dispatch::turn::{self, Identity};
use crate::dispatch::{self, Activation, Runnable, Schedule};
use crate::error::{AskFailure, Phase};
use crate::event::{DeadLetter, DeadLetterReason, LifecycleEvent};
use crate::mailbox::{
    Admission, Burst, Entry, MailboxCell, Overflow, Push, Refusal, Rest, Side, Wait,
};
use crate::panic;
use crate::path::{ActorId, ActorPath};
use crate::supervision::{Failure, StopReason};
use crate::system::Terminated;
use crate::system::counters::add;
use crate::system::deadlines::earlier;
use crate::system::member::{Core, Member};
use crate::system::orders::{Control, Decision, Ending, Orders, Question, Signal, Word};

use super::Message;

/// The variant of a message that panics when it is asked.
pub(super) const UNNAMED: &str = "a message that cannot name itself";

/// An entry of the queue that is no plain message.
#[derive(Debug)]
pub(crate) enum Notice<M> {
    /// A watched actor ended. The stamp is that of the watch.
    Terminated { stamp: u64, end: Terminated },
    /// A message for one incarnation only: the result of a piped future, a reply.
    Stamped { incarnation: u32, message: M },
}

impl<M> Notice<M> {
    pub(super) fn into_message(self) -> Option<M> {
        match self {
            Self::Stamped { message, .. } => Some(message),
            Self::Terminated { .. } => None,
        }
    }
}

impl<M> crate::mailbox::Notice for Notice<M> {
    fn brings_message(&self) -> bool {
        matches!(self, Self::Stamped { .. })
    }
}

pub(crate) type Queued<M> = Entry<M, Notice<M>>;
pub(super) type Taken<M> = Burst<M, Notice<M>>;

/// An actor, as far as those outside of its activation can reach.
///
/// In this order: what pushers write, what hardly anybody writes, what the activation writes. See [`Side`].
#[repr(C)]
pub(crate) struct Cell<M> {
    pub(super) mail: MailboxCell<M, Notice<M>, Control, Pin<Box<dyn Activation>>>,
    pub(crate) core: Core,
    pub(super) side: Side,
}

/// No user code runs under its locks, so a panic that somebody catches has left nothing half done.
impl<M> RefUnwindSafe for Cell<M> {}

impl<M: Message> Cell<M> {
    pub(super) fn new(core: Core) -> Self {
        let mail = MailboxCell::new(&core.options.mailbox);
        Self {
            mail,
            core,
            side: Side::new(),
        }
    }

    /// Queues a message, and makes the actor runnable if it was idle; what was refused comes back.
    #[inline]
    pub(super) fn offer(&self, message: M, admission: Admission) -> Result<(), (M, Refusal)> {
        let idle = self.offer_quietly(message, admission)?;
        schedule_parked(idle);
        Ok(())
    }

    /// Queues a message; gives the activation if it was idle, to be run. What was refused comes back.
    #[inline]
    pub(super) fn offer_quietly(
        &self,
        message: M,
        admission: Admission,
    ) -> Result<Option<Runnable>, (M, Refusal)> {
        match self.mail.push(&self.side, message, admission) {
            Push::Accepted(idle) => Ok(idle.map(Runnable::new)),
            Push::Strained {
                idle,
                evicted,
                deep,
            } => {
                self.after_push(evicted, deep);
                Ok(idle.map(Runnable::new))
            }
            Push::Refused(message, refusal) => Err((message, refusal)),
        }
    }

    #[cold]
    fn after_push(&self, evicted: Option<M>, deep: Option<usize>) {
        if let Some(depth) = deep {
            self.core
                .event(|actor, id| LifecycleEvent::MailboxDeep { actor, id, depth });
        }
        if let Some(message) = evicted {
            add(&self.core.system.counters.dead, 1);
            self.turn_away(
                message,
                DeadLetterReason::DroppedOldest,
                &AskFailure::MailboxFull,
                None,
            );
        }
    }

    /// Queues the message that `make` makes, or makes it a dead letter. See [`MailboxCell::push_made`] for what `make` may do.
    // Inlined always, and so is what it calls on the way: it is the message's only move.
    #[inline(always)]
    pub(super) fn tell(&self, make: impl FnOnce() -> M) {
        match self.mail.push_made(&self.side, make) {
            Push::Accepted(None) => {}
            Push::Accepted(Some(idle)) => dispatch::schedule(Runnable::new(idle)),
            Push::Strained {
                idle,
                evicted,
                deep,
            } => self.accept_strained(idle, evicted, deep),
            Push::Refused(message, refusal) => self.refuse(message, refusal),
        }
    }

    #[cold]
    fn accept_strained(
        &self,
        idle: Option<Pin<Box<dyn Activation>>>,
        evicted: Option<M>,
        deep: Option<usize>,
    ) {
        self.after_push(evicted, deep);
        schedule_parked(idle.map(Runnable::new));
    }

    /// What becomes of a message that was refused at a tell.
    #[cold]
    fn refuse(&self, message: M, refusal: Refusal) {
        let (reason, failure) = match refusal {
            Refusal::Closed => (
                DeadLetterReason::Stopped,
                AskFailure::Stopped(Phase::Queued),
            ),
            Refusal::Full(Overflow::DropNewest) => {
                (DeadLetterReason::DroppedNewest, AskFailure::MailboxFull)
            }
            Refusal::Full(_) => (DeadLetterReason::MailboxFull, AskFailure::MailboxFull),
        };
        add(&self.core.system.counters.refused, 1);
        let sender = turn::running_actor().map(|actor| actor.path().clone());
        self.turn_away(message, reason, &failure, sender);
    }

    /// Tells the asker of a message that nobody will handle, or publishes it as a dead letter; and drops it.
    fn turn_away(
        &self,
        message: M,
        reason: DeadLetterReason,
        failure: &AskFailure,
        sender: Option<ActorPath>,
    ) {
        // What a message says of itself may be user code.
        let letter = panic::catch(|| match message.way_back() {
            Some(way) => {
                way.refuse(failure.clone());
                None
            }
            None => Some(message.variant()),
        });
        if let Some(variant) = letter.unwrap_or(Some(UNNAMED)) {
            self.core.system.events.dead_letter(
                self.core.system.clock.now(),
                DeadLetter {
                    recipient: self.core.path(),
                    recipient_id: self.core.id,
                    message_type: (self.core.kind.message)(),
                    variant,
                    reason,
                    sender,
                },
            );
        }
        self.discard(message);
    }

    /// Drops a value of the user's, whose destructor may panic.
    pub(super) fn discard<T>(&self, value: T) {
        if let Some(text) = panic::drop_quietly(value) {
            self.core
                .event(|actor, id| LifecycleEvent::DestructorPanicked {
                    actor,
                    id,
                    text: text.to_string(),
                });
        }
    }

    pub(super) fn poll_room(&self, ticket: &mut Option<u64>, waker: &Waker) -> Wait {
        self.mail.poll_room(ticket, waker)
    }

    pub(super) fn leave_room(&self, ticket: u64) {
        self.mail.leave_room(ticket);
    }

    /// Queues a notice; gives it back when the mailbox is closed.
    pub(super) fn notify(&self, notice: Box<Notice<M>>) -> Result<(), Box<Notice<M>>> {
        let idle = self.mail.notify(notice)?;
        schedule_parked(idle.map(Runnable::new));
        Ok(())
    }

    /// Turns out all entries: asks fail, tells become dead letters. Each was accepted, so each is counted as dead.
    pub(super) fn turn_out_all(&self, entries: VecDeque<Queued<M>>) {
        let reason = if self.core.system.is_gone() {
            DeadLetterReason::SystemGone
        } else {
            DeadLetterReason::Stopped
        };
        for entry in entries {
            let message = match entry {
                Entry::Message(message) => message,
                Entry::Notice(notice) => match notice.into_message() {
                    Some(message) => message,
                    None => continue,
                },
            };
            add(&self.core.system.counters.dead, 1);
            self.turn_away(message, reason, &AskFailure::Stopped(Phase::Queued), None);
        }
    }

    /// Fails the queued asks of `asker`, which waits for them in a handler that this actor waits for.
    pub(super) fn refuse_asks_of(&self, asker: ActorId, failure: &AskFailure) {
        let (asks, granted) = self.mail.extract(|message| {
            let way_back = panic::catch(|| message.way_back());
            way_back.is_ok_and(|way| way.is_some_and(|way| way.asking_actor() == Some(asker)))
        });
        granted.into_iter().for_each(panic::wake);
        for message in asks {
            add(&self.core.system.counters.cancelled, 1);
            self.turn_away(message, DeadLetterReason::Stopped, failure, None);
        }
    }

    /// Says something of one incarnation, to be heard when its handler has returned.
    pub(super) fn say(&self, incarnation: u32, word: Word) {
        let mut signal = Some(Signal::Own { incarnation, word });
        self.control(&mut |orders| orders.signals.extend(signal.take()));
    }

    /// Makes one incarnation fail, when its handler has returned.
    pub(super) fn fail_incarnation(&self, incarnation: u32, failure: Failure) {
        self.say(incarnation, Word::Failed(failure));
    }

    /// Begins to wait for the word of the parent.
    pub(super) fn set_question(&self, question: &Arc<Question>) {
        let question = Arc::clone(question);
        self.mail
            .amend(|control| control.get_or_insert_default().question = Some(question));
    }

    /// Says whether it waits for the word of the parent.
    pub(super) fn has_question(&self) -> bool {
        self.mail
            .peek(|control| control.as_ref()?.question.as_ref().map(|_| ()))
            .is_some()
    }

    /// Waits for no word any more; one that has come after all is dropped, and its asker told.
    pub(super) fn drop_question(&self) {
        let late = self.mail.amend(|control| {
            let orders = control.as_mut()?;
            orders.question = None;
            let late = orders.decision.take();
            control.take_if(|orders| orders.is_empty());
            late
        });
        self.discard(late);
    }

    /// Takes the word of the parent, if it has come, or says that none will; not of a parent that `has_begun` to decide.
    pub(super) fn take_decision(&self, has_begun: bool) -> Option<Decision> {
        self.mail.amend(|control| {
            let orders = control.as_mut()?;
            let none = (orders.parent_waits && !has_begun).then_some(Decision {
                directive: None,
                failure: None,
            });
            orders.decision.take().or(none)
        })
    }

    /// Says that the incarnation is gone, if somebody wants to know; and then, whether the next one may start.
    pub(super) fn take_go(&self) -> bool {
        let (recall, go) = self.mail.amend(|control| {
            let Some(orders) = control else {
                return (None, false);
            };
            let go = orders.go.take();
            let may_start = go.is_some();
            orders.starting = go.or(orders.starting.take());
            (orders.recall.take(), may_start)
        });
        if let Some(recall) = recall {
            // Whoever recalled it may have gone with the runtime.
            let _ = recall.down.send(());
        }
        go
    }

    /// Why the incarnation is recalled.
    pub(super) fn recalled_for(&self) -> Option<Failure> {
        let failed = self
            .mail
            .peek(|control| Some(control.as_ref()?.recall.as_ref()?.cause.clone()))?;
        Some(if failed.id == self.core.id {
            Failure::of_report(&failed.report)
        } else {
            Failure::of_sibling(&failed.path, &failed.report)
        })
    }

    /// By when user code has to end that a stop or a recall waits for.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.mail.peek(|control| {
            let orders = control.as_ref()?;
            let ending = orders.ending.as_ref().and_then(|ending| ending.deadline);
            let recall = orders.recall.as_ref().and_then(|recall| recall.deadline);
            earlier(ending, recall)
        })
    }

    /// Tells those who wait for a start that it has succeeded.
    pub(super) fn tell_started(&self) {
        let waiting = self.mail.amend(|control| {
            let orders = control.as_mut()?;
            let waiting = [orders.starting.take(), orders.awaited.take()];
            // An actor that was waited for is as small as another.
            control.take_if(|orders| orders.is_empty());
            Some(waiting)
        });
        for waiting in waiting.into_iter().flatten().flatten() {
            // Its waker may be a user's code; and whoever waited may wait no more.
            let _ = panic::catch(|| waiting.send(()));
        }
    }

    /// Tells whoever restarts it with its siblings that its start has failed.
    pub(super) fn tell_not_started(&self) {
        let starting = self.mail.amend(|control| control.as_mut()?.starting.take());
        drop(starting);
    }
}

impl<M: Message> Member for Cell<M> {
    fn core(&self) -> &Core {
        &self.core
    }

    fn control(&self, change: &mut dyn FnMut(&mut Orders)) {
        let parked = self.mail.control(&self.side, |control| {
            change(control.get_or_insert_default());
        });
        schedule_parked(parked.map(Runnable::new));
        if self.core.is_over() {
            self.drop_orders();
        }
    }

    fn ending(&self) -> Option<Ending> {
        self.mail
            .peek(|control| control.as_ref().and_then(|orders| orders.ending.clone()))
    }

    fn close_door(&self) {
        self.mail.close().into_iter().for_each(panic::wake);
    }

    fn turn_out(&self) {
        self.turn_out_all(self.mail.turn_out());
    }

    fn let_go(&self) {
        self.close_door();
        // Closed workers drop it.
        schedule_parked(self.mail.end().map(Runnable::new));
        if self.core.claim_birth() {
            self.turn_out();
            let member: &dyn Member = self;
            member.finish(StopReason::SystemGone);
        }
    }

    fn drop_childrens_signals(&self) {
        let signals: VecDeque<_> = self.mail.amend(|control| {
            let Some(orders) = control else {
                return VecDeque::new();
            };
            let all = mem::take(&mut orders.signals).into_iter();
            let (own, dropped) = all.partition(|signal| matches!(signal, Signal::Own { .. }));
            orders.signals = own;
            dropped
        });
        for signal in signals {
            self.discard(signal);
        }
    }

    fn drop_orders(&self) {
        let orders = self.mail.amend(|control| {
            let orders = control.as_mut()?;
            let rest = Orders {
                ending: orders.ending.clone(),
                cut: orders.cut,
                ..Orders::default()
            };
            Some(mem::replace(&mut **orders, rest))
        });
        if let Some(orders) = orders {
            self.discard(orders);
        }
    }

    fn depth(&self) -> usize {
        self.mail.depth(&self.side)
    }

    fn accepted(&self) -> u64 {
        self.mail.accepted()
    }

    fn is_active(&self) -> bool {
        self.mail.is_active()
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Makes an activation runnable, if there was one to take out of the mailbox.
#[inline]
fn schedule_parked(runnable: Option<Runnable>) {
    if let Some(runnable) = runnable {
        dispatch::schedule(runnable);
    }
}

/// What user code of the actor waits for is there.
impl<M: Message> Wake for Cell<M> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        schedule_parked(self.mail.wake().map(Runnable::new));
    }
}

impl<M: Message> Identity for Cell<M> {
    fn id(&self) -> ActorId {
        self.core.id
    }

    fn path(&self) -> &ActorPath {
        self.core.kept_path()
    }

    fn count_poll(&self) {
        self.core.count_poll();
    }

    fn seam(&self) -> &Arc<dyn Schedule> {
        &self.core.system.scheduler
    }

    #[inline]
    fn settle(&self, activation: Pin<Box<dyn Activation>>) -> Option<Pin<Box<dyn Activation>>> {
        match self.mail.rest(&self.side, activation) {
            Rest::Parked => None,
            Rest::GoesOn(activation) => Some(activation),
            Rest::Again(activation) => {
                dispatch::schedule(Runnable::new(activation));
                None
            }
        }
    }

    fn system(&self) -> *const () {
        Arc::as_ptr(&self.core.system).cast()
    }
}

impl<M> fmt::Debug for Cell<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.core.path(), self.core.id)
    }
}
