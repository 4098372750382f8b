//! An actor may live inside a function, and two functions may have one of the same name.

#![deny(warnings)]

use actors_core::prelude::*;

fn first() {
    struct Local;

    #[actor]
    impl Local {
        #[handler]
        async fn tick(&mut self, count: u8) -> u8 {
            std::future::ready(count).await
        }
    }

    let _ = |local: &LocalRef| local.tick(1).tell();
    let _ = Local;
}

fn second() {
    struct Local;

    #[actor]
    impl Local {
        #[handler]
        fn tick(&self) {}
    }

    let _ = |local: &LocalRef| local.tick().tell();
    let _ = Local;
}

fn main() {
    first();
    second();
}
