//! Running an idle actor in passing: the asker's own thread gives it the turn, so that no other thread need be woken.
//!
//! It must cost nobody anything. So it is done only for a handler that was quick when it was last measured, of an actor that had
//! nothing else to do, on a thread of the very runtime; never in a turn, where a worker has a queue for it; and never in an asker
//! that has used up its share: the ask that takes the last of it waits for the other tasks although it has its answer. What turns
//! out to be slow is dispatched from then on. And it is done for that handler, and for what was quick as well and came meanwhile:
//! with another message, with a hook or a failure the actor goes on in a turn of its own.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::coop;
use tokio::time::Instant;

use crate::dispatch::{self, Runnable};
use crate::event::LifecycleEvent;
use crate::system::member::Core;
use crate::system::pace::{QUICK, Variant};

use super::Message;
use super::cell::Cell;

/// A task of Tokio's has 128 steps before it must let others run. As many asks are one step of it, whomever they ask, ...
const ASKS_PER_STEP: u8 = 8;
/// ... if none of them took longer than this; or else each is.
const SHORT: Duration = Duration::from_micros(1);

/// A handler that may run on this thread, should its actor be idle.
pub(super) struct InPassing(Variant);

impl InPassing {
    /// Finds out whether the handler of a message may run here: before the message is pushed, because afterwards others have it.
    #[inline]
    pub(super) fn of<M: Message>(cell: &Cell<M>, message: &M) -> Option<Self> {
        let core = &cell.core;
        if !core.system.runs_in_passing {
            return None;
        }
        let variant = Variant::of(message);
        core.pace.is_quick(variant).then_some(Self(variant))
    }

    /// Gives the actor, which was idle, its turn: here, if this is the place for it. `began` is the time now, as far as it
    /// matters. Says whether the asker must let others run now; then it is woken at once.
    pub(super) fn run(
        self,
        core: &Core,
        idle: Runnable,
        began: Instant,
        cx: &mut Context<'_>,
    ) -> bool {
        // Only now, because it costs more than the push, and an actor that is busy needs nobody to run it.
        if !is_here(core) {
            dispatch::schedule(idle);
            return false;
        }
        core.pace.begin();
        let Some(given) = dispatch::run_here(idle) else {
            return false;
        };
        let ended = core.system.clock.now();
        let is_short = ended <= began + SHORT;
        if !is_short && ended > began + QUICK {
            self.was_slow(core, ended.saturating_duration_since(began));
        }
        // It is work of the asker's task: a row of asks lets other tasks run.
        let is_step = !is_short || given.is_multiple_of(ASKS_PER_STEP);
        is_step && take_a_step(cx)
    }

    /// It was not quick: the next one is dispatched. No watchdog looks after this thread, so this tells of a run that took long.
    #[cold]
    fn was_slow(self, core: &Core, took: Duration) {
        core.pace.note(self.0, Some(took));
        if took >= core.options.slow_handler
            && let Some(variant) = core.handler()
            && !core.pace.report()
        {
            core.event(|actor, id| LifecycleEvent::HandlerSlow {
                actor,
                id,
                variant,
                running_for: took,
            });
        }
    }
}

/// Takes one step of the share of the asker's task. If that was the last, the task is woken after the others, and must let them
/// run now: the next ask would wake a worker, and both would change threads for it.
fn take_a_step(cx: &mut Context<'_>) -> bool {
    let _ = consume_budget(cx);
    !coop::has_budget_remaining() && consume_budget(cx).is_pending()
}

fn consume_budget(cx: &mut Context<'_>) -> Poll<()> {
    pin!(coop::consume_budget()).poll(cx)
}

/// Says whether this is a task of the runtime that the actors run on, with some of its share left.
fn is_here(core: &Core) -> bool {
    coop::has_budget_remaining()
        && Handle::try_current().is_ok_and(|handle| core.system.is_of(&handle))
}
