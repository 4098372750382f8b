use actors_core::prelude::*;

type Answer = Result<u64, String>;
type Of<T> = Result<T, String>;

struct Account;

#[actor]
impl Account {
    #[handler]
    fn withdraw(&mut self, amount: u64) -> Answer {
        Ok(amount)
    }
}

struct Holder<T>(T);

#[actor]
impl<T: Clone + Send + 'static> Holder<T> {
    #[handler]
    fn held(&mut self) -> Of<T> {
        Ok(self.0.clone())
    }
}

fn main() {
    let _: Option<AccountRef> = None;
}
