//! Runs the example program `counter` and checks what it prints.

use std::process::Command;

#[test]
fn eight_threads_with_a_thousand_increments_each_make_exactly_8000() {
    let output = Command::new(env!("CARGO_BIN_EXE_counter"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "8 threads, 1000 increments each: 8000\n"
    );
}
