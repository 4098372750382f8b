//! The workloads: each is written once, for all contenders, and checks its result.

mod ask;
mod big;
mod bounded;
mod circles;
mod fair;
mod many;
mod skynet;
mod spawn;
mod tell;

use std::fmt;
use std::time::Instant;

use clap::ValueEnum;
use serde::Serialize;

use crate::contender::actix::Actix;
use crate::contender::by_hand::ByHand;
use crate::contender::kameo::Kameo;
use crate::contender::ours::Ours;
use crate::contender::ractor::Ractor;
use crate::contender::xtra::Xtra;
use crate::contender::{Contender, Name};

pub(crate) use spawn::populate;

/// What is measured, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub(crate) enum Workload {
    /// One sender, one actor.
    Tell1,
    /// 8 threads, one actor.
    Tell8,
    /// 10,000 actors, 100 messages each, round robin.
    Many,
    /// Two actors and one message between them.
    Pingpong,
    /// 48 pairs of actors, 50 messages in flight in each.
    Pairs,
    /// 10,000 actors in a ring, and one token.
    Ring,
    /// One task asks again and again, with a timeout armed.
    Ask,
    /// The same without a timeout.
    AskBare,
    /// 64 tasks ask one actor, with a timeout armed.
    Ask64,
    /// Spawning an actor.
    Spawn,
    /// Spawning an actor, and its first message.
    SpawnMsg,
    /// Bytes for each actor that has handled a message and is idle.
    Mem,
    /// A tree of 1,111,111 actors that adds up the numbers of its leaves.
    Skynet,
    /// 120 actors, each asks a random other, 20,000 times.
    Big,
    /// The p99 of an ask to an idle actor while another is flooded.
    Fair,
    /// A slow consumer behind a mailbox for 64 messages, and a producer who waits for room.
    Bounded,
}

