use actors_core::prelude::*;

struct Account {
    balance: u64,
}

#[actor]
impl Account {
    #[handler]
    fn deposit(&mut self, amount: u64) -> u64 {
        self.balence + amount
    }
}

fn main() {
    let _ = |account: &AccountRef| account.deposit(5).tell();
}
