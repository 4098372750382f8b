//! The whole of an actor, and that its methods stay ordinary methods.

use actors_core::{Call, Fallible, Value, prelude::*};
use std::fmt;

#[derive(Default)]
struct Account {
    balance: u64,
}

#[derive(Debug)]
struct Overdrawn;

impl fmt::Display for Overdrawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("overdrawn")
    }
}

impl std::error::Error for Overdrawn {}

#[actor]
impl Account {
    #[handler]
    pub fn deposit(&mut self, amount: u64) -> u64 {
        self.balance += amount;
        self.balance
    }

    #[handler]
    pub async fn withdraw(&mut self, amount: u64) -> Result<u64, Overdrawn> {
        std::future::ready(()).await;
        self.balance = self.balance.checked_sub(amount).ok_or(Overdrawn)?;
        Ok(self.balance)
    }

    #[handler]
    pub fn audit(&mut self, ctx: &mut ActorContext<Self>, reply: ReplyTo<u64>) {
        let _ = ctx;
        reply.send(self.balance);
    }

    #[on_start]
    async fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Overdrawn> {
        let _ = ctx;
        Ok(())
    }

    #[on_stop]
    async fn ended(&mut self, reason: &StopReason) {
        let _ = reason;
    }

    #[on_restart]
    fn replaced(&mut self, ctx: &mut ActorContext<Self>, cause: &Failure) {
        let _ = (ctx, cause);
    }

    #[on_terminated]
    fn gone(&mut self, who: Terminated) {
        drop(who);
    }
}

/// What a pipe, a timer or a recipient asks of a stub path.
fn takes_path<F>(_: F)
where
    F: for<'a> Fn(&'a AccountRef, u64) -> Call<'a, Account, Value<u64>, (u64,)>,
{
}

fn main() {
    let mut account = Account::default();
    assert_eq!(account.deposit(5), 5);
    takes_path(AccountRef::deposit);
    let _ = |account: &AccountRef| {
        account.deposit(5).tell();
        let _: Call<'_, Account, Fallible<Result<u64, Overdrawn>>, (u64,)> = account.withdraw(5);
        let _: Call<'_, Account, Value<u64>, ()> = account.audit();
        assert_eq!(account, &account.clone());
        format!("{account:?} {:?}", account.actor_id())
    };
}
