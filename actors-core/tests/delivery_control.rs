//! Control never waits behind messages or for room; stop turns messages out, drain handles them (D7).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use actors_core::prelude::*;
use actors_core::{ActorState, DeadLetterReason, TryTellError};
use tokio::time::Instant;

use common::recorder::{Numbers, Recorder, RecorderRef, held, recorder, recorder_with};
use common::world::{beside, in_virtual_time};
use common::{Gate, settle};

#[test]
fn a_stop_does_not_wait_behind_messages() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        (0..10_000).for_each(|number| recorder.note(number).tell());
        assert_eq!(recorder.stop().await, StopReason::Stopped);
        assert_eq!(numbers.entries(), []);
        assert_eq!(system.counters().dead, 10_000);
    });
}

#[test]
fn a_kill_does_not_wait_behind_messages() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        (0..10_000).for_each(|number| recorder.note(number).tell());
        assert_eq!(recorder.kill().await, StopReason::Killed);
        assert_eq!(numbers.entries(), []);
    });
}

#[test]
fn a_stop_needs_no_room_and_no_place_in_the_line_for_it() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder_with(&system, Mailbox::bounded(1));
        let gate = held(&recorder).await;
        recorder.note(1).tell();
        let waiting = beside(recorder.note(2).enqueue());
        settle().await;
        let ended = recorder.stop();
        gate.open();
        assert_eq!(ended.await, StopReason::Stopped);
        assert!(waiting.await.unwrap().is_err());
        assert_eq!(numbers.entries(), []);
    });
}

#[test]
fn what_was_told_just_before_a_stop_is_not_handled() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let (recorder, numbers) = recorder(&system);
        recorder.note(1).tell();
        recorder.stop().await;
        assert_eq!(numbers.entries(), []);
        assert_eq!(dead.next().await.unwrap().reason, DeadLetterReason::Stopped);
    });
}

#[test]
fn what_was_told_just_before_a_drain_is_handled() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        (0..1_000).for_each(|number| recorder.note(number).tell());
        assert_eq!(recorder.drain().await, StopReason::Drained);
        assert_eq!(numbers.entries(), Vec::from_iter(0..1_000));
    });
}

#[test]
fn a_drain_closes_at_once_and_handles_what_was_accepted() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let (recorder, numbers) = recorder_with(&system, Mailbox::bounded(2));
        let gate = held(&recorder).await;
        recorder.note(1).tell();
        let asked = beside(recorder.echo(2).ask());
        settle().await;
        let waiting = beside(recorder.note(3).enqueue());
        settle().await;
        let ended = recorder.drain();
        recorder.note(4).tell();
        assert!(matches!(
            recorder.note(5).try_tell(),
            Err(TryTellError::Closed(_))
        ));
        let stopped = Err(AskError::Stopped {
            phase: Phase::Queued,
        });
        assert_eq!(recorder.echo(6).await, stopped);
        assert!(
            waiting.await.unwrap().is_err(),
            "who waits for room was not accepted"
        );
        gate.open();
        assert_eq!(ended.await, StopReason::Drained);
        assert_eq!(asked.await.unwrap(), Ok(2));
        assert_eq!(numbers.entries(), [1, 2]);
        assert_eq!(dead.try_next().unwrap().variant, "Note");
        assert!(dead.try_next().is_none());
    });
}

#[test]
fn an_actor_that_drains_takes_no_more_messages_from_itself_either() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let counter = system.spawn("counter", Countdown::default).unwrap();
        counter.count_down(1).tell();
        counter.drain().await;
        let letter = dead.next().await.unwrap();
        assert_eq!(letter.sender.unwrap(), *counter.actor_path());
    });
}

/// Tells itself the next lower number.
#[derive(Default)]
struct Countdown;

#[actor]
impl Countdown {
    #[handler]
    fn count_down(&mut self, ctx: &mut ActorContext<Self>, from: u64) {
        if let Some(next) = from.checked_sub(1) {
            ctx.me().count_down(next).tell();
        }
    }
}

