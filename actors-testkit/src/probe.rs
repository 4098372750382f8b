//! [`TestProbe`]: receives messages as an actor would, and expects them.

use std::collections::HashSet;
use std::fmt::{self, Debug};
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use actors_core::{Actor, ActorId, Handle, Recipient, StopReason, secs};
use tokio::time::Instant;

use crate::failure::{Came, Mismatch};
use crate::kit::Shared;
use crate::queue::{Entry, Queue};

/// How long an expectation waits unless it says otherwise, on the clock of the test.
pub(crate) const LIMIT: Duration = secs(3);

/// Receives messages of one type, and expects them; made by [`TestKit::probe`](crate::TestKit::probe).
///
/// It is a [`Recipient`]: `&probe` goes where an `impl Into<Recipient<M>>` is wanted, [`recipient`](Self::recipient) gives one.
/// Messages are queued in the order they come, and each expectation looks at the first of them. It waits for one up to 3 s on
/// the clock of the test, which costs no time, or as long as [`within`](Self::within) says.
///
/// A failed expectation panics, and says what was expected, what came, what is still queued, and where in the test that was.
///
/// # Cancel safety
///
/// An expectation that is dropped before it is ready has taken nothing from the queue, except for
/// [`fish_for`](Self::fish_for), which loses what it passed over.
///
/// # Examples
///
/// ```
/// use actors_core::prelude::*;
/// use actors_testkit::TestKit;
///
/// struct Doubler { to: Recipient<u64> }
///
/// #[actor]
/// impl Doubler {
///     #[handler]
///     fn double(&mut self, number: u64) { self.to.tell(number * 2); }
/// }
///
/// TestKit::run("doubler", async |kit| {
///     let mut probe = kit.probe::<u64>();
///     let to = probe.recipient();
///     let doubler = kit.spawn("doubler", move || Doubler { to: to.clone() }).unwrap();
///     doubler.double(4).tell();
///     probe.expect(8).await;
///     doubler.double(5).tell();
///     doubler.stop().await;
///     assert_eq!(kit.dead_letters().len(), 1);
///     assert_eq!(probe.expect_terminated(&doubler).await, StopReason::Stopped);
///     probe.expect_nothing().await;
/// });
/// ```
pub struct TestProbe<M> {
    name: String,
    queue: Arc<Queue<M>>,
    kit: Arc<Shared>,
    watched: HashSet<ActorId>,
    /// For the next expectation only.
    limit: Option<Duration>,
}

impl<M: Send + 'static> TestProbe<M> {
    pub(crate) fn new(name: String, kit: Arc<Shared>) -> Self {
        Self {
            name,
            queue: Arc::new(Queue::new()),
            kit,
            watched: HashSet::new(),
            limit: None,
        }
    }

    /// Returns the probe as a recipient, for those who shall tell it something.
    pub fn recipient(&self) -> Recipient<M> {
        let queue = Arc::clone(&self.queue);
        Recipient::from_fn(move |message| queue.push(Entry::Message(message)))
    }

    /// Makes the probe be told of the end of an actor, after everything that the actor told it; see
    /// [`expect_terminated`](Self::expect_terminated). To watch twice is to watch once.
    pub fn watch<A: Actor>(&mut self, actor: &impl Handle<A>) {
        let actor = actor.actor();
        if self.watched.insert(actor.actor_id()) {
            let queue = Arc::clone(&self.queue);
            actors_core::__private::watch_with(actor, move |end| {
                queue.push(Entry::Terminated(end));
            });
        }
    }

    /// Sets how long the next expectation waits: `probe.within(ms(50)).expect(3).await`. With no time at all it waits for rest
    /// only: for what happens without time passing.
    pub fn within(&mut self, limit: Duration) -> &mut Self {
        self.limit = Some(limit);
        self
    }

    /// Takes the first message if one is there, without waiting.
    pub fn try_receive(&mut self) -> Option<M> {
        match self.queue.take(is_message)? {
            Entry::Message(message) => Some(message),
            Entry::Terminated(_) => None,
        }
    }
}

impl<M> TestProbe<M> {
    pub(crate) fn queue(&self) -> Arc<Queue<M>> {
        Arc::clone(&self.queue)
    }
}

