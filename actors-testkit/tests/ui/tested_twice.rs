//! A test that is one already.

use actors_testkit::TestKit;

#[actors_testkit::test]
#[test]
async fn it_works(kit: TestKit) {
    kit.settle().await;
}

fn main() {}
