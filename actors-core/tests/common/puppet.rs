//! An actor that does what a test tells it to, and logs what happens to it.

use std::fmt;
use std::sync::Arc;

use actors_core::Factory;
use actors_core::prelude::*;
use futures::future::BoxFuture;

use super::{Gate, Log};

/// Something for a puppet to do in a handler.
pub(crate) type Act = Box<dyn FnOnce(&mut ActorContext<Puppet>) + Send>;

type Hook<T> = Arc<dyn Fn(&mut ActorContext<Puppet>) -> BoxFuture<'static, T> + Send + Sync>;

/// The error of a puppet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Oops(pub(crate) &'static str);

impl fmt::Display for Oops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oops: {}", self.0)
    }
}

impl std::error::Error for Oops {}

/// How a puppet is made. A clone of it makes each incarnation.
#[derive(Clone)]
pub(crate) struct Script {
    name: &'static str,
    log: Log,
    on_start: Option<Hook<Result<(), Failure>>>,
    on_stop: Option<Hook<()>>,
    on_restart: Option<Hook<()>>,
}

impl Script {
    pub(crate) fn new(name: &'static str, log: &Log) -> Self {
        Self {
            name,
            log: log.clone(),
            on_start: None,
            on_stop: None,
            on_restart: None,
        }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Sets what happens in `on_start`: something at once, and then a future that has no context any more.
    pub(crate) fn on_start(
        mut self,
        hook: impl Fn(&mut ActorContext<Puppet>) -> BoxFuture<'static, Result<(), Failure>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.on_start = Some(Arc::new(hook));
        self
    }

    /// Spawns children in `on_start`, each named as its script.
    pub(crate) fn children(self, children: impl IntoIterator<Item = Self>) -> Self {
        let children: Vec<Self> = children.into_iter().collect();
        self.on_start(move |ctx| {
            for child in &children {
                ctx.spawn(child.name, child.factory()).unwrap();
            }
            Box::pin(async { Ok(()) })
        })
    }

    pub(crate) fn on_stop(
        mut self,
        hook: impl Fn(&mut ActorContext<Puppet>) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.on_stop = Some(Arc::new(hook));
        self
    }

    pub(crate) fn on_restart(
        mut self,
        hook: impl Fn(&mut ActorContext<Puppet>) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.on_restart = Some(Arc::new(hook));
        self
    }

    /// Makes `on_restart` wait at a gate.
    pub(crate) fn restart_at(self, gate: &Gate) -> Self {
        let gate = gate.clone();
        self.on_restart(move |_| {
            let gate = gate.clone();
            Box::pin(async move { gate.pass().await })
        })
    }

    /// Makes `on_start` wait at a gate.
    pub(crate) fn start_at(self, gate: &Gate) -> Self {
        let gate = gate.clone();
        self.on_start(move |_| {
            let gate = gate.clone();
            Box::pin(async move {
                gate.pass().await;
                Ok(())
            })
        })
    }

    /// Makes `on_start` wait at a gate, from the second incarnation on.
    pub(crate) fn start_again_at(self, gate: &Gate) -> Self {
        let gate = gate.clone();
        self.on_start(move |ctx| {
            let gate = (ctx.restarts() > 0).then(|| gate.clone());
            Box::pin(async move {
                if let Some(gate) = gate {
                    gate.pass().await;
                }
                Ok(())
            })
        })
    }

    /// Makes `on_start` fail in the incarnations with these numbers.
    pub(crate) fn no_start<const N: usize>(self, incarnations: [u32; N]) -> Self {
        self.no_start_if(move |incarnation| incarnations.contains(&incarnation))
    }

    /// Makes `on_start` fail the first `times` times.
    pub(crate) fn no_start_at_first(self, times: u32) -> Self {
        self.no_start_if(move |incarnation| incarnation < times)
    }

    fn no_start_if(self, fails: impl Fn(u32) -> bool + Send + Sync + 'static) -> Self {
        self.on_start(move |ctx| {
            let fails = fails(ctx.restarts());
            Box::pin(async move {
                if fails {
                    return Err(Oops("no start").into());
                }
                Ok(())
            })
        })
    }

    /// Makes `on_stop` wait at a gate.
    pub(crate) fn stop_at(self, gate: &Gate) -> Self {
        let gate = gate.clone();
        self.on_stop(move |_| {
            let gate = gate.clone();
            Box::pin(async move { gate.pass().await })
        })
    }

    pub(crate) fn factory(&self) -> impl Fn() -> Puppet + Send + Sync + 'static {
        let script = self.clone();
        move || {
            script.log.add(format_args!("{} made", script.name));
            Puppet {
                script: script.clone(),
                notes: 0,
            }
        }
    }

    /// Spawns a top-level puppet named as the script.
    pub(crate) fn spawn(&self, system: &ActorSystem) -> PuppetRef {
        system.spawn(self.name, self.factory()).unwrap()
    }

    /// Spawns a top-level puppet with a policy.
    pub(crate) fn supervised(&self, system: &ActorSystem, policy: Supervision) -> PuppetRef {
        system
            .actor(self.factory())
            .name(self.name)
            .supervision(policy)
            .spawn()
            .unwrap()
    }
}