impl<M: Debug + Send + 'static> TestProbe<M> {
    /// Waits for the next message and returns it.
    ///
    /// # Panics
    ///
    /// When none comes in time, or the end of a watched actor comes first.
    #[track_caller]
    pub fn receive(&mut self) -> impl Future<Output = M> {
        let mut wait = self.wait();
        async move { wait.message(|| "a message".to_owned()).await }
    }

    /// Expects that the next message equals `expected`.
    ///
    /// # Panics
    ///
    /// When none comes in time, or something else comes.
    #[track_caller]
    pub fn expect(&mut self, expected: M) -> impl Future<Output = ()>
    where
        M: PartialEq,
    {
        let mut wait = self.wait();
        async move {
            let came = wait.message(|| format!("{expected:?}")).await;
            if came != expected {
                wait.miss().got(&format!("{expected:?}"), &came);
            }
        }
    }

    /// Expects that `condition` holds for the next message, and returns it; failures say `description`.
    ///
    /// To look at its shape and take it apart, [`expect_matching!`](crate::expect_matching) is handier.
    ///
    /// # Panics
    ///
    /// When none comes in time, or one that the condition does not hold for.
    #[track_caller]
    pub fn expect_that(
        &mut self,
        condition: impl FnOnce(&M) -> bool,
        description: &str,
    ) -> impl Future<Output = M> {
        let mut wait = self.wait();
        async move {
            let came = wait.message(|| description.to_owned()).await;
            if !condition(&came) {
                wait.miss().got(description, &came);
            }
            came
        }
    }

    /// Passes over messages until `catch` makes something of one, and returns that. The time limit is for all of them together.
    ///
    /// # Panics
    ///
    /// When no such message comes in time; the failure lists those passed over.
    #[track_caller]
    pub fn fish_for<T>(
        &mut self,
        mut catch: impl FnMut(M) -> Option<T>,
    ) -> impl Future<Output = T> {
        let mut wait = self.wait();
        async move {
            let mut passed = Vec::new();
            loop {
                let message = wait.message(|| fished(&passed)).await;
                let text = format!("{message:?}");
                match catch(message) {
                    Some(caught) => return caught,
                    None => passed.push(text),
                }
            }
        }
    }

    /// Expects that nothing is here, and that nothing comes without time passing.
    ///
    /// # Panics
    ///
    /// When something is here or comes.
    #[track_caller]
    pub fn expect_nothing(&mut self) -> impl Future<Output = ()> {
        self.expect_nothing_for(Duration::ZERO)
    }

    /// Expects that nothing is here, and that nothing comes while `duration` passes, its last instant included. The clock has
    /// moved on by exactly that when it is ready.
    ///
    /// # Panics
    ///
    /// When something is here or comes.
    #[track_caller]
    pub fn expect_nothing_for(&mut self, duration: Duration) -> impl Future<Output = ()> {
        let mut wait = self.within(duration).wait();
        async move {
            let began = Instant::now();
            let expected = || match duration {
                Duration::ZERO => "nothing".to_owned(),
                _ => format!("nothing for {duration:?}"),
            };
            match wait.entry(|_| true).await {
                Err(Came::Nothing(_)) => {}
                Err(other) => wait.miss().fail(expected(), other),
                Ok(came) if duration.is_zero() => wait.miss().got_entry(expected(), &came),
                Ok(came) => {
                    let came = Came::Else(format!("{came:?} after {:?}", began.elapsed()));
                    wait.miss().fail(expected(), came);
                }
            }
        }
    }

    /// Expects the end of an actor, which this makes the probe watch if it does not yet, and returns the reason.
    ///
    /// What the actor told the probe comes first, so it must have been received before.
    ///
    /// # Panics
    ///
    /// When the actor does not end in time, or a message is in the queue before the news. The news of other actors may be.
    #[track_caller]
    pub fn expect_terminated<A: Actor>(
        &mut self,
        actor: &impl Handle<A>,
    ) -> impl Future<Output = StopReason> {
        self.watch(actor);
        let (path, id) = (actor.actor().actor_path().clone(), actor.actor().actor_id());
        let mut wait = self.wait();
        async move {
            let expected = || format!("the end of {path} ({id})");
            let wanted = |entry: &Entry<M>| match entry {
                Entry::Message(_) => true,
                Entry::Terminated(end) => end.id == id,
            };
            match wait.entry(wanted).await {
                Ok(Entry::Terminated(end)) => {
                    wait.probe.watched.remove(&id);
                    end.reason
                }
                Ok(message) => wait.miss().got_entry(expected(), &message),
                Err(came) => wait.miss().fail(expected(), came),
            }
        }
    }

    /// Waits for a message, and gives it together with what fails the test if it is the wrong one.
    #[doc(hidden)]
    #[track_caller]
    pub fn __receive(&mut self, expected: &str) -> impl Future<Output = (M, Mismatch<M>)> {
        let mut wait = self.wait();
        async move {
            let message = wait.message(|| expected.to_owned()).await;
            (message, wait.miss())
        }
    }

    /// Begins an expectation of the caller's.
    #[track_caller]
    fn wait(&mut self) -> Wait<'_, M> {
        let limit = self.limit.take().unwrap_or(LIMIT);
        Wait {
            probe: self,
            limit,
            deadline: None,
            at: Location::caller(),
        }
    }
}

