//! A watch that races the end of the watched.

mod common;

use std::collections::HashMap;

use actors_core::ActorId;
use actors_core::prelude::*;
use common::world::on_two_threads;

struct Mortal;

#[actor]
impl Mortal {
    #[handler]
    fn rest(&mut self) {}
}

/// Watches, and counts of whose end it is told how often.
#[derive(Default)]
struct Watcher {
    told: HashMap<ActorId, u32>,
}

#[actor]
impl Watcher {
    #[handler]
    fn watch_over(&mut self, ctx: &mut ActorContext<Self>, others: Vec<MortalRef>) {
        others.iter().for_each(|other| ctx.watch(other));
    }

    #[handler]
    fn rest(&mut self) {}

    #[handler]
    fn told(&mut self) -> HashMap<ActorId, u32> {
        std::mem::take(&mut self.told)
    }

    #[on_terminated]
    fn gone(&mut self, who: Terminated) {
        *self.told.entry(who.id).or_default() += 1;
    }
}

#[test]
fn a_watch_that_races_a_stop_100_000_times_gives_exactly_one_terminated_each() {
    const WATCHERS: usize = 8;
    const MORTALS: usize = 50;
    const ROUNDS: usize = 250;
    on_two_threads(async |system| {
        let watchers: Vec<_> = (0..WATCHERS)
            .map(|_| system.spawn_anonymous(Watcher::default).unwrap())
            .collect();
        let mut races = 0;
        for round in 0..ROUNDS {
            let mortals: Vec<_> = (0..MORTALS)
                .map(|_| system.spawn_anonymous(|| Mortal).unwrap())
                .collect();
            for watcher in &watchers {
                watcher.watch_over(mortals.clone()).tell();
            }
            for (place, mortal) in mortals.iter().enumerate() {
                match (place + round) % 3 {
                    0 => drop(mortal.stop()),
                    1 => drop(mortal.drain()),
                    _ => drop(mortal.kill()),
                }
            }
            for mortal in &mortals {
                mortal.stopped().await;
            }
            for watcher in &watchers {
                // When it has watched them all, the news are queued: anybody can know of the ends, and the watch of a dead one
                // is answered at once.
                watcher.rest().await.unwrap();
                let mut told = watcher.told().await.unwrap();
                for mortal in &mortals {
                    assert_eq!(told.remove(&mortal.actor_id()), Some(1));
                    races += 1;
                }
                assert!(told.is_empty(), "{told:?}");
            }
        }
        assert_eq!(races, 100_000);
    });
}
