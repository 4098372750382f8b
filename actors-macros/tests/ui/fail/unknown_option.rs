use actors_core::prelude::*;

struct Account;

#[actor(name = "account")]
impl Account {
    #[handler(blocking)]
    fn deposit(&mut self, amount: u64) -> u64 {
        amount
    }

    #[on_start(now)]
    fn start(&mut self) {}
}

fn main() {
    let _: Option<AccountRef> = None;
}
