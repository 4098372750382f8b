//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use clap::{Args, Parser, Subcommand};

use crate::contender::Name;
use crate::process;
use crate::workload::{Load, Size, Workload};

/// Actors side by side with their peers, in one run.
#[derive(Debug, Parser)]
#[command(name = "actors-bench")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs each contender in a process of its own, in turn, round by round, and prints one table of medians.
    Compare(CompareArgs),
    /// Measures a system of very many actors, ours alone.
    Scale(ScaleArgs),
    /// Runs one workload for one contender in this process, and prints the figure.
    Run(RunArgs),
    /// The life of very many actors, in this process; a part of `scale`.
    #[command(hide = true)]
    Life(LifeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// How often each is run; the table has the medians.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Which workloads, by name, with commas between them; all unless set.
    #[arg(long = "workload", value_enum, value_delimiter = ',')]
    pub(crate) workloads: Vec<Workload>,
    /// Which peers, by name, with commas between them, beside ours; all unless set.
    #[arg(long = "peer", value_enum, value_delimiter = ',')]
    pub(crate) peers: Vec<Name>,
    /// Prints JSON in place of the table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Where the table (`compare.md`) and the chart (`compare.svg`) are written.
    #[arg(long, default_value = "target/actors-bench")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct How {
    /// How many worker threads each contender has; as many as there are cores unless set.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Tiny sizes, at which the results are checked and the figures mean nothing.
    #[arg(long)]
    small: bool,
}

impl How {
    pub(crate) fn threads(self) -> usize {
        self.threads
            .or_else(|| thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get)
    }

    pub(crate) const fn is_small(self) -> bool {
        self.small
    }

    pub(crate) const fn size(self) -> Size {
        if self.small { Size::Small } else { Size::Full }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    /// How many actors.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) actors: u32,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct LifeArgs {
    pub(crate) actors: usize,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    workload: Workload,
    contender: Name,
    /// How many actors, in place of the workload's own number.
    #[arg(long)]
    actors: Option<usize>,
    /// How many operations, in place of the workload's own number.
    #[arg(long)]
    operations: Option<u64>,
    /// How many are on their way at once (tokens, asking tasks, messages in a mailbox), in place of the workload's own number.
    #[arg(long)]
    flight: Option<usize>,
    #[command(flatten)]
    how: How,
}

impl RunArgs {
    fn load(&self) -> Load {
        let load = self.workload.load(self.how.size());
        Load {
            actors: self.actors.unwrap_or(load.actors),
            operations: self.operations.unwrap_or(load.operations),
            flight: self.flight.unwrap_or(load.flight),
        }
    }

    pub(crate) fn run(&self) -> Result<(), String> {
        let outcome = self
            .workload
            .run(self.contender, self.how.threads(), self.load());
        process::print(&outcome?.to_string());
        Ok(())
    }
}
