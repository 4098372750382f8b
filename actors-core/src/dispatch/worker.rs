//! One worker: a task on Tokio that gives runnables their turns.
//!
//! The local queue and the worker's bookkeeping are its *desk*. The desk lives in the worker's future and is lent to the
//! thread for each poll, so that a schedule from inside a turn reaches it.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crossbeam_deque::Steal;
use tokio::task::coop;

use super::idle::Sleep;
use super::{Runnable, Schedule, Shared, Workers, current, guarded};

/// A poll ends after this time, however many turns it had: each end makes Tokio wake a thread that looks for what this one
/// leaves.
const POLL_TIME: Duration = Duration::from_micros(200);
/// A turn ends after this time; its activation asks.
const TURN_TIME: Duration = Duration::from_micros(100);
/// The drivers of Tokio get a look in at least this often.
const YIELD_EVERY: Duration = Duration::from_millis(1);
/// Each poll's first turn and every so many turns look at the injector first.
const INJECTOR_EVERY: usize = 31;
/// The clock is read every so many turns, besides the start of each poll and the questions of long turns.
const CLOCK_EVERY: usize = 8;
/// How often a thief tries at a contended queue. The re-check before sleep sees what it left.
const STEAL_TRIES: usize = 16;

/// A worker. It ends when the workers are closed; dropped before that, it closes them.
pub(crate) struct Worker {
    /// Away only while a poll lends it to its thread.
    desk: Option<Box<Desk>>,
    workers: Arc<Workers>,
    /// Tokio's own yield, under way.
    yielding: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// When the drivers of Tokio last had a chance to run.
    last_yield: Instant,
    /// Whether this worker registered as a sleeper and has not looked at its entry since.
    sleeping: bool,
}

/// Why a row of turns ended.
enum End {
    /// There is nothing to run.
    Nothing,
    /// There is more, but others come first.
    More,
    /// There is more, and a worker was woken for it: on this thread, where it waits for this poll to end.
    Helped,
    /// The workers are closed.
    Closed,
}

impl Worker {
    pub(super) fn new(desk: Desk) -> Self {
        let workers = Arc::clone(&desk.workers);
        let last_yield = desk.read_before();
        Self {
            desk: Some(Box::new(desk)),
            workers,
            yielding: None,
            last_yield,
            sleeping: false,
        }
    }

    /// Gives runnables their turns until there is a reason to stop.
    fn take_turns(&mut self) -> End {
        let _lent = current::lend(&mut self.desk);
        for turn in 0.. {
            match current::at_desk(|desk| desk.next(turn)) {
                Some(Ok(runnable)) => guarded("a turn", || runnable.run()),
                Some(Err(end)) => return end,
                None => break,
            }
        }
        End::More
    }

    fn desk(&self) -> &Desk {
        self.desk
            .as_deref()
            .expect("a desk is away only while a poll lends it")
    }

    /// Takes the entry among the sleepers back, whoever woke this worker.
    fn rise(&mut self) {
        if std::mem::take(&mut self.sleeping) && self.workers.idle.leave(self.desk().index) {
            self.workers.watchdog.everyone_slept();
        }
    }

