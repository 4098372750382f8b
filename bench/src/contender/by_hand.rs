//! Tokio by hand: for each actor a task, a channel and a message enum; a oneshot channel for each answer.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::latch::Latch;

use super::{ASK_TIMEOUT, Contender, Grow, Manners, Seed, alive, on_tokio, slowly};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ByHand;

impl Contender for ByHand {
    type Counter = Counter;
    type Consumer = Consumer;
    type Node = Node;
    type Guest = Guest;

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

    async fn counter(&self, _: usize, _: u64) -> Counter {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(count(receiver));
        Counter(sender)
    }

    async fn consumer(&self, _: usize, capacity: usize) -> Option<Consumer> {
        let (sender, receiver) = mpsc::channel(capacity);
        tokio::spawn(consume(receiver));
        Some(Consumer(sender))
    }

    async fn node(&self, _: usize, end: Arc<Latch>) -> Node {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(pass_on(receiver, end));
        Node(sender)
    }

    async fn guest(&self, _: usize, seed: Seed) -> Guest {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(mingle(receiver, Manners::new(seed)));
        Guest(sender)
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let (root, sum) = oneshot::channel();
        alive(plant(Parent::Asker(root)).send(TreeMessage::Grow(Grow::all(leaves))));
        alive(sum.await)
    }
}

enum CounterMessage {
    Add(u64),
    AddCounted(u64, Arc<Latch>),
    AddAndAnswer(u64, oneshot::Sender<u64>),
}

async fn count(mut mailbox: mpsc::UnboundedReceiver<CounterMessage>) {
    let mut sum = 0;
    while let Some(message) = mailbox.recv().await {
        match message {
            CounterMessage::Add(number) => sum += number,
            CounterMessage::AddCounted(number, latch) => {
                sum += number;
                latch.count_down();
            }
            CounterMessage::AddAndAnswer(number, reply) => {
                sum += number;
                let _ = reply.send(sum);
            }
        }
    }
}

#[derive(Clone)]
pub(crate) struct Counter(mpsc::UnboundedSender<CounterMessage>);

impl super::Counter for Counter {
    fn add(&self, number: u64) {
        alive(self.0.send(CounterMessage::Add(number)));
    }

    fn add_counted(&self, number: u64, latch: Arc<Latch>) {
        alive(self.0.send(CounterMessage::AddCounted(number, latch)));
    }

    async fn ask(&self, number: u64) -> u64 {
        let (reply, answer) = oneshot::channel();
        alive(self.0.send(CounterMessage::AddAndAnswer(number, reply)));
        alive(alive(timeout(ASK_TIMEOUT, answer).await))
    }

    async fn ask_without_timeout(&self, number: u64) -> u64 {
        let (reply, answer) = oneshot::channel();
        alive(self.0.send(CounterMessage::AddAndAnswer(number, reply)));
        alive(answer.await)
    }
}

enum ConsumerMessage {
    Add(u64),
    Sum(oneshot::Sender<u64>),
}

async fn consume(mut mailbox: mpsc::Receiver<ConsumerMessage>) {
    let mut sum = 0;
    while let Some(message) = mailbox.recv().await {
        match message {
            ConsumerMessage::Add(number) => sum += slowly(number),
            ConsumerMessage::Sum(reply) => {
                let _ = reply.send(sum);
            }
        }
    }
}

pub(crate) struct Consumer(mpsc::Sender<ConsumerMessage>);

impl super::Consumer for Consumer {
    async fn put(&self, number: u64) {
        alive(self.0.send(ConsumerMessage::Add(number)).await);
    }

    async fn sum(&self) -> u64 {
        let (reply, answer) = oneshot::channel();
        alive(self.0.send(ConsumerMessage::Sum(reply)).await);
        alive(alive(timeout(ASK_TIMEOUT, answer).await))
    }
}

enum NodeMessage {
    Link(Option<Node>),
    Token(u64),
    Seen(oneshot::Sender<u64>),
}

