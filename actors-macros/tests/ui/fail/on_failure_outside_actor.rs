use actors_core::prelude::*;

struct Account;

impl Account {
    #[on_failure]
    fn decide(&mut self, failure: &Failure) -> Directive {
        let _ = failure;
        Directive::Stop
    }
}

fn main() {
    let _ = Account;
}
