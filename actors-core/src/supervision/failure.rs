//! The failure of an actor, as its supervisor sees it.

use std::error::Error;
use std::fmt;
use std::mem;
use std::sync::{Arc, OnceLock};

use crate::panic::{Guarded, PanicText};
use crate::path::{ActorId, ActorPath};
use crate::supervision::cause::{BoxError, Cause};
use crate::supervision::report::{Parts, write_line};
use crate::supervision::{FailureKind, FailureOrigin, FailureReport, FailureValue};

/// What an actor failed with: a panic, or an error value.
///
/// `?` makes one of any standard error, `anyhow::Error`, `Box<dyn Error + Send + Sync>`, `String` or `&'static str`. So
/// that it can, a failure is not an `Error` itself.
///
/// # Examples
///
/// ```
/// use actors_core::prelude::*;
///
/// fn parse(text: &str) -> Result<i32, Failure> {
///     Ok(text.parse::<i32>()?)
/// }
///
/// let failure = parse("many").unwrap_err();
/// assert!(failure.is::<std::num::ParseIntError>());
/// assert_eq!(failure.text(), "invalid digit found in string");
/// ```
pub struct Failure(Box<Inner>);

/// Boxed, so that whatever may fail is small.
struct Inner {
    /// Guarded, because its destructor is user code and a failure is dropped by the runtime.
    cause: Guarded<Cause>,
    origin: FailureOrigin,
    /// Made when first asked for, so that the user's `Display` runs at most once.
    text: OnceLock<Arc<str>>,
}

impl Failure {
    fn new(cause: Cause, origin: FailureOrigin) -> Self {
        Self(Box::new(Inner {
            cause: Guarded::new(cause),
            origin,
            text: OnceLock::new(),
        }))
    }

    pub(crate) fn panic(text: PanicText, origin: FailureOrigin) -> Self {
        Self::new(Cause::Panic(text), origin)
    }

    /// Makes the failure of a value that something else is owed to, see [`FailureValue`].
    pub(crate) fn from_value(value: Box<dyn FailureValue>, origin: FailureOrigin) -> Self {
        Self::new(Cause::Value(value), origin)
    }

    /// Makes the failure that an actor is restarted for because of a sibling's, of which only the report is left.
    pub(crate) fn of_sibling(sibling: &ActorPath, report: &FailureReport) -> Self {
        let origin = FailureOrigin::Sibling {
            path: sibling.clone(),
            origin: Box::new(report.origin().clone()),
        };
        Self::again(report, origin)
    }

    /// Makes a failure of what is left of one, when the failure itself is gone.
    pub(crate) fn of_report(report: &FailureReport) -> Self {
        Self::again(report, report.origin().clone())
    }

    fn again(report: &FailureReport, origin: FailureOrigin) -> Self {
        Self::new(Cause::Report(report.clone()), origin)
    }

    /// Gives the value back to whoever it is owed to, and keeps the description, if the asker is `actor`: it waits for the
    /// answer, and could not decide before it has it.
    pub(crate) fn answered_to(self, actor: ActorId) -> Self {
        match &*self.0.cause {
            Cause::Value(value) if value.asking_actor() == Some(actor) => {
                Self::of_report(&self.report())
            }
            _ => self,
        }
    }

    /// Says where it happened, once the runtime knows; a failure that has come up from a child keeps its origin.
    #[must_use]
    pub(crate) fn at(mut self, origin: FailureOrigin) -> Self {
        if self.0.origin == FailureOrigin::Detached {
            self.0.origin = origin;
        }
        self
    }

    /// Turns the failure of `child` into the same failure of its parent.
    #[must_use]
    pub(crate) fn escalated_by(mut self, child: &ActorPath) -> Self {
        let origin = mem::replace(&mut self.0.origin, FailureOrigin::Detached);
        self.0.origin = origin.escalated_by(child);
        self
    }

