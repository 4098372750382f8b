//! Bad input and bad luck: wrong names, zero limits, runtimes that go away, and very many actors.

mod common;

use std::future::Future;
use std::task::{Context, Poll};
use std::time::Duration;

use actors_core::prelude::*;
use actors_core::{BuildError, NameError, ShutdownCause, SpawnError};
use common::bomb::{Bomb, Counted, Drops};
use common::puppet::{Puppet, PuppetRef, Script};
use common::{Gate, Log, beside, paused, settle, system, threads, turned_out};
use futures::executor::block_on;
use futures::task::noop_waker;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

#[test]
fn a_bad_name_is_an_error_that_says_what_is_wrong_with_it() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let script = Script::new("a", &log);
        let parent = script.spawn(&system);
        for (name, error) in [
            ("", NameError::Empty),
            ("a/b", NameError::Slash),
            ("/", NameError::Slash),
            ("$1", NameError::Reserved),
        ] {
            let expected = SpawnError::Name {
                name: name.to_owned(),
                error,
            };
            assert_eq!(system.spawn(name, script.factory()).unwrap_err(), expected);
            assert_eq!(system.reserve::<Puppet>(name).unwrap_err(), expected);
            let (child, wanted) = (script.clone(), expected.clone());
            let act = move |ctx: &mut ActorContext<Puppet>| {
                assert_eq!(ctx.spawn(name, child.factory()).unwrap_err(), wanted);
            };
            parent.act(Box::new(act)).await.unwrap();
            assert!(
                matches!(ActorSystem::new(name), Err(BuildError::Name { error: other, .. }) if other == error)
            );
        }
        // Anything else is a name.
        for name in ["ä b", "a$", "..", "a\\b"] {
            assert!(system.spawn(name, script.factory()).is_ok(), "{name}");
        }
        assert!(matches!(
            system.spawn("..", script.factory()),
            Err(SpawnError::NameTaken { .. })
        ));
    });
}

#[test]
fn a_capacity_a_throughput_or_a_thread_count_of_0_is_an_error() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let script = Script::new("a", &log);
        let none = system
            .actor(script.factory())
            .mailbox(Mailbox::bounded(0))
            .spawn();
        assert_eq!(none.unwrap_err(), SpawnError::ZeroCapacity);
        let none = system.actor(script.factory()).throughput(0).spawn();
        assert_eq!(none.unwrap_err(), SpawnError::ZeroThroughput);
        let builder = || ActorSystem::builder("test");
        assert!(matches!(
            builder().mailbox(Mailbox::bounded(0)).build(),
            Err(BuildError::ZeroCapacity)
        ));
        assert!(matches!(
            builder().throughput(0).build(),
            Err(BuildError::ZeroThroughput)
        ));
        assert!(matches!(
            builder().worker_threads(0).build(),
            Err(BuildError::ZeroThreads)
        ));
        assert_eq!(log.take(), [""; 0]);
    });
}

#[test]
fn an_ask_of_a_stopped_actor_fails_at_once() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        puppet.stop().await;
        let before = Instant::now();
        assert_eq!(puppet.note("x").await, Err(turned_out()));
        assert_eq!(
            puppet.note("x").ask().wait_for_room().await,
            Err(turned_out())
        );
        system.shutdown().await;
        assert_eq!(puppet.note("x").await, Err(turned_out()));
        assert_eq!(before.elapsed(), Duration::ZERO);
    });
}

#[test]
fn an_ask_of_oneself_is_an_error_and_no_deadlock() {
    for detect in [false, true] {
        paused(async {
            let system = ActorSystem::builder("test")
                .detect_cycles(detect)
                .build()
                .unwrap();
            let log = Log::default();
            let puppet = Script::new("a", &log).spawn(&system);
            let (me, seen) = (puppet.clone(), log.clone());
            let ask = async move {
                let error = me.note("myself").await.unwrap_err();
                let AskError::Cycle(path) = error else {
                    panic!("{error}")
                };
                seen.add(path);
            };
            assert_eq!(puppet.wait_for(Box::pin(ask)).await, Ok(()));
            assert_eq!(log.count("/test/a -> /test/a"), 1);
        });
    }
}

