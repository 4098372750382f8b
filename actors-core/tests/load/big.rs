//! `big`: 120 actors, each of which pings a random other, waits for the pong, and pings the next.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

use actors_core::prelude::*;
use actors_core::{LifecycleEvent, Subscription};

use super::{
    Account, BAD_LUCK, EVENTS, Evidence, Number, Seen, Tally, Witness, patient, restart, restarts,
};
use crate::common::until;
use crate::common::world::on_two_threads_with;

const GUESTS: u64 = 120;
const PINGS: u64 = 100;

/// What all guests know.
#[derive(Default)]
struct Party {
    evidence: Arc<Evidence>,
    guests: OnceLock<Vec<GuestRef>>,
    witnesses: OnceLock<Vec<Arc<Witness>>>,
    /// The guests that have had their last pong.
    done: Mutex<HashSet<u64>>,
    answered: Tally,
    panicked: Tally,
    in_circles: Tally,
    turned_out: Tally,
    /// The asks that were begun, and those whose asker was told that they never would be.
    begun: Mutex<HashSet<Number>>,
    queued: Mutex<HashSet<Number>>,
}

impl Party {
    /// Spawns all guests.
    fn new(system: &ActorSystem, policy: &Supervision) -> Arc<Self> {
        let party = Arc::new(Self::default());
        let witnesses: Vec<_> = (0..GUESTS).map(|_| Witness::new(&party.evidence)).collect();
        let guests = (0..GUESTS).zip(&witnesses).map(|(own, witness)| {
            let (party, witness) = (Arc::clone(&party), Arc::clone(witness));
            let guest = system.actor(move || Guest {
                own,
                party: Arc::clone(&party),
                seen: Seen::new(&witness),
            });
            let policy = policy.clone();
            guest
                .name(own.to_string())
                .supervision(policy)
                .spawn()
                .unwrap()
        });
        assert!(party.guests.set(guests.collect()).is_ok());
        assert!(party.witnesses.set(witnesses).is_ok());
        party
    }

    fn guests(&self) -> &[GuestRef] {
        self.guests.get().unwrap()
    }

    /// The one who gets ping `seq` of `own`: any but itself.
    fn other(&self, own: u64, seq: u64) -> &GuestRef {
        let seed = Number {
            sender: own,
            seq: seq + 1_000_000,
        };
        let other = (own + 1 + seed.mixed() % (GUESTS - 1)) % GUESTS;
        &self.guests()[usize::try_from(other).unwrap()]
    }

    fn is_over(&self) -> bool {
        let done = self.done.lock().unwrap();
        let mut guests = (0..GUESTS).zip(self.witnesses.get().unwrap());
        guests.all(|(own, witness)| done.contains(&own) || witness.has_ended())
    }

    /// What became of an ask, seen by its asker.
    fn note(&self, number: Number, asker: &ActorPath, answer: Result<Number, AskError>) {
        let was_begun = match answer {
            Ok(answer) => {
                self.answered.add(1);
                answer == number && !number.is_unlucky()
            }
            Err(AskError::Panicked(text)) => {
                self.panicked.add(1);
                &*text == BAD_LUCK && number.is_unlucky()
            }
            Err(AskError::Cycle(path)) => {
                self.in_circles.add(1);
                self.queued.lock().unwrap().insert(number);
                return if path.actors().first() != Some(asker) {
                    self.evidence
                        .complain(format_args!("A7: {path} of {asker}"));
                };
            }
            Err(AskError::Stopped {
                phase: Phase::Queued,
            }) => {
                self.turned_out.add(1);
                self.queued.lock().unwrap().insert(number);
                return;
            }
            Err(_) => false,
        };
        if !was_begun {
            self.evidence
                .complain(format_args!("A1: {number:?} has the wrong end"));
        }
    }
}

/// Pings, and answers whoever pings it.
struct Guest {
    own: u64,
    party: Arc<Party>,
    seen: Seen,
}

impl Guest {
    /// The numbers of its pings and turns, and of its pongs and asks: two senders.
    const fn number(&self, kind: u64, seq: u64) -> Number {
        Number {
            sender: self.own * 2 + kind,
            seq,
        }
    }

    fn ping_next(&self, ctx: &ActorContext<Self>, seq: u64) {
        let other = self.party.other(self.own, seq);
        other.ping(ctx.me(), self.number(0, seq)).tell();
    }
}

#[actor]
impl Guest {
    #[handler]
    fn ping(&mut self, from: GuestRef, number: Number) {
        let inside = self.seen.enter(number);
        from.pong(self.number(1, number.seq)).tell();
        inside.leave();
    }

    #[handler]
    fn pong(&mut self, ctx: &mut ActorContext<Self>, number: Number) {
        let inside = self.seen.enter(number);
        if number.seq + 1 < PINGS {
            self.ping_next(ctx, number.seq + 1);
        } else {
            self.party.done.lock().unwrap().insert(self.own);
        }
        inside.leave();
    }

    /// Asks a random other, and then itself for the next turn.
    #[handler]
    async fn turn(&mut self, ctx: &mut ActorContext<Self>, seq: u64) {
        let inside = self.seen.enter(self.number(0, seq));
        let ask = self.number(1, seq);
        let other = self.party.other(self.own, seq);
        let answer = match seq % 4 {
            3 => other.answer_later(ask).await,
            _ => other.answer(ask).await,
        };
        self.party.note(ask, ctx.path(), answer);
        if seq + 1 < PINGS {
            ctx.me().turn(seq + 1).tell();
        } else {
            self.party.done.lock().unwrap().insert(self.own);
        }
        inside.leave();
    }

