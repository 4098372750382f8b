//! Runs the example program `tour` and checks what it prints.

use std::process::Command;

#[test]
fn the_tour_prints_what_the_readme_promises_and_ends_well() {
    let output = Command::new(env!("CARGO_BIN_EXE_tour")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printout = String::from_utf8_lossy(&output.stdout);
    let lines =
        printout.lines().map(
            |line| match line.split_once(" in ").zip(line.split_once("s: ")) {
                Some(((start, _), (_, end))) if line.starts_with("shutdown") => {
                    format!("{start} in some time: {end}\n")
                }
                _ => format!("{line}\n"),
            },
        );
    assert_eq!(lines.collect::<String>(), include_str!("output/tour.txt"));

    let panics = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        panics,
        "    (an actor panicked: the year has no day 366)\n".repeat(4)
    );
}
