//! What a probe expects, and what it says when that does not come.

mod common;

use actors_core::prelude::*;
use actors_testkit::{TestKit, TestProbe, expect_matching};
use common::{failure_of, without_place};

#[derive(Debug, PartialEq)]
enum Event {
    Sold { count: u32 },
    Closed,
}

/// Tells a probe what it is told, at once or later.
struct Echo {
    to: Recipient<u32>,
}

#[actor]
impl Echo {
    #[handler]
    fn echo(&mut self, number: u32) {
        self.to.tell(number);
    }

    #[handler]
    async fn echo_after(&mut self, time: std::time::Duration, number: u32) {
        tokio::time::sleep_until(tokio::time::Instant::now() + time).await;
        self.to.tell(number);
    }
}

fn echo(kit: &TestKit, to: impl Into<Recipient<u32>>) -> EchoRef {
    let to = to.into();
    kit.spawn_anonymous(move || Echo { to: to.clone() })
        .expect("the system runs")
}

fn tell<const N: usize>(probe: &TestProbe<u32>, numbers: [u32; N]) {
    numbers
        .into_iter()
        .for_each(|number| probe.recipient().tell(number));
}

#[actors_testkit::test]
async fn a_probe_receives_in_order_what_it_is_told(kit: TestKit) {
    let mut probe = kit.probe();
    let actor = echo(&kit, &probe);
    for number in 0..3 {
        actor.echo(number).tell();
    }
    probe.expect(0).await;
    assert_eq!(probe.receive().await, 1);
    kit.settle().await;
    assert_eq!((probe.try_receive(), probe.try_receive()), (Some(2), None));
}

#[actors_testkit::test]
async fn an_expectation_lets_time_pass_only_as_far_as_it_must(kit: TestKit) {
    let mut probe = kit.probe();
    echo(&kit, &probe).echo_after(ms(2_999), 7).tell();
    probe.expect(7).await;
    assert_eq!(kit.elapsed(), ms(2_999));
}

#[actors_testkit::test]
async fn what_comes_at_the_last_instant_comes_in_time(kit: TestKit) {
    let mut probe = kit.probe();
    let actor = echo(&kit, &probe);
    actor.echo_after(ms(3_000), 1).tell();
    probe.expect(1).await;
    actor.echo_after(ms(50), 2).tell();
    probe.within(ms(50)).expect(2).await;
}

#[actors_testkit::test]
async fn without_time_a_probe_still_waits_for_rest(kit: TestKit) {
    let mut probe = kit.probe();
    let actor = echo(&kit, &probe);
    let second = echo(&kit, actor.recipient(EchoRef::echo));
    second.echo(5).tell();
    probe.within(ms(0)).expect(5).await;
    assert_eq!(kit.elapsed(), ms(0));
}

#[actors_testkit::test]
async fn a_limit_is_for_one_expectation(kit: TestKit) {
    let mut probe = kit.probe();
    tell(&probe, [1]);
    probe.within(ms(1)).expect(1).await;
    echo(&kit, &probe).echo_after(ms(100), 2).tell();
    probe.expect(2).await;
}

#[test]
fn a_wrong_message_is_told_with_what_is_queued() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe_named("numbers");
        tell(&probe, [1, 2, 3]);
        probe.expect(4).await;
    });
    let text = "the probe `numbers` expected 4, but got 1\n  still queued:\n    2\n    3";
    assert_eq!(without_place(&failure), text);
}

#[test]
fn a_message_that_does_not_come_is_told_with_the_limit() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe::<Event>();
        probe.within(ms(20)).expect(Event::Closed).await;
    });
    let text = "the probe of `Event` expected Closed, but nothing came within 20ms\n  still queued: nothing";
    assert_eq!(without_place(&failure), text);
    let failure = failure_of(async |kit| {
        kit.probe::<u32>().within(ms(0)).receive().await;
    });
    assert!(
        failure.starts_with("the probe of `u32` expected a message, but nothing came at once"),
        "{failure}"
    );
}

#[test]
fn a_failure_names_the_line_of_the_expectation() {
    let mut line = 0;
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe::<u32>();
        line = line!() + 1;
        probe.expect(4).await;
    });
    let place = format!("{}:{line}:", file!());
    assert!(
        failure.lines().last().unwrap().contains(&place),
        "{failure}"
    );
}

#[test]
fn a_long_queue_is_shown_in_part() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        tell(&probe, [0; 14]);
        probe.expect(1).await;
    });
    assert!(
        failure.contains("\n    0\n    and 3 more\n  at "),
        "{failure}"
    );
}

#[actors_testkit::test]
async fn a_pattern_takes_a_message_apart(kit: TestKit) {
    let mut probe = kit.probe();
    probe.recipient().tell(Event::Sold { count: 3 });
    probe.recipient().tell(Event::Sold { count: 4 });
    probe.recipient().tell(Event::Closed);
    assert_eq!(expect_matching!(probe, Event::Sold { count } => count), 3);
    expect_matching!(probe, Event::Sold { count } if count > 3);
    expect_matching!(
        probe.within(ms(1)),
        Event::Closed | Event::Sold { count: 0 }
    );
}

#[test]
fn a_pattern_that_does_not_match_is_shown() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        probe.recipient().tell(Event::Sold { count: 3 });
        expect_matching!(probe, Event::Sold { count } if count > 3 => count);
    });
    let text = "the probe of `Event` expected Event::Sold { count } if count > 3, but got Sold { count: 3 }";
    assert_eq!(
        without_place(&failure),
        format!("{text}\n  still queued: nothing")
    );
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        probe.recipient().tell(Event::Sold { count: 3 });
        expect_matching!(probe, Event::Closed);
    });
    assert!(
        failure.starts_with("the probe of `Event` expected Event::Closed, but got Sold"),
        "{failure}"
    );
}

