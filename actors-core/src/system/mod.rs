//! The services an actor may ask for: names, time, events, shutdown. Nothing here knows the type of an actor.
//!
//! [`ActorSystem`] is what a user holds; [`SystemCore`] is shared by it and by every actor. Actors do not count as holders: when
//! the last [`ActorSystem`] goes, the system shuts itself down in the background.

pub(crate) mod breed;
mod children;
pub(crate) mod clock;
mod config;
pub(crate) mod counters;
pub(crate) mod deadlines;
pub(crate) mod end;
pub(crate) mod enforce;
pub(crate) mod family;
pub(crate) mod group;
mod health;
pub(crate) mod member;
mod names;
pub(crate) mod orders;
pub(crate) mod pace;
mod shutdown;
mod state;
mod tree;
mod waiters;
pub(crate) mod waits;

use std::fmt;
use std::future::Future;
use std::panic::RefUnwindSafe;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Handle, Runtime};
use tokio::time::Instant;

use crate::dispatch::turn::{self, Identity};
use crate::dispatch::{self, Runnable, Schedule, TaskInfo, Workers};
use crate::error::BuildError;
use crate::event::{
    DeadLetter, EventLog, EventStream, LifecycleEvent, Subscription, reads_details,
};
use crate::panic;
use crate::path::{ActorId, ActorPath};
use crate::supervision::StopReason;
use crate::sync::Mutex;

use clock::Clock;
pub use config::SystemBuilder;
pub(crate) use config::{Settings, check_name};
pub use counters::Counters;
use deadlines::Deadlines;
pub use end::Terminated;
use family::Family;
use health::{Health, HeldThreads};
use names::Names;
use orders::EndKind;
use shutdown::Shutdown;
pub use shutdown::{ShutdownCause, ShutdownReport};
pub use state::ActorState;
pub use tree::{Tree, TreeNode};
use waits::Waits;

/// How long after its cut an actor that holds a thread is abandoned.
pub(crate) const GRACE: Duration = Duration::from_millis(5);

/// How long after its deadline an actor is abandoned that waits for a thread and gets none.
pub(crate) const LONG_GRACE: Duration = Duration::from_secs(1);

/// The room of a subscription to events or dead letters, unless said otherwise.
const SUBSCRIPTION: usize = 1_024;

/// What all actors of a system share.
pub(crate) struct SystemCore {
    pub(crate) path: ActorPath,
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) deadlines: Arc<Deadlines>,
    pub(crate) events: Events,
    pub(crate) counters: counters::Totals,
    pub(crate) waits: Waits,
    pub(crate) health: Health,
    /// Those of handlers.
    pub(crate) names: Names,
    /// The top-level actors.
    pub(crate) family: Family,
    /// The seam: whatever makes an actor runnable goes through it.
    pub(crate) scheduler: Arc<dyn Schedule>,
    workers: Arc<Workers>,
    handle: Handle,
    /// Whether an asker may give an actor its turn: not where one thread runs all, and time can be paused.
    pub(crate) runs_in_passing: bool,
    /// The runtime, when it is the system's own.
    runtime: Mutex<Option<Runtime>>,
    shutdown: Shutdown,
    ids: AtomicU64,
}

/// No user code runs under its locks, so a panic that somebody catches has left nothing half done.
impl RefUnwindSafe for SystemCore {}

/// Who is told what happens.
pub(crate) struct Events {
    pub(crate) dead_letters: EventStream<DeadLetter>,
    lifecycle: EventStream<LifecycleEvent>,
    log: EventLog,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self {
            dead_letters: EventStream::new(),
            lifecycle: EventStream::new(),
            log: EventLog::new(),
        }
    }

    pub(crate) fn dead_letter(&self, now: Instant, letter: DeadLetter) {
        told(|| self.log.dead_letter(&letter, now));
        told(|| self.dead_letters.publish(|| letter));
    }

    pub(crate) fn lifecycle(&self, now: Instant, event: LifecycleEvent) {
        told(|| self.log.lifecycle(&event, now));
        told(|| self.lifecycle.publish(|| event));
    }

    /// Says whether anybody may want to hear what happens to every actor.
    pub(crate) fn tells_details(&self) -> bool {
        self.lifecycle.is_watched() || reads_details()
    }

    fn quiet(&self) {
        told(|| self.log.quiet());
    }

    fn close(&self) {
        self.dead_letters.close();
        self.lifecycle.close();
    }
}

/// Tells somebody outside: a subscriber of `tracing`, or the executor of whoever listens. Their panics are not ours.
fn told(tell: impl FnOnce()) {
    let _ = panic::catch(tell);
}

