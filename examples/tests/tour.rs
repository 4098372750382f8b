//! Runs the example program `tour` and checks what it prints.

use std::process::Command;

const EXPECTED: &str = "\
1. Tell: eight threads make 1,000 deposits of 1 each, and wait for nothing
     deposit(0)          8000
2. Ask: the reply is typed, and so is the handler's own error
     withdraw(7_000)     1000
     withdraw(7_000)     refused, the balance is 1000
3. Timeout: the error says whether the handler had begun
     audit()             no reply in time: the handler had begun
     deposit(1)          no reply in time: the handler did not run
     deposit(0)          1000, so that one did nothing
4. Panic: the asker is told, and the actor goes on with a fresh state
     close_the_year()    the handler panicked: the year has no day 366
     deposit(5)          5
5. Limit: two restarts within a minute, and no more
     close_the_year()    the handler panicked: the year has no day 366
     close_the_year()    the handler panicked: the year has no day 366
     close_the_year()    the handler panicked: the year has no day 366
     its end             restart limit reached: handler `CloseTheYear` panicked: the year has no day 366
     deposit(1)          the actor has stopped: the handler did not run
6. Dead letters: what nobody can take any more is heard of
     drain()             drained
     dead letter         Deposit for /tour/account: the actor has stopped
7. Shutdown: no message is forgotten, and the report says how every actor ended
     messages accepted   8011
     what became of them 8006 handled, 4 failed, 1 cancelled
shutdown (requested) in some time: 2 actors ended
         2 shutdown
";

#[test]
fn the_tour_prints_what_the_readme_promises_and_ends_well() {
    let output = Command::new(env!("CARGO_BIN_EXE_tour")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printout = String::from_utf8_lossy(&output.stdout);
    let lines =
        printout.lines().map(|line| match line.split_once(" in ").zip(line.split_once("s: ")) {
            Some(((start, _), (_, end))) if line.starts_with("shutdown") => {
                format!("{start} in some time: {end}\n")
            }
            _ => format!("{line}\n"),
        });
    assert_eq!(lines.collect::<String>(), EXPECTED);

    let panics = String::from_utf8_lossy(&output.stderr);
    assert_eq!(panics, "    (an actor panicked: the year has no day 366)\n".repeat(4));
}
