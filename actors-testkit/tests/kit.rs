//! What the kit looks after: dead letters, failures, the end of a test.

mod common;

use actors_core::{DeadLetterReason, LifecycleEvent, prelude::*};
use actors_testkit::TestKit;
use common::{failure_of, without_place};

/// Fails in whatever way it is told to.
#[derive(Default)]
struct Fragile {
    dies_loudly: bool,
}

#[actor]
impl Fragile {
    #[handler]
    fn panic(&mut self, text: &'static str) {
        panic!("{text}");
    }

    #[handler]
    fn fail(&mut self, ctx: &mut ActorContext<Self>) {
        ctx.fail("an error");
    }

    #[handler]
    fn ping(&mut self) {}

    #[handler]
    fn rig(&mut self) {
        self.dies_loudly = true;
    }

    #[on_stop]
    fn stopped(&mut self) {
        assert!(!self.dies_loudly, "loud");
    }
}

fn fragile(kit: &TestKit) -> FragileRef {
    kit.spawn("fragile", Fragile::default)
        .expect("the name is free")
}

#[actors_testkit::test]
async fn each_test_has_a_system_named_after_it(kit: TestKit) {
    assert_eq!(kit.name(), "each_test_has_a_system_named_after_it");
    assert_eq!(kit.system().counters(), kit.counters());
    assert!(kit.tree().nodes().is_empty());
}

#[test]
fn a_dead_letter_fails_the_test() {
    let failure = failure_of(async |kit| {
        let actor = fragile(&kit);
        actor.stop().await;
        actor.ping().tell();
    });
    let text = "`failing` got to its end, but it did not expect these dead letters\n  dead letters:\n    \
                kit::FragileMsg::Ping for /failing/fragile (#1): the actor has stopped\n  \
                a test that means them says so with `expect_dead_letter` or `allow_dead_letters`";
    assert_eq!(failure, text);
}

#[test]
fn a_dead_letter_that_is_under_way_when_the_test_ends_fails_it() {
    let failure = failure_of(async |kit| {
        let actor = fragile(&kit);
        drop(actor.stop());
        actor.ping().tell();
    });
    assert!(failure.contains("these dead letters"), "{failure}");
}

#[actors_testkit::test]
async fn what_the_end_of_the_test_turns_out_is_no_dead_letter_of_its_own(kit: TestKit) {
    let slow = kit.spawn("slow", || Slow).unwrap();
    slow.wait().tell();
    slow.wait().tell();
}

struct Slow;

#[actor]
impl Slow {
    #[handler]
    async fn wait(&mut self) {
        std::future::pending::<()>().await;
    }
}

#[actors_testkit::test]
async fn an_expected_dead_letter_is_taken_and_others_stay(kit: TestKit) {
    let actor = fragile(&kit);
    actor.stop().await;
    actor.ping().tell();
    actor.rig().tell();
    actor.ping().tell();
    let letter = kit
        .expect_dead_letter(|letter| letter.variant == "Rig")
        .await;
    assert_eq!(letter.reason, DeadLetterReason::Stopped);
    assert_eq!(kit.dead_letters().len(), 2);
    assert!(kit.dead_letters().is_empty());
}

#[actors_testkit::test]
async fn a_dead_letter_to_come_is_waited_for(kit: TestKit) {
    let actor = fragile(&kit);
    actor.stop().await;
    let late = async {
        kit.advance(ms(2_500)).await;
        actor.ping().tell();
    };
    let (letter, ()) = tokio::join!(kit.expect_dead_letter(|_| true), late);
    assert_eq!((letter.variant, kit.elapsed()), ("Ping", ms(2_500)));
}

#[test]
fn a_dead_letter_that_does_not_come_fails_with_those_that_did() {
    let failure = failure_of(async |kit| {
        let actor = fragile(&kit);
        actor.stop().await;
        actor.ping().tell();
        kit.expect_dead_letter(|letter| letter.variant == "Rig")
            .await;
    });
    let text = "the test expected a dead letter that the condition holds for, but nothing came within 3s\n  \
                others that came:\n    kit::FragileMsg::Ping for /failing/fragile (#1): the actor has stopped";
    assert_eq!(without_place(&failure), text);
}

