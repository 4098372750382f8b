use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[on_start]
    async fn start(&mut self) -> u64 {
        5
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
