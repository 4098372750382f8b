//! What a failure holds: a panic, or one of several shapes of an error.

use std::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Write};

use crate::panic::{self, PanicText};
use crate::path::ActorId;
use crate::supervision::FailureReport;

/// The box that every error fits into.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// How many steps along `source()` are looked at: an error may, by mistake, be its own source.
const MOST_SOURCES: usize = 64;

/// The value of a failure that another module owns together with what must happen once the failure is over.
///
/// An `err_is_failure` handler answers an `Err` that its asker is owed as well: the value sits in here with the way
/// back, and the implementation's destructor sends it. That is after the decision, because the supervisor holds the
/// failure until then.
pub(crate) trait FailureValue: Send + Sync {
    /// Returns the value itself, for `is` and `downcast_ref`.
    fn any(&self) -> &dyn Any;

    /// Returns the value as an error if its type is one.
    fn error(&self) -> Option<&(dyn Error + 'static)>;

    /// Describes the value without its sources; may run user code, which may panic.
    fn text(&self) -> String;

    /// Returns the name of the value's type.
    fn type_name(&self) -> &'static str;

    /// Returns the actor that the value is owed to, if it is one.
    fn asking_actor(&self) -> Option<ActorId>;
}

pub(super) enum Cause {
    Panic(PanicText),
    Error {
        error: BoxError,
        type_name: Option<&'static str>,
    },
    /// Kept as it is: anyhow's conversion to a box hides the type inside.
    Anyhow(anyhow::Error),
    Value(Box<dyn FailureValue>),
    /// What is left of a failure that is gone, or was another actor's.
    Report(FailureReport),
}

impl Cause {
    pub(super) fn new<E: Into<BoxError> + 'static>(error: E) -> Self {
        match cast::<E, anyhow::Error>(error) {
            Ok(error) => Self::Anyhow(error),
            Err(error) => Self::Error {
                error: error.into(),
                type_name: telling_name::<E>(),
            },
        }
    }

    /// Looks for an error of type `T`: the value, what is inside of anyhow's error or a box, and their sources.
    pub(super) fn find<T: Error + Send + Sync + 'static>(&self) -> Option<&T> {
        match self {
            Self::Panic(_) | Self::Report(_) => None,
            Self::Error { error, .. } => find_in_chain(&**error),
            Self::Anyhow(error) => find_in_anyhow(error),
            Self::Value(value) => find_in_value(&**value),
        }
    }

    /// Looks for a value of type `T`, which need not be an error.
    pub(super) fn value<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::Value(value) => value.any().downcast_ref(),
            Self::Panic(_) | Self::Report(_) | Self::Error { .. } | Self::Anyhow(_) => None,
        }
    }

    pub(super) fn type_name(&self) -> Option<&'static str> {
        match self {
            Self::Panic(_) | Self::Anyhow(_) => None,
            Self::Error { type_name, .. } => *type_name,
            Self::Value(value) => Some(value.type_name()),
            Self::Report(report) => report.type_name(),
        }
    }

    /// Describes the cause and its sources. User code that panics meanwhile cuts the description short, and is named.
    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        let described = panic::catch(|| match self {
            Self::Panic(panic) => text.push_str(panic),
            Self::Report(report) => text.push_str(report.text()),
            Self::Error { error, .. } => push_chain(&mut text, &**error),
            Self::Anyhow(error) => push_chain(&mut text, &**error),
            Self::Value(value) => push_value(&mut text, &**value),
        });
        if let Err(panic) = described {
            let separator = if text.is_empty() { "" } else { " " };
            let name = self.type_name().unwrap_or("an error");
            text.push_str(&format!(
                "{separator}({name} panicked while it was described: {panic})"
            ));
        }
        text
    }
}

fn cast<From: 'static, To: 'static>(value: From) -> Result<To, From> {
    let mut slot = Some(value);
    match (&mut slot as &mut dyn Any)
        .downcast_mut::<Option<To>>()
        .and_then(Option::take)
    {
        Some(value) => Ok(value),
        None => Err(slot.expect("only the other branch takes the value")),
    }
}

/// Returns the name of a type unless it says nothing about the error.
fn telling_name<E: 'static>() -> Option<&'static str> {
    let texts_and_boxes = [
        TypeId::of::<String>(),
        TypeId::of::<&'static str>(),
        TypeId::of::<Cow<'static, str>>(),
        TypeId::of::<BoxError>(),
    ];
    (!texts_and_boxes.contains(&TypeId::of::<E>())).then(type_name::<E>)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source()).take(MOST_SOURCES)
}

fn find_in_chain<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    chain(error).find_map(|error| error.downcast_ref())
}

fn find_in_anyhow<T: Error + Send + Sync + 'static>(error: &anyhow::Error) -> Option<&T> {
    error.downcast_ref().or_else(|| find_in_chain(&**error))
}

fn find_in_value<T: Error + Send + Sync + 'static>(value: &dyn FailureValue) -> Option<&T> {
    let any = value.any();
    if let Some(found) = any.downcast_ref() {
        Some(found)
    } else if let Some(error) = any.downcast_ref::<anyhow::Error>() {
        find_in_anyhow(error)
    } else if let Some(error) = any.downcast_ref::<BoxError>() {
        find_in_chain(&**error)
    } else {
        find_in_chain(value.error()?)
    }
}

fn push_value(text: &mut String, value: &dyn FailureValue) {
    let any = value.any();
    if let Some(error) = any.downcast_ref::<anyhow::Error>() {
        push_chain(text, &**error);
    } else if let Some(error) = any.downcast_ref::<BoxError>() {
        push_chain(text, &**error);
    } else {
        text.push_str(&value.text());
        if let Some(error) = value.error() {
            push_sources(text, error);
        }
    }
}

fn push_chain(text: &mut String, error: &(dyn Error + 'static)) {
    push(text, error);
    push_sources(text, error);
}

/// Appends the sources of an error; one that the text already ends with was written by the error it is the source of.
fn push_sources(text: &mut String, error: &(dyn Error + 'static)) {
    for source in chain(error).skip(1) {
        let mut next = String::new();
        push(&mut next, source);
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
    }
}

/// Appends what an error displays; one that reports an error of formatting leaves what it had written.
fn push(text: &mut String, error: &dyn fmt::Display) {
    let _ = write!(text, "{error}");
}
