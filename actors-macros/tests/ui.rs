//! What the compiler says of each misuse, error by error, and what must compile.
//!
//! The words are those of one compiler: with another version the tests see to it that the good programs compile.

use std::process::Command;

const COMPILER: &str = "rustc 1.95.";

#[test]
fn good_programs_compile_without_a_warning() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}

#[test]
fn each_misuse_is_one_error_that_says_what_to_write() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("cargo found it");
    if version.stdout.starts_with(COMPILER.as_bytes()) {
        trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
    }
}
