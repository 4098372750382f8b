//! Ways back that are lost (A6), and errors whose asker stays, leaves or never was.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::sync::{Arc, Mutex};

use actors_core::LifecycleEvent;
use actors_core::prelude::*;

use common::world::{beside, in_virtual_time, picked, timed};
use common::{Gate, settle};

const RUNNING: Phase = Phase::Running;

/// Owns the way back while it panics.
#[derive(Default)]
struct Owner;

#[actor]
impl Owner {
    /// Owns its way back, and panics with it.
    #[handler]
    fn boom_with(&mut self, reply: ReplyTo<u64>) {
        let _kept = reply;
        panic!("with the way back");
    }

    /// Owns its way back, and panics with it after an await.
    #[handler]
    async fn boom_later_with(&mut self, reply: ReplyTo<u64>) {
        tokio::task::yield_now().await;
        drop(Some(reply).filter(|_| panic!("with the way back")));
    }
}

/// Loses ways back in every way there is.
#[derive(Default)]
struct Loser {
    kept: Option<ReplyTo<u64>>,
}

#[actor]
impl Loser {
    #[handler]
    fn drop_it(&mut self, reply: ReplyTo<u64>) {
        drop(reply);
    }

    #[handler]
    async fn drop_it_later(&mut self, reply: ReplyTo<u64>) {
        tokio::task::yield_now().await;
        drop(reply);
    }

    #[handler]
    fn drop_it_elsewhere(&mut self, reply: ReplyTo<u64>) {
        drop(beside(async move { drop(reply) }));
    }

    #[handler]
    fn drop_it_in_a_panic_elsewhere(&mut self, reply: ReplyTo<u64>) {
        drop(beside(async move {
            let _reply = reply;
            panic!("on purpose");
        }));
    }

    #[handler]
    fn keep_and_fail(&mut self, ctx: &mut ActorContext<Self>, reply: ReplyTo<u64>) {
        self.kept = Some(reply);
        ctx.fail("on purpose");
    }

    #[handler]
    fn keep_and_stop(&mut self, ctx: &mut ActorContext<Self>, reply: ReplyTo<u64>) {
        self.kept = Some(reply);
        ctx.stop();
    }

    #[handler]
    fn keep(&mut self, reply: ReplyTo<u64>) {
        self.kept = Some(reply);
    }

    #[handler]
    fn drop_kept(&mut self) {
        self.kept = None;
    }
}

#[test]
fn a_way_back_that_is_dropped_anywhere_answers_no_reply_at_once() {
    in_virtual_time(async |system| {
        let loser = system.spawn("loser", Loser::default).unwrap();
        let asks = [
            loser.drop_it().ask(),
            loser.drop_it_later().ask(),
            loser.drop_it_elsewhere().ask(),
            loser.drop_it_in_a_panic_elsewhere().ask(),
            loser.keep_and_fail().ask(),
        ];
        for ask in asks {
            let lost = format!("{ask:?}");
            assert_eq!(timed(ask).await, (ms(0), Err(AskError::NoReply)), "{lost}");
        }
        let kept = beside(loser.keep().ask());
        settle().await;
        loser.drop_kept().await.unwrap();
        assert_eq!(kept.await.unwrap(), Err(AskError::NoReply));
        assert_eq!(
            timed(loser.keep_and_stop().ask()).await,
            (ms(0), Err(AskError::NoReply))
        );
        assert_eq!(AskError::<u64>::NoReply.phase(), RUNNING);
    });
}

#[test]
fn a_way_back_dropped_by_the_unwinding_of_its_own_handler_answers_panicked() {
    in_virtual_time(async |system| {
        let late = system.spawn("owner", Owner::default).unwrap();
        let panicked = Err(AskError::Panicked("with the way back".into()));
        assert_eq!(
            timed(late.boom_with().ask()).await,
            (ms(0), panicked.clone())
        );
        assert_eq!(late.boom_later_with().await, panicked);
    });
}

/// Catches the panic of a part of its own handler.
#[derive(Default)]
struct Catcher;

#[actor]
impl Catcher {
    #[handler]
    fn catch(&mut self, reply: ReplyTo<u64>) {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _reply = reply;
            panic!("on purpose");
        }));
        assert!(caught.is_err());
    }
}

#[test]
fn a_way_back_lost_in_a_panic_that_the_handler_caught_is_answered_as_well() {
    in_virtual_time(async |system| {
        let catcher = system.spawn("catcher", Catcher::default).unwrap();
        assert_eq!(
            timed(catcher.catch().ask()).await,
            (ms(0), Err(AskError::NoReply))
        );
    });
}

/// Fails in other ways than by a panic.
#[derive(Default)]
struct Judge;

#[actor]
impl Judge {
    #[handler(err_is_failure)]
    async fn strict(&mut self, gate: Gate) -> Result<u64, String> {
        gate.pass().await;
        Err("strict".to_owned())
    }

    #[handler]
    async fn lenient(&mut self, gate: Gate) -> Result<u64, String> {
        gate.pass().await;
        Err("lenient".to_owned())
    }
}

/// How the asker of a message behaves.
#[derive(Clone, Copy, Debug)]
enum Asker {
    Stays,
    Leaves,
    IsNobody,
}

/// What becomes of an error: how many failures, how many errors that nobody asked for.
fn judged(asker: Asker, is_strict: bool) -> (usize, usize) {
    let counts = Arc::new(Mutex::new((0, 0)));
    let result = Arc::clone(&counts);
    in_virtual_time(async move |system| {
        let mut events = system.events();
        let judge = system.spawn("judge", Judge::default).unwrap();
        let gate = Gate::new();
        let ask = || match is_strict {
            true => judge.strict(gate.clone()).ask(),
            false => judge.lenient(gate.clone()).ask(),
        };
        let asking = match asker {
            Asker::Stays => Some(beside(ask())),
            Asker::Leaves => {
                let _left = tokio::time::timeout(ms(10), ask()).await;
                None
            }
            Asker::IsNobody if is_strict => {
                judge.strict(gate.clone()).tell();
                None
            }
            Asker::IsNobody => {
                judge.lenient(gate.clone()).tell();
                None
            }
        };
        gate.reached(1).await;
        gate.open();
        settle().await;
        if let Some(asking) = asking {
            assert!(matches!(asking.await.unwrap(), Err(AskError::Handler(_))));
        }
        let seen = picked(&mut events, |event| match event {
            LifecycleEvent::Failed { .. } => Some(true),
            LifecycleEvent::ErrorIgnored { .. } => Some(false),
            _ => None,
        });
        let failures = seen.iter().filter(|failed| **failed).count();
        *result.lock().unwrap() = (failures, seen.len() - failures);
    });
    *counts.lock().unwrap()
}

#[test]
fn whether_an_error_is_a_failure_does_not_depend_on_whether_somebody_listens() {
    for asker in [Asker::Stays, Asker::Leaves, Asker::IsNobody] {
        assert_eq!(judged(asker, true), (1, 0), "{asker:?}");
    }
    assert_eq!(judged(Asker::Stays, false), (0, 0));
    assert_eq!(judged(Asker::Leaves, false), (0, 0));
    assert_eq!(judged(Asker::IsNobody, false), (0, 1));
}
