//! `bounded`: a producer that is faster than its consumer waits for room. An operation is a message, produced and consumed; the
//! consumer's own work is a part of it.

use crate::contender::{Consumer, Contender};

use super::{Clock, Load, Outcome, check};

pub(super) async fn run<C: Contender>(peer: C, load: Load) -> Outcome {
    let Some(consumer) = peer.consumer(1, load.flight).await else {
        return Err("there is no mailbox with a bound".to_owned());
    };
    let clock = Clock::start();
    for _ in 0..load.operations {
        consumer.put(1).await;
    }
    let sum = consumer.sum().await;
    let nanos = clock.nanos_for_each(load.operations);
    check("sum", sum, load.operations)?;
    Ok(nanos)
}
