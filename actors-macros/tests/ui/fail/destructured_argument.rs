use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn transfer(&mut self, (from, to): (u64, u64)) -> u64 {
        from + to
    }

    #[handler]
    fn ignore(&mut self, _: u64) {}
}

fn main() {
    let _: Option<AccountRef> = None;
}
