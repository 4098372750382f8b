//! The ways of a reply: to a recipient, later, by another actor, and back to the asker as a message of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::sync::mpsc::{Receiver, channel};

use actors_core::prelude::*;
use actors_core::{DeadLetterReason, LifecycleEvent, TryTellError};
use futures::future::join3;

use common::recorder::{Numbers, Recorder, RecorderRef, held, recorder, recorder_with};
use common::world::{beside, in_virtual_time, picked, timed};
use common::{Gate, pass, settle};

/// A recipient, and what it was told.
fn ear<M: Send + 'static>() -> (Recipient<M>, Receiver<M>) {
    let (heard, ear) = channel();
    let heard = std::sync::Mutex::new(heard);
    let recipient = Recipient::from_fn(move |message| heard.lock().unwrap().send(message).unwrap());
    (recipient, ear)
}

#[test]
fn a_reply_to_a_recipient_arrives_as_a_message() {
    in_virtual_time(async |system| {
        let (recorder, numbers) = recorder(&system);
        let (recipient, ear) = ear();
        recorder.echo(7).reply_to(&recipient);
        settle().await;
        assert_eq!(ear.try_iter().collect::<Vec<_>>(), [7]);
        let (refused, heard) = self::ear();
        recorder.refuse("no").reply_to(refused);
        settle().await;
        assert_eq!(
            heard.try_iter().collect::<Vec<_>>(),
            [Err("no")],
            "an error is a reply too"
        );
        assert_eq!(numbers.entries(), [7]);
    });
}

#[test]
fn a_reply_to_an_actor_arrives_at_one_of_its_handlers() {
    in_virtual_time(async |system| {
        let (asked, _) = recorder(&system);
        let (asking, numbers) = recorder(&system);
        asked.echo(7).reply_to(asking.recipient(RecorderRef::note));
        settle().await;
        assert_eq!(numbers.entries(), [7]);
    });
}

#[test]
fn a_message_with_a_recipient_whose_handler_fails_replies_nothing() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let (recipient, ear) = ear();
        recorder.boom("on purpose").reply_to(&recipient);
        recorder.keep().reply_to(&recipient);
        recorder.drop_kept().await.unwrap();
        assert!(ear.try_recv().is_err());
    });
}

#[test]
fn a_message_with_a_recipient_that_cannot_be_queued_is_a_dead_letter() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let (recorder, _) = recorder(&system);
        recorder.stop().await;
        let (recipient, ear) = ear();
        recorder.echo(7).reply_to(&recipient);
        assert_eq!(dead.try_next().unwrap().reason, DeadLetterReason::Stopped);
        assert!(ear.try_recv().is_err());
    });
}

#[test]
fn an_error_that_goes_to_a_recipient_is_not_ignored() {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let (recorder, _) = recorder(&system);
        let (recipient, ear) = ear();
        recorder.refuse("no").reply_to(&recipient);
        settle().await;
        assert_eq!(ear.try_recv(), Ok(Err("no")));
        let ignored = picked(&mut events, |event| match event {
            LifecycleEvent::ErrorIgnored { error, .. } => Some(error),
            _ => None,
        });
        assert_eq!(ignored, [""; 0]);
    });
}

#[test]
fn a_reply_may_come_from_a_later_handler() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let asks = beside(join3(
            recorder.keep().ask(),
            recorder.keep().ask(),
            recorder.keep().ask(),
        ));
        pass(ms(100)).await;
        recorder.answer_kept(7).tell();
        assert_eq!(asks.await.unwrap(), (Ok(7), Ok(8), Ok(9)));
    });
}

/// Lets others answer.
struct Front {
    back: RecorderRef,
}

#[actor]
impl Front {
    /// The back answers.
    #[handler]
    fn pass_on(&mut self, number: u64, reply: ReplyTo<u64>) {
        self.back.echo(number).forward(reply);
    }

    /// The back answers after a wait at the gate.
    #[handler]
    fn pass_on_late(&mut self, gate: Gate, reply: ReplyTo<u64>) {
        self.back.wait(gate, 1).forward(reply);
    }

