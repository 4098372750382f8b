//! Runs the example program `supervision-tree` and checks what it prints.

use std::process::Command;

#[test]
fn the_tree_before_and_after_a_failure_can_be_seen_under_each_strategy() {
    let output = Command::new(env!("CARGO_BIN_EXE_supervision-tree"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let printout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printout, include_str!("output/supervision-tree.txt"));
}
