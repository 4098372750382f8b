//! Writes events to the log, through `tracing`, without flooding it.
//!
//! Each kind of event may write ten lines a second about each actor, and ten in all about the
//! actors beyond the 256 that it has its eyes on: what a failure in a loop, or the end of a busy
//! actor, makes of the log is bounded, and so is the memory. The last of these lines says that more
//! is held back, and the next event of any kind after that second tells how much that was.
//!
//! Targets are `actors_core::dead_letter` and `actors_core::lifecycle`, so that an application can
//! turn either off. [`EventLog`] reads no clock: the caller says what time it is. `tracing`
//! subscribers are user code, so no lock is held while they run.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::time::Instant;
use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::dead_letter::{DeadLetter, DeadLetterReason};
use super::lifecycle::LifecycleEvent;
use super::rate_limit::{Admit, Held, RateLimit};
use crate::path::{ActorId, ActorPath};
use crate::supervision::{Directive, StopReason};
use crate::sync::Mutex;

/// The `tracing` target of dead letters.
const DEAD_LETTER: &str = "actors_core::dead_letter";

/// The `tracing` target of lifecycle events.
const LIFECYCLE: &str = "actors_core::lifecycle";

/// The log of one system.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    limits: Mutex<BTreeMap<Kind, RateLimit<Target>>>,
    quiet: AtomicBool,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Logs a dead letter as a warning, unless the log is quiet.
    pub(crate) fn dead_letter(&self, letter: &DeadLetter, now: Instant) {
        // Ordering: Relaxed; nothing else is read because of it, and a line more or less is no
        // harm.
        if self.quiet.load(Ordering::Relaxed) {
            return;
        }
        let target = Target {
            id: letter.recipient_id,
            path: letter.recipient.clone(),
        };
        let Some(note) = self.admit(Kind::DeadLetter(letter.reason), target, now) else {
            return;
        };
        tracing::warn!(
            target: DEAD_LETTER,
            recipient = %letter.recipient,
            id = %letter.recipient_id,
            message_type = letter.message_type,
            variant = letter.variant,
            reason = %letter.reason,
            sender = letter.sender.as_ref().map(tracing::field::display),
            note,
            "dead letter",
        );
    }

    /// Logs a lifecycle event at the level that it deserves.
    pub(crate) fn lifecycle(&self, event: &LifecycleEvent, now: Instant) {
        let level = level(event);
        if level == Level::DEBUG && !reads_details() {
            return;
        }
        let target = Target {
            id: event.id(),
            path: event.actor().clone(),
        };
        let Some(note) = self.admit(Kind::of(event), target, now) else {
            return;
        };
        let (actor, id, text) = (event.actor(), event.id(), event.predicate());
        match level {
            Level::ERROR => tracing::error!(target: LIFECYCLE, %actor, %id, note, "{text}"),
            Level::WARN => tracing::warn!(target: LIFECYCLE, %actor, %id, note, "{text}"),
            _ => tracing::debug!(target: LIFECYCLE, %actor, %id, note, "{text}"),
        }
    }

    /// Logs no dead letters from now on, because a system that shuts down makes them by the
    /// thousand; and tells what was held back so far. Failures are logged as before.
    pub(crate) fn quiet(&self) {
        // Ordering: Relaxed, as in `dead_letter`.
        self.quiet.store(true, Ordering::Relaxed);
        let limits = std::mem::take(&mut *self.limits.lock());
        for (kind, limit) in limits {
            limit.finish().into_iter().for_each(|held| held.log(kind));
        }
    }

    /// Says whether an event may be logged, and with which note; first logs what was held back in
    /// windows that are over.
    fn admit(&self, kind: Kind, target: Target, now: Instant) -> Option<Option<&'static str>> {
        let mut limits = self.limits.lock();
        let over: Vec<_> = limits
            .iter_mut()
            .flat_map(|(kind, limit)| limit.ended(now).into_iter().map(|held| (*kind, held)))
            .collect();
        let admit = limits.entry(kind).or_default().admit(target, now);
        drop(limits);
        for (kind, held) in over {
            held.log(kind);
        }
        match admit {
            Admit::Log => Some(None),
            Admit::LogLast => Some(Some(
                "more like this are only counted for the rest of a second",
            )),
            Admit::Hold => None,
        }
    }
}

