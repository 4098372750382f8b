//! Workers on real runtimes. Where a test reads the real clock, the real clock is the point.

use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc as channel;

use super::super::watchdog;
use super::*;

fn threads(count: usize) -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(count)
        .enable_time()
        .build()
        .unwrap()
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}

/// Puts workers on a runtime.
fn employ(runtime: &Runtime, (workers, tasks): (Arc<Workers>, Vec<Worker>)) -> Arc<Workers> {
    for task in tasks {
        runtime.spawn(task);
    }
    workers
}

#[expect(
    clippy::disallowed_methods,
    reason = "Tokio's timer beside the workers is what is tested"
)]
async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Keeps the workers saturated with tasks that wake themselves. Returns a counter of their turns.
fn saturate(workers: &Arc<Workers>, tasks: usize) -> Counter {
    let count = Counter::default();
    for _ in 0..tasks {
        let counted = count.clone();
        start(workers, turns(move || counted.add() > 0));
    }
    count
}

/// The median of how many turns the workers take during a `sleep(1ms)`; each turn holds its thread for 10 µs.
///
/// Counted in turns, because a machine that is busy with other things stretches the time of both.
fn turns_during_a_sleep(runtime: &Runtime, workers: &Arc<Workers>) -> usize {
    let turns = Counter::default();
    for _ in 0..16 {
        let counted = turns.clone();
        start(
            workers,
            self::turns(move || {
                counted.add();
                !hold_thread(Duration::from_micros(10), || false)
            }),
        );
    }
    let asleep = runtime.spawn(async move {
        let mut taken = Vec::new();
        for _ in 0..51 {
            let before = turns.get();
            sleep(Duration::from_millis(1)).await;
            taken.push(turns.get() - before);
        }
        taken.sort_unstable();
        taken[25]
    });
    let median = runtime.block_on(asleep).unwrap();
    workers.close();
    median
}

#[test]
fn a_sleep_beside_saturated_workers_is_prompt() {
    for (runtime, count) in [(threads(2), 2), (one_thread(), 1)] {
        let workers = employ(&runtime, watched(count));
        let taken = turns_during_a_sleep(&runtime, &workers);
        let in_5_ms = count * 500;
        assert!(
            taken < in_5_ms,
            "{taken} turns of 10 µs by {count} workers during 1 ms"
        );
    }
}

#[test]
fn beside_busy_tokio_tasks_both_sides_get_their_share() {
    for (runtime, count) in [(threads(2), 2), (one_thread(), 1)] {
        let workers = employ(&runtime, watched(count));
        let polls = Counter::default();
        for _ in 0..40 {
            let counted = polls.clone();
            runtime.spawn(turns(move || counted.add() > 0));
        }
        let turns = saturate(&workers, 16);
        runtime.block_on(sleep(Duration::from_millis(200)));
        workers.close();
        let (polls, turns) = (polls.get(), turns.get());
        let least = (polls + turns) / 20;
        assert!(
            polls > least && turns > least,
            "{polls} polls of Tokio's tasks, {turns} turns"
        );
    }
}

#[test]
fn no_turn_starts_without_coop_budget() {
    let runtime = one_thread();
    let workers = employ(&runtime, unwatched(1));
    let (refused, done) = (Counter::default(), Counter::default());
    for _ in 0..1000 {
        let (sender, mut receiver) = channel::unbounded_channel();
        // Each takes 4 of the 128 units that Tokio gives to a poll, so that they run out at the end of a turn.
        for i in 0..4 {
            sender.send(i).unwrap();
        }
        let (refused, done) = (refused.clone(), done.clone());
        start(
            &workers,
            std::future::poll_fn(move |cx| {
                for _ in 0..4 {
                    if receiver.poll_recv(cx).is_pending() {
                        refused.add();
                        return Poll::Pending;
                    }
                }
                let _open = &sender;
                done.add();
                Poll::Ready(())
            }),
        );
    }
    runtime.block_on(async {
        while done.get() < 1000 {
            tokio::task::yield_now().await;
        }
    });
    workers.close();
    assert_eq!(
        refused.get(),
        0,
        "a message was there, and `Pending` the answer"
    );
}