    #[handler]
    fn answer(&mut self, number: Number) -> Number {
        let inside = self.seen.enter(number);
        self.party.begun.lock().unwrap().insert(number);
        inside.leave();
        number
    }

    #[handler]
    async fn answer_later(&mut self, number: Number) -> Number {
        let inside = self.seen.enter(number);
        self.party.begun.lock().unwrap().insert(number);
        tokio::task::yield_now().await;
        inside.leave();
        number
    }

    #[on_stop]
    fn end(&mut self, reason: &StopReason) {
        self.seen.witness.end(reason);
    }
}

/// Stops all guests and the system; gives how many restarts there were.
async fn go_home(system: &ActorSystem, events: &mut Subscription<LifecycleEvent>) -> u64 {
    let living = system.tree().nodes().len() as u64;
    let report = system.shutdown().await;
    assert_eq!(
        (report.total(), report.is_clean()),
        (living, true),
        "{report}"
    );
    assert_eq!(report.ended.get("shutdown").copied().unwrap_or(0), living);
    assert!(system.tree().nodes().is_empty());
    restarts(events)
}

/// Each ping has its pong, although the handlers of some panic when they have done their work.
fn ping_and_pong(policy: Supervision, restarts_on_failure: bool) {
    on_two_threads_with(patient, async move |system| {
        let mut events = system.events_with_capacity(EVENTS);
        let party = Party::new(&system, &policy);
        for (own, guest) in (0..GUESTS).zip(party.guests()) {
            let from = guest.clone();
            party
                .other(own, 0)
                .ping(
                    from,
                    Number {
                        sender: own * 2,
                        seq: 0,
                    },
                )
                .tell();
        }
        until(|| party.is_over()).await;
        let restarts = go_home(&system, &mut events).await;

        let evidence = &party.evidence;
        evidence.check();
        assert_eq!(evidence.begun.get(), 2 * GUESTS * PINGS);
        assert_eq!(Account::of(&system), evidence.account());
        let expected = u64::from(restarts_on_failure) * evidence.panicked.get();
        assert_eq!(restarts, expected);
        assert_eq!(evidence.states_made.get(), GUESTS + expected);
    });
}

#[test]
fn of_120_actors_that_ping_each_other_every_ping_has_its_pong_when_failures_are_resumed() {
    ping_and_pong(Supervision::resume(), false);
}

#[test]
fn of_120_actors_that_ping_each_other_every_ping_has_its_pong_when_failures_restart() {
    ping_and_pong(restart(), true);
}

/// Lets all guests ask each other, and checks that each ask has come to one end, and that the right one.
async fn ask_each_other(system: &ActorSystem, policy: Supervision) -> (Arc<Party>, u64) {
    let mut events = system.events_with_capacity(EVENTS);
    let party = Party::new(system, &policy);
    party.guests().iter().for_each(|guest| guest.turn(0).tell());
    until(|| party.is_over()).await;
    let restarts = go_home(system, &mut events).await;

    party.evidence.check();
    let (begun, queued) = (party.begun.lock().unwrap(), party.queued.lock().unwrap());
    assert_eq!(begun.intersection(&queued).next(), None, "A2");
    assert_eq!(
        party.answered.get() + party.panicked.get(),
        begun.len() as u64
    );
    assert_eq!(
        party.in_circles.get() + party.turned_out.get(),
        queued.len() as u64
    );
    drop((begun, queued));
    (party, restarts)
}

fn all_asks_end(policy: Supervision, restarts_on_failure: bool) {
    on_two_threads_with(patient, async move |system| {
        let (party, restarts) = ask_each_other(&system, policy).await;
        let evidence = &party.evidence;
        assert_eq!(Account::of(&system), evidence.account());
        let asks = party.begun.lock().unwrap().len() as u64;
        assert_eq!(evidence.begun.get(), GUESTS * PINGS + asks);
        assert_eq!(asks + party.in_circles.get(), GUESTS * PINGS);
        assert_eq!(party.turned_out.get(), 0);
        let expected = u64::from(restarts_on_failure) * evidence.panicked.get();
        assert_eq!(restarts, expected);
        assert_eq!(evidence.states_made.get(), GUESTS + expected);
    });
}

#[test]
fn of_120_actors_that_ask_each_other_in_handlers_every_ask_ends_once_when_failures_are_resumed() {
    all_asks_end(Supervision::resume(), false);
}

#[test]
fn of_120_actors_that_ask_each_other_in_handlers_every_ask_ends_once_when_failures_restart() {
    all_asks_end(restart(), true);
}

#[test]
fn of_120_actors_that_ask_each_other_and_fail_one_by_one_every_ask_ends_once() {
    on_two_threads_with(patient, async move |system| {
        let (party, restarts) = ask_each_other(&system, Supervision::stop()).await;
        let (evidence, account) = (&party.evidence, Account::of(&system));
        assert_eq!(restarts, 0);
        assert_eq!(evidence.states_made.get(), GUESTS);
        assert_eq!(account.handled, evidence.returned.get());
        assert_eq!(account.failed, evidence.panicked.get());
        assert_eq!(account.accepted, evidence.begun.get() + account.dead);
        assert_eq!(
            (account.waiting, account.cancelled, account.refused),
            (0, 0, 0)
        );
        // Turns that nobody came to any more, and asks that were queued.
        assert!(account.dead <= evidence.panicked.get() + party.turned_out.get());
        assert!(party.turned_out.get() > 0);
    });
}
