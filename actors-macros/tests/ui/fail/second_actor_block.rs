use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn deposit(&mut self, amount: u64) -> u64 {
        amount
    }
}

#[actor]
impl Account {
    #[handler]
    fn withdraw(&mut self, amount: u64) -> u64 {
        amount
    }
}

fn main() {}
