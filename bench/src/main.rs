//! Actors side by side with their peers, in one run: `actors-bench compare`.
//!
//! Read `contender` for who competes and with what code, `workload` for what is measured, `compare` for how.

#![forbid(unsafe_code)]

mod cli;
mod compare;
mod contender;
mod latch;
mod memory;
mod process;
mod scale;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Compare(args) => compare::run(&args),
        Command::Scale(args) => scale::run(&args),
        Command::Run(args) => args.run(),
        Command::Life(args) => scale::life(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            process::report(&error);
            ExitCode::FAILURE
        }
    }
}
