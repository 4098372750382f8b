use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn deposit(&mut self, amount: u64) -> u64 {
        amount
    }

    #[handler]
    fn deposit(&mut self, amount: u32) -> u32 {
        amount
    }

    #[handler]
    fn depos_it(&mut self) {}

    #[handler]
    fn depos__it(&mut self) {}
}

fn main() {
    let _ = |account: &AccountRef| account.deposit(5).tell();
}
