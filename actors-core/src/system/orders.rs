//! The control lane of an actor: the order to end, and what else its activation has to hear of.
//!
//! Values, without a clock or a lock: they are under the lock of the mailbox.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::path::{ActorId, ActorPath};
use crate::supervision::{Directive, Failure, FailureReport, StopReason};
use crate::sync::Mutex;

use super::deadlines::earlier;
use super::member::Member;

/// How an actor is to end; a later kind beats an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EndKind {
    Drain,
    Stop,
    Kill,
}

/// An order to end.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub(crate) kind: EndKind,
    pub(crate) reason: StopReason,
    /// When whatever user code still runs is cut. `None`: never (a time past what the clock can say).
    pub(crate) deadline: Option<Instant>,
}

/// What an activation has to hear of, besides its messages.
#[derive(Debug)]
pub(crate) enum Signal {
    /// A child failed, and leaves it to this actor.
    Child {
        child: Weak<dyn Member>,
        plea: Plea,
        question: Arc<Question>,
    },
    /// An incarnation of this very actor said something of itself, or work beside it did.
    Own { incarnation: u32, word: Word },
}

/// What a failed child wants of its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plea {
    /// That it fails with the child's failure.
    Escalate,
    /// That it decides about it.
    Decide,
}

/// What an incarnation says of itself.
#[derive(Debug)]
pub(crate) enum Word {
    /// It failed.
    Failed(Failure),
    /// It wants a fresh state.
    Restart,
    /// It is permanent, and ended itself all the same.
    Ended,
}

/// A failure that a child and its parent share: whoever takes it decides. The child takes it back when it waits no more. It
/// also tells failures apart, so that a late decision is none about the next.
#[derive(Debug)]
pub(crate) struct Question(Mutex<Option<Failure>>);

impl Question {
    pub(crate) fn new(failure: Failure) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(failure))))
    }

    pub(crate) fn take(&self) -> Option<Failure> {
        self.0.lock().take()
    }
}

/// The supervisor's word on a failure that was left to it.
#[derive(Debug)]
pub(crate) struct Decision {
    /// `None`: as the declared policy says.
    pub(crate) directive: Option<Directive>,
    /// The failure, if it comes back.
    pub(crate) failure: Option<Failure>,
}

/// An actor that failed, and how.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) id: ActorId,
    pub(crate) path: ActorPath,
    pub(crate) report: FailureReport,
}

/// An order to make room for the next incarnation, because siblings are restarted together.
#[derive(Debug)]
pub(crate) struct Recall {
    /// When whatever user code still runs is cut.
    pub(crate) deadline: Option<Instant>,
    /// The deadline has passed.
    pub(crate) cut: bool,
    /// Whose failure it is for: its own, or that of a sibling.
    pub(crate) cause: Failed,
    /// To be told when the incarnation is gone.
    pub(crate) down: oneshot::Sender<()>,
}

/// The control lane of an actor, under the lock of its mailbox.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub(crate) ending: Option<Ending>,
    /// The deadline of the ending has passed: user code is dropped at its await.
    pub(crate) cut: bool,
    /// What it waits for the word of its parent about.
    pub(crate) question: Option<Arc<Question>>,
    pub(crate) decision: Option<Decision>,
    pub(crate) signals: VecDeque<Signal>,
    pub(crate) recall: Option<Recall>,
    /// Lets the actor start again after a recall, and is told when it has; dropped when its start failed, or it ended.
    pub(crate) go: Option<oneshot::Sender<()>>,
    /// The same, once the actor is starting.
    pub(crate) starting: Option<oneshot::Sender<()>>,
    /// Is told of the first start that succeeds.
    pub(crate) awaited: Option<oneshot::Sender<()>>,
    /// The parent waits for that start in its own handler or hook, and so cannot decide about this actor.
    pub(crate) parent_waits: bool,
}