async fn pass_on(mut mailbox: mpsc::UnboundedReceiver<NodeMessage>, end: Arc<Latch>) {
    let mut next: Option<Node> = None;
    let mut seen = 0;
    while let Some(message) = mailbox.recv().await {
        match message {
            NodeMessage::Link(node) => next = node,
            NodeMessage::Token(left) => {
                seen += 1;
                match &next {
                    // A neighbour that has ended at the end of the run needs no token.
                    Some(next) if left > 0 => {
                        let _ = next.0.send(NodeMessage::Token(left - 1));
                    }
                    _ => end.count_down(),
                }
            }
            NodeMessage::Seen(reply) => {
                let _ = reply.send(seen);
            }
        }
    }
}

#[derive(Clone)]
pub(crate) struct Node(mpsc::UnboundedSender<NodeMessage>);

impl super::Node for Node {
    fn link(&self, next: Option<&Self>) {
        alive(self.0.send(NodeMessage::Link(next.cloned())));
    }

    fn token(&self, left: u64) {
        alive(self.0.send(NodeMessage::Token(left)));
    }

    async fn seen(&self) -> u64 {
        let (reply, answer) = oneshot::channel();
        alive(self.0.send(NodeMessage::Seen(reply)));
        alive(alive(timeout(ASK_TIMEOUT, answer).await))
    }
}

enum GuestMessage {
    Begin(Arc<[Guest]>),
    Ping(Guest),
    Pong,
    Answered(oneshot::Sender<u64>),
}

async fn mingle(mut mailbox: mpsc::UnboundedReceiver<GuestMessage>, mut manners: Manners) {
    let mut all: Arc<[Guest]> = Arc::new([]);
    let mut answered = 0;
    while let Some(message) = mailbox.recv().await {
        match message {
            GuestMessage::Begin(guests) => {
                all = guests;
                ping_next(&mut manners, &all);
            }
            GuestMessage::Ping(from) => {
                answered += 1;
                alive(from.0.send(GuestMessage::Pong));
            }
            GuestMessage::Pong => ping_next(&mut manners, &all),
            GuestMessage::Answered(reply) => {
                let _ = reply.send(answered);
            }
        }
    }
}

fn ping_next(manners: &mut Manners, all: &[Guest]) {
    if let Some(other) = manners.next(all.len()) {
        let own = all[manners.own()].clone();
        alive(all[other].0.send(GuestMessage::Ping(own)));
    }
}

#[derive(Clone)]
pub(crate) struct Guest(mpsc::UnboundedSender<GuestMessage>);

impl super::Guest for Guest {
    fn begin(&self, all: Arc<[Self]>) {
        alive(self.0.send(GuestMessage::Begin(all)));
    }

    async fn answered(&self) -> u64 {
        let (reply, answer) = oneshot::channel();
        alive(self.0.send(GuestMessage::Answered(reply)));
        alive(alive(timeout(ASK_TIMEOUT, answer).await))
    }
}

enum TreeMessage {
    Grow(Grow),
    Add(u64),
}

enum Parent {
    Tree(mpsc::UnboundedSender<TreeMessage>),
    Asker(oneshot::Sender<u64>),
}

impl Parent {
    fn answer(self, sum: u64) {
        match self {
            Self::Tree(parent) => alive(parent.send(TreeMessage::Add(sum))),
            Self::Asker(asker) => alive(asker.send(sum)),
        }
    }
}

fn plant(parent: Parent) -> mpsc::UnboundedSender<TreeMessage> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(grow(receiver, sender.clone(), parent));
    sender
}

async fn grow(
    mut mailbox: mpsc::UnboundedReceiver<TreeMessage>,
    own: mpsc::UnboundedSender<TreeMessage>,
    parent: Parent,
) {
    let mut waiting = 0;
    let mut sum = 0;
    while let Some(message) = mailbox.recv().await {
        match message {
            TreeMessage::Grow(grow) if grow.is_leaf() => return parent.answer(grow.first),
            TreeMessage::Grow(grow) => {
                for part in grow.parts() {
                    waiting += 1;
                    alive(plant(Parent::Tree(own.clone())).send(TreeMessage::Grow(part)));
                }
            }
            TreeMessage::Add(number) => {
                sum += number;
                waiting -= 1;
                if waiting == 0 {
                    return parent.answer(sum);
                }
            }
        }
    }
}
