//! What generated code asks about a type without a bound on it: is it `Debug`, is it an error, is
//! it a `Result`, is it `Send`?
//!
//! Stable Rust has no specialisation, but a method call prefers an inherent method to a trait's,
//! and a receiver by value to one by reference. Each question below is a type of that many tiers;
//! a tier whose bound does not hold is passed over. The answer is found where the call is
//! compiled: a type parameter is what its bounds say and no more.
//!
//! Generated code calls `Field(&x).shown()`, `Describe(&e).describe()`, `Reply::<T>::is_plain()` and
//! `Sound::<T>::boxed(future)` with the traits of this module in scope.

use std::{
    any::type_name,
    convert::Infallible,
    error::Error,
    fmt::{self, Debug, Formatter},
    future::Future,
    marker::PhantomData,
    pin::Pin,
};

/// A field of a message, on its way into the message's `Debug`.
#[derive(Clone, Copy)]
pub struct Field<'a, T>(pub &'a T);

impl<'a, T: Debug> Field<'a, T> {
    /// Answers the field itself.
    #[must_use]
    pub fn shown(self) -> &'a dyn Debug {
        self.0
    }
}

/// The tier below [`Field::shown`]: the type is not `Debug`.
pub trait HiddenField {
    /// Answers a value that prints `..`.
    fn shown(self) -> &'static dyn Debug;
}

impl<T> HiddenField for Field<'_, T> {
    fn shown(self) -> &'static dyn Debug {
        &Hidden
    }
}

impl<T> Debug for Field<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Field(..)")
    }
}

/// Stands for a value that cannot be shown.
struct Hidden;

impl Debug for Hidden {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// An `Err` of a handler, as far as it can be told to somebody who does not know its type.
#[derive(Debug)]
#[non_exhaustive]
pub struct Described<'a> {
    /// The error in words; its type's name when it has none.
    pub text: String,
    /// The error itself, if it is one.
    pub error: Option<&'a (dyn Error + 'static)>,
}

/// Turns an `Err` into [`Described`]: an `Error` by its `Display`, anything else by its `Debug`, and
/// what has neither by the name of its type.
#[derive(Clone, Copy)]
pub struct Describe<'a, E>(pub &'a E);

impl<'a, E: Error + 'static> Describe<'a, E> {
    /// Describes an error.
    #[must_use]
    pub fn describe(self) -> Described<'a> {
        Described {
            text: self.0.to_string(),
            error: Some(self.0),
        }
    }
}

/// The tier below [`Describe::describe`]: no error, but `Debug`.
pub trait DescribeDebug<'a> {
    /// Describes a value that is only `Debug`.
    fn describe(self) -> Described<'a>;
}

impl<'a, E: Debug> DescribeDebug<'a> for Describe<'a, E> {
    fn describe(self) -> Described<'a> {
        Described {
            text: format!("{:?}", self.0),
            error: None,
        }
    }
}

/// The tier below [`DescribeDebug`]: nothing is known but the type.
pub trait DescribeName<'a> {
    /// Describes a value by its type's name.
    fn describe(self) -> Described<'a>;
}

// By reference, so that the two tiers by value are tried first.
impl<'a, E> DescribeName<'a> for &Describe<'a, E> {
    fn describe(self) -> Described<'a> {
        Described {
            text: type_name::<E>().to_owned(),
            error: None,
        }
    }
}

impl<E> Debug for Describe<'_, E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Describe(..)")
    }
}

/// The reply type of a handler that does not look fallible.
#[derive(Debug)]
pub struct Reply<T>(PhantomData<fn() -> T>);

impl<T, E> Reply<Result<T, E>> {
    /// Cannot be called: it finds the `Result` behind an alias while the handler is compiled.
    pub fn is_plain()
    where
        Result<T, E>: PlainReply,
    {
    }
}

/// The tier below: anything that is no `Result`.
pub trait IsPlain {
    /// Holds for every type that is no `Result`.
    fn is_plain() {}
}

impl<T> IsPlain for Reply<T> {}

/// What a reply is that is not fallible; no `Result` is.
#[diagnostic::on_unimplemented(
    message = "this reply is a `Result` behind another name",
    label = "write `#[handler(fallible)]` above this handler",
    note = "asking then gives `Result<T, AskError<E>>` instead of a result inside a result"
)]
pub trait PlainReply {}

/// What an async handler holds while it waits: its actor and its arguments.
#[derive(Debug)]
pub struct Sound<T>(PhantomData<fn() -> T>);

impl<T: Send> Sound<T> {
    /// Boxes the future of an async handler.
    #[must_use]
    pub fn boxed<'a, O>(
        future: impl Future<Output = O> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = O> + Send + 'a>> {
        Box::pin(future)
    }
}

impl<T> Sound<T> {
    // Evaluated when a program is built, so after everything else has compiled.
    const UNSOUND: Infallible =
        panic!("an async handler holds what is not `Send`, and nothing has said so");
}

/// The tier below: something that the handler holds is not `Send`.
///
/// That is an error elsewhere already, at the user's type. Here nothing more is asked, so that the
/// one mistake is not reported again at each async handler; a program that came here without that
/// error could not be built.
pub trait Unsound {
    /// Takes the future.
    fn boxed<'a, O>(
        future: impl Future<Output = O> + 'a,
    ) -> Pin<Box<dyn Future<Output = O> + Send + 'a>>;
}

impl<T> Unsound for Sound<T> {
    fn boxed<'a, O>(
        _: impl Future<Output = O> + 'a,
    ) -> Pin<Box<dyn Future<Output = O> + Send + 'a>> {
        match Self::UNSOUND {}
    }
}

/// An argument or reply of a message `M`, the `N`th.
///
/// Generated code implements it at the user's type, and that is where a type that is not `Send` is
/// an error, once: everything after takes the `impl` for proof. The lifetime keeps the compiler from
/// settling a bound on it before it is used.
pub trait Carried<'a, M, const N: usize>: Send {}

/// A message whose every part is [`Carried`].
pub trait Carrier<'a>: Send {}

/// Asks for `Sync`, at a receiver; the name is what the compiler tells the user.
pub const fn async_handler_with_shared_self<T: Sync>() {}
