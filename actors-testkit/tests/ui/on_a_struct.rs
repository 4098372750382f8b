//! The attribute on something else.

use actors_testkit::TestKit;

#[actors_testkit::test]
struct ItWorks(TestKit);

fn main() {}
