//! Tests of actors that own the clock: no sleeping, no races, and a failure that says what happened.
//!
//! [`#[actors_testkit::test]`](test) runs an async test in a system of its own, with a [`TestKit`]:
//!
//! ```
//! use actors_core::prelude::*;
//! use actors_testkit::TestKit;
//!
//! struct Reminder { to: Recipient<&'static str> }
//!
//! #[actor]
//! impl Reminder {
//!     #[handler]
//!     async fn remind(&mut self, after: std::time::Duration) {
//!         tokio::time::sleep(after).await;
//!         self.to.tell("time is up");
//!     }
//! }
//!
//! #[actors_testkit::test]
//! async fn a_reminder_comes_in_time(kit: TestKit) {
//!     // ..
//! }
//!
//! // The same without the attribute, for a loop over seeds or a property test:
//! TestKit::run("reminder", async |kit| {
//!     let mut probe = kit.probe::<&str>();
//!     let to = probe.recipient();
//!     let reminder = kit.spawn("reminder", move || Reminder { to: to.clone() }).unwrap();
//!     reminder.remind(secs(60)).tell();
//!     probe.expect_nothing_for(ms(59_999)).await;
//!     kit.advance(ms(1)).await;
//!     probe.expect("time is up").await;
//! });
//! ```
//!
//! - [`TestKit`] spawns actors, moves time, and looks after dead letters and panics: those that the test neither expected nor
//!   allowed fail it when it is over.
//! - [`TestProbe`] receives messages like an actor, and expects them.
//! - [`StandIn`] receives the messages of a whole actor type in the actor's place, and answers them.
//!
//! # Time
//!
//! A test runs on one thread, and its clock stands still while anything is runnable. It moves in two ways: by
//! [`TestKit::advance`], and while the test awaits something that needs time, from one timer to the next. So a timeout of an hour
//! costs nothing, and each thing happens at its own exact time. Work on other threads (`spawn_blocking`) holds the clock, but
//! [`TestKit::settle`] does not wait for it.

#![forbid(unsafe_code)]

mod failure;
mod record;

mod clock;
mod queue;

mod kit;
mod probe;
mod run;
mod stand_in;

pub use actors_macros::test;
pub use kit::TestKit;
pub use probe::TestProbe;
pub use run::Outcome;
pub use stand_in::StandIn;

#[doc(hidden)]
pub mod __private;
