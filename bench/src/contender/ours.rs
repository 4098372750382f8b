//! Ours, through the generated stubs.

use std::sync::Arc;
use std::time::Duration;

use actors_core::prelude::*;
use tokio::sync::oneshot;

use crate::latch::Latch;

use super::{Contender, Grow, Manners, Seed, alive, on_tokio, slowly};

#[derive(Clone, Debug)]
pub(crate) struct Ours(ActorSystem);

impl Contender for Ours {
    type Counter = CounterRef;
    type Consumer = CounterRef;
    type Node = NodeRef;
    type Guest = GuestRef;

    fn run<T, W, F>(threads: usize, work: W) -> T
    where
        T: Send + 'static,
        W: FnOnce(Self) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        on_tokio(threads, async {
            let system = alive(ActorSystem::new("bench"));
            let result = work(Self(system.clone())).await;
            system.shutdown().await;
            result
        })
    }

    fn task(&self, _: usize, work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(work);
    }

    async fn counter(&self, _: usize, number: u64) -> CounterRef {
        alive(self.0.spawn(format!("counter-{number}"), Counter::default))
    }

    async fn consumer(&self, _: usize, capacity: usize) -> Option<CounterRef> {
        let consumer = self.0.actor(Counter::default);
        Some(alive(consumer.mailbox(Mailbox::bounded(capacity)).spawn()))
    }

    async fn node(&self, _: usize, end: Arc<Latch>) -> NodeRef {
        alive(self.0.spawn_anonymous(move || Node {
            next: None,
            seen: 0,
            end: Arc::clone(&end),
        }))
    }

    async fn guest(&self, _: usize, seed: Seed) -> GuestRef {
        alive(self.0.spawn_anonymous(move || Guest {
            manners: Manners::new(seed.clone()),
            all: Arc::new([]),
            answered: 0,
        }))
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let (root, sum) = oneshot::channel();
        let tree = self.0.actor_once(Tree::under(Parent::Asker(Some(root))));
        alive(tree.spawn()).grow(Grow::all(leaves)).tell();
        alive(sum.await)
    }
}

impl Ours {
    /// Ends all actors, and says how many there were.
    pub(crate) async fn shutdown(&self) -> u64 {
        self.0.shutdown().await.total()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter {
    sum: u64,
}

#[actor]
impl Counter {
    #[handler]
    fn add(&mut self, number: u64) -> u64 {
        self.sum += number;
        self.sum
    }

    #[handler]
    fn add_counted(&mut self, number: u64, latch: Arc<Latch>) {
        self.sum += number;
        latch.count_down();
    }

    #[handler]
    fn add_slowly(&mut self, number: u64) {
        self.sum += slowly(number);
    }
}

impl super::Counter for CounterRef {
    fn add(&self, number: u64) {
        self.add(number).tell();
    }

    fn add_counted(&self, number: u64, latch: Arc<Latch>) {
        self.add_counted(number, latch).tell();
    }

    async fn ask(&self, number: u64) -> u64 {
        alive(self.add(number).await)
    }

    async fn ask_without_timeout(&self, number: u64) -> u64 {
        alive(self.add(number).ask().timeout(Duration::MAX).await)
    }
}

impl super::Consumer for CounterRef {
    async fn put(&self, number: u64) {
        alive(self.add_slowly(number).enqueue().await);
    }

    async fn sum(&self) -> u64 {
        alive(self.add(0).ask().wait_for_room().await)
    }
}

#[derive(Debug)]
pub(crate) struct Node {
    next: Option<NodeRef>,
    seen: u64,
    end: Arc<Latch>,
}

#[actor]
impl Node {
    #[handler]
    fn link(&mut self, next: Option<NodeRef>) {
        self.next = next;
    }

    #[handler]
    fn token(&mut self, left: u64) {
        self.seen += 1;
        match &self.next {
            Some(next) if left > 0 => next.token(left - 1).tell(),
            _ => self.end.count_down(),
        }
    }

    #[handler]
    fn seen(&mut self) -> u64 {
        self.seen
    }
}

impl super::Node for NodeRef {
    fn link(&self, next: Option<&Self>) {
        self.link(next.cloned()).tell();
    }

    fn token(&self, left: u64) {
        self.token(left).tell();
    }

    async fn seen(&self) -> u64 {
        alive(self.seen().await)
    }
}

#[derive(Debug)]
pub(crate) struct Guest {
    manners: Manners,
    all: Arc<[GuestRef]>,
    answered: u64,
}

#[actor]
impl Guest {
    #[handler]
    fn begin(&mut self, all: Arc<[GuestRef]>) {
        self.all = all;
        self.pong();
    }

    #[handler]
    fn ping(&mut self, from: GuestRef) {
        self.answered += 1;
        from.pong().tell();
    }

    #[handler]
    fn pong(&mut self) {
        if let Some(other) = self.manners.next(self.all.len()) {
            let own = self.all[self.manners.own()].clone();
            self.all[other].ping(own).tell();
        }
    }

    #[handler]
    fn answered(&mut self) -> u64 {
        self.answered
    }
}

impl super::Guest for GuestRef {
    fn begin(&self, all: Arc<[Self]>) {
        self.begin(all).tell();
    }

    async fn answered(&self) -> u64 {
        alive(self.answered().await)
    }
}

#[derive(Debug)]
enum Parent {
    Tree(TreeRef),
    Asker(Option<oneshot::Sender<u64>>),
}

#[derive(Debug)]
pub(crate) struct Tree {
    parent: Parent,
    waiting: u32,
    sum: u64,
}

impl Tree {
    const fn under(parent: Parent) -> Self {
        Self {
            parent,
            waiting: 0,
            sum: 0,
        }
    }

    fn finish(&mut self, sum: u64, ctx: &mut ActorContext<Self>) {
        match &mut self.parent {
            Parent::Tree(parent) => parent.add(sum).tell(),
            Parent::Asker(asker) => {
                if let Some(asker) = asker.take() {
                    alive(asker.send(sum));
                }
            }
        }
        ctx.stop();
    }
}

#[actor]
impl Tree {
    #[handler]
    fn grow(&mut self, grow: Grow, ctx: &mut ActorContext<Self>) {
        if grow.is_leaf() {
            return self.finish(grow.first, ctx);
        }
        for part in grow.parts() {
            self.waiting += 1;
            let child = Self::under(Parent::Tree(ctx.me()));
            alive(ctx.actor_once(child).spawn()).grow(part).tell();
        }
    }

    #[handler]
    fn add(&mut self, number: u64, ctx: &mut ActorContext<Self>) {
        self.sum += number;
        self.waiting -= 1;
        if self.waiting == 0 {
            self.finish(self.sum, ctx);
        }
    }
}
