//! Short words for durations: `restarts(5, within(secs(60)))`.

use std::time::Duration;

/// Returns a duration of whole milliseconds.
///
/// ```
/// use actors_core::prelude::*;
///
/// assert_eq!(ms(1_500).as_secs_f64(), 1.5);
/// ```
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Returns a duration of whole seconds.
///
/// ```
/// use actors_core::prelude::*;
///
/// assert_eq!(secs(2), ms(2_000));
/// ```
pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns its argument, so that a policy reads like a sentence.
///
/// ```
/// use actors_core::prelude::*;
///
/// let policy = Supervision::one_for_one().restarts(3, within(secs(10)));
/// assert_eq!(policy.budget(), Budget::new(3, secs(10)));
/// ```
pub const fn within(window: Duration) -> Duration {
    window
}
