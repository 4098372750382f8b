use actors_core::prelude::*;

trait Named {}

#[actor]
impl dyn Named {}

struct Borrowing<'a>(&'a str);

#[actor]
impl<'a> Borrowing<'a> {}

fn main() {
    let _ = Borrowing("");
}
