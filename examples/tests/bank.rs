//! Runs the example program `bank` and checks what it prints.

use std::process::Command;

#[test]
fn no_refusal_and_no_fault_costs_any_money() {
    let output = Command::new(env!("CARGO_BIN_EXE_bank")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printout, include_str!("output/bank.txt"));
}
