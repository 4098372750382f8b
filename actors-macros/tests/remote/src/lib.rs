//! Actors that the tests of `actors-macros` use from another crate. Every lint that generated code
//! could set off is on here.

#![warn(clippy::pedantic, private_bounds, private_interfaces)]

use actors_core::prelude::*;
use std::fmt;

/// Counts.
#[derive(Debug, Default)]
pub struct Counter {
    count: u64,
}

#[actor]
impl Counter {
    /// Adds to the count and answers it.
    #[handler]
    pub fn add(&mut self, number: u64) -> u64 {
        self.count += number;
        self.count
    }

    /// Takes from the count.
    ///
    /// # Errors
    ///
    /// [`TooFew`] if there is less.
    #[handler(err_is_failure)]
    pub async fn take(&mut self, number: u64) -> Result<u64, TooFew> {
        std::future::ready(()).await;
        self.count = self.count.checked_sub(number).ok_or(TooFew)?;
        Ok(self.count)
    }

    /// Writes a line that nobody needs.
    #[deprecated = "use `add`"]
    #[handler]
    pub fn note(&mut self, line: String) {
        let _ = line.len();
    }

    /// Forgets the count; only this crate can ask for it.
    #[handler]
    pub(crate) fn forget(&mut self, ctx: &mut ActorContext<Self>, reply: ReplyTo<()>) {
        let _ = ctx;
        self.count = 0;
        reply.send(());
    }

    #[handler]
    fn hidden(&mut self, secret: Secret) -> Secret {
        secret
    }

    #[on_start]
    async fn start(&mut self) -> Result<(), TooFew> {
        std::future::ready(Ok(())).await
    }

    #[on_terminated]
    fn gone(&mut self, who: Terminated) {
        let _ = &who;
    }
}

/// There is less than was asked for.
#[derive(Debug)]
pub struct TooFew;

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too few")
    }
}

impl std::error::Error for TooFew {}

struct Secret;

/// Holds a value of any type.
#[derive(Debug)]
pub struct Holder<T> {
    value: T,
}

#[actor]
impl<T: Clone + Send + 'static> Holder<T> {
    /// Answers the value that was held, and holds this one.
    #[handler]
    pub fn replace(&mut self, value: T) -> T {
        std::mem::replace(&mut self.value, value)
    }
}

struct Private;

#[actor]
impl Private {
    #[handler]
    fn tick(&mut self) {}
}

mod inner {
    use actors_core::prelude::*;

    pub(crate) struct Shared;

    #[actor]
    impl Shared {
        #[handler]
        pub(crate) fn tick(&mut self) {}
    }
}

/// Uses what only this crate can.
pub fn inside(counter: &CounterRef) {
    counter.forget().tell();
    counter.hidden(Secret).tell();
    let _ = (
        PrivateRef::<Private>::tick,
        inner::SharedRef::<inner::Shared>::tick,
    );
    let _ = (Private, inner::Shared);
}
