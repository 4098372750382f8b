use actors_core::prelude::*;

struct Account {
    name: String,
}

#[actor]
impl Account {
    #[handler]
    fn owner(&self) -> &str {
        &self.name
    }

    #[handler]
    fn letters(&self) -> impl Iterator<Item = char> {
        self.name.clone().into_bytes().into_iter().map(char::from)
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
