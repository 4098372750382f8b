//! A test that wants something else.

use actors_testkit::TestKit;

#[actors_testkit::test]
async fn it_works(kit: &TestKit) {
    kit.settle().await;
}

fn main() {}