    /// Says whether the failure is an error of type `T`, or was caused by one.
    ///
    /// Looks at the value, into an `anyhow::Error` or a box, and along [`Error::source`].
    pub fn is<T: Error + Send + Sync + 'static>(&self) -> bool {
        self.downcast_ref::<T>().is_some()
    }

    /// Returns the error of type `T` that the failure is, or was caused by.
    ///
    /// Looks where [`is`](Self::is) does.
    pub fn downcast_ref<T: Error + Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.cause.find()
    }

    /// Returns the `Err` of an `err_is_failure` handler if it is exactly a `T`, which need not be an error type.
    pub fn value_ref<T: 'static>(&self) -> Option<&T> {
        self.0.cause.value()
    }

    /// Says whether it is a panic.
    pub fn is_panic(&self) -> bool {
        self.panic_text().is_some()
    }

    /// Returns what the panic said, or `None` for an error.
    pub fn panic_text(&self) -> Option<&str> {
        match &*self.0.cause {
            Cause::Panic(text) => Some(text),
            Cause::Report(report) => report.is_panic().then(|| report.text()),
            Cause::Error { .. } | Cause::Anyhow(_) | Cause::Value(_) => None,
        }
    }

    /// Returns where it happened.
    pub fn origin(&self) -> &FailureOrigin {
        &self.0.origin
    }

    /// Returns the message of the panic, or the error's text followed by those of its sources.
    pub fn text(&self) -> &str {
        self.shared_text()
    }

    /// Returns a description that can be cloned and kept, as watchers get it.
    pub fn report(&self) -> FailureReport {
        FailureReport::new(Parts {
            kind: self.kind(),
            type_name: self.0.cause.type_name(),
            text: Arc::clone(self.shared_text()),
            origin: self.0.origin.clone(),
        })
    }

    fn kind(&self) -> FailureKind {
        if self.is_panic() {
            FailureKind::Panic
        } else {
            FailureKind::Error
        }
    }

    fn shared_text(&self) -> &Arc<str> {
        self.0.text.get_or_init(|| self.0.cause.describe().into())
    }
}

/// `'static` lets anyhow's error be told apart; it and every other error can be put into a box.
impl<E: Into<BoxError> + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(Cause::new(error), FailureOrigin::Detached)
    }
}

