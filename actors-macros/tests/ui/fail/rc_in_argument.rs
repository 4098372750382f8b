use actors_core::prelude::*;
use std::rc::Rc;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn deposit(&mut self, amount: u64, note: Rc<String>) -> u64 {
        drop(note);
        amount
    }
}

struct Teller;

#[actor]
impl Teller {
    #[handler]
    async fn serve(&mut self, customer: Option<Rc<String>>) {
        std::future::ready(()).await;
        drop(customer);
    }
}

fn main() {
    let _ = |account: &AccountRef| account.deposit(5, Rc::default()).tell();
}
