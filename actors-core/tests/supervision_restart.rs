//! What becomes of a mailbox when its actor is restarted, and of an actor whose start fails.

mod common;

use actors_core::prelude::*;
use actors_core::{DeadLetterReason, LifecycleEvent};
use actors_testkit::TestKit;
use common::puppet::{Puppet, PuppetRef, Script, spawn_under};
use common::{Gate, Log, beside, turned_out};
use tokio::task::yield_now;

/// A policy without a wait between restarts.
fn at_most(restarts: u32) -> Supervision {
    Supervision::restart()
        .restarts(restarts, within(secs(60)))
        .backoff(Backoff::none())
}

/// The lines of an actor `a` that is told numbers.
fn numbers(numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
    numbers
        .into_iter()
        .map(|number| format!("a number {number}"))
        .collect()
}

/// The lines that are about numbers.
fn told(log: &Log) -> Vec<String> {
    let mut lines = log.take();
    lines.retain(|line| line.contains("number"));
    lines
}

/// A way to make a puppet fail.
type Fail = fn(&PuppetRef);

const PANIC: Fail = |puppet| puppet.crash("boom").tell();
const PANIC_LATER: Fail = |puppet| {
    puppet
        .wait_for(Box::pin(async {
            yield_now().await;
            panic!("boom")
        }))
        .tell();
};
const ERROR: Fail = |puppet| puppet.give_up("boom").tell();

#[test]
fn of_ten_tells_whose_third_fails_the_next_incarnation_handles_the_last_seven_in_order_and_once() {
    for fail in [PANIC, PANIC_LATER, ERROR] {
        for throughput in [1, 2, 64] {
            TestKit::run("ten", async |kit| {
                kit.allow_failures();
                let log = Log::default();
                let script = Script::new("a", &log);
                let puppet = kit.actor(script.factory()).throughput(throughput);
                let puppet = puppet.spawn().unwrap();
                for number in 1..=10 {
                    match number {
                        3 => fail(&puppet),
                        _ => puppet.number(number).tell(),
                    }
                }
                kit.settle().await;
                let mut lines = log.take();
                lines.retain(|line| !line.contains("on_restart"));
                let old = ["a made", "a started"].map(str::to_owned).into_iter();
                let new = ["a dropped", "a made", "a started"].map(str::to_owned);
                let expected: Vec<_> = old
                    .chain(numbers(1..=2))
                    .chain(new)
                    .chain(numbers(4..=10))
                    .collect();
                assert_eq!(lines, expected);
            });
        }
    }
}

#[actors_testkit::test]
async fn an_ask_queued_behind_the_failing_message_is_answered_by_the_next_incarnation(
    kit: TestKit,
) {
    kit.allow_failures();
    let log = Log::default();
    let puppet = Script::new("a", &log).spawn(&kit);
    assert_eq!(puppet.note("old").await, Ok(1));
    let crash = beside(puppet.crash("boom").ask());
    let behind = beside(puppet.note("new").ask());
    assert!(crash.await.unwrap().is_err());
    // The first note of its incarnation.
    assert_eq!(behind.await.unwrap(), Ok(1));
    assert_eq!(log.count("a made"), 2);
}

#[actors_testkit::test]
async fn a_queue_that_is_left_when_the_budget_ends_is_dead_letters_all_of_it(kit: TestKit) {
    kit.allow_failures();
    let (log, gate) = (Log::default(), Gate::new());
    let puppet = Script::new("a", &log).supervised(&kit, at_most(1));
    puppet.hold(gate.clone()).tell();
    gate.reached(1).await;
    (1..=2).for_each(|number| puppet.number(number).tell());
    puppet.crash("granted").tell();
    puppet.crash("spent").tell();
    (3..=9).for_each(|number| puppet.number(number).tell());
    let asked = beside(puppet.note("asked").ask());
    kit.settle().await;
    gate.open();
    let reason = puppet.stopped().await;
    assert!(
        matches!(&reason, StopReason::RestartLimit(failure) if failure.text() == "spent"),
        "{reason}"
    );
    assert_eq!(asked.await.unwrap(), Err(turned_out()));
    kit.settle().await;
    let letters = kit.dead_letters();
    assert_eq!(letters.len(), 7, "{letters:?}");
    for letter in letters {
        let (variant, reason) = (letter.variant, letter.reason);
        assert_eq!((variant, reason), ("Number", DeadLetterReason::Stopped));
        assert_eq!(letter.recipient_id, puppet.actor_id());
    }
    assert_eq!(told(&log), numbers(1..=2));
    let counters = kit.counters();
    assert_eq!(
        (counters.dead, counters.queued, counters.is_balanced()),
        (8, 0, true)
    );
}