#[test]
fn control_is_looked_at_between_any_two_messages_of_a_burst() {
    in_virtual_time(async |system| {
        let numbers = Numbers::default();
        let state = numbers.clone();
        let quitter = system
            .spawn("quitter", move || Quitter {
                numbers: state.clone(),
            })
            .unwrap();
        (0..20).for_each(|number| quitter.note(number).tell());
        assert_eq!(quitter.stopped().await, StopReason::Stopped);
        assert_eq!(numbers.entries(), Vec::from_iter(0..=7));
        assert_eq!(system.counters().dead, 12);
    });
}

/// Stops itself at number 7.
struct Quitter {
    numbers: Numbers,
}

#[actor]
impl Quitter {
    #[handler]
    fn note(&mut self, ctx: &mut ActorContext<Self>, number: u64) {
        self.numbers.add(number);
        if number == 7 {
            ctx.stop();
        }
    }
}

#[test]
fn a_stop_turns_the_mailbox_out_while_the_handler_still_waits() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let (recorder, _) = recorder_with(&system, Mailbox::bounded(6));
        let gate = held(&recorder).await;
        (0..5).for_each(|number| recorder.note(number).tell());
        let asked = beside(recorder.echo(5).ask());
        settle().await;
        let waiting = beside(recorder.note(6).enqueue());
        settle().await;
        let before = Instant::now();
        let ended = recorder.stop();
        assert_eq!(
            asked.await.unwrap(),
            Err(AskError::Stopped {
                phase: Phase::Queued
            })
        );
        assert!(waiting.await.unwrap().is_err());
        assert_eq!(std::iter::from_fn(|| dead.try_next()).count(), 5);
        assert_eq!(before.elapsed(), ms(0));
        assert_eq!(recorder.actor_state(), ActorState::Busy);
        gate.open();
        ended.await;
    });
}

#[test]
fn a_stop_lets_the_current_message_end_and_its_asker_have_the_reply() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let gate = Gate::new();
        let asked = beside(recorder.wait(gate.clone(), 1).ask());
        gate.reached(1).await;
        let ended = recorder.stop();
        settle().await;
        gate.open();
        assert_eq!(asked.await.unwrap(), Ok(1));
        assert_eq!(ended.await, StopReason::Stopped);
    });
}

/// Has a child, watches others, and is kept from its messages.
struct Parent {
    child: Option<RecorderRef>,
    numbers: Numbers,
}

#[actor]
impl Parent {
    #[on_start]
    fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Failure> {
        self.child = Some(ctx.spawn("child", Recorder::default)?);
        Ok(())
    }

    #[handler]
    fn child(&self) -> RecorderRef {
        self.child.clone().unwrap()
    }

    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }

    /// Watches and unwatches, and says how many children there are.
    #[handler]
    async fn observe(
        &mut self,
        ctx: &mut ActorContext<Self>,
        gates: [Gate; 2],
        kept: RecorderRef,
        left: RecorderRef,
    ) {
        ctx.watch(&kept);
        ctx.watch(&left);
        gates[0].pass().await;
        ctx.unwatch(&left);
        self.numbers.add(ctx.children().len() as u64);
        gates[1].pass().await;
    }

    #[handler]
    fn note(&mut self, number: u64) {
        self.numbers.add(number);
    }

    #[on_terminated]
    fn gone(&mut self, who: Terminated) {
        self.numbers.add(who.id.as_u64() + 1_000);
    }
}

fn parent(system: &ActorSystem, mailbox: Mailbox) -> (ParentRef, Numbers) {
    let numbers = Numbers::default();
    let state = numbers.clone();
    let factory = move || Parent {
        child: None,
        numbers: state.clone(),
    };
    let parent = system
        .actor(factory)
        .name("parent")
        .mailbox(mailbox)
        .spawn();
    (parent.unwrap(), numbers)
}

