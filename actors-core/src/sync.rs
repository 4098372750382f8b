//! The lock of this crate.
//!
//! One door to `std::sync::Mutex` with two house rules: a poisoned lock is entered (user code never runs under one of
//! our locks, so its data is whole), and a lock guards what its owner's documentation says, for a few instructions.

use std::sync::{MutexGuard, PoisonError};

/// A mutex that is entered even when poisoned.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::Mutex;

    #[test]
    fn a_poisoned_lock_is_entered() {
        let lock = Mutex::new(1);
        let poisoned = catch_unwind(AssertUnwindSafe(|| {
            *lock.lock() = 2;
            let _guard = lock.lock();
            panic!("on purpose");
        }));
        assert!(poisoned.is_err());
        assert_eq!(*lock.lock(), 2);
    }
}
