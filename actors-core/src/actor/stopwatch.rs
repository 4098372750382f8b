//! Reports a handler that waits for long; what holds its thread is seen from outside (`system/health.rs`).

use std::future::Future;
use std::pin::Pin;
use std::task::Context;

use tokio::time::Instant;

use crate::system::deadlines::Sleep;
use crate::system::member::Core;

/// Measures how long one run of a handler waits, on the clock of the system. A handler that never waits starts none.
pub(super) enum Stopwatch {
    /// The handler has not waited yet.
    Unstarted,
    Running {
        since: Instant,
        limit: Sleep,
    },
    /// The handler has been reported, or never will be.
    Done,
}

impl Stopwatch {
    /// To be called each time the handler is found waiting: its task is woken when the time is over.
    pub(super) fn look(&mut self, core: &Core, cx: &mut Context<'_>) {
        if matches!(self, Self::Unstarted) {
            *self = Self::start(core);
        }
        let Self::Running { since, limit } = self else {
            return;
        };
        if Pin::new(limit).poll(cx).is_pending() {
            return;
        }
        let waited = core.system.clock.now().saturating_duration_since(*since);
        // Whether it was marked before does not matter here: nobody but its own activation ends the run.
        let _ = core.mark_handler();
        core.report_slow_handler(waited);
        *self = Self::Done;
    }

    fn start(core: &Core) -> Self {
        let since = core.system.clock.now();
        match since.checked_add(core.options.slow_handler) {
            Some(at) => Self::Running {
                since,
                limit: core.system.deadlines.sleep_until(at),
            },
            None => Self::Done,
        }
    }
}
