use actors_core::prelude::*;
use std::collections::HashMap;

struct Account;

#[actor]
impl Account {
    #[handler]
    async fn deposit(&mut self, amount: Amuont) -> u64 {
        drop(amount);
        0
    }

    #[handler]
    async fn pay(&mut self, amount: u64) -> Result<u64, Overdrwn> {
        Ok(amount)
    }

    #[handler]
    async fn list(&mut self, names: HashMap<String>) {
        drop(names);
    }
}

#[actor]
impl Acount {
    #[handler]
    async fn deposit(&mut self, amount: u64) -> u64 {
        amount
    }
}

fn main() {
    let _ = |account: &AccountRef| account.pay(5).tell();
    let _: Option<AcountRef> = None;
}
