//! Runs one test: a runtime and a system of its own, and what is looked at when it is over.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Poll;

use actors_core::{ActorSystem, SystemBuilder};
use tokio::runtime::{Builder, Runtime};

use crate::clock::{Idle, TASKS_A_ROUND};
use crate::kit::{Shared, TestKit};
use crate::record::Leftover;

/// What a test may return: nothing, or a `Result` whose `Err` fails it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a test returns",
    note = "a test returns nothing, or a `Result`"
)]
pub trait Outcome {
    /// Says whether the test has failed by its own account.
    fn is_failure(&self) -> bool;
}

impl Outcome for () {
    fn is_failure(&self) -> bool {
        false
    }
}

impl<T, E> Outcome for Result<T, E> {
    fn is_failure(&self) -> bool {
        self.is_err()
    }
}

type Panic = Box<dyn Any + Send>;

/// Runs a test to its end, and the system's.
///
/// A panic of the test itself comes first, then its `Err`, then what it left behind.
#[track_caller]
pub(crate) fn run<T: Outcome>(
    name: &str,
    settings: impl FnOnce(SystemBuilder) -> SystemBuilder,
    test: impl AsyncFnOnce(TestKit) -> T,
) -> T {
    let idle = Arc::new(Idle::default());
    let runtime = runtime(&idle);
    let (outcome, leftover) = runtime.block_on(async {
        let system = settings(ActorSystem::builder(name))
            .build()
            .unwrap_or_else(|error| panic!("{error}"));
        let shared = Arc::new(Shared::new(name, system, idle));
        let kit = TestKit::new(Arc::clone(&shared));
        let outcome = caught(async { test(kit).await }).await;
        let leftover = end(&shared, outcome.is_ok()).await;
        (outcome, leftover)
    });
    // Not by dropping it, which would wait for whatever a failed test has left on a thread.
    runtime.shutdown_background();
    match outcome {
        Err(panic) => resume_unwind(panic),
        Ok(outcome) => {
            assert!(outcome.is_failure() || leftover.is_nothing(), "{leftover}");
            outcome
        }
    }
}

fn runtime(idle: &Arc<Idle>) -> Runtime {
    let idle = Arc::clone(idle);
    Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .event_interval(TASKS_A_ROUND)
        .on_thread_park(move || idle.found())
        .build()
        .expect("the operating system has resources for a runtime with one thread")
}

/// Runs a future, and catches its panic.
async fn caught<T>(future: impl Future<Output = T>) -> Result<T, Panic> {
    let mut future = Box::pin(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

/// Ends the system. Dead letters count until then: stopping makes more, which mean nothing. Failures count to the last.
async fn end(shared: &Shared, passed: bool) -> Leftover {
    let rest = if passed {
        shared.clock.settle().await
    } else {
        Ok(())
    };
    let restless = rest.err().map(|restless| restless.0);
    let letters = shared.unexpected_letters();
    shared.system.shutdown().await;
    Leftover {
        test: shared.name.clone(),
        letters,
        failures: shared.unexpected_failures(),
        restless,
    }
}
