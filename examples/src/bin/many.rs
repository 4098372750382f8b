//! A million actors alive at once, what each of them costs, and how many messages they handle: `many 1000000`.

#![expect(
    clippy::print_stdout,
    reason = "the printout is what this program is for"
)]

use std::error::Error;
use std::fs;
use std::time::Instant;

use actors_core::prelude::*;
use futures::future::try_join_all;

/// How many actors are asked at once: enough to keep all threads busy, and few enough that the asks cost no memory to speak of.
const WINDOW: usize = 1_000;

/// How many messages each actor gets when it is about speed.
const MESSAGES: u64 = 10;

// ANCHOR: actor
#[derive(Default)]
struct Cell {
    value: u64,
}

#[actor]
impl Cell {
    #[handler]
    fn add(&mut self, number: u64) -> u64 {
        self.value += number;
        self.value
    }
}
// ANCHOR_END: actor

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let count: u32 = std::env::args()
        .nth(1)
        .map_or(Ok(1_000_000), |number| number.parse())?;
    let system = ActorSystem::new("many")?;
    let mut actors = Vec::with_capacity(count as usize);
    let before = memory();

    let began = Instant::now();
    for number in 0..count {
        actors.push(system.spawn(format!("cell-{number}"), Cell::default)?);
    }
    println!(
        "spawned {count} actors with names in {:.1?}",
        began.elapsed()
    );

    let began = Instant::now();
    let mut sum = 0;
    for window in actors.chunks(WINDOW) {
        sum += try_join_all(window.iter().map(|cell| cell.add(1).ask()))
            .await?
            .iter()
            .sum::<u64>();
    }
    println!(
        "{sum} of them answered their first message in {:.1?}",
        began.elapsed()
    );

    // All actors are idle now. What the program holds beside them is one reference each, which is counted here too.
    match before.zip(memory()) {
        Some((before, after)) => println!(
            "{} bytes per idle actor",
            after.saturating_sub(before) / u64::from(count.max(1))
        ),
        None => println!("unknown bytes per idle actor (measured on Linux alone)"),
    }

    let began = Instant::now();
    for window in actors.chunks(WINDOW) {
        for cell in window {
            (1..MESSAGES).for_each(|_| cell.add(1).tell());
        }
        // Messages of one sender stay in order, so the answer to the last proves the others handled.
        let values = try_join_all(window.iter().map(|cell| cell.add(1).ask())).await?;
        assert!(
            values.iter().all(|value| *value == 1 + MESSAGES),
            "each actor has counted all of its messages"
        );
    }
    let rate = f64::from(count) * MESSAGES as f64 / began.elapsed().as_secs_f64();
    println!("{rate:.0} messages per second");

    let began = Instant::now();
    let report = system.shutdown().await;
    println!(
        "stopped {} actors in {:.1?}, all of them well: {}",
        report.total(),
        began.elapsed(),
        report.is_clean()
    );
    Ok(())
}

// ANCHOR: memory
/// The memory of this process that is really there, in bytes, as Linux tells it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1_024)
}
// ANCHOR_END: memory
