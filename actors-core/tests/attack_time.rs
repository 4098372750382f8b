//! Attacks with times that are nothing, or more than any clock can say.

#![allow(
    clippy::unwrap_used,
    reason = "tests: a failed unwrap is a failed test"
)]

mod common;

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use actors_core::prelude::*;
use common::puppet::Script;
use common::world::{bounded, in_virtual_time, in_virtual_time_with, timed, virtual_runtime};
use common::{Gate, Log, settle};

const EDGES: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_nanos(1),
    Duration::from_secs(u64::MAX / 4),
    Duration::MAX,
];

#[test]
fn every_limit_may_be_nothing_or_for_ever() {
    for edge in EDGES {
        in_virtual_time_with(
            move |builder| {
                let policy = Supervision::default()
                    .restarts(3, edge)
                    .decision_timeout(edge);
                builder
                    .ask_timeout(edge)
                    .stop_timeout(edge)
                    .shutdown_timeout(edge)
                    .supervision(policy)
            },
            async move |system| {
                let log = Log::default();
                let script = Script::new("puppet", &log);
                for end in ["stop", "stop within", "drain", "drain within"] {
                    let puppet = script.spawn(&system);
                    puppet.note("asked").ask().timeout(secs(1)).await.unwrap();
                    puppet.crash("once").tell();
                    puppet.note("told").tell();
                    let ended = match end {
                        "stop" => puppet.stop(),
                        "stop within" => puppet.stop_within(edge),
                        "drain" => puppet.drain(),
                        _ => puppet.drain_within(edge),
                    };
                    let (took, reason) = timed(ended).await;
                    assert!(took <= secs(1), "{end} {edge:?}: {reason} after {took:?}");
                }
                let puppet = script.spawn(&system);
                let asked = puppet.note("asked by default").await;
                assert_eq!(asked.is_ok(), !edge.is_zero(), "{asked:?}");
                let (took, report) = timed(system.shutdown()).await;
                assert!(took <= secs(1), "{edge:?}: {report} after {took:?}");
            },
        );
    }
}

#[test]
fn a_handler_that_waits_for_ever_is_cut_by_a_limit_that_is_nothing() {
    in_virtual_time(async |system| {
        for limit in [Duration::ZERO, Duration::from_nanos(1)] {
            let puppet = Script::new("puppet", &Log::default()).spawn(&system);
            puppet.hold(Gate::new()).tell();
            settle().await;
            let (took, reason) = timed(puppet.stop_within(limit)).await;
            assert_eq!((took <= ms(1), reason), (true, StopReason::Stopped));
        }
    });
}

/// Lets its replies out of every system.
struct Leak {
    out: Sender<ReplyTo<u32>>,
}

#[actor]
impl Leak {
    #[handler]
    fn let_out(&mut self, reply: ReplyTo<u32>) {
        self.out.send(reply).unwrap();
    }
}

#[test]
fn an_ask_with_a_limit_ends_although_its_way_back_outlives_the_system() {
    for in_good_order in [true, false] {
        bounded(move || {
            let runtime = virtual_runtime();
            let (out, kept) = channel();
            let (asked,) = runtime.block_on(async {
                let system = ActorSystem::new("test").unwrap();
                let leak = system.spawn_with("leak", out, |out| Leak { out }).unwrap();
                let mut asked = leak.let_out().ask().timeout(secs(1));
                assert!(futures::poll!(&mut asked).is_pending());
                settle().await;
                if in_good_order {
                    system.shutdown().await;
                }
                (asked,)
            });
            drop(runtime);
            let answer = futures::executor::block_on(asked);
            let gone = AskError::Stopped {
                phase: Phase::Running,
            };
            assert_eq!(answer, Err(gone));
            let reply = kept.recv().unwrap();
            assert!(!reply.is_wanted());
            reply.send(1);
        });
    }
}
