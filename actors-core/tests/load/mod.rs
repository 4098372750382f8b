//! Bad luck by numbers, and what the handlers of a test have seen.

mod asks;
mod big;
mod skynet;
mod skynet_told;
mod tells;

use std::collections::HashMap;
use std::fmt::Display;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use actors_core::prelude::*;
use actors_core::{Counters, LifecycleEvent, Subscription, SystemBuilder};

/// What a handler says that panics.
pub(crate) const BAD_LUCK: &str = "bad luck";

/// The number of a message: its sender, and how many the sender has sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Number {
    pub(crate) sender: u64,
    pub(crate) seq: u64,
}

impl Number {
    /// Says whether the handler of this message panics: one of a hundred does.
    pub(crate) fn is_unlucky(self) -> bool {
        self.mixed().is_multiple_of(100)
    }

    /// A number that looks random, and is always the same.
    pub(crate) const fn mixed(self) -> u64 {
        let seed = (self.sender << 32 | self.seq).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 16
    }
}

/// What all handlers of a test have come to.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) begun: Tally,
    pub(crate) returned: Tally,
    pub(crate) panicked: Tally,
    pub(crate) states_made: Tally,
    pub(crate) states_dropped: Tally,
    /// The messages that the states which are dropped have seen.
    pub(crate) seen_by_states: Tally,
    broken: Mutex<Vec<String>>,
}

/// Counts.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::SeqCst);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Evidence {
    /// A promise is broken.
    pub(crate) fn complain(&self, complaint: impl Display) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.push(complaint.to_string());
    }

    /// Checks that no handler has seen a broken promise, that each has ended, and each state as well.
    #[track_caller]
    pub(crate) fn check(&self) {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(
            broken.is_empty(),
            "{} broken: {:?}",
            broken.len(),
            broken.first()
        );
        assert_eq!(self.begun.get(), self.returned.get() + self.panicked.get());
        assert_eq!(self.states_made.get(), self.states_dropped.get());
        assert_eq!(self.begun.get(), self.seen_by_states.get());
        assert!(self.panicked.get() > 0, "the test has no faults");
    }

    /// The account that the system must give when all is quiet, if nothing was left unhandled.
    pub(crate) fn account(&self) -> Account {
        Account {
            accepted: self.begun.get(),
            handled: self.returned.get(),
            failed: self.panicked.get(),
            ..Account::default()
        }
    }
}

/// The terms of the account that can be known in advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) accepted: u64,
    pub(crate) waiting: u64,
    pub(crate) handled: u64,
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    pub(crate) dead: u64,
    pub(crate) refused: u64,
}

impl Account {
    #[track_caller]
    pub(crate) fn of(system: &ActorSystem) -> Self {
        let counters: Counters = system.counters();
        assert!(counters.is_balanced(), "{counters:?}");
        Self {
            accepted: counters.accepted,
            waiting: counters.queued + counters.stashed + counters.running,
            handled: counters.handled,
            failed: counters.failed,
            cancelled: counters.cancelled,
            dead: counters.dead,
            refused: counters.refused,
        }
    }
}

/// What the handlers of one actor see, in all its incarnations.
#[derive(Debug)]
pub(crate) struct Witness {
    pub(crate) evidence: Arc<Evidence>,
    is_inside: AtomicBool,
    has_ended: AtomicBool,
    /// The last number of each sender.
    last: Mutex<HashMap<u64, u64>>,
}

impl Witness {
    pub(crate) fn new(evidence: &Arc<Evidence>) -> Arc<Self> {
        Arc::new(Self {
            evidence: Arc::clone(evidence),
            is_inside: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            last: Mutex::default(),
        })
    }

    /// A handler begins.
    fn enter(self: &Arc<Self>, number: Number) -> Inside {
        self.evidence.begun.add(1);
        if self.is_inside.swap(true, Ordering::SeqCst) {
            self.evidence
                .complain(format_args!("D1: {number:?} is not alone"));
        }
        if self.has_ended() {
            self.evidence
                .complain(format_args!("L1: {number:?} after the end"));
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.insert(number.sender, number.seq);
        if before.is_some_and(|before| before >= number.seq) {
            self.evidence
                .complain(format_args!("D2, D3: {number:?} after {before:?}"));
        }
        Inside {
            witness: Arc::clone(self),
            number,
        }
    }

    /// The actor has run its last hook.
    pub(crate) fn end(&self, reason: &StopReason) {
        if self.is_inside.load(Ordering::SeqCst) {
            self.evidence.complain("D1: a hook beside a handler");
        }
        if *reason != StopReason::Restarting && self.has_ended.swap(true, Ordering::SeqCst) {
            self.evidence.complain("L1: two ends");
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    /// The last number of a sender.
    pub(crate) fn last_of(&self, sender: u64) -> Option<u64> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.get(&sender).copied()
    }
}

/// A handler that has begun, until its end, whatever that is.
struct Inside {
    witness: Arc<Witness>,
    number: Number,
}

impl Inside {
    /// The handler has done its work: it returns or panics.
    fn leave(self) {
        let is_unlucky = self.number.is_unlucky();
        self.leave_with(is_unlucky);
    }

    fn leave_with(self, is_unlucky: bool) {
        let evidence = Arc::clone(&self.witness.evidence);
        if is_unlucky {
            evidence.panicked.add(1);
            // As `panic!`, but nobody prints it. It drops `self` like the rest of the handler.
            resume_unwind(Box::new(BAD_LUCK));
        }
        evidence.returned.add(1);
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.witness.is_inside.store(false, Ordering::SeqCst);
    }
}

/// What a state keeps of itself: dropped with it, it says how many messages the state has seen.
struct Seen {
    witness: Arc<Witness>,
    messages: u64,
}

impl Seen {
    fn new(witness: &Arc<Witness>) -> Self {
        witness.evidence.states_made.add(1);
        Self {
            witness: Arc::clone(witness),
            messages: 0,
        }
    }

    fn enter(&mut self, number: Number) -> Inside {
        self.messages += 1;
        self.witness.enter(number)
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        let evidence = &self.witness.evidence;
        evidence.seen_by_states.add(self.messages);
        evidence.states_dropped.add(1);
    }
}

/// Restarts at once, however often.
fn restart() -> Supervision {
    Supervision::restart()
        .restarts(u32::MAX, within(secs(60)))
        .backoff(Backoff::none())
}

/// Any limit of time that a test does not mean to reach is longer than the test.
fn patient(builder: SystemBuilder) -> SystemBuilder {
    builder
        .ask_timeout(secs(60))
        .stop_timeout(secs(60))
        .shutdown_timeout(secs(60))
        .detect_cycles(true)
}

/// Counts the restarts that were told of, of all actors.
fn restarts(events: &mut Subscription<LifecycleEvent>) -> u64 {
    let all = std::iter::from_fn(|| events.try_next());
    all.filter(|event| matches!(event, LifecycleEvent::Restarted { .. }))
        .count() as u64
}

/// How many events a test may have.
const EVENTS: usize = 1 << 16;
