//! The activation: the task in which an actor's state lives, by value, and its turns.
//!
//! A turn looks at control first, then handles at most `throughput` messages or what fits a slice of time, looking at control
//! before each. It ends by giving the thread up (and going to the back of the run queue) or by parking when the mailbox is
//! empty. An async handler is part of its turn; while it waits, nothing else is handled.
//!
//! Nobody but this task can reach the state, and a task is polled by one thread at a time: that is why it needs no lock.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;
use tokio::time::Instant;

use crate::dispatch::turn::{self, Identity};
use crate::dispatch::{self, Activation};
use crate::error::{AskFailure, Phase};
use crate::event::LifecycleEvent;
use crate::mailbox::{Entry, Pause, Take};
use crate::panic::{self, PanicText};
use crate::supervision::{Failure, FailureOrigin, StopReason};
use crate::system::ActorState;
use crate::system::clock::Clock;
use crate::system::counters::add;
use crate::system::member::Member;
use crate::system::orders::{EndKind, Ending};
use crate::system::pace::Kind;

use super::cell::{Notice, Queued, UNNAMED};
use super::drive::{Driven, Patience, Work};
use super::flow::{Flow, Step};
use super::lifecycle::{Born, Exit, Judged, Life};
use super::reply::Claim;
use super::{Actor, Message};

/// How many messages pass between two looks at the clock.
const CLOCK_EVERY: u32 = 8;

pin_project! {
    /// A life, and whose it is.
    struct Turns<L> {
        me: Arc<dyn Identity>,
        #[pin]
        life: L,
    }
}

/// The whole life of an actor. Dropped before its end, because nobody runs it any more, it ends the actor for everybody else all
/// the same.
pub(super) fn activate<A: Actor>(mut life: Life<A>) -> Pin<Box<dyn Activation>> {
    let me = Arc::clone(&life.cell) as Arc<dyn Identity>;
    // One block, no function that takes the life, and one place for the incarnation that is never taken apart while it is
    // served: the state of an idle actor would hold what was moved twice.
    let life = async move {
        loop {
            let mut place = Box::pin(life.start()).await;
            let Some(born) = &mut place else { break };
            let exit = life.serve(born).await;
            let Some(born) = place.take() else { break };
            if !Box::pin(life.wind_down(born, exit)).await {
                break;
            }
        }
        let reason = life.reason();
        life.end(reason);
    };
    Box::pin(Turns { me, life })
}

impl<L: Future<Output = ()> + Send> Activation for Turns<L> {
    fn identity(&self) -> &Arc<dyn Identity> {
        &self.me
    }

    fn poll(self: Pin<&mut Self>) -> Poll<()> {
        // A life waits only where it pauses. What user code waits for wakes the cell: see `Drive`.
        let mut context = Context::from_waker(Waker::noop());
        self.project().life.poll(&mut context)
    }
}

impl<A: Actor> Life<A> {
    /// Ends the actor for everybody else.
    fn end(&mut self, reason: StopReason) {
        self.turn_out();
        drop(self.cell.mail.end());
        let member: &dyn Member = &*self.cell;
        if !member.finish(reason) {
            self.cell.core.settle();
        }
    }

    /// Ends the children of an actor that did not live to stop them: nobody else can find them any more. The end of each does
    /// the same to its own, one after another, however deep the tree.
    fn let_children_go(&self) {
        let core = &self.cell.core;
        let Some(family) = core.existing_family() else {
            return;
        };
        family.close();
        let is_gone = core.system.is_gone();
        let reason = if is_gone {
            StopReason::SystemGone
        } else {
            StopReason::ParentStopped
        };
        for child in family.members() {
            child.order(&Ending {
                kind: EndKind::Kill,
                reason: reason.clone(),
                deadline: None,
            });
            if is_gone {
                child.let_go();
            }
        }
    }
}

impl<A: Actor> Drop for Life<A> {
    fn drop(&mut self) {
        let core = &self.cell.core;
        if core.state() == ActorState::Busy {
            // The task was dropped in the midst of a handler.
            add(&core.system.counters.failed, 1);
            core.set_state(ActorState::Stopping);
        }
        self.end(StopReason::SystemGone);
        self.let_children_go();
    }
}

/// Where a failure happened: in the handler of a message, or in the hook when it is none.
const fn origin(variant: Option<&'static str>) -> FailureOrigin {
    match variant {
        Some(variant) => FailureOrigin::Handler { variant },
        None => FailureOrigin::Hook("on_terminated"),
    }
}

/// What came of one entry, as far as the turn is concerned.
enum Begun<'a> {
    /// It has been dealt with.
    Done,
    /// The actor failed.
    Failed(Failure),
    /// The handler, or the hook when it was no message, goes on as a future.
    Later(Box<Work<'a, Flow<'static>>>),
}

