use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[on_failure]
    fn decide(&mut self, failure: &Failure) -> bool {
        failure.is_panic()
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
