//! Actors of another crate: their public handlers, and a generic one.

#![deny(warnings)]

use actors_core::prelude::*;
use actors_macros_remote::{Counter, CounterMsg, CounterRef, Holder, HolderRef};

fn main() {
    let _ = |counter: &CounterRef, holder: &HolderRef<String>| {
        counter.add(5).tell();
        holder.replace(String::new()).tell();
    };
    let message = CounterMsg::Add {
        number: 5,
        reply: ReplyTo::nobody(),
    };
    assert_eq!(format!("{message:?}"), "Add { number: 5 }");
    assert_eq!(Counter::default().add(2), 2);
    let _: Option<Holder<u8>> = None;
}
