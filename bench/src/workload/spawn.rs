//! `spawn`, `spawn_msg` and `mem`: what an actor costs to begin, and to have.

use crate::contender::{Contender, Counter};
use crate::latch::Latch;
use crate::memory;

use super::{Clock, Load, Outcome, check};

/// How many actors get their first message together when it is about memory: few, so that what waits to run takes none to speak
/// of.
const WINDOW: usize = 1_000;

/// Until all are spawned, and can be told messages.
pub(super) async fn alone<C: Contender>(peer: C, load: Load) -> Outcome {
    let mut counters = Vec::with_capacity(load.actors);
    let clock = Clock::start();
    for number in 0..load.actors as u64 {
        counters.push(peer.counter(0, number).await);
    }
    let nanos = clock.nanos_for_each(load.actors as u64);
    for counter in &counters {
        check("sum", counter.ask(1).await, 1)?;
    }
    Ok(nanos)
}

/// Until each has handled a message.
pub(super) async fn with_message<C: Contender>(peer: C, load: Load) -> Outcome {
    let mut counters = Vec::with_capacity(load.actors);
    let latch = Latch::new(load.actors as u64);
    let clock = Clock::start();
    for number in 0..load.actors as u64 {
        let counter = peer.counter(0, number).await;
        counter.add_counted(1, latch.clone());
        counters.push(counter);
    }
    latch.wait().await;
    let nanos = clock.nanos_for_each(load.actors as u64);
    for counter in &counters {
        check("sum", counter.ask(0).await, 1)?;
    }
    Ok(nanos)
}

/// What an actor takes that has handled a message and is idle, its name (where it is spawned with one) and one reference included.
pub(super) async fn memory<C: Contender>(peer: C, load: Load) -> Outcome {
    // What is made once, and kept, is not counted.
    populate(&peer, WINDOW, load.actors).await?;
    let before = memory::resident()?;
    let counters = populate(&peer, load.actors, 0).await?;
    let after = memory::resident()?;
    check("sum", counters[0].ask(0).await, 1)?;
    Ok(after.saturating_sub(before) as f64 / load.actors as f64)
}

/// Spawns actors, each of which handles a message; `first` is the first of their numbers.
pub(crate) async fn populate<C: Contender>(
    peer: &C,
    count: usize,
    first: usize,
) -> Result<Vec<C::Counter>, String> {
    let mut counters = Vec::with_capacity(count);
    while counters.len() < count {
        let window = WINDOW.min(count - counters.len());
        let latch = Latch::new(window as u64);
        for _ in 0..window {
            let number = first + counters.len();
            let counter = peer.counter(number / WINDOW, number as u64).await;
            counter.add_counted(1, latch.clone());
            counters.push(counter);
        }
        latch.wait().await;
    }
    Ok(counters)
}
