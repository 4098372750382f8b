//! xtra. It has no timeouts of its own for asks, so Tokio's stand in for them.
//!
//! Its mailbox is a heap, and messages of equal priority come out of it in no particular order. The workloads end with an ask that
//! must come last, so messages are told with a higher priority than asks have. That costs nothing.

use std::sync::Arc;

use futures::FutureExt;
use tokio::sync::oneshot;
use tokio::time::timeout;
use xtra::{Actor, Address, Context, Handler, Mailbox};

use crate::latch::Latch;

use super::{ASK_TIMEOUT, Contender, Grow, Manners, Seed, alive, on_tokio, slowly};

/// Of a message that is told. An ask has 0.
const TOLD: u32 = 1;

/// Of a message that must not wait behind others that never end.
const URGENT: u32 = 2;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Xtra;

impl Contender for Xtra {
    type Counter = Address<Counter>;
    type Consumer = Address<Counter>;
    type Node = Address<Node>;
    type Guest = Address<Guest>;

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

    async fn counter(&self, _: usize, _: u64) -> Address<Counter> {
        xtra::spawn_tokio(Counter { sum: 0 }, Mailbox::unbounded())
    }

    async fn consumer(&self, _: usize, capacity: usize) -> Option<Address<Counter>> {
        let mailbox = Mailbox::bounded(capacity);
        Some(xtra::spawn_tokio(Counter { sum: 0 }, mailbox))
    }

    async fn node(&self, _: usize, end: Arc<Latch>) -> Address<Node> {
        let node = Node {
            next: None,
            seen: 0,
            end,
        };
        xtra::spawn_tokio(node, Mailbox::unbounded())
    }

    async fn guest(&self, _: usize, seed: Seed) -> Address<Guest> {
        let guest = Guest {
            manners: Manners::new(seed),
            all: Arc::new([]),
            answered: 0,
        };
        xtra::spawn_tokio(guest, Mailbox::unbounded())
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let (root, sum) = oneshot::channel();
        let tree = Tree::plant(Parent::Asker(Some(root)));
        tell(&tree, GrowTree(Grow::all(leaves)));
        alive(sum.await)
    }
}

/// Tells a message to an actor with an unbounded mailbox: it takes the message at the first poll, so nothing is waited for, and
/// this serves threads that run no async code as well.
fn tell<A, M>(to: &Address<A>, message: M)
where
    A: Handler<M>,
    M: Send + 'static,
{
    tell_with(to, message, TOLD);
}

fn tell_with<A, M>(to: &Address<A>, message: M, priority: u32)
where
    A: Handler<M>,
    M: Send + 'static,
{
    let sent = to.send(message).priority(priority).detach();
    let sent = sent.now_or_never();
    drop(alive(sent.expect("an unbounded mailbox has room")));
}

#[derive(Actor)]
pub(crate) struct Counter {
    sum: u64,
}

struct Add(u64);

struct AddCounted(u64, Arc<Latch>);

struct AddAndAnswer(u64);

struct AddSlowly(u64);

impl Handler<Add> for Counter {
    type Return = ();

    async fn handle(&mut self, Add(number): Add, _: &mut Context<Self>) {
        self.sum += number;
    }
}

impl Handler<AddCounted> for Counter {
    type Return = ();

    async fn handle(&mut self, AddCounted(number, latch): AddCounted, _: &mut Context<Self>) {
        self.sum += number;
        latch.count_down();
    }
}

impl Handler<AddAndAnswer> for Counter {
    type Return = u64;

    async fn handle(&mut self, AddAndAnswer(number): AddAndAnswer, _: &mut Context<Self>) -> u64 {
        self.sum += number;
        self.sum
    }
}

impl Handler<AddSlowly> for Counter {
    type Return = ();

    async fn handle(&mut self, AddSlowly(number): AddSlowly, _: &mut Context<Self>) {
        self.sum += slowly(number);
    }
}

impl super::Counter for Address<Counter> {
    fn add(&self, number: u64) {
        tell(self, Add(number));
    }

    fn add_counted(&self, number: u64, latch: Arc<Latch>) {
        tell(self, AddCounted(number, latch));
    }

    async fn ask(&self, number: u64) -> u64 {
        alive(alive(
            timeout(ASK_TIMEOUT, self.send(AddAndAnswer(number))).await,
        ))
    }

    async fn ask_without_timeout(&self, number: u64) -> u64 {
        alive(self.send(AddAndAnswer(number)).await)
    }
}

impl super::Consumer for Address<Counter> {
    async fn put(&self, number: u64) {
        let sent = self.send(AddSlowly(number)).priority(TOLD);
        drop(alive(sent.detach().await));
    }

    async fn sum(&self) -> u64 {
        alive(alive(
            timeout(ASK_TIMEOUT, self.send(AddAndAnswer(0))).await,
        ))
    }
}

