//! A test with a parameter.

use actors_testkit::TestKit;

#[actors_testkit::test]
async fn it_works<T: Send + 'static>(kit: TestKit) {
    kit.probe::<T>();
}

fn main() {}
