//! The attributes `#[actor]`, `#[handler]` and the hooks of `actors-core`, which re-exports them.
//!
//! `#[actor]` goes through five steps, one module each: *parse* the block (bodies stay raw
//! tokens), *model* it, *validate* each signature on the way, *expand* the model, or *fall back*: emit
//! the errors together with whatever is known, so that one mistake is one error.

use proc_macro::TokenStream;

mod errors;
mod expand;
mod fallback;
mod model;
mod options;
mod parse;
mod reserved;
#[cfg(test)]
mod snapshots;
mod test_attribute;
mod types;
mod validate;

/// Makes an actor of the type whose inherent `impl` block it stands on.
///
/// For `impl Account` it generates `enum AccountMsg` (a variant a handler), `struct AccountRef` (a
/// method a handler) and `impl Actor for Account`. The methods stay ordinary methods. A type has one
/// such block; helpers live in plain `impl` blocks.
///
/// Inside it, [`#[handler]`](macro@handler) makes a message of a method, and a method is a hook with [`#[on_start]`](macro@on_start),
/// [`#[on_stop]`](macro@on_stop), [`#[on_restart]`](macro@on_restart), [`#[on_terminated]`](macro@on_terminated) or
/// [`#[on_failure]`](macro@on_failure).
///
/// Options, separated by commas:
///
/// - `crate = path`: where `actors_core` is found, if not at `::actors_core`;
/// - `msg = Name`, `ref = Name`: names for the generated types;
/// - `supervision = expression`: the policy of this type for its children.
#[proc_macro_attribute]
pub fn actor(args: TokenStream, item: TokenStream) -> TokenStream {
    pipeline(args.into(), &item.into()).into()
}

/// Makes a message of a method inside an `#[actor]` block.
///
/// The method takes `&mut self` or `&self` and owned arguments, and may be `async`. The context
/// (`ctx: &mut ActorContext<Self>`) and the way back (`reply: ReplyTo<T>`) are recognised by their types.
///
/// Options, separated by commas:
///
/// - `fallible`: the reply is a `Result` although its type is not called so;
/// - `err_is_failure`: an `Err` is also a failure of the actor.
#[proc_macro_attribute]
pub fn handler(_args: TokenStream, item: TokenStream) -> TokenStream {
    fallback::outside("handler", &item.into()).into()
}

/// Runs a method inside an `#[actor]` block before the first message of each incarnation.
///
/// It takes `&mut self` and, if it wants, `ctx: &mut ActorContext<Self>`, and may be `async`; it returns nothing or a
/// `Result<(), E>`.
#[proc_macro_attribute]
pub fn on_start(_args: TokenStream, item: TokenStream) -> TokenStream {
    fallback::outside("on_start", &item.into()).into()
}

/// Runs a method inside an `#[actor]` block when the actor ends, after its children have ended.
///
/// Besides the context it may take `reason: &StopReason`, and may be `async`; it returns nothing or a `Result<(), E>`. An actor
/// without an `#[on_restart]` gets it at a restart too, with the reason `StopReason::Restarting`. It does not run when the actor
/// is killed, nor when its start failed.
#[proc_macro_attribute]
pub fn on_stop(_args: TokenStream, item: TokenStream) -> TokenStream {
    fallback::outside("on_stop", &item.into()).into()
}

/// Runs a method inside an `#[actor]` block when a restart replaces this incarnation.
///
/// Besides the context it may take `cause: &Failure`, and may be `async`; it returns nothing or a `Result<(), E>`.
#[proc_macro_attribute]
pub fn on_restart(_args: TokenStream, item: TokenStream) -> TokenStream {
    fallback::outside("on_restart", &item.into()).into()
}

/// Runs a method inside an `#[actor]` block when a watched actor has ended.
///
/// Besides the context it may take `who: Terminated`, and may be `async`; it returns nothing or a `Result<(), E>`.
#[proc_macro_attribute]
pub fn on_terminated(_args: TokenStream, item: TokenStream) -> TokenStream {
    fallback::outside("on_terminated", &item.into()).into()
}

/// Lets a method inside an `#[actor]` block decide about the failures of the actor's children.
///
/// It takes `&mut self` (or `&self`) and, if it wants, `failure: &Failure`, `child: &ChildInfo` and `ctx: &mut ActorContext<Self>`; it
/// returns a `Directive`, or an `Option<Directive>` where `None` means what the declared policy says. It is no `async fn`: the child
/// waits for it.
///
/// What it returns comes before every policy, also before one that is set on the child alone. After `None`, and where there is no such
/// method, the policy of the child counts (`.supervision(..)` on its builder), else that of its parent's type (`#[actor(supervision = ..)]`),
/// else that of the system.
///
/// It runs between two messages, before those that wait. A parent whose handler runs for longer than the policy's `decision_timeout` is
/// not asked, nor one that is stopping: the declared policy decides, or the child stops with it. A panic in it is a failure of the
/// parent.
#[proc_macro_attribute]
pub fn on_failure(_args: TokenStream, item: TokenStream) -> TokenStream {
    fallback::outside("on_failure", &item.into()).into()
}

/// Makes a test of an `async fn name(kit: TestKit)`; `actors_testkit` re-exports it.
///
/// The test runs on one thread whose clock stands still until the test moves it, in an actor system of its own that is named
/// after the test. It fails when it panics or returns an `Err`, and when it left dead letters or panics of actors behind that it
/// neither expected nor allowed.
///
/// Options, separated by commas:
///
/// - `system = expression`: settings for the system, as in `system = |system| system.throughput(1)`;
/// - `crate = path`: where `actors_testkit` is found, if not at `::actors_testkit`.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    test_attribute::test(args.into(), &item.into()).into()
}

/// What `#[actor]` does, in types that exist outside a compiler too.
fn pipeline(
    args: proc_macro2::TokenStream,
    item: &proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    match parse::block(item.clone()) {
        Ok(block) => match model::Actor::new(args, block) {
            Ok(actor) => expand::actor(&actor),
            Err(rejected) => fallback::actor(&rejected),
        },
        Err(error) => fallback::untouched(item, &error),
    }
}
