use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn each(&mut self, visit: impl Fn(u64)) {
        visit(0);
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
