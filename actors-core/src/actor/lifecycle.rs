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

use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use crate::error::{AskFailure, CyclePath, Phase};
use crate::event::LifecycleEvent;
use crate::panic::{self, Guarded, PanicText};
use crate::supervision::{
    ChildInfo, Directive, Failure, FailureOrigin, FailureReport, RestartRecord, RestartType,
    Situation, StopReason, Supervision, Verdict,
};
use crate::system::deadlines::Sleep;
use crate::system::group::{Failed, Group, Home, Joined, restart_together};
use crate::system::member::Member;
use crate::system::orders::{Decision, EndKind, Orders, Question, Signal, Word};
use crate::system::{ActorState, ShutdownCause};

use super::Actor;
use super::activation::answer_orphans;
use super::cell::{Cell, Taken};
use super::context::ActorContext;
use super::drive::{Driveable, Driven, Patience, Seen, Work};
use super::factory::{Made, Source};
use super::flow::{Flow, Step};
use super::stopping::order_end;

/// What an activation keeps through all incarnations. The state of the actor is not in here: handlers borrow it while this
/// looks at the mailbox.
pub(super) struct Life<A: Actor> {
    pub(super) cell: Arc<Cell<A::Msg>>,
    source: Guarded<Box<dyn Source<A>>>,
    policy: Supervision,
    /// Made when the first restart is asked for.
    record: Option<Box<RestartRecord>>,
    incarnation: u32,
    /// Entries taken and not begun; still mailbox.
    pub(super) burst: Option<Taken<A::Msg>>,
    pub(super) seen: Seen,
    pub(super) has_signals: bool,
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
    pub(super) state: Guarded<A>,
    pub(super) ctx: ActorContext<A>,
}

