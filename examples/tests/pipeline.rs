//! Runs the example program `pipeline` and checks what it prints.

use std::process::{Command, Output};

fn pipeline(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pipeline"))
        .args(arguments)
        .output()
        .expect("the program runs")
}

#[test]
fn every_word_is_counted_and_no_mailbox_holds_more_than_its_bound() {
    let output = pipeline(&[]);
    assert!(output.status.success(), "{output:?}");
    let printout = String::from_utf8_lossy(&output.stdout);
    let (counts, waiting) = printout.split_at(printout.rfind("waiting at most").unwrap());
    assert_eq!(counts, include_str!("output/pipeline.txt"));

    let numbers = waiting
        .split(|c: char| !c.is_ascii_digit())
        .filter(|number| !number.is_empty());
    let numbers: Vec<usize> = numbers.map(|number| number.parse().unwrap()).collect();
    let [lines, room_for_lines, words, room_for_words] = numbers[..] else {
        panic!("{waiting}")
    };
    assert_eq!((room_for_lines, room_for_words), (8, 32));
    assert!(
        lines <= room_for_lines && words <= room_for_words,
        "{waiting}"
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let output = pipeline(&["no/such/file"]);
    assert!(!output.status.success(), "{output:?}");
}