#[actors_testkit::test]
async fn three_sends_to_a_mailbox_with_room_for_one_during_a_slow_start_are_handled_in_order(
    kit: TestKit,
) {
    let (log, gate) = (Log::default(), Gate::new());
    let script = Script::new("a", &log).start_at(&gate);
    let puppet = kit.actor(script.factory()).mailbox(Mailbox::bounded(1));
    let puppet = puppet.spawn().unwrap();
    gate.reached(1).await;
    let mut sends = Vec::new();
    for number in 1..=3 {
        sends.push(beside(puppet.number(number).enqueue()));
        kit.settle().await;
    }
    let done: Vec<_> = sends.iter().map(|send| send.is_finished()).collect();
    assert_eq!(done, [true, false, false]);
    assert_eq!(told(&log), numbers([]));
    gate.open();
    for send in sends {
        assert!(send.await.unwrap().is_ok());
    }
    kit.settle().await;
    assert_eq!(told(&log), numbers(1..=3));
}

#[actors_testkit::test]
async fn messages_told_during_a_slow_start_are_handled_before_a_drain_stops(kit: TestKit) {
    let (log, gate) = (Log::default(), Gate::new());
    let puppet = Script::new("a", &log).start_at(&gate).spawn(&kit);
    gate.reached(1).await;
    (1..=3).for_each(|number| puppet.number(number).tell());
    let end = puppet.drain();
    assert!(puppet.number(4).try_tell().is_err());
    kit.settle().await;
    assert_eq!(log.take(), ["a made"]);
    gate.open();
    assert_eq!(end.await, StopReason::Drained);
    let lines = log.take();
    assert_eq!(lines[0], "a started");
    assert_eq!(lines[1..4], numbers(1..=3));
    assert_eq!(lines[4..], ["a on_stop: drained", "a dropped"]);
}

#[actors_testkit::test]
async fn of_messages_kept_through_a_back_off_whose_second_fails_again_none_is_lost_and_none_comes_twice(
    kit: TestKit,
) {
    kit.allow_failures();
    let log = Log::default();
    let policy = Supervision::restart().backoff(Backoff::fixed(ms(100)));
    let puppet = Script::new("a", &log).supervised(&kit, policy);
    puppet.crash("first").tell();
    kit.settle().await;
    puppet.number(1).tell();
    puppet.crash("second").tell();
    (3..=5).for_each(|number| puppet.number(number).tell());
    kit.advance(ms(99)).await;
    assert_eq!(told(&log), numbers([]));
    kit.advance(ms(1)).await;
    assert_eq!(told(&log), numbers([1]));
    puppet.number(6).tell();
    kit.advance(ms(99)).await;
    assert_eq!(told(&log), numbers([]));
    kit.advance(ms(1)).await;
    assert_eq!(told(&log), numbers(3..=6));
    kit.advance(secs(60)).await;
    assert_eq!(told(&log), numbers([]));
    let counters = kit.counters();
    assert_eq!((counters.handled, counters.failed), (5, 2));
}

/// What is seen of an actor whose first start fails in one way or another, under a policy, with a message in its queue.
fn seen_of_a_failed_start(kind: &'static str, policy: Supervision) -> (Vec<String>, Vec<String>) {
    TestKit::run("start", async move |kit| {
        kit.allow_failures();
        kit.allow_dead_letters();
        let (log, tries) = (Log::default(), Log::default());
        let mut events = kit.events();
        let puppet = Script::new("a", &log)
            .on_start(move |_| {
                tries.add("try");
                match kind {
                    _ if tries.count("try") > 1 => Box::pin(async { Ok(()) }),
                    "panic" => panic!("no start"),
                    "panic after an await" => Box::pin(async {
                        yield_now().await;
                        panic!("no start")
                    }),
                    "error after an await" => Box::pin(async {
                        yield_now().await;
                        Err("no start".into())
                    }),
                    _ => Box::pin(async { Err("no start".into()) }),
                }
            })
            .supervised(&kit, policy);
        puppet.number(1).tell();
        kit.advance(secs(10)).await;
        log.add(format_args!(
            "restarts: {:?}",
            kit.tree().find("/start/a").map(|node| node.restarts)
        ));
        let events = std::iter::from_fn(|| events.try_next()).map(|event| match event {
            LifecycleEvent::Failed {
                failure, directive, ..
            } => {
                let (text, origin) = (failure.text(), failure.origin());
                format!("failed: {text}, {origin:?}, {directive}")
            }
            LifecycleEvent::Stopped { reason, .. } => {
                let failure = reason.failure().map(FailureReport::text);
                format!("stopped: {failure:?}")
            }
            LifecycleEvent::Started { .. } => "started".to_owned(),
            LifecycleEvent::Restarted { restarts, .. } => format!("restarted: {restarts}"),
            other => other.to_string(),
        });
        Ok::<_, ()>((log.take(), events.collect()))
    })
    .expect("it has no error")
}

