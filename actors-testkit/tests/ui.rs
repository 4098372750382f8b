//! What the compiler says of each misuse of `#[actors_testkit::test]` and the expectations.
//!
//! The words are those of one compiler; with another version nothing is compared.

use std::process::Command;

const COMPILER: &str = "rustc 1.95.";

#[test]
fn each_misuse_is_one_error_that_says_what_to_write() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("cargo found it");
    if version.stdout.starts_with(COMPILER.as_bytes()) {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    }
}
