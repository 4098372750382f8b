//! A test that is not async.

use actors_testkit::TestKit;

#[actors_testkit::test]
fn it_works(kit: TestKit) {
    drop(kit);
}

fn main() {}
