use actors_core::prelude::*;

struct Account;

impl Account {
    #[handler]
    fn deposit(&mut self, amount: u64) -> u64 {
        amount
    }

    #[on_start]
    fn start(&mut self) {}
}

fn main() {
    Account.start();
    assert_eq!(Account.deposit(5), 5);
}
