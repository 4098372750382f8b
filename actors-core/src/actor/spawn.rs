//! How a user describes and spawns an actor, or reserves its name; `nest.rs` assembles it.

use std::any::type_name;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ecow::EcoString;
use tokio::sync::oneshot;

use crate::error::SpawnError;
use crate::mailbox::Mailbox;
use crate::supervision::{RestartType, StopReason, Supervision};
use crate::system::ActorSystem;
use crate::system::breed::Options;
use crate::system::member::Member;

use super::Actor;
use super::cell::Cell;
use super::factory::{Factory, IntoState, Source, once, source, with_args};
use super::nest::{Nest, OptionsOf};
use super::reference::ActorRef;
use super::starting::Starting;

/// Describes an actor to be spawned; made by [`ActorSystem::actor`] and [`ActorContext::actor`](crate::ActorContext::actor).
///
/// ```
/// # use actors_core::prelude::*;
/// # #[derive(Default)] struct Worker;
/// # #[actor] impl Worker { #[handler] fn work(&mut self, job: u64) -> u64 { job } }
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// # let system = ActorSystem::new("demo")?;
/// let worker = system
///     .actor(Worker::default)
///     .name("worker")
///     .mailbox(Mailbox::bounded(64))
///     .supervision(Supervision::one_for_one().restarts(3, within(secs(60))))
///     .spawn()?;
/// assert_eq!(worker.work(1).await?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[must_use = "nothing is spawned until `spawn`"]
pub struct Spawn<A: Actor> {
    nest: Nest,
    source: Box<dyn Source<A>>,
    name: Option<EcoString>,
    options: OptionsOf,
}

impl<A: Actor> Spawn<A> {
    pub(super) const fn new(nest: Nest, source: Box<dyn Source<A>>) -> Self {
        Self {
            nest,
            source,
            name: None,
            options: OptionsOf::Plain,
        }
    }

    /// Describes one whose state cannot be made again.
    pub(super) const fn once(nest: Nest, source: Box<dyn Source<A>>) -> Self {
        Self {
            nest,
            source,
            name: None,
            options: OptionsOf::Once,
        }
    }

    fn options(&mut self) -> &mut Options {
        self.options.own(self.nest.system())
    }

    /// Names the actor; without a name it gets one from the system, which starts with `$`.
    pub fn name(mut self, name: impl AsRef<str>) -> Self {
        self.name = Some(name.as_ref().into());
        self
    }

    /// Sets the mailbox.
    pub fn mailbox(mut self, mailbox: Mailbox) -> Self {
        self.options().mailbox = mailbox;
        self
    }

    /// Sets how many messages the actor handles before it gives up its thread.
    pub fn throughput(mut self, messages: u32) -> Self {
        self.options().throughput = messages;
        self
    }

    /// Sets how this actor's failures are judged, in place of the policy that its parent has for all its children. If the
    /// parent has an `#[on_failure]`, what that returns comes first, unless it is `None`.
    ///
    /// With whom an actor is restarted is always the parent's to say: of a policy with another strategy than one-for-one,
    /// set here, only the deciders count; and so it is under a parent with such a strategy.
    pub fn supervision(mut self, supervision: Supervision) -> Self {
        self.options().supervision = Some(supervision);
        self
    }

    /// Sets when the actor lives again after an end of its own making; [`RestartType::Transient`] unless set.
    pub fn restart_type(mut self, restart_type: RestartType) -> Self {
        self.options().restart_type = restart_type;
        self
    }

    /// Sets how long this actor has to end before its user code is cut.
    pub fn stop_timeout(mut self, timeout: Duration) -> Self {
        self.options().stop_timeout = timeout;
        self
    }

    /// Sets how long a handler of this actor may take before it is reported; see
    /// [`SystemBuilder::slow_handler`](crate::SystemBuilder::slow_handler).
    pub fn slow_handler(mut self, limit: Duration) -> Self {
        self.options().slow_handler = limit;
        self
    }

