//! [`TestKit`]: the system, the clock and the conscience of one test.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use actors_core::{Actor, ActorSystem, DeadLetter, LifecycleEvent, Subscription, SystemBuilder};

use crate::clock::{Clock, Idle};
use crate::failure::{Came, Listed};
use crate::probe::{LIMIT, TestProbe};
use crate::record::{Incoming, Record, is_bug};
use crate::run::{self, Outcome};
use crate::stand_in::{self, StandIn};

/// What the kit and its probes share.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) system: ActorSystem,
    pub(crate) clock: Clock,
    record: Mutex<Record>,
    allows_letters: AtomicBool,
    allows_failures: AtomicBool,
}

impl Shared {
    pub(crate) fn new(name: &str, system: ActorSystem, idle: Arc<Idle>) -> Self {
        Self {
            name: name.to_owned(),
            clock: Clock::new(system.clone(), idle),
            record: Mutex::new(Record::new(&system)),
            system,
            allows_letters: AtomicBool::new(false),
            allows_failures: AtomicBool::new(false),
        }
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn unexpected_letters(&self) -> Vec<String> {
        // Ordering: Relaxed for both of these; the one thread of a test sets and reads them.
        if self.allows_letters.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.record()
            .letters()
            .all()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    pub(crate) fn unexpected_failures(&self) -> Vec<String> {
        if self.allows_failures.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let mut record = self.record();
        let bugs = record.failures().all().iter().filter(|event| is_bug(event));
        bugs.map(ToString::to_string).collect()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestKit")
            .field("test", &self.name)
            .finish_non_exhaustive()
    }
}

/// Returns the name of a type without its path; with it, if the type has arguments with paths of their own.
pub(crate) fn plain_name<T: ?Sized>() -> &'static str {
    let full = std::any::type_name::<T>();
    if full.contains('<') {
        full
    } else {
        full.rsplit("::").next().unwrap_or(full)
    }
}

/// The system, the clock and the conscience of one test; given to it by [`#[actors_testkit::test]`](crate::test).
///
/// It derefs to the test's [`ActorSystem`], which no other test shares: `kit.spawn(..)`, `kit.actor(..)`, `kit.tree()`. When the
/// test is over, the kit waits for rest, shuts the system down, and fails the test if there were dead letters (before the
/// shutdown) or panics of actors (also in it) that the test neither expected nor allowed. If the test itself fails, that is
/// what is reported.
///
/// ```
/// use actors_core::prelude::*;
/// use actors_testkit::TestKit;
///
/// #[derive(Default)]
/// struct Account { balance: u64 }
///
/// #[actor]
/// impl Account {
///     #[handler]
///     fn deposit(&mut self, amount: u64) -> u64 { self.balance += amount; self.balance }
/// }
///
/// TestKit::run("money_for_a_closed_account_is_returned", async |kit| {
///     let account = kit.spawn("alice", Account::default).unwrap();
///     assert_eq!(account.deposit(50).await, Ok(50));
///     account.stop().await;
///     account.deposit(1).tell();
///     let letter = kit.expect_dead_letter(|letter| letter.variant == "Deposit").await;
///     assert_eq!(letter.recipient.name(), "alice");
/// });
/// ```
#[derive(Debug)]
pub struct TestKit(Arc<Shared>);

impl TestKit {
    pub(crate) const fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    #[cfg(test)]
    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Runs a test as [`#[actors_testkit::test]`](crate::test) does, in a system with this name: for property tests, and for
    /// loops over cases.
    ///
    /// # Panics
    ///
    /// When the test does, and when it left dead letters or panics behind; also when `name` is no name for a system, and
    /// inside of a Tokio runtime.
    #[track_caller]
    pub fn run<T: Outcome>(name: &str, test: impl AsyncFnOnce(Self) -> T) -> T {
        run::run(name, |system| system, test)
    }

    /// Runs a test as [`run`](Self::run) does, in a system with settings of its own. They may not give it
    /// threads of its own: what runs on those, the test cannot wait for.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    #[track_caller]
    pub fn run_with<T: Outcome>(
        name: &str,
        settings: impl FnOnce(SystemBuilder) -> SystemBuilder,
        test: impl AsyncFnOnce(Self) -> T,
    ) -> T {
        run::run(name, settings, test)
    }

    /// Returns the system of this test.
    pub fn system(&self) -> &ActorSystem {
        &self.0.system
    }

    /// Makes a probe for messages of one type; failures call it by the type.
    pub fn probe<M: Send + 'static>(&self) -> TestProbe<M> {
        let name = format!("the probe of `{}`", plain_name::<M>());
        TestProbe::new(name, Arc::clone(&self.0))
    }

