//! Delivery: one message at a time, in order, at most once; and nobody keeps a thread to himself (D1, D2, D3, D6).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use actors_core::prelude::*;
use tokio::task::yield_now;

use common::recorder::{Numbers, Recorder, held, recorder};
use common::world::{in_virtual_time, in_virtual_time_with, on_two_threads};
use common::{Gate, settle, spin};

/// Notices when it is entered twice.
#[derive(Default)]
struct Room {
    taken: Arc<AtomicBool>,
    visits: u64,
}

#[actor]
impl Room {
    #[handler]
    async fn visit(&mut self, awaits: u32) -> u64 {
        assert!(
            !self.taken.swap(true, Ordering::SeqCst),
            "two are inside at once"
        );
        for _ in 0..awaits {
            yield_now().await;
        }
        self.taken.store(false, Ordering::SeqCst);
        self.visits += 1;
        self.visits
    }
}

#[test]
fn one_message_at_a_time_is_inside_an_actor_awaits_included() {
    on_two_threads(async |system| {
        let room = system.spawn("room", Room::default).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..250).for_each(|awaits| room.visit(awaits % 4).tell()));
            }
        });
        assert_eq!(room.visit(0).await, Ok(1_001));
    });
}

/// Checks that the numbers of each sender come one after the other.
#[derive(Default)]
struct Sorter {
    next: [u64; 4],
}

#[actor]
impl Sorter {
    #[handler]
    fn take(&mut self, sender: usize, number: u64) {
        assert_eq!(
            self.next[sender], number,
            "out of order, from sender {sender}"
        );
        self.next[sender] += 1;
    }

    #[handler]
    fn counts(&self) -> [u64; 4] {
        self.next
    }
}

#[test]
fn messages_of_each_of_many_senders_are_handled_in_their_order() {
    on_two_threads(async |system| {
        let sorter = system.spawn_once("sorter", Sorter::default()).unwrap();
        std::thread::scope(|scope| {
            let sorter = &sorter;
            for sender in 0..4 {
                scope.spawn(move || {
                    (0..5_000).for_each(|number| sorter.take(sender, number).tell());
                });
            }
        });
        assert_eq!(sorter.counts().await, Ok([5_000; 4]));
    });
}

#[test]
fn a_mailbox_is_first_in_first_out_across_the_bursts_that_are_taken_from_it() {
    in_virtual_time(async |system| {
        let (recorder, log) = recorder(&system);
        let first = held(&recorder).await;
        (0..20).for_each(|number| recorder.note(number).tell());
        let second = Gate::new();
        recorder.hold(second.clone()).tell();
        (20..40).for_each(|number| recorder.note(number).tell());
        first.open();
        settle().await;
        assert_eq!(log.entries(), Vec::from_iter(0..20));
        (40..60).for_each(|number| recorder.note(number).tell());
        second.open();
        settle().await;
        assert_eq!(log.entries(), Vec::from_iter(0..60));
    });
}

#[test]
fn a_message_that_was_begun_is_not_delivered_again_by_a_restart() {
    in_virtual_time(async |system| {
        let log = Numbers::default();
        let policy = Supervision::one_for_one().restarts(100, within(secs(60)));
        let flaky = system
            .actor(Flaky::writing_to(&log))
            .supervision(policy)
            .spawn()
            .unwrap();
        (0..100).for_each(|number| flaky.take(number).tell());
        assert_eq!(flaky.take(100).ask().timeout(Duration::MAX).await, Ok(()));
        assert_eq!(log.entries(), Vec::from_iter(0..=100));
    });
}

/// Writes numbers down and fails at every seventh, half of them at once and half after an await.
struct Flaky {
    log: Numbers,
}

impl Flaky {
    fn writing_to(log: &Numbers) -> impl Fn() -> Self + Send + Sync + 'static {
        let log = log.clone();
        move || Self { log: log.clone() }
    }
}

#[actor]
impl Flaky {
    #[handler]
    async fn take(&mut self, number: u64) {
        self.log.add(number);
        if number % 14 == 7 {
            yield_now().await;
        }
        assert_ne!(number % 7, 6, "every seventh fails");
        assert_ne!(number % 14, 7, "and some after an await");
    }
}

/// The longest row of equal entries.
fn longest_row(entries: &[u64]) -> usize {
    entries
        .chunk_by(|one, other| one == other)
        .map(<[u64]>::len)
        .max()
        .unwrap_or(0)
}

/// Two actors that write their number into one log, each with `count` messages before either runs. Gives the log of the
/// time when both had something to do.
async fn race(system: &ActorSystem, count: usize, spin: Duration) -> Vec<u64> {
    let log = Numbers::default();
    let runners = [1, 2].map(|number| {
        let log = log.clone();
        system
            .spawn_anonymous(move || Runner {
                number,
                spin,
                log: log.clone(),
            })
            .unwrap()
    });
    for runner in &runners {
        (0..count).for_each(|_| runner.step().tell());
    }
    for runner in &runners {
        runner.step().await.unwrap();
    }
    log.entries().drain(..count).collect()
}

struct Runner {
    number: u64,
    spin: Duration,
    log: Numbers,
}

#[actor]
impl Runner {
    #[handler]
    fn step(&mut self) {
        spin(self.spin);
        self.log.add(self.number);
    }
}

#[test]
fn an_actor_gives_up_its_thread_after_its_throughput() {
    in_virtual_time_with(
        |builder| builder.throughput(5),
        async |system| {
            let entries = race(&system, 20, Duration::ZERO).await;
            let turns = entries
                .chunk_by(|one, other| one == other)
                .map(<[u64]>::len);
            assert_eq!(turns.collect::<Vec<_>>(), [5; 4]);
        },
    );
}

#[test]
fn an_actor_gives_up_its_thread_after_64_messages_unless_it_is_set_otherwise() {
    in_virtual_time(async |system| {
        let entries = race(&system, 500, Duration::ZERO).await;
        assert!(longest_row(&entries) <= 64, "{}", longest_row(&entries));
    });
}

#[test]
fn an_actor_with_slow_handlers_gives_up_its_thread_after_a_slice_of_time() {
    in_virtual_time(async |system| {
        let entries = race(&system, 40, Duration::from_micros(50)).await;
        assert!(longest_row(&entries) <= 8, "{}", longest_row(&entries));
    });
}

/// Tells itself to go on, for ever.
struct Wheel {
    rounds: Arc<AtomicU64>,
}

#[actor]
impl Wheel {
    #[handler]
    fn turn(&mut self, ctx: &mut ActorContext<Self>) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        ctx.me().turn().tell();
    }
}

#[test]
fn other_tasks_of_the_runtime_go_on_beside_an_actor_that_never_rests() {
    in_virtual_time(async |system| {
        let rounds = Arc::new(AtomicU64::new(0));
        let wheel = system
            .spawn_with("wheel", Arc::clone(&rounds), |rounds| Wheel { rounds })
            .unwrap();
        wheel.turn().tell();
        for _ in 0..50 {
            yield_now().await;
        }
        assert!(rounds.load(Ordering::Relaxed) > 0, "the actor runs as well");
        wheel.stop().await;
    });
}

#[test]
fn other_actors_go_on_beside_an_actor_that_never_rests() {
    in_virtual_time(async |system| {
        let wheel = system
            .spawn("wheel", || Wheel {
                rounds: Arc::default(),
            })
            .unwrap();
        wheel.turn().tell();
        let other = system.spawn("other", Recorder::default).unwrap();
        assert_eq!(other.echo(1).await, Ok(1));
        wheel.stop().await;
    });
}
