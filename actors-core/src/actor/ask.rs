//! [`Ask`]: waiting for the reply of an actor.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::dispatch::turn;
use crate::error::{AskError, AskFailure, CyclePath, Phase};
use crate::mailbox::{Admission, Refusal, Wait};
use crate::path::ActorId;
use crate::system::deadlines::{Sleep, earlier};
use crate::system::{ActorState, SystemCore};

use super::call::ReplyKind;
use super::in_passing::InPassing;
use super::reference::ActorRef;
use super::reply::{ReplyTo, Slot};
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
    slot: Arc<Slot<K::Raw>>,
    stage: Stage<A::Msg>,
    /// The caller's own limit, if it has set one.
    timeout: Option<Duration>,
    wait_for_room: bool,
    ticket: Option<u64>,
    /// By when the answer must be there.
    deadline: Option<Instant>,
    /// Until then; made when there is something to wait for.
    sleep: Option<Sleep>,
    edge: Option<Edge>,
}

enum Stage<M> {
    Unsent(M),
    /// It waits for room; the clock runs.
    Waiting(M),
    Sent,
    /// It has the answer.
    Answered,
    Done,
}

/// Nothing in it is pinned: it holds the message by value, and pins none of its parts.
impl<A: Actor, K: ReplyKind> Unpin for Ask<A, K> {}

