//! `tell8`: eight threads tell one actor.

use std::sync::Arc;

use actors_core::prelude::*;

use super::{Account, EVENTS, Evidence, Number, Seen, Witness, patient, restart, restarts};
use crate::common::Gate;
use crate::common::world::on_two_threads_with;

const THREADS: u64 = 8;
const EACH: u64 = 3_000;

/// Takes messages by number. One of four takes longer.
pub(super) struct Target {
    seen: Seen,
}

#[actor]
impl Target {
    #[handler]
    pub(super) fn take(&mut self, number: Number) -> Number {
        self.seen.enter(number).leave();
        number
    }

    #[handler]
    pub(super) async fn take_long(&mut self, number: Number) -> Number {
        let inside = self.seen.enter(number);
        tokio::task::yield_now().await;
        inside.leave();
        number
    }

    /// Waits at the gate, and always returns.
    #[handler]
    pub(super) async fn hold(&mut self, gate: Gate, number: Number) {
        let inside = self.seen.enter(number);
        gate.pass().await;
        inside.leave_with(false);
    }

    #[on_stop]
    fn end(&mut self, reason: &StopReason) {
        self.seen.witness.end(reason);
    }
}

impl Target {
    /// Spawns one that is watched by `witness`.
    pub(super) fn spawn(
        system: &ActorSystem,
        witness: &Arc<Witness>,
        policy: Supervision,
    ) -> TargetRef {
        let witness = Arc::clone(witness);
        let target = system.actor(move || Self {
            seen: Seen::new(&witness),
        });
        target.name("target").supervision(policy).spawn().unwrap()
    }
}

/// Says whether the handler of a message waits.
pub(super) const fn is_long(number: Number) -> bool {
    number.seq % 4 == 3
}

fn numbers_of(sender: u64) -> impl Iterator<Item = Number> {
    (0..EACH).map(move |seq| Number { sender, seq })
}

fn tell_from_eight_threads(target: &TargetRef) {
    std::thread::scope(|scope| {
        for sender in 0..THREADS {
            scope.spawn(move || {
                for number in numbers_of(sender) {
                    match is_long(number) {
                        true => target.take_long(number).tell(),
                        false => target.take(number).tell(),
                    }
                }
            });
        }
    });
}

/// All is handled once, in the order of each sender, but for what fails.
fn survives(policy: Supervision, restarts_on_failure: bool) {
    on_two_threads_with(patient, async move |system| {
        let mut events = system.events_with_capacity(EVENTS);
        let evidence = Arc::new(Evidence::default());
        let witness = Witness::new(&evidence);
        let target = Target::spawn(&system, &witness, policy);
        tell_from_eight_threads(&target);
        assert_eq!(target.drain().await, StopReason::Drained);

        evidence.check();
        assert_eq!(Account::of(&system), evidence.account());
        assert_eq!(evidence.begun.get(), THREADS * EACH);
        let unlucky = (0..THREADS).flat_map(numbers_of).filter(|n| n.is_unlucky());
        let unlucky = unlucky.count() as u64;
        assert_eq!(evidence.panicked.get(), unlucky);
        let expected = if restarts_on_failure { unlucky } else { 0 };
        assert_eq!(restarts(&mut events), expected);
        assert_eq!(evidence.states_made.get(), 1 + expected);
        assert!(system.tree().nodes().is_empty());
    });
}

#[test]
fn of_what_eight_threads_tell_nothing_is_lost_or_doubled_when_failures_are_resumed() {
    survives(Supervision::resume(), false);
}

#[test]
fn of_what_eight_threads_tell_nothing_is_lost_or_doubled_when_failures_restart() {
    survives(restart(), true);
}

#[test]
fn what_eight_threads_tell_an_actor_that_a_failure_stops_is_handled_dead_or_refused() {
    on_two_threads_with(patient, async move |system| {
        for _life in 0..4 {
            let before = Account::of(&system);
            let evidence = Arc::new(Evidence::default());
            let witness = Witness::new(&evidence);
            let target = Target::spawn(&system, &witness, Supervision::stop());
            tell_from_eight_threads(&target);
            assert!(matches!(target.stopped().await, StopReason::Failed(_)));

            evidence.check();
            let now = Account::of(&system);
            assert_eq!(now.failed - before.failed, 1);
            assert_eq!(now.handled - before.handled, evidence.returned.get());
            let dead = now.dead - before.dead;
            assert_eq!(now.accepted - before.accepted, evidence.begun.get() + dead);
            let refused = now.refused - before.refused;
            assert_eq!(evidence.begun.get() + dead + refused, THREADS * EACH);
            assert_eq!((now.waiting, now.cancelled), (0, 0));
            // Of each sender the first are handled, without a gap.
            let handled = (0..THREADS).map(|sender| witness.last_of(sender).map_or(0, |n| n + 1));
            assert_eq!(handled.sum::<u64>(), evidence.begun.get());
        }
    });
}
