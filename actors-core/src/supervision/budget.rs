//! How many restarts there may be in how much time.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// At most `limit` restarts in any `window` of time.
///
/// The window slides, and its far edge is part of it: a restart exactly `window` ago still counts, as in OTP. A limit of
/// 0 means that there is never a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    limit: u32,
    window: Duration,
}

impl Budget {
    /// Makes a budget.
    pub const fn new(limit: u32, window: Duration) -> Self {
        Self { limit, window }
    }

    /// Returns the number of restarts that are allowed in a window.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns the length of the window.
    pub const fn window(&self) -> Duration {
        self.window
    }
}

/// 5 restarts in 60 seconds.
impl Default for Budget {
    fn default() -> Self {
        Self::new(5, Duration::from_secs(60))
    }
}

/// Whether there was room in a budget for one more restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Room {
    /// The restart is counted.
    Granted,
    /// It is not, and must not happen.
    Spent,
}

/// When the restarts were that still count.
///
/// Holds at most as many instants as the budget has restarts, and no memory before the first one.
#[derive(Clone, Debug, Default)]
pub(super) struct History(VecDeque<Instant>);

impl History {
    /// Asks for one more restart.
    pub(super) fn take(&mut self, budget: Budget, now: Instant) -> Room {
        while self
            .0
            .front()
            .is_some_and(|&then| now.saturating_duration_since(then) > budget.window)
        {
            self.0.pop_front();
        }
        if self.0.len() >= budget.limit as usize {
            return Room::Spent;
        }
        self.0.push_back(now);
        Room::Granted
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECOND: Duration = Duration::from_nanos(1);

    /// Returns which of the restarts at `times` (milliseconds) are granted.
    fn granted(limit: u32, window: u64, times: &[u64]) -> String {
        let start = Instant::now();
        let budget = Budget::new(limit, Duration::from_millis(window));
        let mut history = History::default();
        let mut take = |time: &u64| match history.take(budget, start + Duration::from_millis(*time))
        {
            Room::Granted => 'y',
            Room::Spent => 'n',
        };
        times.iter().map(&mut take).collect()
    }

    #[test]
    fn a_budget_slides_with_time() {
        // y: granted, n: refused.
        let table: [(&str, u32, u64, &[u64], &str); 6] = [
            (
                "the trace of OTP",
                3,
                10_000,
                &[0, 8_000, 9_000, 10_100, 10_200],
                "yyyyn",
            ),
            ("none at all", 0, 10_000, &[0, 20_000], "nn"),
            ("one", 1, 10_000, &[0, 10_000, 10_001], "yny"),
            ("all at once", 2, 10_000, &[5, 5, 5], "yyn"),
            (
                "a refused one does not count",
                1,
                10,
                &[0, 5, 11, 16, 22],
                "ynyny",
            ),
            ("no window", 1, 0, &[0, 0, 1], "yny"),
        ];
        for (name, limit, window, times, expected) in table {
            assert_eq!(granted(limit, window, times), expected, "{name}");
        }
    }

    #[test]
    fn a_restart_exactly_a_window_old_still_counts() {
        let (start, window) = (Instant::now(), Duration::from_secs(10));
        let budget = Budget::new(1, window);
        let table = [
            (window - NANOSECOND, Room::Spent),
            (window, Room::Spent),
            (window + NANOSECOND, Room::Granted),
        ];
        for (later, room) in table {
            let mut history = History::default();
            assert_eq!(history.take(budget, start), Room::Granted);
            assert_eq!(history.take(budget, start + later), room, "{later:?}");
        }
    }

    #[test]
    fn a_history_never_holds_more_than_the_budget() {
        let start = Instant::now();
        let mut history = History::default();
        for n in 0..10_000 {
            let _ = history.take(
                Budget::new(3, Duration::from_secs(60)),
                start + n * Duration::from_millis(1),
            );
            assert!(history.0.len() <= 3);
        }
    }
}
