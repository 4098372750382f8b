use actors_core::prelude::*;

struct Account;

#[actor]
impl Drop for Account {
    fn drop(&mut self) {}
}

fn main() {
    let _ = Account;
}
