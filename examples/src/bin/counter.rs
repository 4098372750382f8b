//! Eight threads count with one actor. No increment is lost, and there is no lock.

#![expect(
    clippy::print_stdout,
    reason = "the printout is what this program is for"
)]

use std::error::Error;
use std::thread;

use actors_core::prelude::*;

const THREADS: u64 = 8;
const INCREMENTS: u64 = 1_000;

// ANCHOR: actor
#[derive(Default)]
struct Counter {
    count: u64,
}

#[actor]
impl Counter {
    #[handler]
    fn increment(&mut self) {
        // Only one message at a time is inside the actor, so this needs no lock.
        self.count += 1;
    }

    #[handler]
    fn total(&self) -> u64 {
        self.count
    }
}
// ANCHOR_END: actor

// ANCHOR: main
fn main() -> Result<(), Box<dyn Error>> {
    // With threads of its own, a system needs no async `main`.
    let system = ActorSystem::builder("counter").worker_threads(2).build()?;
    let counter = system.spawn("counter", Counter::default)?;

    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..INCREMENTS {
                    counter.increment().tell();
                }
            });
        }
    });

    // The threads have told all they had to tell, so this question is queued behind all of it.
    let total = counter.total().ask().blocking()?;
    println!("{THREADS} threads, {INCREMENTS} increments each: {total}");
    system.block_on(system.shutdown());
    Ok(())
}
// ANCHOR_END: main
