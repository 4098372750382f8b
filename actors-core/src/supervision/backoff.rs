//! How long to wait before a restart.

use std::time::Duration;

use tokio::time::Instant;

/// The waiting time before a restart, which grows while an actor keeps failing.
///
/// The first restart happens at once; the next waits for `min` (10 ms), and each one after it `factor` (2) times as long
/// as the one before, up to `max` (1 s). An actor that has run for `reset_after` without a failure begins anew.
///
/// # Examples
///
/// ```
/// use actors_core::prelude::*;
///
/// let backoff = Backoff::new(ms(100), secs(10)).factor(3.0);
/// let delays: Vec<_> = (0..4).map(|attempt| backoff.delay(attempt, 0.5)).collect();
/// assert_eq!(delays, [ms(0), ms(100), ms(300), ms(900)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    first: Duration,
    min: Duration,
    max: Duration,
    factor: f64,
    jitter: f64,
    reset_after: Option<Duration>,
}

impl Backoff {
    /// Makes a back-off that waits for `min` before the second restart and never longer than `max`.
    pub const fn new(min: Duration, max: Duration) -> Self {
        Self {
            first: Duration::ZERO,
            min,
            max,
            factor: 2.0,
            jitter: 0.0,
            reset_after: None,
        }
    }

    /// Makes one that never waits; only the budget of restarts then limits how fast an actor fails.
    pub const fn none() -> Self {
        Self::new(Duration::ZERO, Duration::ZERO)
    }

    /// Makes one that waits for the same time before every restart, the first included.
    pub const fn fixed(delay: Duration) -> Self {
        Self::new(delay, delay).first(delay)
    }

    /// Sets the time before the first restart: none by default, and never longer than the maximum.
    #[must_use]
    pub const fn first(mut self, delay: Duration) -> Self {
        self.first = delay;
        self
    }

    /// Sets how many times longer each wait is than the one before. Less than 1, or not a number, counts as 1.
    #[must_use]
    pub const fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// Spreads each wait at random by up to this fraction of itself, both ways: 0.2 makes 100 ms of 80 to 120 ms.
    ///
    /// Never beyond the maximum, and never by more than all of it. The default is 0. It keeps actors that fail together
    /// from coming back together.
    #[must_use]
    pub const fn jitter(mut self, fraction: f64) -> Self {
        self.jitter = fraction;
        self
    }

    /// Sets how long an actor must run without a failure for its next restart to be a first one again.
    ///
    /// The default is the window of the budget of restarts.
    #[must_use]
    pub const fn reset_after(mut self, healthy: Duration) -> Self {
        self.reset_after = Some(healthy);
        self
    }

    /// Returns how long to wait before a restart.
    ///
    /// `attempt` counts the restarts before it since the actor last ran in health; `random` is a number from 0 to 1, and
    /// 0.5 leaves the wait as it is.
    pub fn delay(&self, attempt: u32, random: f64) -> Duration {
        let mean = match attempt.checked_sub(1) {
            None => self.first.min(self.max),
            Some(doublings) => self.grown(doublings),
        };
        self.spread(mean, random)
    }

    /// Returns how long an actor must run in health under a budget with this window.
    pub(super) fn healthy_after(&self, window: Duration) -> Duration {
        self.reset_after.unwrap_or(window)
    }

    fn grown(&self, times: u32) -> Duration {
        let factor = self.factor.max(1.0);
        // Zero times infinity is not a number; a wait of nothing never grows.
        if self.min.is_zero() || factor <= 1.0 {
            return self.min.min(self.max);
        }
        self.scaled(self.min, factor.powf(f64::from(times)))
    }

    fn spread(&self, mean: Duration, random: f64) -> Duration {
        let jitter = fraction(self.jitter);
        if jitter == 0.0 {
            return mean;
        }
        self.scaled(mean, 1.0 + jitter * (2.0 * fraction(random) - 1.0))
    }

    fn scaled(&self, delay: Duration, by: f64) -> Duration {
        Duration::try_from_secs_f64(delay.as_secs_f64() * by)
            .unwrap_or(self.max)
            .min(self.max)
    }
}

/// Returns the nearest number from 0 to 1; 0 for what is not a number.
fn fraction(number: f64) -> f64 {
    if number.is_nan() {
        0.0
    } else {
        number.clamp(0.0, 1.0)
    }
}

/// At once, then 10 ms doubling to 1 s.
impl Default for Backoff {
    fn default() -> Self {
        Self::new(Duration::from_millis(10), Duration::from_secs(1))
    }
}

/// Counts the restarts of an actor that were not parted by healthy running.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempts {
    restarts: u32,
    /// Since when the actor has been running without a failure; `None` while it is not running.
    healthy_since: Option<Instant>,
}

impl Attempts {
    /// Takes note that the actor started, or was resumed.
    pub(super) fn running(&mut self, now: Instant) {
        self.healthy_since = Some(now);
    }

    /// Takes note of a failure; a long enough health before it begins the count anew.
    pub(super) fn failed(&mut self, now: Instant, healthy_after: Duration) {
        let healthy_since = self.healthy_since.take();
        if healthy_since.is_some_and(|since| now.saturating_duration_since(since) >= healthy_after)
        {
            self.restarts = 0;
        }
    }

