//! ractor. It has no bounded mailboxes of its own.

use std::sync::Arc;

use ractor::rpc::CallResult;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::oneshot;

use crate::latch::Latch;

use super::{ASK_TIMEOUT, Contender, Grow, Manners, Seed, alive, on_tokio};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ractor;

impl Contender for Ractor {
    type Counter = ActorRef<CounterMessage>;
    type Consumer = NoConsumer;
    type Node = ActorRef<NodeMessage>;
    type Guest = ActorRef<GuestMessage>;

    fn run<T, W, F>(threads: usize, work: W) -> T
    where
        T: Send + 'static,
        W: FnOnce(Self) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        on_tokio(threads, async { work(Self).await })
    }

    fn task(&self, _: usize, work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(work);
    }

    async fn counter(&self, _: usize, _: u64) -> ActorRef<CounterMessage> {
        alive(Actor::spawn(None, Counter, ()).await).0
    }

    async fn consumer(&self, _: usize, _: usize) -> Option<NoConsumer> {
        None
    }

    async fn node(&self, _: usize, end: Arc<Latch>) -> ActorRef<NodeMessage> {
        alive(Actor::spawn(None, Node, end).await).0
    }

    async fn guest(&self, _: usize, seed: Seed) -> ActorRef<GuestMessage> {
        alive(Actor::spawn(None, Guest, seed).await).0
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let (root, sum) = oneshot::channel();
        let (tree, _) = alive(Actor::spawn(None, Tree, Parent::Asker(Some(root))).await);
        alive(tree.cast(TreeMessage::Grow(Grow::all(leaves))));
        alive(sum.await)
    }
}

/// What a call returned that is answered in time.
fn answer<T, E>(result: Result<CallResult<T>, E>) -> T {
    match alive(result) {
        CallResult::Success(value) => value,
        CallResult::Timeout | CallResult::SenderError => panic!("the actor answers"),
    }
}

struct Counter;

pub(crate) enum CounterMessage {
    Add(u64),
    AddCounted(u64, Arc<Latch>),
    AddAndAnswer(u64, RpcReplyPort<u64>),
}

impl Actor for Counter {
    type Msg = CounterMessage;
    type State = u64;
    type Arguments = ();

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        (): (),
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        message: Self::Msg,
        sum: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            CounterMessage::Add(number) => *sum += number,
            CounterMessage::AddCounted(number, latch) => {
                *sum += number;
                latch.count_down();
            }
            CounterMessage::AddAndAnswer(number, reply) => {
                *sum += number;
                reply.send(*sum)?;
            }
        }
        Ok(())
    }
}

impl super::Counter for ActorRef<CounterMessage> {
    fn add(&self, number: u64) {
        alive(self.cast(CounterMessage::Add(number)));
    }

    fn add_counted(&self, number: u64, latch: Arc<Latch>) {
        alive(self.cast(CounterMessage::AddCounted(number, latch)));
    }

    async fn ask(&self, number: u64) -> u64 {
        let ask = |reply| CounterMessage::AddAndAnswer(number, reply);
        answer(self.call(ask, Some(ASK_TIMEOUT)).await)
    }

    async fn ask_without_timeout(&self, number: u64) -> u64 {
        let ask = |reply| CounterMessage::AddAndAnswer(number, reply);
        answer(self.call(ask, None).await)
    }
}

/// There is none.
pub(crate) enum NoConsumer {}

impl super::Consumer for NoConsumer {
    async fn put(&self, _: u64) {
        match *self {}
    }

    async fn sum(&self) -> u64 {
        match *self {}
    }
}

struct Node;

struct NodeState {
    next: Option<ActorRef<NodeMessage>>,
    seen: u64,
    end: Arc<Latch>,
}

pub(crate) enum NodeMessage {
    Link(Option<ActorRef<Self>>),
    Token(u64),
    Seen(RpcReplyPort<u64>),
}

