//! The settings of a system, and the builder that makes one.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::error::{BuildError, NameError};
use crate::mailbox::Mailbox;
use crate::panic;
use crate::path::RESERVED;
use crate::supervision::{RestartType, Supervision};

use super::ActorSystem;
use super::breed::Options;

/// What holds for all actors of a system that do not say otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) ask_timeout: Duration,
    pub(crate) shutdown_timeout: Duration,
    /// How failures of top-level actors, and of those whose parent has no policy, are judged.
    pub(crate) supervision: Supervision,
    pub(crate) detect_cycles: bool,
    /// The options of an actor that has none of its own.
    pub(crate) options: Arc<Options>,
    /// The same of one whose state cannot be made again.
    pub(crate) options_once: Arc<Options>,
    worker_threads: Option<usize>,
}

impl Settings {
    pub(super) fn workers(&self, handle: &Handle) -> NonZeroUsize {
        let threads = self
            .worker_threads
            .unwrap_or_else(|| handle.metrics().num_workers());
        NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN)
    }
}

pub(crate) fn check_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        Err(NameError::Empty)
    } else if name.contains('/') {
        Err(NameError::Slash)
    } else if name.starts_with(RESERVED) {
        Err(NameError::Reserved)
    } else {
        Ok(())
    }
}

/// Describes a system; made by [`ActorSystem::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct SystemBuilder {
    name: String,
    worker_threads: Option<usize>,
    throughput: u32,
    ask_timeout: Duration,
    stop_timeout: Duration,
    shutdown_timeout: Duration,
    mailbox: Mailbox,
    supervision: Supervision,
    detect_cycles: bool,
    slow_handler: Duration,
}

impl SystemBuilder {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            worker_threads: None,
            throughput: 64,
            ask_timeout: Duration::from_secs(5),
            stop_timeout: Duration::from_secs(5),
            shutdown_timeout: Duration::from_secs(30),
            mailbox: Mailbox::unbounded(),
            supervision: Supervision::default(),
            detect_cycles: cfg!(debug_assertions),
            slow_handler: Duration::from_secs(1),
        }
    }

    /// Gives the system a multi-thread Tokio runtime of its own with this many worker threads, in place of the current one.
    pub fn worker_threads(mut self, threads: usize) -> Self {
        self.worker_threads = Some(threads);
        self
    }

    /// Sets how many messages an actor handles before it gives up its thread; 64 unless set.
    pub fn throughput(mut self, messages: u32) -> Self {
        self.throughput = messages;
        self
    }

    /// Sets how long an ask waits that does not say otherwise; 5 s unless set.
    pub fn ask_timeout(mut self, timeout: Duration) -> Self {
        self.ask_timeout = timeout;
        self
    }

    /// Sets how long an actor has to end before its user code is cut; 5 s unless set.
    pub fn stop_timeout(mut self, timeout: Duration) -> Self {
        self.stop_timeout = timeout;
        self
    }

    /// Sets how long all actors together have at a shutdown; 30 s unless set.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown_timeout = timeout;
        self
    }

    /// Sets the mailbox of actors that do not say otherwise; unbounded unless set.
    pub fn mailbox(mut self, mailbox: Mailbox) -> Self {
        self.mailbox = mailbox;
        self
    }

    /// Sets how failures are judged where no parent and no actor says otherwise; restart, at most 5 times in 60 s, unless set.
    pub fn supervision(mut self, supervision: Supervision) -> Self {
        self.supervision = supervision;
        self
    }

    /// Sets whether an ask that closes a cycle of waiting actors fails at once; on in debug builds unless set.
    pub fn detect_cycles(mut self, on: bool) -> Self {
        self.detect_cycles = on;
        self
    }

    /// Sets how long a handler may take before it is reported: once, by a
    /// [`HandlerSlow`](crate::LifecycleEvent::HandlerSlow) event and a warning in the log; 1 s unless set,
    /// [`Duration::MAX`] for never.
    ///
    /// A handler that waits at an `.await` is measured from its first wait, on Tokio's clock. One that holds its thread is
    /// measured on the real clock, by the watchdog of a system with more than one worker: never early, and up to a tenth of
    /// the limit and 15 ms late. With one worker, or on a `current_thread` runtime, nobody sees a handler that holds its thread.
    pub fn slow_handler(mut self, limit: Duration) -> Self {
        self.slow_handler = limit;
        self
    }

    /// Makes the system.
    ///
    /// # Errors
    ///
    /// [`BuildError`] says which setting is no good, or what the Tokio runtime lacks.
    pub fn build(self) -> Result<ActorSystem, BuildError> {
        self.check()?;
        let (handle, runtime) = match self.worker_threads {
            None => (
                Handle::try_current().map_err(|_| BuildError::NoRuntime)?,
                None,
            ),
            Some(threads) => {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(threads)
                    .thread_name(self.name.clone())
                    .enable_all()
                    .build()
                    .map_err(BuildError::Runtime)?;
                (runtime.handle().clone(), Some(runtime))
            }
        };
        if !has_time(&handle) {
            return Err(BuildError::NoTime);
        }
        let name = self.name.clone();
        Ok(ActorSystem::assemble(
            &name,
            self.into_settings(),
            handle,
            runtime,
        ))
    }

    fn check(&self) -> Result<(), BuildError> {
        check_name(&self.name).map_err(|error| BuildError::Name {
            name: self.name.clone(),
            error,
        })?;
        if self.worker_threads == Some(0) {
            return Err(BuildError::ZeroThreads);
        }
        if self.throughput == 0 {
            return Err(BuildError::ZeroThroughput);
        }
        if self.mailbox.has_zero_capacity() {
            return Err(BuildError::ZeroCapacity);
        }
        Ok(())
    }

    fn into_settings(self) -> Settings {
        let options = Options {
            mailbox: self.mailbox,
            throughput: self.throughput,
            stop_timeout: self.stop_timeout,
            slow_handler: self.slow_handler,
            supervision: None,
            restart_type: RestartType::default(),
            counted: false,
        };
        let options_once = Options {
            restart_type: RestartType::Temporary,
            ..options.clone()
        };
        Settings {
            ask_timeout: self.ask_timeout,
            shutdown_timeout: self.shutdown_timeout,
            supervision: self.supervision,
            detect_cycles: self.detect_cycles,
            options: Arc::new(options),
            options_once: Arc::new(options_once),
            worker_threads: self.worker_threads,
        }
    }
}

/// Says whether timers work on this runtime. Tokio has no way to ask but to make one, which panics without a time driver.
fn has_time(handle: &Handle) -> bool {
    let _context = handle.enter();
    panic::catch(|| drop(tokio::time::sleep_until(tokio::time::Instant::now()))).is_ok()
}