#[derive(Actor)]
pub(crate) struct Node {
    next: Option<Address<Self>>,
    seen: u64,
    end: Arc<Latch>,
}

struct Link(Option<Address<Node>>);

struct Token(u64);

struct Seen;

impl Handler<Link> for Node {
    type Return = ();

    async fn handle(&mut self, Link(next): Link, _: &mut Context<Self>) {
        self.next = next;
    }
}

impl Handler<Token> for Node {
    type Return = ();

    async fn handle(&mut self, Token(left): Token, _: &mut Context<Self>) {
        self.seen += 1;
        match &self.next {
            Some(next) if left > 0 => tell(next, Token(left - 1)),
            _ => self.end.count_down(),
        }
    }
}

impl Handler<Seen> for Node {
    type Return = u64;

    async fn handle(&mut self, _: Seen, _: &mut Context<Self>) -> u64 {
        self.seen
    }
}

impl super::Node for Address<Node> {
    fn link(&self, next: Option<&Self>) {
        tell_with(self, Link(next.cloned()), URGENT);
    }

    fn token(&self, left: u64) {
        tell(self, Token(left));
    }

    async fn seen(&self) -> u64 {
        alive(alive(timeout(ASK_TIMEOUT, self.send(Seen)).await))
    }
}

#[derive(Actor)]
pub(crate) struct Guest {
    manners: Manners,
    all: Arc<[Address<Self>]>,
    answered: u64,
}

impl Guest {
    fn ping_next(&mut self) {
        if let Some(other) = self.manners.next(self.all.len()) {
            let own = self.all[self.manners.own()].clone();
            tell(&self.all[other], Ping(own));
        }
    }
}

struct Begin(Arc<[Address<Guest>]>);

struct Ping(Address<Guest>);

struct Pong;

struct Answered;

impl Handler<Begin> for Guest {
    type Return = ();

    async fn handle(&mut self, Begin(all): Begin, _: &mut Context<Self>) {
        self.all = all;
        self.ping_next();
    }
}

impl Handler<Ping> for Guest {
    type Return = ();

    async fn handle(&mut self, Ping(from): Ping, _: &mut Context<Self>) {
        self.answered += 1;
        tell(&from, Pong);
    }
}

impl Handler<Pong> for Guest {
    type Return = ();

    async fn handle(&mut self, _: Pong, _: &mut Context<Self>) {
        self.ping_next();
    }
}

impl Handler<Answered> for Guest {
    type Return = u64;

    async fn handle(&mut self, _: Answered, _: &mut Context<Self>) -> u64 {
        self.answered
    }
}

impl super::Guest for Address<Guest> {
    fn begin(&self, all: Arc<[Self]>) {
        tell(self, Begin(all));
    }

    async fn answered(&self) -> u64 {
        alive(alive(timeout(ASK_TIMEOUT, self.send(Answered)).await))
    }
}

enum Parent {
    Tree(Address<Tree>),
    Asker(Option<oneshot::Sender<u64>>),
}

#[derive(Actor)]
struct Tree {
    parent: Parent,
    /// An actor ends with the last address to it, so its parent keeps one.
    children: Vec<Address<Self>>,
    waiting: u32,
    sum: u64,
}

impl Tree {
    fn plant(parent: Parent) -> Address<Self> {
        let tree = Self {
            parent,
            children: Vec::new(),
            waiting: 0,
            sum: 0,
        };
        xtra::spawn_tokio(tree, Mailbox::unbounded())
    }

    fn finish(&mut self, sum: u64, ctx: &mut Context<Self>) {
        match &mut self.parent {
            Parent::Tree(parent) => tell(parent, AddToTree(sum)),
            Parent::Asker(asker) => {
                if let Some(asker) = asker.take() {
                    alive(asker.send(sum));
                }
            }
        }
        ctx.stop_self();
    }
}

struct GrowTree(Grow);

struct AddToTree(u64);

impl Handler<GrowTree> for Tree {
    type Return = ();

    async fn handle(&mut self, GrowTree(grow): GrowTree, ctx: &mut Context<Self>) {
        if grow.is_leaf() {
            return self.finish(grow.first, ctx);
        }
        let own = ctx.mailbox().address().try_upgrade();
        let own = own.expect("whoever has told this holds an address");
        for part in grow.parts() {
            self.waiting += 1;
            let child = Self::plant(Parent::Tree(own.clone()));
            tell(&child, GrowTree(part));
            self.children.push(child);
        }
    }
}

impl Handler<AddToTree> for Tree {
    type Return = ();

    async fn handle(&mut self, AddToTree(number): AddToTree, ctx: &mut Context<Self>) {
        self.sum += number;
        self.waiting -= 1;
        if self.waiting == 0 {
            self.finish(self.sum, ctx);
        }
    }
}