/// One line: where, whether by panic or error, and the text.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_line(f, self.kind(), &self.0.origin, self.text())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("kind", &self.kind())
            .field("type_name", &self.0.cause.type_name())
            .field("text", &self.text())
            .field("origin", &self.0.origin)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use anyhow::Context;

    use super::*;

    #[derive(Debug)]
    struct DbError(Option<io::Error>);

    impl fmt::Display for DbError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("no database")
        }
    }

    impl Error for DbError {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.0.as_ref().map(|source| source as _)
        }
    }

    fn database_down() -> DbError {
        DbError(Some(io::Error::other("cable cut")))
    }

    fn handler() -> FailureOrigin {
        FailureOrigin::Handler { variant: "Deposit" }
    }

    /// The `Err` of an `err_is_failure` handler, with its reply as a counter.
    struct Asked<E> {
        value: E,
        error: fn(&E) -> Option<&(dyn Error + 'static)>,
        text: fn(&E) -> String,
        replied: Arc<AtomicUsize>,
    }

    impl<E: Send + Sync + 'static> FailureValue for Asked<E> {
        fn any(&self) -> &dyn Any {
            &self.value
        }

        fn error(&self) -> Option<&(dyn Error + 'static)> {
            (self.error)(&self.value)
        }

        fn text(&self) -> String {
            (self.text)(&self.value)
        }

        fn type_name(&self) -> &'static str {
            std::any::type_name::<E>()
        }

        fn asking_actor(&self) -> Option<ActorId> {
            Some(ActorId::new(7))
        }
    }

    impl<E> Drop for Asked<E> {
        fn drop(&mut self) {
            self.replied.fetch_add(1, SeqCst);
        }
    }

    fn asked<E: fmt::Debug + Send + Sync + 'static>(value: E) -> (Failure, Arc<AtomicUsize>) {
        let replied = Arc::new(AtomicUsize::new(0));
        let text = |value: &E| format!("{value:?}");
        let value = Asked {
            value,
            error: |_| None,
            text,
            replied: Arc::clone(&replied),
        };
        (Failure::from_value(Box::new(value), handler()), replied)
    }

    #[test]
    fn a_failure_is_made_by_the_question_mark_from_every_kind_of_error() {
        fn all(n: usize) -> Result<(), Failure> {
            match n {
                0 => Err(database_down())?,
                1 => Err(anyhow::anyhow!("anyhow"))?,
                2 => Err(Box::<dyn Error + Send + Sync>::from("boxed"))?,
                3 => Err("text")?,
                4 => Err(String::from("string"))?,
                5 => Err(Failure::from("failure"))?,
                _ => {}
            }
            Ok(())
        }
        let texts: Vec<String> = (0..6)
            .map(|n| all(n).unwrap_err().text().to_owned())
            .collect();
        assert_eq!(
            texts,
            [
                "no database: cable cut",
                "anyhow",
                "boxed",
                "text",
                "string",
                "failure"
            ]
        );
        assert!(all(6).is_ok());
    }

    #[test]
    fn is_looks_at_the_value_into_anyhow_into_boxes_and_along_sources() {
        #[derive(Debug)]
        struct Outer(DbError);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "outer: {}", self.0)
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let context = Err::<(), _>(io::Error::other("io"))
            .context(database_down())
            .unwrap_err();
        let table = [
            Failure::from(database_down()),
            Failure::from(Outer(database_down())),
            Failure::from(anyhow::Error::new(database_down())),
            Failure::from(anyhow::Error::new(database_down()).context("while starting")),
            Failure::from(anyhow::Error::new(Outer(database_down()))),
            Failure::from(context),
            Failure::from(Box::new(database_down()) as Box<dyn Error + Send + Sync>),
            Failure::from(Box::new(Outer(database_down())) as Box<dyn Error + Send + Sync>),
            asked(database_down()).0,
            asked(anyhow::Error::new(Outer(database_down()))).0,
            asked(Box::new(Outer(database_down())) as Box<dyn Error + Send + Sync>).0,
        ];
        for (row, failure) in table.iter().enumerate() {
            assert!(failure.is::<DbError>(), "row {row}: {failure}");
            assert!(!failure.is::<fmt::Error>(), "row {row}: {failure}");
            let io = failure.downcast_ref::<io::Error>();
            assert!(
                io.is_some() || row == 8,
                "row {row}: the source of the source: {failure}"
            );
        }
        assert_eq!(
            table[1].text(),
            "outer: no database: cable cut",
            "a source already told is not told twice"
        );
        assert_eq!(table[3].text(), "while starting: no database: cable cut");
        assert!(!Failure::panic("no database".into(), handler()).is::<DbError>());
    }

    #[test]
    fn an_answered_error_is_found_by_its_sources_too() {
        let value = Asked {
            value: database_down(),
            error: |value| Some(value),
            text: |value| value.to_string(),
            replied: Arc::default(),
        };
        let failure = Failure::from_value(Box::new(value), handler());
        assert!(failure.is::<DbError>() && failure.is::<io::Error>());
        assert_eq!(
            failure.to_string(),
            "handler `Deposit` failed: no database: cable cut"
        );
    }

    #[test]
    fn an_answered_value_need_not_be_an_error_and_is_released_with_the_failure() {
        #[derive(Debug, PartialEq)]
        enum Overdrawn {
            By(u64),
        }
        let (failure, replied) = asked(Overdrawn::By(3));
        assert_eq!(failure.value_ref(), Some(&Overdrawn::By(3)));
        assert_eq!(failure.value_ref::<u64>(), None);
        let report = failure.report();
        let failure = failure.escalated_by(&ActorPath::root("bank").child("alice"));
        assert_eq!(replied.load(SeqCst), 0);
        drop(failure);
        assert_eq!(replied.load(SeqCst), 1);
        assert_eq!(report.text(), "By(3)");
        assert!(report.type_name().unwrap().ends_with("Overdrawn"));
    }

    #[test]
    fn a_failure_is_one_line_that_says_where_and_what() {
        let alice = ActorPath::root("bank").child("alice");
        let table = [
            (Failure::from("x"), "failed: x"),
            (
                Failure::from("x").at(FailureOrigin::Start),
                "start failed: x",
            ),
            (
                Failure::from("a\n  b\n").at(FailureOrigin::Hook("on_stop")),
                "hook `on_stop` failed: a b",
            ),
            (
                Failure::panic("boom".into(), handler()),
                "handler `Deposit` panicked: boom",
            ),
            (
                Failure::panic("boom".into(), handler()).escalated_by(&alice),
                "handler `Deposit` of /bank/alice panicked: boom",
            ),
            (
                Failure::from("x").escalated_by(&alice),
                "/bank/alice failed: x",
            ),
        ];
        for (failure, line) in table {
            assert_eq!(failure.to_string(), line);
            assert_eq!(failure.report().to_string(), line);
        }
    }

    #[test]
    fn an_escalated_failure_remembers_only_where_it_began() {
        let mut path = ActorPath::root("deep");
        let mut failure = Failure::panic("boom".into(), FailureOrigin::Start);
        for level in 0..100_000 {
            path = path.child("x");
            failure = failure.escalated_by(&path).at(handler());
            assert!(level > 0 || !failure.origin().is_start());
        }
        let first = ActorPath::root("deep").child("x");
        let began = FailureOrigin::Child {
            path: first,
            origin: Box::new(FailureOrigin::Start),
        };
        assert_eq!(failure.origin(), &began);
        assert_eq!(failure.panic_text(), Some("boom"));
    }

    #[test]
    fn an_error_that_panics_when_described_or_dropped_is_caught() {
        #[derive(Debug)]
        struct Hostile;
        impl fmt::Display for Hostile {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("half")?;
                panic!("never");
            }
        }
        impl Error for Hostile {}
        impl Drop for Hostile {
            fn drop(&mut self) {
                panic!("not even dropped");
            }
        }
        let failure = Failure::from(Hostile);
        assert!(failure.text().starts_with("half ("), "{failure}");
        assert!(
            failure
                .text()
                .ends_with("Hostile panicked while it was described: never)"),
            "{failure}"
        );
        drop(failure);
    }

    #[test]
    fn an_error_that_is_its_own_source_ends() {
        #[derive(Debug)]
        struct Snake;
        static TAIL: Snake = Snake;
        impl fmt::Display for Snake {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                Err(fmt::Error)
            }
        }
        impl Error for Snake {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&TAIL)
            }
        }
        let failure = Failure::from(Snake);
        assert!(failure.is::<Snake>() && !failure.is::<DbError>());
        assert_eq!(failure.text(), "");
    }

    #[test]
    fn a_report_names_the_type_where_it_says_something() {
        let table = [
            (Failure::from(fmt::Error), Some("core::fmt::Error")),
            (Failure::from("x"), None),
            (Failure::from(String::new()), None),
            (Failure::from(anyhow::anyhow!("x")), None),
            (
                Failure::from(Box::<dyn Error + Send + Sync>::from("x")),
                None,
            ),
            (Failure::panic("x".into(), handler()), None),
        ];
        for (failure, name) in table {
            assert_eq!(failure.report().type_name(), name, "{failure}");
        }
    }

    #[test]
    fn failures_and_policies_may_go_to_another_thread() {
        fn check<T: Send + Sync + 'static>() {}
        check::<Failure>();
        check::<FailureReport>();
        check::<crate::supervision::Supervision>();
        check::<crate::supervision::StopReason>();
    }
}
