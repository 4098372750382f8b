//! What a handler may take and answer.

#![deny(warnings)]

use actors_core::{Call, Fallible, Message, prelude::*};
use std::io;

type Answer<T> = Result<T, String>;

struct Account {
    balance: u64,
}

#[actor]
impl Account {
    const LENGTH: usize = 2;

    #[handler]
    fn statics(&mut self, name: &'static str, names: &'static [&'static str]) -> &'static str {
        names.first().unwrap_or(&name)
    }

    #[handler]
    fn closures(&mut self, f: Box<dyn Fn(&u64) -> &u64 + Send>, g: for<'a> fn(&'a u64) -> &'a u64) {
        let (_, _) = (f(&self.balance), g(&self.balance));
    }

    #[handler]
    fn mutable(&mut self, mut amount: u64) -> u64 {
        amount += 1;
        amount
    }

    #[handler]
    fn selves(&mut self, other: Self, f: fn(&Self) -> u64) -> Option<Self> {
        self.balance += f(&other);
        Some(other)
    }

    #[handler]
    fn any_order(
        &self,
        first: u64,
        back: ReplyTo<io::Result<u64>>,
        second: u64,
        context: &mut ActorContext<Self>,
    ) {
        let _ = context;
        back.send(Ok(first + second));
    }

    #[handler]
    fn shadows(&mut self, msg: u64, ctx: u64, value0: u64, this: u64, f: u64) -> u64 {
        msg + ctx + value0 + this + f
    }

    #[handler]
    async fn shadows_async(&self, error: u64, value1: u64) -> io::Result<u64> {
        Ok(error + value1)
    }

    #[handler]
    fn raw(&mut self, r#type: u8) -> u8 {
        r#type
    }

    #[handler]
    fn r#match(&mut self) {}

    #[handler]
    fn self_(&mut self) {}

    #[handler(fallible)]
    fn aliased(&self) -> Answer<u64> {
        Ok(self.balance)
    }

    #[handler(fallible, err_is_failure)]
    async fn failing(&self) -> Answer<u64> {
        Ok(self.balance)
    }

    #[handler(fallible)]
    fn later(&self, reply: ReplyTo<Answer<u64>>) {
        reply.send(Ok(self.balance));
    }

    #[handler]
    fn array(&mut self, bytes: [u8; Self::LENGTH]) -> [u8; Self::LENGTH] {
        bytes
    }

    #[handler]
    fn typed_self(self: &mut Self) {}
}

fn main() {
    let _ = |account: &AccountRef| {
        let _: Call<'_, Account, Fallible<io::Result<u64>>, (u64, u64)> = account.any_order(1, 2);
        let _: Call<'_, Account, Fallible<Answer<u64>>, ()> = account.aliased();
        let _: Call<'_, Account, Fallible<Result<u64, String>>, ()> = account.failing();
        let _: Call<'_, Account, Fallible<Result<u64, String>>, ()> = account.later();
        account.closures(Box::new(|x| x), |x| x).tell();
        account.r#match().tell();
        account.shadows(1, 2, 3, 4, 5).tell();
    };
    let message = AccountMsg::Match {
        reply: ReplyTo::nobody(),
    };
    assert_eq!(message.variant(), "Match");
    let mut account = Account { balance: 1 };
    assert!(
        account
            .selves(Account { balance: 2 }, |other| other.balance)
            .is_some()
    );
    assert_eq!(account.balance, 3);
}
