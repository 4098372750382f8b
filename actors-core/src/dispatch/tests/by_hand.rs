//! Workers polled by hand: turns, queues, who wakes whom.

use std::sync::Mutex;

use super::super::watchdog::{LongTurn, oversee};
use super::super::{current, slice_is_over};
use super::*;

#[test]
fn a_poll_of_endless_turns_ends_by_the_clock_and_wakes_itself() {
    let (workers, mut worker) = single();
    let count = Counter::default();
    let counted = count.clone();
    start(&workers, turns(move || counted.add() > 0));
    let wakes = Arc::new(Wakes::default());
    for polls in 1..=20 {
        let (before, began) = (count.get(), Instant::now());
        assert!(poll_with(&mut worker, &Arc::clone(&wakes).into()).is_pending());
        assert!(began.elapsed() >= Duration::from_micros(200));
        assert!(wakes.count() >= polls);
        assert!(count.get() > before);
    }
}

#[test]
fn a_poll_of_long_turns_ends_by_the_clock() {
    let (workers, mut worker) = single();
    let count = Counter::default();
    let counted = count.clone();
    start(
        &workers,
        turns(move || !hold_thread(Duration::from_micros(250), || false) && counted.add() > 0),
    );
    assert!(poll(&mut worker).is_pending());
    assert!(
        count.get() <= 8,
        "{} turns of 250 µs in one poll",
        count.get()
    );
}

#[test]
fn a_turn_that_asks_for_the_time_ends_the_poll_by_itself() {
    let (workers, mut worker) = single();
    let count = Counter::default();
    let counted = count.clone();
    start(
        &workers,
        turns(move || {
            hold_thread(Duration::from_micros(250), slice_is_over_is_asked);
            counted.add() > 0
        }),
    );
    fn slice_is_over_is_asked() -> bool {
        let _ = slice_is_over();
        false
    }
    assert!(poll(&mut worker).is_pending());
    assert_eq!(count.get(), 1);
}

#[test]
fn a_slice_is_over_after_100_microseconds_of_each_turn() {
    let (workers, mut worker) = single();
    let shortest = Arc::new(Mutex::new(Duration::MAX));
    let seen = Arc::clone(&shortest);
    let count = Counter::default();
    let counted = count.clone();
    start(
        &workers,
        turns(move || {
            let begin = Instant::now();
            assert!(hold_thread(Duration::from_secs(10), slice_is_over));
            let mut shortest = seen.lock().unwrap();
            *shortest = shortest.min(begin.elapsed());
            counted.add() < 5
        }),
    );
    while count.get() < 5 {
        assert!(poll(&mut worker).is_pending());
    }
    assert!(*shortest.lock().unwrap() > Duration::from_micros(50));
}

#[test]
fn no_slice_ends_outside_of_a_worker() {
    assert!(!hold_thread(Duration::from_millis(1), slice_is_over));
}

#[test]
fn a_local_queue_is_first_in_first_out() {
    let (workers, mut worker) = single();
    let order = Arc::new(Mutex::new(Vec::new()));
    let (inner, log) = (Arc::clone(&workers), Arc::clone(&order));
    start(&workers, async move {
        for i in 0..5 {
            let log = Arc::clone(&log);
            start(&inner, async move { log.lock().unwrap().push(i) });
        }
    });
    assert!(poll(&mut worker).is_pending());
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
}

/// Runs four endless tasks on one worker, lets an outsider push at turn `pushed_at`, and returns how many turns it waited.
fn turns_waited_by_an_outsider(pushed_at: usize) -> usize {
    let (workers, mut worker) = single();
    let (count, served_at) = (Counter::default(), Counter::default());
    for _ in 0..4 {
        let (inner, counted, served) = (Arc::clone(&workers), count.clone(), served_at.clone());
        let endless = turns(move || {
            if counted.add() == pushed_at {
                let (counted, served) = (counted.clone(), served.clone());
                let outsider = runnable(&inner, async move {
                    served.0.store(counted.get(), Ordering::SeqCst);
                });
                from_outside(|| schedule(outsider));
            }
            true
        });
        start(&workers, endless);
    }
    while count.get() < pushed_at + 100 {
        assert!(poll(&mut worker).is_pending());
    }
    served_at.get() - pushed_at
}