impl<M: Send + 'static> From<&TestProbe<M>> for Recipient<M> {
    fn from(probe: &TestProbe<M>) -> Self {
        probe.recipient()
    }
}

impl<M> Debug for TestProbe<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestProbe")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

const fn is_message<M>(entry: &Entry<M>) -> bool {
    matches!(entry, Entry::Message(_))
}

fn fished(passed: &[String]) -> String {
    match passed {
        [] => "a message to fish out".to_owned(),
        passed => format!("a message to fish out after [{}]", passed.join(", ")),
    }
}

/// One expectation under way.
struct Wait<'a, M> {
    probe: &'a mut TestProbe<M>,
    limit: Duration,
    /// Counted from the first poll.
    deadline: Option<Instant>,
    at: &'static Location<'static>,
}

impl<M: Debug> Wait<'_, M> {
    /// Waits for the next entry that is wanted.
    async fn entry(&mut self, wanted: impl Fn(&Entry<M>) -> bool) -> Result<Entry<M>, Came> {
        let now = Instant::now();
        let left = match self.deadline {
            Some(deadline) => deadline.saturating_duration_since(now),
            None => {
                self.deadline = now.checked_add(self.limit);
                self.limit
            }
        };
        let queue = &self.probe.queue;
        match self
            .probe
            .kit
            .clock
            .within(left, |cx| queue.poll_take(&wanted, cx.waker()))
            .await
        {
            Ok(Some(entry)) => Ok(entry),
            Ok(None) => Err(Came::Nothing(self.limit)),
            Err(restless) => Err(Came::Restless(restless.0)),
        }
    }

    /// Waits for the next entry, which must be a message.
    async fn message(&mut self, expected: impl Fn() -> String) -> M {
        match self.entry(|_| true).await {
            Ok(Entry::Message(message)) => message,
            Ok(end) => self.miss().got_entry(expected(), &end),
            Err(came) => self.miss().fail(expected(), came),
        }
    }

    fn miss(&self) -> Mismatch<M> {
        let TestProbe {
            name, queue, kit, ..
        } = &*self.probe;
        Mismatch {
            probe: name.clone(),
            queue: Arc::clone(queue),
            kit: Arc::clone(kit),
            at: self.at,
        }
    }
}

/// Expects that the next message of a probe matches a pattern.
///
/// With `=> value` it gives the value, which may use what the pattern binds; without, nothing. The pattern may have an `if`.
/// A failure shows the pattern. It is for async code: it awaits the message.
///
/// ```
/// use actors_testkit::{TestKit, expect_matching};
///
/// #[derive(Debug)]
/// enum Event { Sold { count: u32 }, Closed }
///
/// TestKit::run("events", async |kit| {
///     let mut probe = kit.probe::<Event>();
///     probe.recipient().tell(Event::Sold { count: 3 });
///     probe.recipient().tell(Event::Closed);
///     let count = expect_matching!(probe, Event::Sold { count } if count > 1 => count);
///     assert_eq!(count, 3);
///     expect_matching!(probe, Event::Closed);
/// });
/// ```
#[macro_export]
macro_rules! expect_matching {
    ($probe:expr, $pattern:pat $(if $guard:expr)? => $value:expr $(,)?) => {{
        let expected = ::core::concat!(::core::stringify!($pattern) $(, " if ", ::core::stringify!($guard))?);
        let (message, mismatch) = $probe.__receive(expected).await;
        #[allow(unreachable_patterns, reason = "the pattern may match everything")]
        match message {
            $pattern $(if $guard)? => $value,
            other => mismatch.got(expected, &other),
        }
    }};
    ($probe:expr, $pattern:pat $(if $guard:expr)? $(,)?) => {
        $crate::expect_matching!($probe, $pattern $(if $guard)? => ())
    };
}