    /// A task answers.
    #[handler]
    fn pass_out(&mut self, number: u64, reply: ReplyTo<u64>) {
        drop(beside(async move {
            pass(ms(5)).await;
            reply.send(number);
        }));
    }

    /// The back panics.
    #[handler]
    fn pass_to_a_panic(&mut self, reply: ReplyTo<u64>) {
        self.back.boom("behind").forward(reply);
    }

    /// The back loses the way back.
    #[handler]
    fn pass_to_a_loss(&mut self, reply: ReplyTo<u64>) {
        self.back.keep().forward(reply);
        self.back.drop_kept().tell();
    }

    /// Says whether the answer is wanted, after a wait at the gate.
    #[handler]
    async fn is_wanted(&mut self, gate: Gate, told: Recipient<bool>, reply: ReplyTo<u64>) {
        told.tell(reply.is_wanted());
        gate.pass().await;
        told.tell(reply.is_wanted());
    }
}

fn front(system: &ActorSystem, back: &RecorderRef) -> FrontRef {
    system
        .spawn_with("front", back.clone(), |back| Front { back })
        .unwrap()
}

#[test]
fn another_actor_may_answer() {
    in_virtual_time(async |system| {
        let (back, numbers) = recorder(&system);
        let front = front(&system, &back);
        assert_eq!(front.pass_on(7).await, Ok(7));
        assert_eq!(numbers.entries(), [7]);
        let (recipient, ear) = ear();
        front.pass_on(8).reply_to(&recipient);
        front.pass_on(9).tell();
        settle().await;
        assert_eq!(ear.try_iter().collect::<Vec<_>>(), [8]);
        assert_eq!(numbers.entries(), [7, 8, 9]);
    });
}

#[test]
fn a_task_may_answer() {
    in_virtual_time(async |system| {
        let front = front(&system, &recorder(&system).0);
        assert_eq!(timed(front.pass_out(7).ask()).await, (ms(5), Ok(7)));
    });
}

#[test]
fn an_ask_that_was_passed_on_ends_with_what_becomes_of_it_there() {
    in_virtual_time(async |system| {
        let (back, _) = recorder_with(&system, Mailbox::bounded(2));
        let front = front(&system, &back);
        assert_eq!(
            front.pass_to_a_panic().await,
            Err(AskError::Panicked("behind".into()))
        );
        assert_eq!(front.pass_to_a_loss().await, Err(AskError::NoReply));
        let gate = held(&back).await;
        (0..2).for_each(|number| back.note(number).tell());
        // Full, but that would say that no handler has run.
        assert_eq!(front.pass_on(7).await, Err(AskError::NoReply));
        gate.open();
        settle().await;
        let gate = held(&back).await;
        let asked = beside(front.pass_on(7).ask());
        settle().await;
        let ended = back.stop();
        let stopped = |error: AskError| matches!(error, AskError::Stopped { .. });
        assert!(stopped(asked.await.unwrap().unwrap_err()));
        gate.open();
        ended.await;
        assert!(stopped(front.pass_on(7).await.unwrap_err()));
    });
}

#[test]
fn an_ask_that_was_passed_on_keeps_its_time_and_is_running_wherever_it_is() {
    in_virtual_time(async |system| {
        let (back, numbers) = recorder(&system);
        let front = front(&system, &back);
        let gate = held(&back).await;
        let late = timed(front.pass_on_late(gate.clone()).ask().timeout(ms(100))).await;
        assert_eq!(
            late,
            (
                ms(100),
                Err(AskError::Timeout {
                    phase: Phase::Running
                })
            )
        );
        gate.open();
        settle().await;
        assert_eq!(
            numbers.entries(),
            [1],
            "the front had begun, so the back does its part"
        );
        assert_eq!(system.counters().late_replies, 1);
    });
}

