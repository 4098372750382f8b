//! Promise F7: while a child waits for the decision of its parent, neither hangs, and everybody who asked is told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actors_core::prelude::*;
use actors_testkit::TestKit;
use common::judge::{Court, JudgeRef};
use common::puppet::{Oops, PuppetRef, Script};
use common::{Gate, Log, beside, panicked, settle, threads, turned_out};

/// A parent that says `directive`, and its child `c`, whose declared policy stops it.
async fn family(kit: &TestKit, log: &Log, directive: Directive) -> (JudgeRef, PuppetRef) {
    kit.allow_failures();
    kit.allow_dead_letters();
    let parent = Court::of("p", log, directive).spawn(kit.system());
    let child = parent
        .adopt_with(Script::new("c", &Log::default()), Supervision::stop())
        .await
        .unwrap();
    (parent, child)
}

/// Brings the parent to wait in a handler; the gate lets it go on.
async fn held(parent: &JudgeRef) -> Gate {
    let gate = Gate::new();
    parent.hold(gate.clone()).tell();
    gate.reached(1).await;
    gate
}

/// Makes the parent wait in a handler for what an ask of the child comes to, and returns that with the time it took.
async fn asked_by<T: Send + 'static>(
    kit: &TestKit,
    parent: &JudgeRef,
    ask: impl Future<Output = T> + Send + 'static,
) -> (T, Duration) {
    let answer = Arc::new(Mutex::new(None));
    let came = Arc::clone(&answer);
    let before = kit.elapsed();
    let waiting = async move {
        let outcome = ask.await;
        *came.lock().unwrap() = Some(outcome);
    };
    parent.wait_for(Box::pin(waiting)).await.unwrap();
    let answer = answer.lock().unwrap().take().unwrap();
    (answer, kit.elapsed() - before)
}

#[actors_testkit::test]
async fn a_parent_whose_ask_made_the_child_panic_hears_of_it_and_then_decides(kit: TestKit) {
    let log = Log::default();
    let (parent, child) = family(&kit, &log, Directive::Resume).await;
    let ask = child.crash("boom").ask();
    let (answer, time) = asked_by(&kit, &parent, ask).await;
    assert_eq!((answer, time), (Err(panicked("boom")), ms(0)));
    assert_eq!(child.note("x").await, Ok(1));
    assert_eq!(log.take(), ["p judges c: boom"]);
}

#[actors_testkit::test]
async fn an_ask_of_the_parent_behind_the_failing_message_is_a_cycle_at_once(kit: TestKit) {
    let (log, gate) = (Log::default(), Gate::new());
    let (parent, child) = family(&kit, &log, Directive::Resume).await;
    child.hold(gate.clone()).tell();
    gate.reached(1).await;
    child.crash("boom").tell();
    let opening = gate.clone();
    let ask = child.note("x").ask();
    let ask = async move {
        opening.open();
        ask.await
    };
    let (answer, time) = asked_by(&kit, &parent, ask).await;
    let (Err(AskError::Cycle(path)), Duration::ZERO) = (&answer, time) else {
        panic!("{answer:?} after {time:?}")
    };
    let (p, c) = (parent.actor_path(), child.actor_path());
    assert_eq!(path.to_string(), format!("{p} -> {c} -> {p}"));
    assert_eq!(child.note("x").await, Ok(1));
    assert_eq!(log.take(), ["p judges c: boom"]);
}

#[actors_testkit::test]
async fn an_ask_of_the_parent_while_the_child_waits_is_a_cycle_at_once(kit: TestKit) {
    let log = Log::default();
    let (parent, child) = family(&kit, &log, Directive::Resume).await;
    let (one, two) = (child.note("x").ask(), child.clone());
    let ask = async move {
        two.crash("boom").tell();
        // The child runs before the parent goes on.
        settle().await;
        one.await
    };
    let (answer, time) = asked_by(&kit, &parent, ask).await;
    assert!(matches!(answer, Err(AskError::Cycle(_))), "{answer:?}");
    assert_eq!(time, ms(0));
    assert_eq!(child.note("x").await, Ok(1));
    assert_eq!(log.take(), ["p judges c: boom"]);
}

