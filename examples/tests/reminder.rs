//! The first test of the page about testing: a probe, and a clock that the test moves.

// ANCHOR: test
use actors_core::prelude::*;
use actors_testkit::TestKit;
use std::time::Duration;

struct Reminder {
    to: Recipient<&'static str>,
}

#[actor]
impl Reminder {
    #[handler]
    async fn remind(&mut self, after: Duration) {
        tokio::time::sleep(after).await;
        self.to.tell("time is up");
    }
}

#[actors_testkit::test]
async fn a_reminder_comes_in_time(kit: TestKit) {
    let mut probe = kit.probe::<&str>();
    let to = probe.recipient();
    let reminder = kit
        .spawn("reminder", move || Reminder { to: to.clone() })
        .unwrap();

    reminder.remind(secs(60)).tell();
    probe.expect_nothing_for(ms(59_999)).await;
    kit.advance(ms(1)).await;
    probe.expect("time is up").await;
}
// ANCHOR_END: test
