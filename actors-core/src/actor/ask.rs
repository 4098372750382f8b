//! [`Ask`]: waiting for the reply of an actor.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::dispatch::{self, turn};
use crate::error::{AskError, AskFailure, CyclePath, Phase};
use crate::mailbox::{Admission, Refusal, Wait};
use crate::path::ActorId;
use crate::system::deadlines::{Alarm, Watch, earlier};
use crate::system::{ActorState, SystemCore};

use super::call::ReplyKind;
use super::in_passing::InPassing;
use super::reference::ActorRef;
use super::reply::ReplyTo;
use super::slot::Slot;
use super::{Actor, Message};

/// Waits for the reply of an actor; made by [`Call::ask`](crate::Call::ask).
///
/// Nothing is sent, and no time runs, until it is first polled, on whatever executor.
///
/// # Cancel safety
///
/// Dropped before the handler began, it never runs; dropped later, the reply is discarded.
#[must_use = "an ask is sent when it is first polled: await it"]
pub struct Ask<A: Actor, K: ReplyKind> {
    to: ActorRef<A>,
    /// Until there is an answer, or none is waited for any more.
    slot: Option<Arc<Slot<K::Raw>>>,
    stage: Stage<A::Msg>,
    /// The caller's own limit, if it has set one.
    timeout: Option<Duration>,
    wait_for_room: bool,
    ticket: Option<u64>,
    /// By when the answer must be there.
    deadline: Option<Instant>,
    /// Set to that when there is something to wait for.
    alarm: Alarm,
    edge: Option<Box<Edge>>,
}

enum Stage<M> {
    Unsent(M),
    /// It waits for room; the clock runs.
    Waiting(M),
    /// It is sent, or has ended before that.
    Sent,
}

/// What a poll of it gives.
type Answer<K> = Poll<Result<<K as ReplyKind>::Ok, AskError<<K as ReplyKind>::Err>>>;

/// Nothing in it is pinned: it holds the message by value, and pins none of its parts.
impl<A: Actor, K: ReplyKind> Unpin for Ask<A, K> {}

impl<A: Actor, K: ReplyKind> Ask<A, K> {
    pub(super) fn new(to: ActorRef<A>, make: impl FnOnce(ReplyTo<K::Raw>) -> A::Msg) -> Self {
        let slot = Arc::new(Slot::new(to.core().system.clock.made()));
        let message = make(ReplyTo::asker(Arc::clone(&slot)));
        Self {
            to,
            slot: Some(slot),
            stage: Stage::Unsent(message),
            timeout: None,
            wait_for_room: false,
            ticket: None,
            deadline: None,
            alarm: Alarm::default(),
            edge: None,
        }
    }

    /// Waits at most this long, in place of the system's default, counted from the first poll. With 0 nothing is sent;
    /// `Duration::MAX` is no limit.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Waits for room when the mailbox is bounded and full, within the same time, in place of
    /// [`AskError::MailboxFull`].
    pub fn wait_for_room(mut self) -> Self {
        self.wait_for_room = true;
        self
    }

    /// Asks, and blocks this thread until there is an answer: for plain threads, and those of
    /// [`spawn_blocking`](tokio::task::spawn_blocking).
    ///
    /// # Errors
    ///
    /// As [`Call::ask`](crate::Call::ask).
    ///
    /// # Panics
    ///
    /// When called in async code, where blocking the thread could keep the answer from ever coming: await the ask instead.
    #[track_caller]
    pub fn blocking(self) -> Result<K::Ok, AskError<K::Err>> {
        assert!(turn::running_actor().is_none(), "{BLOCKING}");
        let Ok(handle) = Handle::try_current() else {
            return self.to.system().block_on(self);
        };
        let can_block = crate::panic::catch(|| handle.block_on(async {})).is_ok();
        assert!(can_block, "{BLOCKING}");
        handle.block_on(self)
    }

    /// Sends the message, and takes the answer if that is enough. The clock starts here.
    #[inline]
    fn begin(&mut self, message: A::Msg, cx: &mut Context<'_>) -> Answer<K> {
        let now = self.to.core().system.clock.now();
        if let Err(error) = self.prepare(now) {
            self.to.cell().discard(message);
            return Poll::Ready(Err(error));
        }
        if self.wait_for_room {
            return self.send_into_room(message, Some(now), cx);
        }
        self.send_and_look(message, Admission::Tell, Some(now), cx)
    }

