//! What is known of how long the handlers of an actor take, so that an asker may run a quick one itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A handler that takes no longer is quick: less than it takes to wake a thread for it, and less than anybody would notice
/// who waits for the asker's thread.
pub(crate) const QUICK: Duration = Duration::from_micros(20);

/// Set while somebody wants the next handler to be measured.
const WANTED: u64 = 1;

/// Set when the run that goes on has been reported as slow.
const REPORTED: u64 = 2;

/// A bit for each handler, found by the address of its name; handlers that share one are quick only together.
// Ordering: Relaxed everywhere. It is a guess about time, and a stale one costs time and nothing else.
#[derive(Debug, Default)]
pub(crate) struct Pace(AtomicU64);

impl Pace {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Says whether a handler was quick when it was last measured; if not, the next one that runs is to be measured.
    pub(crate) fn is_quick(&self, variant: &'static str) -> bool {
        let bits = self.0.load(Ordering::Relaxed);
        let is_quick = bits & bit(variant) != 0;
        if !is_quick && bits & WANTED == 0 {
            self.0.fetch_or(WANTED, Ordering::Relaxed);
        }
        is_quick
    }

    /// Says whether the next handler is to be measured.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) & WANTED != 0
    }

    /// Takes note of how long a handler took; `None` if it waits.
    pub(crate) fn note(&self, variant: &'static str, took: Option<Duration>) {
        if took.is_some_and(|took| took <= QUICK) {
            self.0.fetch_or(bit(variant), Ordering::Relaxed);
            self.0.fetch_and(!WANTED, Ordering::Relaxed);
        } else {
            self.0
                .fetch_and(!(bit(variant) | WANTED), Ordering::Relaxed);
        }
    }

    /// A run begins that its runner will report if it is slow.
    pub(crate) fn begin(&self) {
        if self.0.load(Ordering::Relaxed) & REPORTED != 0 {
            self.0.fetch_and(!REPORTED, Ordering::Relaxed);
        }
    }

    /// Takes note that the run was reported; says whether it was before.
    pub(crate) fn report(&self) -> bool {
        self.0.fetch_or(REPORTED, Ordering::Relaxed) & REPORTED != 0
    }
}

/// One of 62 bits; names of one enum lie close together, so the low bits of their addresses tell them apart.
fn bit(variant: &'static str) -> u64 {
    let address = variant.as_ptr().addr() as u64;
    4 << ((address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % 62)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_is_quick_once_it_was_measured_and_until_it_is_slow() {
        let pace = Pace::new();
        assert!(!pace.is_wanted());
        assert!(!pace.is_quick("Add"));
        assert!(pace.is_wanted());
        pace.note("Add", Some(QUICK));
        assert!(pace.is_quick("Add") && !pace.is_wanted());
        pace.note("Add", Some(QUICK * 2));
        assert!(!pace.is_quick("Add"));
        pace.note("Add", None);
        assert!(!pace.is_wanted());
    }
}
