use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn close(self) {}

    #[handler]
    fn close_boxed(self: Box<Self>) {}

    #[on_stop]
    fn ended(self) {}
}

fn main() {
    let _: Option<AccountRef> = None;
}
