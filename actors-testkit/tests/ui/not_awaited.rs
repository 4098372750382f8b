//! An expectation does nothing until it is awaited.

use actors_testkit::TestKit;

#[deny(unused_must_use)]
async fn it_works(kit: TestKit) {
    kit.settle();
    kit.probe().expect(1);
}

fn main() {}
