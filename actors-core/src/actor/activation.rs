//! The activation: the future in which an actor's state lives, by value, and its turns.
//!
//! Nobody but this future can reach the state, and it has one owner at any time, who alone can poll it: that is why the state needs
//! no lock. It is in the mailbox while there is nothing to do, in a run queue as a [`Runnable`](crate::dispatch::Runnable) when there
//! is, and on the stack of a worker during its turn. It is polled with a waker that does nothing: what makes it runnable is a push,
//! control, or the cell as the waker of what user code waits for, and each of them takes it out of the mailbox.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;

use crate::dispatch::turn::{self, Identity};
use crate::dispatch::{Activation, Schedule};
use crate::error::AskFailure;
use crate::path::ActorId;
use crate::supervision::StopReason;
use crate::system::ActorState;
use crate::system::counters::add;
use crate::system::member::Member;
use crate::system::orders::{EndKind, Ending};

use super::Actor;
use super::lifecycle::{Exit, Judged, Life};

pin_project! {
    /// A life, and whose it is.
    struct Turns<L> {
        me: Arc<dyn Identity>,
        #[pin]
        life: L,
    }
}

/// The whole life of an actor. Dropped before its end, because nobody runs it any more, it ends the actor for everybody else all
/// the same.
pub(super) fn activate<A: Actor>(mut life: Life<A>) -> Pin<Box<dyn Activation>> {
    let me = Arc::clone(&life.cell) as Arc<dyn Identity>;
    // What is alive across an await is part of every idle actor. So this is one block, with one place for the incarnation, and
    // what goes on between two awaits is in functions: `Life::step` handles the messages.
    let life = async move {
        loop {
            let mut born = Box::pin(life.start()).await;
            life.begin_serving();
            let exit = loop {
                let Some(born) = born.get_mut() else {
                    break Exit::Stop;
                };
                let Some(wait) = life.step(born) else {
                    continue;
                };
                match wait.await {
                    None => {}
                    Some(due) => match Box::pin(life.see_to(due)).await {
                        Judged::Resume => {}
                        Judged::Exit(exit) => break exit,
                    },
                }
            };
            let Some(born) = born.take() else { break };
            if !Box::pin(life.wind_down(born, exit)).await {
                break;
            }
        }
        let reason = life.reason();
        life.end(reason);
    };
    Box::pin(Turns { me, life })
}

impl<L: Future<Output = ()> + Send> Activation for Turns<L> {
    #[inline]
    fn identity(&self) -> Option<&Arc<dyn Identity>> {
        Some(&self.me)
    }

    fn actor(&self) -> ActorId {
        self.me.id()
    }

    #[inline]
    fn seam(&self) -> &Arc<dyn Schedule> {
        self.me.seam()
    }

    fn poll(self: Pin<&mut Self>) -> Poll<()> {
        // A life waits only where it pauses. What user code waits for wakes the cell: see `Drive`.
        let mut context = Context::from_waker(Waker::noop());
        self.project().life.poll(&mut context)
    }
}

impl<A: Actor> Life<A> {
    /// Ends the actor for everybody else.
    fn end(&mut self, reason: StopReason) {
        self.turn_out();
        drop(self.cell.mail.end());
        let member: &dyn Member = &*self.cell;
        if !member.finish(reason) {
            self.cell.core.settle();
        }
    }

    /// Ends the children of an actor that did not live to stop them: nobody else can find them any more. The end of each does
    /// the same to its own, one after another, however deep the tree.
    fn let_children_go(&self) {
        let core = &self.cell.core;
        let Some(family) = core.existing_family() else {
            return;
        };
        family.close();
        let is_gone = core.system.is_gone();
        let reason = if is_gone {
            StopReason::SystemGone
        } else {
            StopReason::ParentStopped
        };
        for child in family.members() {
            child.order(&Ending {
                kind: EndKind::Kill,
                reason: reason.clone(),
                deadline: None,
            });
            if is_gone {
                child.let_go();
            }
        }
    }
}

impl<A: Actor> Drop for Life<A> {
    fn drop(&mut self) {
        let core = &self.cell.core;
        if core.state() == ActorState::Busy {
            // It was dropped in the midst of a handler.
            add(&core.system.counters.failed, 1);
            core.set_state(ActorState::Stopping);
        }
        self.end(StopReason::SystemGone);
        self.let_children_go();
    }
}

/// Answers the askers whose way back was dropped by the end of their handler.
pub(super) fn answer_orphans(failure: &AskFailure) {
    for orphan in turn::take_orphans() {
        orphan.fail(failure.clone());
    }
}
