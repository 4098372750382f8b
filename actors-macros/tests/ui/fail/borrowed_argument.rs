use actors_core::prelude::*;
use std::{borrow::Cow, collections::HashMap};

struct Account;

#[actor]
impl Account {
    #[handler]
    fn rename(&mut self, name: &str) {
        drop(name);
    }

    #[handler]
    fn append(&mut self, bytes: &[u8]) {
        drop(bytes);
    }

    #[handler]
    fn nested(&mut self, names: HashMap<u64, &mut String>) {
        drop(names);
    }

    #[handler]
    fn hidden(&mut self, name: Cow<'_, str>) {
        drop(name);
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