/// Starts `hogs` tasks on one worker more; each starts `behind` others and holds its thread until they have run. Says
/// whether all did.
fn run_behind_hogs(hogs: usize, behind: usize) -> bool {
    let runtime = threads(hogs + 1);
    let workers = employ(&runtime, watched(hogs + 1));
    eventually(|| workers.idle.everyone_sleeps());
    let (answer, heard) = mpsc::channel();
    for _ in 0..hogs {
        let (inner, answer) = (Arc::clone(&workers), answer.clone());
        start(&workers, async move {
            let ran = Counter::default();
            for _ in 0..behind {
                let ran = ran.clone();
                start(&inner, async move {
                    ran.add();
                });
            }
            answer
                .send(hold_thread(Duration::from_millis(300), || {
                    ran.get() == behind
                }))
                .unwrap();
        });
    }
    let all = (0..hogs).all(|_| heard.recv_timeout(Duration::from_secs(20)).unwrap());
    workers.close();
    all
}

#[test]
fn a_hog_does_not_keep_what_it_woke() {
    for behind in [1, 2, 5] {
        assert!(
            run_behind_hogs(1, behind),
            "{behind} tasks waited for the turn that started them"
        );
    }
}

#[test]
fn all_workers_but_one_may_be_held() {
    for behind in [1, 5] {
        assert!(
            run_behind_hogs(2, behind),
            "{behind} tasks waited for the turn that started them"
        );
    }
}

#[test]
fn the_watchdog_dozes_while_all_workers_sleep_and_rises_with_them() {
    let runtime = threads(2);
    let workers = employ(&runtime, watched(2));
    let dozing = || workers.watchdog.is_dozing();
    eventually(dozing);
    let busy = saturate(&workers, 1);
    eventually(|| busy.get() > 0 && !dozing());
    workers.close();
}

#[test]
fn no_wake_up_is_lost() {
    for count in [1, 2] {
        let runtime = threads(2);
        let workers = employ(&runtime, unwatched(count));
        let (answer, heard) = mpsc::channel();
        for round in 0..20_000 {
            let answer = answer.clone();
            start(&workers, async move { answer.send(round).unwrap() });
            assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(round));
        }
        workers.close();
    }
}

#[test]
fn pushes_from_many_threads_all_run() {
    let runtime = threads(2);
    let workers = employ(&runtime, unwatched(2));
    let ran = Counter::default();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5_000 {
                    let ran = ran.clone();
                    start(&workers, async move {
                        ran.add();
                    });
                }
            });
        }
    });
    eventually(|| ran.get() == 20_000);
    workers.close();
}

#[test]
fn idle_workers_let_paused_time_pass_and_busy_ones_do_not() {
    let runtime = paused();
    let workers = employ(&runtime, unwatched(1));
    runtime.block_on(async {
        let begin = tokio::time::Instant::now();
        sleep(Duration::from_secs(3600)).await;
        assert_eq!(begin.elapsed(), Duration::from_secs(3600));
        // One that counts to 10,000 is done before a virtual millisecond has passed.
        let (begin, count) = (tokio::time::Instant::now(), Counter::default());
        let (done, counted) = (tokio::sync::oneshot::channel(), count.clone());
        let mut tell = Some(done.0);
        start(
            &workers,
            turns(move || {
                let more = counted.add() < 10_000;
                if !more && let Some(tell) = tell.take() {
                    tell.send(tokio::time::Instant::now()).unwrap();
                }
                more
            }),
        );
        let idle = sleep(Duration::from_millis(1));
        assert_eq!(done.1.await.unwrap(), begin);
        idle.await;
    });
    workers.close();
}

