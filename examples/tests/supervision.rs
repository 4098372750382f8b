//! Runs the example program `supervision` and checks what it prints.

use std::process::Command;

#[test]
fn each_directive_the_limit_and_an_escalation_can_be_seen() {
    let output = Command::new(env!("CARGO_BIN_EXE_supervision"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let printout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printout, include_str!("output/supervision.txt"));
}
