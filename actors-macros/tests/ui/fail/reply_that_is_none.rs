use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn audit(&mut self, reply: String) {
        drop(reply);
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
