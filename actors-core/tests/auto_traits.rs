//! What may cross threads, be moved while it is polled, and be used across a caught panic. A line that breaks a promise does
//! not compile.

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};

use actors_core::prelude::*;
use actors_core::{
    ActorId, ActorState, Ask, BuildError, Call, Counters, CyclePath, DeadLetter, DeadLetterReason,
    Ended, Enqueue, EnqueueError, FailureKind, Fallible, LifecycleEvent, LookupError, NameError,
    Reserved, Runnable, Schedule, ShutdownCause, ShutdownReport, Spawn, SpawnError, Starting,
    Stopped, Subscription, SystemBuilder, Tree, TreeNode, TryTellError, Value, WeakActorRef,
};

const fn crosses_threads<T: Send + 'static>() {}
const fn is_shared_between_threads<T: Send + Sync + 'static>() {}
const fn is_a_movable_future<T: Future + Unpin + Send + 'static>() {}
const fn is_plain_data<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + 'static>() {}
const fn survives_a_caught_panic<T: UnwindSafe + RefUnwindSafe>() {}

/// Its state, arguments, replies and errors may cross threads, and may not be shared between them.
struct Lonely {
    count: Cell<u64>,
}

#[derive(Debug)]
struct Refused(Cell<u64>);

#[actor]
impl Lonely {
    #[handler]
    fn set(&mut self, count: Cell<u64>) -> Cell<u64> {
        self.count.swap(&count);
        count
    }

    #[handler]
    async fn try_set(&mut self, count: Cell<u64>) -> Result<Cell<u64>, Refused> {
        std::future::ready(()).await;
        if count.get() == 0 {
            let refused = Refused(count);
            assert_eq!(refused.0.get(), 0);
            return Err(refused);
        }
        Ok(self.set(count))
    }
}

type Asked = Value<Cell<u64>>;
type AskedFallible = Fallible<Result<Cell<u64>, Refused>>;

#[test]
fn whoever_holds_an_actor_may_share_it_whatever_the_actor_is() {
    is_shared_between_threads::<ActorRef<Lonely>>();
    is_shared_between_threads::<LonelyRef>();
    is_shared_between_threads::<WeakActorRef<Lonely>>();
    is_shared_between_threads::<Recipient<Cell<u64>>>();
    is_shared_between_threads::<Recipient<*const u8>>();
    is_shared_between_threads::<ActorSystem>();
}

#[test]
fn a_call_crosses_threads_if_its_arguments_do() {
    crosses_threads::<Call<'static, Lonely, Asked, (Cell<u64>,)>>();
    is_shared_between_threads::<Call<'static, Lonely, Asked, (u64,)>>();
}

#[test]
fn what_is_awaited_can_be_spawned_and_moved_between_polls() {
    is_a_movable_future::<Ask<Lonely, Asked>>();
    is_a_movable_future::<Ask<Lonely, AskedFallible>>();
    is_a_movable_future::<Enqueue<Lonely>>();
    is_a_movable_future::<Ended>();
    is_a_movable_future::<Starting<Lonely>>();
    is_a_movable_future::<Stopped>();
}

#[test]
fn the_way_back_crosses_threads_and_can_be_shared() {
    is_shared_between_threads::<ReplyTo<Cell<u64>>>();
    crosses_threads::<LonelyMsg>();
}

#[test]
fn what_an_actor_and_its_supervisor_hold_crosses_threads() {
    crosses_threads::<ActorContext<Lonely>>();
    crosses_threads::<Spawn<Lonely>>();
    crosses_threads::<Reserved<Lonely>>();
    crosses_threads::<Runnable>();
    is_shared_between_threads::<Failure>();
    is_shared_between_threads::<Supervision>();
    is_shared_between_threads::<Box<dyn Schedule>>();
}

#[test]
fn subscriptions_cross_threads_and_can_be_moved_between_polls() {
    const fn is_a_movable_stream<T: Send + Sync + Unpin + 'static>() {}
    is_a_movable_stream::<Subscription<DeadLetter>>();
    is_a_movable_stream::<Subscription<LifecycleEvent>>();
}

#[test]
fn an_error_crosses_threads_as_what_it_holds_does() {
    crosses_threads::<AskError<Refused>>();
    crosses_threads::<TryTellError<LonelyMsg>>();
    crosses_threads::<EnqueueError<LonelyMsg>>();
    is_shared_between_threads::<BuildError>();
    is_plain_data::<AskError<u64>>();
    is_plain_data::<TryTellError<u64>>();
    is_plain_data::<EnqueueError<u64>>();
    is_plain_data::<LookupError>();
    is_plain_data::<NameError>();
    is_plain_data::<SpawnError>();
    is_plain_data::<StartError>();
    is_plain_data::<CyclePath>();
    is_plain_data::<Phase>();
}

#[test]
fn what_is_told_of_actors_is_plain_data() {
    is_plain_data::<ActorId>();
    is_plain_data::<ActorPath>();
    is_plain_data::<ActorState>();
    is_plain_data::<Backoff>();
    is_plain_data::<Budget>();
    is_plain_data::<ChildInfo>();
    is_plain_data::<Counters>();
    is_plain_data::<DeadLetter>();
    is_plain_data::<DeadLetterReason>();
    is_plain_data::<Directive>();
    is_plain_data::<FailureKind>();
    is_plain_data::<FailureOrigin>();
    is_plain_data::<FailureReport>();
    is_plain_data::<LifecycleEvent>();
    is_plain_data::<Mailbox>();
    is_plain_data::<Overflow>();
    is_plain_data::<RestartType>();
    is_plain_data::<ShutdownCause>();
    is_plain_data::<ShutdownReport>();
    is_plain_data::<StopReason>();
    is_plain_data::<Terminated>();
    is_plain_data::<Tree>();
    is_plain_data::<TreeNode>();
}

#[test]
fn references_and_systems_survive_a_caught_panic() {
    survives_a_caught_panic::<ActorRef<Lonely>>();
    survives_a_caught_panic::<LonelyRef>();
    survives_a_caught_panic::<WeakActorRef<Lonely>>();
    survives_a_caught_panic::<Recipient<u64>>();
    survives_a_caught_panic::<ActorSystem>();
    survives_a_caught_panic::<SystemBuilder>();
    survives_a_caught_panic::<Supervision>();
}
