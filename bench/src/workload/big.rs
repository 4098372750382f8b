//! `big`: many actors that talk to each other all at once. Each pings a random other, waits for the pong, and pings the next; in
//! the meantime it answers whoever pings it. An operation is a ping with its pong.

use std::sync::Arc;

use crate::contender::{Contender, Guest, Seed};
use crate::latch::Latch;

use super::{Clock, Load, Outcome, check};

pub(super) async fn run<C: Contender>(peer: C, load: Load) -> Outcome {
    let pings = load.operations / load.actors as u64;
    let end = Latch::new(load.actors as u64);
    let mut guests = Vec::with_capacity(load.actors);
    for own in 0..load.actors {
        let seed = Seed {
            own,
            pings,
            end: end.clone(),
        };
        guests.push(peer.guest(own, seed).await);
    }
    let guests: Arc<[C::Guest]> = guests.into();
    let clock = Clock::start();
    for guest in &*guests {
        guest.begin(Arc::clone(&guests));
    }
    end.wait().await;
    let nanos = clock.nanos_for_each(pings * load.actors as u64);
    let mut answered = 0;
    for guest in &*guests {
        answered += guest.answered().await;
    }
    check("pings", answered, pings * load.actors as u64)?;
    Ok(nanos)
}