#[test]
fn zero_timeouts_end_at_once() {
    paused(async {
        let system = ActorSystem::builder("test")
            .ask_timeout(Duration::ZERO)
            .stop_timeout(Duration::ZERO)
            .shutdown_timeout(Duration::ZERO)
            .build()
            .unwrap();
        let (log, gate) = (Log::default(), Gate::new());
        let before = Instant::now();
        let spawn = |name| Script::new(name, &log).stop_at(&Gate::new()).spawn(&system);
        let puppet = spawn("a");
        assert_eq!(
            puppet.note("x").await,
            Err(AskError::Timeout {
                phase: Phase::Queued
            })
        );
        assert_eq!(puppet.note("y").ask().timeout(secs(1)).await, Ok(1));
        puppet.hold(gate.clone()).tell();
        gate.reached(1).await;
        assert_eq!(puppet.stop().await, StopReason::Stopped);
        let puppet = spawn("b");
        settle().await;
        assert_eq!(
            puppet.drain_within(Duration::ZERO).await,
            StopReason::Stopped
        );
        let puppet = spawn("c");
        settle().await;
        assert_eq!(
            puppet.stop_within(Duration::ZERO).await,
            StopReason::Stopped
        );
        let policy = Supervision::escalate().decision_timeout(Duration::ZERO);
        let parent = spawn("p");
        let child = parent
            .adopt_with(Script::new("c", &log), policy)
            .ask()
            .timeout(secs(1))
            .await
            .unwrap();
        parent.hold(gate.clone()).tell();
        gate.reached(2).await;
        child.crash("boom").tell();
        assert!(matches!(child.stopped().await, StopReason::Failed(_)));
        let report = system.shutdown().await;
        assert_eq!(report.total(), 1);
        assert_eq!(before.elapsed(), Duration::ZERO);
        assert_eq!(log.count("a x"), 0);
    });
}

#[test]
fn endless_timeouts_are_no_limit() {
    paused(async {
        let system = ActorSystem::builder("test")
            .ask_timeout(Duration::MAX)
            .stop_timeout(Duration::MAX)
            .shutdown_timeout(Duration::MAX)
            .supervision(Supervision::restart().backoff(Backoff::fixed(Duration::MAX)))
            .build()
            .unwrap();
        let (log, gate) = (Log::default(), Gate::new());
        let puppet = Script::new("a", &log).spawn(&system);
        assert_eq!(puppet.note("x").await, Ok(1));
        puppet.hold(gate.clone()).tell();
        gate.reached(1).await;
        let end = puppet.stop();
        common::pass(secs(10_000)).await;
        assert!(!puppet.is_stopped());
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        let puppet = Script::new("b", &log).spawn(&system);
        puppet.crash("boom").tell();
        common::pass(secs(10_000)).await;
        assert_eq!(log.count("b made"), 1);
        let report = system.shutdown().await;
        assert_eq!((report.total(), report.took), (1, Duration::ZERO));
    });
}

#[test]
fn a_factory_that_always_panics_ends_its_actor_and_nothing_else() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = system
            .spawn("a", || -> Puppet { panic!("no state") })
            .unwrap();
        let asked = beside(puppet.note("x").ask());
        assert!(
            matches!(puppet.stopped().await, StopReason::RestartLimit(failure) if failure.text() == "no state")
        );
        assert_eq!(asked.await.unwrap(), Err(turned_out()));
        assert_eq!(Script::new("a", &log).spawn(&system).note("y").await, Ok(1));
    });
}

/// Polls a future once, which must wait.
fn poll_pending(future: &mut (impl Future + Unpin)) {
    let waker = noop_waker();
    assert!(matches!(
        std::pin::Pin::new(future).poll(&mut Context::from_waker(&waker)),
        Poll::Pending
    ));
}

fn one_thread() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
}

/// Counts its drops, and may hold what panics when it is dropped.
struct Held {
    _counted: Counted,
    _bomb: Option<Bomb>,
}

#[actor]
impl Held {
    #[handler]
    async fn wait(&mut self, counted: Counted, bomb: Option<Bomb>) {
        let _held = (counted, bomb);
        std::future::pending::<()>().await;
    }

    #[handler]
    fn take(&mut self, counted: Counted, bomb: Option<Bomb>) {
        drop((counted, bomb));
    }

