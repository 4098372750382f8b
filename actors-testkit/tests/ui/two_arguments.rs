//! A test that wants more than a kit.

use actors_testkit::TestKit;

#[actors_testkit::test]
async fn it_works(kit: TestKit, number: u32) {
    drop((kit, number));
}

fn main() {}
