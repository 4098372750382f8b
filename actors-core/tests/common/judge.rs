//! A parent that decides itself about the failures of its children, as a test tells it to.

use std::sync::Arc;

use actors_core::prelude::*;
use futures::future::BoxFuture;

use super::puppet::{PuppetRef, Script};
use super::{Gate, Log};

/// Something for a judge to do in a handler.
pub(crate) type Act = Box<dyn FnOnce(&mut ActorContext<Judge>) + Send>;

type Decide = Arc<dyn Fn(&mut Case<'_>) -> Option<Directive> + Send + Sync>;

/// What a judge decides about.
pub(crate) struct Case<'a> {
    /// How many failures this incarnation has seen, this one included.
    pub(crate) failures: u32,
    pub(crate) ctx: &'a mut ActorContext<Judge>,
    pub(crate) failure: &'a Failure,
    pub(crate) child: &'a ChildInfo,
}

/// How a judge is made. A clone of it makes each incarnation.
#[derive(Clone)]
pub(crate) struct Court {
    name: &'static str,
    log: Log,
    decide: Decide,
    child_at_start: Option<(Script, Supervision)>,
}

impl Court {
    pub(crate) fn new(
        name: &'static str,
        log: &Log,
        decide: impl Fn(&mut Case<'_>) -> Option<Directive> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            log: log.clone(),
            decide: Arc::new(decide),
            child_at_start: None,
        }
    }

    /// One that always says the same.
    pub(crate) fn of(name: &'static str, log: &Log, directive: Directive) -> Self {
        Self::new(name, log, move |_| Some(directive))
    }

    /// Starts a child in `on_start`, and waits for it.
    pub(crate) fn awaiting(mut self, child: Script, policy: Supervision) -> Self {
        self.child_at_start = Some((child, policy));
        self
    }

    pub(crate) fn factory(&self) -> impl Fn() -> Judge + Send + Sync + 'static {
        let court = self.clone();
        move || Judge {
            court: court.clone(),
            failures: 0,
        }
    }

    /// Spawns a top-level judge named as the court.
    pub(crate) fn spawn(&self, system: &ActorSystem) -> JudgeRef {
        self.supervised(system, Supervision::restart())
    }

    /// Spawns a top-level judge with a policy.
    pub(crate) fn supervised(&self, system: &ActorSystem, policy: Supervision) -> JudgeRef {
        system
            .actor(self.factory())
            .name(self.name)
            .supervision(policy)
            .spawn()
            .unwrap()
    }
}

/// Decides as it is told.
pub(crate) struct Judge {
    court: Court,
    failures: u32,
}

impl Judge {
    fn log(&self, text: impl std::fmt::Display) {
        self.court
            .log
            .add(format_args!("{} {text}", self.court.name));
    }
}

#[actor]
impl Judge {
    #[on_start]
    async fn start(&mut self, ctx: &mut ActorContext<Self>) {
        if let Some((child, policy)) = self.court.child_at_start.clone() {
            let started = ctx
                .actor(child.factory())
                .name(child.name())
                .supervision(policy)
                .start()
                .await;
            let is_up = if started.is_ok() { "up" } else { "down" };
            self.log(format_args!("found {} {is_up}", child.name()));
        }
    }

    #[on_stop]
    fn end(&mut self, reason: &StopReason) {
        self.log(format_args!("on_stop: {reason}"));
    }

    #[on_restart]
    fn replaced(&mut self, cause: &Failure) {
        self.log(format_args!("on_restart: {}", cause.text()));
    }

    #[on_terminated]
    fn gone(&mut self, who: Terminated) {
        self.log(format_args!("saw {} end: {}", who.path.name(), who.reason));
    }

    #[on_failure]
    fn decide(
        &mut self,
        ctx: &mut ActorContext<Self>,
        failure: &Failure,
        child: &ChildInfo,
    ) -> Option<Directive> {
        self.failures += 1;
        self.log(format_args!("judges {}: {}", child.name(), failure.text()));
        let decide = Arc::clone(&self.court.decide);
        decide(&mut Case {
            failures: self.failures,
            ctx,
            failure,
            child,
        })
    }

    #[handler]
    pub(crate) fn note(&mut self, text: &'static str) {
        self.log(text);
    }

    /// Spawns a child named as its script, with the default policy.
    #[handler]
    pub(crate) fn adopt(&mut self, ctx: &mut ActorContext<Self>, child: Script) -> PuppetRef {
        ctx.spawn(child.name(), child.factory()).unwrap()
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
            .name(child.name())
            .supervision(policy)
            .spawn()
            .unwrap()
    }

    /// Spawns a judge below this one.
    #[handler]
    pub(crate) fn seat(&mut self, ctx: &mut ActorContext<Self>, below: Court) -> JudgeRef {
        ctx.spawn(below.name, below.factory()).unwrap()
    }

    /// Waits until a child has started, or has ended before that.
    #[handler]
    pub(crate) async fn await_start(
        &mut self,
        ctx: &mut ActorContext<Self>,
        child: Script,
        policy: Supervision,
    ) -> bool {
        let spawn = ctx
            .actor(child.factory())
            .name(child.name())
            .supervision(policy);
        spawn.start().await.is_ok()
    }

    /// Waits at a gate.
    #[handler]
    pub(crate) async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
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
    }
}