    #[handler]
    fn block(&mut self, gate: Gate) {
        gate.block();
    }

    #[handler]
    async fn block_and_wait(&mut self, gate: Gate) {
        gate.block();
        std::future::pending::<()>().await;
    }
}

/// Spawns an actor whose state counts its drops in `states`.
fn held(system: &ActorSystem, name: &str, states: &Drops, bombs: Option<&Drops>) -> HeldRef {
    let (states, bombs) = (states.clone(), bombs.cloned());
    system
        .spawn(name, move || Held {
            _counted: states.counted(),
            _bomb: bombs.as_ref().map(Drops::bomb),
        })
        .expect("a fresh name")
}

/// Drops a runtime under an idle actor, one that awaits with three asks in its queue, one that waits for a thread, and one
/// whose factory has not run.
fn drop_runtime_under_actors(bombs: Option<&Drops>) {
    let (states, futures, messages) = (Drops::default(), Drops::default(), Drops::default());
    let bomb = || bombs.map(Drops::bomb);
    let runtime = one_thread();
    let (system, idle, awaiting, queued, mut running, mut waiting) = runtime.block_on(async {
        let system = system();
        let idle = held(&system, "idle", &states, bombs);
        let awaiting = held(&system, "awaiting", &states, bombs);
        let queued = held(&system, "queued", &states, bombs);
        settle().await;
        let mut running = awaiting.wait(futures.counted(), bomb()).ask();
        let mut waiting = [(); 8].map(|()| awaiting.take(messages.counted(), bomb()).ask());
        poll_pending(&mut running);
        waiting.iter_mut().for_each(poll_pending);
        settle().await;
        (system, idle, awaiting, queued, running, waiting)
    });
    let mut in_queue = queued.take(messages.counted(), bomb()).ask();
    poll_pending(&mut in_queue);
    let unborn = held(&system, "unborn", &states, bombs);
    assert_eq!(
        (states.count(), futures.count(), messages.count()),
        (0, 0, 0)
    );
    drop(runtime);
    assert_eq!(
        (states.count(), futures.count(), messages.count()),
        (3, 1, 9)
    );
    assert_eq!(
        block_on(&mut running),
        Err(AskError::Stopped {
            phase: Phase::Running
        })
    );
    for ask in &mut waiting {
        assert_eq!(block_on(ask), Err(turned_out()));
    }
    assert_eq!(block_on(in_queue), Err(turned_out()));
    for actor in [&idle, &awaiting, &queued, &unborn] {
        assert_eq!(block_on(actor.stopped()), StopReason::SystemGone);
    }
    let report = block_on(system.stopped());
    assert!(
        matches!(report.cause, ShutdownCause::RuntimeGone),
        "{report}"
    );
    assert_eq!(report.ended["system gone"], 4);
    assert!(system.counters().is_balanced(), "{:?}", system.counters());
    assert!(matches!(
        system.spawn("late", || -> Puppet { unreachable!() }),
        Err(SpawnError::ShuttingDown)
    ));
    idle.take(messages.counted(), None).tell();
    drop(system);
}

#[test]
fn a_runtime_dropped_under_actors_drops_each_state_once_and_resolves_all_who_wait() {
    drop_runtime_under_actors(None);
}

#[test]
fn a_runtime_dropped_under_destructors_that_panic_is_no_end_of_the_process() {
    let bombs = Drops::default();
    drop_runtime_under_actors(Some(&bombs));
    // Three states, a future and nine messages.
    assert_eq!(bombs.count(), 13);
}

#[test]
fn a_runtime_that_goes_away_while_a_handler_runs_lets_it_end_and_drops_the_state() {
    for waits in [false, true] {
        let (states, gate) = (Drops::default(), Gate::new());
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build()
            .unwrap();
        let (system, actor) = runtime.block_on(async {
            let system = system();
            let actor = held(&system, "a", &states, None);
            if waits {
                actor.block_and_wait(gate.clone()).tell();
            } else {
                actor.block(gate.clone()).tell();
            }
            gate.reached(1).await;
            (system, actor)
        });
        runtime.shutdown_background();
        assert!(matches!(
            block_on(system.stopped()).cause,
            ShutdownCause::RuntimeGone
        ));
        assert_eq!(states.count(), 0);
        gate.open();
        assert_eq!(block_on(actor.stopped()), StopReason::SystemGone);
        assert_eq!(states.count(), 1);
        assert!(block_on(actor.block(gate).ask()).is_err());
    }
}