impl<A: Actor> Life<A> {
    pub(super) fn new(
        cell: Arc<Cell<A::Msg>>,
        source: Box<dyn Source<A>>,
        policy: Supervision,
    ) -> Self {
        Self {
            cell,
            source: Guarded::new(source),
            policy,
            record: None,
            incarnation: 0,
            burst: None,
            seen: Seen::default(),
            has_signals: false,
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

    /// Starts an incarnation, again and again if the policy says so. `None` when the actor ends.
    pub(super) async fn start(&mut self) -> Option<Born<A>> {
        loop {
            match self.try_start().await {
                Ok(born) => return Some(born),
                Err(exit) => {
                    if !self.leave(exit).await {
                        return None;
                    }
                }
            }
        }
    }

    /// Leaves an incarnation behind: waits before the next, and says whether there is one.
    async fn leave(&mut self, exit: Exit) -> bool {
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

    /// Makes the state and runs `on_start`.
    async fn try_start(&mut self) -> Result<Born<A>, Exit> {
        self.look();
        if self.seen.is_stopping() {
            return Err(Exit::Stop);
        }
        self.set_handler(None);
        if let Some(family) = self.cell.core.existing_family() {
            family.reopen();
        }
        let mut ctx = ActorContext::new(Arc::clone(&self.cell), self.incarnation);
        let mut state = match self.make_state().await {
            Ok(state) => state,
            Err(end) => return Err(self.fail_start(None, ctx, end).await),
        };
        self.look();
        if self.seen.is_stopping() {
            return Err(self.fail_start(Some(state), ctx, StartEnd::Cut).await);
        }
        match self.run_start(&mut state, &mut ctx).await {
            Ok(()) => {}
            Err(end) => return Err(self.fail_start(Some(state), ctx, end).await),
        }
        if self.cell.core.is_abandoned() {
            return Err(self.fail_start(Some(state), ctx, StartEnd::Cut).await);
        }
        self.tell_started();
        Ok(Born { state, ctx })
    }

    /// The incarnation is ready for messages.
    fn tell_started(&mut self) {
        let core = &self.cell.core;
        if let Some(record) = &mut self.record {
            record.running(core.system.clock.now());
        }
        core.set_state(ActorState::Ready);
        if self.incarnation == 0 {
            core.event(|actor, id| LifecycleEvent::Started { actor, id });
        } else {
            let restarts = core.restarts();
            core.event(|actor, id| LifecycleEvent::Restarted {
                actor,
                id,
                restarts,
            });
        }
        self.cell.tell_started();
    }

    async fn make_state(&mut self) -> Result<Guarded<A>, StartEnd> {
        let made = match panic::catch(|| self.source.make()) {
            Err(text) => return Err(StartEnd::panic(text)),
            Ok(Made::Now(made)) => made,
            Ok(Made::Later(future)) => match self.drive(work(future), Patience::UntilCut).await {
                Driven::Done(made) => made,
                Driven::Panicked(text) => return Err(StartEnd::panic(text)),
                Driven::Cut => return Err(StartEnd::Cut),
            },
        };
        made.map(Guarded::new)
            .map_err(|failure| StartEnd::Failed(failure.at(FailureOrigin::Start)))
    }

    async fn run_start(
        &mut self,
        state: &mut A,
        ctx: &mut ActorContext<A>,
    ) -> Result<(), StartEnd> {
        let flow = panic::catch(|| state.on_start(ctx));
        let flow = self.finish_hook(flow, None).await;
        match flow {
            Driven::Panicked(text) => Err(StartEnd::panic(text)),
            Driven::Cut => Err(StartEnd::Cut),
            Driven::Done(Some(failure)) => Err(StartEnd::Failed(failure.at(FailureOrigin::Start))),
            Driven::Done(None) => match self.own_failure(ctx.incarnation()) {
                Some(failure) => Err(StartEnd::Failed(failure.at(FailureOrigin::Start))),
                None => Ok(()),
            },
        }
    }

    /// What the actor said of itself through its context while it started.
    fn own_failure(&self, current: u32) -> Option<Failure> {
        let word = self.cell.mail.amend(|control| {
            let signals = &mut control.as_mut()?.signals;
            let own = signals.iter().position(
                |signal| matches!(signal, Signal::Own { incarnation, .. } if *incarnation == current),
            )?;
            match signals.remove(own)? {
                Signal::Own { word, .. } => Some(word),
                Signal::Escalated { .. } | Signal::Asked { .. } => None,
            }
        })?;
        Some(word.into_failure())
    }

    /// Cleans up after a start that failed or was cut: no hook runs, but children may have been spawned.
    async fn fail_start(
        &mut self,
        state: Option<Guarded<A>>,
        ctx: ActorContext<A>,
        end: StartEnd,
    ) -> Exit {
        let exit = match end {
            StartEnd::Cut => self.called_off(),
            StartEnd::Failed(failure) => match self.judge(failure).await {
                Judged::Exit(exit) => exit,
                // A failed start cannot be resumed; the policy knows.
                Judged::Resume => Exit::Stop,
            },
        };
        self.tidy(ctx, &exit).await;
        if let Some(state) = state {
            self.drop_state(state);
        }
        if matches!(exit, Exit::Recall { .. }) {
            self.cell.tell_not_started();
        }
        exit
    }

    /// What becomes of an incarnation that was cut, or that nobody decided about: a stop beats a recall.
    fn called_off(&mut self) -> Exit {
        self.look();
        match self.recalled() {
            Some(exit) if !self.seen.is_stopping() => exit,
            _ => Exit::Stop,
        }
    }

    /// How the incarnation ends if it is recalled.
    pub(super) fn recalled(&self) -> Option<Exit> {
        if !self.seen.recalled {
            return None;
        }
        let cause = self.cell.recalled_for()?;
        Some(Exit::Recall { cause })
    }

    /// Drives what is left of a hook. Gives its failure, if it had one.
    async fn finish_hook(
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

    /// Finds out what is to be done about a failure, and begins to stop if that is it.
    pub(super) async fn judge(&mut self, failure: Failure) -> Judged {
        self.look();
        if self.seen.is_stopping() {
            return Judged::Exit(Exit::Stop); // A failure while it stops changes nothing.
        }
        if self.seen.recalled {
            // It goes down anyhow.
            self.tell_failed(&failure, Directive::Restart);
            return Judged::Exit(Exit::Recall { cause: failure });
        }
        let Some((directive, failure)) = self.decide(failure).await else {
            return Judged::Exit(self.called_off());
        };
        self.tell_failed(&failure, directive);
        self.carry_out(directive, failure).await
    }

    fn tell_failed(&self, failure: &Failure, directive: Directive) {
        let report = failure.report();
        self.cell.core.event(|actor, id| LifecycleEvent::Failed {
            actor,
            id,
            failure: report,
            directive,
        });
    }

    /// What is to be done about a failure: by the word of a parent that decides itself, or else by the policy. `None` when a
    /// stop or a recall came before the word; the failure is gone then.
    async fn decide(&mut self, failure: Failure) -> Option<(Directive, Failure)> {
        let (word, failure) = match self.deciding_parent() {
            None => (None, failure),
            Some(parent) => Box::pin(self.ask_parent(parent, failure)).await?,
        };
        let core = &self.cell.core;
        let child = ChildInfo::new(core.path.clone(), core.id, core.restarts());
        let declared = || {
            let decided = self.policy.try_decide(&failure, &child);
            decided.unwrap_or(Directive::Stop)
        };
        let directive = word.unwrap_or_else(declared);
        Some((directive, failure))
    }

    fn deciding_parent(&self) -> Option<Arc<dyn Member>> {
        let parent = self.cell.core.parent.as_ref()?.upgrade()?;
        parent.core().kind.decides.then_some(parent)
    }

    /// Leaves the decision to the parent, for as long as the policy lets it wait.
    async fn ask_parent(
        &mut self,
        parent: Arc<dyn Member>,
        failure: Failure,
    ) -> Option<(Option<Directive>, Failure)> {
        let failure = failure.answered_to(parent.core().id);
        let question = Question::new(failure);
        let was = self.cell.core.state();
        self.cell.core.set_state(ActorState::Deciding);
        let child = Arc::downgrade(&self.cell) as Weak<dyn Member>;
        let mut signal = Some(Signal::Asked {
            child,
            question: Arc::clone(&question),
        });
        self.leave_to(&*parent, &mut |orders| {
            orders.signals.extend(signal.take());
        });
        let decision = self.wait_for_word(&question).await;
        self.cell.core.set_state(was);
        let Decision { directive, failure } = decision?;
        let failure = failure.or_else(|| question.take())?;
        Some((directive, failure))
    }

    async fn wait_for_word(&mut self, question: &Question) -> Option<Decision> {
        loop {
            if let Some(decision) = self.wait_for_decision().await {
                return Some(decision);
            }
            let failure = question.take();
            if self.is_called() {
                self.cell.discard(failure);
                return None;
            }
            if failure.is_some() {
                return Some(Decision {
                    directive: None,
                    failure,
                });
            }
            // It is being decided just now.
        }
    }

    /// Waits for the word of the parent; `None` when its time is up, or a stop or a recall has come.
    async fn wait_for_decision(&mut self) -> Option<Decision> {
        let cell = Arc::clone(&self.cell);
        let limit = cell.core.system.deadlines.sleep(self.policy.timeout());
        let waiting = Arc::clone(&cell);
        let decision = poll_fn(move |_| match waiting.take_decision() {
            Some(decision) => Poll::Ready(decision),
            None => Poll::Pending,
        });
        let work = Work::new(Box::pin(decision)).until(Some(limit));
        match self.drive(Box::new(work), Patience::UntilCalled).await {
            Driven::Done(decision) => Some(decision),
            Driven::Panicked(_) | Driven::Cut => None,
        }
    }

    /// Says whether a stop or a recall has come.
    fn is_called(&mut self) -> bool {
        self.look();
        self.seen.is_stopping() || self.seen.recalled
    }

    async fn carry_out(&mut self, directive: Directive, failure: Failure) -> Judged {
        let asks_for_restart = directive == Directive::Restart
            || (directive == Directive::Resume && failure.origin().is_start());
        if asks_for_restart && let Some(group) = self.group() {
            return match self.join(&group, &failure, true) {
                Joined::Escalates => Box::pin(self.escalate(failure)).await,
                Joined::Waits | Joined::Begins => Judged::Exit(Exit::Recall { cause: failure }),
            };
        }
        let situation = self.situation();
        match self.policy.verdict(
            directive,
            &failure,
            self.record.get_or_insert_default(),
            situation,
        ) {
            Verdict::Resume => {
                self.cell.discard(failure);
                Judged::Resume
            }
            Verdict::Restart { after } => Judged::Exit(Exit::Restart {
                after,
                cause: failure,
            }),
            Verdict::Stop(reason) => {
                self.cell.discard(failure);
                self.stop_for(reason);
                Judged::Exit(Exit::Stop)
            }
            Verdict::Escalate => Box::pin(self.escalate(failure)).await,
        }
    }

    fn situation(&self) -> Situation {
        Situation {
            now: self.cell.core.system.clock.now(),
            random: self.random(),
            restartable: self.restarts(),
        }
    }

    /// It asked for a fresh state itself: that is no failure, and does not count.
    pub(super) fn restart_itself(&mut self) -> Judged {
        if self.restarts() {
            return Judged::Exit(Exit::Restart {
                after: Duration::ZERO,
                cause: Word::Restart.into_failure(),
            });
        }
        self.stop_for(StopReason::Stopped);
        Judged::Exit(Exit::Stop)
    }

    /// It ended itself, and is one that must not: that counts as a failure.
    pub(super) async fn end_permanent(&mut self) -> Judged {
        let failure = Word::Ended.into_failure();
        self.tell_failed(&failure, Directive::Restart);
        self.carry_out(Directive::Restart, failure).await
    }

    fn restarts(&self) -> bool {
        self.cell.core.options.restart_type != RestartType::Temporary
    }

    /// The siblings with which it is restarted, if it is one to be restarted.
    fn group(&self) -> Option<Arc<Group>> {
        Home::of(&self.cell.core)
            .group()
            .filter(|_| self.restarts())
    }

    /// Asks for a restart of its siblings and itself.
    fn join(&self, group: &Arc<Group>, failure: &Failure, may_escalate: bool) -> Joined {
        let core = &self.cell.core;
        let failed = Failed {
            id: core.id,
            path: core.path.clone(),
            report: failure.report(),
        };
        let joined = group.join(failed, self.situation(), may_escalate);
        if matches!(joined, Joined::Begins) {
            let system = Arc::clone(&core.system);
            let restart = restart_together(system, Home::of(core), Arc::clone(group));
            core.system.run(core.id, restart).detach();
        }
        joined
    }

    /// The parent lets an actor go on that has no state, because its start failed: that is a restart, and counts as one.
    fn start_again(&mut self, report: FailureReport) -> Judged {
        let cause = Failure::of_report(&report);
        if let Some(group) = self.group() {
            let _ = self.join(&group, &cause, false);
            return Judged::Exit(Exit::Recall { cause });
        }
        let situation = self.situation();
        let reason = match self.policy.verdict(
            Directive::Restart,
            &cause,
            self.record.get_or_insert_default(),
            situation,
        ) {
            Verdict::Restart { after } => return Judged::Exit(Exit::Restart { after, cause }),
            Verdict::Stop(StopReason::Failed(_)) => StopReason::Failed(report),
            // The parent has spoken, so it is not asked again.
            Verdict::Stop(_) | Verdict::Resume | Verdict::Escalate => {
                StopReason::RestartLimit(report)
            }
        };
        self.stop_for(reason);
        Judged::Exit(Exit::Stop)
    }

    /// Orders its own end.
    fn stop_for(&mut self, reason: StopReason) {
        let member = Arc::clone(&self.cell) as Arc<dyn Member>;
        drop(order_end(member, EndKind::Stop, reason, None));
        self.look();
    }

    /// Leaves the decision to the parent, which fails with this failure, and waits for what comes of it. At the top the
    /// system shuts down.
    async fn escalate(&mut self, failure: Failure) -> Judged {
        let cell = Arc::clone(&self.cell);
        let core = &cell.core;
        let report = failure.report();
        let failed_to_start = failure.origin().is_start();
        core.set_state(ActorState::Deciding);
        match core.parent.as_ref().map(Weak::upgrade) {
            None => {
                self.cell.discard(failure);
                return self.shut_down_for(report);
            }
            // The parent went without stopping it, as a runtime does: nobody decides any more.
            Some(None) => {
                self.cell.discard(failure);
                self.stop_for(StopReason::Failed(report));
                return Judged::Exit(Exit::Stop);
            }
            Some(Some(parent)) => self.escalate_to(&*parent, failure),
        }
        match self.wait_for_decision().await {
            Some(Decision {
                directive: Some(_), ..
            }) if failed_to_start => self.start_again(report),
            Some(Decision {
                directive: Some(_), ..
            }) => {
                core.set_state(ActorState::Ready);
                Judged::Resume
            }
            _ if self.is_called() => Judged::Exit(self.called_off()),
            // The parent was busy for too long, or waits for this very actor.
            _ => {
                self.stop_for(StopReason::Failed(report));
                Judged::Exit(Exit::Stop)
            }
        }
    }

    /// There is nobody above to decide: the actor stops, and its system with it.
    fn shut_down_for(&mut self, report: FailureReport) -> Judged {
        let cause = ShutdownCause::Escalated {
            actor: self.cell.core.path.clone(),
            failure: report.clone(),
        };
        self.stop_for(StopReason::Failed(report));
        self.cell.core.system.begin_shutdown(cause);
        Judged::Exit(Exit::Stop)
    }

    fn escalate_to(&mut self, parent: &dyn Member, failure: Failure) {
        let core = &self.cell.core;
        let failure = failure.answered_to(parent.core().id);
        let mut signal = Some(Signal::Escalated {
            child: Arc::downgrade(&self.cell) as Weak<dyn Member>,
            failure: failure.escalated_by(&core.path),
        });
        self.leave_to(parent, &mut |orders| orders.signals.extend(signal.take()));
    }

    /// Tells the parent of a failure that it has to decide about.
    fn leave_to(&mut self, parent: &dyn Member, tell: &mut dyn FnMut(&mut Orders)) {
        let core = &self.cell.core;
        parent.control(tell);
        // A parent that waits for this very actor could not decide. What was taken and not begun is mailbox too.
        self.cell.mail.put_back(&mut self.burst);
        let cycle = vec![parent.core().path.clone(), core.path.clone()];
        self.cell
            .refuse_asks_of(parent.core().id, &AskFailure::Cycle(CyclePath::new(cycle)));
    }

    /// Ends an incarnation that had started. Says whether there is a next.
    pub(super) async fn wind_down(&mut self, born: Born<A>, exit: Exit) -> bool {
        let Born { mut state, ctx } = born;
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
    async fn tidy(&mut self, mut ctx: ActorContext<A>, exit: &Exit) -> ActorContext<A> {
        self.look();
        ctx.end_incarnation();
        match exit {
            Exit::Stop => {
                self.cell.core.set_state(ActorState::Stopping);
                self.turn_out();
            }
            Exit::Restart { .. } | Exit::Recall { .. } => {
                self.cell.core.set_state(ActorState::Restarting);
                self.cell.mail.put_back(&mut self.burst);
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

    fn drop_state(&self, state: Guarded<A>) {
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
        self.cell.mail.put_back(&mut self.burst);
        let turn = std::future::pending::<()>();
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

    /// A number in `[0, 1)` for the jitter of the back-off; the same in every run of the same program.
    fn random(&self) -> f64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.cell.core.id, self.cell.core.restarts()).hash(&mut hasher);
        #[expect(
            clippy::cast_precision_loss,
            reason = "53 bits are what the type holds"
        )]
        let random = (hasher.finish() >> 11) as f64 / (1u64 << 53) as f64;
        random
    }
}

/// A future of the system's own, or one without a limit.
fn work<T>(future: Driveable<'_, T>) -> Box<Work<'_, T>> {
    Box::new(Work::new(future))
}

impl Word {
    /// What an incarnation has failed with that says this before it has started, or although it is permanent.
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::Restart => Failure::from("it asked to be restarted"),
            Self::Ended => Failure::from("it stopped itself, and is permanent"),
        }
    }
}

/// How a start did not come to its end.
enum StartEnd {
    Failed(Failure),
    Cut,
}

impl StartEnd {
    fn panic(text: PanicText) -> Self {
        answer_orphans(&AskFailure::Panicked(Arc::clone(&text)));
        Self::Failed(Failure::panic(text, FailureOrigin::Start))
    }
}
