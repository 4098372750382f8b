//! `ask`, `ask_bare` and `ask64`: how long an answer takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::contender::{Contender, Counter};
use crate::latch::Latch;

use super::{Clock, Load, Outcome, check};

pub(super) async fn in_sequence<C: Contender>(peer: C, load: Load) -> Outcome {
    let counter = peer.counter(0, 0).await;
    check("sum", counter.ask(0).await, 0)?;
    let clock = Clock::start();
    let mut sum = 0;
    for _ in 0..load.operations {
        sum = counter.ask(1).await;
    }
    let nanos = clock.nanos_for_each(load.operations);
    check("sum", sum, load.operations)?;
    Ok(nanos)
}

pub(super) async fn without_timeout<C: Contender>(peer: C, load: Load) -> Outcome {
    let counter = peer.counter(0, 0).await;
    check("sum", counter.ask_without_timeout(0).await, 0)?;
    let clock = Clock::start();
    let mut sum = 0;
    for _ in 0..load.operations {
        sum = counter.ask_without_timeout(1).await;
    }
    let nanos = clock.nanos_for_each(load.operations);
    check("sum", sum, load.operations)?;
    Ok(nanos)
}

pub(super) async fn from_tasks<C: Contender>(peer: C, load: Load) -> Outcome {
    let counter = peer.counter(0, 0).await;
    let tasks = load.flight as u64;
    let each = load.operations / tasks;
    let latch = Latch::new(tasks);
    let largest = Arc::new(AtomicU64::new(0));
    let clock = Clock::start();
    for _ in 0..tasks {
        let (counter, latch, largest) = (counter.clone(), latch.clone(), Arc::clone(&largest));
        peer.task(0, async move {
            let mut sum = 0;
            for _ in 0..each {
                sum = counter.ask(1).await;
            }
            // Ordering: Relaxed; the latch orders it before the load below.
            largest.fetch_max(sum, Ordering::Relaxed);
            latch.count_down();
        });
    }
    latch.wait().await;
    let nanos = clock.nanos_for_each(each * tasks);
    check("sum", largest.load(Ordering::Relaxed), each * tasks)?;
    Ok(nanos)
}
