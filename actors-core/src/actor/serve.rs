//! The turns of a live incarnation: one message after another.
//!
//! A turn looks at control first, then handles at most `throughput` messages or what fits a slice of time, looking at control
//! before each. It ends by giving the thread up (and going to the back of the run queue) or by parking when the mailbox is
//! empty. An async handler is part of its turn; while it waits, nothing else is handled.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::time::Instant;

use crate::dispatch;
use crate::dispatch::turn;
use crate::error::{AskFailure, Phase};
use crate::event::LifecycleEvent;
use crate::mailbox::{Entry, Pause, Take};
use crate::panic::{self, PanicText};
use crate::supervision::{Failure, FailureOrigin};
use crate::system::ActorState;
use crate::system::clock::Clock;
use crate::system::counters::add;
use crate::system::pace::Variant;

use super::activation::answer_orphans;
use super::cell::{Notice, UNNAMED};
use super::drive::{Drive, Driven, Patience, Work};
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

/// What one entry came to.
enum Step<'a> {
    /// It has been dealt with.
    Done,
    /// The actor failed.
    Failed(Failure),
    /// The handler, or the hook when it was no message, goes on as a future.
    Later(Box<Work<'a, Flow<'static>>>),
}

/// What the life of an actor has to see to, beyond the next message.
pub(super) enum Due {
    /// The actor failed.
    Failure(Failure),
    /// The incarnation ends.
    Exit(Exit),
}

