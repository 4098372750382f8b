//! What is done about a failure, all things considered.

use std::time::Duration;

use tokio::time::Instant;

use crate::supervision::budget::Room;
use crate::supervision::{Directive, Failure, RestartRecord, StopReason, Supervision};

/// What the mechanism must do with the failed actor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Verdict {
    /// Go on with the same state.
    Resume,
    /// Make a fresh state once this much time has passed.
    Restart { after: Duration },
    /// Stop for this reason.
    Stop(StopReason),
    /// Let the supervisor fail with this failure.
    Escalate,
}

/// What a verdict depends on besides the policy and the failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub(crate) now: Instant,
    /// A random number from 0 to 1, for the jitter of the back-off.
    pub(crate) random: f64,
    /// Whether the actor is one that restarts: not one that is temporary.
    pub(crate) restartable: bool,
}

impl Supervision {
    /// Turns the directive for a failure, this policy's own or one that the parent gave, into a verdict, and counts it.
    ///
    /// | directive | after a failed start | temporary         | budget spent | counts |
    /// |-----------|----------------------|-------------------|--------------|--------|
    /// | Resume    | as Restart           | Resume            | Resume       | no     |
    /// | Restart   | Restart              | as Stop           | `when_spent` | yes    |
    /// | Stop      | Stop                 | Stop              | Stop         | no     |
    /// | Escalate  | Escalate             | Escalate          | Escalate     | no     |
    pub(crate) fn verdict(
        &self,
        directive: Directive,
        failure: &Failure,
        record: &mut RestartRecord,
        situation: Situation,
    ) -> Verdict {
        record.attempts.failed(
            situation.now,
            self.waits().healthy_after(self.budget().window()),
        );
        match directive {
            Directive::Resume if failure.origin().is_start() => {
                self.restarted(failure, record, situation)
            }
            Directive::Resume => {
                record.attempts.running(situation.now);
                Verdict::Resume
            }
            Directive::Restart => self.restarted(failure, record, situation),
            Directive::Stop => Verdict::Stop(StopReason::Failed(failure.report())),
            Directive::Escalate => Verdict::Escalate,
        }
    }

    fn restarted(
        &self,
        failure: &Failure,
        record: &mut RestartRecord,
        situation: Situation,
    ) -> Verdict {
        if !situation.restartable {
            return Verdict::Stop(StopReason::Failed(failure.report()));
        }
        match self.next_restart(record, situation) {
            Some(after) => Verdict::Restart { after },
            None if self.spent() == Directive::Escalate => Verdict::Escalate,
            None => Verdict::Stop(StopReason::RestartLimit(failure.report())),
        }
    }

    /// Counts a restart, and says how long to wait before it; `None` when the budget is spent.
    fn next_restart(&self, record: &mut RestartRecord, situation: Situation) -> Option<Duration> {
        match record.history.take(self.budget(), situation.now) {
            Room::Granted => Some(self.waits().delay(record.attempts.next(), situation.random)),
            Room::Spent => None,
        }
    }