#[test]
fn the_end_of_a_child_waits_for_no_message_of_its_parent() {
    in_virtual_time(async |system| {
        let (parent, _) = parent(&system, Mailbox::bounded(1));
        let child = parent.child().await.unwrap();
        let gate = Gate::new();
        parent.hold(gate.clone()).tell();
        gate.reached(1).await;
        parent.note(1).tell();
        assert_eq!(child.stop().await, StopReason::Stopped);
        assert!(
            system.tree().find("/test/parent/child").is_none(),
            "the name is free"
        );
        gate.open();
    });
}

#[test]
fn watch_unwatch_and_a_childs_end_act_at_once_whatever_is_queued() {
    in_virtual_time(async |system| {
        let (parent, numbers) = parent(&system, Mailbox::bounded(2));
        let child = parent.child().await.unwrap();
        let [kept, left] = [(), ()].map(|()| recorder(&system).0);
        let id = kept.actor_id().as_u64();
        let gates = [Gate::new(), Gate::new()];
        parent
            .observe(gates.clone(), kept.clone(), left.clone())
            .tell();
        gates[0].reached(1).await;
        (1..=2).for_each(|number| parent.note(number).tell());
        left.stop().await;
        child.stop().await;
        gates[0].open();
        gates[1].reached(1).await;
        kept.stop().await;
        gates[1].open();
        settle().await;
        assert_eq!(
            numbers.entries(),
            [0, 1, 2, id + 1_000],
            "no children, and one end"
        );
    });
}

#[test]
fn a_decision_about_a_failed_child_waits_behind_no_message_of_the_parent() {
    in_virtual_time(async |system| {
        let numbers = Numbers::default();
        let state = numbers.clone();
        let policy = Supervision::one_for_one().on_panic(Directive::Resume);
        let overseer = system
            .actor(move || Overseer {
                child: None,
                numbers: state.clone(),
            })
            .mailbox(Mailbox::bounded(2))
            .supervision(policy)
            .spawn()
            .unwrap();
        let child = overseer.child().await.unwrap();
        let gate = Gate::new();
        overseer.hold(gate.clone()).tell();
        gate.reached(1).await;
        (1..=2).for_each(|number| overseer.note(number).tell());
        child.boom("on purpose").tell();
        settle().await;
        assert_eq!(child.actor_state(), ActorState::Deciding);
        let before = Instant::now();
        gate.open();
        assert_eq!(child.echo(7).await, Ok(7));
        assert_eq!(before.elapsed(), ms(0));
        assert_eq!(numbers.entries(), [1, 2]);
    });
}

/// Decides about its child, which escalates.
struct Overseer {
    child: Option<RecorderRef>,
    numbers: Numbers,
}

#[actor(supervision = Supervision::one_for_one().on_panic(Directive::Escalate))]
impl Overseer {
    #[on_start]
    fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Failure> {
        self.child = Some(ctx.spawn("child", Recorder::default)?);
        Ok(())
    }

    #[handler]
    fn child(&self) -> RecorderRef {
        self.child.clone().unwrap()
    }

    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }

    #[handler]
    fn note(&mut self, number: u64) {
        self.numbers.add(number);
    }
}

/// Fails beside its handler, and writes down how often it was restarted when it is told to.
struct Piper {
    numbers: Numbers,
}

#[actor]
impl Piper {
    #[handler]
    async fn run(&mut self, ctx: &mut ActorContext<Self>, gate: Gate) {
        ctx.pipe(async { panic!("on purpose") }, PiperRef::heard);
        gate.pass().await;
    }

    #[handler]
    fn heard(&mut self, nothing: ()) {
        let () = nothing;
    }

    #[handler]
    fn note(&mut self, ctx: &mut ActorContext<Self>) {
        self.numbers.add(ctx.restarts().into());
    }
}

#[test]
fn a_restart_waits_behind_no_message() {
    in_virtual_time(async |system| {
        let numbers = Numbers::default();
        let piper = system
            .spawn_with("piper", numbers.clone(), |numbers| Piper { numbers })
            .unwrap();
        let gate = Gate::new();
        piper.run(gate.clone()).tell();
        (0..10).for_each(|_| piper.note().tell());
        settle().await;
        gate.open();
        piper.note().await.unwrap();
        assert_eq!(numbers.entries(), [1; 11]);
    });
}
