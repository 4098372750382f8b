//! `#[cfg]` goes along with a handler, a hook and a whole block.

#![deny(warnings)]

use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[cfg(any())]
    #[handler]
    fn never(&mut self, argument: NoSuchType) -> NoSuchType {
        argument
    }

    #[handler]
    #[cfg(all())]
    fn chosen(&mut self) -> u8 {
        1
    }

    #[handler]
    #[cfg(any())]
    fn chosen(&mut self, amount: u64) -> u64 {
        amount
    }

    #[on_start]
    #[cfg(any())]
    async fn start(&mut self) {}

    #[on_start]
    #[cfg(all())]
    fn start(&mut self) {}
}

#[actor]
#[cfg(any())]
impl NoSuchActor {
    #[handler]
    fn never(&mut self) {}
}

fn main() {
    let _ = |account: &AccountRef| account.chosen().tell();
}