#[test]
fn an_outsider_is_served_within_64_turns_of_an_endless_ping_pong() {
    // The first turns bring the four tasks into the local queue.
    for pushed_at in 100..300 {
        let waited = turns_waited_by_an_outsider(pushed_at);
        // The rule of 31 keeps well below the 64 that are promised.
        assert!(
            waited <= 31,
            "pushed at turn {pushed_at}, served {waited} turns later"
        );
    }
}

#[test]
fn the_first_turn_of_a_poll_is_an_outsiders() {
    let (workers, mut worker) = single();
    let (count, outsider) = (Counter::default(), Counter::default());
    let counted = count.clone();
    start(&workers, turns(move || counted.add() > 0));
    assert!(poll(&mut worker).is_pending());
    let (before, at, counted) = (count.get(), outsider.clone(), count.clone());
    start(&workers, async move {
        at.0.store(counted.get(), Ordering::SeqCst);
    });
    assert!(poll(&mut worker).is_pending());
    assert_eq!(outsider.get(), before);
}

/// Runs `turn` in a turn of the first of two workers, while the second sleeps. Returns how often the second was woken by
/// the time the turn was over, and by the time the poll was.
fn beside_a_sleeper(turn: impl FnOnce(&Arc<Workers>) + Send + 'static) -> (usize, usize) {
    let (workers, mut tasks) = unwatched(2);
    let second = Arc::new(Mutex::new(tasks.pop().unwrap()));
    let mut first = tasks.pop().unwrap();
    let wakes = Arc::new(Wakes::default());
    let (in_turn, count) = (Counter::default(), Counter::default());
    let (inner, other, waker) = (
        Arc::clone(&workers),
        Arc::clone(&second),
        Arc::clone(&wakes),
    );
    let (woken, ran) = (in_turn.clone(), count.clone());
    start(&workers, async move {
        // Polled inside the turn, the second worker finds nothing and sleeps.
        assert!(poll_with(&mut other.lock().unwrap(), &Arc::clone(&waker).into()).is_pending());
        turn(&inner);
        woken.0.store(waker.count(), Ordering::SeqCst);
        ran.add();
    });
    assert!(poll(&mut first).is_pending());
    assert_eq!(count.get(), 1);
    (in_turn.get(), wakes.count())
}

#[test]
fn a_lone_local_push_wakes_nobody() {
    let count = Counter::default();
    let counted = count.clone();
    let woken = beside_a_sleeper(move |workers| {
        start(workers, async move {
            counted.add();
        });
    });
    assert_eq!((woken, count.get()), ((0, 0), 1));
}

#[test]
fn more_than_one_wakes_a_sleeper_when_the_turn_is_over_and_ends_the_poll() {
    let count = Counter::default();
    let counted = count.clone();
    let woken = beside_a_sleeper(move |workers| {
        for _ in 0..2 {
            let counted = counted.clone();
            start(workers, async move {
                counted.add();
            });
        }
    });
    assert_eq!((woken, count.get()), ((0, 1), 0));
}

#[test]
fn a_push_from_outside_wakes_a_sleeper_at_once() {
    let woken = beside_a_sleeper(|workers| from_outside(|| start(workers, async {})));
    assert_eq!(woken, (1, 1));
}

#[test]
fn a_woken_worker_that_finds_more_than_one_wakes_the_next_and_ends_its_poll() {
    let (workers, mut tasks) = unwatched(2);
    let wakes = Arc::new(Wakes::default());
    assert!(poll_with(&mut tasks[1], &Arc::clone(&wakes).into()).is_pending());
    let count = Counter::default();
    for _ in 0..3 {
        let counted = count.clone();
        // Behind the back of `schedule`, which would wake the sleeper itself.
        workers.injector.push(runnable(&workers, async move {
            counted.add();
        }));
    }
    let own = Arc::new(Wakes::default());
    assert!(poll_with(&mut tasks[0], &Arc::clone(&own).into()).is_pending());
    assert_eq!((wakes.count(), own.count(), count.get()), (1, 1, 0));
    assert!(poll(&mut tasks[1]).is_pending());
    assert!(poll(&mut tasks[0]).is_pending());
    assert_eq!(count.get(), 3);
}

#[test]
fn a_worker_with_nothing_to_do_steals_even_a_lone_runnable() {
    let (workers, mut tasks) = unwatched(2);
    let thief = Arc::new(Mutex::new(tasks.pop().unwrap()));
    let (inner, count, stolen) = (Arc::clone(&workers), Counter::default(), Counter::default());
    let (counted, before, other) = (count.clone(), stolen.clone(), Arc::clone(&thief));
    start(&workers, async move {
        let ran = counted.clone();
        start(&inner, async move {
            ran.add();
        });
        assert!(poll(&mut other.lock().unwrap()).is_pending());
        before.0.store(counted.get(), Ordering::SeqCst);
    });
    assert!(poll(&mut tasks[0]).is_pending());
    assert_eq!((stolen.get(), count.get()), (1, 1));
}

