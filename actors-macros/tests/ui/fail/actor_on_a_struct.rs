use actors_core::prelude::*;

#[actor]
struct Account;

fn main() {
    let _ = Account;
}
