//! Very many children, one by one: nothing is left of them. Alone in its process, because all of that is counted.

mod common;

use std::alloc::System;
use std::time::Duration;

use actors_core::prelude::*;
use common::system;
use common::world::virtual_runtime;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many bytes are in use.
fn in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

struct Child;

#[actor]
impl Child {
    #[handler]
    fn rest(&mut self) {}
}

#[derive(Default)]
struct Parent;

#[actor]
impl Parent {
    /// Spawns a child and loses it, so many times, one by one.
    #[handler]
    async fn lose(&mut self, ctx: &mut ActorContext<Self>, count: u32) {
        for number in 0..count {
            let child = match number % 2 {
                0 => ctx.spawn("child", || Child),
                _ => ctx.spawn_anonymous(|| Child),
            }
            .expect("the name is free");
            match number % 3 {
                0 => child.stop().await,
                1 => child.drain().await,
                _ => child.kill().await,
            };
        }
    }
}

#[test]
fn a_supervisor_that_spawned_and_lost_a_million_children_one_by_one_is_as_small_as_before() {
    const CHILDREN: u32 = 1_000_000;
    virtual_runtime().block_on(async {
        let system = system();
        let parent = system.spawn("parent", Parent::default).unwrap();
        let lose = |count| parent.lose(count).ask().timeout(Duration::MAX);
        lose(100).await.unwrap();
        let before = in_use();
        lose(CHILDREN).await.unwrap();
        // A byte for each hundred, where the least that each could leave is eight.
        let after = in_use();
        assert!(
            after < before + CHILDREN as usize / 100,
            "{before} bytes became {after}"
        );
        assert_eq!(system.tree().nodes().len(), 1);
    });
}
