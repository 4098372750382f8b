//! `skynet`: an actor spawns ten, each of them ten, down to the leaves; sums go back up. An operation is an actor: spawned, told
//! to grow, heard of, and ended.

use crate::contender::{BRANCHES, Contender};

use super::{Clock, Load, Outcome, check};

pub(super) async fn run<C: Contender>(peer: C, load: Load) -> Outcome {
    let leaves = load.operations;
    let clock = Clock::start();
    let sum = peer.skynet(leaves).await;
    let nanos = clock.nanos_for_each(actors(leaves));
    check("sum", sum, leaves * (leaves - 1) / 2)?;
    Ok(nanos)
}

fn actors(leaves: u64) -> u64 {
    std::iter::successors(Some(leaves), |level| {
        (*level > 1).then_some(level / BRANCHES)
    })
    .sum()
}
