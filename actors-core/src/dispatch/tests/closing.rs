//! Close, and the end of the runtime under the workers: every future is dropped once.

use std::sync::Mutex;

use super::super::current;
use super::*;

/// Schedules the next of a chain when it is dropped.
struct Link {
    workers: Arc<Workers>,
    next: Option<Runnable>,
    _tally: Tally,
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(next) = self.next.take() {
            self.workers.schedule(next);
        }
    }
}

#[test]
fn a_schedule_after_close_drops_its_runnable() {
    let (workers, _worker) = single();
    let drops = Counter::default();
    workers.close();
    start(&workers, forever(Tally(drops.clone())));
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_close_empties_the_injector_and_the_local_queues() {
    let (workers, mut worker) = single();
    let drops = Counter::default();
    let (inner, tally) = (Arc::clone(&workers), drops.clone());
    let before = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&before);
    start(&workers, async move {
        start(&inner, forever(Tally(tally.clone())));
        from_outside(|| start(&inner, forever(Tally(tally.clone()))));
        let queued = (inner.shared[0].local.len(), inner.injector.len());
        inner.close();
        *seen.lock().unwrap() = Some((queued, tally.get()));
    });
    assert!(poll(&mut worker).is_ready());
    assert_eq!(*before.lock().unwrap(), Some(((1, 1), 2)));
}

#[test]
fn a_close_ends_a_sleeping_worker() {
    let (workers, mut worker) = single();
    let wakes = Arc::new(Wakes::default());
    assert!(poll_with(&mut worker, &Arc::clone(&wakes).into()).is_pending());
    workers.close();
    assert_eq!(wakes.count(), 1);
    assert!(poll(&mut worker).is_ready());
}

#[test]
fn a_task_that_wakes_itself_while_the_workers_close_is_dropped() {
    let (workers, mut worker) = single();
    let (inner, drops) = (Arc::clone(&workers), Counter::default());
    let tally = Tally(drops.clone());
    start(
        &workers,
        turns(move || {
            let _held = &tally;
            inner.close();
            true
        }),
    );
    assert!(poll(&mut worker).is_ready());
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_parked_task_is_dropped_with_its_last_waker_after_the_close() {
    let (workers, mut worker) = single();
    let (drops, parked) = (Counter::default(), Arc::new(Mutex::new(None)));
    let (tally, waker) = (Tally(drops.clone()), Arc::clone(&parked));
    start(
        &workers,
        std::future::poll_fn(move |cx| {
            let _held = &tally;
            *waker.lock().unwrap() = Some(cx.waker().clone());
            Poll::Pending
        }),
    );
    assert!(poll(&mut worker).is_pending());
    workers.close();
    assert_eq!(drops.get(), 0);
    let waker = parked.lock().unwrap().take();
    drop(waker);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_chain_of_futures_that_schedule_each_other_as_they_drop_needs_no_deep_stack() {
    const LENGTH: usize = 100_000;
    let (workers, worker) = single();
    let drops = Counter::default();
    let mut next = None;
    for _ in 0..LENGTH {
        let link = Link {
            workers: Arc::clone(&workers),
            next,
            _tally: Tally(drops.clone()),
        };
        next = Some(runnable(&workers, forever(link)));
    }
    workers.schedule(next.unwrap());
    let small = thread::Builder::new().stack_size(128 * 1024);
    small.spawn(move || drop(worker)).unwrap().join().unwrap();
    assert_eq!(drops.get(), LENGTH);
}

#[test]
fn a_worker_dropped_before_the_close_closes_all_and_says_so_once() {
    let (drops, lost) = (Counter::default(), Counter::default());
    let told = lost.clone();
    let (workers, mut tasks) = Workers::new(NonZeroUsize::new(2).unwrap(), NoOverseer, move || {
        told.add();
    });
    start(&workers, forever(Tally(drops.clone())));
    drop(tasks.pop());
    assert_eq!((drops.get(), lost.get()), (1, 1));
    assert!(poll(&mut tasks[0]).is_ready());
    start(&workers, forever(Tally(drops.clone())));
    drop(tasks);
    assert_eq!((drops.get(), lost.get()), (2, 1));
}

#[test]
fn nobody_is_told_of_a_worker_dropped_after_the_close() {
    let lost = Counter::default();
    let (told, held) = (lost.clone(), Counter::default());
    let tally = Tally(held.clone());
    let (workers, tasks) = Workers::new(NonZeroUsize::MIN, NoOverseer, move || {
        let _held = &tally;
        told.add();
    });
    workers.close();
    assert_eq!(held.get(), 1, "a close lets go of what `lost` holds");
    drop(tasks);
    assert_eq!(lost.get(), 0);
}

#[test]
fn a_report_that_panics_stops_nothing() {
    let (workers, tasks) =
        Workers::new(NonZeroUsize::MIN, NoOverseer, || panic!("from the report"));
    let drops = Counter::default();
    start(&workers, forever(Tally(drops.clone())));
    drop(tasks);
    assert_eq!(drops.get(), 1);
}

#[test]
fn nothing_holds_the_workers_after_their_end() {
    let (workers, mut tasks) = watched(2);
    start(&workers, forever(()));
    for task in &mut tasks {
        assert!(poll(task).is_pending());
    }
    eventually(|| workers.watchdog.is_dozing());
    let gone = Arc::downgrade(&workers);
    workers.close();
    drop((workers, tasks));
    // The watchdog's thread was the last.
    eventually(|| gone.strong_count() == 0);
}

#[test]
fn a_push_that_was_overtaken_by_the_close_is_dropped() {
    let (workers, _worker) = single();
    let drops = Counter::default();
    let late = runnable(&workers, forever(Tally(drops.clone())));
    workers.close();
    // As if the close had come between the first look at the flag and the push.
    workers.inject(late);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_schedule_in_a_turn_after_the_close_drops_its_runnable_at_once() {
    let (workers, mut worker) = single();
    let (inner, drops, at_once) = (Arc::clone(&workers), Counter::default(), Counter::default());
    let (tally, seen) = (drops.clone(), at_once.clone());
    start(&workers, async move {
        inner.close();
        start(&inner, forever(Tally(tally.clone())));
        seen.0.store(tally.get(), Ordering::SeqCst);
    });
    assert!(poll(&mut worker).is_ready());
    assert_eq!((at_once.get(), drops.get()), (1, 1));
}

#[test]
fn a_burial_inside_a_burial_is_the_outer_ones() {
    let (workers, _worker) = single();
    let drops = Counter::default();
    let inner = runnable(&workers, forever(Tally(drops.clone())));
    let link = Link {
        workers: Arc::clone(&workers),
        next: Some(inner),
        _tally: Tally(drops.clone()),
    };
    let outer = runnable(&workers, forever(link));
    workers.close();
    current::bury([outer].into());
    assert_eq!(drops.get(), 2);
}
