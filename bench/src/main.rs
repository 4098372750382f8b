//! Actors side by side with their peers, in one run.

#![forbid(unsafe_code)]

mod contender;
mod latch;
mod memory;
mod workload;

use clap::Parser;

#[derive(Parser)]
struct Run {
    workload: workload::Workload,
    contender: contender::Name,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    #[arg(long)]
    small: bool,
}

fn main() {
    let run = Run::parse();
    let size = if run.small {
        workload::Size::Small
    } else {
        workload::Size::Full
    };
    println!(
        "{} {} {:?}",
        run.workload,
        run.contender,
        run.workload
            .run(run.contender, run.threads, run.workload.load(size))
    );
}
