//! `scale`: what a system of very many actors costs. Ours alone.

use std::time::Instant;

use crate::cli::{LifeArgs, ScaleArgs};
use crate::contender::ours::Ours;
use crate::contender::{Contender as _, Counter as _};
use crate::latch::Latch;
use crate::memory;
use crate::process;
use crate::workload::{Size, Workload, populate};

/// How many actors are alive when the cost of a message is measured; the number asked for comes last.
const LIVE: [usize; 2] = [10, 10_000];

/// How many tokens go round meanwhile: as many at each number of actors, so that only the number of actors differs.
const TOKENS: usize = 10;

pub(crate) fn run(args: &ScaleArgs) -> Result<(), String> {
    let threads = args.how.threads();
    let actors = args.actors as usize;
    process::print(&format!("{actors} actors, {threads} worker threads"));
    process::report("spawning them, telling each a message, ending them");
    let life = with_how(args, threads, vec!["life".to_owned(), actors.to_string()]);
    process::print(process::run_self(&life)?.trim_end());

    process::print(
        "\n| live actors | ns for each message |\n| ----------: | ------------------: |",
    );
    for live in LIVE
        .into_iter()
        .filter(|live| *live < actors)
        .chain([actors])
    {
        process::report(&format!("{TOKENS} tokens going round {live} actors"));
        let nanos = process::figure(&with_how(args, threads, wander(args, live)))?;
        process::print(&format!("| {live:>11} | {nanos:>19.1} |"));
    }

    let workloads = [Workload::Pairs, Workload::Many, Workload::Skynet];
    process::print("\n| worker threads |  pairs, ns |   many, ns | skynet, ns |");
    process::print("| -------------: | ---------: | ---------: | ---------: |");
    for threads in 1..=threads {
        let mut row = format!("| {threads:>14} |");
        for workload in workloads {
            process::report(&format!("{workload}, worker threads: {threads}"));
            let run = vec!["run".to_owned(), workload.to_string(), "ours".to_owned()];
            let nanos = process::figure(&with_how(args, threads, run))?;
            row += &format!(" {nanos:>10.1} |");
        }
        process::print(&row);
    }
    Ok(())
}

/// The arguments of a ring of this many actors in which tokens wander from one to the next.
fn wander(args: &ScaleArgs, live: usize) -> Vec<String> {
    let hops = match args.how.size() {
        Size::Full => 5_000_000,
        Size::Small => 1_000,
    };
    let of = |name: &str, value: usize| [format!("--{name}"), value.to_string()];
    let mut run = vec!["run".to_owned(), "ring".to_owned(), "ours".to_owned()];
    run.extend(of("actors", live));
    run.extend(of("operations", hops));
    run.extend(of("flight", TOKENS));
    run
}

fn with_how(args: &ScaleArgs, threads: usize, mut arguments: Vec<String>) -> Vec<String> {
    arguments.extend(["--threads".to_owned(), threads.to_string()]);
    if args.how.is_small() {
        arguments.push("--small".to_owned());
    }
    arguments
}

/// The life of very many actors: each is spawned with a name, is told a message, idles, is told another, and ends.
pub(crate) fn life(args: &LifeArgs) -> Result<(), String> {
    let count = args.actors;
    let lines = Ours::run(args.how.threads(), move |ours| live(ours, count))?;
    for line in lines {
        process::print(&line);
    }
    Ok(())
}

async fn live(ours: Ours, count: usize) -> Result<Vec<String>, String> {
    let before = memory::resident()?;
    let began = Instant::now();
    let actors = populate(&ours, count, 0).await?;
    let spawned = began.elapsed();
    let bytes = memory::resident()?.saturating_sub(before) as f64 / count as f64;

    let latch = Latch::new(count as u64);
    let began = Instant::now();
    for actor in &actors {
        actor.add_counted(1, latch.clone());
    }
    latch.wait().await;
    let told = began.elapsed();
    for actor in actors.iter().step_by(count.div_ceil(1_000)) {
        let sum = actor.ask(0).await;
        if sum != 2 {
            return Err(format!("an actor has counted {sum} in place of 2"));
        }
    }

    let began = Instant::now();
    let ended = ours.shutdown().await;
    let shut_down = began.elapsed();
    if ended != count as u64 {
        return Err(format!("{ended} actors ended in place of {count}"));
    }
    Ok(vec![
        format!("spawned, and told a first message each: {spawned:.2?}"),
        format!("bytes for each, idle: {bytes:.0}"),
        format!("told a message each: {told:.2?}"),
        format!("shut down: {shut_down:.2?}"),
    ])
}
