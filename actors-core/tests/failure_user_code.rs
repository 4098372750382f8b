//! Promise F6: user code that panics is caught, wherever it is called from.

mod common;

use std::fmt;

use actors_core::LifecycleEvent;
use actors_core::prelude::*;
use common::bomb::{Bomb, Drops};
use common::{Gate, beside, paused, settle, system};

/// Its state and its messages may hold what panics when it is dropped.
#[derive(Default)]
struct Fragile {
    state: Option<Bomb>,
    count: u32,
}

/// An error that cannot be shown.
struct Unspeakable;

impl fmt::Debug for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no debug")
    }
}

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no display")
    }
}

impl std::error::Error for Unspeakable {}

#[actor]
impl Fragile {
    #[on_terminated]
    fn gone(&mut self, _who: Terminated) {
        panic!("not that one");
    }

    #[handler]
    fn count(&mut self) -> u32 {
        self.count += 1;
        self.count
    }

    #[handler]
    fn arm(&mut self, bomb: Bomb) {
        self.state = Some(bomb);
    }

    #[handler]
    fn crash(&mut self) {
        panic!("boom");
    }

    #[handler]
    async fn crash_later(&mut self) {
        tokio::task::yield_now().await;
        panic!("boom");
    }

    #[handler]
    fn crash_with(&mut self, payload: Bomb) {
        std::panic::panic_any(payload);
    }

    #[handler]
    async fn hold_with(&mut self, gate: Gate, bomb: Bomb) {
        let _bomb = bomb;
        gate.pass().await;
    }

    #[handler]
    fn take(&mut self, bomb: Bomb) {
        self.count += 1;
        drop(bomb);
    }

    #[handler]
    fn refuse(&mut self) -> Result<(), Unspeakable> {
        Err(Unspeakable)
    }

    #[handler(err_is_failure)]
    fn give_up(&mut self) -> Result<(), Unspeakable> {
        Err(Unspeakable)
    }

    #[handler]
    fn watch_over(&mut self, ctx: &mut ActorContext<Self>, other: FragileRef) {
        ctx.watch(&other);
    }

    #[handler]
    fn tell_all(&mut self, to: Recipient<u32>) -> u32 {
        to.tell(1);
        self.count
    }

    #[handler]
    fn pipe_bomb(&mut self, ctx: &mut ActorContext<Self>, bomb: Bomb) {
        ctx.pipe(
            async move {
                let _bomb = bomb;
                std::future::pending::<()>().await;
            },
            |me: &FragileRef, ()| me.count_unit(()),
        );
    }

    #[handler]
    fn pipe_into_panic(&mut self, ctx: &mut ActorContext<Self>) {
        ctx.pipe(
            async {},
            |_: &FragileRef, ()| -> actors_core::Call<'_, Self, actors_core::Value<u32>, ((),)> {
                panic!("no call")
            },
        );
    }

    #[handler]
    fn count_unit(&mut self, unit: ()) -> u32 {
        let () = unit;
        self.count
    }
}

/// Asserts that an actor still answers, that a new one does, and that the system still ends in good order.
async fn all_is_well(system: &ActorSystem, actor: Option<&FragileRef>) {
    if let Some(actor) = actor {
        actor.count().await.expect("the actor lives on");
    }
    assert_eq!(
        system
            .spawn_anonymous(Fragile::default)
            .expect("the system lives")
            .count()
            .await,
        Ok(1)
    );
    assert!(system.counters().is_balanced(), "{:?}", system.counters());
    let report = system.shutdown().await;
    assert!(report.is_clean(), "{report}");
}

#[test]
fn a_panic_of_any_handler_or_hook_stays_with_its_actor() {
    paused(async {
        let system = system();
        let actor = system.spawn("a", Fragile::default).unwrap();
        actor.crash().tell();
        actor.crash_later().tell();
        let other = system.spawn("b", Fragile::default).unwrap();
        other.stop().await;
        actor.watch_over(other).await.unwrap();
        settle().await;
        assert_eq!(system.tree().find("/test/a").unwrap().restarts, 2);
        tokio::time::advance(secs(1)).await;
        settle().await;
        assert_eq!(system.tree().find("/test/a").unwrap().restarts, 3);
        all_is_well(&system, Some(&actor)).await;
    });
}

