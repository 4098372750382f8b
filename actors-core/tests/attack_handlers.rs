//! Attacks from inside of handlers, and on what a failure carries.

#![allow(
    clippy::unwrap_used,
    reason = "tests: a failed unwrap is a failed test"
)]

mod common;

use std::time::Duration;

use actors_core::prelude::*;
use common::puppet::{Oops, PuppetRef, Script};
use common::world::{in_virtual_time, timed};
use common::{Gate, Log, settle};
use futures::FutureExt;

/// Spawns a child that escalates.
#[derive(Default)]
struct Parent;

#[actor]
impl Parent {
    #[handler]
    fn adopt(&mut self, ctx: &mut ActorContext<Self>, child: Script) -> PuppetRef {
        ctx.actor(child.factory())
            .name("child")
            .supervision(Supervision::escalate())
            .spawn()
            .unwrap()
    }

    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }

    /// Looks at its own end, without waiting for it.
    #[handler]
    fn look_at_own_end(&mut self, ctx: &mut ActorContext<Self>) {
        assert!(ctx.me().stopped().now_or_never().is_none());
    }

    #[handler]
    async fn rest(&mut self) -> u32 {
        tokio::task::yield_now().await;
        1
    }
}

#[test]
fn an_asker_whose_failure_was_escalated_hears_of_it_when_the_parent_stops_instead() {
    in_virtual_time(async |system| {
        let parent = system.spawn("parent", Parent::default).unwrap();
        let child = parent
            .adopt(Script::new("child", &Log::default()))
            .await
            .unwrap();
        let gate = Gate::new();
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        let asked = child.give_up("escalated").ask().timeout(Duration::MAX);
        let (took, answer) = timed(async {
            let (answer, ()) = tokio::join!(asked, async {
                settle().await;
                let stopping = parent.stop();
                settle().await;
                gate.open();
                stopping.await;
            });
            answer
        })
        .await;
        assert_eq!(answer, Err(AskError::Handler(Oops("escalated"))));
        assert!(took < secs(1), "{took:?}");
    });
}

#[test]
fn a_look_at_ones_own_end_does_not_end_a_later_handler() {
    in_virtual_time(async |system| {
        let actor = system.spawn("actor", Parent::default).unwrap();
        actor.look_at_own_end().tell();
        assert_eq!(actor.rest().await, Ok(1));
    });
}

/// Hands its asks on to another actor.
struct Front {
    log: Log,
    back: PuppetRef,
}

#[actor]
impl Front {
    #[handler]
    fn hand_on(&mut self, reply: ReplyTo<u32>) {
        self.log.add("front ran");
        self.back.note("never").forward(reply);
    }
}

#[test]
fn an_ask_that_a_handler_handed_on_is_never_said_to_be_untouched() {
    in_virtual_time(async |system| {
        let log = Log::default();
        let back = Script::new("back", &log).spawn(&system);
        let target = back.clone();
        let log_of_front = log.clone();
        let front = system
            .spawn("front", move || Front {
                log: log_of_front.clone(),
                back: target.clone(),
            })
            .unwrap();
        let gate = Gate::new();
        back.hold(gate.clone()).tell();
        gate.reached(1).await;
        let asked = front.hand_on().ask();
        let (answer, ()) = tokio::join!(asked, async {
            settle().await;
            let stopping = back.stop();
            gate.open();
            stopping.await;
        });
        assert_eq!(log.count("front ran"), 1);
        assert_eq!(answer.unwrap_err().phase(), Phase::Running);
        let answer = front.hand_on().await;
        assert_eq!(log.count("front ran"), 2);
        assert_eq!(answer.unwrap_err().phase(), Phase::Running);
    });
}

#[test]
fn nobody_who_waited_for_the_end_of_a_system_is_remembered() {
    in_virtual_time(async |system| {
        struct Flag;
        impl std::task::Wake for Flag {
            fn wake(self: std::sync::Arc<Self>) {}
        }
        let flag = std::sync::Arc::new(Flag);
        let waker = std::task::Waker::from(std::sync::Arc::clone(&flag));
        let mut stopped = system.stopped();
        let polled = stopped.poll_unpin(&mut std::task::Context::from_waker(&waker));
        assert!(polled.is_pending());
        drop((stopped, waker));
        assert_eq!(std::sync::Arc::strong_count(&flag), 1);
    });
}

#[test]
fn a_drain_handles_whatever_was_accepted_however_late() {
    common::world::on_two_threads(async |system| {
        for _ in 0..100 {
            let (recorder, numbers) = common::recorder::recorder(&system);
            let (start, started) = std::sync::mpsc::channel();
            let teller = recorder.clone();
            let telling = std::thread::spawn(move || {
                start.send(()).unwrap();
                (0..)
                    .take_while(|_| teller.note(1).try_tell().is_ok())
                    .count()
            });
            started.recv().unwrap();
            assert_eq!(recorder.drain().await, StopReason::Drained);
            let accepted = telling.join().unwrap();
            assert_eq!(numbers.entries().len(), accepted);
        }
    });
}