    fn sleep(&mut self, cx: &Context<'_>) -> Poll<()> {
        match self.workers.idle.sleep(self.desk().index, cx.waker()) {
            Sleep::Closed => return Poll::Ready(()),
            Sleep::Asleep => self.sleeping = true,
        }
        if self.workers.has_work_to_share() {
            self.rise();
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Asks Tokio for another poll at the end of its queue, or once a millisecond after its drivers.
    ///
    /// Without the second, timers starve while actors are busy; with nothing but the second, actors starve beside busy
    /// tasks, because Tokio looks after its drivers every 61 tasks.
    fn come_back(&mut self, cx: &mut Context<'_>) {
        let now = self.desk().read_before();
        if now.saturating_duration_since(self.last_yield) < YIELD_EVERY {
            return cx.waker().wake_by_ref();
        }
        self.last_yield = now;
        let waker = cx.waker().clone();
        let before = self.shared().yielding.lock().replace(waker);
        drop(before);
        let yielding = self.yielding.insert(Box::pin(tokio::task::yield_now()));
        if yielding.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }

    fn ready_after_yield(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(yielding) = &mut self.yielding {
            ready!(yielding.as_mut().poll(cx));
            self.yielding = None;
            self.forget_yield();
        }
        Poll::Ready(())
    }

    fn forget_yield(&self) {
        let waker = self.shared().yielding.lock().take();
        drop(waker);
    }

    fn shared(&self) -> &Shared {
        &self.workers.shared[self.desk().index]
    }
}

impl Future for Worker {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        ready!(this.ready_after_yield(cx));
        let slept = this.sleeping;
        this.rise();
        this.desk().begin_poll();
        if slept {
            // Tokio polls its drivers when nothing else is to be done.
            this.last_yield = this.desk().read_before();
        }
        match this.take_turns() {
            End::Nothing => return this.sleep(cx),
            End::More => this.come_back(cx),
            // Back in Tokio's queue another thread can take this worker, which it cannot while Tokio keeps a task that
            // yields for its drivers; and the woken worker may keep this thread for long.
            End::Helped => cx.waker().wake_by_ref(),
            End::Closed => {
                this.workers.empty_queues();
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.forget_yield();
        // Its queue can be reached through the others' stealer, so this empties it too.
        if self.workers.is_closed() {
            self.workers.empty_queues();
        } else {
            self.workers.lose();
        }
    }
}

/// The local queue of a worker, and its bookkeeping. Only its own thread touches it, so cells will do.
pub(super) struct Desk {
    workers: Arc<Workers>,
    index: usize,
    local: crossbeam_deque::Worker<Runnable>,
    /// The number of turns begun.
    turns: Cell<usize>,
    /// When the clock showed 0.
    made: Instant,
    /// The last reading of the clock.
    clock: Cell<u64>,
    /// The reading when this poll began.
    poll_began: Cell<u64>,
    /// The last reading before this turn began.
    turn_began: Cell<u64>,
}

impl Desk {
    pub(super) fn new(
        workers: Arc<Workers>,
        index: usize,
        local: crossbeam_deque::Worker<Runnable>,
    ) -> Self {
        Self {
            workers,
            index,
            local,
            turns: Cell::new(0),
            made: Instant::now(),
            clock: Cell::new(0),
            poll_began: Cell::new(0),
            turn_began: Cell::new(0),
        }
    }

    /// Says whether these workers are those behind `seam`, and open.
    #[inline]
    pub(super) fn serves(&self, seam: &Arc<dyn Schedule>) -> bool {
        let is_ours = std::ptr::addr_eq(Arc::as_ptr(seam), Arc::as_ptr(&self.workers));
        is_ours && !self.workers.is_closed()
    }

    /// Pushes from inside a turn. This worker runs it, so nobody is woken; see the module `dispatch`.
    #[inline]
    pub(super) fn push(&self, runnable: Runnable) {
        self.local.push(runnable);
    }

    pub(super) fn slice_is_over(&self) -> bool {
        self.read_clock() - self.turn_began.get() >= nanos(TURN_TIME)
    }

    fn begin_poll(&self) {
        self.poll_began.set(self.read_clock());
    }

    /// Reads the clock, in nanoseconds since this worker was made: a number is compared faster than an instant.
    fn read_clock(&self) -> u64 {
        let now = nanos(self.made.elapsed());
        self.clock.set(now);
        now
    }

    /// The last reading of the clock.
    fn read_before(&self) -> Instant {
        self.made + Duration::from_nanos(self.clock.get())
    }

    /// Finds the runnable of the next turn, the `turn`th of this poll, or a reason to end the poll.
    fn next(&self, turn: usize) -> Result<Runnable, End> {
        if self.workers.is_closed() {
            return Err(End::Closed);
        }
        if turn > 0 && turn.is_multiple_of(CLOCK_EVERY) {
            self.read_clock();
        }
        if self.poll_is_over() {
            return Err(End::More);
        }
        let refilled = self.local.is_empty() && self.refill();
        if (refilled || turn > 0) && self.calls_for_help() {
            return Err(End::Helped);
        }
        let runnable = self.take(turn).ok_or(End::Nothing)?;
        self.begin_turn();
        Ok(runnable)
    }

    fn poll_is_over(&self) -> bool {
        self.clock.get() - self.poll_began.get() >= nanos(POLL_TIME)
            || !coop::has_budget_remaining()
    }

    /// Wakes a sleeper if there is more here than this worker can run next; then its poll must end.
    fn calls_for_help(&self) -> bool {
        self.local.len() > 1 && self.workers.idle.anyone_sleeps() && self.workers.wake_one()
    }

    fn take(&self, turn: usize) -> Option<Runnable> {
        if turn.is_multiple_of(INJECTOR_EVERY) {
            let injected = attempt(|| self.workers.injector.steal_batch_and_pop(&self.local));
            if injected.is_some() {
                return injected;
            }
        }
        self.local.pop()
    }

    /// Fills the empty local queue from the injector, or from another worker's.
    fn refill(&self) -> bool {
        attempt(|| self.workers.injector.steal_batch(&self.local)).is_some() || self.steal()
    }

    fn steal(&self) -> bool {
        let (others, own) = (&self.workers.shared, self.index);
        let from_the_next = others[own + 1..].iter().chain(&others[..own]);
        from_the_next
            .into_iter()
            .any(|other| attempt(|| other.local.steal_batch(&self.local)).is_some())
    }

    fn begin_turn(&self) {
        self.turn_began.set(self.clock.get());
        self.turns.set(self.turns.get().wrapping_add(1));
        // Ordering: Relaxed, partner of the watchdog's read; it compares two readings and nothing else.
        self.workers.shared[self.index]
            .turns
            .store(self.turns.get(), Ordering::Relaxed);
    }
}

/// A duration as a number; enough for 500 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Tries to steal, a bounded number of times.
fn attempt<T>(mut steal: impl FnMut() -> Steal<T>) -> Option<T> {
    (0..STEAL_TRIES)
        .map(|_| steal())
        .find(|stolen| !stolen.is_retry())?
        .success()
}
