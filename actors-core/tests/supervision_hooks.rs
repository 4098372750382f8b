//! Which hooks run, and what they are told, for each way in which an incarnation ends.

mod common;

use actors_core::prelude::*;
use common::puppet::{Oops, PuppetRef, Script};
use common::troupe::{Troupe, calm, together};
use common::world::{on_two_threads_with, picked, virtual_runtime};
use common::{Gate, Log, pass, settle, until};
use futures::future::{BoxFuture, pending};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Stopped,
    Drained,
    Killed,
    Unreferenced,
    FailsAndRestarts,
    FailsAndResumes,
    FailsAndStops,
    SpendsItsBudget,
    EscalatesAndIsResumed,
    EscalatesAndParentRestarts,
    EscalatesAndParentStops,
    IsRecalled,
    IsTemporaryAndASiblingFails,
    IsTemporaryAndFails,
    StopsItself,
    StopsItselfAndIsPermanent,
    RestartsItself,
    RestartsItselfAndIsTemporary,
    FailsItself,
    StartFails,
    StartIsCut,
    ParentStops,
    ParentRestarts,
    ParentIsKilled,
    Shutdown,
}

const NEXT: [&str; 2] = ["made", "started"];

/// Every way, and the lines that the actor writes from then on; the first incarnation has started, but in those where the
/// start fails.
fn table() -> Vec<(Way, Vec<&'static str>)> {
    use Way::*;
    let ends = |line| vec![line, "dropped"];
    let replaced = |line| [&[line, "dropped"][..], &NEXT].concat();
    let failed = "on_stop: handler `Crash` panicked: boom";
    vec![
        (Stopped, ends("on_stop: stopped")),
        (Drained, ends("on_stop: drained")),
        (Killed, vec!["dropped"]),
        (Unreferenced, ends("on_stop: unreferenced")),
        (FailsAndRestarts, replaced("on_restart: boom")),
        (FailsAndResumes, vec![]),
        (FailsAndStops, ends(failed)),
        (
            SpendsItsBudget,
            ends("on_stop: restart limit reached: handler `Crash` panicked: boom"),
        ),
        (EscalatesAndIsResumed, vec![]),
        (EscalatesAndParentRestarts, ends("on_stop: parent stopped")),
        (EscalatesAndParentStops, ends("on_stop: parent stopped")),
        (IsRecalled, replaced("on_restart: boom")),
        (IsTemporaryAndASiblingFails, ends("on_stop: sibling failed")),
        (IsTemporaryAndFails, ends(failed)),
        (StopsItself, ends("on_stop: stopped")),
        (
            StopsItselfAndIsPermanent,
            replaced("on_restart: it stopped itself, and is permanent"),
        ),
        (
            RestartsItself,
            replaced("on_restart: it asked to be restarted"),
        ),
        (RestartsItselfAndIsTemporary, ends("on_stop: stopped")),
        (FailsItself, replaced("on_restart: oops: itself")),
        (StartFails, [&["made", "dropped"][..], &NEXT].concat()),
        (StartIsCut, vec!["made", "dropped"]),
        (ParentStops, ends("on_stop: parent stopped")),
        (ParentRestarts, ends("on_stop: parent stopped")),
        (ParentIsKilled, vec!["dropped"]),
        (Shutdown, ends("on_stop: parent stopped")),
    ]
}

/// What a hook of the end does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hook {
    Ends,
    Panics,
    /// It panics before its first await.
    PanicsAtOnce,
    /// It never ends, and is cut at the stop timeout.
    Hangs,
}

impl Hook {
    fn run(self) -> BoxFuture<'static, ()> {
        match self {
            Self::Ends => Box::pin(async {}),
            Self::Panics => Box::pin(async {
                tokio::task::yield_now().await;
                panic!("in the hook");
            }),
            Self::PanicsAtOnce => panic!("in the hook"),
            Self::Hangs => Box::pin(pending()),
        }
    }
}

impl Way {
    /// The policy of the whole system.
    fn policy(self) -> Supervision {
        let policy = match self {
            Self::FailsAndResumes | Self::EscalatesAndIsResumed => Supervision::resume(),
            Self::FailsAndStops | Self::EscalatesAndParentStops => Supervision::stop(),
            Self::SpendsItsBudget => Supervision::restart().restarts(0, within(secs(1))),
            Self::IsRecalled | Self::IsTemporaryAndASiblingFails => Supervision::one_for_all(),
            _ => Supervision::restart(),
        };
        policy.backoff(Backoff::none())
    }

    fn restart_type(self) -> RestartType {
        match self {
            Self::StopsItselfAndIsPermanent => RestartType::Permanent,
            Self::IsTemporaryAndASiblingFails
            | Self::IsTemporaryAndFails
            | Self::RestartsItselfAndIsTemporary => RestartType::Temporary,
            _ => RestartType::Transient,
        }
    }

    fn escalates(self) -> bool {
        matches!(
            self,
            Self::EscalatesAndIsResumed
                | Self::EscalatesAndParentRestarts
                | Self::EscalatesAndParentStops
        )
    }

    fn script(self, script: Script) -> Script {
        match self {
            Self::StartFails => script.no_start([0]),
            Self::StartIsCut => script.on_start(|_| Box::pin(pending())),
            _ => script,
        }
    }