#[test]
fn a_handler_can_tell_whether_its_answer_is_still_wanted() {
    in_virtual_time(async |system| {
        let front = front(&system, &recorder(&system).0);
        let (recipient, ear) = ear();
        let wanted = async |leaves: bool| {
            let gate = Gate::new();
            let ask = beside(front.is_wanted(gate.clone(), recipient.clone()).ask());
            gate.reached(1).await;
            if leaves {
                ask.abort();
                settle().await;
            }
            gate.open();
            settle().await;
            ear.try_iter().collect::<Vec<_>>()
        };
        assert_eq!(wanted(false).await, [true, true]);
        assert_eq!(wanted(true).await, [true, false]);
        let gate = Gate::new();
        gate.open();
        front.is_wanted(gate, recipient.clone()).tell();
        settle().await;
        assert_eq!(ear.try_iter().collect::<Vec<_>>(), [false, false]);
    });
}

/// Does work beside itself.
struct Piper {
    back: RecorderRef,
    numbers: Numbers,
}

#[actor]
impl Piper {
    /// Asks the back, and hears the answer as a message.
    #[handler]
    fn ask_back(&mut self, ctx: &mut ActorContext<Self>, gate: Gate, number: u64) {
        ctx.pipe(self.back.wait(gate, number).ask(), PiperRef::heard);
    }

    /// Has the answer told to this incarnation.
    #[handler]
    fn tell_back(&mut self, ctx: &mut ActorContext<Self>, gate: Gate, number: u64) {
        self.back
            .wait(gate, number)
            .reply_to(ctx.recipient(PiperRef::note));
    }

    #[handler]
    fn heard(&mut self, answer: Result<u64, AskError>) {
        self.numbers.add(answer.unwrap_or(0));
    }

    #[handler]
    fn note(&mut self, number: u64) {
        self.numbers.add(number);
    }

    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }

    #[handler]
    fn fail(&mut self, ctx: &mut ActorContext<Self>) {
        ctx.fail("on purpose");
    }

    /// Fails beside its handlers.
    #[handler]
    fn fail_beside(&mut self, ctx: &mut ActorContext<Self>) {
        ctx.pipe(async { panic!("beside") }, PiperRef::heard);
    }
}

fn piper(system: &ActorSystem, mailbox: Mailbox) -> (PiperRef, Numbers) {
    let numbers = Numbers::default();
    let (state, back) = (numbers.clone(), recorder(system).0);
    let factory = move || Piper {
        back: back.clone(),
        numbers: state.clone(),
    };
    (
        system
            .actor(factory)
            .name("piper")
            .mailbox(mailbox)
            .spawn()
            .unwrap(),
        numbers,
    )
}

#[test]
fn a_piped_answer_comes_back_as_a_message_while_the_actor_goes_on() {
    in_virtual_time(async |system| {
        let (piper, numbers) = piper(&system, Mailbox::unbounded());
        let gate = Gate::new();
        piper.ask_back(gate.clone(), 7).tell();
        gate.reached(1).await;
        piper.note(1).await.unwrap();
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), [1, 7]);
    });
}

#[test]
fn a_piped_error_comes_back_as_well() {
    in_virtual_time(async |system| {
        let (piper, numbers) = piper(&system, Mailbox::unbounded());
        piper.ask_back(Gate::new(), 7).tell();
        pass(secs(5)).await;
        assert_eq!(numbers.entries(), [0], "no reply in time");
    });
}

#[test]
fn a_piped_answer_and_a_reply_to_the_incarnation_need_no_room_and_wait_behind_what_was_there() {
    in_virtual_time(async |system| {
        let (piper, numbers) = piper(&system, Mailbox::bounded(1));
        let gate = Gate::new();
        piper.ask_back(gate.clone(), 7).await.unwrap();
        piper.tell_back(gate.clone(), 8).await.unwrap();
        let held = Gate::new();
        piper.hold(held.clone()).tell();
        held.reached(1).await;
        piper.note(1).tell();
        gate.open();
        settle().await;
        assert!(matches!(
            piper.note(2).try_tell(),
            Err(TryTellError::Full(_))
        ));
        held.open();
        settle().await;
        assert_eq!(
            numbers.entries(),
            [1, 8, 7],
            "the piped one has a step more to go"
        );
    });
}