    /// Makes a probe that failures call by a name.
    pub fn probe_named<M: Send + 'static>(&self, name: impl AsRef<str>) -> TestProbe<M> {
        TestProbe::new(
            format!("the probe `{}`", name.as_ref()),
            Arc::clone(&self.0),
        )
    }

    /// Makes a stand-in for an actor: a reference that the code under test takes for one to an `A`, and what comes through it.
    pub fn stand_in<A: Actor>(&self) -> (A::Ref, StandIn<A::Msg>) {
        stand_in::spawn::<A>(&self.0)
    }

    /// Lets `duration` of virtual time pass, and everything that is due by then run, each at its own time.
    ///
    /// Returns when nothing is runnable any more. Timers have whole milliseconds from the start of the test; a fraction moves the
    /// clock all the same.
    ///
    /// # Panics
    ///
    /// When the actors do not come to rest, as in [`settle`](Self::settle).
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves the time that it came to.
    #[track_caller]
    pub fn advance(&self, duration: Duration) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            if let Err(restless) = self.0.clock.advance(duration).await {
                panic!("time cannot be advanced: {}\n  at {at}", restless.0);
            }
        }
    }

    /// Waits until nothing is runnable: every message that can be handled without time passing has been. The clock stands
    /// still meanwhile.
    ///
    /// What is on other threads is not waited for, such as jobs of `spawn_blocking`.
    ///
    /// # Panics
    ///
    /// When the actors do not come to rest, because they send messages in a circle for example. Other tasks that never rest
    /// make it wait for ever.
    ///
    /// # Cancel safety
    ///
    /// Dropping it changes nothing.
    #[track_caller]
    pub fn settle(&self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            if let Err(restless) = self.0.clock.settle().await {
                panic!("there is no rest: {}\n  at {at}", restless.0);
            }
        }
    }

    /// Returns how much virtual time has passed since the test began.
    pub fn elapsed(&self) -> Duration {
        self.0.clock.elapsed()
    }

    /// Takes the dead letters that came so far, those taken or expected before excepted. Taken, they do not fail the test.
    pub fn dead_letters(&self) -> Vec<DeadLetter> {
        std::mem::take(self.0.record().letters().all())
    }

    /// Takes the failures that came so far, those taken or expected before excepted: [`LifecycleEvent::Failed`], by panic or by
    /// error, [`HookFailed`](LifecycleEvent::HookFailed) and [`DestructorPanicked`](LifecycleEvent::DestructorPanicked).
    ///
    /// What is left at the end fails the test, unless [allowed](Self::allow_failures): a `Failed` by a panic, every `HookFailed`
    /// and every `DestructorPanicked`. A `Failed` by an error does not (of an `err_is_failure` handler, of a factory, `on_start` or
    /// `on_terminated`, or by `ctx.fail`): a supervisor sees to it. Taken, none of them does.
    pub fn failures(&self) -> Vec<LifecycleEvent> {
        std::mem::take(self.0.record().failures().all())
    }

    /// Waits up to 3 s for a dead letter that `wanted` says yes to, takes it, and leaves the others.
    ///
    /// # Panics
    ///
    /// When none comes.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has taken nothing.
    #[track_caller]
    pub fn expect_dead_letter(
        &self,
        mut wanted: impl FnMut(&DeadLetter) -> bool,
    ) -> impl Future<Output = DeadLetter> {
        let at = Location::caller();
        async move {
            let news = self.0.system.dead_letters_with_capacity(usize::MAX);
            self.expect(news, Record::letters, &mut wanted)
                .await
                .unwrap_or_else(|why| {
                    panic!(
                        "{}",
                        self.missed("a dead letter", &why, Record::letters, at)
                    )
                })
        }
    }

    /// Waits up to 3 s for a failure that `wanted` says yes to, takes it, and leaves the others. See
    /// [`failures`](Self::failures) for what counts as one.
    ///
    /// # Panics
    ///
    /// When none comes.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has taken nothing.
    #[track_caller]
    pub fn expect_failure(
        &self,
        mut wanted: impl FnMut(&LifecycleEvent) -> bool,
    ) -> impl Future<Output = LifecycleEvent> {
        let at = Location::caller();
        async move {
            let news = self.0.system.events_with_capacity(usize::MAX);
            self.expect(news, Record::failures, &mut wanted)
                .await
                .unwrap_or_else(|why| {
                    panic!("{}", self.missed("a failure", &why, Record::failures, at))
                })
        }
    }

    async fn expect<T>(
        &self,
        mut news: Subscription<T>,
        sort: fn(&mut Record) -> &mut Incoming<T>,
        wanted: &mut impl FnMut(&T) -> bool,
    ) -> Result<T, Came> {
        let found = self.0.clock.within(LIMIT, |cx| {
            // The news only wake this up: the record has an older subscription, so it knows already.
            while let Poll::Ready(Some(_)) = pin!(news.next()).poll(cx) {}
            self.take(sort, wanted).map_or(Poll::Pending, Poll::Ready)
        });
        match found.await {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(Came::Nothing(LIMIT)),
            Err(restless) => Err(Came::Restless(restless.0)),
        }
    }

    /// Takes the first that `wanted` says yes to, which may use the kit itself: it runs without the lock.
    fn take<T>(
        &self,
        sort: fn(&mut Record) -> &mut Incoming<T>,
        wanted: &mut impl FnMut(&T) -> bool,
    ) -> Option<T> {
        let mut all = std::mem::take(sort(&mut self.0.record()).all());
        let found = all.iter().position(wanted).map(|at| all.remove(at));
        sort(&mut self.0.record()).put_back(all);
        found
    }

    fn missed<T: fmt::Display>(
        &self,
        what: &str,
        why: &Came,
        sort: fn(&mut Record) -> &mut Incoming<T>,
        at: &Location<'_>,
    ) -> String {
        let others: Vec<String> = sort(&mut self.0.record())
            .all()
            .iter()
            .map(ToString::to_string)
            .collect();
        let others = Listed {
            heading: "\n  others that came:",
            items: &others,
        };
        format!("the test expected {what} that the condition holds for, {why}{others}\n  at {at}")
    }

    /// Lets the test pass with whatever dead letters it makes.
    pub fn allow_dead_letters(&self) {
        self.0.allows_letters.store(true, Ordering::Relaxed);
    }

    /// Lets the test pass with whatever panics its actors make, and with hooks that fail at an actor's end. Failures by an error
    /// pass without it; [`failures`](Self::failures) says which is which.
    pub fn allow_failures(&self) {
        self.0.allows_failures.store(true, Ordering::Relaxed);
    }
}

impl Deref for TestKit {
    type Target = ActorSystem;

    fn deref(&self) -> &ActorSystem {
        self.system()
    }
}
