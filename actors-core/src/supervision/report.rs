//! What is left of a failure for those who did not decide on it.

use std::fmt::{self, Write};
use std::sync::Arc;

use crate::supervision::FailureOrigin;

/// Says whether an actor panicked or failed with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// User code panicked.
    Panic,
    /// User code answered an error, or called `fail`.
    Error,
}

/// A description of a failure, for watchers, events and logs.
///
/// It holds text in place of the error, so a clone is one reference count, and it may outlive everything.
#[derive(Clone, PartialEq, Eq)]
pub struct FailureReport(Arc<Parts>);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) kind: FailureKind,
    pub(super) type_name: Option<&'static str>,
    pub(super) text: Arc<str>,
    pub(super) origin: FailureOrigin,
}

impl FailureReport {
    pub(super) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns whether it was a panic or an error.
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// Says whether it was a panic.
    pub fn is_panic(&self) -> bool {
        self.kind() == FailureKind::Panic
    }

    /// Returns the name of the error's type where it is known; it is not for a panic, a text or an error in a box.
    pub fn type_name(&self) -> Option<&'static str> {
        self.0.type_name
    }

    /// Returns the message of the panic, or the error's text followed by those of its sources.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns where it happened.
    pub fn origin(&self) -> &FailureOrigin {
        &self.0.origin
    }
}

/// One line: where, whether by panic or error, and the text.
impl fmt::Display for FailureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_line(f, self.kind(), self.origin(), self.text())
    }
}

impl fmt::Debug for FailureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailureReport")
            .field("kind", &self.0.kind)
            .field("type_name", &self.0.type_name)
            .field("text", &self.0.text)
            .field("origin", &self.0.origin)
            .finish()
    }
}

pub(super) fn write_line(
    f: &mut fmt::Formatter<'_>,
    kind: FailureKind,
    origin: &FailureOrigin,
    text: &str,
) -> fmt::Result {
    if *origin != FailureOrigin::Detached {
        write!(f, "{origin} ")?;
    }
    f.write_str(match kind {
        FailureKind::Panic => "panicked: ",
        FailureKind::Error => "failed: ",
    })?;
    for (n, line) in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .enumerate()
    {
        if n > 0 {
            f.write_char(' ')?;
        }
        f.write_str(line)?;
    }
    Ok(())
}