#[test]
fn dropping_the_runtime_drops_every_future_once() {
    for (runtime, count) in [(threads(2), 2), (one_thread(), 1)] {
        let (drops, lost) = (Counter::default(), Counter::default());
        let told = lost.clone();
        let workers = employ(
            &runtime,
            Workers::new(NonZeroUsize::new(count).unwrap(), NoOverseer, move || {
                told.add();
            }),
        );
        let ran = Counter::default();
        for _ in 0..100 {
            let (tally, ran) = (Tally(drops.clone()), ran.clone());
            start(
                &workers,
                turns(move || {
                    let _held = &tally;
                    ran.add() > 0
                }),
            );
        }
        runtime.block_on(async {
            while ran.get() < 1000 {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        assert_eq!((drops.get(), lost.get()), (100, 1));
        start(&workers, forever(Tally(drops.clone())));
        assert_eq!((drops.get(), lost.get()), (101, 1));
    }
}

#[test]
fn workers_end_when_they_are_closed() {
    let runtime = threads(2);
    let (workers, tasks) = watched(2);
    let ends: Vec<_> = tasks.into_iter().map(|task| runtime.spawn(task)).collect();
    saturate(&workers, 4);
    workers.close();
    for end in ends {
        let end = async { tokio::time::timeout(Duration::from_secs(20), end).await };
        runtime.block_on(end).unwrap().unwrap();
    }
}

#[test]
fn the_watchdog_wakes_a_worker_that_yields_on_a_thread_that_is_held() {
    let runtime = one_thread();
    let (workers, mut tasks) = unwatched(2);
    saturate(&workers, 2);
    let wakes = Arc::new(Wakes::default());
    // Here Tokio keeps the waker of a task that yields until this future is pending, as a held thread does.
    runtime.block_on(async {
        let mut polls = 0;
        while wakes.count() == polls {
            polls += 1;
            assert!(poll_with(&mut tasks[0], &Arc::clone(&wakes).into()).is_pending());
            assert!(polls < 1_000_000, "it never yields to the drivers");
        }
        let mut seen = [0, 0];
        watchdog::look(&workers, &mut seen);
        assert_eq!(
            wakes.count(),
            polls - 1,
            "it has taken turns since the last look"
        );
        watchdog::look(&workers, &mut seen);
        assert_eq!(wakes.count(), polls);
    });
}

#[test]
fn a_worker_yields_to_the_drivers_once_a_millisecond() {
    let runtime = one_thread();
    let (workers, mut worker) = single();
    saturate(&workers, 1);
    let wakes = Arc::new(Wakes::default());
    runtime.block_on(async {
        let begin = Instant::now();
        let mut yields = 0;
        let five_yields = || {
            let before = wakes.count();
            assert!(poll_with(&mut worker, &Arc::clone(&wakes).into()).is_pending());
            // Tokio keeps the waker of a task that yields; any other poll ends by waking itself.
            yields += usize::from(wakes.count() == before);
            yields == 5
        };
        assert!(hold_thread(Duration::from_secs(10), five_yields));
        assert!(begin.elapsed() >= Duration::from_millis(4));
    });
}

#[test]
fn a_worker_that_called_for_help_does_not_wait_for_the_drivers() {
    let runtime = one_thread();
    let (workers, mut tasks) = unwatched(2);
    let wakes = Arc::new(Wakes::default());
    runtime.block_on(async {
        assert!(poll(&mut tasks[1]).is_pending());
        for _ in 0..3 {
            workers.injector.push(runnable(&workers, forever(())));
        }
        // A yield is due by now, but on this thread the woken worker comes first, for as long as it likes.
        hold_thread(Duration::from_millis(2), || false);
        assert!(poll_with(&mut tasks[0], &Arc::clone(&wakes).into()).is_pending());
        assert_eq!(wakes.count(), 1);
    });
}