    /// Drains the actor when the last reference to it is gone. Its parent, watches, weak references and its own context
    /// do not count.
    pub fn stop_when_unreferenced(mut self) -> Self {
        self.options().counted = true;
        self
    }

    /// Spawns the actor. It can be told messages at once; its factory and `on_start` run on a worker.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] says what is wrong with the name or the options, or who is stopping.
    pub fn spawn(self) -> Result<A::Ref, SpawnError> {
        self.spawn_awaited(None)
    }

    /// Spawns the actor at the call, and lets its start be waited for; what can go wrong is an error of [`Starting`].
    ///
    /// ```
    /// # use actors_core::prelude::*;
    /// # struct Store;
    /// # #[actor] impl Store { #[handler] fn get(&mut self) -> u64 { 42 } }
    /// # impl Store { async fn open() -> Result<Self, std::io::Error> { Ok(Store) } }
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// # let system = ActorSystem::new("demo")?;
    /// let store = system.actor(Store::open).name("store").start().await?;
    /// assert_eq!(store.get().await?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn start(self) -> Starting<A> {
        let (awaited, started) = oneshot::channel();
        match self.spawn_awaited(Some(awaited)) {
            Ok(reference) => Starting::waiting(reference, started),
            Err(error) => Starting::refused(error),
        }
    }

    fn spawn_awaited(self, awaited: Option<oneshot::Sender<()>>) -> Result<A::Ref, SpawnError> {
        let cell = self.nest.assemble::<A>(self.name, &self.options)?;
        // Made before the actor runs, so that it is referenced from the beginning.
        let reference = ActorRef::new(Arc::clone(&cell));
        if awaited.is_some() {
            let mut awaited = awaited;
            cell.control(&mut |orders| orders.awaited = awaited.take());
        }
        if self.nest.launch(&cell, self.source) {
            Ok(A::Ref::from(reference))
        } else {
            Err(self.nest.closed())
        }
    }
}

impl<A: Actor> fmt::Debug for Spawn<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn")
            .field("actor", &type_name::<A>())
            .field("name", &self.name)
            .field("options", self.options.get(self.nest.system()))
            .finish_non_exhaustive()
    }
}

/// A name that is taken, and a reference that works, for an actor that is not spawned yet: messages wait for it.
///
/// Its place among its siblings, in start order, is that of the reservation.
///
/// So that two actors can know each other, or a factory can hold the reference to the very actor it makes: the wiring is in the
/// factories, and a restart does not lose it. Dropped, it frees the name, and what was told becomes dead letters.
#[must_use = "a reserved name is freed when this is dropped"]
pub struct Reserved<A: Actor> {
    nest: Nest,
    cell: Arc<Cell<A::Msg>>,
}

impl<A: Actor> Reserved<A> {
    pub(super) fn new(nest: Nest, name: &str) -> Result<Self, SpawnError> {
        let cell = nest.assemble::<A>(Some(name.into()), &OptionsOf::Plain)?;
        Ok(Self { nest, cell })
    }

    /// Returns the reference to the actor to come.
    pub fn reference(&self) -> A::Ref {
        A::Ref::from(ActorRef::new(Arc::clone(&self.cell)))
    }

    /// Spawns the actor at the call, and lets its start be waited for.
    pub fn start<M: 'static>(self, factory: impl Factory<A, M>) -> Starting<A> {
        let (awaited, started) = oneshot::channel();
        let mut awaited = Some(awaited);
        self.cell
            .control(&mut |orders| orders.awaited = awaited.take());
        match self.spawn(factory) {
            Ok(reference) => Starting::waiting(reference, started),
            Err(error) => Starting::refused(error),
        }
    }

    /// Spawns the actor, with the options that actors of the system have.
    ///
    /// # Errors
    ///
    /// [`SpawnError::ParentStopped`] or [`SpawnError::ShuttingDown`] if it was stopped before it began.
    pub fn spawn<M: 'static>(self, factory: impl Factory<A, M>) -> Result<A::Ref, SpawnError> {
        if self.nest.launch(&self.cell, source(factory)) {
            Ok(self.reference())
        } else {
            Err(self.nest.closed())
        }
    }
}

