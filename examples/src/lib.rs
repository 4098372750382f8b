//! Programs with actors, one file in `src/bin` and one idea each; here is what they share.
//!
//! | program            | idea                                                                 |
//! |--------------------|----------------------------------------------------------------------|
//! | `tour`             | a bit of everything, to begin with                                   |
//! | `counter`          | eight threads, one actor, no lock                                    |
//! | `supervision`      | what happens to an actor that fails                                  |
//! | `supervision-tree` | which of its siblings are restarted with it                          |
//! | `bank`             | domain errors next to faults; transfers that lose no money           |
//! | `web`              | actors behind HTTP: the status of each error, and an end that drains |
//! | `pipeline`         | stages with small mailboxes: the fast wait for the slow              |
//! | `many`             | a million actors at once, what they cost and how fast they are       |
//!
//! `cargo run --bin counter` runs one; the tests in `tests` run each and check what it prints.

#[cfg(doctest)]
mod docs;

use std::panic;

/// Makes a panic one line on stderr.
///
/// In these programs actors panic on purpose, and a panic in an actor is no accident of the program: the actor's supervisor
/// hears of it and decides. Rust's own report of a panic, with a file, a line and a hint at backtraces, would make it look like
/// one. A real program leaves the hook alone, or gives it to its logger.
#[expect(
    clippy::print_stderr,
    reason = "panics of a program with a terminal belong there"
)]
pub fn show_panics_in_a_line() {
    panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref().map(String::as_str));
        eprintln!(
            "    (an actor panicked: {})",
            text.unwrap_or("without a text")
        );
    }));
}