    /// Returns the attempt that a restart is, and counts it.
    pub(super) fn next(&mut self) -> u32 {
        let attempt = self.restarts;
        self.restarts = attempt.saturating_add(1);
        attempt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_units::{ms, secs};

    #[test]
    fn a_delay_grows_to_the_maximum() {
        let table: [(&str, Backoff, &[u64]); 9] = [
            (
                "default",
                Backoff::default(),
                &[0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000],
            ),
            (
                "tripled",
                Backoff::new(ms(100), secs(2)).factor(3.0),
                &[0, 100, 300, 900, 2000, 2000],
            ),
            (
                "slower",
                Backoff::new(ms(100), secs(2)).factor(1.5),
                &[0, 100, 150, 225],
            ),
            ("none", Backoff::none(), &[0, 0, 0, 0]),
            ("fixed", Backoff::fixed(ms(7)), &[7, 7, 7, 7]),
            ("first", Backoff::default().first(ms(100)), &[100, 10, 20]),
            (
                "never less",
                Backoff::new(ms(5), secs(1)).factor(0.1),
                &[0, 5, 5, 5],
            ),
            (
                "not a number",
                Backoff::new(ms(5), secs(1)).factor(f64::NAN),
                &[0, 5, 5, 5],
            ),
            (
                "minimum above maximum",
                Backoff::new(secs(5), secs(1)).first(secs(9)),
                &[1000, 1000, 1000],
            ),
        ];
        for (name, backoff, expected) in table {
            for random in [0.0, 0.5, 0.999] {
                let delays: Vec<Duration> = (0..)
                    .map(|n| backoff.delay(n, random))
                    .take(expected.len())
                    .collect();
                let expected: Vec<Duration> = expected.iter().copied().map(ms).collect();
                assert_eq!(delays, expected, "{name}");
            }
        }
    }

    #[test]
    fn extreme_settings_end_at_a_bound() {
        let forever = Backoff::new(secs(1), Duration::MAX);
        assert_eq!(forever.delay(u32::MAX, 0.5), Duration::MAX);
        assert_eq!(forever.factor(f64::INFINITY).delay(2, 0.5), Duration::MAX);
        assert_eq!(
            Backoff::none().factor(f64::INFINITY).delay(u32::MAX, 0.5),
            ms(0)
        );
        assert_eq!(
            Backoff::new(ms(0), secs(1))
                .factor(f64::INFINITY)
                .delay(u32::MAX, 0.5),
            ms(0)
        );
        let jittered = Backoff::new(ms(10), secs(1));
        assert_eq!(jittered.jitter(f64::NAN).delay(1, 0.0), ms(10));
        assert_eq!(jittered.jitter(9.0).delay(1, 0.0), ms(0));
        assert_eq!(jittered.jitter(1.0).delay(1, 1.0), ms(20));
        assert_eq!(jittered.jitter(1.0).delay(1, f64::NAN), ms(0));
        assert_eq!(jittered.jitter(1.0).delay(1, 7.0), ms(20));
    }

    #[test]
    fn jitter_spreads_both_ways_and_never_beyond_the_maximum() {
        let max = secs(1);
        let backoff = Backoff::new(ms(10), max).jitter(0.3);
        assert_eq!(
            (backoff.delay(1, 0.0), backoff.delay(1, 0.5)),
            (ms(7), ms(10))
        );
        let (mut shortest, mut longest) = (max, ms(0));
        for n in 0..10_000_u32 {
            let delay = backoff.delay(1 + n % 12, f64::from(n) / 10_000.0);
            assert!(delay <= max, "{n}: {delay:?}");
            if n % 12 == 11 {
                (shortest, longest) = (shortest.min(delay), longest.max(delay));
            }
        }
        assert!(shortest < ms(701), "{shortest:?}");
        assert_eq!(longest, max);
    }

    #[test]
    fn healthy_running_begins_the_attempts_anew() {
        #[derive(Clone, Copy)]
        enum Step {
            Runs,
            FailsFor(u32),
        }
        use Step::{FailsFor, Runs};
        let healthy = secs(60);
        let table: [(&str, &[(u64, Step)]); 4] = [
            (
                "one after the other",
                &[
                    (0, Runs),
                    (1, FailsFor(0)),
                    (1, Runs),
                    (2, FailsFor(1)),
                    (2, Runs),
                    (3, FailsFor(2)),
                ],
            ),
            (
                "failed starts",
                &[(0, FailsFor(0)), (99, FailsFor(1)), (999, FailsFor(2))],
            ),
            (
                "just healthy",
                &[
                    (0, Runs),
                    (1, FailsFor(0)),
                    (2, Runs),
                    (62, FailsFor(0)),
                    (63, Runs),
                    (64, FailsFor(1)),
                ],
            ),
            (
                "a second short",
                &[(0, Runs), (1, FailsFor(0)), (2, Runs), (61, FailsFor(1))],
            ),
        ];
        let start = Instant::now();
        for (name, steps) in table {
            let mut attempts = Attempts::default();
            for &(at, step) in steps {
                let now = start + secs(at);
                match step {
                    Runs => attempts.running(now),
                    FailsFor(attempt) => {
                        attempts.failed(now, healthy);
                        assert_eq!(attempts.next(), attempt, "{name} at {at} s");
                    }
                }
            }
        }
    }
}
