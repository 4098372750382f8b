//! The turns of a live incarnation: one message after another.
//!
//! A turn looks at control first, then handles at most `throughput` messages or what fits a slice of time, looking at control
//! before each. It ends by giving the thread up (and going to the back of the run queue) or by parking when the mailbox is
//! empty. An async handler is part of its turn; while it waits, nothing else is handled.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::time::Instant;

use crate::dispatch;
use crate::dispatch::turn;
use crate::error::{AskFailure, Phase};
use crate::event::LifecycleEvent;
use crate::mailbox::{Entry, Pause, Take};
use crate::panic::{self, PanicText};
use crate::supervision::{Failure, FailureOrigin};
use crate::system::clock::Clock;
use crate::system::counters::add;
use crate::system::pace::Kind;
use crate::system::{ActorState, Terminated};

use super::activation::answer_orphans;
use super::cell::{Notice, UNNAMED};
use super::context::ActorContext;
use super::drive::{Driven, Patience, Work};
use super::flow::{self, Flow};
use super::lifecycle::{Born, Exit, Judged, Life};
use super::reply::Claim;
use super::{Actor, Message};

/// How many messages pass between two looks at the clock.
const CLOCK_EVERY: u32 = 8;

/// Where a failure happened: in the handler of a message, or in the hook when it is none.
const fn origin(variant: Option<&'static str>) -> FailureOrigin {
    match variant {
        Some(variant) => FailureOrigin::Handler { variant },
        None => FailureOrigin::Hook("on_terminated"),
    }
}

/// What one step of a turn came to.
enum Step<'a> {
    /// There may be more to do.
    Done,
    /// All is handled for now.
    Idle,
    /// Others come first.
    TurnOver,
    /// Somebody has said something.
    Signal,
    /// The actor failed.
    Failed(Failure),
    /// The handler, or the hook when it was no message, goes on as a future.
    Later(Box<Work<'a, Flow<'static>>>),
    /// The incarnation ends.
    Exit(Exit),
}

/// What a notice is for.
enum Heeded<M> {
    /// To be handled as any other message.
    Message(M),
    /// For the hook.
    Terminated(Terminated),
    /// Nothing any more.
    Done,
}

impl<A: Actor> Life<A> {
    /// Handles messages until something ends the incarnation.
    pub(super) async fn serve(&mut self, born: &mut Born<A>) -> Exit {
        self.left = self.throughput();
        loop {
            // Whatever goes on between two awaits is in a function of its own: here each value would be part of the idle
            // actor.
            let failure = match self.step(born) {
                Step::Done => continue,
                Step::Idle => {
                    self.rest().await;
                    self.after_rest();
                    continue;
                }
                Step::TurnOver => {
                    self.left = self.throughput();
                    self.pause(Pause::Turn).await;
                    continue;
                }
                Step::Exit(exit) => return exit,
                Step::Signal => None,
                Step::Failed(failure) => Some(failure),
                Step::Later(work) => match self.finish(work).await {
                    None => continue,
                    failed => failed,
                },
            };
            let judged = match failure {
                None => Box::pin(self.hear_signal(born)).await,
                Some(failure) => Box::pin(self.judge(failure)).await,
            };
            if let Judged::Exit(exit) = judged {
                return exit;
            }
        }
    }

