use actors_core::prelude::*;
use std::cell::Cell;

struct Account {
    balance: Cell<u64>,
}

#[actor]
impl Account {
    #[handler]
    async fn balance(&self) -> u64 {
        std::future::ready(()).await;
        self.balance.get()
    }

    #[handler]
    fn at_once(&self) -> u64 {
        self.balance.get()
    }

    #[on_stop]
    async fn ended(&self) {}
}

fn main() {
    let _ = |account: &AccountRef| account.at_once().tell();
}
