//! `compare`: contenders in turn, round by round, each in a process of its own, and the medians in one table.
//!
//! A machine that others use changes from minute to minute. So all contenders of a workload run right after each other, and the
//! first of them is another in each round; what counts is the ratio within the run.

mod chart;
mod figures;
mod table;

use std::fs;

use crate::cli::CompareArgs;
use crate::contender::Name;
use crate::process;
use crate::workload::Workload;

use figures::Figures;

pub(crate) fn run(args: &CompareArgs) -> Result<(), String> {
    let workloads = chosen(&args.workloads, &Workload::ALL);
    let mut contenders = chosen(&args.peers, &Name::ALL);
    if !contenders.contains(&Name::Ours) {
        contenders.insert(0, Name::Ours);
    }
    let mut figures = Figures::default();
    let mut failures = Vec::new();
    for round in 0..args.rounds {
        for workload in &workloads {
            let mut order = contenders.clone();
            order.rotate_left(round as usize % contenders.len());
            for contender in order {
                if !workload.suits(contender, args.how.threads()) {
                    continue;
                }
                progress(args, round, *workload, contender);
                match measure(args, *workload, contender) {
                    Ok(figure) => figures.add(*workload, contender, figure),
                    Err(error) => {
                        process::report(&error);
                        failures.push(error);
                    }
                }
            }
        }
    }
    publish(args, &workloads, &contenders, &figures)?;
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{} runs failed:\n{}",
            failures.len(),
            failures.join("\n")
        ))
    }
}

/// What was chosen, in the order of the table and once each; or all, if nothing was.
fn chosen<T: Copy + PartialEq>(chosen: &[T], all: &[T]) -> Vec<T> {
    all.iter()
        .filter(|one| chosen.is_empty() || chosen.contains(one))
        .copied()
        .collect()
}

fn progress(args: &CompareArgs, round: u32, workload: Workload, contender: Name) {
    process::report(&format!(
        "round {} of {}: {workload:<9} {contender}",
        round + 1,
        args.rounds
    ));
}

fn measure(args: &CompareArgs, workload: Workload, contender: Name) -> Result<f64, String> {
    let mut arguments = vec![
        "run".to_owned(),
        workload.to_string(),
        contender.to_string(),
        "--threads".to_owned(),
        args.how.threads().to_string(),
    ];
    if args.how.is_small() {
        arguments.push("--small".to_owned());
    }
    process::figure(&arguments)
}

/// What a reader of the table alone has to know.
fn caption(args: &CompareArgs) -> String {
    let sizes = if args.how.is_small() {
        "The sizes are tiny, so these figures mean nothing. "
    } else {
        ""
    };
    format!(
        "{sizes}Medians; rounds: {}, worker threads: {}. Smaller is better; a ratio above 1 is in favour of ours.\n",
        args.rounds,
        args.how.threads()
    )
}

/// Prints the medians, and writes the table and the chart next to each other.
fn publish(
    args: &CompareArgs,
    workloads: &[Workload],
    contenders: &[Name],
    figures: &Figures,
) -> Result<(), String> {
    let table = table::markdown(workloads, contenders, figures) + "\n" + &caption(args);
    if args.json {
        let medians = figures.medians(workloads, contenders);
        let json = serde_json::to_string_pretty(&medians).map_err(|error| error.to_string())?;
        process::print(&json);
    } else {
        process::print(&table);
    }
    fs::create_dir_all(&args.out).map_err(|error| format!("{}: {error}", args.out.display()))?;
    let chart = chart::svg(workloads, contenders, figures);
    for (name, content) in [("compare.md", &table), ("compare.svg", &chart)] {
        let path = args.out.join(name);
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
        process::report(&format!("written: {}", path.display()));
    }
    Ok(())
}
