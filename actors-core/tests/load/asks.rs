//! Sixty-four tasks ask one actor, which is now idle and now busy: what asks of `tell8` would be.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use actors_core::prelude::*;
use futures::FutureExt;
use futures::future::join_all;

use super::tells::{Target, TargetRef, is_long};
use super::{
    Account, BAD_LUCK, EVENTS, Evidence, Number, Tally, Witness, patient, restart, restarts,
};
use crate::common::Gate;
use crate::common::world::{beside, on_two_threads_with};

const TASKS: u64 = 64;
const EACH: u64 = 250;

/// What the asks came to.
#[derive(Default)]
struct Asked {
    answered: Tally,
    panicked: Tally,
    /// The actor had stopped.
    turned_out: Mutex<HashSet<Number>>,
    /// Sent, and dropped at once.
    left: Mutex<HashSet<Number>>,
}

impl Asked {
    /// Asks in a row. One ask of sixteen is dropped when it is sent.
    async fn ask_all(self: Arc<Self>, sender: u64, target: TargetRef) {
        for seq in 0..EACH {
            let number = Number { sender, seq };
            let answer = match is_long(number) {
                true if seq % 16 == 7 => self.leave(target.take_long(number).ask(), number),
                false if seq % 16 == 6 => self.leave(target.take(number).ask(), number),
                true => Some(target.take_long(number).await),
                false => Some(target.take(number).await),
            };
            if let Some(answer) = answer {
                self.note(number, answer);
            }
            if seq % 8 == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Sends an ask and drops it, unless its answer is there.
    fn leave<F>(&self, mut ask: F, number: Number) -> Option<F::Output>
    where
        F: Future + Unpin,
    {
        let answer = (&mut ask).now_or_never();
        if answer.is_none() {
            self.left.lock().unwrap().insert(number);
        }
        answer
    }

    fn note(&self, number: Number, answer: Result<Number, AskError>) {
        match answer {
            Ok(answer) => {
                assert_eq!((answer, number.is_unlucky()), (number, false));
                self.answered.add(1);
            }
            Err(AskError::Panicked(text)) => {
                assert_eq!((&*text, number.is_unlucky()), (BAD_LUCK, true));
                self.panicked.add(1);
            }
            Err(AskError::Stopped {
                phase: Phase::Queued,
            }) => {
                self.turned_out.lock().unwrap().insert(number);
            }
            Err(other) => panic!("{number:?}: {other}"),
        }
    }
}

/// Lets all tasks ask, and waits for them.
async fn ask_from_all(target: &TargetRef) -> Arc<Asked> {
    let asked = Arc::new(Asked::default());
    let tasks = (0..TASKS).map(|sender| beside(Arc::clone(&asked).ask_all(sender, target.clone())));
    for ended in join_all(tasks).await {
        ended.unwrap();
    }
    asked
}

/// Sends asks while the actor is held, of which each is dropped or times out: these must never be begun. Gives how many.
async fn give_up_while_held(target: &TargetRef) -> u64 {
    let (gate, numbers) = (
        Gate::new(),
        (0..TASKS).map(|seq| Number { sender: TASKS, seq }),
    );
    let held = Number {
        sender: TASKS + 1,
        seq: 0,
    };
    target.hold(gate.clone(), held).tell();
    gate.reached(1).await;
    let timed_out = Err(AskError::Timeout {
        phase: Phase::Queued,
    });
    for number in numbers.clone() {
        assert_eq!(target.take(number).ask().now_or_never(), None);
        assert_eq!(target.take_long(number).ask().now_or_never(), None);
    }
    let asks = numbers.map(|number| target.take(number).ask().timeout(ms(1)));
    for answer in join_all(asks).await {
        assert_eq!(answer, timed_out);
    }
    gate.open();
    3 * TASKS
}

fn survives(policy: Supervision, restarts_on_failure: bool) {
    on_two_threads_with(patient, async move |system| {
        let mut events = system.events_with_capacity(EVENTS);
        let evidence = Arc::new(Evidence::default());
        let target = Target::spawn(&system, &Witness::new(&evidence), policy);
        let given_up = give_up_while_held(&target).await;
        let asked = ask_from_all(&target).await;
        assert_eq!(target.drain().await, StopReason::Drained);

        evidence.check();
        let left = asked.left.lock().unwrap().len() as u64;
        let ended = asked.answered.get() + asked.panicked.get();
        assert_eq!(ended + left, TASKS * EACH);
        assert!(asked.turned_out.lock().unwrap().is_empty());
        // An ask that is left is handled, or else it is cancelled. Beside the asks there is the message that holds the actor.
        let cancelled = TASKS * EACH + 1 - evidence.begun.get();
        assert!(cancelled <= left, "{cancelled} of {left}");
        let expected = Account {
            accepted: TASKS * EACH + 1 + given_up,
            cancelled: cancelled + given_up,
            ..evidence.account()
        };
        assert_eq!(Account::of(&system), expected);
        assert!(system.counters().late_replies <= left - cancelled);
        let failures = if restarts_on_failure {
            evidence.panicked.get()
        } else {
            0
        };
        assert_eq!(restarts(&mut events), failures);
        assert_eq!(evidence.states_made.get(), 1 + failures);
    });
}

#[test]
fn of_the_asks_of_64_tasks_each_ends_once_when_failures_are_resumed() {
    survives(Supervision::resume(), false);
}

#[test]
fn of_the_asks_of_64_tasks_each_ends_once_when_failures_restart() {
    survives(restart(), true);
}

#[test]
fn of_the_asks_of_64_tasks_those_that_a_failure_turns_out_were_not_begun() {
    on_two_threads_with(patient, async move |system| {
        for _life in 0..5 {
            let before = Account::of(&system);
            let evidence = Arc::new(Evidence::default());
            let target = Target::spawn(&system, &Witness::new(&evidence), Supervision::stop());
            let asked = ask_from_all(&target).await;
            assert!(matches!(target.stopped().await, StopReason::Failed(_)));

            evidence.check();
            let now = Account::of(&system);
            let left = asked.left.lock().unwrap().len() as u64;
            let turned_out = asked.turned_out.lock().unwrap().len() as u64;
            let ended = asked.answered.get() + asked.panicked.get();
            assert_eq!(ended + left + turned_out, TASKS * EACH);
            // Whoever was told that it had not begun was told the truth: all others account for what has.
            let begun = evidence.begun.get();
            assert!(
                (ended..=ended + left).contains(&begun),
                "{ended}, {begun}, {left}"
            );
            assert_eq!(evidence.panicked.get(), 1);
            assert_eq!(now.handled - before.handled, begun - 1);
            assert_eq!(now.failed - before.failed, 1);
            assert_eq!((now.waiting, now.refused), (0, 0));
            let unhandled = (now.dead - before.dead) + (now.cancelled - before.cancelled);
            assert_eq!(now.accepted - before.accepted, begun + unhandled);
            assert!(unhandled <= turned_out + left);
        }
    });
}
