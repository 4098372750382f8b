//! Why an actor ended.

use std::fmt;

use crate::supervision::FailureReport;

/// Why an actor stopped, as its `on_stop`, its watchers and whoever awaits its end are told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// Somebody asked it to stop, or it did so itself.
    Stopped,
    /// It was drained: it handled what it had accepted.
    Drained,
    /// It was killed, and ran no hook.
    Killed,
    /// It was spawned to stop when unreferenced, and nobody referred to it any more.
    Unreferenced,
    /// Its parent stopped or restarted.
    ParentStopped,
    /// Its siblings were restarted, and it with them had it not been temporary.
    SiblingFailed,
    /// Its system shut down.
    Shutdown,
    /// It failed and its supervisor, or the lack of a factory, said to stop.
    Failed(FailureReport),
    /// It failed when its budget of restarts was spent; this is the last failure. Or a sibling did, with which it would have
    /// been restarted: the failure's origin says so.
    RestartLimit(FailureReport),
    /// It does not end: its state makes room for a fresh one. Only hooks see this.
    Restarting,
    /// Its code held the thread beyond the deadline. The name is free; the state is dropped when the code returns.
    Abandoned {
        /// The variant of the message whose handler did not return; `None` for a hook or a factory.
        handler: Option<&'static str>,
    },
    /// The runtime it ran on was dropped.
    SystemGone,
}

impl StopReason {
    /// Returns the reason in a word or two, without what goes with it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Drained => "drained",
            Self::Killed => "killed",
            Self::Unreferenced => "unreferenced",
            Self::ParentStopped => "parent stopped",
            Self::SiblingFailed => "sibling failed",
            Self::Shutdown => "shutdown",
            Self::Failed(_) => "failed",
            Self::RestartLimit(_) => "restart limit",
            Self::Restarting => "restarting",
            Self::Abandoned { .. } => "abandoned",
            Self::SystemGone => "system gone",
        }
    }

    /// Says whether a failure ended it, its own or a sibling's.
    pub fn is_failure(&self) -> bool {
        self.failure().is_some()
    }

    /// Returns the failure that ended the actor.
    pub fn failure(&self) -> Option<&FailureReport> {
        match self {
            Self::Failed(failure) | Self::RestartLimit(failure) => Some(failure),
            Self::Stopped
            | Self::Drained
            | Self::Killed
            | Self::Unreferenced
            | Self::ParentStopped
            | Self::SiblingFailed
            | Self::Shutdown
            | Self::Restarting
            | Self::Abandoned { .. }
            | Self::SystemGone => None,
        }
    }

    /// Says whether the actor came to an orderly end: asked for or due, and with its `on_stop`.
    pub fn ended_well(&self) -> bool {
        match self {
            Self::Stopped
            | Self::Drained
            | Self::Unreferenced
            | Self::ParentStopped
            | Self::SiblingFailed
            | Self::Shutdown => true,
            Self::Killed
            | Self::Failed(_)
            | Self::RestartLimit(_)
            | Self::Restarting
            | Self::Abandoned { .. }
            | Self::SystemGone => false,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("stopped"),
            Self::Drained => f.write_str("drained"),
            Self::Killed => f.write_str("killed"),
            Self::Unreferenced => f.write_str("unreferenced"),
            Self::ParentStopped => f.write_str("parent stopped"),
            Self::SiblingFailed => f.write_str("sibling failed"),
            Self::Shutdown => f.write_str("system shut down"),
            Self::Failed(failure) => failure.fmt(f),
            Self::RestartLimit(failure) => write!(f, "restart limit reached: {failure}"),
            Self::Restarting => f.write_str("restarting"),
            Self::Abandoned {
                handler: Some(handler),
            } => {
                write!(f, "abandoned in handler `{handler}`")
            }
            Self::Abandoned { handler: None } => f.write_str("abandoned in a hook"),
            Self::SystemGone => f.write_str("runtime dropped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervision::{Failure, FailureOrigin};

    #[test]
    fn a_reason_says_how_the_actor_ended() {
        let report = Failure::from("x").at(FailureOrigin::Start).report();
        let table = [
            (StopReason::Stopped, false, true, "stopped"),
            (StopReason::Drained, false, true, "drained"),
            (StopReason::Killed, false, false, "killed"),
            (StopReason::Unreferenced, false, true, "unreferenced"),
            (StopReason::ParentStopped, false, true, "parent stopped"),
            (StopReason::SiblingFailed, false, true, "sibling failed"),
            (StopReason::Shutdown, false, true, "system shut down"),
            (
                StopReason::Failed(report.clone()),
                true,
                false,
                "start failed: x",
            ),
            (
                StopReason::RestartLimit(report),
                true,
                false,
                "restart limit reached: start failed: x",
            ),
            (StopReason::Restarting, false, false, "restarting"),
            (
                StopReason::Abandoned {
                    handler: Some("Add"),
                },
                false,
                false,
                "abandoned in handler `Add`",
            ),
            (
                StopReason::Abandoned { handler: None },
                false,
                false,
                "abandoned in a hook",
            ),
            (StopReason::SystemGone, false, false, "runtime dropped"),
        ];
        for (reason, is_failure, ended_well, line) in table {
            assert_eq!(
                (reason.is_failure(), reason.ended_well()),
                (is_failure, ended_well),
                "{reason}"
            );
            assert_eq!(reason.to_string(), line);
            assert_eq!(reason.clone(), reason);
        }
    }
}
