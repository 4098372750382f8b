//! `fair`: what an idle actor's asker notices of an actor that never runs out of messages. The flood is a number of tokens that
//! an actor passes to itself, so it never ends and does not grow.

use std::time::Instant;

use crate::contender::{Contender, Counter, Node};
use crate::latch::Latch;

use super::{Load, Outcome, check};

pub(super) async fn run<C: Contender>(peer: C, load: Load) -> Outcome {
    let end = Latch::new(load.flight as u64);
    let flooded = peer.node(1, end.clone()).await;
    let idle = peer.counter(0, 0).await;
    flooded.link(Some(&flooded));
    for _ in 0..load.flight {
        flooded.token(u64::MAX);
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
    if flooded.seen().await <= load.flight as u64 {
        return Err("the flood has not begun".to_owned());
    }
    waits.sort_unstable();
    Ok(waits[waits.len() * 99 / 100] as f64)
}
