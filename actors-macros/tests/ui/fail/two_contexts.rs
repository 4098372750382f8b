use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn audit(&mut self, ctx: &mut ActorContext<Self>, other: &mut ActorContext<Self>) {
        let _ = (ctx, other);
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