#[test]
fn a_condition_that_does_not_hold_is_described() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        tell(&probe, [2, 3]);
        assert_eq!(
            probe
                .expect_that(|number| number % 2 == 0, "an even number")
                .await,
            2
        );
        probe
            .expect_that(|number| number % 2 == 0, "an even number")
            .await;
    });
    assert!(
        failure.starts_with("the probe of `u32` expected an even number, but got 3"),
        "{failure}"
    );
}

#[actors_testkit::test]
async fn fishing_passes_over_what_is_not_wanted(kit: TestKit) {
    let mut probe = kit.probe();
    tell(&probe, [1, 2, 3, 4]);
    assert_eq!(
        probe
            .fish_for(|number| (number == 3).then_some("three"))
            .await,
        "three"
    );
    probe.expect(4).await;
}

#[test]
fn fishing_in_vain_shows_what_was_passed_over_and_has_one_limit() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        let actor = echo(&kit, &probe);
        actor.echo_after(ms(60), 1).tell();
        actor.echo_after(ms(60), 2).tell();
        probe
            .within(ms(100))
            .fish_for(|number| (number == 2).then_some(()))
            .await;
    });
    let text = "the probe of `u32` expected a message to fish out after [1], but nothing came within 100ms";
    assert!(failure.starts_with(text), "{failure}");
}

#[actors_testkit::test]
async fn nothing_for_a_time_takes_exactly_that_time(kit: TestKit) {
    let mut probe = kit.probe();
    echo(&kit, &probe).echo_after(ms(100), 1).tell();
    probe.expect_nothing().await;
    probe.expect_nothing_for(ms(99)).await;
    assert_eq!(kit.elapsed(), ms(99));
    kit.advance(ms(1)).await;
    probe.within(ms(0)).expect(1).await;
}

#[test]
fn something_in_place_of_nothing_fails() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        echo(&kit, &probe).echo(1).tell();
        probe.expect_nothing().await;
    });
    assert!(
        failure.starts_with("the probe of `u32` expected nothing, but got 1\n"),
        "{failure}"
    );
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        echo(&kit, &probe).echo_after(ms(100), 1).tell();
        probe.expect_nothing_for(ms(100)).await;
    });
    let text = "the probe of `u32` expected nothing for 100ms, but got 1 after 100ms\n";
    assert!(failure.starts_with(text), "{failure}");
}

#[actors_testkit::test]
async fn the_end_of_an_actor_comes_after_all_it_told(kit: TestKit) {
    let mut probe = kit.probe();
    let actor = echo(&kit, &probe);
    probe.watch(&actor);
    probe.watch(&actor);
    (0..100).for_each(|number| actor.echo(number).tell());
    actor.drain().await;
    for number in 0..100 {
        probe.expect(number).await;
    }
    assert_eq!(probe.expect_terminated(&actor).await, StopReason::Drained);
    probe.expect_nothing().await;
}

#[actors_testkit::test]
async fn the_end_of_an_actor_that_is_dead_already_comes_at_once(kit: TestKit) {
    let actor = echo(&kit, &kit.probe());
    actor.kill().await;
    let mut probe = kit.probe::<()>();
    assert_eq!(
        probe.within(ms(0)).expect_terminated(&actor).await,
        StopReason::Killed
    );
    assert_eq!(
        probe.within(ms(0)).expect_terminated(&actor).await,
        StopReason::Killed
    );
}

#[actors_testkit::test]
async fn the_ends_of_several_actors_may_be_expected_in_any_order(kit: TestKit) {
    let mut probe = kit.probe();
    let actors = [echo(&kit, &probe), echo(&kit, &probe), echo(&kit, &probe)];
    for actor in &actors {
        probe.watch(actor);
        actor.stop().await;
    }
    for actor in actors.iter().rev() {
        probe.expect_terminated(actor).await;
    }
}

#[test]
fn a_message_before_the_end_must_be_received_first() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        let actor = echo(&kit, &probe);
        actor.echo(1).tell();
        actor.drain().await;
        probe.expect_terminated(&actor).await;
    });
    let queued = "still queued:\n    the news that /failing/$1 ended: drained";
    let text =
        format!("the probe of `u32` expected the end of /failing/$1 (#1), but got 1\n  {queued}");
    assert_eq!(without_place(&failure), text);
}

#[test]
fn an_end_in_place_of_a_message_fails() {
    let failure = failure_of(async |kit| {
        let mut probe = kit.probe();
        let actor = echo(&kit, &probe);
        probe.watch(&actor);
        actor.stop().await;
        probe.expect(1).await;
    });
    let text = "the probe of `u32` expected 1, but got the news that /failing/$1 ended: stopped";
    assert!(failure.starts_with(text), "{failure}");
}

#[test]
fn an_actor_that_lives_on_fails_the_wait_for_its_end() {
    let failure = failure_of(async |kit| {
        let actor = echo(&kit, &kit.probe());
        kit.probe::<()>().expect_terminated(&actor).await;
    });
    let text = "the probe of `()` expected the end of /failing/$1 (#1), but nothing came within 3s";
    assert!(failure.starts_with(text), "{failure}");
}

#[actors_testkit::test]
async fn an_expectation_that_is_dropped_has_taken_nothing(kit: TestKit) {
    let mut probe = kit.probe();
    drop(probe.expect(1));
    tell(&probe, [1]);
    drop(probe.receive());
    probe.expect(1).await;
}
