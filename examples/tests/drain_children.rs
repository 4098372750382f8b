//! A parent that has its children finish what they have accepted, and what happens when it has not.

use actors_core::prelude::*;
use actors_testkit::TestKit;

#[derive(Default)]
struct Worker {
    done: u32,
}

#[actor]
impl Worker {
    #[handler]
    async fn work(&mut self) {
        tokio::time::sleep(secs(1)).await;
        self.done += 1;
    }
}

// ANCHOR: office
#[derive(Default)]
struct Office {
    workers: Vec<WorkerRef>,
}

#[actor]
impl Office {
    #[on_start]
    fn open(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), SpawnError> {
        for name in ["anna", "bert"] {
            self.workers.push(ctx.spawn(name, Worker::default)?);
        }
        Ok(())
    }

    #[handler]
    fn work(&mut self) {
        for worker in &self.workers {
            worker.work().tell();
        }
    }

    /// Ends the office when its workers have done what they had accepted. Answers how many of them had not by then.
    #[handler]
    async fn close(&mut self, ctx: &mut ActorContext<Self>) -> usize {
        // A drain acts at the call, so all of them finish at the same time.
        let drain = |worker: &WorkerRef| worker.drain_within(secs(60));
        let ends: Vec<_> = self.workers.iter().map(drain).collect();
        let mut unfinished = 0;
        for end in ends {
            if end.await != StopReason::Drained {
                unfinished += 1;
            }
        }
        ctx.stop();
        unfinished
    }
}
// ANCHOR_END: office

#[actors_testkit::test]
async fn children_that_are_drained_first_finish_their_work(kit: TestKit) {
    let office = kit.spawn("office", Office::default).unwrap();
    for _ in 0..10 {
        office.work().tell();
    }
    let unfinished = office.close().ask().timeout(secs(70)).await;
    assert_eq!(unfinished, Ok(0));
    assert_eq!(office.stopped().await, StopReason::Stopped);
    assert_eq!(kit.elapsed(), secs(10));
}

#[actors_testkit::test]
async fn a_parent_that_is_drained_stops_its_children(kit: TestKit) {
    let office = kit.spawn("office", Office::default).unwrap();
    for _ in 0..10 {
        office.work().tell();
    }
    assert_eq!(office.drain().await, StopReason::Drained);
    // A worker that is stopped finishes its current message; the others are turned out.
    kit.expect_dead_letter(|letter| letter.variant == "Work")
        .await;
    kit.allow_dead_letters();
    assert!(kit.elapsed() < secs(10));
}

#[actors_testkit::test]
async fn a_drain_that_takes_longer_than_its_time_is_a_stop(kit: TestKit) {
    let worker = kit.spawn("worker", Worker::default).unwrap();
    for _ in 0..10 {
        worker.work().tell();
    }
    assert_eq!(worker.drain_within(ms(2_500)).await, StopReason::Stopped);
    kit.allow_dead_letters();
}