#[test]
fn a_system_closed_under_an_abandoned_handler_drops_the_state_when_it_returns() {
    let (states, gate) = (Drops::default(), Gate::new());
    threads(2, async {
        let system = ActorSystem::builder("test")
            .shutdown_timeout(ms(5))
            .build()
            .unwrap();
        let actor = held(&system, "a", &states, None);
        actor.block_and_wait(gate.clone()).tell();
        gate.reached(1).await;
        let report = system.shutdown().await;
        assert_eq!(
            report.unclean[0].1,
            StopReason::Abandoned {
                handler: Some("BlockAndWait")
            }
        );
        assert_eq!(states.count(), 0);
        gate.open();
        common::until(|| states.count() == 1).await;
    });
}

#[test]
fn a_system_dropped_after_its_runtime_harms_nobody() {
    let runtime = one_thread();
    let first = runtime.block_on(async { system() });
    drop(runtime);
    assert!(matches!(
        block_on(first.stopped()).cause,
        ShutdownCause::RuntimeGone
    ));
    drop(first);

    // The other way round: the shutdown had begun and never got a thread.
    let runtime = one_thread();
    let (second, states) = (runtime.block_on(async { system() }), Drops::default());
    let actor = held(&second, "a", &states, None);
    let end = second.stopped();
    drop(second);
    drop(runtime);
    assert!(matches!(block_on(end).cause, ShutdownCause::Dropped));
    assert_eq!(block_on(actor.stopped()), StopReason::SystemGone);
}

#[test]
fn a_handler_that_never_returns_ends_neither_the_waiting_nor_the_others() {
    threads(2, async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let stuck = Script::new("stuck", &log).spawn(&system);
        stuck.block(gate.clone()).tell();
        gate.reached(1).await;
        let other = Script::new("other", &log).spawn(&system);
        for _ in 0..100 {
            other.note("goes on").await.unwrap();
        }
        let reason = stuck.stop_within(ms(10)).await;
        assert_eq!(
            reason,
            StopReason::Abandoned {
                handler: Some("Block")
            }
        );
        let report = system.shutdown().await;
        assert_eq!(report.total(), 1);
        gate.open();
        common::until(|| log.count("stuck dropped") == 1).await;
    });
}

const MANY: usize = 100_000;
/// Enough to overflow a small stack, for what differs only at the top.
const FEWER: usize = 10_000;

#[test]
fn a_parent_may_have_100_000_children() {
    for named in [false, true] {
        paused(async {
            let (system, drops, made) = (system(), Drops::default(), Gate::new());
            let nest = system.spawn("nest", || Nest).unwrap();
            nest.fill(drops.clone(), made.clone(), named).await.unwrap();
            made.reached(MANY).await;
            settle().await;
            assert_eq!(system.tree().nodes().len(), MANY + 1);
            assert_eq!(nest.stop_within(secs(3_600)).await, StopReason::Stopped);
            assert_eq!(drops.count(), MANY);
            assert_eq!(system.tree().nodes().len(), 0);
        });
    }
}

/// Has many children.
struct Nest;

#[actor]
impl Nest {
    #[handler]
    fn fill(&mut self, ctx: &mut ActorContext<Self>, drops: Drops, made: Gate, named: bool) {
        for child in 0..MANY {
            let (drops, made) = (drops.clone(), made.clone());
            let spawn = ctx.actor(move || {
                made.arrive();
                Held {
                    _counted: drops.counted(),
                    _bomb: None,
                }
            });
            let spawn = if named {
                spawn.name(child.to_string())
            } else {
                spawn
            };
            spawn.spawn().expect("a fresh name");
        }
    }
}

/// One of a chain of parents.
struct Link {
    below: usize,
    drops: Drops,
    bottom: Gate,
    _counted: Counted,
}

