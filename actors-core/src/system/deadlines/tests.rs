use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::join_all;
use futures::task::noop_waker_ref;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{JoinHandle, yield_now};

use super::*;

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A queue whose keeper runs on the current runtime.
fn kept() -> (Arc<Deadlines>, JoinHandle<()>) {
    let (deadlines, keeper) = Deadlines::new(Clock::new(Handle::current()));
    (deadlines, Handle::current().spawn(keeper))
}

/// A queue whose keeper the test polls itself.
fn unkept() -> (Arc<Deadlines>, Timekeeper) {
    Deadlines::new(Clock::new(Handle::current()))
}

fn many_threads() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap()
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(noop_waker_ref()))
}

fn armed(keeper: &Timekeeper) -> Option<Instant> {
    let armed = keeper.deadlines.queue.lock().armed;
    assert_eq!(keeper.timer.as_ref().map(|timer| timer.deadline()), armed);
    armed
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wakes {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn sleeps_fire_exactly_and_in_order_whatever_the_order_of_registration() {
    let (deadlines, _keeper) = kept();
    let begin = Instant::now();
    let fired = Mutex::new(Vec::new());
    join_all([70, 5, 30, 1, 30_000, 6].map(|at| {
        let sleep = deadlines.sleep(ms(at));
        sleep.map(|()| fired.lock().push(begin.elapsed()))
    }))
    .await;
    assert_eq!(*fired.lock(), [1, 5, 6, 30, 70, 30_000].map(ms));
}

#[tokio::test(start_paused = true)]
async fn sleeps_of_one_instant_fire_in_the_order_of_their_first_polls() {
    let (deadlines, _keeper) = kept();
    let order = Arc::new(Mutex::new(Vec::new()));
    let at = Instant::now() + ms(10);
    let tasks = (0..500).map(|number| {
        let (sleep, order) = (deadlines.sleep_until(at), Arc::clone(&order));
        Handle::current().spawn(sleep.map(move |()| order.lock().push(number)))
    });
    join_all(tasks.collect::<Vec<_>>()).await;
    assert_eq!(*order.lock(), (0..500).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_sleep_is_never_early_even_by_a_nanosecond() {
    let (deadlines, _keeper) = kept();
    let at = Instant::now() + ms(10) + Duration::from_nanos(1);
    let mut sleep = deadlines.sleep_until(at);
    assert!(poll(&mut sleep).is_pending());
    tokio::time::advance(ms(10)).await;
    assert!(poll(&mut sleep).is_pending());
    sleep.await;
    let late = Instant::now() - at;
    assert!(late < ms(1), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn a_past_instant_is_ready_at_the_first_poll_without_an_entry() {
    let (deadlines, _keeper) = unkept();
    assert!(poll(&mut deadlines.sleep_until(Instant::now())).is_ready());
    assert!(poll(&mut deadlines.sleep(Duration::ZERO)).is_ready());
    assert_eq!(deadlines.pending(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_that_sees_its_time_before_the_keeper_does_leaves_no_entry() {
    let (deadlines, mut keeper) = unkept();
    let mut sleep = deadlines.sleep(ms(10));
    assert!(poll(&mut sleep).is_pending());
    assert!(poll(&mut keeper).is_pending());
    tokio::time::advance(ms(10)).await;
    assert!(poll(&mut sleep).is_ready());
    assert_eq!(deadlines.pending(), 0);
    assert!(poll(&mut keeper).is_pending());
    assert_eq!(armed(&keeper), None);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_that_cannot_be_told_never_fires_and_a_far_one_does() {
    let (deadlines, _keeper) = kept();
    let mut never = deadlines.sleep(Duration::MAX);
    assert_eq!((never.deadline(), poll(&mut never)), (None, Poll::Pending));
    let century = Duration::from_secs(100 * 365 * 86_400);
    let begin = Instant::now();
    deadlines.sleep(century).await;
    assert_eq!(begin.elapsed(), century);
    assert!(poll(&mut never).is_pending());
}

#[tokio::test(start_paused = true)]
async fn the_last_instant_of_the_clock_does_not_overflow() {
    let (deadlines, mut keeper) = unkept();
    let mut step = Duration::MAX;
    let mut last = Instant::now();
    while !step.is_zero() {
        match last.checked_add(step) {
            Some(later) => last = later,
            None => step /= 2,
        }
    }
    let mut sleep = deadlines.sleep_until(last);
    assert!(poll(&mut sleep).is_pending());
    assert!(poll(&mut keeper).is_pending());
    assert!(armed(&keeper).is_some());
}

#[tokio::test(start_paused = true)]
async fn none_when_none_is_pending() {
    let (deadlines, mut keeper) = unkept();
    assert!(poll(&mut keeper).is_pending());
    assert_eq!(armed(&keeper), None);
    let (mut one, mut two) = (deadlines.sleep(ms(10)), deadlines.sleep(ms(20)));
    assert!(poll(&mut one).is_pending() && poll(&mut two).is_pending());
    assert!(poll(&mut keeper).is_pending());
    assert_eq!((armed(&keeper), deadlines.pending()), (one.deadline(), 2));
    drop(one);
    drop(two);
    assert_eq!(deadlines.pending(), 0);
    assert!(poll(&mut keeper).is_pending());
    assert_eq!(armed(&keeper), None);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_sleep_wakes_the_keeper_so_that_time_does_not_jump() {
    let (deadlines, mut keeper) = unkept();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let look = |keeper: &mut Timekeeper| {
        assert!(
            keeper
                .poll_unpin(&mut Context::from_waker(&waker))
                .is_pending()
        );
    };
    look(&mut keeper);
    let mut sleep = deadlines.sleep(ms(10));
    assert!(poll(&mut sleep).is_pending());
    assert_eq!(wakes.count(), 1);
    look(&mut keeper);
    drop(sleep);
    assert_eq!(wakes.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_an_earlier_sleep_wakes_the_keeper_and_only_once() {
    let (deadlines, mut keeper) = unkept();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    assert!(
        keeper
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let cases = [(50, 1), (40, 1), (60, 1)];
    let mut sleeps = cases.map(|(at, _)| deadlines.sleep(ms(at)));
    for (sleep, (at, expected)) in sleeps.iter_mut().zip(cases) {
        assert!(poll(sleep).is_pending());
        assert_eq!(wakes.count(), expected, "not yet looked, {at} ms");
    }
    assert!(
        keeper
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let mut pending = Vec::new();
    for (at, expected) in [(40, 1), (41, 1), (39, 2), (10, 2)] {
        let mut sleep = deadlines.sleep(ms(at));
        assert!(poll(&mut sleep).is_pending());
        assert_eq!(wakes.count(), expected, "{at} ms");
        pending.push(sleep);
    }
}

#[tokio::test(start_paused = true)]
async fn an_earlier_sleep_registered_later_is_in_time() {
    let (deadlines, _keeper) = kept();
    let begin = Instant::now();
    let mut late = deadlines.sleep(ms(100));
    assert!(poll(&mut late).is_pending());
    yield_now().await;
    deadlines.sleep(ms(10)).await;
    assert_eq!(begin.elapsed(), ms(10));
    late.await;
    assert_eq!(begin.elapsed(), ms(100));
}

#[tokio::test(start_paused = true)]
async fn a_sleep_wakes_the_task_that_polled_it_last() {
    let (deadlines, _keeper) = kept();
    let first = Arc::new(Wakes::default());
    let mut sleep = deadlines.sleep(ms(10));
    let waker = Waker::from(Arc::clone(&first));
    assert!(
        sleep
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    assert_eq!(Arc::strong_count(&first), 3);
    assert!(
        sleep
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let moved = Handle::current().spawn(sleep);
    moved.await.unwrap();
    assert_eq!((first.count(), deadlines.pending()), (0, 0));
    drop(waker);
    assert_eq!(Arc::strong_count(&first), 1);
}

#[test]
fn a_plain_thread_can_sleep_on_a_running_runtime() {
    let runtime = many_threads();
    let (deadlines, keeper) = Deadlines::new(Clock::new(runtime.handle().clone()));
    runtime.spawn(keeper);
    let begin = Instant::now();
    block_on(deadlines.sleep(ms(5)));
    let passed = begin.elapsed();
    assert!(passed >= ms(5), "{passed:?}");
}

#[test]
fn the_timer_of_a_lone_sleep_serves_the_next_one_where_time_is_real() {
    let runtime = many_threads();
    let (deadlines, mut keeper) = Deadlines::new(Clock::new(runtime.handle().clone()));
    let _entered = runtime.enter();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    for _ in 0..3 {
        let mut sleep = deadlines.sleep(Duration::from_secs(3600));
        assert!(poll(&mut sleep).is_pending());
        assert!(
            keeper
                .poll_unpin(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    assert_eq!(wakes.count(), 0);
    assert_eq!(deadlines.pending(), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_fires_after_a_close_which_wakes_once_and_no_waker_is_held() {
    let (deadlines, keeper) = kept();
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut sleep = deadlines.sleep(ms(10));
    assert!(
        sleep
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    assert!(!sleep.is_lost());
    deadlines.close();
    assert_eq!((wakes.count(), sleep.is_lost()), (1, true));
    keeper.await.unwrap();
    tokio::time::advance(ms(20)).await;
    assert!(
        sleep
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let mut later = deadlines.sleep(ms(10));
    assert!(
        later
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    assert_eq!((wakes.count(), deadlines.pending()), (1, 0));
    drop(waker);
    assert_eq!(Arc::strong_count(&wakes), 1);
}

#[test]
fn a_dropped_runtime_closes_the_queue() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let (deadlines, keeper) = Deadlines::new(Clock::new(runtime.handle().clone()));
    runtime.spawn(keeper);
    let wakes = Arc::new(Wakes::default());
    let mut sleep = deadlines.sleep(ms(10_000));
    let waker = Waker::from(Arc::clone(&wakes));
    assert!(
        sleep
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(waker);
    drop(runtime);
    assert_eq!((deadlines.pending(), Arc::strong_count(&wakes)), (0, 1));
}

/// Its destruction uses the queue, as that of a task whose last waker is dropped may.
struct UsesTheQueue(Arc<Deadlines>);

impl Wake for UsesTheQueue {
    fn wake(self: Arc<Self>) {}
}

impl Drop for UsesTheQueue {
    fn drop(&mut self) {
        self.0.pending();
    }
}

#[tokio::test(start_paused = true)]
async fn wakers_are_dropped_outside_the_lock() {
    let (deadlines, mut keeper) = unkept();
    let waker = || Waker::from(Arc::new(UsesTheQueue(Arc::clone(&deadlines))));
    let mut sleeps = [10, 20, 30].map(|at| deadlines.sleep(ms(at)));
    for _each_waker_replaces_the_last in 0..2 {
        for sleep in &mut sleeps {
            assert!(
                sleep
                    .poll_unpin(&mut Context::from_waker(&waker()))
                    .is_pending()
            );
        }
    }
    let [fires, dropped, _closed] = sleeps;
    tokio::time::advance(ms(15)).await;
    assert!(poll(&mut keeper).is_pending());
    drop((fires, dropped));
    assert_eq!(deadlines.pending(), 1);
    deadlines.close();
    assert_eq!(deadlines.pending(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_sleeps_all_fire_at_their_instants() {
    const COUNT: u64 = 100_000;
    let (deadlines, _keeper) = kept();
    let begin = Instant::now();
    let mut sleeps: Vec<Sleep> = (0..COUNT)
        .map(|number| deadlines.sleep(ms(1 + number % 1000)))
        .collect();
    poll_fn(|cx| {
        assert!(
            sleeps
                .iter_mut()
                .all(|sleep| sleep.poll_unpin(cx).is_pending())
        );
        Poll::Ready(())
    })
    .await;
    assert_eq!(deadlines.pending(), 100_000);
    let dropped = sleeps.split_off(50_000);
    drop(dropped);
    assert_eq!(deadlines.pending(), 50_000);
    for sleep in sleeps {
        let at = sleep.deadline().unwrap();
        sleep.await;
        assert!(Instant::now() >= at);
    }
    assert_eq!((begin.elapsed(), deadlines.pending()), (ms(1000), 0));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_due_at_once_leaves_other_tasks_their_turn() {
    let (deadlines, mut keeper) = unkept();
    let per_poll = BATCH * BATCHES;
    let mut sleeps: Vec<Sleep> = (0..2 * per_poll).map(|_| deadlines.sleep(ms(10))).collect();
    assert!(sleeps.iter_mut().all(|sleep| poll(sleep).is_pending()));
    tokio::time::advance(ms(10)).await;
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    for (left, woken) in [(per_poll, 1), (0, 1), (0, 1)] {
        assert!(
            keeper
                .poll_unpin(&mut Context::from_waker(&waker))
                .is_pending()
        );
        assert_eq!((deadlines.pending(), wakes.count()), (left, woken));
    }
}
