//! Attacks on asks whose handler the asker's own thread runs: nothing but that handler may depend on who asks.

#![allow(
    clippy::unwrap_used,
    reason = "tests: a failed unwrap is a failed test"
)]

mod common;

use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use actors_core::prelude::*;
use common::system;
use common::world::{bounded, threaded_runtime};
use tokio::task::{LocalSet, block_in_place, spawn_local};

/// Where something ran last.
#[derive(Clone, Default)]
struct Place(Arc<Mutex<Option<ThreadId>>>);

impl Place {
    fn enter(&self) {
        *self.0.lock().unwrap() = Some(thread::current().id());
    }

    fn take(&self) -> Option<ThreadId> {
        self.0.lock().unwrap().take()
    }
}

/// What a quick handler sets off.
#[derive(Clone, Copy)]
enum Then {
    Nothing,
    Message,
    Stop,
    Failure,
}

/// Says which thread a quick handler ran on, and keeps where all else did.
struct Clerk(Place);

impl Clerk {
    fn keeping(place: Place) -> Self {
        place.enter();
        Self(place)
    }
}

#[actor]
impl Clerk {
    #[handler]
    fn quick(&mut self, ctx: &mut ActorContext<Self>, then: Then) -> ThreadId {
        match then {
            Then::Nothing => {}
            Then::Message => ctx.me().other().tell(),
            Then::Stop => drop(ctx.me().stop()),
            Then::Failure => ctx.fail("it is quick to fail"),
        }
        thread::current().id()
    }

    #[handler]
    fn other(&mut self) {
        self.0.enter();
    }

    #[on_stop]
    fn stop(&mut self) {
        self.0.enter();
    }

    #[handler]
    fn block_in_place(&mut self) {
        block_in_place(|| ());
    }
}

/// Lets a quick handler run on this very thread, which is none of the workers'; says whether what it sets off does too.
async fn runs_here_as_well(then: Then) -> bool {
    let system = system();
    let here = thread::current().id();
    // Not at the first try, if the actor is not yet known as quick, or is not idle.
    loop {
        let place = Place::default();
        let clerk = system.actor({
            let place = place.clone();
            move || Clerk::keeping(place.clone())
        });
        let clerk = clerk.spawn().unwrap();
        while clerk.quick(Then::Nothing).await.unwrap() != here {
            tokio::task::yield_now().await;
        }
        place.take();
        let is_here = clerk.quick(then).await.unwrap() == here;
        let other = loop {
            match place.take() {
                Some(other) => break other,
                None => tokio::task::yield_now().await,
            }
        };
        if is_here {
            return other == here;
        }
    }
}

#[test]
fn what_a_quick_handler_sets_off_does_not_hold_its_asker() {
    for then in [Then::Message, Then::Stop, Then::Failure] {
        bounded(move || {
            threaded_runtime().block_on(async {
                assert!(!runs_here_as_well(then).await);
            });
        });
    }
}

#[test]
fn a_handler_may_block_in_place_although_a_local_task_asks() {
    bounded(|| {
        let local = LocalSet::new();
        let asker = local.run_until(async {
            let system = system();
            let clerk = system.spawn_with("clerk", Place::default(), Clerk::keeping);
            let clerk = clerk.unwrap();
            spawn_local(async move {
                for _ in 0..1_000 {
                    clerk.block_in_place().await.unwrap();
                }
            })
            .await
            .unwrap();
        });
        threaded_runtime().block_on(asker);
    });
}
