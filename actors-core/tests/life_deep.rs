//! Promise L3: a tree may be as deep as it likes; neither stopping nor dropping it needs a deep stack.

mod common;

use actors_core::prelude::*;
use common::system;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{self, UnboundedSender};

const DEEP: usize = 100_000;

/// Has one child, which has one child, and so on.
struct Level {
    below: usize,
    bottom: UnboundedSender<()>,
}

#[actor]
impl Level {
    #[on_start]
    fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Failure> {
        let (below, bottom) = (self.below, self.bottom.clone());
        if below == 0 {
            bottom.send(())?;
            return Ok(());
        }
        ctx.spawn("child", move || Self {
            below: below - 1,
            bottom: bottom.clone(),
        })?;
        Ok(())
    }
}

/// Spawns a tree on a thread with a small stack, hands it over when it has grown, and drops the runtime.
fn grown(then: impl AsyncFnOnce(ActorSystem, LevelRef) + Send + 'static) {
    let test = move || {
        // Time stands still while the tree works, so no deadline is about the speed of the machine.
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let (bottom, mut reached) = mpsc::unbounded_channel();
            let system = system();
            let factory = move || Level {
                below: DEEP,
                bottom: bottom.clone(),
            };
            let top = system.spawn("top", factory).expect("the name is free");
            reached.recv().await.expect("the bottom is reached");
            then(system, top).await;
        });
    };
    let thread = std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(test);
    thread
        .expect("a thread")
        .join()
        .expect("no panic on a small stack");
}

#[test]
fn a_parent_that_stops_takes_a_deep_tree_along() {
    grown(async |system, top| {
        assert_eq!(top.stop().await, StopReason::Stopped);
        assert!(system.tree().nodes().is_empty());
    });
}

#[test]
fn a_deep_tree_is_dropped_with_its_runtime_on_a_small_stack() {
    grown(async |_system, top| drop(top));
}