impl SystemCore {
    pub(crate) fn next_id(&self) -> ActorId {
        ActorId::new(self.ids.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Says whether no actor will ever run again.
    pub(crate) fn is_gone(&self) -> bool {
        self.workers.is_closed()
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutdown.has_begun()
    }

    /// Says whether its actors run on this runtime.
    pub(crate) fn is_of(&self, handle: &Handle) -> bool {
        self.handle.id() == handle.id()
    }

    fn tally(&self, actor: impl FnOnce() -> ActorPath, reason: &StopReason) {
        self.shutdown.tally(actor, reason);
    }

    /// Returns the actor of this system whose turn it is on this thread.
    pub(crate) fn running_actor(&self) -> Option<Arc<dyn Identity>> {
        turn::running_actor().filter(|actor| ptr::eq(actor.system(), ptr::from_ref(self).cast()))
    }

    /// Runs a future on the workers, as actors run. Dropping the task cancels the future.
    pub(crate) fn run<F>(
        self: &Arc<Self>,
        id: ActorId,
        future: F,
    ) -> async_task::Task<F::Output, TaskInfo>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (runnable, task) = Runnable::task(id, Arc::clone(&self.scheduler), future);
        dispatch::schedule(runnable);
        task
    }

    /// Begins the shutdown, unless it has begun; it goes on by itself.
    pub(crate) fn begin_shutdown(self: &Arc<Self>, cause: ShutdownCause) {
        let began = self.clock.now();
        if !self.shutdown.begin(cause, began) {
            return;
        }
        self.events.quiet();
        self.family.close();
        let system = Arc::clone(self);
        self.run(ActorId::new(0), async move {
            let deadline = began.checked_add(system.settings.shutdown_timeout);
            system
                .family
                .stop_all(EndKind::Stop, StopReason::Shutdown, deadline)
                .await;
            system.close();
        })
        .detach();
        if self.is_gone() {
            self.close();
        }
    }

    /// The Tokio runtime went away: no actor runs again. Ends them all.
    fn lost(self: &Arc<Self>) {
        self.shutdown
            .begin(ShutdownCause::RuntimeGone, self.clock.now());
        self.events.quiet();
        self.close();
    }

    /// Closes everything, and lets go of the activations that are left.
    fn close(&self) {
        self.family.close();
        self.workers.close();
        self.deadlines.close();
        self.let_all_go();
        self.shutdown.finish(self.clock.now());
        self.events.close();
        if let Some(runtime) = self.runtime.lock().take() {
            runtime.shutdown_background();
        }
    }

    /// Takes each activation that is left out of its mailbox, so that it is dropped, and its state with it.
    fn let_all_go(&self) {
        let mut left = self.family.members();
        while let Some(member) = left.pop() {
            if let Some(family) = member.core().existing_family() {
                family.close();
                left.extend(family.members());
            }
            member.let_go();
        }
    }
}

impl fmt::Debug for SystemCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActorSystem")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A system of actors: where they have their names, threads, clock and events. A cheap clone.
///
/// It runs on the Tokio runtime it was made on ([`new`](Self::new)), or on one of its own ([`builder`](Self::builder) with
/// [`worker_threads`](SystemBuilder::worker_threads)). Two systems in one process know nothing of each other.
///
/// Dropping the last clone begins a shutdown in the background, which never blocks; [`shutdown`](Self::shutdown) does so and
/// lets you wait for the report.
///
/// ```
/// use actors_core::prelude::*;
///
/// #[derive(Default)]
/// struct Counter { sum: u64 }
///
/// #[actor]
/// impl Counter {
///     #[handler]
///     fn add(&mut self, number: u64) -> u64 { self.sum += number; self.sum }
/// }
///
/// let system = ActorSystem::builder("demo").worker_threads(2).build()?;
/// let counter = system.spawn("counter", Counter::default)?;
/// counter.add(40).tell();
/// assert_eq!(system.block_on(async { counter.add(2).await })?, 42);
/// assert!(system.block_on(system.shutdown()).is_clean());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ActorSystem {
    pub(crate) core: Arc<SystemCore>,
    /// Counts those whose going shuts the system down; the context of an actor gives a system without it.
    _holders: Option<Arc<Holder>>,
}

struct Holder(Arc<SystemCore>);

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.begin_shutdown(ShutdownCause::Dropped);
    }
}

impl ActorSystem {
    /// Makes a system on the current Tokio runtime, with as many workers as it has threads.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoRuntime`] outside of a Tokio runtime, [`BuildError::NoTime`] if the runtime has no time driver, and
    /// [`BuildError::Name`] for a bad name.
    pub fn new(name: impl AsRef<str>) -> Result<Self, BuildError> {
        Self::builder(name).build()
    }

    /// Starts to describe a system whose settings differ from the defaults.
    pub fn builder(name: impl AsRef<str>) -> SystemBuilder {
        SystemBuilder::new(name.as_ref())
    }