/// An actor, as the subject of log lines: its identity, because to hash a deep path would take
/// long.
#[derive(Clone, Debug)]
struct Target {
    id: ActorId,
    path: ActorPath,
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Target {}

impl Hash for Target {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// What lines are about; each kind has its own limit, so that a flood of one hides no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    DeadLetter(DeadLetterReason),
    Started,
    Failed,
    Restarted,
    Stopped,
    /// Stopped as well, but against its will.
    Lost,
    MailboxDeep,
    HandlerSlow,
    ErrorIgnored,
    HookFailed,
    DestructorPanicked,
}

impl Kind {
    fn of(event: &LifecycleEvent) -> Self {
        match event {
            LifecycleEvent::Stopped { .. } if level(event) != Level::DEBUG => Self::Lost,
            LifecycleEvent::Started { .. } => Self::Started,
            LifecycleEvent::Failed { .. } => Self::Failed,
            LifecycleEvent::Restarted { .. } => Self::Restarted,
            LifecycleEvent::Stopped { .. } => Self::Stopped,
            LifecycleEvent::MailboxDeep { .. } => Self::MailboxDeep,
            LifecycleEvent::HandlerSlow { .. } => Self::HandlerSlow,
            LifecycleEvent::ErrorIgnored { .. } => Self::ErrorIgnored,
            LifecycleEvent::HookFailed { .. } => Self::HookFailed,
            LifecycleEvent::DestructorPanicked { .. } => Self::DestructorPanicked,
        }
    }

    /// Says whether only somebody who looks for it wants to read it.
    fn is_detail(self) -> bool {
        matches!(self, Self::Started | Self::Restarted | Self::Stopped)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeadLetter(reason) => return write!(f, "dead letter, {reason}"),
            Self::Started => "started",
            Self::Failed => "failed",
            Self::Restarted => "restarted",
            Self::Stopped => "ended",
            Self::Lost => "ended against its will",
            Self::MailboxDeep => "deep mailbox",
            Self::HandlerSlow => "slow handler",
            Self::ErrorIgnored => "error that nobody awaits",
            Self::HookFailed => "failure of a hook",
            Self::DestructorPanicked => "panic of a destructor",
        })
    }
}

/// Says whether anybody may want to read the lines that only those want who look for them.
///
/// These are made by the thousand. Louder lines are not asked about: `tracing` may pass them on to the
/// `log` crate, whose level this does not tell.
pub(crate) fn reads_details() -> bool {
    Level::DEBUG <= LevelFilter::current()
}

/// Says whether an end for this reason is a line that only those want to read who look for it.
pub(crate) const fn is_quiet_end(reason: &StopReason) -> bool {
    !matches!(
        reason,
        StopReason::RestartLimit(_) | StopReason::Abandoned { .. }
    )
}

/// Returns how loud an event is: an error if an actor is lost or code is broken, a warning if
/// somebody should look at it. An end that a directive caused was told with the failure.
fn level(event: &LifecycleEvent) -> Level {
    match event {
        LifecycleEvent::Failed {
            directive: Directive::Stop | Directive::Escalate,
            ..
        }
        | LifecycleEvent::Stopped {
            reason: StopReason::RestartLimit(_),
            ..
        }
        | LifecycleEvent::HookFailed { .. }
        | LifecycleEvent::DestructorPanicked { .. } => Level::ERROR,
        LifecycleEvent::Failed { .. }
        | LifecycleEvent::Stopped {
            reason: StopReason::Abandoned { .. },
            ..
        }
        | LifecycleEvent::MailboxDeep { .. }
        | LifecycleEvent::HandlerSlow { .. }
        | LifecycleEvent::ErrorIgnored { .. } => Level::WARN,
        LifecycleEvent::Started { .. }
        | LifecycleEvent::Restarted { .. }
        | LifecycleEvent::Stopped { .. } => Level::DEBUG,
    }
}

