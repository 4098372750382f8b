//! The life of an actor around its turns: start, failure, restart, end.
//!
//! ```text
//!            +----------------- back-off <----------------+
//!            v                                            | restart
//! spawn -> start -> serve (activation.rs) -> failure -> judge -> wind down -> end
//!            |        ^                         | resume           ^
//!            |        +-------------------------+                  |
//!            +-- failed: judged as well ---------- stop -----------+
//! ```
//!
//! Winding down, in order: results on their way are dropped, children stop, the hook runs, the state is dropped. Each step
//! looks at the control lane again, so that a stop beats a restart and a kill beats a stop, whenever they come.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::error::{AskFailure, Phase};
use crate::event::LifecycleEvent;
use crate::panic::{self, Guarded, PanicText};
use crate::supervision::{Failure, FailureOrigin, RestartRecord, StopReason};
use crate::system::ActorState;
use crate::system::deadlines::Sleep;
use crate::system::member::Member;

use super::Actor;
use super::activation::answer_orphans;
use super::cell::{Cell, Taken};
use super::context::ActorContext;
use super::drive::{Driveable, Driven, Patience, Seen, Work};
use super::factory::Source;
use super::flow::{Flow, Step};

/// What an activation keeps through all incarnations. The state of the actor is not in here: handlers borrow it while this
/// looks at the mailbox.
pub(super) struct Life<A: Actor> {
    pub(super) cell: Arc<Cell<A::Msg>>,
    pub(super) source: Guarded<Box<dyn Source<A>>>,
    /// Made when the first restart is asked for.
    pub(super) record: Option<Box<RestartRecord>>,
    pub(super) incarnation: u32,
    /// Entries taken and not begun; still mailbox.
    pub(super) burst: Taken<A::Msg>,
    pub(super) seen: Seen,
    /// How many messages may still be handled in this turn.
    pub(super) left: u32,
    pub(super) has_signals: bool,
    /// Whether anything that was seen or heard comes before the next message.
    pub(super) is_alert: bool,
    /// Whether the thread has been told a deadline.
    pub(super) has_deadline: bool,
    /// The address of the name of what runs: tells whether the name must be told again.
    pub(super) handler: usize,
}

/// How an incarnation ends.
pub(super) enum Exit {
    /// The actor ends, for the reason in its orders.
    Stop,
    /// It makes room for the next.
    Restart { after: Duration, cause: Failure },
    /// The same, together with its siblings: when it goes, and when the next comes, is said by whoever restarts them.
    Recall { cause: Failure },
}

/// What was decided about a failure.
pub(super) enum Judged {
    Resume,
    Exit(Exit),
}

/// A live incarnation.
pub(super) struct Born<A: Actor> {
    pub(super) state: A,
    pub(super) ctx: ActorContext<A>,
}

impl<A: Actor> Life<A> {
    pub(super) fn new(cell: Arc<Cell<A::Msg>>, source: Box<dyn Source<A>>) -> Self {
        Self {
            cell,
            source: Guarded::new(source),
            record: None,
            incarnation: 0,
            burst: Taken::new(),
            seen: Seen::default(),
            left: 0,
            has_signals: false,
            is_alert: false,
            has_deadline: false,
            handler: 0,
        }
    }

    /// Why the actor ends.
    pub(super) fn reason(&self) -> StopReason {
        self.cell
            .ending()
            .map_or(StopReason::Stopped, |ending| ending.reason)
    }

    /// Leaves an incarnation behind: waits before the next, and says whether there is one.
    pub(super) async fn leave(&mut self, exit: Exit) -> bool {
        match self.beaten_by_stop(exit) {
            Exit::Stop => false,
            Exit::Restart { after, cause } => {
                self.cell.discard(cause);
                self.back_off(after).await
            }
            Exit::Recall { cause } => {
                self.cell.discard(cause);
                self.wait_for_go().await
            }
        }
    }

    /// Drives what is left of a hook. Gives its failure, if it had one.
    pub(super) async fn finish_hook(
        &mut self,
        flow: Result<Flow<'_>, PanicText>,
        limit: Option<Sleep>,
    ) -> Driven<Option<Failure>> {
        let flow = match flow.map(Flow::now) {
            Err(text) => return Driven::Panicked(text),
            Ok(Err(future)) => match self
                .drive(Box::new(Work::new(future).until(limit)), Patience::UntilCut)
                .await
            {
                Driven::Done(flow) => flow,
                Driven::Panicked(text) => return Driven::Panicked(text),
                Driven::Cut => return Driven::Cut,
            },
            Ok(Ok(flow)) => flow,
        };
        Driven::Done(match flow.0 {
            Step::Failed(failure) => Some(failure),
            Step::Done | Step::Ignored(_) | Step::Later(_) => None,
        })
    }

    /// Ends an incarnation that had started. Says whether there is a next.
    pub(super) async fn wind_down(&mut self, born: Born<A>, exit: Exit) -> bool {
        let Born { state, ctx } = born;
        let mut state = Guarded::new(state);
        self.leave_asker().await;
        if matches!(exit, Exit::Recall { .. }) {
            self.wait_for_turn().await;
        }
        let mut ctx = self.tidy(ctx, &exit).await;
        let exit = self.beaten_by_stop(exit);
        if !self.seen.is_killed() && !self.cell.core.is_abandoned() {
            self.run_hook(&mut state, &mut ctx, &exit).await;
            // What the hook began belongs to this incarnation too.
            ctx.end_incarnation();
        }
        drop(ctx);
        self.drop_state(state);
        self.leave(exit).await
    }