#[actors_testkit::test]
async fn allowed_dead_letters_are_forgiven(kit: TestKit) {
    kit.allow_dead_letters();
    let actor = fragile(&kit);
    actor.stop().await;
    actor.ping().tell();
}

#[test]
fn a_panic_of_an_actor_fails_the_test() {
    let failure = failure_of(async |kit| fragile(&kit).panic("boom").tell());
    let text = "`failing` got to its end, but it did not expect these failures\n  failures:\n    \
                /failing/fragile (#1) failed (restart): handler `Panic` panicked: boom\n  \
                a test that means them says so with `expect_failure` or `allow_failures`";
    assert_eq!(failure, text);
}

#[test]
fn a_panic_during_the_shutdown_fails_the_test() {
    let failure = failure_of(async |kit| fragile(&kit).rig().tell());
    assert!(failure.contains("these failures"), "{failure}");
    assert!(
        failure.contains("hook `on_stop` panicked: loud"),
        "{failure}"
    );
}

#[actors_testkit::test]
async fn an_error_that_a_supervisor_sees_to_fails_no_test(kit: TestKit) {
    let actor = fragile(&kit);
    actor.fail().tell();
    kit.settle().await;
    let failures = kit.failures();
    assert!(
        matches!(&*failures, [LifecycleEvent::Failed { failure, .. }] if !failure.is_panic()),
        "{failures:?}"
    );
}

#[actors_testkit::test]
async fn an_expected_failure_is_taken(kit: TestKit) {
    fragile(&kit).panic("boom").tell();
    let event = kit
        .expect_failure(|event| event.to_string().contains("boom"))
        .await;
    assert_eq!(event.actor().name(), "fragile");
}

#[test]
fn a_failure_that_does_not_come_fails_the_test() {
    let failure = failure_of(async |kit| {
        fragile(&kit).panic("boom").tell();
        kit.expect_failure(|event| event.to_string().contains("bang"))
            .await;
    });
    let text = "the test expected a failure that the condition holds for, but nothing came within 3s\n  \
                others that came:\n    /failing/fragile (#1) failed (restart): handler `Panic` panicked: boom";
    assert_eq!(without_place(&failure), text);
}

#[actors_testkit::test]
async fn allowed_failures_are_forgiven(kit: TestKit) {
    kit.allow_failures();
    let actor = fragile(&kit);
    actor.panic("boom").tell();
    actor.rig().tell();
}

#[test]
fn the_panic_of_the_test_itself_wins() {
    let failure = failure_of(async |kit| {
        fragile(&kit).panic("boom").tell();
        kit.settle().await;
        assert!(kit.system().is_shutting_down(), "the test's own");
    });
    assert_eq!(failure, "the test's own");
}

#[test]
fn the_error_of_the_test_itself_wins() {
    let result = std::panic::catch_unwind(|| {
        TestKit::run("erring", async |kit| {
            fragile(&kit).panic("boom").tell();
            Err::<(), _>("the test's own")
        })
    });
    assert_eq!(result.unwrap(), Err("the test's own"));
}

#[test]
fn a_failed_expectation_tells_what_else_went_wrong() {
    let failure = failure_of(async |kit| {
        let actor = fragile(&kit);
        actor.panic("boom").tell();
        actor.stop().await;
        actor.ping().tell();
        kit.probe().expect(1).await;
    });
    assert!(
        failure.starts_with("the probe of `i32` expected 1, but nothing came within 3s"),
        "{failure}"
    );
    assert!(
        failure.contains("\n  also in this test:\n    dead letter kit::FragileMsg::P"),
        "{failure}"
    );
}

#[test]
fn a_system_can_have_settings_of_its_own() {
    TestKit::run_with(
        "settings",
        |system| system.ask_timeout(ms(7)),
        async |kit| {
            let slow = kit.spawn("slow", || Slow).unwrap();
            assert!(matches!(slow.wait().await, Err(AskError::Timeout { .. })));
            assert_eq!(kit.elapsed(), ms(7));
        },
    );
}

#[test]
#[should_panic(expected = "is no name for a system")]
fn a_bad_name_is_told() {
    TestKit::run("a/b", async |_kit| ());
}