impl<A: Actor> Drop for Reserved<A> {
    fn drop(&mut self) {
        if self.cell.core.claim_birth() {
            let member: &dyn Member = &*self.cell;
            member.close_door();
            member.turn_out();
            member.finish(StopReason::Stopped);
        }
    }
}

impl<A: Actor> fmt::Debug for Reserved<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reserved({})", self.cell.core.path())
    }
}

impl ActorSystem {
    /// Spawns a top-level actor with a name. `factory` makes its state, afresh after each failure: `Fn() -> A`,
    /// `Fn() -> Result<A, E>`, or a future of that.
    ///
    /// Returns at once: the actor can be told messages, and its factory runs on a worker.
    ///
    /// # Errors
    ///
    /// [`SpawnError`]: the name is taken or no good, or the system is shutting down.
    pub fn spawn<A: Actor, M: 'static>(
        &self,
        name: impl AsRef<str>,
        factory: impl Factory<A, M>,
    ) -> Result<A::Ref, SpawnError> {
        self.actor(factory).name(name).spawn()
    }

    /// Spawns a top-level actor with a name at the call, and lets its start be waited for; what can go wrong is an error of
    /// [`Starting`].
    pub fn start<A: Actor, M: 'static>(
        &self,
        name: impl AsRef<str>,
        factory: impl Factory<A, M>,
    ) -> Starting<A> {
        self.actor(factory).name(name).start()
    }

    /// Spawns a top-level actor without a name; the system gives it one that starts with `$`.
    ///
    /// # Errors
    ///
    /// [`SpawnError::ShuttingDown`].
    pub fn spawn_anonymous<A: Actor, M: 'static>(
        &self,
        factory: impl Factory<A, M>,
    ) -> Result<A::Ref, SpawnError> {
        self.actor(factory).spawn()
    }

    /// Spawns a top-level actor whose factory gets a clone of `args` for each incarnation.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    pub fn spawn_with<A: Actor, M: 'static, P, R>(
        &self,
        name: impl AsRef<str>,
        args: P,
        factory: impl Fn(P) -> R + Send + Sync + 'static,
    ) -> Result<A::Ref, SpawnError>
    where
        P: Clone + Send + Sync + 'static,
        R: IntoState<A, M> + 'static,
    {
        self.spawn(name, with_args(args, factory))
    }

    /// Spawns a top-level actor with a state that cannot be made again: a restart acts as a stop.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    pub fn spawn_once<A: Actor>(
        &self,
        name: impl AsRef<str>,
        state: A,
    ) -> Result<A::Ref, SpawnError> {
        self.actor_once(state).name(name).spawn()
    }

    /// Starts to describe a top-level actor whose options differ from the defaults.
    pub fn actor<A: Actor, M: 'static>(&self, factory: impl Factory<A, M>) -> Spawn<A> {
        Spawn::new(Nest::top(self), source(factory))
    }

    /// Starts to describe a top-level actor whose state cannot be made again.
    pub fn actor_once<A: Actor>(&self, state: A) -> Spawn<A> {
        Spawn::once(Nest::top(self), once(state))
    }

    /// Takes a name and gives its reference before there is an actor, which has the place of this call in start order.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    pub fn reserve<A: Actor>(&self, name: impl AsRef<str>) -> Result<Reserved<A>, SpawnError> {
        Reserved::new(Nest::top(self), name.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::super::Message;
    use super::super::activation::activate;
    use super::super::context::ActorContext;
    use super::super::flow::Flow;
    use super::super::lifecycle::Life;
    use super::super::reply::{ReplyTo, WayBack};
    use super::*;
    use crate::system::breed::Breed;

    struct Counter {
        sum: u64,
    }

    type Add = (u64, ReplyTo<u64>);

    impl Message for Add {
        fn variant(&self) -> &'static str {
            "Add"
        }

        fn way_back(&self) -> Option<&dyn WayBack> {
            self.1.way_back()
        }
    }

    impl Actor for Counter {
        type Msg = Add;
        type Ref = ActorRef<Self>;

        fn receive<'a>(
            &'a mut self,
            (number, reply): Add,
            _: &'a mut ActorContext<Self>,
        ) -> Flow<'a> {
            self.sum += number;
            reply.send(self.sum);
            Flow::done()
        }
    }

    /// The sizes of what is kept of an idle actor: its cell, and the future in its task.
    fn sizes() -> (usize, usize) {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let _context = runtime.enter();
        let system = ActorSystem::new("test").unwrap();
        let nest = Nest::top(&system);
        let cell = nest.assemble::<Counter>(None, &OptionsOf::Plain).unwrap();
        let life = Life::new(Arc::clone(&cell), source(|| Counter { sum: 0 }));
        (size_of_val(&*cell), size_of_val(&*activate(life)))
    }

    fn counter() -> Counter {
        Counter { sum: 0 }
    }

    #[test]
    fn siblings_of_a_kind_share_what_they_have_in_common_and_others_do_not() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let _context = runtime.enter();
        let system = ActorSystem::new("test").unwrap();
        let bounded = |room| {
            let spawn = system.actor(counter).mailbox(Mailbox::bounded(room));
            spawn.spawn().unwrap()
        };
        let breed = |actor: &ActorRef<Counter>| std::ptr::from_ref::<Breed>(actor.core());
        let (one, two, three) = (bounded(1), bounded(2), bounded(1));
        assert_eq!(breed(&one), breed(&three));
        assert_ne!(breed(&one), breed(&two));
        let plain = [(); 2].map(|()| system.spawn_anonymous(counter).unwrap());
        assert_eq!(breed(&plain[0]), breed(&plain[1]));
        assert_ne!(breed(&plain[0]), breed(&one));
        let judged = || system.actor(counter).supervision(Supervision::resume());
        let judged = [(); 2].map(|()| judged().spawn().unwrap());
        assert_ne!(breed(&judged[0]), breed(&judged[1]));
    }

    #[test]
    fn children_are_found_by_their_names_however_many_come_and_go() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let _context = runtime.enter();
        let system = ActorSystem::new("test").unwrap();
        let mut here = std::collections::BTreeMap::new();
        // Pseudo-random, so that holes are everywhere; more come than go at first, and later the other way round.
        let mut seed = 1_u64;
        for step in 0..6_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (number, dice) = ((seed >> 33) % 1_000, seed >> 60);
            let name = format!("child-{number}");
            if dice < if step < 3_000 { 12 } else { 3 } {
                let reserved = system.reserve::<Counter>(&name);
                assert_eq!(reserved.is_err(), here.contains_key(&name), "{name}");
                here.extend(reserved.ok().map(|reserved| (name, reserved)));
            } else {
                here.remove(&name);
            }
            if step % 100 == 0 {
                for number in 0..1_000 {
                    let name = format!("child-{number}");
                    let found = system.lookup::<Counter>(&name).ok();
                    assert_eq!(found, here.get(&name).map(Reserved::reference), "{name}");
                }
            }
        }
        let family = &system.core.family;
        assert_eq!(family.len(), here.len());
        here.clear();
        assert_eq!(family.len(), 0);
    }

    #[test]
    fn an_actor_without_a_name_is_found_by_the_one_of_its_identity_alone() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let _context = runtime.enter();
        let system = ActorSystem::new("test").unwrap();
        let actor = system.spawn_anonymous(counter).unwrap();
        assert_eq!(actor.actor_path().to_string(), "/test/$1");
        assert_eq!(system.lookup::<Counter>("/test/$1").as_ref(), Ok(&actor));
        for other in ["$01", "$+1", "$", "1", "$2", "$1 "] {
            assert!(system.lookup::<Counter>(other).is_err(), "{other}");
        }
    }

    #[test]
    fn an_idle_actor_is_small() {
        let (cell, activation) = sizes();
        assert!(
            cell <= 176 && activation <= 152,
            "the cell takes {cell} bytes, the activation {activation}: what an idle actor does not use is to be made when it is needed"
        );
    }
}
