//! What an actor hears between two messages: of its children, and of itself.

use std::sync::{Arc, Weak};

use crate::error::AskFailure;
use crate::panic;
use crate::supervision::{ChildInfo, Directive, Failure, FailureOrigin};
use crate::system::member::Member;
use crate::system::orders::{Decision, Plea, Question, Signal, Word};

use super::Actor;
use super::activation::answer_orphans;
use super::lifecycle::{Born, Judged, Life};

impl<A: Actor> Life<A> {
    /// Hears what a child says, or what it said of itself. One at a time: whatever it does about it, a stop or a recall may
    /// have come before the next.
    pub(super) async fn hear_signal(&mut self, born: &mut Born<A>) -> Judged {
        match self.next_signal() {
            None => Judged::Resume,
            Some(Signal::Own { incarnation, word }) if incarnation == born.ctx.incarnation() => {
                self.hear_own(word).await
            }
            Some(Signal::Own { word, .. }) => {
                self.cell.discard(word);
                Judged::Resume
            }
            Some(Signal::Child {
                child,
                plea,
                question,
            }) => self.hear_child(&child, plea, &question, born).await,
        }
    }

    async fn hear_own(&mut self, word: Word) -> Judged {
        match word {
            Word::Failed(failure) => self.judge(failure).await,
            Word::Restart => self.restart_itself(),
            Word::Ended => self.end_permanent().await,
        }
    }

    /// A child that waits no more, because its time was up or it is of a later incarnation by now, is decided.
    async fn hear_child(
        &mut self,
        child: &Weak<dyn Member>,
        plea: Plea,
        question: &Arc<Question>,
        born: &mut Born<A>,
    ) -> Judged {
        let child = child.upgrade().filter(|child| child.core().is_deciding());
        let (Some(child), Some(failure)) = (child, question.take()) else {
            return Judged::Resume;
        };
        let (judged, directive, failure) = match plea {
            Plea::Escalate => {
                let judged = self.judge(failure).await;
                (judged, Some(Directive::Resume), None)
            }
            Plea::Decide => {
                let (directive, own) = self.decide_about(&*child, &failure, born);
                // Its own failure first: most of what comes of it ends the child.
                let judged = match own {
                    None => Judged::Resume,
                    Some(own) => self.judge(own).await,
                };
                (judged, directive, Some(failure))
            }
        };
        let mut decision = Some(Decision { directive, failure });
        if matches!(judged, Judged::Resume) {
            child.control(&mut |orders| orders.answer(question, &mut decision));
        }
        self.cell.discard(decision);
        judged
    }

    /// Asks the user's method about the failure of a child. Gives what the method panicked with as well, if it did: that is
    /// a failure of this actor, and the declared policy decides about the child.
    fn decide_about(
        &mut self,
        child: &dyn Member,
        failure: &Failure,
        Born { state, ctx }: &mut Born<A>,
    ) -> (Option<Directive>, Option<Failure>) {
        let core = child.core();
        let about = ChildInfo::new(core.path(), core.id, core.restarts());
        self.set_deadline(None);
        self.set_handler(None);
        match panic::catch(|| state.on_failure(ctx, failure, &about)) {
            Ok(directive) => (directive, None),
            Err(text) => {
                answer_orphans(&AskFailure::Panicked(Arc::clone(&text)));
                let origin = FailureOrigin::Hook("on_failure");
                (None, Some(Failure::panic(text, origin)))
            }
        }
    }

    fn next_signal(&mut self) -> Option<Signal> {
        let signal = self.cell.mail.amend(|control| {
            let signals = &mut control.as_mut()?.signals;
            let signal = signals.pop_front()?;
            let more = !signals.is_empty();
            control.take_if(|orders| orders.is_empty());
            Some((signal, more))
        });
        let (signal, more) = signal.unzip();
        self.has_signals = more.unwrap_or(false);
        self.is_alert = self.has_signals || self.seen.is_unusual();
        signal
    }
}