    fn assemble(name: &str, settings: Settings, handle: Handle, runtime: Option<Runtime>) -> Self {
        let clock = Clock::new(handle.clone());
        let (deadlines, timekeeper) = Deadlines::new(clock.clone());
        let core = Arc::new_cyclic(|weak: &Weak<SystemCore>| {
            let weak = weak.clone();
            let count = settings.workers(&handle);
            let overseer = HeldThreads::new(weak.clone());
            let (workers, tasks) = Workers::new(count, overseer, move || {
                if let Some(system) = weak.upgrade() {
                    system.lost();
                }
            });
            tasks
                .into_iter()
                .for_each(|worker| drop(handle.spawn(worker)));
            drop(handle.spawn(timekeeper));
            SystemCore {
                path: ActorPath::root(name),
                health: Health::new(settings.options.slow_handler),
                settings,
                runs_in_passing: !clock.is_pausable(),
                clock,
                deadlines,
                events: Events::new(),
                counters: counters::Totals::default(),
                waits: Waits::default(),
                names: Names::default(),
                family: Family::default(),
                scheduler: Arc::clone(&workers) as Arc<dyn Schedule>,
                workers,
                handle,
                runtime: Mutex::new(runtime),
                shutdown: Shutdown::default(),
                ids: AtomicU64::new(0),
            }
        });
        let holders = Some(Arc::new(Holder(Arc::clone(&core))));
        Self {
            core,
            _holders: holders,
        }
    }

    /// The system as an actor's context shows it, which does not keep it from shutting down.
    pub(crate) fn within(core: &Arc<SystemCore>) -> Self {
        Self {
            core: Arc::clone(core),
            _holders: None,
        }
    }

    /// Returns the name of the system.
    pub fn name(&self) -> &str {
        self.core.path.name()
    }

    /// Stops all actors, children before parents, and then the system. Acts at the call; the future waits for the report.
    /// Further calls wait for the same end.
    ///
    /// Top-level actors with a name stop one after another in reverse start order, then the anonymous ones all at once. Each
    /// has its own stop timeout, all have [`shutdown_timeout`](SystemBuilder::shutdown_timeout) together.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future undoes nothing.
    pub fn shutdown(&self) -> Stopped {
        self.core.begin_shutdown(ShutdownCause::Requested);
        self.stopped()
    }

    /// Waits until the system has shut down, for whatever cause, and gives the report.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub fn stopped(&self) -> Stopped {
        Stopped {
            system: Arc::clone(&self.core),
            place: None,
        }
    }

    /// Says whether a shutdown has begun.
    pub fn is_shutting_down(&self) -> bool {
        self.core.is_shutting_down()
    }

    /// Runs a future to its end on the system's runtime and blocks this thread meanwhile: for a plain `main`.
    ///
    /// # Panics
    ///
    /// When called in async code, as [`Handle::block_on`] does.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.core.handle.block_on(future)
    }

    /// Starts to listen to dead letters, with room for 1,024 of them.
    pub fn dead_letters(&self) -> Subscription<DeadLetter> {
        self.core.events.dead_letters.subscribe(SUBSCRIPTION)
    }

    /// Starts to listen to dead letters with room for `capacity`; `usize::MAX` for all.
    pub fn dead_letters_with_capacity(&self, capacity: usize) -> Subscription<DeadLetter> {
        self.core.events.dead_letters.subscribe(capacity)
    }

    /// Starts to listen to what happens to actors, with room for 1,024 events.
    pub fn events(&self) -> Subscription<LifecycleEvent> {
        self.core.events.lifecycle.subscribe(SUBSCRIPTION)
    }

    /// Starts to listen to what happens to actors with room for `capacity`; `usize::MAX` for all.
    pub fn events_with_capacity(&self, capacity: usize) -> Subscription<LifecycleEvent> {
        self.core.events.lifecycle.subscribe(capacity)
    }

    /// Counts what became of all messages so far. Looks at every actor that lives: for tests and for a gauge now and then.
    pub fn counters(&self) -> Counters {
        tree::count(&self.core)
    }

    /// Takes a picture of all actors: path, type, state, mailbox depth, restarts.
    ///
    /// Actors go on meanwhile, so the picture is exact for each of them, and not for all at one moment.
    pub fn tree(&self) -> Tree {
        tree::picture(&self.core)
    }
}

impl fmt::Debug for ActorSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.core, f)
    }
}

/// Waits for the end of a system; see [`ActorSystem::shutdown`] and [`ActorSystem::stopped`].
///
/// Awaited by a handler of that very system, it ends the handler there: the end waits for the handler, which would wait for
/// ever.
///
/// # Cancel safety
///
/// Dropping it changes nothing but that nobody waits.
#[derive(Debug)]
#[must_use = "the shutdown goes on by itself, but only awaiting it gives the report"]
pub struct Stopped {
    system: Arc<SystemCore>,
    place: Option<u64>,
}

impl Future for Stopped {
    type Output = ShutdownReport;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ShutdownReport> {
        let this = &mut *self;
        let over = this.system.shutdown.poll_over(&mut this.place, cx.waker());
        if over.is_pending() && this.system.running_actor().is_some() {
            turn::end_handler();
        }
        over.map(|report| ShutdownReport::clone(&report))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.system.shutdown.leave(place);
        }
    }
}
