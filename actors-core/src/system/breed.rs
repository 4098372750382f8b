//! What an actor has in common with siblings of its kind: kept once for all of them, so that each holds one pointer.

use std::any::TypeId;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::mailbox::Mailbox;
use crate::path::ActorPath;
use crate::supervision::{RestartType, Supervision};

use super::SystemCore;
use super::member::Member;

/// The type behind an actor. It lives in a constant, so that all of a type share it.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) type_id: fn() -> TypeId,
    pub(crate) name: fn() -> &'static str,
    pub(crate) message: fn() -> &'static str,
    /// Whether it decides itself about failures of its children.
    pub(crate) decides: bool,
}

/// The options of one actor; shared by all that were spawned with the same.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) mailbox: Mailbox,
    pub(crate) throughput: u32,
    pub(crate) stop_timeout: Duration,
    /// How long a handler may take before it is reported.
    pub(crate) slow_handler: Duration,
    /// How this actor's failures are judged, if not as its parent does for all its children.
    pub(crate) supervision: Option<Supervision>,
    pub(crate) restart_type: RestartType,
    /// Whether it drains when nobody outside refers to it any more.
    pub(crate) counted: bool,
}

impl Options {
    /// Says whether they may be kept for siblings to come. A policy is the user's, to be dropped with the actor that has it; and
    /// policies cannot be compared.
    const fn may_be_kept(&self) -> bool {
        self.supervision.is_none()
    }

    /// Says whether an actor with these options may have the others as well, of two that may be kept.
    fn are_same(&self, other: &Self) -> bool {
        let all = |options: &Self| {
            (
                options.mailbox,
                options.throughput,
                options.stop_timeout,
                options.slow_handler,
                options.restart_type,
                options.counted,
            )
        };
        std::ptr::eq(self, other) || all(self) == all(other)
    }
}

/// What siblings of one type have in common that were spawned with the same options. An actor derefs to it: see
/// [`Core`](super::member::Core).
pub(crate) struct Breed {
    pub(crate) system: Arc<SystemCore>,
    /// `None` for top-level actors. Weak, so that no chain of parents hangs on one reference; a parent outlives its
    /// children by its own activation.
    pub(crate) parent: Option<Weak<dyn Member>>,
    /// The path of the parent, or of the system.
    pub(crate) home: ActorPath,
    pub(crate) kind: &'static Kind,
    pub(crate) options: Arc<Options>,
    /// How failures are judged: as the options say, or as the parent does for all its children.
    pub(crate) policy: Supervision,
}

/// The breeds of the latest two kinds of children of a parent, so that the next one need not make its own.
///
/// They are held weakly: a breed holds the system, and would keep it alive.
#[derive(Default)]
pub(super) struct Breeds([Option<Known>; 2]);

pub(super) struct Known {
    kind: &'static Kind,
    options: Arc<Options>,
    breed: Weak<Breed>,
}

impl Breeds {
    /// Finds the breed of children of this kind, if one of them lives.
    pub(super) fn find(&self, kind: &'static Kind, options: &Options) -> Option<Arc<Breed>> {
        if !options.may_be_kept() {
            return None;
        }
        let known = self.0.iter().flatten();
        let mut same =
            known.filter(|known| std::ptr::eq(known.kind, kind) && known.options.are_same(options));
        same.find_map(|known| known.breed.upgrade())
    }

    /// Takes note of a new breed. Gives the one that it forgets for it, to be dropped where no lock is held.
    pub(super) fn note(&mut self, breed: &Arc<Breed>) -> Option<Known> {
        if !breed.options.may_be_kept() {
            return None;
        }
        let known = Known {
            kind: breed.kind,
            options: Arc::clone(&breed.options),
            breed: Arc::downgrade(breed),
        };
        self.0.rotate_right(1);
        self.0[0].replace(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            mailbox: Mailbox::unbounded(),
            throughput: 64,
            stop_timeout: Duration::from_secs(5),
            slow_handler: Duration::from_secs(1),
            supervision: None,
            restart_type: RestartType::default(),
            counted: false,
        }
    }

    #[test]
    fn options_that_say_the_same_are_shared_and_those_with_a_policy_are_not_kept() {
        let (one, other) = (options(), options());
        assert!(one.are_same(&other));
        let bounded = Options {
            mailbox: Mailbox::bounded(1),
            ..options()
        };
        assert!(!one.are_same(&bounded));
        let counted = Options {
            counted: true,
            ..options()
        };
        assert!(!one.are_same(&counted));
        let judged = Options {
            supervision: Some(Supervision::default()),
            ..options()
        };
        assert!(one.may_be_kept() && !judged.may_be_kept());
    }
}
