use actors_core::prelude::*;
use std::rc::Rc;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn note(&mut self) -> Rc<String> {
        Rc::default()
    }

    #[handler]
    async fn notes(&self) -> Result<Vec<Rc<u8>>, String> {
        Err(String::new())
    }

    #[handler]
    async fn later(&mut self) -> u64 {
        std::future::ready(1).await
    }
}

fn main() {
    let _ = |account: &AccountRef| account.later().tell();
}