impl<A: Actor> Life<A> {
    /// Handles messages until something ends the incarnation.
    pub(super) async fn serve(&mut self, born: &mut Born<A>) -> Exit {
        let mut left = self.throughput();
        loop {
            if self.wants_a_look()
                && let Some(exit) = self.look_around()
            {
                return exit;
            }
            if self.is_over(left) {
                left = self.throughput();
                self.pause(Pause::Turn).await;
                continue;
            }
            if self.has_signals {
                left = left.saturating_sub(1);
                match Box::pin(self.hear_signal(born)).await {
                    Judged::Resume => continue,
                    Judged::Exit(exit) => return exit,
                }
            }
            let (entry, is_last) = match self.cell.mail.take(&mut self.burst) {
                Take::Entry(entry) => (entry, false),
                Take::Last(entry) => (entry, true),
                Take::Attention => continue,
                Take::Nothing if self.seen.is_draining() => return self.end_drain(),
                Take::Nothing => {
                    self.rest().await;
                    left = self.left_after_rest(left);
                    continue;
                }
            };
            let failure = match self.begin(entry, born) {
                Begun::Done => None,
                Begun::Failed(failure) => Some(failure),
                Begun::Later(work) => {
                    let variant = work.variant;
                    let flow = self.drive(work, Patience::UntilCut).await;
                    self.account(variant, flow)
                }
            };
            left = left.saturating_sub(1);
            if let Some(failure) = failure {
                match Box::pin(self.judge(failure)).await {
                    Judged::Resume => {}
                    Judged::Exit(exit) => return exit,
                }
            } else if is_last && !self.wants_a_look() && !self.seen.is_draining() {
                self.rest().await;
                left = self.left_after_rest(left);
            }
        }
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
    fn is_over(&self, left: u32) -> bool {
        let looks = left.is_multiple_of(CLOCK_EVERY) && left < self.throughput();
        left == 0 || (looks && dispatch::slice_is_over())
    }

    /// Waits for what comes next. An idle actor is small.
    #[inline]
    fn rest(&mut self) -> Paused {
        self.burst.shrink();
        self.pause(Pause::Idle)
    }

    /// How many messages this turn may still handle. What has come in the last moment is no turn of its own.
    #[inline]
    fn left_after_rest(&self, left: u32) -> u32 {
        if self.cell.mail.was_parked() {
            self.throughput()
        } else {
            left
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

    /// Calls the handler, unless there is no need to.
    #[inline]
    fn begin<'a>(
        &mut self,
        entry: Queued<A::Msg>,
        Born { state, ctx }: &'a mut Born<A>,
    ) -> Begun<'a> {
        let message = match entry {
            Entry::Message(message) => message,
            Entry::Notice(notice) => match *notice {
                Notice::Stamped {
                    incarnation,
                    message,
                } if incarnation == ctx.incarnation() => message,
                Notice::Stamped { message, .. } => return self.skip(message),
                Notice::Terminated { stamp, end } => {
                    if !ctx.expects(stamp, end.id) {
                        return Begun::Done;
                    }
                    self.set_deadline(None);
                    self.set_handler(None);
                    let flow = panic::catch(|| state.on_terminated(ctx, end));
                    return self.go_on(None, flow, None);
                }
            },
        };
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
            Some(Claim::Cancelled) => return self.skip(message),
        };
        self.set_deadline(deadline);
        self.set_handler(Some(variant));
        self.cell.core.set_state(ActorState::Busy);
        let core = &self.cell.core;
        let measured = core.pace.is_wanted();
        let measured = measured.then(|| (Kind::of(&message), Clock::real_now()));
        let flow = panic::catch(|| state.receive(message, ctx));
        if measured.is_none() && matches!(flow, Ok(Flow(Step::Done))) {
            core.set_state(ActorState::Ready);
            core.count_handled();
            return Begun::Done;
        }
        if let Some((kind, began)) = measured {
            let waits = flow.as_ref().is_ok_and(Flow::waits);
            core.pace.note(kind, (!waits).then(|| began.elapsed()));
        }
        self.go_on(Some(variant), flow, deadline)
    }

    /// Goes on after the call: with the account of it, or with the future that it came to.
    #[inline(never)]
    fn go_on<'a>(
        &self,
        variant: Option<&'static str>,
        flow: Result<Flow<'a>, PanicText>,
        deadline: Option<Instant>,
    ) -> Begun<'a> {
        let flow = match flow.map(Flow::now) {
            Ok(Err(future)) => {
                return Begun::Later(Box::new(Work::new(future).of(variant).by(deadline)));
            }
            Ok(Ok(flow)) => Driven::Done(flow),
            Err(text) => Driven::Panicked(text),
        };
        self.account(variant, flow)
            .map_or(Begun::Done, Begun::Failed)
    }

    /// Does not handle a message: whoever wanted it is gone.
    #[cold]
    fn skip<'a>(&self, message: A::Msg) -> Begun<'a> {
        add(&self.cell.core.system.counters.cancelled, 1);
        self.cell.discard(message);
        Begun::Done
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
            Step::Done => None,
            Step::Failed(failure) => Some(failure),
            Step::Ignored(error) => {
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
            Step::Later(future) => {
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

/// Answers the askers whose way back was dropped by the end of their handler.
pub(super) fn answer_orphans(failure: &AskFailure) {
    for orphan in turn::take_orphans() {
        orphan.fail(failure.clone());
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
