//! Promise L5: names, lookups, reserved names and the picture of the tree.

mod common;

use actors_core::prelude::*;
use actors_core::{ActorState, LookupError, SpawnError};
use common::puppet::{Puppet, PuppetRef, Script};
use common::{Gate, Log, beside, pass, paused, settle, system, threads};

/// An actor of another type.
struct Other;

#[actor]
impl Other {
    #[handler]
    fn work(&mut self) {}
}

fn is_taken<T>(result: &Result<T, SpawnError>) -> bool {
    matches!(result, Err(SpawnError::NameTaken { .. }))
}

#[test]
fn a_name_is_unique_among_siblings_and_only_there() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let script = Script::new("a", &log);
        let parent = script.spawn(&system);
        assert!(is_taken(&system.spawn("a", script.factory())));
        // Whatever the type.
        assert!(is_taken(&system.spawn("a", || Other)));
        let child = parent.adopt(script.clone()).await.unwrap();
        let grandchild = child.adopt(script).await.unwrap();
        assert_eq!(grandchild.actor_path().to_string(), "/test/a/a/a");
        assert_eq!(log.count("a made"), 3);
    });
}

#[test]
fn the_error_names_the_path_and_says_what_to_do() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let _puppet = Script::new("a", &log).spawn(&system);
        let error = system.spawn("a", || Other).unwrap_err();
        let text = "there is an actor /test/a already: give another name, or look that one up with `lookup`";
        assert_eq!(error.to_string(), text);
    });
}

#[test]
fn a_name_stays_taken_through_restarts_back_off_and_stopping() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let script = Script::new("a", &log).stop_at(&gate);
        let policy = Supervision::restart().backoff(Backoff::fixed(secs(1)));
        let puppet = script.supervised(&system, policy);
        puppet.crash("boom").tell();
        pass(ms(500)).await;
        assert_eq!(puppet.actor_state(), ActorState::Restarting);
        assert!(is_taken(&system.spawn("a", script.factory())));
        pass(ms(500)).await;
        assert!(is_taken(&system.spawn("a", script.factory())));
        let end = puppet.stop();
        gate.reached(1).await;
        assert!(is_taken(&system.spawn("a", script.factory())));
        gate.open();
        end.await;
        assert!(system.spawn("a", script.factory()).is_ok());
    });
}

#[test]
fn a_name_is_free_when_anybody_can_know_of_the_end() {
    threads(2, async {
        let (system, log) = (system(), Log::default());
        let script = Script::new("a", &log);
        for _ in 0..200 {
            let puppet = system
                .spawn("a", script.factory())
                .expect("the name is free");
            puppet.stop().await;
        }
        // And for a watcher, in its hook.
        let keeper = system
            .spawn("keeper", || Keeper {
                left: 200,
                log: Log::default(),
            })
            .unwrap();
        keeper.begin().await.unwrap();
        assert_eq!(keeper.stopped().await, StopReason::Stopped);
    });
}

/// Spawns an actor of the same name as soon as it hears of the end of the one before.
struct Keeper {
    left: u32,
    log: Log,
}

#[actor]
impl Keeper {
    #[handler]
    fn begin(&mut self, ctx: &mut ActorContext<Self>) {
        self.next(ctx);
    }

    #[on_terminated]
    fn again(&mut self, ctx: &mut ActorContext<Self>, _who: Terminated) {
        self.left -= 1;
        if self.left == 0 {
            ctx.stop();
        } else {
            self.next(ctx);
        }
    }
}

impl Keeper {
    fn next(&self, ctx: &mut ActorContext<Self>) {
        let child = ctx
            .spawn("kept", Script::new("kept", &self.log).factory())
            .expect("the name is free");
        ctx.watch(&child);
        drop(child.stop());
    }
}

#[test]
fn an_old_reference_never_reaches_a_newer_actor_of_the_name() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let old = Script::new("a", &log).spawn(&system);
        old.stop().await;
        let new = Script::new("a", &log).spawn(&system);
        assert!(old.note("lost").await.is_err());
        old.note("lost").tell();
        assert_eq!(new.note("found").await, Ok(1));
        assert_ne!(old, new);
        assert_ne!(old.actor_id(), new.actor_id());
        assert_eq!(old.actor_path(), new.actor_path());
        drop(old.stop());
        assert_eq!(new.note("found").await, Ok(2));
    });
}

#[test]
fn a_lookup_finds_the_actor_at_a_path() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let parent = Script::new("p", &log).spawn(&system);
        let child = parent.adopt(Script::new("c", &log)).await.unwrap();
        assert_eq!(system.lookup::<Puppet>("/test/p/c").unwrap(), child);
        assert_eq!(system.lookup::<Puppet>("p/c").unwrap(), child);
        assert_eq!(system.lookup::<Puppet>("p").unwrap(), parent);
        let anonymous = system
            .spawn_anonymous(Script::new("x", &log).factory())
            .unwrap();
        let path = anonymous.actor_path().to_string();
        assert_eq!(system.lookup::<Puppet>(&path).unwrap(), anonymous);
    });
}

#[test]
fn a_lookup_that_finds_nothing_says_how_far_the_path_exists() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let _parent = Script::new("p", &log).spawn(&system);
        for (path, found) in [
            ("p/c/d", "/test/p"),
            ("/test/x", "/test"),
            ("", "/test"),
            ("/", "/test"),
            ("/other/p", "/test"),
            ("p/", "/test/p"),
            ("//", "/test"),
        ] {
            let expected = LookupError::Absent {
                path: path.to_owned(),
                found: found.to_owned(),
            };
            assert_eq!(
                system.lookup::<Puppet>(path).unwrap_err(),
                expected,
                "{path:?}"
            );
        }
    });
}