#[test]
fn a_worker_that_is_woken_for_nothing_takes_its_entry_back() {
    let (workers, mut worker) = single();
    for _ in 0..3 {
        assert!(poll(&mut worker).is_pending());
        assert!(workers.idle.anyone_sleeps());
    }
}

#[test]
fn workers_polled_inside_a_turn_of_others_keep_the_queues_apart() {
    let ((outer, mut outer_worker), (inner, mut inner_worker)) = (single(), single());
    let order = Arc::new(Mutex::new(Vec::new()));
    let task = |workers: &Arc<Workers>, name: &'static str| {
        let log = Arc::clone(&order);
        runnable(workers, async move { log.lock().unwrap().push(name) })
    };
    let (in_turn, to_outer, to_inner) = (
        task(&inner, "inner"),
        task(&outer, "outer"),
        task(&inner, "foreign"),
    );
    let (outside, nested) = (Arc::clone(&outer), Arc::clone(&inner));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sizes = Arc::clone(&seen);
    start(&outer, async move {
        schedule(in_turn);
        assert!(poll(&mut inner_worker).is_pending());
        // The poll is over, so this thread is in a turn of the outer workers again.
        schedule(to_outer);
        schedule(to_inner);
        sizes.lock().unwrap().extend([
            outside.shared[0].local.len(),
            outside.injector.len(),
            nested.shared[0].local.len(),
            nested.injector.len(),
        ]);
    });
    assert!(poll(&mut outer_worker).is_pending());
    assert_eq!(*order.lock().unwrap(), ["inner", "outer"]);
    assert_eq!(*seen.lock().unwrap(), [1, 0, 0, 1]);
}

#[test]
fn a_poll_leaves_the_thread_as_it_was() {
    let (workers, mut worker) = single();
    start(&workers, async {});
    assert!(poll(&mut worker).is_pending());
    assert!(current::at_desk(|_| ()).is_none());
}

#[test]
fn a_task_that_panics_leaves_its_worker_alive() {
    let (workers, mut worker) = single();
    let count = Counter::default();
    let counted = count.clone();
    start(&workers, async { std::panic::panic_any(Evil) });
    start(&workers, async move {
        counted.add();
    });
    assert!(poll(&mut worker).is_pending());
    assert_eq!(count.get(), 1);
}

/// A panic payload whose destructor panics.
struct Evil;

impl Drop for Evil {
    fn drop(&mut self) {
        std::panic::panic_any("and again");
    }
}

/// Counts how often it is told to search, and to check.
#[derive(Default)]
struct Told {
    searches: usize,
    checks: usize,
}

impl Overseer for Told {
    fn patience(&self) -> Duration {
        Duration::ZERO
    }

    fn stand_in(&mut self) {}

    fn search(&mut self) {
        self.searches += 1;
    }

    fn check(&mut self) {
        self.checks += 1;
    }
}

#[test]
fn an_overseer_searches_once_for_each_long_turn_and_for_no_worker_that_sleeps() {
    let (workers, mut worker) = single();
    let (mut told, mut turns) = (Told::default(), [LongTurn::default()]);
    let seen = Arc::clone(&workers);
    for searches in 1..=2 {
        let looks = Arc::new(Mutex::new((std::mem::take(&mut told), turns)));
        let (inner, seen) = (Arc::clone(&looks), Arc::clone(&seen));
        start(&workers, async move {
            let mut looks = inner.lock().unwrap();
            let (told, turns) = &mut *looks;
            (0..4).for_each(|_| oversee(&seen, turns, told));
        });
        assert!(poll(&mut worker).is_pending());
        (told, turns) = std::mem::take(&mut *looks.lock().unwrap());
        assert_eq!(told.searches, searches, "it is no longer the same turn");
        // Now it sleeps, after another turn that was short.
        start(&workers, async {});
        assert!(poll(&mut worker).is_pending());
        (0..4).for_each(|_| oversee(&workers, &mut turns, &mut told));
        assert_eq!((told.searches, told.checks), (searches, searches * 8));
    }
}
