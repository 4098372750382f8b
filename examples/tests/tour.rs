//! Runs the example program `tour` and checks what it prints.

use std::process::Command;

#[test]
fn the_tour_prints_what_the_readme_promises_and_ends_well() {
    let output = Command::new(env!("CARGO_BIN_EXE_tour")).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    // How long the shutdown took differs from run to run.
    let printout = String::from_utf8_lossy(&output.stdout);
    let (tour, report) = printout.split_once(" (requested) in ").unwrap();
    let (_time, report) = report.split_once(": ").unwrap();
    let expected = include_str!("output/tour.txt");
    assert_eq!(
        format!("{tour} (requested) in some time: {report}"),
        expected
    );

    let panics = String::from_utf8_lossy(&output.stderr);
    let line = "    (an actor panicked: the year has no day 366)\n";
    assert_eq!(panics, line.repeat(4));
}
