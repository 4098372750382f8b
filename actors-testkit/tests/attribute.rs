//! What `#[actors_testkit::test]` accepts.

use actors_core::prelude::*;
use actors_testkit as kits;
use actors_testkit::TestKit;

#[derive(Default)]
struct Counter {
    sum: u64,
}

#[actor]
impl Counter {
    #[handler]
    fn add(&mut self, number: u64) -> u64 {
        self.sum += number;
        self.sum
    }

    #[handler]
    async fn wait(&mut self) {
        std::future::pending::<()>().await;
    }
}

#[actors_testkit::test]
async fn a_test_may_return_a_result(kit: TestKit) -> Result<(), Box<dyn std::error::Error>> {
    let counter = kit.spawn("counter", Counter::default)?;
    assert_eq!(counter.add(3).await?, 3);
    Ok(())
}

#[actors_testkit::test]
async fn a_kit_may_be_mutable(mut kit: TestKit) {
    let _: &mut TestKit = &mut kit;
}

#[actors_testkit::test]
async fn a_kit_may_be_ignored(_: TestKit) {}

#[actors_testkit::test]
#[should_panic(expected = "left == right")]
async fn other_attributes_are_kept(kit: TestKit) {
    assert_eq!(kit.name(), "");
}

#[cfg(false)]
#[actors_testkit::test]
async fn a_test_may_be_left_out(kit: TestKit) {
    this_does_not_compile(kit);
}

#[actors_testkit::test(system = |system| system.ask_timeout(ms(7)))]
async fn the_system_may_have_settings(kit: TestKit) {
    let counter = kit.spawn("counter", Counter::default).unwrap();
    assert!(counter.wait().await.is_err());
    assert_eq!(kit.elapsed(), ms(7));
}

#[actors_testkit::test(crate = crate::kits)]
async fn the_crate_may_have_another_name(kit: TestKit) {
    kit.settle().await;
}

#[actors_testkit::test]
async fn r#match(kit: TestKit) {
    assert_eq!(kit.name(), "match");
}
