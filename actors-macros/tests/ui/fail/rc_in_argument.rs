use actors_core::prelude::*;
use std::rc::Rc;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn deposit(&mut self, amount: u64) -> u64 {
        amount
    }

    #[handler]
    async fn annotate(&mut self, note: Rc<String>) {
        std::future::ready(()).await;
        drop(note);
    }
}

fn main() {
    let _ = |account: &AccountRef| account.annotate(Rc::default()).tell();
}
