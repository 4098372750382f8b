//! Runs the example program `many` with fewer actors and checks what it prints.

use std::process::Command;

#[test]
fn twenty_thousand_actors_live_at_once_and_handle_every_message() {
    let output = Command::new(env!("CARGO_BIN_EXE_many"))
        .arg("20000")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let printout = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = printout.lines().collect();
    let [spawned, answered, memory, rate, stopped] = lines[..] else {
        panic!("{printout}")
    };
    assert!(
        spawned.starts_with("spawned 20000 actors with names in "),
        "{printout}"
    );
    assert!(
        answered.starts_with("20000 of them answered their first message in "),
        "{printout}"
    );
    assert!(memory.contains(" bytes per idle actor"), "{printout}");
    assert!(rate.ends_with(" messages per second"), "{printout}");
    assert!(
        stopped.starts_with("stopped 20000 actors in "),
        "{printout}"
    );
    assert!(stopped.ends_with(", all of them well: true"), "{printout}");
}

#[test]
fn what_is_no_number_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_many"))
        .arg("lots")
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
}
