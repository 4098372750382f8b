use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn audit(&mut self, ctx: ActorContext<Self>) {
        drop(ctx);
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
