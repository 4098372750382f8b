//! Which ends of its own an actor is started again after.

use std::fmt;

/// When a child is to live again that came to an end of its own making.
///
/// An order (`stop`, `drain` or `kill` through a reference, a parent or a system that stops) is final for every type. What a
/// type judges is how an actor ends itself:
///
/// | the actor | permanent | transient | temporary |
/// |---|---|---|---|
/// | fails, and its supervisor says `Restart` | restarts | restarts | stops |
/// | calls [`ctx.stop()`](crate::ActorContext::stop) | restarts, which counts | stops | stops |
///
/// The types are those of OTP. There every child states one, and `permanent` is what a child specification defaults to; here
/// the default is `Transient`, so that an actor that stops itself is stopped, as in Akka.
///
/// ```
/// # use actors_core::prelude::*;
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// struct Session;
///
/// #[actor]
/// impl Session {
///     #[handler]
///     fn log_out(&mut self, ctx: &mut ActorContext<Self>) {
///         ctx.stop();
///     }
/// }
///
/// # let system = ActorSystem::new("demo")?;
/// let session = system.spawn("session", || Session)?;
/// session.log_out().await?;
/// assert_eq!(session.stopped().await, StopReason::Stopped);
///
/// let session = system.actor(|| Session).restart_type(RestartType::Permanent).spawn()?;
/// session.log_out().await?;
/// assert!(session.log_out().await.is_ok(), "the next incarnation answers");
/// # system.shutdown().await;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RestartType {
    /// It lives until it is ordered to end: stopping itself counts as a failure that asks for a restart.
    Permanent,
    /// It restarts after a failure. The default.
    #[default]
    Transient,
    /// It never restarts: `Restart` acts as `Stop`, and it is not started again with its siblings.
    Temporary,
}

impl fmt::Display for RestartType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Permanent => "permanent",
            Self::Transient => "transient",
            Self::Temporary => "temporary",
        })
    }
}
