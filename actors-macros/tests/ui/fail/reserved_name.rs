use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn stop(&mut self) {}

    #[handler]
    fn clone(&mut self) {}

    #[handler]
    fn name(&mut self) {}
}

fn main() {
    let _ = |account: &AccountRef| account.name().tell();
}
