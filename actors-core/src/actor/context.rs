//! [`ActorContext`]: what an actor can do besides handling messages. It only delegates.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use async_task::Task;
use tokio::time::Instant;

use crate::dispatch::TaskInfo;
use crate::dispatch::turn;
use crate::error::SpawnError;
use crate::panic::{self, Guarded, PanicText};
use crate::path::{ActorId, ActorPath};
use crate::supervision::{Failure, FailureOrigin, RestartType, StopReason, Supervision};
use crate::system::ActorSystem;
use crate::system::end::WatchKey;
use crate::system::member::Member;
use crate::system::orders::{EndKind, Word};

use super::Actor;
use super::call::{Call, ReplyKind};
use super::cell::{Cell, Notice};
use super::factory::{Factory, IntoState, once, source, with_args};
use super::nest::Nest;
use super::recipient::Recipient;
use super::reference::ActorRef;
use super::spawn::{Reserved, Spawn};
use super::starting::Starting;
use super::stopping::order_end;

/// What a handler can do besides answering: spawn children, watch others, send to itself, stop, fail.
///
/// A handler gets it by taking `ctx: &mut ActorContext<Self>`. It belongs to one incarnation: watches, and results on their
/// way, end with it.
pub struct ActorContext<A: Actor> {
    cell: Arc<Cell<A::Msg>>,
    incarnation: u32,
    /// Most actors never need any of it.
    extras: Option<Box<Extras>>,
    actor: std::marker::PhantomData<fn() -> A>,
}

#[derive(Default)]
struct Extras {
    /// What [`Actor::supervision`] said, once it was asked.
    policy: Option<Option<Supervision>>,
    watched: HashMap<ActorId, Watched>,
    next_stamp: u64,
    pipes: Vec<Task<(), TaskInfo>>,
}

struct Watched {
    stamp: u64,
    member: Arc<dyn Member>,
}

impl<A: Actor> ActorContext<A> {
    pub(super) fn new(cell: Arc<Cell<A::Msg>>, incarnation: u32) -> Self {
        Self {
            cell,
            incarnation,
            extras: None,
            actor: std::marker::PhantomData,
        }
    }

    fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    pub(super) const fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Says whether the end of a watched actor is still wanted, and forgets the watch.
    pub(super) fn expects(&mut self, stamp: u64, id: ActorId) -> bool {
        let Some(extras) = self.extras.as_mut() else {
            return false;
        };
        let expected = extras
            .watched
            .get(&id)
            .is_some_and(|watched| watched.stamp == stamp);
        if expected {
            extras.watched.remove(&id);
        }
        expected
    }

    /// Ends what belongs to the incarnation: watches, and results on their way.
    pub(super) fn end_incarnation(&mut self) {
        let Some(extras) = self.extras.as_mut() else {
            return;
        };
        let key = WatchKey::Actor(self.cell.core.id);
        for (_, watched) in extras.watched.drain() {
            watched.member.core().end().unwatch(key);
        }
        extras.pipes.clear();
    }

    fn nest(&mut self) -> Nest {
        let policy = self
            .extras()
            .policy
            .get_or_insert_with(A::supervision)
            .clone();
        let parent = Arc::clone(&self.cell) as Arc<dyn Member>;
        Nest::under(parent, policy)
    }

    /// Returns a reference to this very actor. A message told through it waits behind those that are queued already.
    pub fn me(&self) -> A::Ref {
        A::Ref::from(ActorRef::new(Arc::clone(&self.cell)))
    }

    /// Returns the place of this actor in the tree.
    pub fn path(&self) -> &ActorPath {
        self.cell.core.kept_path()
    }

    /// Returns the identity of this actor, which stays through restarts and is never used again.
    pub fn id(&self) -> ActorId {
        self.cell.core.id
    }

    /// Returns how often this actor was restarted.
    pub fn restarts(&self) -> u32 {
        self.cell.core.restarts()
    }

    /// Returns the system. It does not count as a holder: it keeps the system from nothing.
    pub fn system(&self) -> ActorSystem {
        ActorSystem::within(&self.cell.core.system)
    }

    /// Returns the time by which the message that is handled must be answered, if its asker has set one. Asks made
    /// meanwhile wait no longer than that.
    pub fn deadline(&self) -> Option<Instant> {
        turn::deadline()
    }