    /// Finds out by when the answer must be there, and whether it could ever come.
    #[inline]
    fn prepare(&mut self, now: Instant) -> Result<(), AskError<K::Err>> {
        let timeout = self.timeout.unwrap_or_else(|| self.default_timeout());
        self.deadline = now.checked_add(timeout);
        let in_turn = turn::is_running();
        if in_turn {
            self.deadline = earlier(self.deadline, turn::deadline());
        }
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            return Err(AskError::Timeout {
                phase: Phase::Queued,
            });
        }
        let asking = if in_turn { self.ask_in_turn()? } else { None };
        if let Some(slot) = &self.slot {
            slot.prepare(self.deadline, asking);
        }
        Ok(())
    }

    fn default_timeout(&self) -> Duration {
        self.to.core().system.settings.ask_timeout
    }

    /// Finds out whether an answer could ever come to the actor whose turn it is. Gives that actor, if it is of the same system.
    fn ask_in_turn(&mut self) -> Result<Option<ActorId>, AskError<K::Err>> {
        let core = self.to.core();
        let Some(asking) = core.system.running_actor() else {
            return Ok(None);
        };
        let from = asking.id();
        if from == core.id {
            return Err(AskError::Cycle(CyclePath::new(vec![core.path()])));
        }
        if core.system.settings.detect_cycles {
            let key = core.system.waits.add((from, asking.path()), core.id);
            self.edge = Some(Box::new(Edge {
                system: Arc::clone(&core.system),
                from,
                key: key.map_err(AskError::Cycle)?,
            }));
        }
        Ok(Some(from))
    }

    /// Sends the message if there is room, and waits for room otherwise.
    fn send_into_room(
        &mut self,
        message: A::Msg,
        now: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Answer<K> {
        let cell = self.to.cell();
        match cell.poll_room(&mut self.ticket, cx.waker()) {
            Wait::Pending => {
                self.stage = Stage::Waiting(message);
                return self.watch_deadline(cx.waker());
            }
            Wait::Closed => {
                cell.discard(message);
                return Poll::Ready(Err(AskError::Stopped {
                    phase: Phase::Queued,
                }));
            }
            Wait::Granted => {}
        }
        let admission = self
            .ticket
            .take()
            .map_or(Admission::Try, Admission::Granted);
        self.send_and_look(message, admission, now, cx)
    }

    #[inline]
    fn send_and_look(
        &mut self,
        message: A::Msg,
        admission: Admission,
        now: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Answer<K> {
        let gives_way = self.send(message, admission, now, cx)?;
        if gives_way && self.slot.as_ref().is_some_and(|slot| slot.is_answered()) {
            return Poll::Pending;
        }
        self.look(cx.waker())
    }

    /// Sends the message. At the first try `now` is the time. Says whether the asker must let others run now, for which it will
    /// be woken.
    fn send(
        &self,
        message: A::Msg,
        admission: Admission,
        now: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Result<bool, AskError<K::Err>> {
        let cell = self.to.cell();
        let quick = now.and_then(|now| Some((InPassing::of(cell, &message)?, now)));
        let gives_way = match cell.offer_quietly(message, admission) {
            Ok(None) => false,
            Ok(Some(idle)) => match quick {
                Some((quick, now)) => quick.run(&cell.core, idle, now, cx),
                None => {
                    dispatch::schedule(idle);
                    false
                }
            },
            Err((message, refusal)) => {
                cell.discard(message);
                return Err(match refusal {
                    Refusal::Full(_) => AskError::MailboxFull,
                    Refusal::Closed => AskError::Stopped {
                        phase: Phase::Queued,
                    },
                });
            }
        };
        if turn::is_running() {
            self.check_decision()?;
        }
        Ok(gives_way)
    }

    /// An actor that waits for the decision of its parent cannot answer that parent, in whatever build: its own ask would
    /// keep it from deciding.
    fn check_decision(&self) -> Result<(), AskError<K::Err>> {
        let core = self.to.core();
        if core.state() != ActorState::Deciding || !self.to.cell().has_question() {
            return Ok(());
        }
        match core.system.running_actor() {
            Some(parent) if core.is_child_of(parent.id()) => {
                Err(AskError::Cycle(CyclePath::new(vec![
                    parent.path().clone(),
                    core.path(),
                ])))
            }
            _ => Ok(()),
        }
    }

    fn settle(answer: Result<K::Raw, AskFailure>) -> Result<K::Ok, AskError<K::Err>> {
        match answer {
            Ok(raw) => K::settle(raw).map_err(AskError::Handler),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Waits no longer: takes the answer if it has just come, or leaves.
    fn give_up(&mut self, error: fn(Phase) -> AskError<K::Err>) -> Result<K::Ok, AskError<K::Err>> {
        let Some(slot) = self.slot.take() else {
            unreachable!("an ask that has its answer waits for none");
        };
        match slot.leave(&self.to.core().system) {
            Ok(answer) => Self::settle(answer),
            Err(phase) => Err(error(phase)),
        }
    }

    /// Takes the answer, or waits for it.
    #[inline]
    fn look(&mut self, waker: &Waker) -> Answer<K> {
        match Slot::poll(&mut self.slot, waker) {
            Poll::Ready(answer) => Poll::Ready(Self::settle(answer)),
            Poll::Pending => self.watch_deadline(waker),
        }
    }

    fn watch_deadline(&mut self, waker: &Waker) -> Answer<K> {
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        let deadlines = &self.to.core().system.deadlines;
        let watch = if self.alarm.is_set() {
            self.alarm.poll(deadlines, deadline, waker)
        } else {
            // The first poll: it has just looked at the clock.
            self.alarm.set(deadlines, deadline, waker)
        };
        match watch {
            Watch::Pending => Poll::Pending,
            Watch::Due => Poll::Ready(self.give_up(|phase| AskError::Timeout { phase })),
            // Its system is gone, and the time with it, but somebody may keep the way back for ever.
            Watch::Lost => Poll::Ready(self.give_up(|phase| AskError::Stopped { phase })),
        }
    }
}

const BLOCKING: &str = "`blocking()` was called in async code, where it would hold the thread that is to bring the answer: \
                        await the ask instead, or move the call into `tokio::task::spawn_blocking`";

impl<A: Actor, K: ReplyKind> Future for Ask<A, K> {
    type Output = Result<K::Ok, AskError<K::Err>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let answer = match mem::replace(&mut this.stage, Stage::Sent) {
            Stage::Unsent(message) => this.begin(message, cx),
            Stage::Waiting(message) => this.send_into_room(message, None, cx),
            Stage::Sent => this.look(cx.waker()),
        };
        if answer.is_ready() {
            this.end();
        }
        answer
    }
}

impl<A: Actor, K: ReplyKind> Ask<A, K> {
    /// Holds up nobody from here on, however long it is kept.
    #[inline]
    fn end(&mut self) {
        if self.wait_for_room {
            self.leave_line();
        }
        if self.edge.is_some() {
            self.edge = None;
        }
        if self.alarm.is_set() {
            self.cancel_alarm();
        }
        // Who has the answer has left already.
        if self.slot.is_some() {
            self.leave();
        }
    }

    /// Waits for room no longer.
    fn leave_line(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.to.cell().leave_room(ticket);
        }
        if let Stage::Waiting(message) = mem::replace(&mut self.stage, Stage::Sent) {
            self.to.cell().discard(message);
        }
    }

    /// Is woken at its deadline no longer.
    fn cancel_alarm(&mut self) {
        if let Some(deadline) = self.deadline {
            let deadlines = &self.to.core().system.deadlines;
            self.alarm.cancel(deadlines, deadline);
        }
    }

    /// Wants no answer any more.
    fn leave(&mut self) {
        if let Some(slot) = self.slot.take() {
            let _ = slot.leave(&self.to.core().system);
        }
    }
}

impl<A: Actor, K: ReplyKind> Drop for Ask<A, K> {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

impl<A: Actor, K: ReplyKind> fmt::Debug for Ask<A, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Unsent(message) => message.variant(),
            Stage::Waiting(_) => "waiting for room",
            Stage::Sent if self.slot.is_some() => "sent",
            Stage::Sent => "done",
        };
        write!(f, "Ask to {} ({stage})", self.to.actor_path())
    }
}

/// An edge of the graph of waiting actors, removed when its ask ends.
struct Edge {
    system: Arc<SystemCore>,
    from: ActorId,
    key: u64,
}

impl Drop for Edge {
    fn drop(&mut self) {
        self.system.waits.remove(self.from, self.key);
    }
}
