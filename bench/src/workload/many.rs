//! `many`: one sender serves many actors in turn, so each gets one message at a time.

use crate::contender::{Contender, Counter};
use crate::latch::Latch;

use super::{Clock, Load, Outcome, check};

pub(super) async fn run<C: Contender>(peer: C, load: Load) -> Outcome {
    let mut counters = Vec::with_capacity(load.actors);
    for number in 0..load.actors as u64 {
        // In blocks of places, so that neighbours are together.
        counters.push(
            peer.counter(1 + number as usize * 2 / load.actors, number)
                .await,
        );
    }
    let each = load.operations / load.actors as u64;
    let latch = Latch::new(load.actors as u64);
    let clock = Clock::start();
    for _ in 1..each {
        for counter in &counters {
            counter.add(1);
        }
    }
    for counter in &counters {
        counter.add_counted(1, latch.clone());
    }
    latch.wait().await;
    let nanos = clock.nanos_for_each(each * load.actors as u64);
    for counter in &counters {
        check("sum", counter.ask(0).await, each)?;
    }
    Ok(nanos)
}