    /// Does what comes next, as far as it needs no wait.
    fn step<'a>(&mut self, born: &'a mut Born<A>) -> Step<'a> {
        if self.wants_a_look()
            && let Some(exit) = self.look_around()
        {
            return Step::Exit(exit);
        }
        if self.is_over() {
            return Step::TurnOver;
        }
        self.left -= 1;
        if self.has_signals {
            return Step::Signal;
        }
        let (entry, is_last) = match self.cell.mail.take(&mut self.burst) {
            Take::Entry(entry) => (entry, false),
            Take::Last(entry) => (entry, true),
            Take::Attention => return Step::Done,
            Take::Nothing if self.seen.is_draining() => return Step::Exit(self.end_drain()),
            Take::Nothing => return Step::Idle,
        };
        let message = match entry {
            Entry::Message(message) => message,
            Entry::Notice(notice) => match self.heed(*notice, &mut born.ctx) {
                Heeded::Message(message) => message,
                Heeded::Done => return Step::Done,
                Heeded::Terminated(end) => return self.begin_terminated(end, born),
            },
        };
        let step = self.begin(message, born);
        if is_last && matches!(step, Step::Done) && !self.is_alert {
            return Step::Idle;
        }
        step
    }

    /// Drives what is left of a handler. Gives the failure, if it had one.
    async fn finish(&mut self, work: Box<Work<'_, Flow<'static>>>) -> Option<Failure> {
        let variant = work.variant;
        let flow = self.drive(work, Patience::UntilCut).await;
        self.account(variant, flow)
    }

    /// Says whether something other than messages comes first.
    #[inline]
    fn wants_a_look(&self) -> bool {
        self.is_alert || self.cell.mail.has_attention()
    }

    /// Looks at the control lane. Gives the exit, if the incarnation is to end.
    #[cold]
    fn look_around(&mut self) -> Option<Exit> {
        self.look();
        if self.seen.is_stopping() {
            return Some(Exit::Stop);
        }
        self.recalled()
    }

    /// Says whether the turn has lasted long enough. One that begins handles messages before it looks at the clock, or it could
    /// give up its place for nothing.
    #[inline]
    fn is_over(&self) -> bool {
        self.left.is_multiple_of(CLOCK_EVERY)
            && (self.left == 0 || (self.left < self.throughput() && dispatch::slice_is_over()))
    }

    /// Waits for what comes next. An idle actor is small.
    #[inline]
    fn rest(&mut self) -> Paused {
        self.burst.shrink();
        self.pause(Pause::Idle)
    }

    /// A turn begins; but what has come in the last moment is no turn of its own.
    #[inline]
    fn after_rest(&mut self) {
        if self.cell.mail.was_parked() {
            self.left = self.throughput();
        }
    }

    /// Gives up the thread.
    #[inline]
    fn pause(&self, pause: Pause) -> Paused {
        self.cell.mail.will_pause(pause);
        Paused { has_paused: false }
    }

    /// All is handled that was accepted; from here on a drain is a stop.
    fn end_drain(&mut self) -> Exit {
        let deadline = self.cell.core.stop_deadline();
        self.cell.mail.amend(|control| {
            if let Some(orders) = control {
                orders.drained(deadline);
            }
        });
        self.look_closely();
        Exit::Stop
    }

    fn throughput(&self) -> u32 {
        self.cell.core.options.throughput
    }

    /// Finds out what a notice is for.
    fn heed(&self, notice: Notice<A::Msg>, ctx: &mut ActorContext<A>) -> Heeded<A::Msg> {
        match notice {
            Notice::Stamped {
                incarnation,
                message,
            } if incarnation == ctx.incarnation() => Heeded::Message(message),
            Notice::Stamped { message, .. } => {
                self.skip(message);
                Heeded::Done
            }
            Notice::Terminated { stamp, end } if ctx.expects(stamp, end.id) => {
                Heeded::Terminated(end)
            }
            Notice::Terminated { .. } => Heeded::Done,
        }
    }

    /// Calls the hook for the end of a watched actor.
    fn begin_terminated<'a>(&mut self, end: Terminated, born: &'a mut Born<A>) -> Step<'a> {
        self.set_deadline(None);
        self.set_handler(None);
        let Born { state, ctx } = born;
        let flow = panic::catch(|| state.on_terminated(ctx, end));
        self.go_on(None, flow, None)
    }

    /// Calls the handler, unless there is no need to.
    #[inline(always)]
    fn begin<'a>(&mut self, message: A::Msg, Born { state, ctx }: &'a mut Born<A>) -> Step<'a> {
        // What a message says of itself may be user code.
        let (way_back, variant) = match panic::catch(|| (message.way_back(), message.variant())) {
            Ok(about) => about,
            Err(text) => {
                self.cell.discard(message);
                return self.go_on(Some(UNNAMED), Err(text), None);
            }
        };
        let deadline = match way_back.map(|way| way.claim()) {
            None => None,
            Some(Claim::Run(deadline)) => deadline,
            Some(Claim::Cancelled) => {
                self.skip(message);
                return Step::Done;
            }
        };
        self.set_deadline(deadline);
        self.set_handler(Some(variant));
        self.cell.core.set_state(ActorState::Busy);
        let core = &self.cell.core;
        let measured = core.pace.is_wanted();
        let measured = measured.then(|| (Kind::of(&message), Clock::real_now()));
        let flow = panic::catch(|| state.receive(message, ctx));
        if let Some((kind, began)) = measured {
            let waits = flow.as_ref().is_ok_and(Flow::waits);
            core.pace.note(kind, (!waits).then(|| began.elapsed()));
        }
        match flow {
            // The ordinary end of an ordinary message, with nothing to tell.
            Ok(Flow(flow::Step::Done)) => {
                core.set_state(ActorState::Ready);
                core.count_handled();
                Step::Done
            }
            flow => self.go_on(Some(variant), flow, deadline),
        }
    }

    /// Goes on after the call: with the account of it, or with the future that it came to.
    #[inline(never)]
    fn go_on<'a>(
        &self,
        variant: Option<&'static str>,
        flow: Result<Flow<'a>, PanicText>,
        deadline: Option<Instant>,
    ) -> Step<'a> {
        let flow = match flow.map(Flow::now) {
            Ok(Err(future)) => {
                return Step::Later(Box::new(Work::new(future).of(variant).by(deadline)));
            }
            Ok(Ok(flow)) => Driven::Done(flow),
            Err(text) => Driven::Panicked(text),
        };
        self.account(variant, flow).map_or(Step::Done, Step::Failed)
    }

    /// Does not handle a message: whoever wanted it is gone.
    #[cold]
    fn skip(&self, message: A::Msg) {
        add(&self.cell.core.system.counters.cancelled, 1);
        self.cell.discard(message);
    }

    /// Counts what became of a message, or of the hook when it was none, and tells whoever must know. Gives the failure, if
    /// the actor failed.
    #[inline]
    fn account(
        &self,
        variant: Option<&'static str>,
        flow: Driven<Flow<'static>>,
    ) -> Option<Failure> {
        let core = &self.cell.core;
        core.set_state(ActorState::Ready);
        let failure = match flow {
            Driven::Done(flow) => self.outcome(variant, flow),
            Driven::Panicked(text) => {
                answer_orphans(&AskFailure::Panicked(Arc::clone(&text)));
                Some(Failure::panic(text, FailureOrigin::Detached))
            }
            Driven::Cut => {
                self.cut_off(variant);
                return None;
            }
        };
        if variant.is_some() {
            match &failure {
                None => core.count_handled(),
                Some(_) => add(&core.system.counters.failed, 1),
            }
        }
        failure.map(|failure| failure.at(origin(variant)))
    }

    /// Tells of an error that nobody asked for. Gives the failure, if the outcome is one.
    #[inline]
    fn outcome(&self, variant: Option<&'static str>, flow: Flow<'static>) -> Option<Failure> {
        match flow.0 {
            flow::Step::Done => None,
            flow::Step::Failed(failure) => Some(failure),
            flow::Step::Ignored(error) => {
                self.cell
                    .core
                    .event(|actor, id| LifecycleEvent::ErrorIgnored {
                        actor,
                        id,
                        variant: variant.unwrap_or("on_terminated"),
                        error: error.into_string(),
                    });
                None
            }
            flow::Step::Later(future) => {
                self.cell.discard(future);
                Some(Failure::from(
                    "the future of an async handler must end in an outcome, and not in a future",
                ))
            }
        }
    }

    /// A handler was dropped at an await: its message failed, and its asker learns that the actor stops.
    fn cut_off(&self, variant: Option<&'static str>) {
        let core = &self.cell.core;
        // A handler may have waited for an end that nobody has ordered.
        let goes_on = !self.seen.is_stopping();
        core.set_state(if goes_on {
            ActorState::Ready
        } else {
            ActorState::Stopping
        });
        answer_orphans(&AskFailure::Stopped(Phase::Running));
        if variant.is_some() {
            add(&core.system.counters.failed, 1);
        }
    }

    /// Says by when the message must be answered; the thread knows of none when a turn begins.
    #[inline]
    pub(super) fn set_deadline(&mut self, deadline: Option<Instant>) {
        if deadline.is_some() || self.has_deadline {
            turn::set_deadline(deadline);
            self.has_deadline = deadline.is_some();
        }
    }

    /// Says what runs, for the case that it never returns.
    #[inline]
    pub(super) fn set_handler(&mut self, name: Option<&'static str>) {
        let address = name.map_or(0, |name| name.as_ptr().addr());
        if self.handler != address {
            self.handler = address;
            self.cell.core.set_handler(name);
        }
    }
}

/// A future that is pending once.
struct Paused {
    has_paused: bool,
}

impl Future for Paused {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if mem::replace(&mut self.has_paused, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