#[actors_testkit::test]
async fn an_ask_that_the_parent_makes_when_it_has_decided_is_answered(kit: TestKit) {
    let log = Log::default();
    let (parent, child) = family(&kit, &log, Directive::Resume).await;
    let gate = held(&parent).await;
    child.crash("boom").tell();
    kit.settle().await;
    let ask = child.note("x").ask();
    let asking = asked_by(&kit, &parent, ask);
    let ((answer, time), ()) = tokio::join!(asking, async {
        kit.settle().await;
        gate.open();
    });
    assert_eq!((answer, time), (Ok(1), ms(0)));
}

#[actors_testkit::test]
async fn an_ask_that_the_parent_makes_when_it_was_resumed_is_answered(kit: TestKit) {
    kit.allow_failures();
    let parent = Script::new("p", &Log::default());
    let parent = parent.supervised(kit.system(), Supervision::resume());
    let child = Script::new("c", &Log::default());
    let child = parent
        .adopt_with(child, Supervision::escalate())
        .await
        .unwrap();
    let gate = Gate::new();
    parent.hold(gate.clone()).tell();
    gate.reached(1).await;
    child.crash("boom").tell();
    kit.settle().await;
    let answer = Arc::new(Mutex::new(None));
    let (came, ask) = (Arc::clone(&answer), child.note("x").ask());
    let waiting = async move {
        let outcome = ask.await;
        *came.lock().unwrap() = Some(outcome);
    };
    parent.wait_for(Box::pin(waiting)).tell();
    gate.open();
    kit.settle().await;
    assert_eq!(answer.lock().unwrap().take(), Some(Ok(1)));
}

#[actors_testkit::test]
async fn a_parent_that_asked_gets_the_error_at_once_and_decides_about_the_report(kit: TestKit) {
    kit.allow_failures();
    let seen = Log::default();
    let note = seen.clone();
    let court = Court::new("p", &Log::default(), move |case| {
        let is_value = case.failure.is::<Oops>();
        note.add(format_args!("{} {is_value}", case.failure.text()));
        Some(Directive::Resume)
    });
    let parent = court.spawn(kit.system());
    let child = Script::new("c", &Log::default());
    let child = parent.adopt(child).await.unwrap();
    let ask = child.give_up("no more").ask();
    let (answer, time) = asked_by(&kit, &parent, ask).await;
    let error = AskError::Handler(Oops("no more"));
    assert_eq!((answer, time), (Err(error), ms(0)));
    assert_eq!(
        child.give_up("at all").await,
        Err(AskError::Handler(Oops("at all")))
    );
    assert_eq!(seen.take(), ["oops: no more false", "oops: at all true"]);
}

#[actors_testkit::test]
async fn another_asker_gets_the_error_after_the_decision(kit: TestKit) {
    let log = Log::default();
    let (parent, child) = family(&kit, &log, Directive::Resume).await;
    let gate = held(&parent).await;
    let asked = beside(child.give_up("no more").ask());
    kit.advance(ms(100)).await;
    assert!(!asked.is_finished());
    gate.open();
    let error = AskError::Handler(Oops("no more"));
    assert_eq!(asked.await.unwrap(), Err(error));
    assert_eq!(kit.elapsed(), ms(100));
}

#[actors_testkit::test]
async fn a_parent_that_waits_for_the_start_of_a_child_leaves_a_failed_start_to_the_policy(
    kit: TestKit,
) {
    kit.allow_failures();
    let log = Log::default();
    let fails = Script::new("c", &Log::default())
        .on_start(|_| Box::pin(async { Err(Oops("no start").into()) }));
    let court = Court::of("p", &log, Directive::Restart);
    let parent = court
        .awaiting(fails.clone(), Supervision::stop())
        .spawn(kit.system());
    assert_eq!(parent.note("x").await, Ok(()));
    let again = parent.await_start(fails, Supervision::stop()).await;
    assert_eq!(again, Ok(false));
    assert_eq!(log.take(), ["p found c down", "p x"]);
    assert_eq!(kit.elapsed(), ms(0));
}

