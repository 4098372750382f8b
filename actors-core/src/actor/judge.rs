//! What is done about a failure of the actor: who decides, and what the decision comes to.
//!
//! ```text
//! failure -> word of the parent (`on_failure`) or the declared policy -> directive
//!         -> with siblings that restart together: they are all recalled (system/group.rs)
//!         -> otherwise a verdict: resume, restart, stop, or leave it to the parent
//! ```
//!
//! While the actor waits for its parent, a stop or a recall ends the wait.

use std::sync::Arc;
use std::time::Duration;

use crate::event::LifecycleEvent;
use crate::panic::PanicText;
use crate::supervision::{
    ChildInfo, Directive, Failure, FailureOrigin, RestartType, Situation, StopReason, Verdict,
};
use crate::system::group::{Group, Home, Joined, restart_together};
use crate::system::member::Member;
use crate::system::orders::{EndKind, Failed, Word};

use super::Actor;
use super::lifecycle::{Exit, Judged, Life};
use super::stopping::order_end;

impl<A: Actor> Life<A> {
    /// Finds out what is to be done about a failure, and begins to stop if that is it.
    pub(super) async fn judge(&mut self, failure: Failure) -> Judged {
        self.leave_asker().await;
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
        let child = ChildInfo::new(core.path(), core.id, core.restarts());
        let declared = || match core.policy.try_decide(&failure, &child) {
            Ok(directive) => directive,
            Err(text) => self.undecided(text),
        };
        let directive = word.unwrap_or_else(declared);
        Some((directive, failure))
    }

    /// A decider has panicked: nobody else would tell of that.
    #[cold]
    fn undecided(&self, text: PanicText) -> Directive {
        let failure = Failure::panic(text, FailureOrigin::Hook("decider")).report();
        self.cell
            .core
            .event(|actor, id| LifecycleEvent::HookFailed { actor, id, failure });
        Directive::Stop
    }

    /// What becomes of an incarnation that was cut, or that nobody decided about: a stop beats a recall.
    pub(super) fn called_off(&mut self) -> Exit {
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
        match self.cell.core.policy.verdict(
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
                self.stop_for(reason)
            }
            Verdict::Escalate => Box::pin(self.escalate(failure)).await,
        }
    }

    pub(super) fn situation(&self) -> Situation {
        Situation {
            now: self.cell.core.system.clock.now(),
            random: self.random(),
            restartable: self.is_restartable(),
        }
    }

    fn is_restartable(&self) -> bool {
        self.cell.core.options.restart_type != RestartType::Temporary
    }

    /// The siblings with which it is restarted, if it is one to be restarted.
    pub(super) fn group(&self) -> Option<Arc<Group>> {
        Home::of(&self.cell.core)
            .group()
            .filter(|_| self.is_restartable())
    }

    /// Asks for a restart of its siblings and itself.
    pub(super) fn join(&self, group: &Arc<Group>, failure: &Failure, may_escalate: bool) -> Joined {
        let core = &self.cell.core;
        let failed = Failed {
            id: core.id,
            path: core.path(),
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

    /// It asked for a fresh state itself: that is no failure, and does not count.
    pub(super) fn restart_itself(&mut self) -> Judged {
        if self.is_restartable() {
            return Judged::Exit(Exit::Restart {
                after: Duration::ZERO,
                cause: Word::Restart.into_failure(),
            });
        }
        self.stop_for(StopReason::Stopped)
    }

    /// It ended itself, and is one that must not: that counts as a failure.
    pub(super) async fn end_permanent(&mut self) -> Judged {
        let failure = Word::Ended.into_failure();
        self.tell_failed(&failure, Directive::Restart);
        self.carry_out(Directive::Restart, failure).await
    }

    /// Orders its own end.
    pub(super) fn stop_for(&mut self, reason: StopReason) -> Judged {
        let member = Arc::clone(&self.cell) as Arc<dyn Member>;
        drop(order_end(member, EndKind::Stop, reason, None));
        self.look();
        Judged::Exit(Exit::Stop)
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