impl Held<Target> {
    fn log(&self, kind: Kind) {
        let actor = self
            .target
            .as_ref()
            .map(|target| tracing::field::display(&target.path));
        let id = self
            .target
            .as_ref()
            .map(|target| tracing::field::display(target.id));
        let count = self.count;
        match kind {
            Kind::DeadLetter(_) => {
                let recipient = actor;
                tracing::warn!(target: DEAD_LETTER, recipient, id, count, "{count} more: {kind}");
            }
            _ if kind.is_detail() => {
                tracing::debug!(target: LIFECYCLE, actor, id, count, "{count} more: {kind}");
            }
            _ => tracing::warn!(target: LIFECYCLE, actor, id, count, "{count} more: {kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;
    use std::time::Duration;

    use tracing::field::{Field, Visit};
    use tracing::span;

    use super::*;
    use crate::event::rate_limit::TARGETS;
    use crate::supervision::{Failure, FailureOrigin};

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// Keeps what is logged, one string an event: level, target, message, then the fields.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    impl Lines {
        fn of(log: impl FnOnce()) -> Vec<String> {
            let lines = Self::default();
            tracing::subscriber::with_default(lines.clone(), log);
            std::mem::take(&mut *lines.0.lock())
        }
    }

    impl tracing::Subscriber for Lines {
        fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
            metadata.target().starts_with("actors_core")
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            let mut line = Line::default();
            event.record(&mut line);
            let metadata = event.metadata();
            let (level, target) = (metadata.level(), metadata.target());
            self.0
                .lock()
                .push(format!("{level} {target}: {}{}", line.message, line.fields));
        }

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }

    #[derive(Default)]
    struct Line {
        message: String,
        fields: String,
    }

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            match field.name() {
                "message" => self.message = format!("{value:?}"),
                name => write!(self.fields, " {name}={value:?}").unwrap(),
            }
        }
    }

    fn letter(reason: DeadLetterReason) -> DeadLetter {
        DeadLetter {
            recipient: ActorPath::root("bank").child("alice"),
            recipient_id: ActorId::new(3),
            message_type: "AccountMsg",
            variant: "Deposit",
            reason,
            sender: None,
        }
    }

    #[test]
    fn dead_letters_are_warnings_and_what_was_held_back_is_told_later() {
        let log = EventLog::new();
        let begin = Instant::now();
        let lines = Lines::of(|| {
            for _ in 0..30 {
                log.dead_letter(&letter(DeadLetterReason::Stopped), begin);
            }
            let mut full = letter(DeadLetterReason::MailboxFull);
            full.sender = Some(ActorPath::root("bank").child("teller"));
            log.dead_letter(&full, begin + ms(1000));
        });
        let stopped = "WARN actors_core::dead_letter: dead letter recipient=/bank/alice id=#3 \
                       message_type=\"AccountMsg\" variant=\"Deposit\" reason=the actor has stopped";
        assert_eq!(lines[..9], vec![stopped; 9]);
        let last =
            format!("{stopped} note=\"more like this are only counted for the rest of a second\"");
        assert_eq!(lines[9], last);
        let summary = "WARN actors_core::dead_letter: 20 more: dead letter, the actor has stopped \
                       recipient=/bank/alice id=#3 count=20";
        assert_eq!(lines[10], summary);
        assert!(
            lines[11].ends_with("reason=the mailbox is full sender=/bank/teller"),
            "{}",
            lines[11]
        );
        assert_eq!(lines.len(), 12);
    }

    #[test]
    fn a_quiet_log_tells_what_it_held_back_and_then_only_lifecycle_events() {
        let log = EventLog::new();
        let now = Instant::now();
        let (actor, id) = (ActorPath::root("bank").child("alice"), ActorId::new(3));
        let lines = Lines::of(|| {
            (0..12).for_each(|_| log.dead_letter(&letter(DeadLetterReason::Stopped), now));
            log.quiet();
            (0..12).for_each(|_| log.dead_letter(&letter(DeadLetterReason::Stopped), now));
            let text = "oh".into();
            log.lifecycle(&LifecycleEvent::DestructorPanicked { actor, id, text }, now);
        });
        assert_eq!(lines.len(), 12);
        assert!(lines[10].contains("2 more: dead letter"), "{}", lines[10]);
        let panicked =
            "ERROR actors_core::lifecycle: had a destructor panic: oh actor=/bank/alice id=#3";
        assert_eq!(lines[11], panicked);
    }

    #[test]
    fn each_event_has_the_level_it_deserves() {
        let (actor, id) = (ActorPath::root("bank").child("alice"), ActorId::new(3));
        let boom = || Failure::from("boom").at(FailureOrigin::Start).report();
        let failed = |directive| LifecycleEvent::Failed {
            actor: actor.clone(),
            id,
            failure: boom(),
            directive,
        };
        let stopped = |reason| LifecycleEvent::Stopped {
            actor: actor.clone(),
            id,
            reason,
        };
        let table = [
            (
                LifecycleEvent::Started {
                    actor: actor.clone(),
                    id,
                },
                Level::DEBUG,
                Kind::Started,
            ),
            (
                LifecycleEvent::Restarted {
                    actor: actor.clone(),
                    id,
                    restarts: 1,
                },
                Level::DEBUG,
                Kind::Restarted,
            ),
            (failed(Directive::Resume), Level::WARN, Kind::Failed),
            (failed(Directive::Restart), Level::WARN, Kind::Failed),
            (failed(Directive::Stop), Level::ERROR, Kind::Failed),
            (failed(Directive::Escalate), Level::ERROR, Kind::Failed),
            (stopped(StopReason::Stopped), Level::DEBUG, Kind::Stopped),
            (stopped(StopReason::Killed), Level::DEBUG, Kind::Stopped),
            (
                stopped(StopReason::Failed(boom())),
                Level::DEBUG,
                Kind::Stopped,
            ),
            (
                stopped(StopReason::RestartLimit(boom())),
                Level::ERROR,
                Kind::Lost,
            ),
            (
                stopped(StopReason::Abandoned { handler: None }),
                Level::WARN,
                Kind::Lost,
            ),
        ];
        for (event, expected, kind) in table {
            assert_eq!(
                (level(&event), Kind::of(&event)),
                (expected, kind),
                "{event}"
            );
            let lines = Lines::of(|| EventLog::new().lifecycle(&event, Instant::now()));
            let predicate = event.predicate();
            let line =
                format!("{expected} actors_core::lifecycle: {predicate} actor=/bank/alice id=#3");
            assert_eq!(lines, [line]);
        }
    }

    #[test]
    fn a_slow_handler_is_a_warning() {
        let event = LifecycleEvent::HandlerSlow {
            actor: ActorPath::root("bank").child("alice"),
            id: ActorId::new(3),
            variant: "Withdraw",
            running_for: ms(1_000),
        };
        let lines = Lines::of(|| EventLog::new().lifecycle(&event, Instant::now()));
        let line = "WARN actors_core::lifecycle: has been handling Withdraw for 1s \
                    actor=/bank/alice id=#3";
        assert_eq!(lines, [line]);
    }

    #[test]
    fn a_flood_of_one_kind_hides_no_other_kind() {
        let log = EventLog::new();
        let now = Instant::now();
        let actor = ActorPath::root("bank").child("alice");
        let lines = Lines::of(|| {
            for id in (1..=1000).map(ActorId::new) {
                log.lifecycle(
                    &LifecycleEvent::Started {
                        actor: actor.clone(),
                        id,
                    },
                    now,
                );
            }
            let (id, depth) = (ActorId::new(1000), 10_000);
            log.lifecycle(
                &LifecycleEvent::MailboxDeep {
                    actor: actor.clone(),
                    id,
                    depth,
                },
                now,
            );
        });
        assert_eq!(lines.len(), TARGETS + 11);
        assert_eq!(
            lines[0],
            "DEBUG actors_core::lifecycle: started actor=/bank/alice id=#1"
        );
        let deep = "WARN actors_core::lifecycle: has 10000 messages waiting in its mailbox \
                    actor=/bank/alice id=#1000";
        assert_eq!(lines[TARGETS + 10], deep);
    }

    /// Uses the log from inside a line of it, as a subscriber may whose writer is an actor.
    struct Reenters(Arc<EventLog>);

    impl tracing::Subscriber for Reenters {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn event(&self, _: &tracing::Event<'_>) {
            self.0.quiet();
        }

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }

    #[test]
    fn no_lock_is_held_while_a_line_is_written() {
        let log = Arc::new(EventLog::new());
        tracing::subscriber::with_default(Reenters(Arc::clone(&log)), || {
            log.dead_letter(&letter(DeadLetterReason::Stopped), Instant::now());
        });
        assert!(log.quiet.load(Ordering::Relaxed));
    }
}