impl<A: Actor, K: ReplyKind> Ask<A, K> {
    pub(super) fn new(to: ActorRef<A>, make: impl FnOnce(ReplyTo<K::Raw>) -> A::Msg) -> Self {
        let slot = Arc::new(Slot::new());
        let message = make(ReplyTo::asker(Arc::clone(&slot)));
        Self {
            to,
            slot,
            stage: Stage::Unsent(message),
            timeout: None,
            wait_for_room: false,
            ticket: None,
            deadline: None,
            sleep: None,
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

    /// Finds out by when the answer must be there, and whether it could ever come. The clock starts here.
    fn prepare(&mut self) -> Result<Instant, AskError<K::Err>> {
        let core = self.to.core();
        let timeout = self.timeout.unwrap_or(core.system.settings.ask_timeout);
        let now = core.system.clock.now();
        let deadline = earlier(now.checked_add(timeout), turn::deadline());
        if deadline.is_some_and(|deadline| deadline <= now) {
            return Err(AskError::Timeout {
                phase: Phase::Queued,
            });
        }
        let asking = core.system.running_actor();
        if let Some(asking) = &asking {
            if asking.id() == core.id {
                return Err(AskError::Cycle(CyclePath::new(vec![core.path.clone()])));
            }
            if core.system.settings.detect_cycles {
                let key = core
                    .system
                    .waits
                    .add((asking.id(), asking.path()), core.id)
                    .map_err(AskError::Cycle)?;
                self.edge = Some(Edge {
                    system: Arc::clone(&core.system),
                    from: asking.id(),
                    key,
                });
            }
        }
        self.slot
            .prepare(deadline, asking.map(|asking| asking.id()));
        self.deadline = deadline;
        Ok(now)
    }

    /// Sends the message, if there is room or none is waited for. At the first try `now` is the time.
    fn send(
        &mut self,
        message: A::Msg,
        now: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Result<Stage<A::Msg>, AskError<K::Err>> {
        let cell = self.to.cell();
        if self.wait_for_room {
            match cell.poll_room(&mut self.ticket, cx.waker()) {
                Wait::Pending => return Ok(Stage::Waiting(message)),
                Wait::Closed => {
                    cell.discard(message);
                    return Err(AskError::Stopped {
                        phase: Phase::Queued,
                    });
                }
                Wait::Granted => {}
            }
        }
        let admission = match self.ticket.take() {
            Some(ticket) => Admission::Granted(ticket),
            None if self.wait_for_room => Admission::Try,
            None => Admission::Tell,
        };
        let quick = now.and_then(|now| Some((InPassing::of(cell, &message)?, now)));
        let offered = match quick {
            None => cell.offer(message, admission),
            Some((quick, now)) => cell.offer_quietly(message, admission).map(|idle| {
                if let Some(idle) = idle {
                    quick.run(&cell.core, idle, now, cx);
                }
            }),
        };
        if let Err((message, refusal)) = offered {
            cell.discard(message);
            return Err(match refusal {
                Refusal::Full(_) => AskError::MailboxFull,
                Refusal::Closed => AskError::Stopped {
                    phase: Phase::Queued,
                },
            });
        }
        self.check_decision()?;
        Ok(Stage::Sent)
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
                    core.path.clone(),
                ])))
            }
            _ => Ok(()),
        }
    }

    fn poll_sent(&mut self, cx: &Context<'_>) -> Poll<Result<K::Ok, AskError<K::Err>>> {
        self.slot.poll(cx.waker()).map(Self::settle)
    }

    fn settle(answer: Result<K::Raw, AskFailure>) -> Result<K::Ok, AskError<K::Err>> {
        match answer {
            Ok(raw) => K::settle(raw).map_err(AskError::Handler),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Waits no longer: takes the answer if it has just come, or leaves.
    fn give_up(&self, error: fn(Phase) -> AskError<K::Err>) -> Result<K::Ok, AskError<K::Err>> {
        match self.slot.leave(&self.to.core().system) {
            Ok(answer) => Self::settle(answer),
            Err(phase) => Err(error(phase)),
        }
    }

    /// Waits for room no longer, if it did.
    fn leave_line(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.to.cell().leave_room(ticket);
        }
    }

    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Result<K::Ok, AskError<K::Err>>> {
        match mem::replace(&mut self.stage, Stage::Done) {
            Stage::Answered | Stage::Done => {
                unreachable!("an ask was polled after it had answered")
            }
            Stage::Sent => self.stage = Stage::Sent,
            Stage::Unsent(message) => {
                let now = match self.prepare() {
                    Ok(now) => now,
                    Err(error) => {
                        self.to.cell().discard(message);
                        return Poll::Ready(Err(error));
                    }
                };
                self.stage = self.send(message, Some(now), cx)?;
            }
            Stage::Waiting(message) => self.stage = self.send(message, None, cx)?,
        }
        if matches!(self.stage, Stage::Sent)
            && let Poll::Ready(answer) = self.poll_sent(cx)
        {
            self.stage = Stage::Answered;
            return Poll::Ready(answer);
        }
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        let deadlines = &self.to.core().system.deadlines;
        let sleep = self
            .sleep
            .get_or_insert_with(|| deadlines.sleep_until(deadline));
        if Pin::new(&mut *sleep).poll(cx).is_ready() {
            return Poll::Ready(self.give_up(|phase| AskError::Timeout { phase }));
        }
        // Its system is gone, and the time with it, but somebody may keep the way back for ever.
        if sleep.is_lost() {
            return Poll::Ready(self.give_up(|phase| AskError::Stopped { phase }));
        }
        Poll::Pending
    }
}

const BLOCKING: &str = "`blocking()` was called in async code, where it would hold the thread that is to bring the answer: \
                        await the ask instead, or move the call into `tokio::task::spawn_blocking`";

impl<A: Actor, K: ReplyKind> Future for Ask<A, K> {
    type Output = Result<K::Ok, AskError<K::Err>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = self.advance(cx);
        if result.is_ready() {
            if matches!(self.stage, Stage::Waiting(_))
                && let Stage::Waiting(message) = mem::replace(&mut self.stage, Stage::Done)
            {
                self.to.cell().discard(message);
            }
            self.edge = None;
            self.sleep = None;
            self.leave_line();
        }
        result
    }
}

impl<A: Actor, K: ReplyKind> Drop for Ask<A, K> {
    fn drop(&mut self) {
        self.leave_line();
        // Who has the answer has left already.
        if !matches!(self.stage, Stage::Answered) {
            let _ = self.slot.leave(&self.to.core().system);
        }
    }
}

impl<A: Actor, K: ReplyKind> fmt::Debug for Ask<A, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Unsent(message) => message.variant(),
            Stage::Waiting(_) => "waiting for room",
            Stage::Sent => "sent",
            Stage::Answered | Stage::Done => "done",
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