    /// Everything before the hook: the mailbox is turned out or kept, results on their way are dropped, children stop.
    pub(super) async fn tidy(&mut self, mut ctx: ActorContext<A>, exit: &Exit) -> ActorContext<A> {
        self.look();
        ctx.end_incarnation();
        match exit {
            Exit::Stop => {
                self.cell.core.set_state(ActorState::Stopping);
                self.turn_out();
            }
            Exit::Restart { .. } | Exit::Recall { .. } => {
                self.cell.core.set_state(ActorState::Restarting);
                self.cell.mail.put_back(&self.cell.side, &mut self.burst);
            }
        }
        self.stop_children().await;
        // No child waits for a decision any more; those who asked them are told.
        self.cell.drop_childrens_signals();
        ctx
    }

    async fn stop_children(&mut self) {
        let cell = Arc::clone(&self.cell);
        let Some(family) = cell.core.existing_family() else {
            return;
        };
        family.close();
        if family.len() == 0 {
            return;
        }
        let deadline = cell.deadline();
        let kind = self.seen.kind_for_children();
        let all = family.stop_all(kind, StopReason::ParentStopped, deadline);
        if let Driven::Done(()) = self.drive(work(Box::pin(all)), Patience::UntilCut).await {
            return;
        }
        // No time is left: what user code of theirs still waits is cut.
        let now = Some(cell.core.system.clock.now());
        let kind = self.seen.kind_for_children();
        let rest = family.stop_all(kind, StopReason::ParentStopped, now);
        let _ = self.drive(work(Box::pin(rest)), Patience::ToTheEnd).await;
    }

    async fn run_hook(&mut self, state: &mut A, ctx: &mut ActorContext<A>, exit: &Exit) {
        self.set_deadline(None);
        self.set_handler(None);
        let reason = self.reason();
        let (name, limit, flow) = match exit {
            // The order to end has a deadline of its own.
            Exit::Stop => (
                "on_stop",
                None,
                panic::catch(|| state.on_stop(ctx, &reason)),
            ),
            Exit::Restart { cause, .. } => {
                let core = &self.cell.core;
                let limit = core.system.deadlines.sleep(core.options.stop_timeout);
                let flow = panic::catch(|| state.on_restart(ctx, cause));
                ("on_restart", Some(limit), flow)
            }
            // So has a recall.
            Exit::Recall { cause } => {
                let flow = panic::catch(|| state.on_restart(ctx, cause));
                ("on_restart", None, flow)
            }
        };
        let failure = match self.finish_hook(flow, limit).await {
            Driven::Done(failure) => failure.map(|failure| failure.at(FailureOrigin::Hook(name))),
            Driven::Panicked(text) => Some(Failure::panic(text, FailureOrigin::Hook(name))),
            Driven::Cut => None,
        };
        answer_orphans(&AskFailure::Stopped(Phase::Running));
        if let Some(failure) = failure {
            let failure = failure.report();
            self.cell
                .core
                .event(|actor, id| LifecycleEvent::HookFailed { actor, id, failure });
        }
    }

    pub(super) fn drop_state(&self, state: Guarded<A>) {
        self.cell.discard(state.into_inner());
    }

    /// A stop beats a restart, whenever it comes.
    fn beaten_by_stop(&mut self, exit: Exit) -> Exit {
        self.look();
        match exit {
            Exit::Restart { .. } | Exit::Recall { .. } if self.seen.is_stopping() => {
                self.turn_out();
                Exit::Stop
            }
            exit => exit,
        }
    }

    /// Waits before a restart; says whether there is one.
    async fn back_off(&mut self, after: Duration) -> bool {
        let core = &self.cell.core;
        core.set_state(ActorState::Restarting);
        if !after.is_zero() {
            let sleep = core.system.deadlines.sleep(after);
            if !matches!(
                self.drive(work(Box::pin(sleep)), Patience::UntilStop).await,
                Driven::Done(())
            ) {
                return false;
            }
        }
        self.look();
        if self.seen.is_stopping() {
            return false;
        }
        self.begin_incarnation();
        true
    }

    fn begin_incarnation(&mut self) {
        self.incarnation = self.incarnation.wrapping_add(1);
        self.cell.core.count_restart();
    }

    /// A failed actor goes down when it is its turn among its siblings.
    async fn wait_for_turn(&mut self) {
        self.cell.core.set_state(ActorState::Restarting);
        self.cell.mail.put_back(&self.cell.side, &mut self.burst);
        let turn = pending::<()>();
        let _ = self
            .drive(work(Box::pin(turn)), Patience::UntilCalled)
            .await;
    }

    /// Waits, without a state, until it may start together with its siblings; says whether it may.
    async fn wait_for_go(&mut self) -> bool {
        self.cell.core.set_state(ActorState::Restarting);
        let waiting = Arc::clone(&self.cell);
        let go = poll_fn(move |_| {
            if waiting.take_go() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let go = self.drive(work(Box::pin(go)), Patience::UntilStop).await;
        self.look_closely();
        if !matches!(go, Driven::Done(())) || self.seen.is_stopping() {
            return false;
        }
        self.begin_incarnation();
        true
    }
}

/// A future of the system's own, or one without a limit.
pub(super) fn work<T>(future: Driveable<'_, T>) -> Box<Work<'_, T>> {
    Box::new(Work::new(future))
}
