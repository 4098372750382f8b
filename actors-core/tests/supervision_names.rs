//! Who is reached by a reference, and who holds a name.

mod common;

use std::sync::{Arc, Barrier};
use std::thread;

use actors_core::SpawnError;
use actors_core::prelude::*;
use actors_testkit::TestKit;
use common::puppet::{Puppet, PuppetRef, Script};
use common::world::on_two_threads;
use common::{Log, panicked, turned_out};
use tokio::sync::mpsc;

#[actors_testkit::test]
async fn a_reference_from_before_a_restart_can_tell_watch_be_upgraded_and_kill_after_it(
    kit: TestKit,
) {
    kit.allow_failures();
    let log = Log::default();
    let parent = Script::new("p", &log).spawn(&kit);
    let old = parent.adopt(Script::new("a", &log)).await.unwrap();
    let (weak, recipient) = (old.downgrade(), old.recipient(PuppetRef::number));
    let call = old.note("a call from before");
    assert_eq!(old.crash("boom").await, Err(panicked("boom")));
    kit.settle().await;
    assert_eq!(log.count("a made"), 2);

    let upgraded = weak.upgrade().unwrap();
    assert_eq!(upgraded, old);
    assert_eq!(call.await, Ok(1));
    assert_eq!(upgraded.note("x").await, Ok(2));
    recipient.tell(7);
    kit.settle().await;
    assert_eq!(log.count("a number 7"), 1);
    assert_eq!(kit.lookup::<Puppet>("p/a").unwrap(), old);

    let mut watcher = kit.probe::<()>();
    watcher.watch(&old);
    let other = Script::new("w", &log).spawn(&kit);
    other.watch_over(old.clone()).await.unwrap();
    watcher.expect_nothing_for(secs(60)).await;
    assert_eq!(old.kill().await, StopReason::Killed);
    assert_eq!(watcher.expect_terminated(&old).await, StopReason::Killed);
    kit.settle().await;
    assert_eq!(log.count("w saw a end: killed"), 1);
    assert_eq!(log.count("a made"), log.count("a dropped"));
    assert_eq!(parent.note("x").await, Ok(1));
}

#[actors_testkit::test]
async fn an_old_reference_of_a_stopped_name_never_reaches_the_new_holder_whatever_it_is_used_for(
    kit: TestKit,
) {
    kit.allow_dead_letters();
    let log = Log::default();
    let old = Script::new("a", &log).spawn(&kit);
    let (weak, recipient) = (old.downgrade(), old.recipient(PuppetRef::number));
    let (call, ask) = (old.note("call"), old.note("ask").ask());
    old.stop().await;
    log.take();
    let new = Script::new("a", &log).spawn(&kit);
    let watcher = Script::new("w", &log).spawn(&kit);
    watcher.watch_over(new.clone()).await.unwrap();

    old.number(1).tell();
    recipient.tell(2);
    assert!(old.number(3).try_tell().is_err());
    assert!(old.number(4).enqueue().await.is_err());
    assert_eq!(call.await, Err(turned_out()));
    assert_eq!(ask.await, Err(turned_out()));
    if let Some(upgraded) = weak.upgrade() {
        assert_ne!(upgraded, new);
        upgraded.number(5).tell();
    }
    for end in [old.stop(), old.drain(), old.kill(), old.stopped()] {
        assert_eq!(end.await, StopReason::Stopped);
    }
    // A watch of the old one is answered with its end, and to unwatch it leaves the watch of the new one alone.
    watcher.watch_over(old.clone()).await.unwrap();
    kit.settle().await;
    assert_eq!(log.count("w saw a end: stopped"), 1);
    watcher.look_away(old.clone()).await.unwrap();
    assert!(old.is_stopped() && !new.is_stopped());
    assert_eq!((old.mailbox_depth(), new.mailbox_depth()), (0, 0));

    assert_eq!(new.note("x").await, Ok(1));
    assert_eq!(kit.lookup::<Puppet>("a").unwrap(), new);
    let mut lines = log.take();
    lines.retain(|line| line.starts_with('a'));
    assert_eq!(lines, ["a made", "a started", "a x"]);
    new.stop().await;
    kit.settle().await;
    assert_eq!(log.count("w saw a end: stopped"), 1);
}

