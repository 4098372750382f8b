//! Reports handlers that take long.
//!
//! A handler that waits at an `.await` is reported by its own activation, on the clock of the system (`actor/stopwatch.rs`).
//! One that holds its thread has no activation that could: the watchdog of the workers sees that a turn does not end, and
//! [`HeldThreads`] finds out whose it is, on the real clock. A run of a handler is reported once, whoever sees it first.
//!
//! A turn may be long because of many handlers, so the turn alone accuses nobody. Whoever is in a long turn is a suspect; the
//! run of its handler is marked ([`StateCell`](super::state::StateCell)), and reported if the mark is still there when the
//! time is over. So no report is early. It is late by the time until the first look, a tenth of the limit, and by the three looks that the
//! watchdog needs to see it: the turn, the run, the end of the time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::dispatch::Overseer;

use super::clock::Clock;
use super::member::Member;
use super::state::Mark;
use super::{SystemCore, tree};

/// A turn is looked into after this part of the smallest limit: all actors are looked at for it, so not each time.
const PART: u32 = 10;

/// The smallest of all limits that actors of a system have, in nanoseconds.
pub(crate) struct Health(AtomicU64);

impl Health {
    pub(super) fn new(limit: Duration) -> Self {
        Self(AtomicU64::new(nanoseconds(limit)))
    }

    /// Takes note of the limit of an actor to come.
    pub(crate) fn expect(&self, limit: Duration) {
        let limit = nanoseconds(limit);
        // Ordering: Relaxed; nothing else hangs on it. Nearly all actors have the limit of the system, so look first.
        if limit < self.0.load(Ordering::Relaxed) {
            self.0.fetch_min(limit, Ordering::Relaxed);
        }
    }

    /// Returns how long a turn may take before it is looked into.
    fn patience(&self) -> Duration {
        match self.0.load(Ordering::Relaxed) {
            u64::MAX => Duration::MAX,
            limit => Duration::from_nanos(limit) / PART,
        }
    }
}

/// The number of nanoseconds; what does not fit is never.
fn nanoseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)
}

/// Finds the actors whose handlers hold their threads, for the watchdog.
pub(super) struct HeldThreads {
    system: Weak<SystemCore>,
    suspects: Vec<Suspect>,
}

/// An actor that was found on a thread.
struct Suspect {
    member: Weak<dyn Member>,
    poll: u32,
    /// When the run of its handler was marked that goes on.
    since: Option<Instant>,
}

impl HeldThreads {
    pub(super) const fn new(system: Weak<SystemCore>) -> Self {
        Self {
            system,
            suspects: Vec::new(),
        }
    }

    fn is_known(&self, member: &Arc<dyn Member>, poll: u32) -> bool {
        self.suspects
            .iter()
            .any(|known| known.poll == poll && known.is(member))
    }
}

impl Overseer for HeldThreads {
    fn patience(&self) -> Duration {
        let system = self.system.upgrade();
        system.map_or(Duration::MAX, |system| system.health.patience())
    }

    fn stand_in(&mut self) {
        if let Some(system) = self.system.upgrade() {
            system.deadlines.stand_in();
        }
    }

    fn search(&mut self) {
        let Some(system) = self.system.upgrade() else {
            return;
        };
        tree::visit(&system, |member, _| {
            if let Some(poll) = member.core().poll_under_way()
                && !self.is_known(member, poll)
            {
                self.suspects.push(Suspect {
                    member: Arc::downgrade(member),
                    poll,
                    since: None,
                });
            }
        });
    }

    fn check(&mut self) {
        self.suspects.retain_mut(Suspect::is_in_its_turn);
    }
}

impl Suspect {
    fn is(&self, member: &Arc<dyn Member>) -> bool {
        self.member
            .upgrade()
            .is_some_and(|own| own.core().id == member.core().id)
    }

    /// Looks at it once more: reports its handler if that takes long. Says whether it may still be in the same
    /// turn.
    fn is_in_its_turn(&mut self) -> bool {
        let Some(member) = self.member.upgrade() else {
            return false;
        };
        let core = member.core();
        let poll = core.poll_under_way();
        if poll != Some(self.poll) {
            self.since = None;
            // One turn of a worker may be several polls of an actor, and only the first of them is searched for.
            match poll {
                Some(poll) => self.poll = poll,
                None => return member.is_active(),
            }
        }
        match core.mark_handler() {
            Mark::Nothing => self.since = None,
            Mark::New => self.since = Some(Clock::real_now()),
            Mark::Kept => {
                // Marked in an earlier poll, perhaps: it has not held this thread since then.
                let held = self.since.get_or_insert_with(Clock::real_now).elapsed();
                if held >= core.options.slow_handler {
                    core.report_slow_handler(held);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_counts_and_none_is_never() {
        let health = Health::new(Duration::MAX);
        assert_eq!(health.patience(), Duration::MAX);
        for (limit, patience) in [(500, 50), (2_000, 50), (20, 2)] {
            health.expect(Duration::from_millis(limit));
            assert_eq!(health.patience(), Duration::from_millis(patience));
        }
    }
}
