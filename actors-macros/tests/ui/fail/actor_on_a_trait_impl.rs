use actors_core::prelude::*;

trait Teller {
    fn serve(&mut self) {}
}

struct Account;

#[actor]
impl Teller for Account {
    #[handler]
    fn serve(&mut self) {}
}

fn main() {
    Account.serve();
}
