//! What a supervisor wants done about which failure.

use std::any::type_name;
use std::error::Error;
use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use crate::panic::{self, Guarded, PanicText};
use crate::supervision::{Backoff, Budget, ChildInfo, Directive, Failure, Strategy};

/// A policy for the failures of children: which directive, how many restarts, how long between them.
///
/// A clone is one reference count. Deciders are asked in the order in which they were added, and the first that answers
/// is obeyed; if none does, [`otherwise`](Self::otherwise) is. They are shared and run wherever an actor fails, so they
/// hold no state and must not block. One that panics has the child stopped.
///
/// # Examples
///
/// ```
/// use actors_core::prelude::*;
/// use std::io;
///
/// let policy = Supervision::one_for_one()
///     .restarts(5, within(secs(60)))
///     .backoff(Backoff::new(ms(10), secs(1)).jitter(0.2))
///     .on::<io::Error>(|e| match e.kind() {
///         io::ErrorKind::TimedOut => Directive::Resume,
///         _ => Directive::Restart,
///     })
///     .on_panic(Directive::Stop)
///     .otherwise(Directive::Escalate);
/// assert_eq!(policy.budget(), Budget::new(5, secs(60)));
/// ```
#[derive(Clone)]
pub struct Supervision(Arc<Policy>);

#[derive(Clone)]
struct Policy {
    strategy: Strategy,
    budget: Budget,
    backoff: Backoff,
    deciders: Vec<Decider>,
    otherwise: Directive,
    when_spent: Directive,
    decision_timeout: Duration,
}

/// One rule of a policy, with what it is about for `Debug`.
#[derive(Clone)]
struct Decider {
    about: &'static str,
    decide: Arc<Decide>,
}

/// The panic of a decider is caught where it is called, and reaches nobody who could see what it left.
impl RefUnwindSafe for Decider {}

type Decide = dyn Fn(&Failure, &ChildInfo) -> Option<Directive> + Send + Sync;

impl Supervision {
    /// Starts a policy that treats each child alone: every failure restarts it, at most 5 times in 60 seconds. Each child has
    /// a budget of its own, as in Akka.
    pub fn one_for_one() -> Self {
        Self::of(Strategy::OneForOne)
    }