impl Actor for Node {
    type Msg = NodeMessage;
    type State = NodeState;
    type Arguments = Arc<Latch>;

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        end: Arc<Latch>,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(NodeState {
            next: None,
            seen: 0,
            end,
        })
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        message: Self::Msg,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            NodeMessage::Link(next) => state.next = next,
            NodeMessage::Token(left) => {
                state.seen += 1;
                match &state.next {
                    Some(next) if left > 0 => next.cast(NodeMessage::Token(left - 1))?,
                    _ => state.end.count_down(),
                }
            }
            NodeMessage::Seen(reply) => reply.send(state.seen)?,
        }
        Ok(())
    }
}

impl super::Node for ActorRef<NodeMessage> {
    fn link(&self, next: Option<&Self>) {
        alive(self.cast(NodeMessage::Link(next.cloned())));
    }

    fn token(&self, left: u64) {
        alive(self.cast(NodeMessage::Token(left)));
    }

    async fn seen(&self) -> u64 {
        answer(self.call(NodeMessage::Seen, Some(ASK_TIMEOUT)).await)
    }
}

struct Guest;

struct GuestState {
    manners: Manners,
    all: Arc<[ActorRef<GuestMessage>]>,
    answered: u64,
}

impl GuestState {
    fn ping_next(&mut self) {
        if let Some(other) = self.manners.next(self.all.len()) {
            let own = self.all[self.manners.own()].clone();
            alive(self.all[other].cast(GuestMessage::Ping(own)));
        }
    }
}

pub(crate) enum GuestMessage {
    Begin(Arc<[ActorRef<Self>]>),
    Ping(ActorRef<Self>),
    Pong,
    Answered(RpcReplyPort<u64>),
}

impl Actor for Guest {
    type Msg = GuestMessage;
    type State = GuestState;
    type Arguments = Seed;

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        seed: Seed,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(GuestState {
            manners: Manners::new(seed),
            all: Arc::new([]),
            answered: 0,
        })
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        message: Self::Msg,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            GuestMessage::Begin(all) => {
                state.all = all;
                state.ping_next();
            }
            GuestMessage::Ping(from) => {
                state.answered += 1;
                from.cast(GuestMessage::Pong)?;
            }
            GuestMessage::Pong => state.ping_next(),
            GuestMessage::Answered(reply) => reply.send(state.answered)?,
        }
        Ok(())
    }
}

impl super::Guest for ActorRef<GuestMessage> {
    fn begin(&self, all: Arc<[Self]>) {
        alive(self.cast(GuestMessage::Begin(all)));
    }

    async fn answered(&self) -> u64 {
        answer(self.call(GuestMessage::Answered, Some(ASK_TIMEOUT)).await)
    }
}

enum Parent {
    Tree(ActorRef<TreeMessage>),
    Asker(Option<oneshot::Sender<u64>>),
}

struct Tree;

struct TreeState {
    parent: Parent,
    waiting: u32,
    sum: u64,
}

impl TreeState {
    fn finish(&mut self, sum: u64, myself: &ActorRef<TreeMessage>) {
        match &mut self.parent {
            Parent::Tree(parent) => alive(parent.cast(TreeMessage::Add(sum))),
            Parent::Asker(asker) => {
                if let Some(asker) = asker.take() {
                    alive(asker.send(sum));
                }
            }
        }
        myself.stop(None);
    }
}

enum TreeMessage {
    Grow(Grow),
    Add(u64),
}

impl Actor for Tree {
    type Msg = TreeMessage;
    type State = TreeState;
    type Arguments = Parent;

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        parent: Parent,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(TreeState {
            parent,
            waiting: 0,
            sum: 0,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: Self::Msg,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            TreeMessage::Grow(grow) if grow.is_leaf() => state.finish(grow.first, &myself),
            TreeMessage::Grow(grow) => {
                for part in grow.parts() {
                    state.waiting += 1;
                    let parent = Parent::Tree(myself.clone());
                    let (child, _) = Actor::spawn(None, Self, parent).await?;
                    child.cast(TreeMessage::Grow(part))?;
                }
            }
            TreeMessage::Add(number) => {
                state.sum += number;
                state.waiting -= 1;
                if state.waiting == 0 {
                    state.finish(state.sum, &myself);
                }
            }
        }
        Ok(())
    }
}