#[test]
fn a_decider_that_panics_stops_the_child_and_is_told_of() {
    paused(async {
        let system = system();
        let mut events = system.events();
        let policy = Supervision::restart().decide_with(|_, _| panic!("undecided"));
        let actor = system
            .actor(Fragile::default)
            .supervision(policy)
            .spawn()
            .unwrap();
        actor.crash().tell();
        assert!(
            matches!(actor.stopped().await, StopReason::Failed(failure) if failure.text() == "boom")
        );
        let told = std::iter::from_fn(|| events.try_next()).any(|event| {
            matches!(event, LifecycleEvent::HookFailed { failure, .. } if failure.text() == "undecided")
        });
        assert!(told);
        all_is_well(&system, None).await;
    });
}

#[test]
fn a_state_whose_destructor_panics_is_dropped_once_and_the_ending_or_restart_goes_on() {
    for end in ["restart", "stop", "kill"] {
        paused(async {
            let (system, drops) = (system(), Drops::default());
            let mut events = system.events();
            let actor = system.spawn("a", Fragile::default).unwrap();
            actor.arm(drops.bomb()).await.unwrap();
            match end {
                "restart" => assert_eq!(actor.crash().await, Err(common::panicked("boom"))),
                "stop" => assert_eq!(actor.stop().await, StopReason::Stopped),
                _ => assert_eq!(actor.kill().await, StopReason::Killed),
            }
            settle().await;
            assert_eq!(drops.count(), 1, "{end}");
            let told = std::iter::from_fn(|| events.try_next())
                .any(|event| matches!(event, LifecycleEvent::DestructorPanicked { text, .. } if text == "a bomb went off"));
            assert!(told, "{end}");
            all_is_well(&system, (end == "restart").then_some(&actor)).await;
        });
    }
}

#[test]
fn a_message_whose_destructor_panics_in_its_handler_is_a_failure() {
    paused(async {
        let (system, drops) = (system(), Drops::default());
        let actor = system.spawn("a", Fragile::default).unwrap();
        assert!(actor.take(drops.bomb()).await.is_err());
        assert_eq!(drops.count(), 1);
        all_is_well(&system, Some(&actor)).await;
    });
}

#[test]
fn a_message_whose_destructor_panics_when_nobody_handles_it_disturbs_nobody() {
    paused(async {
        let (system, drops, gate) = (system(), Drops::default(), Gate::new());
        let policy = Mailbox::bounded(2).overflow(Overflow::DropOldest);
        let actor = system
            .actor(Fragile::default)
            .mailbox(policy)
            .spawn()
            .unwrap();
        actor.hold_with(gate.clone(), drops.bomb()).tell();
        gate.reached(1).await;
        // Cancelled, evicted, evicted, turned out, turned out, refused.
        drop(tokio::time::timeout(ms(1), actor.take(drops.bomb()).ask()).await);
        for _ in 0..4 {
            actor.take(drops.bomb()).tell();
        }
        assert_eq!(drops.count(), 3);
        let end = actor.stop();
        settle().await;
        assert_eq!(drops.count(), 5);
        actor.take(drops.bomb()).tell();
        assert_eq!(drops.count(), 6);
        gate.open();
        assert_eq!(end.await, StopReason::Stopped);
        assert_eq!(drops.count(), 7);
        all_is_well(&system, None).await;
    });
}

#[test]
fn a_cancelled_message_whose_destructor_panics_is_skipped() {
    paused(async {
        let (system, drops, gate) = (system(), Drops::default(), Gate::new());
        let actor = system.spawn("a", Fragile::default).unwrap();
        let calm = Drops::default();
        actor.hold_with(gate.clone(), calm.bomb()).tell();
        gate.reached(1).await;
        drop(tokio::time::timeout(ms(1), actor.take(drops.bomb()).ask()).await);
        gate.open();
        settle().await;
        assert_eq!(drops.count(), 1);
        all_is_well(&system, Some(&actor)).await;
    });
}

#[test]
fn a_future_whose_destructor_panics_when_it_is_cut_does_not_keep_the_actor_from_ending() {
    paused(async {
        let (system, drops, gate) = (system(), Drops::default(), Gate::new());
        let actor = system.spawn("a", Fragile::default).unwrap();
        let ask = beside(actor.hold_with(gate.clone(), drops.bomb()).ask());
        gate.reached(1).await;
        assert_eq!(actor.kill().await, StopReason::Killed);
        assert_eq!(
            ask.await.unwrap(),
            Err(AskError::Stopped {
                phase: Phase::Running
            })
        );
        assert_eq!(drops.count(), 1);
        all_is_well(&system, None).await;
    });
}

