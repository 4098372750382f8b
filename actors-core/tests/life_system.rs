//! Promise L6: systems know nothing of each other, actors live until they are stopped, and a system may be dropped anywhere.

mod common;

use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use actors_core::prelude::*;
use actors_core::{BuildError, ShutdownCause};
use common::puppet::{Puppet, Script};
use common::{Gate, Log, paused, settle, system, threads};
use futures::FutureExt;
use tokio::runtime::Builder;

#[test]
fn two_systems_on_one_runtime_know_nothing_of_each_other() {
    paused(async {
        let (one, two, log) = (system(), system(), Log::default());
        let first = Script::new("a", &log).spawn(&one);
        let second = Script::new("a", &log).spawn(&two);
        assert_eq!(first.note("one").await, Ok(1));
        assert_eq!(second.note("two").await, Ok(1));
        one.shutdown().await;
        assert!(one.is_shutting_down() && !two.is_shutting_down());
        assert_eq!(second.note("two").await, Ok(2));
        assert_eq!(two.tree().nodes().len(), 1);
        assert_ne!(first, second);
    });
}

#[test]
fn actors_of_two_systems_may_ask_and_watch_each_other() {
    paused(async {
        let (one, two, log) = (system(), system(), Log::default());
        let first = Script::new("a", &log).spawn(&one);
        let second = Script::new("b", &log).spawn(&two);
        first.watch_over(second.clone()).await.unwrap();
        let asked = second.clone();
        first
            .wait_for(Box::pin(async move { drop(asked.note("across").await) }))
            .await
            .unwrap();
        two.shutdown().await;
        settle().await;
        assert_eq!(
            (
                log.count("b across"),
                log.count("a saw b end: system shut down")
            ),
            (1, 1)
        );
    });
}

#[test]
fn an_actor_lives_without_anybody_who_holds_it() {
    paused(async {
        let (system, log) = (system(), Log::default());
        drop(Script::new("a", &log).spawn(&system));
        settle().await;
        let puppet = system.lookup::<Puppet>("a").unwrap();
        assert_eq!(puppet.note("x").await, Ok(1));
    });
}

#[test]
fn an_actor_that_stops_when_unreferenced_drains_with_its_last_reference() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = Script::new("p", &log).spawn(&system);
        let puppet = system
            .actor(Script::new("a", &log).factory())
            .stop_when_unreferenced()
            .spawn()
            .unwrap();
        let (second, weak, end) = (puppet.clone(), puppet.downgrade(), puppet.stopped());
        parent.watch_over(second).await.unwrap();
        puppet.note("x").tell();
        settle().await;
        assert!(weak.upgrade().is_some());
        puppet.note("last").tell();
        drop(puppet);
        // It is told no more, and handles what it was told.
        assert!(weak.upgrade().is_none());
        assert_eq!(end.await, StopReason::Unreferenced);
        settle().await;
        assert_eq!(log.count("a last"), 1);
        assert_eq!(log.count("a on_stop: unreferenced"), 1);
    });
}

#[test]
fn an_unasked_ask_or_a_recipient_is_a_reference_too() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let spawn = || {
            system
                .actor(Script::new("a", &log).factory())
                .stop_when_unreferenced()
                .spawn()
                .unwrap()
        };
        let puppet = spawn();
        let ask = puppet.note("x").ask();
        drop(puppet);
        settle().await;
        assert_eq!(ask.await, Ok(1));
        let puppet = spawn();
        let (recipient, end) = (
            puppet.recipient(common::puppet::PuppetRef::number),
            puppet.stopped(),
        );
        drop(puppet);
        settle().await;
        recipient.tell(7);
        drop(recipient);
        assert_eq!(end.await, StopReason::Unreferenced);
        assert_eq!(log.count("a number 7"), 1);
    });
}

#[test]
fn its_own_context_is_no_reference() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let gate = Gate::new();
        let waits = gate.clone();
        let script = Script::new("a", &log).on_start(move |ctx| {
            let gate = waits.clone();
            drop(ctx.recipient(common::puppet::PuppetRef::number));
            ctx.pipe(
                async move {
                    gate.pass().await;
                    "piped"
                },
                common::puppet::PuppetRef::note,
            );
            Box::pin(async { Ok(()) })
        });
        let puppet = system
            .actor(script.factory())
            .stop_when_unreferenced()
            .spawn()
            .unwrap();
        gate.reached(1).await;
        let end = puppet.stopped();
        drop(puppet);
        assert_eq!(end.await, StopReason::Unreferenced);
    });
}