impl Workload {
    pub(crate) const ALL: [Self; 16] = [
        Self::Tell1,
        Self::Tell8,
        Self::Many,
        Self::Pingpong,
        Self::Pairs,
        Self::Ring,
        Self::Ask,
        Self::AskBare,
        Self::Ask64,
        Self::Spawn,
        Self::SpawnMsg,
        Self::Mem,
        Self::Skynet,
        Self::Big,
        Self::Fair,
        Self::Bounded,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Tell1 => "tell1",
            Self::Tell8 => "tell8",
            Self::Many => "many",
            Self::Pingpong => "pingpong",
            Self::Pairs => "pairs",
            Self::Ring => "ring",
            Self::Ask => "ask",
            Self::AskBare => "ask_bare",
            Self::Ask64 => "ask64",
            Self::Spawn => "spawn",
            Self::SpawnMsg => "spawn_msg",
            Self::Mem => "mem",
            Self::Skynet => "skynet",
            Self::Big => "big",
            Self::Fair => "fair",
            Self::Bounded => "bounded",
        }
    }

    pub(crate) const fn unit(self) -> Unit {
        match self {
            Self::Mem => Unit::Bytes,
            _ => Unit::Ns,
        }
    }

    /// Says whether this contender can do what the workload is about.
    pub(crate) fn suits(self, contender: Name, threads: usize) -> bool {
        match (self, contender) {
            // There is no mailbox with a bound.
            (Self::Bounded, Name::Ractor) => false,
            // An actor that always has messages never gives its thread up: actix has another for the asker if there are two.
            (Self::Fair, Name::Actix) => threads > 1,
            // The same, and which thread that is, nobody can say: some runs never end.
            (Self::Fair, Name::Xtra) => false,
            _ => true,
        }
    }

    /// The size that the table is about.
    const fn full(self) -> Load {
        match self {
            Self::Tell1 | Self::Tell8 => Load::new(1, 1_000_000, 1),
            Self::Many => Load::new(10_000, 1_000_000, 1),
            Self::Pingpong => Load::new(2, 1_000_000, 1),
            Self::Pairs => Load::new(96, 20_000_000, 50),
            Self::Ring => Load::new(10_000, 1_000_000, 1),
            Self::Ask | Self::AskBare => Load::new(1, 200_000, 1),
            Self::Ask64 => Load::new(1, 200_000, 64),
            Self::Spawn | Self::SpawnMsg | Self::Mem => Load::new(100_000, 100_000, 1),
            Self::Skynet => Load::new(1, 1_000_000, 1),
            Self::Big => Load::new(120, 2_400_000, 1),
            Self::Fair => Load::new(1, 20_000, 1_000),
            Self::Bounded => Load::new(1, 200_000, 64),
        }
    }

    /// A size at which only the result is of interest.
    const fn small(self) -> Load {
        match self {
            Self::Tell1 | Self::Tell8 | Self::Ask | Self::AskBare => Load::new(1, 1_000, 1),
            Self::Pingpong => Load::new(2, 1_000, 1),
            Self::Many | Self::Ring => Load::new(100, 1_000, 1),
            Self::Pairs => Load::new(4, 1_000, 50),
            Self::Ask64 => Load::new(1, 640, 64),
            Self::Spawn | Self::SpawnMsg => Load::new(100, 100, 1),
            Self::Mem => Load::new(2_000, 2_000, 1),
            Self::Skynet => Load::new(1, 1_000, 1),
            Self::Big => Load::new(12, 1_200, 1),
            Self::Fair => Load::new(1, 100, 100),
            Self::Bounded => Load::new(1, 500, 64),
        }
    }

    pub(crate) const fn load(self, size: Size) -> Load {
        match size {
            Size::Full => self.full(),
            Size::Small => self.small(),
        }
    }

    /// Runs it in this process, and returns nanoseconds for each operation, or bytes for each actor.
    ///
    /// # Errors
    ///
    /// Says what came out wrong.
    pub(crate) fn run(self, contender: Name, threads: usize, load: Load) -> Outcome {
        match contender {
            Name::Ours => self.run_on::<Ours>(threads, load),
            Name::Tokio => self.run_on::<ByHand>(threads, load),
            Name::Actix => self.run_on::<Actix>(threads, load),
            Name::Kameo => self.run_on::<Kameo>(threads, load),
            Name::Ractor => self.run_on::<Ractor>(threads, load),
            Name::Xtra => self.run_on::<Xtra>(threads, load),
        }
    }

    fn run_on<C: Contender>(self, threads: usize, load: Load) -> Outcome {
        C::run(threads, move |peer: C| async move {
            match self {
                Self::Tell1 => tell::from_one(peer, load).await,
                Self::Tell8 => tell::from_threads(peer, load).await,
                Self::Many => many::run(peer, load).await,
                Self::Pingpong | Self::Ring => circles::one(peer, load).await,
                Self::Pairs => circles::pairs(peer, load).await,
                Self::Ask => ask::in_sequence(peer, load).await,
                Self::AskBare => ask::without_timeout(peer, load).await,
                Self::Ask64 => ask::from_tasks(peer, load).await,
                Self::Spawn => spawn::alone(peer, load).await,
                Self::SpawnMsg => spawn::with_message(peer, load).await,
                Self::Mem => spawn::memory(peer, load).await,
                Self::Skynet => skynet::run(peer, load).await,
                Self::Big => big::run(peer, load).await,
                Self::Fair => fair::run(peer, load).await,
                Self::Bounded => bounded::run(peer, load).await,
            }
        })
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What the figures of a workload count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    Ns,
    Bytes,
}

/// How large a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Full,
    Small,
}

/// How large a workload is, in figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) actors: usize,
    pub(crate) operations: u64,
    /// How many are on their way at once: tokens, or tasks that ask, or what a mailbox holds.
    pub(crate) flight: usize,
}

impl Load {
    const fn new(actors: usize, operations: u64, flight: usize) -> Self {
        Self {
            actors,
            operations,
            flight,
        }
    }
}

/// The figure, or what came out wrong.
pub(crate) type Outcome = Result<f64, String>;

fn check(what: &str, got: u64, expected: u64) -> Result<(), String> {
    if got == expected {
        Ok(())
    } else {
        Err(format!("{what}: {got} in place of {expected}"))
    }
}

/// The real clock, around what is measured.
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(Instant::now())
    }

    fn nanos_for_each(&self, operations: u64) -> f64 {
        self.0.elapsed().as_nanos() as f64 / operations as f64
    }
}