#[test]
fn a_panic_payload_whose_destructor_panics_is_dropped_quietly() {
    paused(async {
        let (system, drops) = (system(), Drops::default());
        let actor = system.spawn("a", Fragile::default).unwrap();
        assert!(matches!(
            actor.crash_with(drops.bomb()).await,
            Err(AskError::Panicked(_))
        ));
        assert_eq!(drops.count(), 1);
        all_is_well(&system, Some(&actor)).await;
    });
}

#[test]
fn an_error_that_cannot_be_shown_is_a_failure_like_another() {
    paused(async {
        let system = system();
        let actor = system.spawn("a", Fragile::default).unwrap();
        actor.give_up().tell();
        assert!(matches!(
            actor.give_up().await,
            Err(AskError::Handler(Unspeakable))
        ));
        let fail = system
            .spawn("b", || -> Result<Fragile, Unspeakable> { Err(Unspeakable) })
            .unwrap();
        assert!(matches!(fail.stopped().await, StopReason::RestartLimit(_)));
        all_is_well(&system, Some(&actor)).await;
    });
}

#[test]
fn an_error_that_nobody_asked_for_and_cannot_be_shown_is_an_event_and_no_failure() {
    paused(async {
        let system = system();
        let mut events = system.events();
        let actor = system.spawn("a", Fragile::default).unwrap();
        assert_eq!(actor.count().await, Ok(1));
        actor.refuse().tell();
        assert_eq!(actor.count().await, Ok(2));
        let told = std::iter::from_fn(|| events.try_next()).any(|event| {
            matches!(
                event,
                LifecycleEvent::ErrorIgnored {
                    variant: "Refuse",
                    ..
                }
            )
        });
        assert!(told);
        all_is_well(&system, Some(&actor)).await;
    });
}

#[test]
fn a_recipient_function_that_panics_is_no_matter_of_the_teller() {
    paused(async {
        let system = system();
        let actor = system.spawn("a", Fragile::default).unwrap();
        assert_eq!(actor.count().await, Ok(1));
        let function = Recipient::from_fn(|_: u32| panic!("do not call me"));
        assert_eq!(actor.tell_all(function).await, Ok(1));
        let other = system.spawn("b", Fragile::default).unwrap();
        let made = other.recipient_with(|_: u32| panic!("nor me"));
        assert_eq!(actor.tell_all(made).await, Ok(1));
        all_is_well(&system, Some(&actor)).await;
    });
}

#[test]
fn a_piped_future_whose_destructor_panics_is_dropped_quietly() {
    for end in ["restart", "stop", "before its first poll"] {
        paused(async {
            let (system, drops) = (system(), Drops::default());
            let actor = system.spawn("a", Fragile::default).unwrap();
            let piped = actor.pipe_bomb(drops.bomb());
            match end {
                "before its first poll" => {
                    piped.tell();
                    actor.kill().await;
                }
                "stop" => {
                    piped.await.unwrap();
                    actor.stop().await;
                }
                _ => {
                    piped.await.unwrap();
                    actor.crash().tell();
                }
            }
            settle().await;
            assert_eq!(drops.count(), 1, "{end}");
            all_is_well(&system, None).await;
        });
    }
}

#[test]
fn a_stub_of_a_pipe_that_panics_fails_the_actor() {
    paused(async {
        let system = system();
        let actor = system.spawn("a", Fragile::default).unwrap();
        assert_eq!(actor.count().await, Ok(1));
        actor.pipe_into_panic().await.unwrap();
        settle().await;
        assert_eq!(actor.count().await, Ok(1));
        all_is_well(&system, Some(&actor)).await;
    });
}

#[test]
fn what_a_factory_holds_may_panic_when_it_is_dropped() {
    paused(async {
        let (system, drops) = (system(), Drops::default());
        let bomb = drops.bomb();
        let actor = system
            .spawn("a", move || {
                let _ = &bomb;
                Fragile::default()
            })
            .unwrap();
        assert_eq!(actor.count().await, Ok(1));
        assert_eq!(actor.stop().await, StopReason::Stopped);
        settle().await;
        assert_eq!(drops.count(), 1);
        all_is_well(&system, None).await;
    });
}