#[actors_testkit::test]
async fn a_start_that_failed_for_good_has_freed_the_name(kit: TestKit) {
    kit.allow_failures();
    let log = Log::default();
    let never = || Err::<Puppet, _>("no start");
    let actor = kit.system().actor(never).name("a");
    let failed = actor.supervision(Supervision::stop()).start().await;
    assert!(
        matches!(failed, Err(StartError::Stopped { .. })),
        "{failed:?}"
    );
    let next = Script::new("a", &log).spawn(&kit);
    assert_eq!(next.note("x").await, Ok(1));
}

#[test]
fn of_64_racing_spawns_of_one_name_one_wins() {
    const RACERS: usize = 64;
    on_two_threads(async |system| {
        for _ in 0..10 {
            let log = Log::default();
            let script = Script::new("a", &log);
            let line = Arc::new(Barrier::new(RACERS));
            let racers: Vec<_> = (0..RACERS)
                .map(|_| {
                    let (system, script) = (system.clone(), script.clone());
                    let line = Arc::clone(&line);
                    thread::spawn(move || {
                        line.wait();
                        system.spawn("a", script.factory())
                    })
                })
                .collect();
            let (mut winners, mut others) = (Vec::new(), 0);
            for racer in racers {
                match racer.join().unwrap() {
                    Ok(winner) => winners.push(winner),
                    Err(SpawnError::NameTaken { .. }) => others += 1,
                    Err(other) => panic!("{other}"),
                }
            }
            assert_eq!((winners.len(), others), (1, RACERS - 1));
            let winner = &winners[0];
            assert_eq!(winner.note("x").await, Ok(1));
            assert_eq!(*winner, system.lookup::<Puppet>("a").unwrap());
            winner.stop().await;
            // No other state was ever made.
            assert_eq!((log.count("a made"), log.count("a dropped")), (1, 1));
        }
    });
}

/// Spawns an actor of the name of one that has ended as soon as it hears of the end, and says whether it could.
struct Heir {
    log: Log,
    heard: mpsc::UnboundedSender<Result<PuppetRef, SpawnError>>,
}

#[actor]
impl Heir {
    #[handler]
    fn watch_over(&mut self, ctx: &mut ActorContext<Self>, other: PuppetRef) {
        ctx.watch(&other);
    }

    #[on_terminated]
    fn gone(&mut self, ctx: &mut ActorContext<Self>, who: Terminated) {
        let script = Script::new("a", &self.log);
        let spawned = ctx.system().spawn(who.path.name(), script.factory());
        let _ = self.heard.send(spawned);
    }
}

#[test]
fn at_terminated_any_watcher_can_spawn_the_name_again() {
    const HEIRS: usize = 4;
    const ROUNDS: usize = 200;
    on_two_threads(async |system| {
        let log = Log::default();
        let (sender, mut heard) = mpsc::unbounded_channel();
        let heirs: Vec<_> = (0..HEIRS)
            .map(|_| {
                let (log, heard) = (log.clone(), sender.clone());
                let make = move || Heir {
                    log: log.clone(),
                    heard: heard.clone(),
                };
                system.spawn_anonymous(make).unwrap()
            })
            .collect();
        let mut holder = Script::new("a", &log).spawn(&system);
        for round in 0..ROUNDS {
            // Few or many are watching; somebody always gets the name, and only one.
            let watching = 1 + round % HEIRS;
            for heir in &heirs[..watching] {
                heir.watch_over(holder.clone()).await.unwrap();
            }
            match round % 3 {
                0 => drop(holder.stop()),
                1 => drop(holder.drain()),
                _ => drop(holder.kill()),
            }
            let mut next = None;
            for _ in 0..watching {
                match heard.recv().await.unwrap() {
                    Ok(spawned) => assert_eq!(next.replace(spawned), None),
                    Err(SpawnError::NameTaken { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            holder = next.expect("the name was free for the first who heard of the end");
        }
    });
}
