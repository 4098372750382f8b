//! What several files of tests need.

use std::panic::{AssertUnwindSafe, catch_unwind};

use actors_testkit::{Outcome, TestKit};

/// Runs a test that must fail, and gives the text of its panic.
pub(crate) fn failure_of<T: Outcome>(test: impl AsyncFnOnce(TestKit) -> T) -> String {
    let run = || drop(TestKit::run("failing", test));
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("the test should have failed");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a panic has a text")).to_owned(),
    }
}

/// Says that the failure names a line of this file, and gives the text before that.
pub(crate) fn without_place(failure: &str) -> &str {
    let (text, place) = failure
        .rsplit_once("\n  at ")
        .expect("a failure names the line of the test");
    assert!(place.contains("tests/"), "{place} is no line of a test");
    text
}
