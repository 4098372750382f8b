use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[on_start]
    fn start(&mut self, amount: u64) {
        let _ = amount;
    }

    #[on_stop]
    fn ended(&mut self, reason: StopReason) {
        drop(reason);
    }

    #[on_terminated]
    fn gone(&mut self, who: Terminated, again: Terminated) {
        drop((who, again));
    }

    #[on_restart]
    fn first(&mut self) {}

    #[on_restart]
    fn second(&mut self) {}

    #[handler]
    #[on_restart]
    fn both(&mut self) {}
}

fn main() {
    let _: Option<AccountRef> = None;
}
