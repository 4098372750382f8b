//! What generated code finds out about types without a bound on them.

use actors_core::__private::{
    Describe, DescribeDebug as _, DescribeName as _, Field, HiddenField as _, IsPlain as _, Reply,
    Sound,
};
use std::{fmt, io};

struct Opaque;

#[derive(Debug)]
struct OnlyDebug;

#[test]
fn a_field_that_is_debug_shows_itself() {
    assert_eq!(format!("{:?}", Field(&"text").shown()), "\"text\"");
    assert_eq!(format!("{:?}", Field(&vec![Some(1)]).shown()), "[Some(1)]");
}

#[test]
fn a_field_that_is_not_debug_shows_two_dots() {
    assert_eq!(format!("{:?}", Field(&Opaque).shown()), "..");
    assert_eq!(format!("{:?}", Field(&vec![Opaque]).shown()), "..");
}

#[test]
fn a_field_of_a_parameter_is_what_its_bounds_say() {
    fn bare<T>(value: &T) -> String {
        format!("{:?}", Field(value).shown())
    }
    fn bounded<T: fmt::Debug>(value: &T) -> String {
        format!("{:?}", Field(value).shown())
    }
    assert_eq!(bare(&1), "..");
    assert_eq!(bounded(&1), "1");
}

#[test]
fn an_error_is_described_by_its_display() {
    let error = io::Error::other("gone");
    let described = Describe(&error).describe();
    assert_eq!(described.text, "gone");
    assert!(described.error.is_some_and(|error| error.is::<io::Error>()));
}

#[test]
fn what_is_only_debug_is_described_by_that() {
    let described = Describe(&OnlyDebug).describe();
    assert_eq!(described.text, "OnlyDebug");
    assert!(described.error.is_none());
}

#[test]
fn a_string_is_no_error_and_described_by_its_debug() {
    assert_eq!(Describe(&"no".to_owned()).describe().text, "\"no\"");
}

#[test]
fn what_is_nothing_is_described_by_its_type() {
    let described = Describe(&Opaque).describe();
    assert!(described.text.ends_with("Opaque"), "{}", described.text);
    assert!(described.error.is_none());
}

#[test]
fn what_is_no_result_is_plain() {
    fn parameter<T>() {
        Reply::<T>::is_plain();
    }
    Reply::<u64>::is_plain();
    Reply::<Option<Result<u8, u8>>>::is_plain();
    parameter::<Result<u8, u8>>();
}

#[test]
fn a_sound_future_is_boxed_as_it_is() {
    let future = Sound::<(u8, String)>::boxed(async { 5 });
    assert_eq!(futures_like::now(future), 5);
}

mod futures_like {
    use std::{
        future::Future,
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    /// The output of a future that is ready at its first poll.
    pub(crate) fn now<O>(mut future: Pin<Box<dyn Future<Output = O> + Send + '_>>) -> O {
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(output) => output,
            Poll::Pending => unreachable!("it waits for nothing"),
        }
    }
}
