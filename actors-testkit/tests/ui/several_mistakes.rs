//! Each mistake is told.

use actors_testkit::TestKit;

#[actors_testkit::test]
unsafe fn it_works() {
    let _ = TestKit::settle;
}

fn main() {}
