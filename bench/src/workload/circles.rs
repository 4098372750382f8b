//! `pingpong`, `pairs` and `ring`: actors in circles, and tokens that go round. An operation is a hop: one message from an actor
//! to the next.

use crate::contender::{Contender, Node};
use crate::latch::Latch;

use super::{Clock, Load, Outcome, check};

/// One circle of all actors.
pub(super) async fn one<C: Contender>(peer: C, load: Load) -> Outcome {
    run(peer, 1, load).await
}

/// Circles of two.
pub(super) async fn pairs<C: Contender>(peer: C, load: Load) -> Outcome {
    run(peer, load.actors / 2, load).await
}

async fn run<C: Contender>(peer: C, count: usize, load: Load) -> Outcome {
    let tokens = count * load.flight;
    let latch = Latch::new(tokens as u64);
    let mut circles = Vec::with_capacity(count);
    for place in 0..count {
        let mut nodes = Vec::with_capacity(load.actors / count);
        for _ in 0..load.actors / count {
            nodes.push(peer.node(place, latch.clone()).await);
        }
        close(&nodes);
        circles.push(nodes);
    }
    // All are linked, and idle again.
    for node in circles.iter().flatten() {
        check("tokens seen before the first", node.seen().await, 0)?;
    }
    let each = (load.operations / tokens as u64).max(1);
    let hops = each * tokens as u64;
    let clock = Clock::start();
    for nodes in &circles {
        for number in 0..load.flight {
            nodes[number * nodes.len() / load.flight].token(each - 1);
        }
    }
    latch.wait().await;
    let nanos = clock.nanos_for_each(hops);
    let mut seen = 0;
    for node in circles.iter().flatten() {
        seen += node.seen().await;
    }
    check("hops", seen, hops)?;
    Ok(nanos)
}

fn close(nodes: &[impl Node]) {
    let nexts = nodes.iter().cycle().skip(1);
    for (node, next) in nodes.iter().zip(nexts) {
        node.link(Some(next));
    }
}
