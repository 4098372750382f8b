//! An option that there is not.

use actors_testkit::TestKit;

#[actors_testkit::test(flavor = "multi_thread")]
async fn it_works(kit: TestKit) {
    kit.settle().await;
}

fn main() {}