    /// Spawns a child with a name; the child's policy is the one of this actor's type, unless set otherwise.
    ///
    /// # Errors
    ///
    /// As [`ActorSystem::spawn`].
    pub fn spawn<B: Actor, M: 'static>(
        &mut self,
        name: impl AsRef<str>,
        factory: impl Factory<B, M>,
    ) -> Result<B::Ref, SpawnError> {
        self.actor(factory).name(name).spawn()
    }

    /// Spawns a child with a name at the call, and lets its start be waited for; what can go wrong is an error of [`Starting`].
    pub fn start<B: Actor, M: 'static>(
        &mut self,
        name: impl AsRef<str>,
        factory: impl Factory<B, M>,
    ) -> Starting<B> {
        self.actor(factory).name(name).start()
    }

    /// Spawns a child whose factory gets a clone of `args` for each incarnation.
    ///
    /// # Errors
    ///
    /// As [`ActorSystem::spawn`].
    pub fn spawn_with<B: Actor, M: 'static, P, R>(
        &mut self,
        name: impl AsRef<str>,
        args: P,
        factory: impl Fn(P) -> R + Send + Sync + 'static,
    ) -> Result<B::Ref, SpawnError>
    where
        P: Clone + Send + Sync + 'static,
        R: IntoState<B, M> + 'static,
    {
        self.spawn(name, with_args(args, factory))
    }

    /// Spawns a child with a state that cannot be made again: a restart acts as a stop.
    ///
    /// # Errors
    ///
    /// As [`ActorSystem::spawn`].
    pub fn spawn_once<B: Actor>(
        &mut self,
        name: impl AsRef<str>,
        state: B,
    ) -> Result<B::Ref, SpawnError> {
        self.actor_once(state).name(name).spawn()
    }

    /// Spawns a child without a name.
    ///
    /// # Errors
    ///
    /// As [`ActorSystem::spawn_anonymous`].
    pub fn spawn_anonymous<B: Actor, M: 'static>(
        &mut self,
        factory: impl Factory<B, M>,
    ) -> Result<B::Ref, SpawnError> {
        self.actor(factory).spawn()
    }

    /// Starts to describe a child whose options differ from the defaults.
    pub fn actor<B: Actor, M: 'static>(&mut self, factory: impl Factory<B, M>) -> Spawn<B> {
        Spawn::new(self.nest(), source(factory))
    }

    /// Starts to describe a child whose state is given and cannot be made again: a restart acts as a stop.
    pub fn actor_once<B: Actor>(&mut self, state: B) -> Spawn<B> {
        Spawn::once(self.nest(), once(state))
    }

    /// Takes a name for a child and gives its reference before there is an actor, which has the place of this call in start
    /// order.
    ///
    /// # Errors
    ///
    /// As [`ActorSystem::spawn`].
    pub fn reserve<B: Actor>(&mut self, name: impl AsRef<str>) -> Result<Reserved<B>, SpawnError> {
        Reserved::new(self.nest(), name.as_ref())
    }

    /// Returns the paths of the children that live, in start order.
    pub fn children(&self) -> Vec<ActorPath> {
        let family = self.cell.core.existing_family();
        let members = family.map(|family| family.members()).unwrap_or_default();
        members.iter().map(|member| member.core().path()).collect()
    }

    /// Makes `#[on_terminated]` run once when `other` ends; at once (as the next entry of the queue) when it has ended. A
    /// restart of `other` is no end. The watch belongs to this incarnation (as in OTP): a restart of this actor ends it.
    pub fn watch<B: Actor>(&mut self, other: &ActorRef<B>) {
        let member = other.member();
        let id = member.core().id;
        if self.cell.core.is_abandoned() || self.extras().watched.contains_key(&id) {
            return;
        }
        // The incarnation is part of the stamp: a notice for an earlier one finds no watch.
        let incarnation = u64::from(self.incarnation) << 32;
        let extras = self.extras();
        extras.next_stamp += 1;
        let stamp = incarnation | extras.next_stamp;
        extras.watched.insert(
            id,
            Watched {
                stamp,
                member: Arc::clone(&member),
            },
        );
        let watcher = Arc::downgrade(&self.cell);
        let tell = move |end| {
            if let Some(watcher) = watcher.upgrade() {
                // A closed mailbox belongs to an actor that is ending, and wants to know no more.
                let _ = watcher.notify(Box::new(Notice::Terminated { stamp, end }));
            }
        };
        member
            .core()
            .end()
            .watch(WatchKey::Actor(self.cell.core.id), Box::new(tell));
    }

    /// Ends a watch: `#[on_terminated]` does not run for `other` any more, even if its end is queued already.
    pub fn unwatch<B: Actor>(&mut self, other: &ActorRef<B>) {
        let Some(extras) = self.extras.as_mut() else {
            return;
        };
        if let Some(watched) = extras.watched.remove(&other.actor_id()) {
            watched
                .member
                .core()
                .end()
                .unwatch(WatchKey::Actor(self.cell.core.id));
        }
    }

    /// Runs a future beside the actor, and brings its result back as a message: `ctx.pipe(ask, BankRef::rate_known)`.
    ///
    /// The result is dropped when this incarnation is gone by then, and the future with it. The message needs no room. A
    /// future that panics fails the actor.
    pub fn pipe<F, K>(
        &mut self,
        future: F,
        stub: impl for<'a> Fn(&'a A::Ref, F::Output) -> Call<'a, A, K, (F::Output,)> + Send + 'static,
    ) where
        F: Future<Output: Send + 'static> + Send + 'static,
        K: ReplyKind,
    {
        if self.cell.core.is_abandoned() {
            return;
        }
        let weak = Arc::downgrade(&self.cell);
        let incarnation = self.incarnation;
        // Both are dropped with the task, where a destructor that panics would end the process.
        let mut future = Guarded::new(Box::pin(future));
        let stub = Guarded::new(stub);
        let work = async move {
            let result = poll_fn(|cx| match panic::catch(|| future.as_mut().poll(cx)) {
                Ok(poll) => poll.map(Ok),
                Err(text) => Poll::Ready(Err(text)),
            })
            .await;
            let Some(cell) = weak.upgrade() else { return };
            let brought = match result {
                Ok(result) => bring::<A>(&cell, incarnation, |me| stub(me, result).into_untold()),
                Err(text) => Err(text),
            };
            match brought {
                Ok(refused) => cell.discard(refused),
                Err(text) => {
                    let failure = Failure::panic(text, FailureOrigin::Handler { variant: "pipe" });
                    cell.fail_incarnation(incarnation, failure);
                }
            }
        };
        let task = self.cell.core.system.run(self.cell.core.id, work);
        let pipes = &mut self.extras().pipes;
        if pipes.len() == pipes.capacity() {
            pipes.retain(|pipe| !pipe.is_finished());
        }
        pipes.push(task);
    }

    /// Returns this incarnation as a recipient of the arguments of one of its handlers: what arrives when it is gone is
    /// dropped. For replies: `other.price(item).reply_to(ctx.recipient(ShopRef::priced))`. The messages need no room.
    pub fn recipient<M: 'static, K: ReplyKind>(
        &self,
        stub: impl for<'a> Fn(&'a A::Ref, M) -> Call<'a, A, K, (M,)> + Send + Sync + 'static,
    ) -> Recipient<M> {
        let incarnation = self.incarnation;
        let weak = Arc::downgrade(&self.cell);
        Recipient::from_fn(move |message| {
            let Some(cell) = weak.upgrade() else { return };
            // Whatever panics has been reported by the panic hook; the teller has nothing to do with it.
            if let Ok(Some(refused)) =
                bring::<A>(&cell, incarnation, |me| stub(me, message).into_untold())
            {
                cell.tell(move || refused);
            }
        })
    }

    /// Ends this actor after the current message, as [`ActorRef::stop`] does, unless it is
    /// [permanent](crate::RestartType::Permanent): then it restarts, and that counts as after a failure.
    pub fn stop(&mut self) {
        if self.cell.core.options.restart_type == RestartType::Permanent {
            return self.cell.say(self.incarnation, Word::Ended);
        }
        let me = Arc::clone(&self.cell) as Arc<dyn Member>;
        drop(order_end(me, EndKind::Stop, StopReason::Stopped, None));
    }

    /// Gives this actor a fresh state when the current handler has returned: `on_restart` runs, then the factory and
    /// `on_start`, and the mailbox is kept. It is no failure: it does not count, waits for no back-off, and leaves siblings
    /// alone. Called while the actor starts, it is a failed start; one that never restarts stops instead.
    pub fn restart(&mut self) {
        self.cell.say(self.incarnation, Word::Restart);
    }

    /// Fails this actor when the current handler has returned: its supervisor decides what happens. The handler's reply goes
    /// out all the same, and its message counts as handled.
    pub fn fail(&mut self, failure: impl Into<Failure>) {
        let failure = failure.into();
        let failure = match self.cell.core.handler() {
            Some(variant) => failure.at(FailureOrigin::Handler { variant }),
            None => failure,
        };
        self.cell.fail_incarnation(self.incarnation, failure);
    }
}

/// Queues a message for one incarnation; gives it back when the mailbox is closed. `make` is user code: its panic is caught.
fn bring<A: Actor>(
    cell: &Arc<Cell<A::Msg>>,
    incarnation: u32,
    make: impl FnOnce(&A::Ref) -> A::Msg,
) -> Result<Option<A::Msg>, PanicText> {
    let me = A::Ref::from(ActorRef::new(Arc::clone(cell)));
    let message = panic::catch(|| make(&me))?;
    let refused = cell.notify(Box::new(Notice::Stamped {
        incarnation,
        message,
    }));
    Ok(refused.err().and_then(|notice| notice.into_message()))
}

impl<A: Actor> fmt::Debug for ActorContext<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActorContext")
            .field("actor", &self.cell)
            .field("incarnation", &self.incarnation)
            .finish_non_exhaustive()
    }
}
