//! kameo, with unbounded mailboxes (its own default holds 64 messages).

use std::sync::Arc;

use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::mailbox;
use kameo::message::{Context, Message};
use tokio::sync::oneshot;

use crate::latch::Latch;

use super::{ASK_TIMEOUT, Contender, Grow, Manners, Seed, alive, on_tokio, slowly};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Kameo;

impl Contender for Kameo {
    type Counter = ActorRef<Counter>;
    type Consumer = ActorRef<Counter>;
    type Node = ActorRef<Node>;
    type Guest = ActorRef<Guest>;

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

    async fn counter(&self, _: usize, _: u64) -> ActorRef<Counter> {
        Counter::spawn_with_mailbox(Counter { sum: 0 }, mailbox::unbounded())
    }

    async fn consumer(&self, _: usize, capacity: usize) -> Option<ActorRef<Counter>> {
        let mailbox = mailbox::bounded(capacity);
        Some(Counter::spawn_with_mailbox(Counter { sum: 0 }, mailbox))
    }

    async fn node(&self, _: usize, end: Arc<Latch>) -> ActorRef<Node> {
        let node = Node {
            next: None,
            seen: 0,
            end,
        };
        Node::spawn_with_mailbox(node, mailbox::unbounded())
    }

    async fn guest(&self, _: usize, seed: Seed) -> ActorRef<Guest> {
        let guest = Guest {
            manners: Manners::new(seed),
            all: Arc::new([]),
            answered: 0,
        };
        Guest::spawn_with_mailbox(guest, mailbox::unbounded())
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let (root, sum) = oneshot::channel();
        let tree = Tree::plant(Parent::Asker(Some(root)));
        alive(tree.tell(GrowTree(Grow::all(leaves))).try_send());
        alive(sum.await)
    }
}

#[derive(Actor)]
pub(crate) struct Counter {
    sum: u64,
}

struct Add(u64);

struct AddCounted(u64, Arc<Latch>);

struct AddAndAnswer(u64);

struct AddSlowly(u64);

impl Message<Add> for Counter {
    type Reply = ();

    async fn handle(&mut self, Add(number): Add, _: &mut Context<Self, ()>) {
        self.sum += number;
    }
}

impl Message<AddCounted> for Counter {
    type Reply = ();

    async fn handle(&mut self, AddCounted(number, latch): AddCounted, _: &mut Context<Self, ()>) {
        self.sum += number;
        latch.count_down();
    }
}

impl Message<AddAndAnswer> for Counter {
    type Reply = u64;

    async fn handle(
        &mut self,
        AddAndAnswer(number): AddAndAnswer,
        _: &mut Context<Self, u64>,
    ) -> u64 {
        self.sum += number;
        self.sum
    }
}

impl Message<AddSlowly> for Counter {
    type Reply = ();

    async fn handle(&mut self, AddSlowly(number): AddSlowly, _: &mut Context<Self, ()>) {
        self.sum += slowly(number);
    }
}

impl super::Counter for ActorRef<Counter> {
    fn add(&self, number: u64) {
        alive(self.tell(Add(number)).try_send());
    }

    fn add_counted(&self, number: u64, latch: Arc<Latch>) {
        alive(self.tell(AddCounted(number, latch)).try_send());
    }

    async fn ask(&self, number: u64) -> u64 {
        let ask = self.ask(AddAndAnswer(number));
        alive(ask.reply_timeout(ASK_TIMEOUT).send().await)
    }

    async fn ask_without_timeout(&self, number: u64) -> u64 {
        alive(self.ask(AddAndAnswer(number)).send().await)
    }
}

impl super::Consumer for ActorRef<Counter> {
    async fn put(&self, number: u64) {
        alive(self.tell(AddSlowly(number)).send().await);
    }

    async fn sum(&self) -> u64 {
        let ask = self.ask(AddAndAnswer(0));
        alive(ask.reply_timeout(ASK_TIMEOUT).send().await)
    }
}

#[derive(Actor)]
pub(crate) struct Node {
    next: Option<ActorRef<Self>>,
    seen: u64,
    end: Arc<Latch>,
}

struct Link(Option<ActorRef<Node>>);

struct Token(u64);

struct Seen;

impl Message<Link> for Node {
    type Reply = ();

    async fn handle(&mut self, Link(next): Link, _: &mut Context<Self, ()>) {
        self.next = next;
    }
}

impl Message<Token> for Node {
    type Reply = ();

