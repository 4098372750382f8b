//! The activation: the task in which an actor's state lives, by value, and its turns.
//!
//! A turn looks at control first, then handles at most `throughput` messages or what fits a slice of time, looking at control
//! before each. It ends by giving the thread up (and going to the back of the run queue) or by parking when the mailbox is
//! empty. An async handler is part of its turn; while it waits, nothing else is handled.
//!
//! Nobody but this task can reach the state, and a task is polled by one thread at a time: that is why it needs no lock.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::time::Instant;

use crate::dispatch;
use crate::dispatch::turn::{self, Identity};
use crate::error::{AskFailure, Phase};
use crate::event::LifecycleEvent;
use crate::mailbox::{Entry, Take};
use crate::panic::{self, PanicText};
use crate::supervision::{Directive, Failure, FailureOrigin, StopReason};
use crate::system::ActorState;
use crate::system::counters::add;
use crate::system::member::{Member, Signal};

use super::cell::{Notice, Queued};
use super::context::ActorContext;
use super::drive::{Driven, Patience};
use super::flow::{Flow, Later, Step};
use super::lifecycle::{Born, Exit, Judged, Life};
use super::reply::Claim;
use super::{Actor, Message};

/// How many messages pass between two looks at the clock.
const CLOCK_EVERY: u32 = 8;

pin_project! {
    /// Says, for each poll of a life, whose turn it is.
    struct Turns<L> {
        me: Option<Arc<dyn Identity>>,
        #[pin]
        life: L,
    }
}

/// The whole life of an actor, as one task. Dropped before its end, because no runtime polls it any more, it ends the actor
/// for everybody else all the same.
pub(super) fn activate<A: Actor>(mut life: Life<A>) -> impl Future<Output = ()> + Send {
    let me = Some(Arc::clone(&life.cell) as Arc<dyn Identity>);
    // A block, and not a function that takes the life: its state would hold what it takes twice.
    let life = async move {
        let reason = life.live().await;
        life.end(reason);
    };
    Turns { me, life }
}

impl<L: Future<Output = ()>> Future for Turns<L> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if let Some(me) = this.me {
            me.count_poll();
        }
        turn::in_turn(this.me, || this.life.poll(cx))
    }
}

impl<A: Actor> Life<A> {
    /// Ends the actor for everybody else.
    fn end(&mut self, reason: StopReason) {
        self.turn_out();
        drop(self.cell.mail.end());
        let member: &dyn Member = &*self.cell;
        member.finish(reason);
    }
}

impl<A: Actor> Drop for Life<A> {
    fn drop(&mut self) {
        let core = &self.cell.core;
        if core.state() == ActorState::Busy {
            // The task was dropped in the midst of a handler.
            add(&core.system.counters.failed, 1);
        }
        self.end(StopReason::SystemGone);
    }
}

