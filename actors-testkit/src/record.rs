//! What happened in a test besides what its probes saw: dead letters and failures.

use std::fmt::{self, Display};

use actors_core::{ActorSystem, DeadLetter, LifecycleEvent, Subscription};

use crate::failure::Listed;

/// Those not yet taken or expected.
#[derive(Debug)]
pub(crate) struct Record {
    letters: Incoming<DeadLetter>,
    failures: Incoming<LifecycleEvent>,
}

impl Record {
    pub(crate) fn new(system: &ActorSystem) -> Self {
        Self {
            letters: Incoming::new(system.dead_letters_with_capacity(usize::MAX), |_| true),
            failures: Incoming::new(system.events_with_capacity(usize::MAX), is_failure),
        }
    }

    pub(crate) const fn letters(&mut self) -> &mut Incoming<DeadLetter> {
        &mut self.letters
    }

    pub(crate) const fn failures(&mut self) -> &mut Incoming<LifecycleEvent> {
        &mut self.failures
    }

    /// Describes all that is recorded, for a test that fails for another reason.
    pub(crate) fn asides(&mut self) -> Vec<String> {
        let letters = self
            .letters
            .all()
            .iter()
            .map(|letter| format!("dead letter {letter}"));
        let failures = self.failures.all().iter().map(ToString::to_string);
        letters.chain(failures).collect()
    }
}

/// Events of one sort, from the subscription on.
#[derive(Debug)]
pub(crate) struct Incoming<T> {
    subscription: Subscription<T>,
    is_wanted: fn(&T) -> bool,
    seen: Vec<T>,
}

impl<T> Incoming<T> {
    const fn new(subscription: Subscription<T>, is_wanted: fn(&T) -> bool) -> Self {
        Self {
            subscription,
            is_wanted,
            seen: Vec::new(),
        }
    }

    /// Returns all that came and was not taken.
    pub(crate) fn all(&mut self) -> &mut Vec<T> {
        let new = std::iter::from_fn(|| self.subscription.try_next());
        self.seen.extend(new.filter(self.is_wanted));
        &mut self.seen
    }

    /// Gives back what was taken and is not wanted, as the oldest.
    pub(crate) fn put_back(&mut self, mut old: Vec<T>) {
        old.append(&mut self.seen);
        self.seen = old;
    }
}

const fn is_failure(event: &LifecycleEvent) -> bool {
    matches!(
        event,
        LifecycleEvent::Failed { .. }
            | LifecycleEvent::HookFailed { .. }
            | LifecycleEvent::DestructorPanicked { .. }
    )
}

/// Says whether a failure fails a test that did not expect it: an error that a supervisor sees to is the ordinary business of
/// actors, a panic is a bug.
pub(crate) fn is_bug(event: &LifecycleEvent) -> bool {
    match event {
        LifecycleEvent::Failed { failure, .. } => failure.is_panic(),
        event => is_failure(event),
    }
}

/// What a test left behind that it neither expected nor allowed.
pub(crate) struct Leftover {
    pub(crate) test: String,
    pub(crate) letters: Vec<String>,
    pub(crate) failures: Vec<String>,
    pub(crate) restless: Option<String>,
}

impl Leftover {
    pub(crate) const fn is_nothing(&self) -> bool {
        self.letters.is_empty() && self.failures.is_empty() && self.restless.is_none()
    }
}

impl Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            test,
            letters,
            failures,
            restless,
        } = self;
        write!(f, "`{test}` got to its end, but ")?;
        let (first, rest) = match (failures.len(), letters.len(), restless) {
            (0, 0, _) => ("its actors did not come to rest", ""),
            (0, ..) => (
                "it did not expect these dead letters",
                "`expect_dead_letter` or `allow_dead_letters`",
            ),
            (_, 0, _) => (
                "it did not expect these failures",
                "`expect_failure` or `allow_failures`",
            ),
            _ => (
                "it did not expect these failures and dead letters",
                "`expect_failure`, `expect_dead_letter` or the two `allow_`s",
            ),
        };
        f.write_str(first)?;
        Listed {
            heading: "\n  failures:",
            items: failures,
        }
        .fmt(f)?;
        Listed {
            heading: "\n  dead letters:",
            items: letters,
        }
        .fmt(f)?;
        if let Some(busy) = restless {
            write!(f, "\n  {busy}")?;
        }
        if !rest.is_empty() {
            write!(f, "\n  a test that means them says so with {rest}")?;
        }
        Ok(())
    }
}