    async fn handle(&mut self, Token(left): Token, _: &mut Context<Self, ()>) {
        self.seen += 1;
        match &self.next {
            // A neighbour that has ended at the end of the run needs no token.
            Some(next) if left > 0 => drop(next.tell(Token(left - 1)).try_send()),
            _ => self.end.count_down(),
        }
    }
}

impl Message<Seen> for Node {
    type Reply = u64;

    async fn handle(&mut self, _: Seen, _: &mut Context<Self, u64>) -> u64 {
        self.seen
    }
}

impl super::Node for ActorRef<Node> {
    fn link(&self, next: Option<&Self>) {
        alive(self.tell(Link(next.cloned())).try_send());
    }

    fn token(&self, left: u64) {
        alive(self.tell(Token(left)).try_send());
    }

    async fn seen(&self) -> u64 {
        alive(self.ask(Seen).reply_timeout(ASK_TIMEOUT).send().await)
    }
}

#[derive(Actor)]
pub(crate) struct Guest {
    manners: Manners,
    all: Arc<[ActorRef<Self>]>,
    answered: u64,
}

impl Guest {
    fn ping_next(&mut self) {
        if let Some(other) = self.manners.next(self.all.len()) {
            let own = self.all[self.manners.own()].clone();
            alive(self.all[other].tell(Ping(own)).try_send());
        }
    }
}

struct Begin(Arc<[ActorRef<Guest>]>);

struct Ping(ActorRef<Guest>);

struct Pong;

struct Answered;

impl Message<Begin> for Guest {
    type Reply = ();

    async fn handle(&mut self, Begin(all): Begin, _: &mut Context<Self, ()>) {
        self.all = all;
        self.ping_next();
    }
}

impl Message<Ping> for Guest {
    type Reply = ();

    async fn handle(&mut self, Ping(from): Ping, _: &mut Context<Self, ()>) {
        self.answered += 1;
        alive(from.tell(Pong).try_send());
    }
}

impl Message<Pong> for Guest {
    type Reply = ();

    async fn handle(&mut self, _: Pong, _: &mut Context<Self, ()>) {
        self.ping_next();
    }
}

impl Message<Answered> for Guest {
    type Reply = u64;

    async fn handle(&mut self, _: Answered, _: &mut Context<Self, u64>) -> u64 {
        self.answered
    }
}

impl super::Guest for ActorRef<Guest> {
    fn begin(&self, all: Arc<[Self]>) {
        alive(self.tell(Begin(all)).try_send());
    }

    async fn answered(&self) -> u64 {
        alive(self.ask(Answered).reply_timeout(ASK_TIMEOUT).send().await)
    }
}

enum Parent {
    Tree(ActorRef<Tree>),
    Asker(Option<oneshot::Sender<u64>>),
}

#[derive(Actor)]
struct Tree {
    parent: Parent,
    waiting: u32,
    sum: u64,
}

impl Tree {
    fn plant(parent: Parent) -> ActorRef<Self> {
        let tree = Self {
            parent,
            waiting: 0,
            sum: 0,
        };
        Self::spawn_with_mailbox(tree, mailbox::unbounded())
    }

    fn finish(&mut self, sum: u64, ctx: &mut Context<Self, ()>) {
        match &mut self.parent {
            Parent::Tree(parent) => alive(parent.tell(AddToTree(sum)).try_send()),
            Parent::Asker(asker) => {
                if let Some(asker) = asker.take() {
                    alive(asker.send(sum));
                }
            }
        }
        ctx.stop();
    }
}

struct GrowTree(Grow);

struct AddToTree(u64);

impl Message<GrowTree> for Tree {
    type Reply = ();

    async fn handle(&mut self, GrowTree(grow): GrowTree, ctx: &mut Context<Self, ()>) {
        if grow.is_leaf() {
            return self.finish(grow.first, ctx);
        }
        for part in grow.parts() {
            self.waiting += 1;
            let child = Self::plant(Parent::Tree(ctx.actor_ref().clone()));
            alive(child.tell(GrowTree(part)).try_send());
        }
    }
}

impl Message<AddToTree> for Tree {
    type Reply = ();

    async fn handle(&mut self, AddToTree(number): AddToTree, ctx: &mut Context<Self, ()>) {
        self.sum += number;
        self.waiting -= 1;
        if self.waiting == 0 {
            self.finish(self.sum, ctx);
        }
    }
}
