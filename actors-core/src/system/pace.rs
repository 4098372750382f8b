//! What is known of how long the handlers of an actor take, so that an asker may run a quick one itself.

use std::hash::{Hash, Hasher};
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A handler that takes no longer is quick: less than it takes to wake a thread for it, and less than anybody would notice
/// who waits for the asker's thread.
pub(crate) const QUICK: Duration = Duration::from_micros(20);

/// Set while somebody wants the next handler to be measured.
const WANTED: u32 = 1;

/// Set when the run that goes on has been reported as slow.
const REPORTED: u32 = 2;

/// A bit for each handler; handlers that share one are quick only together.
// Ordering: Relaxed everywhere. It is a guess about time, and a stale one costs time and nothing else.
#[derive(Debug, Default)]
pub(crate) struct Pace(AtomicU32);

impl Pace {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Says whether a handler was quick when it was last measured; if not, the next one that runs is to be measured.
    #[inline]
    pub(crate) fn is_quick(&self, variant: Variant) -> bool {
        let bits = self.0.load(Ordering::Relaxed);
        let is_quick = bits & variant.0 != 0;
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
    pub(crate) fn note(&self, variant: Variant, took: Option<Duration>) {
        if took.is_some_and(|took| took <= QUICK) {
            self.0.fetch_or(variant.0, Ordering::Relaxed);
            self.0.fetch_and(!WANTED, Ordering::Relaxed);
        } else {
            self.0.fetch_and(!(variant.0 | WANTED), Ordering::Relaxed);
        }
    }

    /// A run begins that its runner will report if it is slow.
    #[inline]
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

/// There are as many bits for them.
const VARIANTS: u64 = 30;

/// Which variant of its enum a message is, as far as its pace goes: those 30 apart count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant(u32);

impl Variant {
    /// Runs no code of the user's.
    #[inline]
    pub(crate) fn of<M>(message: &M) -> Self {
        let mut number = Number(0);
        mem::discriminant(message).hash(&mut number);
        let number = number.0;
        // Few enums are so large, and a division is slow.
        Self(
            4 << if number < VARIANTS {
                number
            } else {
                number % VARIANTS
            },
        )
    }
}

/// Takes the one number that a discriminant hashes as.
struct Number(u64);

impl Hasher for Number {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 << 8) | u64::from(byte);
        }
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.0 = number.unsigned_abs() as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_is_quick_once_it_was_measured_and_until_it_is_slow() {
        let (some, none) = (Variant::of(&Some(1)), Variant::of(&None::<u8>));
        assert_ne!(some, none);
        let pace = Pace::new();
        assert!(!pace.is_wanted());
        assert!(!pace.is_quick(some));
        assert!(pace.is_wanted());
        pace.note(some, Some(QUICK));
        assert!(pace.is_quick(some) && !pace.is_quick(none));
        pace.note(some, Some(QUICK * 2));
        assert!(!pace.is_quick(some));
        pace.note(some, None);
        assert!(!pace.is_wanted());
    }

    #[test]
    fn a_run_is_reported_once() {
        let pace = Pace::new();
        pace.begin();
        assert_eq!([(); 2].map(|()| pace.report()), [false, true]);
        pace.begin();
        assert!(!pace.report());
    }
}