    /// Counts a restart of children together, and says how long to wait before they start; `None` when the budget is spent.
    pub(crate) fn restart_of_group(
        &self,
        record: &mut RestartRecord,
        situation: Situation,
    ) -> Option<Duration> {
        let healthy = self.waits().healthy_after(self.budget().window());
        record.attempts.failed(situation.now, healthy);
        self.next_restart(record, situation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervision::{Backoff, FailureOrigin};
    use crate::time_units::{ms, secs, within};

    fn failure(origin: FailureOrigin) -> Failure {
        Failure::from("x").at(origin)
    }

    fn handler() -> FailureOrigin {
        FailureOrigin::Handler { variant: "Deposit" }
    }

    fn at(now: Instant) -> Situation {
        Situation {
            now,
            random: 0.5,
            restartable: true,
        }
    }

    /// A verdict without its details; only a restart is counted.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Outcome {
        Resumed,
        Restarted,
        Failed,
        Limit,
        Escalated,
    }

    impl From<Verdict> for Outcome {
        fn from(verdict: Verdict) -> Self {
            match verdict {
                Verdict::Resume => Self::Resumed,
                Verdict::Restart { .. } => Self::Restarted,
                Verdict::Stop(StopReason::RestartLimit(_)) => Self::Limit,
                Verdict::Stop(_) => Self::Failed,
                Verdict::Escalate => Self::Escalated,
            }
        }
    }

    #[test]
    fn a_verdict_follows_its_table() {
        use Directive::{Escalate, Restart, Resume, Stop};
        use FailureOrigin::Start;
        use Outcome::{Escalated, Failed, Limit, Restarted, Resumed};
        const DEPOSIT: FailureOrigin = FailureOrigin::Handler { variant: "Deposit" };
        let table = [
            (Resume, DEPOSIT, true, 5, Resumed),
            (Resume, DEPOSIT, false, 0, Resumed),
            (Resume, Start, true, 5, Restarted),
            (Resume, Start, false, 5, Failed),
            (Resume, Start, true, 0, Limit),
            (Restart, DEPOSIT, true, 5, Restarted),
            (Restart, Start, true, 5, Restarted),
            (Restart, DEPOSIT, false, 5, Failed),
            (Restart, DEPOSIT, true, 0, Limit),
            (Stop, DEPOSIT, true, 5, Failed),
            (Stop, DEPOSIT, true, 0, Failed),
            (Escalate, DEPOSIT, true, 5, Escalated),
            (Escalate, Start, false, 0, Escalated),
        ];
        for (row, (directive, origin, restartable, limit, expected)) in
            table.into_iter().enumerate()
        {
            let policy = Supervision::restart().restarts(limit, within(secs(60)));
            let mut record = RestartRecord::default();
            let situation = Situation {
                restartable,
                ..at(Instant::now())
            };
            let verdict = policy.verdict(directive, &failure(origin), &mut record, situation);
            assert_eq!(Outcome::from(verdict), expected, "row {row}");
            assert_eq!(
                record.history.len() == 1,
                expected == Restarted,
                "row {row}"
            );
        }
    }

    #[test]
    fn a_child_that_never_starts_backs_off_and_spends_its_budget() {
        let policy = Supervision::restart().restarts(3, within(secs(60)));
        let mut record = RestartRecord::default();
        let (mut now, mut waits) = (Instant::now(), Vec::new());
        let last = loop {
            match policy.verdict(
                Directive::Restart,
                &failure(FailureOrigin::Start),
                &mut record,
                at(now),
            ) {
                Verdict::Restart { after } => {
                    waits.push(after);
                    now += after;
                }
                other => break other,
            }
        };
        assert_eq!(waits, [ms(0), ms(10), ms(20)]);
        let report = failure(FailureOrigin::Start).report();
        assert_eq!(last, Verdict::Stop(StopReason::RestartLimit(report)));
    }

    #[test]
    fn a_spent_budget_escalates_if_told_so() {
        let policy = Supervision::restart()
            .restarts(0, within(secs(1)))
            .when_spent(Directive::Escalate);
        let mut record = RestartRecord::default();
        let verdict = policy.verdict(
            Directive::Restart,
            &failure(handler()),
            &mut record,
            at(Instant::now()),
        );
        assert_eq!(verdict, Verdict::Escalate);
    }

    #[test]
    fn healthy_running_resets_the_wait_after_the_window_or_as_set() {
        let table = [
            (Backoff::default(), 60),
            (Backoff::default().reset_after(secs(5)), 5),
        ];
        for (backoff, healthy) in table {
            let policy = Supervision::restart()
                .restarts(100, within(secs(60)))
                .backoff(backoff);
            for (ran, expected) in [(healthy - 1, ms(10)), (healthy, ms(0))] {
                let mut record = RestartRecord::default();
                let start = Instant::now();
                let _ = policy.verdict(
                    Directive::Restart,
                    &failure(handler()),
                    &mut record,
                    at(start),
                );
                record.running(start);
                let later = at(start + secs(ran));
                let verdict =
                    policy.verdict(Directive::Restart, &failure(handler()), &mut record, later);
                assert_eq!(
                    verdict,
                    Verdict::Restart { after: expected },
                    "{ran} s of {healthy} s"
                );
            }
        }
    }

    #[test]
    fn a_resumed_failure_interrupts_health() {
        let policy = Supervision::restart().restarts(100, within(secs(60)));
        let (start, mut record) = (Instant::now(), RestartRecord::default());
        let mut fail = |directive, seconds| {
            let verdict = policy.verdict(
                directive,
                &failure(handler()),
                &mut record,
                at(start + secs(seconds)),
            );
            if directive == Directive::Restart {
                record.running(start + secs(seconds));
            }
            verdict
        };
        assert_eq!(
            fail(Directive::Restart, 0),
            Verdict::Restart { after: ms(0) }
        );
        assert_eq!(fail(Directive::Resume, 40), Verdict::Resume);
        assert_eq!(
            fail(Directive::Restart, 80),
            Verdict::Restart { after: ms(10) }
        );
    }
}
