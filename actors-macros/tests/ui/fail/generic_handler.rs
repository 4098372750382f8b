use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn show<T: ToString>(&mut self, value: T) -> String {
        value.to_string()
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