/// What was handled, or is about to be.
enum Work {
    /// A message, by the name of its variant.
    Message(&'static str),
    /// The hook for the end of a watched actor.
    Terminated,
}

impl Work {
    const fn origin(&self) -> FailureOrigin {
        match self {
            Self::Message(variant) => FailureOrigin::Handler { variant },
            Self::Terminated => FailureOrigin::Hook("on_terminated"),
        }
    }
}

/// What a handler came to when it was called.
enum Began<'a> {
    Done(Flow<'static>),
    Panicked(PanicText),
    Later(Later<'a>, Option<Instant>),
}

impl<'a> Began<'a> {
    fn of(flow: Result<Flow<'a>, PanicText>, deadline: Option<Instant>) -> Self {
        match flow.map(Flow::now) {
            Ok(Ok(flow)) => Self::Done(flow),
            Ok(Err(future)) => Self::Later(future, deadline),
            Err(text) => Self::Panicked(text),
        }
    }
}

/// What a turn does next.
enum Next<M> {
    Entry(Queued<M>),
    Attention,
    Drained,
}

impl<A: Actor> Life<A> {
    /// Handles messages until something ends the incarnation.
    pub(super) async fn serve(&mut self, born: &mut Born<A>) -> Exit {
        let mut left = self.throughput();
        loop {
            self.look();
            if self.seen.is_stopping() {
                return Exit::Stop;
            }
            if self.has_signals {
                match Box::pin(self.hear_signals(born.ctx.incarnation())).await {
                    Judged::Resume => {}
                    Judged::Exit(exit) => return exit,
                }
            }
            if left == 0 || (left.is_multiple_of(CLOCK_EVERY) && dispatch::slice_is_over()) {
                give_up_the_thread().await;
                left = self.throughput();
                continue;
            }
            let draining = self.seen.ending.is_some();
            let next = poll_fn(|cx| self.poll_next(draining, &mut left, cx)).await;
            let entry = match next {
                Next::Entry(entry) => entry,
                Next::Attention => continue,
                Next::Drained => return Exit::Stop,
            };
            left = left.saturating_sub(1);
            let (work, flow) = {
                let Some((work, began)) = self.begin(entry, born) else {
                    continue;
                };
                let flow = match began {
                    Began::Done(flow) => Driven::Done(flow),
                    Began::Panicked(text) => Driven::Panicked(text),
                    Began::Later(future, deadline) => {
                        self.drive(future, Patience::UntilCut).by(deadline).await
                    }
                };
                (work, flow)
            };
            if let Some(failure) = self.account(&work, flow, &mut born.ctx) {
                match Box::pin(self.judge(failure)).await {
                    Judged::Resume => {}
                    Judged::Exit(exit) => return exit,
                }
            }
        }
    }

    fn throughput(&self) -> u32 {
        self.cell.core.options.throughput
    }

    /// Takes the next entry; waits for one, unless there is control to look at, or the last was drained.
    fn poll_next(
        &mut self,
        draining: bool,
        left: &mut u32,
        cx: &Context<'_>,
    ) -> Poll<Next<A::Msg>> {
        let waker = (!draining).then(|| cx.waker());
        Poll::Ready(match self.cell.mail.take(&mut self.burst, waker) {
            Take::Entry(entry) => Next::Entry(entry),
            Take::Attention => Next::Attention,
            Take::Parked if draining => Next::Drained,
            Take::Parked => {
                // Whatever wakes it begins a turn of its own.
                *left = self.throughput();
                return Poll::Pending;
            }
        })
    }

    /// Calls the handler, unless there is no need to.
    fn begin<'a>(
        &mut self,
        entry: Queued<A::Msg>,
        Born { state, ctx }: &'a mut Born<A>,
    ) -> Option<(Work, Began<'a>)> {
        let message = match entry {
            Entry::Message(message) => message,
            Entry::Notice(notice) => match *notice {
                Notice::Stamped {
                    incarnation,
                    message,
                } if incarnation == ctx.incarnation() => message,
                Notice::Stamped { message, .. } => {
                    self.skip(message);
                    return None;
                }
                Notice::Terminated { stamp, end } => {
                    if !ctx.expects(stamp, end.id) {
                        return None;
                    }
                    self.set_deadline(None);
                    self.set_handler(None);
                    let flow = panic::catch(|| state.on_terminated(ctx, end));
                    return Some((Work::Terminated, Began::of(flow, None)));
                }
            },
        };
        let deadline = match message.way_back().map(|way| way.claim()) {
            None => None,
            Some(Claim::Run(deadline)) => deadline,
            Some(Claim::Cancelled) => {
                self.skip(message);
                return None;
            }
        };
        self.set_deadline(deadline);
        let variant = message.variant();
        self.set_handler(Some(variant));
        self.cell.core.set_state(ActorState::Busy);
        let flow = panic::catch(|| state.receive(message, ctx));
        Some((Work::Message(variant), Began::of(flow, deadline)))
    }

    /// Does not handle a message: whoever wanted it is gone.
    #[cold]
    fn skip(&self, message: A::Msg) {
        add(&self.cell.core.system.counters.cancelled, 1);
        self.cell.discard(message);
    }

    /// Counts what became of an entry and tells whoever must know. Gives the failure, if the actor failed.
    fn account(
        &self,
        work: &Work,
        flow: Driven<Flow<'static>>,
        ctx: &mut ActorContext<A>,
    ) -> Option<Failure> {
        let core = &self.cell.core;
        core.set_state(ActorState::Ready);
        let failure = match flow {
            Driven::Done(flow) => self.outcome(work, flow),
            Driven::Panicked(text) => {
                answer_orphans(&AskFailure::Panicked(Arc::clone(&text)));
                Some(Failure::panic(text, FailureOrigin::Detached))
            }
            Driven::Cut => {
                self.cut_off(work);
                return None;
            }
        };
        if matches!(work, Work::Message(_)) {
            match &failure {
                None => core.count_handled(),
                Some(_) => add(&core.system.counters.failed, 1),
            }
        }
        let own = ctx.take_failure();
        failure.or(own).map(|failure| failure.at(work.origin()))
    }

    /// Tells of an error that nobody asked for. Gives the failure, if the outcome is one.
    fn outcome(&self, work: &Work, flow: Flow<'static>) -> Option<Failure> {
        match (flow.0, work) {
            (Step::Failed(failure), _) => Some(failure),
            (Step::Ignored(error), Work::Message(variant)) => {
                self.cell
                    .core
                    .event(|actor, id| LifecycleEvent::ErrorIgnored {
                        actor,
                        id,
                        variant,
                        error: error.into_string(),
                    });
                None
            }
            (Step::Later(future), _) => {
                self.cell.discard(future);
                Some(Failure::from(
                    "a future of an async handler must end in an outcome, and not in a future",
                ))
            }
            (Step::Done | Step::Ignored(_), _) => None,
        }
    }

    /// A handler was dropped at an await: its message failed, and its asker learns that the actor stops.
    fn cut_off(&self, work: &Work) {
        let core = &self.cell.core;
        core.set_state(ActorState::Stopping);
        answer_orphans(&AskFailure::Stopped(Phase::Running));
        if matches!(work, Work::Message(_)) && !core.is_abandoned() {
            add(&core.system.counters.failed, 1);
        }
    }

    /// Hears what children say.
    async fn hear_signals(&mut self, current: u32) -> Judged {
        while let Some(signal) = self.next_signal() {
            match signal {
                Signal::Failed {
                    incarnation,
                    failure,
                } => {
                    if incarnation == current
                        && let Judged::Exit(exit) = self.judge(failure).await
                    {
                        return Judged::Exit(exit);
                    }
                }
                Signal::Escalated { child, failure } => match self.judge(failure).await {
                    Judged::Resume => {
                        if let Some(child) = child.upgrade() {
                            child.control(&mut |orders| orders.decision = Some(Directive::Resume));
                        }
                    }
                    exit @ Judged::Exit(_) => return exit,
                },
            }
        }
        Judged::Resume
    }

    fn next_signal(&mut self) -> Option<Signal> {
        let signal = self.cell.mail.amend(|control| {
            let signals = &mut control.as_mut()?.signals;
            (!signals.is_empty()).then(|| signals.remove(0))
        });
        self.has_signals = signal.is_some();
        signal
    }

    /// Says by when the message must be answered; the thread knows of none when a turn begins.
    pub(super) fn set_deadline(&mut self, deadline: Option<Instant>) {
        if deadline.is_some() || self.has_deadline {
            turn::set_deadline(deadline);
            self.has_deadline = deadline.is_some();
        }
    }

    /// Says what runs, for the case that it never returns.
    pub(super) fn set_handler(&mut self, name: Option<&'static str>) {
        let address = name.map_or(0, |name| name.as_ptr().addr());
        if self.handler != address {
            self.handler = address;
            self.cell.core.set_handler(name);
        }
    }
}

/// Answers the askers whose way back was dropped by the end of their handler.
pub(super) fn answer_orphans(failure: &AskFailure) {
    for orphan in turn::take_orphans() {
        orphan.fail(failure.clone());
    }
}

/// Lets others run: the activation goes to the back of the run queue.
async fn give_up_the_thread() {
    let mut gave_up = false;
    poll_fn(|cx| {
        if gave_up {
            return Poll::Ready(());
        }
        gave_up = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