    async fn happen(self, troupe: &Troupe, a: PuppetRef, sibling: &PuppetRef) {
        match self {
            Self::Stopped | Self::StartIsCut => drop(a.stop()),
            Self::Drained => drop(a.drain()),
            Self::Killed => drop(a.kill()),
            Self::Unreferenced => drop(a),
            Self::FailsAndRestarts
            | Self::FailsAndResumes
            | Self::FailsAndStops
            | Self::SpendsItsBudget
            | Self::IsTemporaryAndFails
            | Self::EscalatesAndIsResumed
            | Self::EscalatesAndParentRestarts
            | Self::EscalatesAndParentStops => a.crash("boom").tell(),
            Self::IsRecalled | Self::IsTemporaryAndASiblingFails => sibling.crash("boom").tell(),
            Self::StopsItself | Self::StopsItselfAndIsPermanent => {
                a.act(Box::new(|ctx| ctx.stop())).tell();
            }
            Self::RestartsItself | Self::RestartsItselfAndIsTemporary => {
                a.act(Box::new(|ctx| ctx.restart())).tell();
            }
            Self::FailsItself => a.act(Box::new(|ctx| ctx.fail(Oops("itself")))).tell(),
            Self::StartFails => {}
            Self::ParentStops => drop(troupe.parent.stop()),
            Self::ParentRestarts => troupe.parent.crash("boom").tell(),
            Self::ParentIsKilled => drop(troupe.parent.kill()),
            Self::Shutdown => drop(troupe.system.shutdown()),
        }
        calm().await;
    }
}

/// Lets an incarnation end, and gives what it has written, and the hooks that were reported as failed.
async fn play(troupe: &Troupe, way: Way, hook: Hook) -> (Vec<String>, Vec<String>) {
    let sibling = troupe.add("sibling").await;
    let script = troupe.script("a").on_stop(move |_| hook.run());
    let script = way.script(script.on_restart(move |_| hook.run()));
    let mut events = troupe.system.events();
    let a = troupe
        .add_as(script, move |spawn| {
            let spawn = spawn.restart_type(way.restart_type());
            let spawn = match way {
                Way::Unreferenced => spawn.stop_when_unreferenced(),
                _ => spawn,
            };
            match way.escalates() {
                true => spawn.supervision(Supervision::escalate()),
                false => spawn,
            }
        })
        .await;
    if !matches!(way, Way::StartFails | Way::StartIsCut) {
        troupe.log.take();
    }
    way.happen(troupe, a, &sibling).await;
    if hook == Hook::Hangs || way == Way::StartIsCut {
        pass(ms(4_999)).await;
        assert_ne!(
            troupe.log.peek().last().map(String::as_str),
            Some("a dropped")
        );
        pass(ms(1)).await;
        calm().await;
    }
    let lines = troupe.log.take().into_iter();
    let lines = lines.filter_map(|line| Some(line.strip_prefix("a ")?.to_owned()));
    let failed = picked(&mut events, |event| match event {
        LifecycleEvent::HookFailed { failure, .. } => Some(failure.text().to_owned()),
        _ => None,
    });
    (lines.collect(), failed)
}

#[test]
fn each_way_to_end_runs_exactly_its_hooks_with_what_they_are_told() {
    for (way, expected) in table() {
        together(way.policy(), async move |troupe| {
            let (lines, failed) = play(&troupe, way, Hook::Ends).await;
            let without_done: Vec<_> = lines
                .iter()
                .filter(|line| !line.ends_with(" done"))
                .collect();
            assert_eq!(without_done, expected, "{way:?}");
            assert!(failed.is_empty(), "{way:?}: {failed:?}");
        });
    }
}

#[test]
fn a_hook_that_panics_or_hangs_changes_nothing_of_what_follows() {
    for hook in [Hook::Panics, Hook::PanicsAtOnce, Hook::Hangs] {
        for (way, expected) in table() {
            let runs_hook = expected.iter().any(|line| line.starts_with("on_"));
            if !runs_hook {
                continue;
            }
            together(way.policy(), async move |troupe| {
                let (lines, failed) = play(&troupe, way, hook).await;
                assert_eq!(lines, expected, "{way:?}, {hook:?}");
                let reported: &[&str] = match hook {
                    Hook::Hangs => &[],
                    _ => &["in the hook"],
                };
                assert_eq!(failed, reported, "{way:?}, {hook:?}");
            });
        }
    }
}

#[test]
fn an_actor_that_is_abandoned_runs_no_hook_and_drops_its_state_when_its_code_returns() {
    on_two_threads_with(
        |builder| builder.stop_timeout(ms(20)),
        async |system| {
            let (log, gate) = (Log::default(), Gate::new());
            let a = Script::new("a", &log).spawn(&system);
            a.block(gate.clone()).tell();
            gate.reached(1).await;
            log.take();
            let reason = a.stop().await;
            assert!(matches!(reason, StopReason::Abandoned { .. }), "{reason}");
            gate.open();
            let seen = log.clone();
            until(|| seen.count("a dropped") == 1).await;
            assert_eq!(log.take(), ["a passed the gate", "a dropped"]);
        },
    );
}

#[test]
fn a_runtime_that_is_dropped_runs_no_hook() {
    let log = Log::default();
    let runtime = virtual_runtime();
    let context = runtime.enter();
    let system = ActorSystem::new("test").unwrap();
    let a = Script::new("a", &log).spawn(&system);
    drop(context);
    runtime.block_on(settle());
    drop(runtime);
    assert_eq!(log.take(), ["a made", "a started", "a dropped"]);
    assert_eq!(
        futures::executor::block_on(a.stopped()),
        StopReason::SystemGone
    );
}

#[test]
fn watchers_are_told_the_reason_that_the_hook_was_told_of_a_drain() {
    together(Supervision::default(), async |troupe| {
        let script = troupe.script("a").on_stop(|_| Box::pin(pending()));
        let a = troupe.add_script(script).await;
        troupe.log.take();
        let end = a.drain();
        calm().await;
        assert_eq!(troupe.log.take(), ["a on_stop: drained"]);
        drop(a.stop());
        pass(secs(5)).await;
        assert_eq!(end.await, StopReason::Drained);
    });
}