impl Orders {
    /// Says whether there is nothing in it that anybody has to hear of, or will be asked for.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            ending,
            cut,
            question,
            decision,
            signals,
            recall,
            go,
            starting,
            awaited,
            parent_waits,
        } = self;
        let waiting = go.is_some() || starting.is_some() || awaited.is_some() || *parent_waits;
        let ordered = ending.is_some() || *cut || recall.is_some();
        let asking = question.is_some() || decision.is_some();
        !waiting && !ordered && !asking && signals.is_empty()
    }

    /// Takes the decision if it is about what the actor waits for; from then on it waits no more.
    pub(crate) fn answer(&mut self, question: &Arc<Question>, decision: &mut Option<Decision>) {
        let asked = self.question.take_if(|asked| Arc::ptr_eq(asked, question));
        if asked.is_some() {
            self.decision = decision.take();
        }
    }

    /// Takes an order to end. A stronger one replaces a weaker one; the earlier deadline stays, but a stop has its own after
    /// a drain.
    pub(crate) fn end(&mut self, ending: &Ending) {
        match &mut self.ending {
            Some(old) if old.kind >= ending.kind => {
                if old.kind == ending.kind {
                    old.deadline = earlier(old.deadline, ending.deadline);
                }
            }
            Some(old) if old.kind == EndKind::Drain => *old = ending.clone(),
            Some(old) => {
                *old = Ending {
                    deadline: earlier(old.deadline, ending.deadline),
                    ..ending.clone()
                };
            }
            none => *none = Some(ending.clone()),
        }
    }

    /// All that was accepted has been handled: what is left of a drain is a stop, for the reason of the drain.
    pub(crate) fn drained(&mut self, deadline_of_stop: Option<Instant>) {
        if let Some(ending) = &mut self.ending
            && ending.kind == EndKind::Drain
        {
            ending.kind = EndKind::Stop;
            ending.deadline = ending.deadline.and(deadline_of_stop);
        }
    }

    /// The deadline has passed: user code is cut at its await, but a drain becomes a stop with a deadline of its own.
    pub(crate) fn run_out(&mut self, deadline_of_stop: Option<Instant>) {
        match &mut self.ending {
            Some(ending) if ending.kind == EndKind::Drain => {
                *ending = Ending {
                    kind: EndKind::Stop,
                    reason: StopReason::Stopped,
                    deadline: deadline_of_stop,
                };
            }
            _ => self.cut = true,
        }
    }
}

/// Most actors never get an order before their end.
pub(crate) type Control = Option<Box<Orders>>;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::EndKind::{Drain, Kill, Stop};
    use super::*;

    fn ending(kind: EndKind, after: u64, now: Instant) -> Ending {
        let reason = match kind {
            Drain => StopReason::Drained,
            Stop => StopReason::Stopped,
            Kill => StopReason::Killed,
        };
        Ending {
            kind,
            reason,
            deadline: Some(now + Duration::from_secs(after)),
        }
    }

    #[test]
    fn of_two_orders_the_stronger_stays_with_the_earlier_deadline() {
        let now = Instant::now();
        // The first order, the second, and what is left: kind and deadline.
        let table = [
            ((Stop, 5), (Stop, 3), (Stop, 3)),
            ((Stop, 3), (Stop, 5), (Stop, 3)),
            ((Stop, 3), (Kill, 5), (Kill, 3)),
            ((Kill, 5), (Stop, 3), (Kill, 5)),
            ((Drain, 3), (Drain, 5), (Drain, 3)),
            ((Drain, 3), (Stop, 5), (Stop, 5)),
            ((Drain, 3), (Kill, 5), (Kill, 5)),
        ];
        for (first, second, left) in table {
            let mut orders = Orders::default();
            for (kind, after) in [first, second] {
                orders.end(&ending(kind, after, now));
            }
            let expected = ending(left.0, left.1, now);
            let ending = orders.ending.expect("it was ordered");
            assert_eq!(
                (ending.kind, ending.reason, ending.deadline),
                (expected.kind, expected.reason, expected.deadline),
                "{first:?}, then {second:?}"
            );
        }
    }

    #[test]
    fn a_drain_that_has_run_out_of_time_is_a_stop_and_a_stop_is_a_cut() {
        let now = Instant::now();
        let deadline = Some(now + Duration::from_secs(9));
        let mut orders = Orders::default();
        orders.end(&ending(Drain, 5, now));
        orders.run_out(deadline);
        let stop = orders.ending.clone().expect("it was ordered");
        assert_eq!(
            (stop.kind, stop.deadline, orders.cut),
            (Stop, deadline, false)
        );
        orders.run_out(deadline);
        assert!(orders.cut);
    }

    #[test]
    fn a_drain_that_is_done_is_a_stop_for_the_same_reason() {
        let now = Instant::now();
        let deadline = Some(now + Duration::from_secs(9));
        for (kind, left) in [(Drain, deadline), (Stop, None), (Kill, None)] {
            let mut orders = Orders::default();
            let was = ending(kind, 5, now);
            orders.end(&was);
            orders.drained(deadline);
            let is = orders.ending.expect("it was ordered");
            assert_eq!(is.reason, was.reason);
            assert_eq!(is.deadline, left.or(was.deadline), "{kind:?}");
            assert_eq!(is.kind, kind.max(Stop));
        }
    }
}
