//! Every contender gets every workload right, at tiny sizes.

use std::process::{Command, Output};

use serde_json::Value;

const WORKLOADS: [&str; 16] = [
    "tell1",
    "tell8",
    "many",
    "pingpong",
    "pairs",
    "ring",
    "ask",
    "ask_bare",
    "ask64",
    "spawn",
    "spawn_msg",
    "mem",
    "skynet",
    "big",
    "fair",
    "bounded",
];
const CONTENDERS: [&str; 6] = ["ours", "tokio", "actix", "kameo", "ractor", "xtra"];

fn bench(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_actors-bench"))
        .args(arguments)
        .output()
        .expect("the program runs");
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

#[test]
fn every_contender_gets_every_workload_right() {
    let out = concat!(env!("CARGO_TARGET_TMPDIR"), "/compare");
    let output = bench(&[
        "compare",
        "--rounds",
        "1",
        "--small",
        "--threads",
        "2",
        "--json",
        "--out",
        out,
    ]);
    let medians: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let mut found: Vec<(&str, &str)> = Vec::new();
    for median in &medians {
        let workload = median["workload"].as_str().unwrap();
        let unit = if workload == "mem" { "bytes" } else { "ns" };
        assert_eq!(median["unit"], unit, "{median}");
        assert!(median["median"].is_f64(), "{median}");
        found.push((workload, median["contender"].as_str().unwrap()));
    }
    let all = WORKLOADS
        .into_iter()
        .flat_map(|workload| CONTENDERS.map(|contender| (workload, contender)))
        .filter(|run| ![("bounded", "ractor"), ("fair", "xtra")].contains(run));
    assert_eq!(found, all.collect::<Vec<_>>());
    for file in ["compare.md", "compare.svg"] {
        assert!(
            std::fs::read_to_string(format!("{out}/{file}")).is_ok(),
            "{file}"
        );
    }
}

#[test]
fn one_worker_thread_is_enough() {
    let out = concat!(env!("CARGO_TARGET_TMPDIR"), "/one");
    bench(&[
        "compare",
        "--rounds",
        "1",
        "--small",
        "--threads",
        "1",
        "--out",
        out,
    ]);
}

#[test]
fn the_table_has_what_was_asked_for() {
    let out = concat!(env!("CARGO_TARGET_TMPDIR"), "/some");
    let output = bench(&[
        "compare",
        "--rounds",
        "2",
        "--small",
        "--workload",
        "ask,tell1",
        "--peer",
        "tokio",
        "--out",
        out,
    ]);
    let table = String::from_utf8(output.stdout).unwrap();
    let firsts: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with('|'))
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    assert_eq!(firsts, ["workload", "--------", "tell1", "ask"]);
    assert!(!table.contains("kameo"), "{table}");
    assert!(table.contains("rounds: 2, "), "{table}");
}

#[test]
fn a_system_of_many_actors_is_measured() {
    let output = bench(&["scale", "--actors", "2000", "--small", "--threads", "2"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    for line in [
        "2000 actors, 2 worker threads",
        "bytes for each, idle: ",
        "shut down: ",
        "|        2000 |",
    ] {
        assert!(printed.contains(line), "{line:?} in {printed}");
    }
}
