//! `tell1` and `tell8`: how fast one actor takes messages, from one sender and from threads outside.

use std::thread;

use crate::contender::{Contender, Counter};
use crate::latch::Latch;

use super::{Clock, Load, Outcome, check};

const THREADS: u64 = 8;

pub(super) async fn from_one<C: Contender>(peer: C, load: Load) -> Outcome {
    let counter = peer.counter(1, 0).await;
    let clock = Clock::start();
    for _ in 0..load.operations {
        counter.add(1);
    }
    // The answer to what was sent last proves the others handled.
    let sum = counter.ask(0).await;
    let nanos = clock.nanos_for_each(load.operations);
    check("sum", sum, load.operations)?;
    Ok(nanos)
}

pub(super) async fn from_threads<C: Contender>(peer: C, load: Load) -> Outcome {
    let counter = peer.counter(1, 0).await;
    let each = load.operations / THREADS;
    let latch = Latch::new(THREADS);
    let clock = Clock::start();
    for _ in 0..THREADS {
        let (counter, latch) = (counter.clone(), latch.clone());
        thread::spawn(move || {
            for _ in 1..each {
                counter.add(1);
            }
            counter.add_counted(1, latch);
        });
    }
    latch.wait().await;
    let sum = counter.ask(0).await;
    let nanos = clock.nanos_for_each(each * THREADS);
    check("sum", sum, each * THREADS)?;
    Ok(nanos)
}
