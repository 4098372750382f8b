use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn deposit(amount: u64) -> u64 {
        amount
    }

    #[handler]
    fn balance(&self) -> u64 {
        0
    }
}

fn main() {
    let _ = |account: &AccountRef| account.balance().tell();
}