#[test]
fn a_piped_answer_and_a_reply_to_the_incarnation_never_reach_the_next() {
    in_virtual_time(async |system| {
        let (piper, numbers) = piper(&system, Mailbox::unbounded());
        let gate = Gate::new();
        piper.ask_back(gate.clone(), 7).tell();
        piper.tell_back(gate.clone(), 8).tell();
        settle().await;
        piper.fail().tell();
        piper.note(1).await.unwrap();
        gate.open();
        settle().await;
        assert_eq!(numbers.entries(), [1]);
    });
}

#[test]
fn a_future_that_panics_beside_its_actor_fails_it() {
    in_virtual_time(async |system| {
        let mut events = system.events();
        let (piper, numbers) = piper(&system, Mailbox::unbounded());
        piper.fail_beside().tell();
        settle().await;
        piper.note(1).await.unwrap();
        let failures = picked(&mut events, |event| match event {
            LifecycleEvent::Failed { failure, .. } => Some(failure.to_string()),
            _ => None,
        });
        assert!(failures[0].contains("beside"), "{failures:?}");
        assert_eq!(numbers.entries(), [1]);
    });
}

#[test]
fn a_recipient_hides_what_stands_behind_it() {
    in_virtual_time(async |system| {
        let (actor, numbers) = recorder(&system);
        let (function, ear) = ear();
        let made = actor.recipient_with(|number: u64| common::recorder::RecorderMsg::Note {
            number,
            reply: ReplyTo::nobody(),
        });
        for recipient in [actor.recipient(RecorderRef::note), made, function] {
            recipient.clone().tell(1);
            assert_eq!(recipient.try_tell(2), Ok(()));
        }
        settle().await;
        assert_eq!(numbers.entries(), [1, 2, 1, 2]);
        assert_eq!(ear.try_iter().collect::<Vec<_>>(), [1, 2]);
    });
}

#[test]
fn a_recipient_says_why_it_takes_nothing() {
    in_virtual_time(async |system| {
        let mut dead = system.dead_letters();
        let (actor, _) = recorder_with(&system, Mailbox::bounded(1));
        let recipient: Recipient<u64> = actor.recipient(RecorderRef::note);
        assert_eq!(recipient.try_tell(1), Ok(()));
        assert_eq!(recipient.try_tell(2), Err(TryTellError::Full(())));
        recipient.tell(3);
        assert_eq!(
            dead.try_next().unwrap().reason,
            DeadLetterReason::MailboxFull
        );
        actor.stop().await;
        assert_eq!(recipient.try_tell(4), Err(TryTellError::Closed(())));
    });
}

#[test]
fn a_recipient_function_that_panics_harms_nobody() {
    in_virtual_time(async |system| {
        let (recorder, _) = recorder(&system);
        let recipients = [
            Recipient::from_fn(|_: u64| panic!("on purpose")),
            recorder.recipient_with(|_: u64| panic!("on purpose")),
        ];
        for recipient in recipients {
            recipient.tell(1);
            assert_eq!(recipient.try_tell(2), Ok(()));
            recorder.echo(7).reply_to(&recipient);
            assert_eq!(recorder.echo(8).await, Ok(8));
        }
        assert_eq!(system.tree().nodes()[0].restarts, 0);
    });
}

#[test]
fn a_call_can_be_made_once_and_sent_many_times() {
    in_virtual_time(async |system| {
        let recorder = system.spawn("recorder", Recorder::default).unwrap();
        let call = recorder.echo(7);
        assert_eq!(format!("{call:?}"), "Call to /test/recorder");
        call.clone().tell();
        assert_eq!(call.clone().await, Ok(7));
        assert_eq!(call.ask().await, Ok(7));
        assert_eq!(system.counters().handled, 3);
    });
}
