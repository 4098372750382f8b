//! A million asks: each ends, and nothing is left of them.

mod common;

use std::alloc::System;
use std::panic::resume_unwind;

use actors_core::prelude::*;
use common::world::{bounded, expect_no_timer, threaded_runtime, virtual_runtime};
use common::{beside, settle, system};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many bytes are in use, by other tests as well.
fn in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// Dies in the midst of its work.
#[derive(Default)]
struct Mortal {
    kept: Vec<ReplyTo<u32>>,
}

#[actor]
impl Mortal {
    /// Answers at once, later, never, or with the end of the actor.
    #[handler]
    fn work(&mut self, ctx: &mut ActorContext<Self>, number: u32, last: u32, reply: ReplyTo<u32>) {
        match number % 4 {
            0 => self.kept.push(reply),
            1 => drop(reply),
            _ => reply.send(number),
        }
        if number == last {
            match number % 3 {
                0 => ctx.stop(),
                1 => ctx.fail("the end"),
                // A panic that prints nothing: what is printed is kept in memory until the test is over.
                _ => resume_unwind(Box::new("the end")),
            }
        }
    }
}

/// Asks a mortal many times, and counts how the asks end. Some come when it is dead.
async fn ask_a_mortal(system: &ActorSystem, round: u32, count: u32) -> usize {
    let mortal = system.actor_once(Mortal::default());
    let mortal = mortal.supervision(Supervision::stop()).spawn();
    let mortal = mortal.expect("it has no name to be taken");
    let last = count / 2 + round % 12;
    let mut asks: FuturesUnordered<_> = (0..count)
        .map(|number| mortal.work(number, last).ask().timeout(secs(60)))
        .collect();
    let mut ended = 0;
    while let Some(answer) = asks.next().await {
        ended += 1;
        assert!(!matches!(answer, Err(AskError::Timeout { .. })));
    }
    mortal.stopped().await;
    ended
}

#[test]
fn a_million_asks_to_actors_that_die_end_each_once_and_nothing_is_pending() {
    const TASKS: u32 = 2;
    const ROUNDS: u32 = 500;
    const ASKS: u32 = 1_000;
    bounded(|| {
        threaded_runtime().block_on(async {
            let system = system();
            ask_a_mortal(&system, 0, ASKS).await;
            let before = in_use();
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| {
                    let system = system.clone();
                    beside(async move {
                        let mut ended = 0;
                        for round in 0..ROUNDS {
                            ended += ask_a_mortal(&system, round, ASKS).await;
                        }
                        ended
                    })
                })
                .collect();
            let mut ended = 0;
            for task in tasks {
                ended += task.await.unwrap();
            }
            assert_eq!(ended, 1_000_000);
            // Less than what one pending ask of a thousand would take.
            let after = in_use();
            assert!(after < before + 32 * 1_024, "{before} bytes became {after}");
            system.shutdown().await;
            let counters = system.counters();
            assert!(counters.is_balanced(), "{counters:?}");
            assert_eq!((counters.queued, counters.late_replies), (0, 0));
        });
    });
}

#[test]
fn asks_to_actors_that_die_leave_not_one_deadline_behind() {
    bounded(|| {
        virtual_runtime().block_on(async {
            let system = system();
            for round in 0..12 {
                assert_eq!(ask_a_mortal(&system, round, 100).await, 100);
            }
            settle().await;
            expect_no_timer().await;
        });
    });
}