/// What the activation waits for between two steps. It is part of every idle actor, and so it is small.
pub(super) enum Wait<'a, A: Actor> {
    /// It waits for its next turn.
    Pause {
        life: &'a mut Life<A>,
        has_paused: bool,
    },
    Handler(Drive<'a, 'a, A, Flow<'static>>),
    /// What somebody has said is seen to.
    Signal(Pin<Box<dyn Future<Output = Judged> + Send + 'a>>),
    /// Nothing: it goes on at once.
    Ready(Option<Box<Due>>),
}

impl<A: Actor> Life<A> {
    /// A new incarnation begins its first turn.
    pub(super) fn begin_serving(&mut self) {
        self.left = self.throughput();
    }

    /// Does what comes next; gives what is to be waited for before the next step.
    // Inlined always, here and in `begin`: the loop of an activation is their only caller, and a call would move each message
    // through memory.
    #[inline(always)]
    pub(super) fn step<'a>(&'a mut self, born: &'a mut Born<A>) -> Option<Wait<'a, A>> {
        if self.wants_a_look() {
            if dispatch::runs_here() {
                return Some(self.give_way());
            }
            if let Some(exit) = self.look_around() {
                return Some(Wait::ready(Due::Exit(exit)));
            }
        }
        if self.is_over() {
            return Some(self.give_way());
        }
        self.left -= 1;
        if self.has_signals {
            return Some(Wait::Signal(Box::pin(self.hear_signal(born))));
        }
        let (entry, is_last) = match self.cell.mail.take(&self.cell.side, &mut self.burst) {
            Take::Entry(entry) => (entry, false),
            Take::Last(entry) => (entry, true),
            Take::Attention => return None,
            Take::Nothing if self.seen.is_draining() => {
                return Some(Wait::ready(Due::Exit(self.end_drain())));
            }
            Take::Nothing => return Some(self.rest()),
        };
        let step = match entry {
            Entry::Message(message) => self.begin(message, born),
            Entry::Notice(notice) => self.heed(*notice, born),
        };
        match step {
            Step::Done if !is_last || self.is_alert => None,
            Step::Done => Some(self.rest()),
            Step::Failed(failure) => Some(Wait::ready(Due::Failure(failure))),
            Step::Later(work) => Some(Wait::Handler(self.drive(work, Patience::UntilCut))),
        }
    }

    /// Sees to what is due.
    pub(super) async fn see_to(&mut self, due: Box<Due>) -> Judged {
        match *due {
            Due::Exit(exit) => Judged::Exit(exit),
            Due::Failure(failure) => self.judge(failure).await,
        }
    }

    /// Says whether something other than messages comes first.
    #[inline]
    fn wants_a_look(&self) -> bool {
        self.is_alert || self.cell.side.has_attention()
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
    fn is_over(&mut self) -> bool {
        self.left.is_multiple_of(CLOCK_EVERY)
            && match self.left {
                0 => !self.goes_on_here(),
                left => left < self.throughput() && dispatch::slice_is_over(),
            }
    }

    /// Says whether a turn that is given in passing goes on: with what was quick as well, if that is next. Whatever else came
    /// meanwhile may hold the thread, and is none of the asker's business.
    #[cold]
    fn goes_on_here(&mut self) -> bool {
        let pace = &self.cell.core.pace;
        let goes_on = dispatch::runs_here()
            && self.cell.mail.look_at_next(&self.burst, |next| match next {
                None => true,
                Some(Entry::Notice(_)) => false,
                Some(Entry::Message(message)) => {
                    pace.is_quick(Variant::of(message)) && dispatch::takes_one_more_here()
                }
            });
        self.left = u32::from(goes_on);
        goes_on
    }

    /// Waits for what comes next. An idle actor is small.
    #[inline]
    fn rest(&mut self) -> Wait<'_, A> {
        self.burst.shrink();
        self.pause(Pause::Idle)
    }

    /// Lets others run; what is next begins a new turn.
    fn give_way(&mut self) -> Wait<'_, A> {
        self.left = self.throughput();
        self.pause(Pause::Turn)
    }

    /// Goes on with a turn of its own, if this one is given in passing: what is about to come may take long, and the asker whose
    /// thread it is has its answer.
    pub(super) async fn leave_asker(&mut self) {
        if dispatch::runs_here() {
            self.give_way().await;
        }
    }

    /// Gives up the thread.
    #[inline]
    fn pause(&mut self, pause: Pause) -> Wait<'_, A> {
        self.cell.side.will_pause(pause);
        Wait::Pause {
            life: self,
            has_paused: false,
        }
    }

    /// A turn begins; but what has come in the last moment is no turn of its own.
    #[inline]
    fn after_pause(&mut self) {
        if self.cell.side.was_parked() {
            // In passing, no more is known than that its first message was quick.
            let in_passing = dispatch::runs_here();
            self.left = if in_passing { 1 } else { self.throughput() };
        }
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

    /// Handles an entry that is no plain message.
    fn heed<'a>(&mut self, notice: Notice<A::Msg>, born: &'a mut Born<A>) -> Step<'a> {
        match notice {
            Notice::Stamped {
                incarnation,
                message,
            } if incarnation == born.ctx.incarnation() => self.begin(message, born),
            Notice::Stamped { message, .. } => {
                self.skip(message);
                Step::Done
            }
            Notice::Terminated { stamp, end } => {
                let Born { state, ctx } = born;
                if !ctx.expects(stamp, end.id) {
                    return Step::Done;
                }
                self.set_deadline(None);
                self.set_handler(None);
                let flow = panic::catch(|| state.on_terminated(ctx, end));
                self.go_on(None, flow, None)
            }
        }
    }

    /// Calls the handler, unless there is no need to.
    // Inlined always: see `step`.
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
        let measured = measured.then(|| (Variant::of(&message), Clock::real_now()));
        let flow = panic::catch(|| state.receive(message, ctx));
        if let Some((handler, began)) = measured {
            let waits = flow.as_ref().is_ok_and(Flow::waits);
            core.pace.note(handler, (!waits).then(|| began.elapsed()));
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
    // Never inlined, so that `begin` stays small for those that are done after the call.
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

impl<A: Actor> Wait<'_, A> {
    #[cold]
    fn ready(due: Due) -> Self {
        Self::Ready(Some(Box::new(due)))
    }
}

/// Nothing in it is pinned that is not in a box.
impl<A: Actor> Unpin for Wait<'_, A> {}

impl<A: Actor> Future for Wait<'_, A> {
    type Output = Option<Box<Due>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Box<Due>>> {
        match &mut *self {
            Self::Pause { life, has_paused } => {
                if !mem::replace(has_paused, true) {
                    return Poll::Pending;
                }
                life.after_pause();
                Poll::Ready(None)
            }
            Self::Handler(drive) => {
                let flow = ready!(Pin::new(&mut *drive).poll(cx));
                let failure = drive.life().account(drive.variant(), flow);
                Poll::Ready(failure.map(|failure| Box::new(Due::Failure(failure))))
            }
            Self::Signal(heard) => Poll::Ready(match ready!(heard.as_mut().poll(cx)) {
                Judged::Resume => None,
                Judged::Exit(exit) => Some(Box::new(Due::Exit(exit))),
            }),
            Self::Ready(due) => Poll::Ready(due.take()),
        }
    }
}