#[actors_testkit::test]
async fn a_parent_that_waited_for_a_start_decides_from_then_on(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let court = Court::of("p", &log, Directive::Resume);
    let parent = court.spawn(kit.system());
    let child = Script::new("c", &Log::default());
    let started = parent.await_start(child, Supervision::stop()).await;
    assert_eq!(started, Ok(true));
    let child = kit
        .system()
        .lookup::<common::puppet::Puppet>("p/c")
        .unwrap();
    child.crash("boom").tell();
    assert_eq!(child.note("x").await, Ok(1));
    assert_eq!(log.take(), ["p judges c: boom"]);
}

#[actors_testkit::test]
async fn a_child_that_is_stopped_or_killed_while_it_waits_ends_at_once(kit: TestKit) {
    let log = Log::default();
    kit.allow_failures();
    kit.allow_dead_letters();
    for (kill, expected) in [(false, StopReason::Stopped), (true, StopReason::Killed)] {
        let gate = Gate::new();
        let parent = Court::of("q", &log, Directive::Resume).spawn(kit.system());
        let child = Script::new("c", &Log::default());
        let child = parent.adopt(child).await.unwrap();
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        let failing = beside(child.give_up("no more").ask());
        let behind = beside(child.note("x").ask());
        kit.settle().await;
        let reason = if kill {
            child.kill().await
        } else {
            child.stop().await
        };
        assert_eq!(reason, expected);
        let error = AskError::Handler(Oops("no more"));
        assert_eq!(failing.await.unwrap(), Err(error));
        assert_eq!(behind.await.unwrap(), Err(turned_out()));
        gate.open();
        assert_eq!(parent.note("x").await, Ok(()));
        parent.stop().await;
    }
    assert_eq!(log.count("q judges c: oops: no more"), 0);
    assert_eq!(kit.elapsed(), ms(0));
}

#[actors_testkit::test]
async fn a_child_that_is_to_drain_waits_for_the_decision_and_handles_what_was_accepted(
    kit: TestKit,
) {
    let log = Log::default();
    let (parent, child) = family(&kit, &log, Directive::Resume).await;
    let gate = held(&parent).await;
    child.crash("boom").tell();
    let behind = beside(child.note("x").ask());
    kit.settle().await;
    let drained = child.drain();
    kit.settle().await;
    gate.open();
    assert_eq!(behind.await.unwrap(), Ok(1));
    assert_eq!(drained.await, StopReason::Drained);
    assert_eq!(log.take(), ["p passed the gate", "p judges c: boom"]);
}

#[actors_testkit::test]
async fn a_parent_that_stops_or_is_killed_while_the_child_waits_decides_nothing(kit: TestKit) {
    let log = Log::default();
    for kill in [false, true] {
        let (parent, child) = family(&kit, &log, Directive::Resume).await;
        let gate = held(&parent).await;
        let failing = beside(child.give_up("no more").ask());
        kit.settle().await;
        let ended = if kill { parent.kill() } else { parent.stop() };
        gate.open();
        ended.await;
        assert_eq!(child.stopped().await, StopReason::ParentStopped);
        let error = AskError::Handler(Oops("no more"));
        assert_eq!(failing.await.unwrap(), Err(error));
    }
    assert_eq!(log.count("p judges c: oops: no more"), 0);
    assert_eq!(log.count("p on_stop: stopped"), 1);
    assert_eq!(kit.elapsed(), ms(0));
}

#[actors_testkit::test]
async fn a_parent_that_drains_still_decides(kit: TestKit) {
    let log = Log::default();
    let (parent, child) = family(&kit, &log, Directive::Resume).await;
    let gate = held(&parent).await;
    parent.note("x").tell();
    child.crash("boom").tell();
    kit.settle().await;
    let drained = parent.drain();
    gate.open();
    assert_eq!(drained.await, StopReason::Drained);
    assert_eq!(
        log.take(),
        [
            "p passed the gate",
            "p judges c: boom",
            "p x",
            "p on_stop: drained"
        ]
    );
}

