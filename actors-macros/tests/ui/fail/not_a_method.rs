use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    unsafe fn deposit(&mut self, amount: u64) -> u64 {
        amount
    }

    #[handler]
    const LIMIT: u64 = 5;
}

fn main() {
    let _ = Account;
}
