//! A pipeline with back pressure: read lines, split them into words, count the words.
//!
//! The mailboxes between the stages are small. A stage that is ahead waits for room in the next one's, so a file of any size
//! passes through in the memory of a few lines. Nothing is lost and nothing is polled for.

#![expect(
    clippy::print_stdout,
    reason = "the printout is what this program is for"
)]

use std::collections::HashMap;
use std::error::Error;
use std::io;

use actors_core::prelude::*;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, BufReader};

const LINES: usize = 8;
const WORDS: usize = 32;

// ANCHOR: count
/// The last stage.
#[derive(Default)]
struct Count {
    words: HashMap<String, u32>,
}

#[actor]
impl Count {
    #[handler]
    fn word(&mut self, word: String) {
        *self.words.entry(word).or_default() += 1;
    }

    #[handler]
    fn total(&self) -> u32 {
        self.words.values().sum()
    }

    /// The `number` most frequent words; among equals, in the order of the alphabet.
    #[handler]
    fn top(&self, number: usize) -> Vec<(String, u32)> {
        let mut words: Vec<_> = self.words.clone().into_iter().collect();
        words.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        words.truncate(number);
        words
    }
}
// ANCHOR_END: count

// ANCHOR: normalise
/// The stage between: one line in, its words in lower case out.
struct Normalise {
    next: CountRef,
    fullest: usize,
}

#[actor]
impl Normalise {
    /// While this waits for room, no further line is handled: the mailbox fills, and the reader waits in its turn.
    #[handler(err_is_failure)]
    async fn line(&mut self, line: String) -> Result<(), EnqueueError<CountMsg>> {
        let letters = |c: char| !c.is_alphabetic();
        for word in line.split(letters).filter(|word| !word.is_empty()) {
            self.next.word(word.to_lowercase()).enqueue().await?;
            self.fullest = self.fullest.max(self.next.mailbox_depth());
        }
        Ok(())
    }

    #[handler]
    fn fullest(&self) -> usize {
        self.fullest
    }
}
// ANCHOR_END: normalise

// ANCHOR: read
/// The first stage: a plain function, since it keeps no state. Answers the number of lines, and how full the next mailbox was.
async fn read(path: &str, next: &NormaliseRef) -> io::Result<(u32, usize)> {
    let mut lines = BufReader::new(File::open(path).await?).lines();
    let (mut count, mut fullest) = (0, 0);
    while let Some(line) = lines.next_line().await? {
        next.line(line).enqueue().await.map_err(io::Error::other)?;
        count += 1;
        fullest = fullest.max(next.mailbox_depth());
    }
    Ok((count, fullest))
}
// ANCHOR_END: read

// ANCHOR: main
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let harbour = concat!(env!("CARGO_MANIFEST_DIR"), "/data/harbour.txt");
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| harbour.to_owned());

    let system = ActorSystem::new("pipeline")?;
    let count = system
        .actor(Count::default)
        .name("count")
        .mailbox(Mailbox::bounded(WORDS))
        .spawn()?;
    let next = count.clone();
    let normalise = system
        .actor(move || Normalise {
            next: next.clone(),
            fullest: 0,
        })
        .name("normalise")
        .mailbox(Mailbox::bounded(LINES))
        .spawn()?;

    let (lines, lines_waiting) = read(&path, &normalise).await?;
    // These asks stand behind the last line, and behind the last word: when they are answered, all is counted.
    let words_waiting = normalise.fullest().ask().wait_for_room().await?;
    let total = count.total().ask().wait_for_room().await?;

    println!("{lines} lines, {total} words");
    for (word, times) in count.top(10).await? {
        println!("{times:>6} {word}");
    }
    println!("waiting at most: {lines_waiting} of {LINES} lines, {words_waiting} of {WORDS} words");
    system.shutdown().await;
    Ok(())
}
// ANCHOR_END: main