#[actors_testkit::test]
async fn a_parent_that_fails_while_the_child_waits_and_is_restarted_decides_nothing(kit: TestKit) {
    let log = Log::default();
    let (parent, child) = family(&kit, &log, Directive::Resume).await;
    let gate = Gate::new();
    let waiting = gate.clone();
    let fails = async move {
        waiting.pass().await;
        panic!("no more of this");
    };
    parent.wait_for(Box::pin(fails)).tell();
    gate.reached(1).await;
    let failing = beside(child.give_up("no more").ask());
    kit.settle().await;
    gate.open();
    let error = AskError::Handler(Oops("no more"));
    assert_eq!(failing.await.unwrap(), Err(error));
    assert_eq!(child.stopped().await, StopReason::ParentStopped);
    assert_eq!(parent.note("x").await, Ok(()));
    assert_eq!(log.take(), ["p on_restart: no more of this", "p x"]);
    assert_eq!(kit.elapsed(), ms(0));
}

/// A parent whose children restart together. It panics about the first failure of `a`, and stops `a` at the second.
struct Band {
    failures_of_a: Log,
}

#[actor(supervision = Supervision::one_for_all())]
impl Band {
    #[on_failure]
    fn decide(&mut self, child: &ChildInfo) -> Directive {
        if child.name() == "b" {
            return Directive::Restart;
        }
        self.failures_of_a.add("failure");
        if self.failures_of_a.count("failure") == 1 {
            panic!("no idea");
        }
        Directive::Stop
    }

    #[handler]
    fn adopt(&mut self, ctx: &mut ActorContext<Self>, child: Script) -> PuppetRef {
        ctx.spawn(child.name(), child.factory()).unwrap()
    }

    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }
}

#[actors_testkit::test]
async fn a_decision_that_comes_when_the_child_was_restarted_with_its_siblings_is_none_any_more(
    kit: TestKit,
) {
    kit.allow_failures();
    let (log, gate) = (Log::default(), Gate::new());
    let top = Court::of("top", &log, Directive::Resume).spawn(kit.system());
    let failures_of_a = Log::default();
    top.act(Box::new(move |ctx| {
        let band = move || Band {
            failures_of_a: failures_of_a.clone(),
        };
        ctx.spawn("band", band).unwrap();
    }))
    .await
    .unwrap();
    let band = kit.system().lookup::<Band>("top/band").unwrap();
    let a = band.adopt(Script::new("a", &log)).await.unwrap();
    let b = band.adopt(Script::new("b", &log)).await.unwrap();
    let top_gate = held(&top).await;
    band.hold(gate.clone()).tell();
    gate.reached(1).await;
    b.crash("boom").tell();
    kit.settle().await;
    let asked = beside(a.give_up("no more").ask());
    kit.settle().await;
    log.take();
    gate.open();
    kit.settle().await;
    // Both were restarted; the band waits for what is said of itself.
    assert_eq!((log.count("a started"), log.count("b started")), (1, 1));
    assert!(!asked.is_finished());
    let again = beside(a.crash("again").ask());
    kit.settle().await;
    top_gate.open();
    kit.settle().await;
    assert_eq!(log.count("top judges band: no idea"), 1);
    let error = AskError::Handler(Oops("no more"));
    assert!(asked.is_finished());
    assert_eq!(asked.await.unwrap(), Err(error));
    assert_eq!(again.await.unwrap(), Err(panicked("again")));
    let reason = a.stopped().await;
    assert!(
        matches!(&reason, StopReason::Failed(failure) if failure.text() == "again"),
        "{reason}"
    );
}

#[test]
fn every_failure_is_decided_once_on_threads_too() {
    const ROUNDS: u32 = 200;
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    threads(4, async {
        let (system, log) = (ActorSystem::new("test").unwrap(), Log::default());
        let parent = Court::of("p", &log, Directive::Resume).spawn(&system);
        let mut all = Vec::new();
        for name in NAMES {
            let child = Script::new(name, &Log::default());
            let child = parent.adopt_with(child, Supervision::stop()).await.unwrap();
            all.push(beside(async move {
                for round in 1..=ROUNDS {
                    child.crash("boom").tell();
                    assert_eq!(child.note("x").await, Ok(round));
                }
            }));
        }
        for child in all {
            child.await.unwrap();
        }
        for name in NAMES {
            let judged = log.count(&format!("p judges {name}: boom"));
            assert_eq!(judged, ROUNDS as usize);
        }
        system.shutdown().await;
    });
}
