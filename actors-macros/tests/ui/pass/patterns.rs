//! What is not a field of the message needs no name.

#![deny(warnings)]

use actors_core::{Failure, StopReason, Terminated, prelude::*};

struct Account {
    balance: u64,
}

#[actor]
impl Account {
    #[on_start]
    fn start(&mut self, _: &mut ActorContext<Self>) {}

    #[on_stop]
    async fn ended(&mut self, _: &StopReason, mut _ctx: &mut ActorContext<Self>) {}

    #[on_restart]
    fn replaced(&mut self, _: &mut ActorContext<Self>, _cause: &Failure) {}

    #[on_terminated]
    fn gone(&mut self, _: Terminated) {}

    #[handler]
    fn unnamed(&mut self, _: &mut ActorContext<Self>, _: ReplyTo<u64>, _amount: u64) {}

    #[handler]
    fn mutable(&mut self, mut reply: ReplyTo<u64>, mut amount: u64) {
        amount += self.balance;
        let back = &mut reply;
        let _ = back;
        reply.send(amount);
    }
}

struct Watcher {
    seen: Vec<String>,
}

#[actor]
impl Watcher {
    #[on_terminated]
    async fn gone(&mut self, mut who: Terminated) {
        let who = &mut who;
        self.seen.push(format!("{who:?}"));
    }

    #[on_stop]
    fn ended(&mut self, _reason: &StopReason) {}
}

fn main() {
    let _ = |account: &AccountRef| account.unnamed(1).tell();
    let _ = |_: &WatcherRef| ();
    let _ = (Account { balance: 0 }, Watcher { seen: Vec::new() });
}
