//! What a failed expectation says: the cause first, then what else is known, and last where in the test.

use std::fmt::{self, Debug, Display};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::kit::Shared;
use crate::queue::{Entry, Queue};

/// As many things of one sort are listed; the rest is counted.
const LISTED: usize = 10;

/// What came in place of what was expected.
pub(crate) enum Came {
    /// Something else, in the words of its `Debug`.
    Else(String),
    /// Nothing, in this time.
    Nothing(Duration),
    /// The actors never came to rest.
    Restless(String),
}

impl Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Else(came) => write!(f, "but got {came}"),
            Self::Nothing(limit) if limit.is_zero() => f.write_str("but nothing came at once"),
            Self::Nothing(limit) => write!(f, "but nothing came within {limit:?}"),
            Self::Restless(busy) => write!(f, "but {busy}"),
        }
    }
}

/// A failed expectation of a probe. Its `Display` is the text of the panic.
pub(crate) struct Failed {
    pub(crate) probe: String,
    pub(crate) expected: String,
    pub(crate) came: Came,
    pub(crate) queued: Vec<String>,
    pub(crate) asides: Vec<String>,
    pub(crate) at: &'static Location<'static>,
}

impl Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            probe,
            expected,
            came,
            queued,
            asides,
            at,
        } = self;
        write!(f, "{probe} expected {expected}, {came}")?;
        if queued.is_empty() {
            f.write_str("\n  still queued: nothing")?;
        }
        Listed {
            heading: "\n  still queued:",
            items: queued,
        }
        .fmt(f)?;
        Listed {
            heading: "\n  also in this test:",
            items: asides,
        }
        .fmt(f)?;
        write!(f, "\n  at {at}")
    }
}

/// A heading and a line for each item, of which there may be many; without items nothing.
pub(crate) struct Listed<'a> {
    pub(crate) heading: &'a str,
    pub(crate) items: &'a [String],
}

impl Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.items.is_empty() {
            return Ok(());
        }
        f.write_str(self.heading)?;
        for item in self.items.iter().take(LISTED) {
            write!(f, "\n    {item}")?;
        }
        match self.items.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\n    and {more} more"),
        }
    }
}

/// Where an expectation belongs, for when it fails: which probe, which line of the test.
#[doc(hidden)]
pub struct Mismatch<M> {
    pub(crate) probe: String,
    pub(crate) queue: Arc<Queue<M>>,
    pub(crate) kit: Arc<Shared>,
    pub(crate) at: &'static Location<'static>,
}

impl<M: Debug> Mismatch<M> {
    /// Fails the test: `came` is not what was expected.
    pub fn got(self, expected: &str, came: &M) -> ! {
        self.fail(expected.to_owned(), Came::Else(format!("{came:?}")))
    }

    pub(crate) fn got_entry(self, expected: String, came: &Entry<M>) -> ! {
        self.fail(expected, Came::Else(format!("{came:?}")))
    }

    pub(crate) fn fail(self, expected: String, came: Came) -> ! {
        let Self {
            probe,
            queue,
            kit,
            at,
        } = self;
        let failed = Failed {
            probe,
            expected,
            came,
            queued: queue.describe(),
            asides: kit.record().asides(),
            at,
        };
        panic!("{failed}")
    }
}

impl<M> Debug for Mismatch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mismatch")
            .field("probe", &self.probe)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