#[test]
fn a_lookup_of_another_type_says_which_type_is_there() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let _puppet = Script::new("a", &log).spawn(&system);
        match system.lookup::<Other>("a") {
            Err(LookupError::WrongType { wanted, found, .. }) => {
                assert!(
                    wanted.ends_with("Other") && found.ends_with("Puppet"),
                    "{wanted} {found}"
                );
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_dead_actor_is_not_found() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let puppet = Script::new("a", &log).spawn(&system);
        puppet.stop().await;
        assert!(system.lookup::<Puppet>("a").is_err());
    });
}

#[test]
fn the_start_of_a_reserved_actor_can_be_awaited() {
    paused(async {
        let system = system();
        let log = Log::default();
        let reserved = system.reserve::<Puppet>("a").unwrap();
        let puppet = reserved
            .start(Script::new("a", &log).factory())
            .await
            .unwrap();
        assert_eq!(puppet.actor_state(), ActorState::Ready);
        let reserved = system.reserve::<Puppet>("b").unwrap();
        let stopped = reserved.reference().stop().await;
        let refused = reserved.start(Script::new("b", &log).factory()).await;
        assert_eq!(stopped, StopReason::Stopped);
        assert!(matches!(refused, Err(StartError::Spawn(_))), "{refused:?}");
    });
}

#[test]
fn messages_wait_for_an_actor_whose_name_is_reserved() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let reserved = system.reserve::<Puppet>("a").unwrap();
        let reference = reserved.reference();
        reference.note("early").tell();
        assert!(is_taken(
            &system.spawn("a", Script::new("a", &log).factory())
        ));
        assert_eq!(system.lookup::<Puppet>("a").unwrap(), reference);
        settle().await;
        let puppet = reserved.spawn(Script::new("a", &log).factory()).unwrap();
        assert_eq!(puppet, reference);
        assert_eq!(puppet.note("late").await, Ok(2));
        assert_eq!(log.take(), ["a made", "a started", "a early", "a late"]);
    });
}

#[test]
fn a_factory_may_hold_the_reference_to_the_very_actor_it_makes() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let reserved = system.reserve::<Puppet>("a").unwrap();
        let (me, script) = (reserved.reference(), Script::new("a", &log));
        let puppet = reserved
            .spawn(move || {
                me.note("from the factory").tell();
                script.factory()()
            })
            .unwrap();
        puppet.crash("boom").tell();
        settle().await;
        assert_eq!(log.count("a from the factory"), 2);
    });
}

#[test]
fn a_dropped_reservation_frees_the_name_and_turns_its_messages_out() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let mut letters = system.dead_letters();
        let reserved = system.reserve::<Puppet>("a").unwrap();
        let reference = reserved.reference();
        reference.note("early").tell();
        let asked = beside(reference.note("asked").ask());
        settle().await;
        drop(reserved);
        assert_eq!(letters.next().await.unwrap().variant, "Note");
        assert_eq!(asked.await.unwrap(), Err(common::turned_out()));
        assert_eq!(reference.stopped().await, StopReason::Stopped);
        assert!(system.spawn("a", Script::new("a", &log).factory()).is_ok());
    });
}

#[test]
fn a_reserved_actor_that_is_stopped_before_it_began_never_begins() {
    paused(async {
        let (system, log) = (system(), Log::default());
        let reserved = system.reserve::<Puppet>("a").unwrap();
        let reference: PuppetRef = reserved.reference();
        assert_eq!(reference.stop().await, StopReason::Stopped);
        assert!(reserved.spawn(Script::new("a", &log).factory()).is_err());
        assert_eq!(log.take(), [""; 0]);
        assert!(system.spawn("a", Script::new("a", &log).factory()).is_ok());
    });
}

#[test]
fn a_shutdown_ends_what_is_reserved_only() {
    paused(async {
        let system = system();
        let reserved = system.reserve::<Puppet>("a").unwrap();
        let reference = reserved.reference();
        let report = system.shutdown().await;
        assert_eq!(report.total(), 1);
        assert_eq!(reference.stopped().await, StopReason::Shutdown);
    });
}

#[test]
fn the_tree_shows_every_actor_parents_first_and_siblings_in_start_order() {
    paused(async {
        let (system, log, gate) = (system(), Log::default(), Gate::new());
        let child = Script::new("c", &log).children([Script::new("leaf", &log)]);
        let parent = Script::new("p", &log)
            .children([child, Script::new("b", &log)])
            .spawn(&system);
        let other = Script::new("a", &log).spawn(&system);
        settle().await;
        parent.crash("boom").tell();
        settle().await;
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        parent.note("waits").tell();
        let tree = system.tree();
        let seen: Vec<_> = tree
            .nodes()
            .iter()
            .map(|node| (node.path.to_string(), node.depth))
            .collect();
        let expected = [
            ("/test/p", 1),
            ("/test/p/c", 2),
            ("/test/p/c/leaf", 3),
            ("/test/p/b", 2),
            ("/test/a", 1),
        ];
        assert_eq!(seen, expected.map(|(path, depth)| (path.to_owned(), depth)));
        let node = tree.find("/test/p").unwrap();
        assert_eq!(
            (node.state, node.mailbox_depth, node.restarts),
            (ActorState::Busy, 1, 1)
        );
        assert_eq!(node.id, parent.actor_id());
        assert!(node.type_name.ends_with("Puppet"));
        let drawn = "/test\n  p (Puppet) busy, 1 queued, restarted 1x\n    c (Puppet) ready\n      leaf (Puppet) ready\n    \
                     b (Puppet) ready\n  a (Puppet) ready\n";
        assert_eq!(tree.to_string(), drawn);
        drop(other);
        gate.open();
    });
}