    /// Starts a policy under which all children are restarted when one has to be: all stop, in reverse start order, and
    /// then start, in start order. The budget counts these restarts of the group, at most 5 in 60 seconds, as in OTP; when
    /// it is spent, all children stop.
    ///
    /// A strategy, with its budget and back-off, is the parent's: the policy of a single child can say what is done about its
    /// failures, and not with whom it is restarted.
    ///
    /// ```
    /// # use actors_core::prelude::*;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// #[derive(Default)]
    /// struct Stage {
    ///     seen: u64,
    /// }
    ///
    /// #[actor]
    /// impl Stage {
    ///     #[handler]
    ///     fn see(&mut self) -> u64 {
    ///         self.seen += 1;
    ///         self.seen
    ///     }
    ///
    ///     #[handler]
    ///     fn break_down(&mut self, ctx: &mut ActorContext<Self>) {
    ///         ctx.fail("out of order");
    ///     }
    /// }
    ///
    /// // The actors at the top are children of the system.
    /// let system = ActorSystem::builder("plant").supervision(Supervision::one_for_all()).build()?;
    /// let reader = system.spawn("reader", Stage::default)?;
    /// let writer = system.spawn("writer", Stage::default)?;
    /// assert_eq!((reader.see().await?, writer.see().await?), (1, 1));
    /// reader.break_down().await?;
    /// assert_eq!((reader.see().await?, writer.see().await?), (1, 1));
    /// # system.shutdown().await;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn one_for_all() -> Self {
        Self::of(Strategy::OneForAll)
    }

    /// Starts a policy under which a child that has to be restarted takes those along that are after it in start order; in all
    /// else as [`one_for_all`](Self::one_for_all).
    ///
    /// For children that use those before them: what others use is spawned first, so in a pipeline the last stage. The place
    /// of a child is that of its `spawn`, or of its `reserve` if there was one.
    pub fn rest_for_one() -> Self {
        Self::of(Strategy::RestForOne)
    }

    fn of(strategy: Strategy) -> Self {
        Self(Arc::new(Policy {
            strategy,
            budget: Budget::default(),
            backoff: Backoff::default(),
            deciders: Vec::new(),
            otherwise: Directive::Restart,
            when_spent: Directive::Stop,
            decision_timeout: Duration::from_secs(5),
        }))
    }

    /// Returns the policy that answers every failure with [`Directive::Resume`].
    pub fn resume() -> Self {
        Self::one_for_one().otherwise(Directive::Resume)
    }

    /// Returns the default policy: every failure is answered with [`Directive::Restart`].
    pub fn restart() -> Self {
        Self::one_for_one()
    }

    /// Returns the policy that answers every failure with [`Directive::Stop`].
    pub fn stop() -> Self {
        Self::one_for_one().otherwise(Directive::Stop)
    }

    /// Returns the policy that answers every failure with [`Directive::Escalate`].
    pub fn escalate() -> Self {
        Self::one_for_one().otherwise(Directive::Escalate)
    }

    /// Sets the budget: at most `limit` restarts in a sliding window of time, 0 for none ever.
    #[must_use]
    pub fn restarts(self, limit: u32, window: Duration) -> Self {
        self.with(|policy| policy.budget = Budget::new(limit, window))
    }

    /// Sets how long to wait before a restart.
    #[must_use]
    pub fn backoff(self, backoff: Backoff) -> Self {
        self.with(|policy| policy.backoff = backoff)
    }

    /// Answers failures that are, or were caused by, an error of type `E`: those for which [`Failure::is`] holds.
    #[must_use]
    pub fn on<E: Error + Send + Sync + 'static>(
        self,
        decide: impl Fn(&E) -> Directive + Send + Sync + 'static,
    ) -> Self {
        self.decider(type_name::<E>(), move |failure, _| {
            failure.downcast_ref().map(&decide)
        })
    }

    /// Answers the `Err` of an `err_is_failure` handler if it is a `T`, which need not be an error type.
    #[must_use]
    pub fn on_value<T: 'static>(
        self,
        decide: impl Fn(&T) -> Directive + Send + Sync + 'static,
    ) -> Self {
        self.decider(type_name::<T>(), move |failure, _| {
            failure.value_ref().map(&decide)
        })
    }

    /// Answers panics.
    #[must_use]
    pub fn on_panic(self, directive: Directive) -> Self {
        self.decider("panic", move |failure, _| {
            failure.is_panic().then_some(directive)
        })
    }

    /// Answers those failures for which the function returns a directive.
    #[must_use]
    pub fn decide_with(
        self,
        decide: impl Fn(&Failure, &ChildInfo) -> Option<Directive> + Send + Sync + 'static,
    ) -> Self {
        self.decider("decide_with", decide)
    }

    /// Answers what no decider answers; the default is [`Directive::Restart`].
    #[must_use]
    pub fn otherwise(self, directive: Directive) -> Self {
        self.with(|policy| policy.otherwise = directive)
    }

    /// Sets what happens when a restart is wanted and the budget is spent: [`Directive::Stop`], which is the default, or
    /// [`Directive::Escalate`].
    ///
    /// # Panics
    ///
    /// With any other directive, which would make the budget pointless.
    #[must_use]
    #[track_caller]
    pub fn when_spent(self, directive: Directive) -> Self {
        assert!(
            matches!(directive, Directive::Stop | Directive::Escalate),
            "a spent budget of restarts can stop or escalate, not {directive}"
        );
        self.with(|policy| policy.when_spent = directive)
    }

    /// Sets how long a failed child waits for its parent: for the decision of an `#[on_failure]`, before this policy decides,
    /// or to take up an escalation, before it is stopped. The default is 5 seconds.
    #[must_use]
    pub fn decision_timeout(self, timeout: Duration) -> Self {
        self.with(|policy| policy.decision_timeout = timeout)
    }

    /// Answers a failure: with [`Directive::Stop`] if a decider panics.
    pub fn decide(&self, failure: &Failure, child: &ChildInfo) -> Directive {
        self.try_decide(failure, child).unwrap_or(Directive::Stop)
    }

    /// The same, or what a decider said as it panicked.
    pub(crate) fn try_decide(
        &self,
        failure: &Failure,
        child: &ChildInfo,
    ) -> Result<Directive, PanicText> {
        let first = || {
            self.0
                .deciders
                .iter()
                .find_map(|decider| (decider.decide)(failure, child))
        };
        Ok(panic::catch(first)?.unwrap_or(self.0.otherwise))
    }

    /// Returns the budget of restarts.
    pub fn budget(&self) -> Budget {
        self.0.budget
    }

    pub(crate) fn strategy(&self) -> Strategy {
        self.0.strategy
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.0.decision_timeout
    }

    pub(super) fn waits(&self) -> &Backoff {
        &self.0.backoff
    }

    pub(crate) fn spent(&self) -> Directive {
        self.0.when_spent
    }

    fn decider(
        self,
        about: &'static str,
        decide: impl Fn(&Failure, &ChildInfo) -> Option<Directive> + Send + Sync + 'static,
    ) -> Self {
        // What the function captured is dropped with the last clone of the policy, maybe by a worker.
        let decide = Guarded::new(decide);
        let decide = Arc::new(move |failure: &Failure, child: &ChildInfo| decide(failure, child));
        self.with(|policy| policy.deciders.push(Decider { about, decide }))
    }

    fn with(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

/// The same as [`Supervision::restart`].
impl Default for Supervision {
    fn default() -> Self {
        Self::restart()
    }
}

impl fmt::Debug for Supervision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policy = &*self.0;
        let deciders: Vec<&str> = policy
            .deciders
            .iter()
            .map(|decider| decider.about)
            .collect();
        f.debug_struct("Supervision")
            .field("strategy", &policy.strategy)
            .field("budget", &policy.budget)
            .field("backoff", &policy.backoff)
            .field("deciders", &deciders)
            .field("otherwise", &policy.otherwise)
            .field("when_spent", &policy.when_spent)
            .field("decision_timeout", &policy.decision_timeout)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::path::{ActorId, ActorPath};
    use crate::supervision::FailureOrigin;
    use crate::time_units::{secs, within};

    fn child(name: &str) -> ChildInfo {
        ChildInfo::new(ActorPath::root("bank").child(name), ActorId::new(1), 0)
    }

    fn panic() -> Failure {
        Failure::panic("boom".into(), FailureOrigin::Start)
    }

    #[test]
    fn the_first_decider_that_answers_wins() {
        use Directive::{Escalate, Restart, Resume, Stop};
        let io = || Failure::from(anyhow::Error::new(io::Error::other("io")).context("context"));
        let text = || Failure::from("text");
        let table = [
            (
                "default",
                Supervision::default(),
                [Restart, Restart, Restart],
            ),
            ("resume", Supervision::resume(), [Resume, Resume, Resume]),
            ("stop", Supervision::stop(), [Stop, Stop, Stop]),
            (
                "escalate",
                Supervision::escalate(),
                [Escalate, Escalate, Escalate],
            ),
            (
                "panic",
                Supervision::restart().on_panic(Stop),
                [Restart, Stop, Restart],
            ),
            (
                "type",
                Supervision::stop().on::<io::Error>(|_| Resume),
                [Resume, Stop, Stop],
            ),
            (
                "in order",
                Supervision::stop()
                    .decide_with(|failure, _| failure.is_panic().then_some(Escalate))
                    .on_panic(Resume)
                    .on::<io::Error>(|_| Restart)
                    .on::<io::Error>(|_| Escalate),
                [Restart, Escalate, Stop],
            ),
            (
                "by the child",
                Supervision::stop()
                    .decide_with(|_, child| (child.name() == "alice").then_some(Resume)),
                [Resume, Resume, Resume],
            ),
            (
                "a decider that panics",
                Supervision::restart().on::<io::Error>(|_| panic!("decider")),
                [Stop, Restart, Restart],
            ),
        ];
        for (name, policy, expected) in table {
            let failures = [io(), panic(), text()];
            let decided = failures
                .each_ref()
                .map(|failure| policy.decide(failure, &child("alice")));
            assert_eq!(decided, expected, "{name}");
        }
    }

    #[test]
    fn a_decider_that_panics_says_stop() {
        let policy = Supervision::restart().decide_with(|_, _| panic!("undecided"));
        assert_eq!(policy.decide(&panic(), &child("alice")), Directive::Stop);
    }

    #[test]
    fn what_a_decider_captured_may_panic_as_it_is_dropped() {
        struct Loud;
        impl Drop for Loud {
            fn drop(&mut self) {
                panic!("ouch");
            }
        }
        let loud = Loud;
        let policy = Supervision::stop().decide_with(move |_, _| {
            let _captured = &loud;
            Some(Directive::Resume)
        });
        assert_eq!(policy.decide(&panic(), &child("a")), Directive::Resume);
        drop(policy);
    }

    #[test]
    fn a_policy_changed_after_a_clone_leaves_the_clone_alone() {
        let shared = Supervision::one_for_one().restarts(3, within(secs(10)));
        let changed = shared
            .clone()
            .restarts(1, within(secs(1)))
            .on_panic(Directive::Stop);
        assert_eq!(shared.budget(), Budget::new(3, secs(10)));
        assert_eq!(shared.decide(&panic(), &child("a")), Directive::Restart);
        assert_eq!(changed.decide(&panic(), &child("a")), Directive::Stop);
    }

    #[test]
    #[should_panic(expected = "can stop or escalate, not restart")]
    fn a_spent_budget_cannot_restart() {
        let _ = Supervision::restart().when_spent(Directive::Restart);
    }

    #[test]
    fn a_policy_shows_its_rules() {
        let policy = Supervision::restart()
            .on::<io::Error>(|_| Directive::Stop)
            .on_panic(Directive::Stop);
        assert!(
            format!("{policy:?}").contains(r#"deciders: ["std::io::error::Error", "panic"]"#),
            "{policy:?}"
        );
    }
}
