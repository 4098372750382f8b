//! A probe in the place of an actor.

mod common;

use actors_core::prelude::*;
use actors_testkit::{TestKit, expect_matching};
use common::{failure_of, without_place};

#[derive(Default)]
struct Account {
    balance: u64,
}

#[derive(Debug, PartialEq)]
struct Overdrawn;

#[actor]
impl Account {
    #[handler]
    fn deposit(&mut self, amount: u64) -> u64 {
        self.balance += amount;
        self.balance
    }

    #[handler]
    fn withdraw(&mut self, amount: u64) -> Result<u64, Overdrawn> {
        self.balance = self.balance.checked_sub(amount).ok_or(Overdrawn)?;
        Ok(self.balance)
    }
}

/// Moves money from one account to another.
struct Transfer {
    from: AccountRef,
    to: AccountRef,
}

#[actor]
impl Transfer {
    #[handler]
    async fn transfer(&mut self, amount: u64) -> Result<u64, String> {
        self.from
            .withdraw(amount)
            .await
            .map_err(|error| format!("no withdrawal: {error:?}"))?;
        self.to
            .deposit(amount)
            .await
            .map_err(|error| format!("no deposit: {error:?}"))
    }
}

fn transfer(kit: &TestKit, from: AccountRef, to: AccountRef) -> TransferRef {
    kit.spawn("transfer", move || Transfer {
        from: from.clone(),
        to: to.clone(),
    })
    .expect("the name is free")
}

#[actors_testkit::test]
async fn the_code_under_test_takes_a_stand_in_for_the_actor(kit: TestKit) {
    let mut probe = kit.probe();
    let from = kit.spawn("from", || Account { balance: 100 }).unwrap();
    let (to, mut seen) = kit.stand_in::<Account>();
    transfer(&kit, from, to).transfer(30).reply_to(&probe);
    match seen.receive().await {
        AccountMsg::Deposit { amount, reply, .. } => {
            assert_eq!(amount, 30);
            reply.send(50);
        }
        other => panic!("{other:?}"),
    }
    probe.expect(Ok(50)).await;
}

#[actors_testkit::test]
async fn a_stand_in_answers_a_domain_error(kit: TestKit) {
    let mut probe = kit.probe();
    let (from, mut seen) = kit.stand_in::<Account>();
    let (to, mut unused) = kit.stand_in::<Account>();
    transfer(&kit, from, to).transfer(30).reply_to(&probe);
    expect_matching!(seen, AccountMsg::Withdraw { amount: 30, reply } => reply)
        .send(Err(Overdrawn));
    probe
        .expect(Err("no withdrawal: Handler(Overdrawn)".to_owned()))
        .await;
    unused.expect_nothing().await;
}

#[actors_testkit::test]
async fn a_message_that_is_dropped_answers_no_reply(kit: TestKit) {
    let (account, mut seen) = kit.stand_in::<Account>();
    let mut probe = kit.probe();
    let other = account.clone();
    transfer(&kit, account, other).transfer(1).reply_to(&probe);
    drop(seen.receive().await);
    expect_matching!(probe, Err(text) if text.starts_with("no withdrawal: NoReply"));
}

#[actors_testkit::test]
async fn a_stand_in_that_keeps_the_message_lets_the_asker_time_out(kit: TestKit) {
    let (account, mut seen) = kit.stand_in::<Account>();
    let (answer, kept) = tokio::join!(account.deposit(1).ask().timeout(ms(200)), seen.receive());
    assert!(
        matches!(
            answer,
            Err(AskError::Timeout {
                phase: Phase::Running,
                ..
            })
        ),
        "{answer:?}"
    );
    assert_eq!(kit.elapsed(), ms(200));
    drop(kept);
}

#[actors_testkit::test]
async fn a_stand_in_can_stop_and_be_watched(kit: TestKit) {
    let (account, _seen) = kit.stand_in::<Account>();
    let mut probe = kit.probe::<()>();
    probe.watch(&account);
    account.stop().await;
    assert_eq!(probe.expect_terminated(&account).await, StopReason::Stopped);
    assert!(matches!(
        account.deposit(1).await,
        Err(AskError::Stopped { .. })
    ));
}

#[test]
fn a_wrong_message_to_a_stand_in_is_shown() {
    let failure = failure_of(async |kit| {
        let (account, mut seen) = kit.stand_in::<Account>();
        account.withdraw(3).tell();
        expect_matching!(seen, AccountMsg::Deposit { .. });
    });
    let text = "the stand-in for `Account` expected AccountMsg::Deposit { .. }, but got Withdraw { amount: 3 }";
    assert_eq!(
        without_place(&failure),
        format!("{text}\n  still queued: nothing")
    );
}