#[test]
fn a_panic_in_on_start_behaves_as_an_error_there() {
    let policies = [
        Supervision::restart(),
        Supervision::restart().restarts(0, within(secs(60))),
        Supervision::restart().backoff(Backoff::fixed(secs(1))),
        Supervision::resume(),
        Supervision::stop(),
        Supervision::escalate(),
    ];
    for policy in policies {
        let error = seen_of_a_failed_start("error", policy.clone());
        for kind in ["panic", "panic after an await", "error after an await"] {
            let seen = seen_of_a_failed_start(kind, policy.clone());
            assert_eq!(seen, error, "{kind}, {policy:?}");
        }
    }
}

#[actors_testkit::test]
async fn a_start_that_fails_once_is_one_restart_of_the_same_actor_with_its_queue(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let puppet = Script::new("a", &log).no_start_at_first(1).spawn(&kit);
    let id = puppet.actor_id();
    (1..=3).for_each(|number| puppet.number(number).tell());
    let asked = puppet.note("asked").await;
    assert_eq!(asked, Ok(1));
    let expected = ["a made", "a dropped", "a made", "a started"];
    let lines = log.take();
    assert_eq!(lines[..4], expected);
    assert_eq!(lines[4..7], numbers(1..=3));
    assert_eq!(lines[7..], ["a asked"]);
    let tree = kit.tree();
    let node = &tree.nodes()[0];
    assert_eq!((node.restarts, node.id), (1, id));
    let name = puppet.actor_path().to_string();
    assert_eq!(kit.lookup::<Puppet>(&name).unwrap(), puppet);
}

#[test]
fn a_start_that_always_fails_is_restarted_exactly_n_times_and_so_is_one_that_messages_fail() {
    for n in 0..5 {
        for backoff in [Backoff::none(), Backoff::default()] {
            TestKit::run("exactly", async |kit| {
                kit.allow_failures();
                let policy = at_most(n).backoff(backoff);
                let made = n as usize + 1;

                let log = Log::default();
                let puppet = Script::new("a", &log)
                    .no_start_at_first(u32::MAX)
                    .supervised(&kit, policy.clone());
                let reason = puppet.stopped().await;
                assert!(matches!(reason, StopReason::RestartLimit(_)), "{reason}");
                assert_eq!((log.count("a made"), log.count("a dropped")), (made, made));

                let log = Log::default();
                let puppet = Script::new("b", &log).supervised(&kit, policy);
                for _ in 0..n {
                    puppet.crash("granted").tell();
                    kit.advance(secs(1)).await;
                    assert!(!puppet.is_stopped());
                }
                puppet.crash("spent").tell();
                let reason = puppet.stopped().await;
                assert!(matches!(reason, StopReason::RestartLimit(_)), "{reason}");
                assert_eq!((log.count("b made"), log.count("b dropped")), (made, made));
            });
        }
    }
}

/// A factory that panics from its second call to its `last`.
fn panic_from_second_call(
    script: Script,
    last: usize,
) -> impl Fn() -> Puppet + Send + Sync + 'static {
    let calls = Log::default();
    move || {
        calls.add("call");
        let call = calls.count("call");
        assert!(call < 2 || call > last, "no state");
        script.factory()()
    }
}

#[actors_testkit::test]
async fn a_factory_that_panics_on_its_second_call_harms_no_supervisor(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    for last in [2, usize::MAX] {
        let parent = Script::new("p", &log).spawn(&kit);
        let other = parent.adopt(Script::new("b", &log)).await.unwrap();
        let factory = panic_from_second_call(Script::new("c", &log), last);
        let child = spawn_under(&parent, "c", factory).await;
        child.crash("boom").tell();
        child.number(1).tell();
        kit.advance(secs(10)).await;
        if last == 2 {
            // The call after that made a state.
            assert_eq!(log.count("c number 1"), 1);
            assert_eq!(child.stop().await, StopReason::Stopped);
        } else {
            let reason = child.stopped().await;
            assert!(
                matches!(&reason, StopReason::RestartLimit(failure) if failure.text() == "no state"),
                "{reason}"
            );
            assert_eq!(kit.dead_letters().len(), 1);
        }
        // The parent kept its state, and nobody else was touched.
        assert_eq!(parent.note("x").await, Ok(1));
        assert_eq!((log.count("p made"), log.count("b made")), (1, 1));
        assert_eq!(other.note("x").await, Ok(1));
        assert!(parent.adopt(Script::new("c", &log)).await.is_ok());
        parent.stop().await;
        log.take();
    }
}
