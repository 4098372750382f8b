//! An actor that only waits for a thread is not taken for one that holds it.

use std::time::{Duration, Instant};

use actors_core::prelude::*;

#[derive(Default)]
struct Slow;

#[actor]
impl Slow {
    /// Holds its thread for a millisecond: the real clock is the point here.
    #[handler]
    fn spin(&mut self) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(1) {
            std::hint::spin_loop();
        }
    }
}

/// Makes others runnable from inside of a turn, so that they stand in line in the worker's own queue.
struct Crowd(Vec<SlowRef>);

#[actor]
impl Crowd {
    #[handler]
    fn rush(&mut self) {
        for slow in &self.0 {
            slow.spin().tell();
        }
    }
}

#[test]
fn an_actor_that_waits_in_a_long_run_queue_past_its_deadline_still_ends_well() {
    let system = ActorSystem::builder("queue")
        .worker_threads(1)
        .build()
        .unwrap();
    let slow = || system.spawn_anonymous(Slow::default).unwrap();
    let crowd: Vec<_> = (0..100).map(|_| slow()).collect();
    let last = crowd.last().unwrap().clone();
    let crowd = system.spawn_once("crowd", Crowd(crowd)).unwrap();
    system.block_on(crowd.rush().ask()).unwrap();
    let reason = system.block_on(last.stop_within(Duration::ZERO));
    assert_eq!(reason, StopReason::Stopped);
}