#[test]
fn an_unreferenced_child_drains_and_its_name_is_free() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = Script::new("p", &log).spawn(&system);
        let child = Script::new("c", &log);
        let act = move |ctx: &mut ActorContext<Puppet>| {
            drop(
                ctx.actor(child.factory())
                    .name("c")
                    .stop_when_unreferenced()
                    .spawn()
                    .unwrap(),
            );
        };
        parent.act(Box::new(act)).await.unwrap();
        settle().await;
        assert_eq!(log.count("c dropped"), log.count("c made"));
        assert!(system.lookup::<Puppet>("p/c").is_err());
    });
}

#[test]
fn dropping_the_last_system_shuts_it_down_in_the_background() {
    paused(async {
        let (one, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&one);
        let (two, end) = (one.clone(), one.stopped());
        drop(one);
        settle().await;
        assert_eq!(puppet.note("x").await, Ok(1));
        // The system that a context gives does not count.
        let act = |ctx: &mut ActorContext<Puppet>| assert_eq!(ctx.system().name(), "test");
        puppet.act(Box::new(act)).await.unwrap();
        drop(two);
        let report = end.await;
        assert!(matches!(report.cause, ShutdownCause::Dropped));
        assert_eq!(puppet.stopped().await, StopReason::Shutdown);
        assert_eq!(log.count("a on_stop: system shut down"), 1);
    });
}

#[test]
fn a_system_with_threads_of_its_own_serves_a_plain_main() {
    let log = Log::default();
    let system = ActorSystem::builder("test")
        .worker_threads(2)
        .build()
        .unwrap();
    let puppet = Script::new("a", &log).spawn(&system);
    assert_eq!(system.block_on(async { puppet.note("x").await }), Ok(1));
    assert_eq!(puppet.note("y").ask().blocking(), Ok(2));
    let report = system.block_on(system.shutdown());
    assert!(report.is_clean(), "{report}");
    assert_eq!(system.block_on(system.stopped()).total(), 1);
}

#[test]
fn a_system_with_threads_of_its_own_may_be_dropped_in_async_code_and_in_its_own_actors() {
    threads(2, async {
        let log = Log::default();
        let system = ActorSystem::builder("test")
            .worker_threads(1)
            .build()
            .unwrap();
        let puppet = Script::new("a", &log).spawn(&system);
        assert_eq!(puppet.note("x").await, Ok(1));
        drop(system);
        assert_eq!(puppet.stopped().await, StopReason::Shutdown);

        let system = ActorSystem::builder("test")
            .worker_threads(1)
            .build()
            .unwrap();
        let puppet = Script::new("b", &log).spawn(&system);
        let act = move |_: &mut ActorContext<Puppet>| drop(system);
        puppet.act(Box::new(act)).tell();
        assert_eq!(puppet.stopped().await, StopReason::Shutdown);
    });
}

#[test]
fn whoever_waits_no_more_for_a_system_or_an_actor_leaves_nothing_behind() {
    struct Waiter;
    impl Wake for Waiter {
        fn wake(self: Arc<Self>) {}
    }
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        let waiter = Arc::new(Waiter);
        let waker = Waker::from(Arc::clone(&waiter));
        let mut cx = Context::from_waker(&waker);
        let (mut system_ends, mut actor_ends) = (system.stopped(), puppet.stopped());
        for _ in 0..2 {
            assert!(system_ends.poll_unpin(&mut cx).is_pending());
            assert!(actor_ends.poll_unpin(&mut cx).is_pending());
        }
        drop((system_ends, actor_ends, waker));
        assert_eq!(Arc::strong_count(&waiter), 1);
    });
}

#[test]
fn a_system_may_be_dropped_inside_async_code_of_its_own_actor() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        let end = system.stopped();
        puppet
            .wait_for(Box::pin(async move {
                drop(system);
                tokio::task::yield_now().await;
            }))
            .tell();
        assert!(end.await.is_clean());
        assert_eq!(log.count("a waited"), 1);
    });
}

#[test]
fn without_a_runtime_or_its_timers_there_is_an_error_that_says_what_to_do() {
    let error = ActorSystem::new("test").unwrap_err();
    assert!(matches!(error, BuildError::NoRuntime));
    assert!(error.to_string().contains("worker_threads"), "{error}");
    let runtime = Builder::new_current_thread().build().unwrap();
    let error = runtime
        .block_on(async { ActorSystem::new("test") })
        .unwrap_err();
    assert!(matches!(error, BuildError::NoTime));
    assert!(error.to_string().contains("enable_time"), "{error}");
}
