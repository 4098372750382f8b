//! [`Latch`]: how a workload learns that all its messages were handled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Opens when it was counted down as often as it was made for.
#[derive(Debug)]
pub(crate) struct Latch {
    left: AtomicU64,
    open: Notify,
}

impl Latch {
    pub(crate) fn new(count: u64) -> Arc<Self> {
        Arc::new(Self {
            left: AtomicU64::new(count),
            open: Notify::new(),
        })
    }

    pub(crate) fn count_down(&self) {
        // Ordering: AcqRel, each count with the next; `Notify` orders the last of them before the return of `wait`.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.open.notify_one();
        }
    }

    /// Says how often it is still to be counted down.
    pub(crate) fn left(&self) -> u64 {
        // Ordering: Acquire, with the count that it sees.
        self.left.load(Ordering::Acquire)
    }

    /// Waits until it opens. One waits, once: an opening that came before is kept for it.
    pub(crate) async fn wait(&self) {
        self.open.notified().await;
    }
}
