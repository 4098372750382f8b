//! Names, the path of the crate, a policy.

#![deny(warnings)]

mod facade {
    pub use actors_core as inner;
}

use actors_core::{Message, prelude::*};

struct Account;

#[actor(
    crate = crate::facade::inner,
    msg = Order,
    ref = Clerk,
    supervision = policy(),
)]
impl Account {
    #[handler]
    async fn deposit(&mut self, amount: u64) -> Result<u64, String> {
        std::future::ready(Ok(amount)).await
    }
}

fn policy() -> Supervision {
    Supervision::stop()
}

fn main() {
    let _ = |clerk: &Clerk| clerk.deposit(5).tell();
    let order = Order::Deposit {
        amount: 5,
        reply: ReplyTo::nobody(),
    };
    assert_eq!(order.variant(), "Deposit");
    assert!(Account::supervision().is_some());
}
