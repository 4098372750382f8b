use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn audit(&mut self, reply: ReplyTo<u64>) -> u64 {
        drop(reply);
        0
    }

    #[handler]
    fn twice(&mut self, reply: ReplyTo<u64>, other: ReplyTo<u64>) {
        drop((reply, other));
    }

    #[handler(err_is_failure)]
    fn failing(&mut self, reply: ReplyTo<Result<u64, String>>) {
        drop(reply);
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
