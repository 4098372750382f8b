//! What happens when an actor fails: policy as values, without a clock, a lock or a task.
//!
//! A [`Failure`] is what an actor failed with. The [`Supervision`] policy of its supervisor answers a [`Directive`] for
//! it. The mechanism then asks for a `Verdict`, which puts the directive against the [`Budget`] of restarts and the
//! [`Backoff`] between them, and does what the verdict says:
//!
//! ```text
//! Failure -> Supervision::decide -> Directive -> Supervision::verdict -> Verdict
//!                                                ^ RestartRecord, Situation
//! ```
//!
//! Everything here is a function of its arguments: the time and the random number come in as values. An actor that ends
//! leaves a [`StopReason`]; it and a [`FailureReport`] are what watchers and events carry.
//!
//! # Terms
//!
//! - **Supervisor**: the parent of the failed actor, or the system for a top-level actor.
//! - **Budget**: at most so many restarts in a sliding window of time.
//! - **Strategy**: which children a failure concerns: the failed one, all, or it and the younger ones.
//! - **Attempt**: the place of a restart in a row of restarts without healthy running between them.

mod backoff;
mod budget;
mod cause;
mod child;
mod directive;
mod failure;
mod origin;
mod policy;
mod reason;
mod record;
mod report;
mod restart_type;
mod strategy;
mod verdict;

pub use backoff::Backoff;
pub use budget::Budget;
pub(crate) use cause::FailureValue;
pub use child::ChildInfo;
pub use directive::Directive;
pub use failure::Failure;
pub use origin::FailureOrigin;
pub use policy::Supervision;
pub use reason::StopReason;
pub(crate) use record::RestartRecord;
pub use report::{FailureKind, FailureReport};
pub use restart_type::RestartType;
pub(crate) use strategy::Strategy;
pub(crate) use verdict::{Situation, Verdict};
