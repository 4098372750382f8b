//! Values whose destructors panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts how often something was dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drops(Arc<AtomicUsize>);

impl Drops {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Makes a value whose destructor counts.
    pub(crate) fn counted(&self) -> Counted {
        Counted(self.clone())
    }

    /// Makes a value whose destructor counts and panics.
    pub(crate) fn bomb(&self) -> Bomb {
        Bomb(self.clone())
    }
}

/// Counts its drop.
#[derive(Debug)]
pub(crate) struct Counted(Drops);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Counts its drop and panics, except while another panic unwinds: that would end the process, and is outside of what the
/// runtime can promise.
#[derive(Debug)]
pub(crate) struct Bomb(Drops);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        if !std::thread::panicking() {
            panic!("a bomb went off");
        }
    }
}
