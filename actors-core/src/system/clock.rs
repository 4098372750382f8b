//! The two clocks of this crate, behind one door.
//!
//! [`Clock::now`] is Tokio's clock, and rules everything that a user can observe: deadlines,
//! back-off, timers, windows. A test that pauses Tokio's time owns it. [`Clock::real_now`] is the
//! machine's clock, for what is about threads and not about the user's time: how long a turn may
//! last, whether a handler hangs.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::Instant;

/// Tells the time of one Tokio runtime, on any thread.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    handle: Handle,
    is_pausable: bool,
    made: Instant,
}

impl Clock {
    pub(crate) fn new(handle: Handle) -> Self {
        let is_pausable = matches!(handle.runtime_flavor(), RuntimeFlavor::CurrentThread);
        let made = now_of(&handle, is_pausable);
        Self {
            handle,
            is_pausable,
            made,
        }
    }

    /// Returns the time of the runtime, also on a thread that is in no runtime, or in another one.
    #[inline]
    pub(crate) fn now(&self) -> Instant {
        now_of(&self.handle, self.is_pausable)
    }

    /// Returns the time when this clock was made: what is told as a number is counted from here.
    pub(crate) const fn made(&self) -> Instant {
        self.made
    }

    /// Says whether a test can stop and move this time: Tokio refuses that on every runtime but a
    /// `current_thread` one.
    pub(crate) const fn is_pausable(&self) -> bool {
        self.is_pausable
    }

    /// Returns the time of the machine, which nobody can pause.
    pub(crate) fn real_now() -> std::time::Instant {
        std::time::Instant::now()
    }
}

#[inline]
fn now_of(handle: &Handle, is_pausable: bool) -> Instant {
    if is_pausable {
        pausable_now(handle)
    } else {
        Instant::from_std(Clock::real_now())
    }
}

fn pausable_now(handle: &Handle) -> Instant {
    match Handle::try_current() {
        Ok(current) if current.id() == handle.id() => Instant::now(),
        // A thread at its end cannot enter a runtime: an actor that is dropped there sees the time of the machine.
        Err(error) if error.is_thread_local_destroyed() => Instant::from_std(Clock::real_now()),
        Ok(_) | Err(_) => {
            let _entered = handle.enter();
            Instant::now()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::runtime::Builder;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn paused() -> tokio::runtime::Runtime {
        Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
    }

    #[test]
    fn a_thread_outside_the_runtime_sees_its_paused_time() {
        let runtime = paused();
        let clock = Clock::new(runtime.handle().clone());
        let before = clock.now();
        runtime.block_on(tokio::time::advance(HOUR));
        let elsewhere = std::thread::spawn({
            let clock = clock.clone();
            move || clock.now()
        });
        assert_eq!(elsewhere.join().unwrap() - before, HOUR);
        assert_eq!(clock.now() - before, HOUR);
    }

    #[test]
    fn a_task_of_another_runtime_sees_the_clock_s_time_and_not_its_own() {
        let (ours, other) = (paused(), paused());
        let clock = Clock::new(ours.handle().clone());
        let before = clock.now();
        other.block_on(async {
            tokio::time::advance(HOUR).await;
            assert_eq!(clock.now(), before);
        });
    }

    #[test]
    fn a_runtime_with_many_threads_has_real_time_even_seen_from_a_paused_one() {
        let many = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .unwrap();
        let clock = Clock::new(many.handle().clone());
        paused().block_on(async {
            tokio::time::advance(HOUR).await;
            assert!(clock.now() < Instant::from_std(Clock::real_now()) + HOUR / 2);
        });
    }

    #[test]
    fn the_real_clock_ignores_paused_time() {
        let before = Clock::real_now();
        paused().block_on(tokio::time::advance(HOUR));
        assert!(Clock::real_now() - before < HOUR);
    }
}
