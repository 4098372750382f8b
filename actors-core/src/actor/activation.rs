//! The activation: the task in which an actor's state lives, by value, and its turns.
//!
//! A turn looks at control first, then handles at most `throughput` messages or what fits a slice of time, looking at control
//! before each. It ends by giving the thread up (and going to the back of the run queue) or by parking when the mailbox is
//! empty. An async handler is part of its turn; while it waits, nothing else is handled.
//!
//! Nobody but this task can reach the state, and a task is polled by one thread at a time: that is why it needs no lock.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

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

use super::cell::{Cell, Notice, Queued};
use super::context::ActorContext;
use super::drive::{Driven, Patience};
use super::flow::{Flow, Step};
use super::lifecycle::{Exit, Judged, Life};
use super::reply::Claim;
use super::{Actor, Message};

/// How many messages pass between two looks at the clock.
const CLOCK_EVERY: u32 = 8;

/// The whole life of an actor, as one task.
pub(super) async fn activate<A: Actor>(life: Life<A>) {
    let cell = Arc::clone(&life.cell);
    let mut unfinished = Unfinished {
        cell: Arc::clone(&cell),
        reason: StopReason::SystemGone,
    };
    let mut me: Option<Arc<dyn Identity>> = Some(Arc::clone(&cell) as Arc<dyn Identity>);
    let mut life = pin!(life.live());
    unfinished.reason = poll_fn(|cx| {
        cell.core.count_poll();
        turn::in_turn(&mut me, || life.as_mut().poll(cx))
    })
    .await;
}

/// Ends the actor for everybody else when its task ends, also when the task is dropped because no runtime polls it any more.
struct Unfinished<M: Message> {
    cell: Arc<Cell<M>>,
    reason: StopReason,
}

