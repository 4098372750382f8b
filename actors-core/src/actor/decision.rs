//! Leaving a failure to the parent: for its own decision (`on_failure`), or to fail with it (escalation).
//!
//! The failed actor waits, as deciding, for at most the policy's decision timeout, or until a stop or a recall comes. A parent
//! that waits for this very actor could not decide: its asks here fail at once, what it asked before is answered before it
//! decides, and while it waits for this actor to start it is not asked at all.

use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use crate::error::{AskFailure, CyclePath};
use crate::supervision::{Directive, Failure, FailureReport, StopReason, Verdict};
use crate::system::member::Member;
use crate::system::orders::{Decision, Plea, Question, Signal};
use crate::system::{ActorState, ShutdownCause};

use super::Actor;
use super::drive::{Driven, Patience, Work};
use super::lifecycle::{Exit, Judged, Life};

impl<A: Actor> Life<A> {
    /// The parent, if it is one that decides itself.
    pub(super) fn deciding_parent(&self) -> Option<Arc<dyn Member>> {
        let parent = self.cell.core.parent.as_ref()?.upgrade()?;
        parent.core().kind.decides.then_some(parent)
    }

    /// Leaves the decision to the parent, for as long as the policy lets it wait; gives the failure back, with the parent's
    /// word if there is one. `None` when a stop or a recall came first; the failure is gone then.
    pub(super) async fn ask_parent(
        &mut self,
        parent: Arc<dyn Member>,
        failure: Failure,
    ) -> Option<(Option<Directive>, Failure)> {
        let was = self.cell.core.state();
        let question = self.leave_to(&*parent, Plea::Decide, failure);
        let mut limit = Some(self.cell.core.policy.timeout());
        let answer = loop {
            let decision = self.wait_for_decision(limit).await;
            let (word, failure) = match decision {
                Some(decision) => (decision.directive, decision.failure),
                None => (None, None),
            };
            let failure = failure.or_else(|| question.take());
            if self.is_called() {
                self.cell.discard(failure);
                break None;
            }
            if let Some(failure) = failure {
                break Some((word, failure));
            }
            // The parent has it in its hands: the decision is being made just now, and comes, or the actor is ordered to end.
            limit = None;
        };
        self.cell.drop_question();
        if answer.is_some() {
            self.cell.core.set_state(was);
        }
        answer
    }

    /// Leaves the failure to the parent, which fails with it, and waits for what comes of it. At the top the system shuts
    /// down.
    pub(super) async fn escalate(&mut self, failure: Failure) -> Judged {
        let report = failure.report();
        let failed_to_start = failure.origin().is_start();
        let parent = match self.cell.core.parent.as_ref().map(Weak::upgrade) {
            Some(Some(parent)) => parent,
            top_or_orphan => {
                self.cell.discard(failure);
                return match top_or_orphan {
                    None => self.shut_down_for(report),
                    // The parent went without stopping it, as a runtime does: nobody decides any more.
                    Some(_) => self.stop_for(StopReason::Failed(report)),
                };
            }
        };
        let failure = failure.escalated_by(&self.cell.core.path());
        let question = self.leave_to(&*parent, Plea::Escalate, failure);
        let decision = self
            .wait_for_decision(Some(self.cell.core.policy.timeout()))
            .await;
        let directive = decision.and_then(|decision| decision.directive);
        self.cell.drop_question();
        self.cell.discard(question.take());
        if self.is_called() {
            return Judged::Exit(self.called_off());
        }
        if directive.is_none() {
            // The parent was busy for too long, or waits for this very actor.
            return self.stop_for(StopReason::Failed(report));
        }
        if failed_to_start {
            return self.start_again(report);
        }
        self.cell.core.set_state(ActorState::Ready);
        Judged::Resume
    }

    /// Tells the parent of a failure, and sees to it that the parent does not wait for this very actor.
    fn leave_to(&mut self, parent: &dyn Member, plea: Plea, failure: Failure) -> Arc<Question> {
        let core = &self.cell.core;
        core.set_state(ActorState::Deciding);
        let question = Question::new(failure.answered_to(parent.core().id));
        // All this comes before the parent knows: what it asks when it has decided is an ask like any other.
        self.cell.set_question(&question);
        // What was taken and not begun is mailbox too.
        self.cell.mail.put_back(&self.cell.side, &mut self.burst);
        let cycle = vec![parent.core().path(), core.path()];
        self.cell
            .refuse_asks_of(parent.core().id, &AskFailure::Cycle(CyclePath::new(cycle)));
        let mut signal = Some(Signal::Child {
            child: Arc::downgrade(&self.cell) as Weak<dyn Member>,
            plea,
            question: Arc::clone(&question),
        });
        parent.control(&mut |orders| orders.signals.extend(signal.take()));
        question
    }

    /// There is nobody above to decide: the actor stops, and its system with it.
    fn shut_down_for(&mut self, report: FailureReport) -> Judged {
        let cause = ShutdownCause::Escalated {
            actor: self.cell.core.path(),
            failure: report.clone(),
        };
        let judged = self.stop_for(StopReason::Failed(report));
        self.cell.core.system.begin_shutdown(cause);
        judged
    }

    /// The parent lets an actor go on that has no state, because its start failed: that is a restart, and counts as one.
    fn start_again(&mut self, report: FailureReport) -> Judged {
        let cause = Failure::of_report(&report);
        if let Some(group) = self.group() {
            let _ = self.join(&group, &cause, false);
            return Judged::Exit(Exit::Recall { cause });
        }
        let situation = self.situation();
        let reason = match self.cell.core.policy.verdict(
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
        self.stop_for(reason)
    }

    /// Waits for the word of the parent; `None` when its time is up, or a stop or a recall has come. Without a limit, the
    /// parent is known to have begun.
    async fn wait_for_decision(&mut self, limit: Option<Duration>) -> Option<Decision> {
        let has_begun = limit.is_none();
        let limit = limit.map(|limit| self.cell.core.system.deadlines.sleep(limit));
        let waiting = Arc::clone(&self.cell);
        let decision = poll_fn(move |_| match waiting.take_decision(has_begun) {
            Some(decision) => Poll::Ready(decision),
            None => Poll::Pending,
        });
        let work = Work::new(Box::pin(decision)).until(limit);
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
}