/// Spawns a child of any type under a puppet.
pub(crate) async fn spawn_under<B: Actor, M: 'static>(
    parent: &PuppetRef,
    name: &'static str,
    factory: impl Factory<B, M> + 'static,
) -> B::Ref {
    let (given, spawned) = tokio::sync::oneshot::channel();
    let spawn = move |ctx: &mut ActorContext<Puppet>| {
        drop(given.send(ctx.spawn(name, factory).unwrap()));
    };
    parent.act(Box::new(spawn)).tell();
    spawned.await.unwrap()
}

/// Does what it is told.
pub(crate) struct Puppet {
    script: Script,
    notes: u32,
}

impl Puppet {
    fn log(&self, text: impl fmt::Display) {
        self.script
            .log
            .add(format_args!("{} {text}", self.script.name));
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        self.log("dropped");
    }
}

#[actor]
impl Puppet {
    #[on_start]
    async fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Failure> {
        let hook = self.script.on_start.clone();
        if let Some(hook) = hook {
            hook(ctx).await?;
        }
        self.log("started");
        Ok(())
    }

    #[on_stop]
    async fn end(&mut self, ctx: &mut ActorContext<Self>, reason: &StopReason) {
        self.log(format_args!("on_stop: {reason}"));
        let hook = self.script.on_stop.clone();
        if let Some(hook) = hook {
            hook(ctx).await;
            self.log("on_stop done");
        }
    }

    #[on_restart]
    async fn replaced(&mut self, ctx: &mut ActorContext<Self>, cause: &Failure) {
        self.log(format_args!("on_restart: {}", cause.text()));
        let hook = self.script.on_restart.clone();
        if let Some(hook) = hook {
            hook(ctx).await;
            self.log("on_restart done");
        }
    }

    #[on_terminated]
    fn gone(&mut self, who: Terminated) {
        self.log(format_args!("saw {} end: {}", who.path.name(), who.reason));
    }

    /// Answers how many notes this incarnation has had, this one included.
    #[handler]
    pub(crate) fn note(&mut self, text: &'static str) -> u32 {
        self.log(text);
        self.notes += 1;
        self.notes
    }

    #[handler]
    pub(crate) fn number(&mut self, number: u32) {
        self.log(format_args!("number {number}"));
    }

    #[handler]
    pub(crate) fn crash(&mut self, text: &'static str) {
        panic!("{text}");
    }

    /// Crashes when the gate is open.
    #[handler]
    pub(crate) async fn crash_at(&mut self, gate: Gate, text: &'static str) {
        gate.pass().await;
        panic!("{text}");
    }

    #[handler]
    pub(crate) fn refuse(&mut self, text: &'static str) -> Result<u32, Oops> {
        Err(Oops(text))
    }

    #[handler(err_is_failure)]
    pub(crate) fn give_up(&mut self, text: &'static str) -> Result<u32, Oops> {
        Err(Oops(text))
    }

    /// Fails, after it has answered.
    #[handler]
    pub(crate) fn answer_and_fail(
        &mut self,
        ctx: &mut ActorContext<Self>,
        text: &'static str,
    ) -> u32 {
        ctx.fail(Oops(text));
        self.notes
    }

    /// Waits at a gate.
    #[handler]
    pub(crate) async fn hold(&mut self, gate: Gate) {
        let log = self.script.log.clone();
        let name = self.script.name;
        let _left = Left(move || log.add(format_args!("{name} left the gate")));
        gate.pass().await;
        self.log("passed the gate");
    }

    /// Holds its thread at a gate.
    #[handler]
    pub(crate) fn block(&mut self, gate: Gate) {
        gate.block();
        self.log("passed the gate");
    }

    #[handler]
    pub(crate) fn act(&mut self, ctx: &mut ActorContext<Self>, act: Act) {
        act(ctx);
    }

    /// Waits for a future.
    #[handler]
    pub(crate) async fn wait_for(&mut self, future: BoxFuture<'static, ()>) {
        future.await;
        self.log("waited");
    }

    #[handler]
    pub(crate) fn watch_over(&mut self, ctx: &mut ActorContext<Self>, other: PuppetRef) {
        ctx.watch(&other);
    }

    #[handler]
    pub(crate) fn look_away(&mut self, ctx: &mut ActorContext<Self>, other: PuppetRef) {
        ctx.unwatch(&other);
    }

    /// Spawns a child named as its script.
    #[handler]
    pub(crate) fn adopt(&mut self, ctx: &mut ActorContext<Self>, child: Script) -> PuppetRef {
        ctx.spawn(child.name, child.factory()).unwrap()
    }

    /// Spawns a child with a policy of its own.
    #[handler]
    pub(crate) fn adopt_with(
        &mut self,
        ctx: &mut ActorContext<Self>,
        child: Script,
        policy: Supervision,
    ) -> PuppetRef {
        ctx.actor(child.factory())
            .name(child.name)
            .supervision(policy)
            .spawn()
            .unwrap()
    }
}

/// Calls a function when it is dropped.
struct Left<F: FnMut()>(F);

impl<F: FnMut()> Drop for Left<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
