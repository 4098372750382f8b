//! `fair`: what an idle actor's asker notices of an actor that never runs out of messages. The flood is a number of tokens that
//! an actor passes to itself, so it never ends and does not grow.

use std::time::{Duration, Instant};

use crate::contender::{Contender, Counter, Node};
use crate::latch::Latch;

use super::{Load, Outcome, check};

/// How long the flood may take to begin.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn run<C: Contender>(peer: C, load: Load) -> Outcome {
    let tokens = load.flight as u64;
    // One more token goes round once and ends: the flood has begun.
    let end = Latch::new(tokens + 1);
    let flooded = peer.node(1, end.clone()).await;
    let idle = peer.counter(0, 0).await;
    flooded.link(Some(&flooded));
    for _ in 0..tokens {
        flooded.token(u64::MAX);
    }
    flooded.token(1);
    let began = Instant::now();
    while end.left() > tokens {
        if began.elapsed() > PATIENCE {
            return Err("the flood does not begin".to_owned());
        }
        // An ask in place of a pause: where an actor never gives its thread up, a timer might have no thread to fire on.
        idle.ask(0).await;
    }
    let mut waits = Vec::with_capacity(load.operations as usize);
    let mut sum = 0;
    for _ in 0..load.operations {
        let asked = Instant::now();
        sum = idle.ask(1).await;
        waits.push(asked.elapsed().as_nanos());
    }
    flooded.link(None);
    end.wait().await;
    check("sum", sum, load.operations)?;
    if flooded.seen().await <= tokens + 1 {
        return Err("there was no flood".to_owned());
    }
    waits.sort_unstable();
    Ok(waits[waits.len() * 99 / 100] as f64)
}
