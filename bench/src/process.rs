//! This program as a child of itself, and what it prints.

use std::env;
use std::io::{self, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a child may take: longer than any that ends, on a machine that does nothing else.
const LIMIT: Duration = Duration::from_secs(180);

/// How often a parent looks after its child: seldom, for the looking takes time from the same cores.
const LOOK: Duration = Duration::from_millis(20);

/// Runs this program with other arguments, and returns what it has printed.
///
/// # Errors
///
/// Says how the child failed; what it wrote to stderr is there already.
pub(crate) fn run_self(arguments: &[String]) -> Result<String, String> {
    let program = env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", arguments.join(" ")))?;
    // A child prints a line, which the pipe holds: it need not be read before the child has ended.
    if !ends_within(&mut child, LIMIT) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("{}: no end after {LIMIT:?}", arguments.join(" ")));
    }
    let output = child
        .wait_with_output()
        .map_err(|error| format!("{}: {error}", arguments.join(" ")))?;
    if !output.status.success() {
        return Err(format!("{}: {}", arguments.join(" "), output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < limit {
        match child.try_wait() {
            Ok(None) => thread::sleep(LOOK),
            // What an error means, the wait for the output says.
            Ok(Some(_)) | Err(_) => return true,
        }
    }
    false
}

/// Runs this program with other arguments, and returns the figure it has printed.
///
/// # Errors
///
/// As [`run_self`].
pub(crate) fn figure(arguments: &[String]) -> Result<f64, String> {
    let printed = run_self(arguments)?;
    printed
        .trim()
        .parse()
        .map_err(|_| format!("{}: printed {printed:?}", arguments.join(" ")))
}

/// Prints a line to stdout. Whoever has closed it wants no more.
pub(crate) fn print(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints a line to stderr.
pub(crate) fn report(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
