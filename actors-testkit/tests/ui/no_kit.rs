//! A test without a kit.

use actors_testkit::TestKit;

#[actors_testkit::test]
async fn it_works() {
    let _ = TestKit::settle;
}

fn main() {}