impl<M: Message> Drop for Unfinished<M> {
    fn drop(&mut self) {
        let cell = &self.cell;
        cell.close_door();
        cell.turn_out();
        cell.mail.end();
        let member: &dyn Member = &**cell;
        member.finish(self.reason.clone());
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

impl<A: Actor> Life<A> {
    /// Handles messages until something ends the incarnation.
    pub(super) async fn serve(&mut self, actor: &mut A, ctx: &mut ActorContext<A>) -> Exit {
        let mut left = self.cell.core.options.throughput;
        loop {
            self.look();
            if self.seen.is_stopping() {
                return Exit::Stop;
            }
            if self.has_signals {
                match Box::pin(self.hear_signals(ctx)).await {
                    Judged::Resume => {}
                    Judged::Exit(exit) => return exit,
                }
            }
            if left == 0 || (left.is_multiple_of(CLOCK_EVERY) && dispatch::slice_is_over()) {
                give_up_the_thread().await;
                left = self.cell.core.options.throughput;
                continue;
            }
            let Some(entry) = self.next(&mut left).await else {
                if self.is_drained() {
                    return Exit::Stop;
                }
                continue;
            };
            left = left.saturating_sub(1);
            let failure = self.handle(entry, actor, ctx).await;
            if let Some(failure) = failure {
                match Box::pin(self.judge(failure)).await {
                    Judged::Resume => {}
                    Judged::Exit(exit) => return exit,
                }
            }
        }
    }

    /// Takes the next entry; waits for one, unless there is control to look at, or the last was drained.
    async fn next(&mut self, left: &mut u32) -> Option<Queued<A::Msg>> {
        let draining = self.seen.ending.is_some();
        poll_fn(|cx| {
            let waker = (!draining).then(|| cx.waker());
            match self.cell.mail.take(&mut self.batch, waker) {
                Take::Entry(entry) => Poll::Ready(Some(entry)),
                Take::Attention => Poll::Ready(None),
                Take::Parked if draining => {
                    self.drained = true;
                    Poll::Ready(None)
                }
                Take::Parked => {
                    // Whatever wakes it begins a turn of its own.
                    *left = self.cell.core.options.throughput;
                    Poll::Pending
                }
            }
        })
        .await
    }

    const fn is_drained(&self) -> bool {
        self.drained
    }

    /// Handles one entry to its end. Gives the failure, if the actor failed.
    async fn handle(
        &mut self,
        entry: Queued<A::Msg>,
        actor: &mut A,
        ctx: &mut ActorContext<A>,
    ) -> Option<Failure> {
        let (work, flow) = self.begin(entry, actor, ctx)?;
        let flow = match flow.map(Flow::now) {
            Ok(Ok(flow)) => Ok(flow),
            Ok(Err(future)) => match self.drive(future, Patience::UntilCut, None).await {
                Driven::Done(flow) => Ok(flow),
                Driven::Panicked(text) => Err(text),
                Driven::Cut => {
                    self.cut_off(&work);
                    return None;
                }
            },
            Err(text) => Err(text),
        };
        self.cell.core.set_state(ActorState::Ready);
        let failure = self.account(&work, flow);
        match ctx.take_failure() {
            Some(own) if failure.is_none() => Some(own.at(work.origin())),
            _ => failure,
        }
    }

    /// Calls the handler, unless there is no need to.
    fn begin<'a>(
        &mut self,
        entry: Queued<A::Msg>,
        actor: &'a mut A,
        ctx: &'a mut ActorContext<A>,
    ) -> Option<(Work, Result<Flow<'a>, PanicText>)> {
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
                    self.set_handler(None);
                    return Some((
                        Work::Terminated,
                        panic::catch(|| actor.on_terminated(ctx, end)),
                    ));
                }
            },
        };
        if let Some(way) = message.way_back() {
            match way.claim() {
                Claim::Run(deadline) => self.set_deadline(deadline),
                Claim::Cancelled => {
                    self.skip(message);
                    return None;
                }
            }
        } else {
            self.set_deadline(None);
        }
        let variant = message.variant();
        self.set_handler(Some(variant));
        self.cell.core.set_state(ActorState::Busy);
        Some((
            Work::Message(variant),
            panic::catch(|| actor.receive(message, ctx)),
        ))
    }

    /// Does not handle a message: whoever wanted it is gone.
    #[cold]
    fn skip(&self, message: A::Msg) {
        add(&self.cell.core.system.counters.cancelled, 1);
        self.cell.discard(message);
    }

    /// Counts what became of a message and tells whoever must know. Gives the failure, if it was one.
    fn account(&self, work: &Work, flow: Result<Flow<'static>, PanicText>) -> Option<Failure> {
        let core = &self.cell.core;
        let is_message = matches!(work, Work::Message(_));
        let failure = match flow {
            Ok(Flow(Step::Done)) => None,
            Ok(Flow(Step::Ignored(error))) => {
                let Work::Message(variant) = *work else {
                    return None;
                };
                core.event(|actor, id| LifecycleEvent::ErrorIgnored {
                    actor,
                    id,
                    variant,
                    error: error.into_string(),
                });
                None
            }
            Ok(Flow(Step::Failed(failure))) => Some(failure.at(work.origin())),
            Ok(Flow(Step::Later(future))) => {
                self.cell.discard(future);
                Some(
                    Failure::from(
                        "an async handler returned another future in place of an outcome",
                    )
                    .at(work.origin()),
                )
            }
            Err(text) => {
                answer_orphans(&AskFailure::Panicked(Arc::clone(&text)));
                Some(Failure::panic(text, work.origin()))
            }
        };
        match &failure {
            None if is_message => core.count_handled(),
            Some(_) if is_message => add(&core.system.counters.failed, 1),
            _ => {}
        }
        failure
    }

    /// A handler was dropped at an await: its message failed, and its asker learns that the actor stops.
    fn cut_off(&self, work: &Work) {
        self.cell.core.set_state(ActorState::Stopping);
        answer_orphans(&AskFailure::Stopped(Phase::Running));
        if matches!(work, Work::Message(_)) && !self.cell.core.is_abandoned() {
            add(&self.cell.core.system.counters.failed, 1);
        }
    }

    /// Hears what children say.
    async fn hear_signals(&mut self, ctx: &ActorContext<A>) -> Judged {
        while let Some(signal) = self.next_signal() {
            match signal {
                Signal::Failed {
                    incarnation,
                    failure,
                } => {
                    if incarnation == ctx.incarnation()
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

    fn set_deadline(&mut self, deadline: Option<tokio::time::Instant>) {
        if self.deadline != deadline {
            self.deadline = deadline;
            turn::set_deadline(deadline);
        }
    }

    /// Says what runs, for the case that it never returns.
    pub(super) fn set_handler(&mut self, name: Option<&'static str>) {
        let is_same = match (self.handler, name) {
            (Some(old), Some(new)) => std::ptr::eq(old, new),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            self.handler = name;
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
