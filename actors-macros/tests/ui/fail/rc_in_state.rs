use actors_core::prelude::*;
use std::rc::Rc;

struct Account {
    balance: Rc<u64>,
}

#[actor]
impl Account {
    #[handler]
    fn balance(&self) -> u64 {
        *self.balance
    }

    #[handler]
    async fn deposit(&mut self, amount: u64) -> u64 {
        std::future::ready(()).await;
        amount
    }

    #[on_start]
    async fn start(&mut self) {}
}

fn main() {
    let _ = |account: &AccountRef| account.deposit(5).tell();
}
