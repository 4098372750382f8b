//! Virtual time and rest.

use std::time::Duration;

use actors_core::prelude::*;
use actors_testkit::TestKit;
use tokio::time::Instant;

/// Ticks every so often, and says when.
struct Ticker {
    every: Duration,
    began: Instant,
    to: Recipient<Duration>,
}

#[actor]
impl Ticker {
    #[handler]
    async fn tick(&mut self, ctx: &mut ActorContext<Self>) {
        tokio::time::sleep_until(Instant::now() + self.every).await;
        self.to.tell(self.began.elapsed());
        ctx.me().tick().tell();
    }
}

/// Passes a number on to the next, and the last one to the probe.
struct Link {
    to: Recipient<u32>,
}

#[actor]
impl Link {
    #[handler]
    fn pass(&mut self, number: u32) {
        self.to.tell(number + 1);
    }
}

#[actors_testkit::test]
async fn each_timer_fires_at_its_own_time_while_time_advances(kit: TestKit) {
    let mut probe = kit.probe();
    let to = probe.recipient();
    let ticker = move || Ticker {
        every: ms(10),
        began: Instant::now(),
        to: to.clone(),
    };
    kit.spawn("ticker", ticker).unwrap().tick().tell();
    kit.advance(ms(35)).await;
    for at in [10, 20, 30] {
        assert_eq!(probe.try_receive(), Some(ms(at)));
    }
    assert_eq!(probe.try_receive(), None);
    assert_eq!(kit.elapsed(), ms(35));
}

#[actors_testkit::test]
async fn time_advances_by_fractions_of_a_millisecond_too(kit: TestKit) {
    for _ in 0..5 {
        kit.advance(Duration::from_micros(300)).await;
    }
    assert_eq!(kit.elapsed(), Duration::from_micros(1_500));
    kit.advance(ms(2)).await;
    assert_eq!(kit.elapsed(), Duration::from_micros(3_500));
    kit.advance(Duration::from_nanos(500_001)).await;
    assert_eq!(kit.elapsed(), Duration::from_nanos(4_000_001));
}

#[actors_testkit::test]
async fn a_year_passes_in_no_time(kit: TestKit) {
    kit.advance(secs(365 * 86_400)).await;
    assert_eq!(kit.elapsed(), secs(365 * 86_400));
}

#[actors_testkit::test]
async fn rest_comes_when_the_last_of_a_long_chain_has_run(kit: TestKit) {
    let mut probe = kit.probe();
    let mut next = probe.recipient();
    for _ in 0..2_000 {
        let to = next.clone();
        next = kit
            .spawn_anonymous(move || Link { to: to.clone() })
            .unwrap()
            .recipient(LinkRef::pass);
    }
    next.tell(0);
    kit.settle().await;
    assert_eq!(probe.try_receive(), Some(2_000));
    assert_eq!(kit.elapsed(), Duration::ZERO);
}

#[actors_testkit::test]
async fn rest_waits_for_tasks_that_are_no_actors(kit: TestKit) {
    let mut probe = kit.probe();
    let to = probe.recipient();
    let task = tokio::runtime::Handle::current().spawn(async move {
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
        to.tell(());
    });
    kit.settle().await;
    assert!(task.is_finished());
    assert_eq!(probe.try_receive(), Some(()));
}

#[actors_testkit::test]
async fn rest_does_not_wait_for_what_needs_time(kit: TestKit) {
    let mut probe = kit.probe();
    let to = probe.recipient();
    let ticker = move || Ticker {
        every: ms(1),
        began: Instant::now(),
        to: to.clone(),
    };
    kit.spawn("ticker", ticker).unwrap().tick().tell();
    kit.settle().await;
    kit.settle().await;
    assert_eq!((probe.try_receive(), kit.elapsed()), (None, Duration::ZERO));
}

#[actors_testkit::test]
async fn several_may_wait_for_rest_at_once(kit: TestKit) {
    tokio::join!(
        kit.settle(),
        kit.advance(ms(5)),
        kit.settle(),
        kit.advance(ms(3))
    );
    assert_eq!(kit.elapsed(), ms(5));
}
