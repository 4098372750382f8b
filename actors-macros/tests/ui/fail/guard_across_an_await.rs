use actors_core::prelude::*;
use std::sync::{Arc, Mutex};

struct Account {
    balance: Arc<Mutex<u64>>,
}

#[actor]
impl Account {
    #[handler]
    async fn deposit(&mut self, amount: u64) -> u64 {
        let balance = Arc::clone(&self.balance);
        let mut guard = balance.lock().unwrap();
        std::future::ready(()).await;
        *guard += amount;
        *guard
    }
}

fn main() {
    let _ = |account: &AccountRef| account.deposit(5).tell();
}
