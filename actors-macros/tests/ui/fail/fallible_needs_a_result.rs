use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler(fallible)]
    fn deposit(&mut self, amount: u64) -> u64 {
        amount
    }

    #[handler(err_is_failure)]
    fn balance(&mut self) -> u64 {
        0
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
