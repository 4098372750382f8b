//! A million asks, and very many children: each ends, and nothing is left of them.

mod common;

use std::alloc::System;
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use actors_core::prelude::*;
use common::world::{bounded, threaded_runtime, virtual_runtime};
use common::{beside, settle, system};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::sync::oneshot;
use tokio::time::Instant;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What is counted is the whole process: one test after another.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many bytes are in use.
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
    let _alone = alone();
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

/// The real clock is the point: while nothing can run and a timer is left, virtual time jumps to it.
#[test]
fn asks_to_actors_that_die_leave_not_one_deadline_behind() {
    let _alone = alone();
    bounded(|| {
        virtual_runtime().block_on(async {
            let system = system();
            for round in 0..12 {
                assert_eq!(ask_a_mortal(&system, round, 100).await, 100);
            }
            settle().await;
            let before = Instant::now();
            let (done, is_done) = oneshot::channel();
            let outsider = thread::spawn(move || {
                let began = std::time::Instant::now();
                while began.elapsed() < ms(20) {
                    std::hint::spin_loop();
                }
                done.send(())
            });
            is_done.await.unwrap();
            assert_eq!(before.elapsed(), ms(0));
            outsider.join().unwrap().unwrap();
        });
    });
}

struct Child;

#[actor]
impl Child {
    #[handler]
    fn rest(&mut self) {}
}

#[derive(Default)]
struct Parent;

#[actor]
impl Parent {
    /// Spawns a child and loses it, so many times, one by one.
    #[handler]
    async fn lose(&mut self, ctx: &mut ActorContext<Self>, count: u32) {
        for number in 0..count {
            let child = match number % 2 {
                0 => ctx.spawn("child", || Child),
                _ => ctx.spawn_anonymous(|| Child),
            }
            .expect("the name is free");
            match number % 3 {
                0 => child.stop().await,
                1 => child.drain().await,
                _ => child.kill().await,
            };
        }
    }
}

#[test]
fn a_supervisor_that_spawned_and_lost_a_hundred_thousand_children_one_by_one_is_as_small_as_before()
{
    // A million take too long for a test; what each of these left behind would show as well.
    const CHILDREN: u32 = 100_000;
    let _alone = alone();
    bounded(|| {
        virtual_runtime().block_on(async {
            let system = system();
            let parent = system.spawn("parent", Parent::default).unwrap();
            let lose = |count| parent.lose(count).ask().timeout(Duration::MAX);
            lose(100).await.unwrap();
            let before = in_use();
            lose(CHILDREN).await.unwrap();
            // Less than a byte for each of a hundred.
            let after = in_use();
            assert!(
                after < before + CHILDREN as usize / 100,
                "{before} bytes became {after}"
            );
            assert_eq!(system.tree().nodes().len(), 1);
        });
    });
}
