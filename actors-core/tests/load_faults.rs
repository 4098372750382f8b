//! The promises under load, with faults mixed in: one handler of a hundred panics.
//!
//! Four shapes, each on threads of its own, and under the policies that make sense for it. What the system counts is compared
//! with what the tests have counted themselves ([`load::Evidence`]), and every handler looks whether a promise is broken
//! ([`load::Witness`]). Which handlers panic is a matter of their numbers, so a run has as many failures as the next.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;
mod load;