impl Link {
    fn make(
        below: usize,
        drops: &Drops,
        bottom: &Gate,
    ) -> impl Fn() -> Self + Send + Sync + 'static {
        let (drops, bottom) = (drops.clone(), bottom.clone());
        move || Self {
            below,
            drops: drops.clone(),
            bottom: bottom.clone(),
            _counted: drops.counted(),
        }
    }
}

#[actor]
impl Link {
    #[on_start]
    fn start(&mut self, ctx: &mut ActorContext<Self>) {
        match self.below {
            0 => self.bottom.arrive(),
            below => drop(
                ctx.spawn("x", Self::make(below - 1, &self.drops, &self.bottom))
                    .expect("a fresh name"),
            ),
        }
    }

    #[handler]
    fn crash(&mut self) {
        panic!("boom");
    }
}

/// Runs a test on a thread whose stack has no room for a recursion of any depth.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(test)
        .expect("a thread");
    thread.join().expect("the test passes");
}

async fn chain(system: &ActorSystem, drops: &Drops) -> LinkRef {
    let bottom = Gate::new();
    let root = system
        .spawn("root", Link::make(MANY - 1, drops, &bottom))
        .expect("a fresh name");
    bottom.reached(1).await;
    root
}

#[test]
fn a_chain_of_100_000_parents_stops_from_the_root_on_a_small_stack() {
    on_a_small_stack(|| {
        let drops = Drops::default();
        let root = paused(async {
            let system = system();
            let root = chain(&system, &drops).await;
            assert_eq!(root.stop_within(secs(3_600)).await, StopReason::Stopped);
            root
        });
        assert_eq!(drops.count(), MANY);
        drop(root);
    });
}

#[test]
fn a_chain_of_100_000_parents_is_killed_from_the_root_and_let_go_by_its_last_reference_on_a_small_stack()
 {
    on_a_small_stack(|| {
        let drops = Drops::default();
        paused(async {
            let system = system();
            let root = chain(&system, &drops).await;
            let end = root.stopped();
            assert_eq!(root.kill().await, StopReason::Killed);
            assert_eq!(end.await, StopReason::Killed);
        });
        assert_eq!(drops.count(), MANY);
    });
}

#[test]
fn a_runtime_dropped_under_a_chain_of_100_000_parents_drops_every_state_once_on_a_small_stack() {
    on_a_small_stack(|| {
        let drops = Drops::default();
        let runtime = one_thread();
        let (system, root) = runtime.block_on(async {
            let system = system();
            let root = chain(&system, &drops).await;
            (system, root)
        });
        drop(runtime);
        assert_eq!(drops.count(), MANY);
        assert_eq!(block_on(root.stopped()), StopReason::SystemGone);
        drop((system, root));
    });
}

#[test]
fn a_chain_with_an_unreferenced_root_drains_on_a_small_stack() {
    on_a_small_stack(|| {
        let drops = Drops::default();
        paused(async {
            let system = system();
            let bottom = Gate::new();
            let spawn = system
                .actor(Link::make(FEWER - 1, &drops, &bottom))
                .stop_when_unreferenced();
            let root = spawn.stop_timeout(secs(3_600)).spawn().unwrap();
            bottom.reached(1).await;
            let end = root.stopped();
            drop(root);
            assert_eq!(end.await, StopReason::Unreferenced);
        });
        assert_eq!(drops.count(), FEWER);
    });
}

#[test]
fn a_restart_at_the_top_of_a_deep_chain_makes_it_afresh() {
    on_a_small_stack(|| {
        let drops = Drops::default();
        paused(async {
            let system = system();
            let bottom = Gate::new();
            let root: LinkRef = system
                .spawn("root", Link::make(FEWER - 1, &drops, &bottom))
                .unwrap();
            bottom.reached(1).await;
            root.crash().tell();
            bottom.reached(2).await;
            assert_eq!(drops.count(), FEWER);
            drop(root.kill());
        });
    });
}

#[test]
fn many_references_and_recipients_to_one_actor_cost_it_nothing() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        let many: Vec<PuppetRef> = (0..MANY).map(|_| puppet.clone()).collect();
        let end = puppet.stopped();
        drop(many);
        assert_eq!(puppet.note("x").await, Ok(1));
        assert_eq!(puppet.stop().await, StopReason::Stopped);
        assert_eq!(end.await, StopReason::Stopped);
    });
}
