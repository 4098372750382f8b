//! A parent of puppets, whose policy for them is the system's, and what the puppets do.

use std::time::Duration;

use actors_core::Spawn;
use actors_core::prelude::*;
use tokio::sync::oneshot;

use super::puppet::{Puppet, PuppetRef, Script};
use super::world::in_virtual_time_with;
use super::{Log, settle};

/// A parent with its children.
pub(crate) struct Troupe {
    pub(crate) system: ActorSystem,
    pub(crate) parent: PuppetRef,
    /// What the children do; the parent has a log of its own.
    pub(crate) log: Log,
    pub(crate) parents_log: Log,
}

impl Troupe {
    pub(crate) fn new(system: &ActorSystem) -> Self {
        let parents_log = Log::default();
        Self {
            system: system.clone(),
            parent: Script::new("parent", &parents_log).spawn(system),
            log: Log::default(),
            parents_log,
        }
    }

    pub(crate) fn script(&self, name: &'static str) -> Script {
        Script::new(name, &self.log)
    }

    pub(crate) async fn add(&self, name: &'static str) -> PuppetRef {
        self.add_script(self.script(name)).await
    }

    pub(crate) async fn add_script(&self, script: Script) -> PuppetRef {
        self.add_as(script, |spawn| spawn).await
    }

    pub(crate) async fn add_typed(&self, name: &'static str, kind: RestartType) -> PuppetRef {
        self.add_as(self.script(name), move |spawn| spawn.restart_type(kind))
            .await
    }

    /// Adds a child with options of its own, and waits until nothing can run any more.
    pub(crate) async fn add_as(
        &self,
        script: Script,
        options: impl FnOnce(Spawn<Puppet>) -> Spawn<Puppet> + Send + 'static,
    ) -> PuppetRef {
        let (give, given) = oneshot::channel();
        let adopt = move |ctx: &mut ActorContext<Puppet>| {
            let child = options(ctx.actor(script.factory()).name(script.name()));
            give.send(child.spawn().unwrap()).unwrap();
        };
        self.parent.act(Box::new(adopt)).tell();
        let child = given.await.unwrap();
        calm().await;
        child
    }

    pub(crate) async fn add_all<const N: usize>(&self, names: [&'static str; N]) -> [PuppetRef; N] {
        let mut children = Vec::new();
        for name in names {
            children.push(self.add(name).await);
        }
        let Ok(children) = children.try_into() else {
            unreachable!("one for each name")
        };
        self.log.take();
        children
    }

    /// The children that live, in start order, each with the number of its restarts.
    pub(crate) fn restarts(&self) -> Vec<(String, u32)> {
        self.system
            .tree()
            .nodes()
            .iter()
            .filter(|node| node.depth == 2)
            .map(|node| (node.path.name().to_owned(), node.restarts))
            .collect()
    }

    /// Checks who lives, and how often each was restarted.
    #[track_caller]
    pub(crate) fn expect_restarts(&self, expected: &[(&str, u32)]) {
        let restarts = self.restarts();
        let restarts: Vec<_> = restarts
            .iter()
            .map(|(name, count)| (&**name, *count))
            .collect();
        assert_eq!(restarts, expected);
    }

    /// Lets a child panic, and everything happen that comes of it without the clock.
    pub(crate) async fn crash(&self, child: &PuppetRef) {
        child.crash("boom").tell();
        calm().await;
    }
}

/// Runs a test with a parent whose children are restarted as the policy says.
#[track_caller]
pub(crate) fn together<T>(policy: Supervision, test: T)
where
    T: AsyncFnOnce(Troupe) + Send + 'static,
{
    in_virtual_time_with(
        move |builder| builder.supervision(policy),
        async move |system| test(Troupe::new(&system)).await,
    );
}

/// All are restarted, without a wait.
pub(crate) fn one_for_all() -> Supervision {
    Supervision::one_for_all().backoff(Backoff::none())
}

/// The failed one and the younger ones are restarted, without a wait.
pub(crate) fn rest_for_one() -> Supervision {
    Supervision::rest_for_one().backoff(Backoff::none())
}

/// A policy with the same wait before each restart.
pub(crate) fn waiting(policy: Supervision, wait: Duration) -> Supervision {
    policy.backoff(Backoff::fixed(wait))
}

/// Lets everything run that can run now, in many steps, without moving the clock.
pub(crate) async fn calm() {
    for _ in 0..8 {
        settle().await;
    }
}

/// The lines that a puppet writes as it makes room for its next incarnation.
pub(crate) fn going(name: &str) -> [String; 2] {
    [
        format!("{name} on_restart: boom"),
        format!("{name} dropped"),
    ]
}

/// The lines that a puppet writes as it comes.
pub(crate) fn coming(name: &str) -> [String; 2] {
    [format!("{name} made"), format!("{name} started")]
}

/// What the children do that go and come, the later ones first in going and last in coming.
pub(crate) fn round(names: &[&str]) -> Vec<String> {
    let gone = names.iter().rev().flat_map(|name| going(name));
    gone.chain(names.iter().flat_map(|name| coming(name)))
        .collect()
}
