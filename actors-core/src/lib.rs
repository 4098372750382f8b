//! Actors for Rust on Tokio.
//!
//! An actor owns its state and a mailbox; everyone else holds a reference and sends messages; at most one message is inside
//! an actor at any moment, so its state needs no lock. Failure is a normal event with a policy.
//!
//! ```
//! use actors_core::prelude::*;
//!
//! #[derive(Default)]
//! struct Account { balance: u64 }
//!
//! #[derive(Debug, PartialEq)]
//! struct Overdrawn;
//!
//! #[actor]
//! impl Account {
//!     #[handler]
//!     fn deposit(&mut self, amount: u64) -> u64 {
//!         self.balance += amount;
//!         self.balance
//!     }
//!
//!     #[handler]
//!     fn withdraw(&mut self, amount: u64) -> Result<u64, Overdrawn> {
//!         self.balance = self.balance.checked_sub(amount).ok_or(Overdrawn)?;
//!         Ok(self.balance)
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let system = ActorSystem::new("bank")?;
//! let account = system.spawn("alice", Account::default)?;
//! account.deposit(50).tell();
//! assert_eq!(account.withdraw(30).await, Ok(20));
//! assert_eq!(account.withdraw(30).await, Err(AskError::Handler(Overdrawn)));
//! system.shutdown().await;
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! # The way of a message
//!
//! The modules, one a step: the generated stub makes a [`Call`]; its `tell` or `ask` pushes the message to the mailbox; a push to
//! an idle actor hands its activation to a worker; the activation takes the message and calls the handler; [`ReplyTo`]
//! carries the answer to the [`Ask`].

#![forbid(unsafe_code)]

mod error;
mod panic;
mod path;
mod sync;
mod time_units;

mod mailbox;

mod dispatch;

mod event;
mod supervision;

mod system;

mod actor;

mod private_autoref;

pub use actor::ask::Ask;
pub use actor::call::{Call, Fallible, IsResult, ReplyKind, Value};
pub use actor::context::ActorContext;
pub use actor::enqueue::Enqueue;
pub use actor::factory::{Factory, IntoState};
pub use actor::flow::Flow;
pub use actor::recipient::Recipient;
pub use actor::reference::{ActorRef, WeakActorRef};
pub use actor::reply::{ReplyTo, WayBack};
pub use actor::spawn::{Reserved, Spawn};
pub use actor::starting::{StartError, Starting};
pub use actor::stopping::Ended;
pub use actor::{Actor, Handle, Message};
pub use actors_macros::{actor, handler, on_failure, on_restart, on_start, on_stop, on_terminated};
pub use dispatch::{Runnable, Schedule};
pub use error::{
    AskError, BuildError, CyclePath, EnqueueError, LookupError, NameError, Phase, SpawnError,
    TryTellError,
};
pub use event::{DeadLetter, DeadLetterReason, LifecycleEvent, Subscription};
pub use mailbox::{Mailbox, Overflow};
pub use path::{ActorId, ActorPath};
pub use supervision::{
    Backoff, Budget, ChildInfo, Directive, Failure, FailureKind, FailureOrigin, FailureReport,
    RestartType, StopReason, Supervision,
};
pub use system::{
    ActorState, ActorSystem, Counters, ShutdownCause, ShutdownReport, Stopped, SystemBuilder,
    Terminated, Tree, TreeNode,
};
pub use time_units::{ms, secs, within};

/// What a program with actors uses: `use actors_core::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Actor, ActorContext, ActorPath, ActorRef, ActorState, ActorSystem, AskError, Backoff,
        Budget, BuildError, ChildInfo, DeadLetter, Directive, EnqueueError, Failure, FailureOrigin,
        FailureReport, Handle, LifecycleEvent, LookupError, Mailbox, Overflow, Phase, Recipient,
        ReplyTo, Reserved, RestartType, SpawnError, StartError, Starting, StopReason, Subscription,
        Supervision, Terminated, Tree, TryTellError, actor, handler, ms, on_failure, on_restart,
        on_start, on_stop, on_terminated, secs, within,
    };
}

#[doc(hidden)]
pub mod __private;
