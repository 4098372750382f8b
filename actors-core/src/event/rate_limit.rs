//! How many events of one kind may be told about each target: the first ten of a second, the rest is
//! counted.
//!
//! A pure value without a clock. Both what it lets through and what it remembers are bounded, however
//! many targets there are.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// As many lines are written in one window.
const BURST: u64 = 10;

/// The length of a window; it begins with the first event in it.
const WINDOW: Duration = Duration::from_secs(1);

/// As many actors have a window of their own at the same time; all further ones share one.
pub(super) const TARGETS: usize = 256;

/// Counts the events of one kind by their target, each in windows of its own. A pure value: time
/// comes in as an argument.
#[derive(Debug)]
pub(super) struct RateLimit<K> {
    windows: HashMap<K, Window>,
    /// The targets of `windows`, the oldest window first.
    order: VecDeque<K>,
    /// The window that all targets share for which there was no room.
    others: Option<Window>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    began: Instant,
    seen: u64,
}

/// What becomes of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admit {
    Log,
    /// The last one of its window that may be logged.
    LogLast,
    Hold,
}

/// What was held back in one window: of one target, or of several if none is named.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held<K> {
    pub(super) target: Option<K>,
    pub(super) count: u64,
}

impl<K: Hash + Eq + Clone> RateLimit<K> {
    /// Counts one event. The caller has asked for the windows that have [`ended`](Self::ended)
    /// first.
    pub(super) fn admit(&mut self, target: K, now: Instant) -> Admit {
        let fresh = Window {
            began: now,
            seen: 0,
        };
        if let Some(window) = self.windows.get_mut(&target) {
            return window.count();
        }
        if self.windows.len() == TARGETS {
            return self.others.get_or_insert(fresh).count();
        }
        self.order.push_back(target.clone());
        self.windows.entry(target).or_insert(fresh).count()
    }

    /// Forgets the windows that are over at `now`, and returns what was held back in them.
    pub(super) fn ended(&mut self, now: Instant) -> Vec<Held<K>> {
        let mut ended = Vec::new();
        while let Some(oldest) = self.order.front()
            && self
                .windows
                .get(oldest)
                .is_none_or(|window| window.is_over(now))
        {
            ended.extend(self.forget_oldest());
        }
        if let Some(window) = self.others.take_if(|window| window.is_over(now)) {
            ended.extend(window.held_of(None));
        }
        ended
    }

    /// Returns what is held back in all windows.
    pub(super) fn finish(mut self) -> Vec<Held<K>> {
        let mut ended = Vec::new();
        while !self.order.is_empty() {
            ended.extend(self.forget_oldest());
        }
        ended.extend(self.others.and_then(|window| window.held_of(None)));
        ended
    }

    fn forget_oldest(&mut self) -> Option<Held<K>> {
        let target = self.order.pop_front()?;
        let window = self.windows.remove(&target)?;
        window.held_of(Some(target))
    }
}

impl<K> Default for RateLimit<K> {
    fn default() -> Self {
        Self {
            windows: HashMap::new(),
            order: VecDeque::new(),
            others: None,
        }
    }
}

impl Window {
    fn count(&mut self) -> Admit {
        self.seen += 1;
        match self.seen {
            ..BURST => Admit::Log,
            BURST => Admit::LogLast,
            _ => Admit::Hold,
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.began) >= WINDOW
    }

    fn held_of<K>(&self, target: Option<K>) -> Option<Held<K>> {
        let count = self.seen.saturating_sub(BURST);
        (count > 0).then_some(Held { target, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn held<K>(target: impl Into<Option<K>>, count: u64) -> Held<K> {
        Held {
            target: target.into(),
            count,
        }
    }

    #[test]
    fn ten_lines_of_a_target_in_a_second_are_logged_and_the_rest_is_counted() {
        let begin = Instant::now();
        let mut limit = RateLimit::default();
        // (milliseconds, how many events, how many of them are logged, held back in windows that
        // ended)
        let table = [
            (0, 1, 1, None),
            (500, 8, 8, None),
            (700, 5, 1, None),
            (999, 3, 0, None),
            (1000, 2, 2, Some(7)),
            (1999, 8, 8, None),
            (2000, 1, 1, None),
            (9000, 11, 10, None),
            (99_000, 1, 1, Some(1)),
        ];
        for (at, events, logged, ended) in table {
            let now = begin + ms(at);
            assert_eq!(
                limit.ended(now),
                Vec::from_iter(ended.map(|n| held("a", n))),
                "at {at}"
            );
            let admits: Vec<_> = (0..events).map(|_| limit.admit("a", now)).collect();
            let count = admits.iter().filter(|admit| **admit != Admit::Hold).count();
            assert_eq!(count, logged, "at {at}: {admits:?}");
        }
    }

    #[test]
    fn the_last_line_of_a_window_is_told_apart() {
        let now = Instant::now();
        let mut limit = RateLimit::default();
        let admits: Vec<_> = (0..12).map(|_| limit.admit("a", now)).collect();
        assert_eq!(admits[..9], [Admit::Log; 9]);
        assert_eq!(admits[9..], [Admit::LogLast, Admit::Hold, Admit::Hold]);
    }

    #[test]
    fn targets_do_not_share_a_window() {
        let now = Instant::now();
        let mut limit = RateLimit::default();
        for _ in 0..12 {
            limit.admit("a", now);
        }
        assert_eq!(limit.admit("b", now), Admit::Log);
        assert_eq!(limit.ended(now + WINDOW), [held("a", 2)]);
        assert!(limit.windows.is_empty() && limit.order.is_empty());
    }

    #[test]
    fn a_flood_of_targets_is_bounded_in_lines_and_in_memory() {
        let now = Instant::now();
        let mut limit = RateLimit::default();
        let logged = (0..100_000)
            .filter(|id| limit.admit(*id, now) != Admit::Hold)
            .count();
        assert_eq!(logged, TARGETS + 10);
        assert_eq!((limit.windows.len(), limit.order.len()), (TARGETS, TARGETS));
        let rest = 100_000 - logged as u64;
        assert_eq!(limit.ended(now + WINDOW), [held(None, rest)]);
        assert_eq!(limit.admit(99_999, now + WINDOW), Admit::Log);
        assert_eq!(limit.windows.len(), 1);
    }

    #[test]
    fn a_clock_reading_that_comes_late_ends_no_window_early() {
        let now = Instant::now();
        let mut limit = RateLimit::default();
        (0..11).for_each(|_| _ = limit.admit("a", now + ms(10)));
        assert_eq!(limit.ended(now), []);
        assert_eq!(limit.admit("a", now), Admit::Hold);
        assert_eq!(limit.finish(), [held("a", 2)]);
    }
}
