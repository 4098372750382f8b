//! Who competes, and what each must offer: a few actors of the same shape, so that a workload is written once.
//!
//! The traits are generic all through: what runs is the code that a user of each library writes, without a box or an indirection
//! of ours. A call that fails ends the run: all actors live as long as it lasts.

pub(crate) mod actix;
pub(crate) mod by_hand;
pub(crate) mod kameo;
pub(crate) mod ours;
pub(crate) mod ractor;
pub(crate) mod xtra;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use tokio::runtime::Builder;

use crate::latch::Latch;

/// How long an ask waits at most: our default, and what the peers are given.
pub(crate) const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// The contenders by name, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Name {
    Ours,
    /// A task with a channel, by hand.
    Tokio,
    Actix,
    Kameo,
    Ractor,
    Xtra,
}

impl Name {
    pub(crate) const ALL: [Self; 6] = [
        Self::Ours,
        Self::Tokio,
        Self::Actix,
        Self::Kameo,
        Self::Ractor,
        Self::Xtra,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Tokio => "tokio",
            Self::Actix => "actix",
            Self::Kameo => "kameo",
            Self::Ractor => "ractor",
            Self::Xtra => "xtra",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A way to have actors.
///
/// A place says which actors belong together: who talks to each other is in one place, and the workload itself is in place 0.
/// Libraries whose actors move between threads take no notice of it; one whose actors are bound to threads keeps a place on one.
pub(crate) trait Contender: Clone + Send + Sync + 'static {
    type Counter: Counter;
    type Consumer: Consumer;
    type Node: Node;
    type Guest: Guest;

    /// Runs `work` as a task beside the actors, on this many threads in all.
    fn run<T, W, F>(threads: usize, work: W) -> T
    where
        T: Send + 'static,
        W: FnOnce(Self) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static;

    /// Runs a task beside the workload.
    fn task(&self, place: usize, work: impl Future<Output = ()> + Send + 'static);

    /// Spawns a counter. `number` is for names, where an actor is spawned with one.
    fn counter(&self, place: usize, number: u64) -> impl Future<Output = Self::Counter> + Send;

    /// Spawns a consumer whose mailbox holds that many messages, or says that there are no such mailboxes.
    fn consumer(
        &self,
        place: usize,
        capacity: usize,
    ) -> impl Future<Output = Option<Self::Consumer>> + Send;

    fn node(&self, place: usize, end: Arc<Latch>) -> impl Future<Output = Self::Node> + Send;

    fn guest(&self, place: usize, seed: Seed) -> impl Future<Output = Self::Guest> + Send;

    /// Grows a tree of actors, ten under each, with this many leaves, and returns the sum of their numbers.
    fn skynet(&self, leaves: u64) -> impl Future<Output = u64> + Send;
}

/// An actor that adds numbers.
pub(crate) trait Counter: Clone + Send + Sync + 'static {
    /// Tells it to add.
    fn add(&self, number: u64);
    /// Tells it to add, and to count the latch down.
    fn add_counted(&self, number: u64, latch: Arc<Latch>);
    /// Asks it to add and to answer the sum, within [`ASK_TIMEOUT`].
    fn ask(&self, number: u64) -> impl Future<Output = u64> + Send;
    /// The same, without a limit of time.
    fn ask_without_timeout(&self, number: u64) -> impl Future<Output = u64> + Send;
}

/// An actor that adds numbers slowly ([`slowly`]), behind a mailbox with a bound.
pub(crate) trait Consumer: Send + Sync + 'static {
    /// Waits for room, and tells it to add.
    fn put(&self, number: u64) -> impl Future<Output = ()> + Send;
    /// Asks for the sum.
    fn sum(&self) -> impl Future<Output = u64> + Send;
}

/// An actor that passes tokens on.
pub(crate) trait Node: Clone + Send + Sync + 'static {
    /// Tells it whom to pass tokens to; without one a token ends here, and counts the latch down.
    fn link(&self, next: Option<&Self>);
    /// Tells it a token that is passed on that often, and then ends.
    fn token(&self, left: u64);
    /// Asks how many tokens it has seen.
    fn seen(&self) -> impl Future<Output = u64> + Send;
}

/// An actor that pings others, one random other after each answer.
pub(crate) trait Guest: Clone + Send + Sync + 'static {
    /// Tells it who is there, itself included, and to begin.
    fn begin(&self, all: Arc<[Self]>);
    /// Asks how many pings it has answered.
    fn answered(&self) -> impl Future<Output = u64> + Send;
}

/// What a guest is made of, whoever makes it.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    /// Its own place among all.
    pub(crate) own: usize,
    /// How many pings it sends.
    pub(crate) pings: u64,
    /// Counted down after its last.
    pub(crate) end: Arc<Latch>,
}

/// What a guest knows besides the others: whom to ping next.
#[derive(Debug)]
pub(crate) struct Manners {
    seed: Seed,
    left: u64,
    random: fastrand::Rng,
}

impl Manners {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            left: seed.pings,
            random: fastrand::Rng::with_seed(seed.own as u64),
            seed,
        }
    }

    pub(crate) const fn own(&self) -> usize {
        self.seed.own
    }

    /// A random one of `all`, but not itself; or nobody, and then this guest is through.
    pub(crate) fn next(&mut self, all: usize) -> Option<usize> {
        if self.left == 0 {
            self.seed.end.count_down();
            return None;
        }
        self.left -= 1;
        let other = self.random.usize(..all - 1);
        Some(other + usize::from(other >= self.seed.own))
    }
}

/// How many children an actor of the tree has.
pub(crate) const BRANCHES: u64 = 10;

/// What an actor of the tree is told: a leaf has one leaf, which is its own number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grow {
    pub(crate) first: u64,
    pub(crate) leaves: u64,
}

impl Grow {
    pub(crate) const fn all(leaves: u64) -> Self {
        Self { first: 0, leaves }
    }

    /// What the children are told, or nothing for a leaf.
    pub(crate) fn parts(self) -> impl Iterator<Item = Self> {
        let leaves = self.leaves / BRANCHES;
        let count = if leaves == 0 { 0 } else { BRANCHES };
        (0..count).map(move |number| Self {
            first: self.first + number * leaves,
            leaves,
        })
    }

    pub(crate) const fn is_leaf(self) -> bool {
        self.leaves == 1
    }
}

/// The work of a slow consumer: a few hundred nanoseconds, and the number it was given.
pub(crate) fn slowly(number: u64) -> u64 {
    let mut mixed = number;
    for _ in 0..300 {
        mixed = std::hint::black_box(
            mixed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1),
        );
    }
    std::hint::black_box(mixed);
    number
}

/// What a call returned that cannot fail while the actors live.
#[track_caller]
fn alive<T, E>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(_) => panic!("the actor lives, has room and answers"),
    }
}

/// Runs `work` as a task of a Tokio runtime: not on the main thread, from where each wake-up would cross threads.
fn on_tokio<T, F>(threads: usize, work: F) -> T
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .expect("a Tokio runtime");
    let result = runtime.block_on(async { tokio::spawn(work).await });
    result.expect("a workload does not panic")
}
