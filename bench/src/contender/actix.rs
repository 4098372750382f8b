//! actix: each actor is a task of the thread it was started on, so a place is an arbiter (a thread with an event loop).

use std::sync::Arc;

use actix::ActorContext as _;
use actix::{Actor, Addr, Arbiter, ArbiterHandle, AsyncContext, Context, Handler, Message, System};
use tokio::sync::oneshot;

use crate::latch::Latch;

use super::{ASK_TIMEOUT, Contender, Grow, Manners, Seed, alive, slowly};

/// The mailbox has no bound.
const UNBOUNDED: usize = 0;

/// The arbiters beside that of the system, which the workload itself runs on.
#[derive(Clone, Debug)]
pub(crate) struct Actix(Arc<[ArbiterHandle]>);

impl Actix {
    /// The arbiter of a place, or `None` for the one that this code runs on.
    fn arbiter(&self, place: usize) -> Option<&ArbiterHandle> {
        let place = place % (self.0.len() + 1);
        place.checked_sub(1).map(|index| &self.0[index])
    }

    fn start<A>(&self, place: usize, capacity: usize, state: A) -> Addr<A>
    where
        A: Actor<Context = Context<A>> + Send,
    {
        let make = move |ctx: &mut Context<A>| {
            ctx.set_mailbox_capacity(capacity);
            state
        };
        match self.arbiter(place) {
            None => A::create(make),
            Some(arbiter) => A::start_in_arbiter(arbiter, make),
        }
    }
}

impl Contender for Actix {
    type Counter = Addr<Counter>;
    type Consumer = Addr<Counter>;
    type Node = Addr<Node>;
    type Guest = Addr<Guest>;

    fn run<T, W, F>(threads: usize, work: W) -> T
    where
        T: Send + 'static,
        W: FnOnce(Self) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        System::new().block_on(async move {
            let arbiters: Vec<Arbiter> = (1..threads).map(|_| Arbiter::new()).collect();
            let result = work(Self(arbiters.iter().map(Arbiter::handle).collect())).await;
            for arbiter in arbiters {
                arbiter.stop();
                alive(arbiter.join());
            }
            result
        })
    }

    fn task(&self, place: usize, work: impl Future<Output = ()> + Send + 'static) {
        match self.arbiter(place) {
            None => drop(actix::spawn(work)),
            Some(arbiter) => assert!(arbiter.spawn(work), "the arbiter runs"),
        }
    }

    async fn counter(&self, place: usize, _: u64) -> Addr<Counter> {
        self.start(place, UNBOUNDED, Counter { sum: 0 })
    }

    async fn consumer(&self, place: usize, capacity: usize) -> Option<Addr<Counter>> {
        Some(self.start(place, capacity, Counter { sum: 0 }))
    }

    async fn node(&self, place: usize, end: Arc<Latch>) -> Addr<Node> {
        let node = Node {
            next: None,
            seen: 0,
            end,
        };
        self.start(place, UNBOUNDED, node)
    }

    async fn guest(&self, place: usize, seed: Seed) -> Addr<Guest> {
        let guest = Guest {
            manners: Manners::new(seed),
            all: Arc::new([]),
            answered: 0,
        };
        self.start(place, UNBOUNDED, guest)
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let (root, sum) = oneshot::channel();
        let tree = Tree {
            parent: Parent::Asker(Some(root)),
            waiting: 0,
            sum: 0,
            arbiters: Some(self.clone()),
        };
        self.start(0, UNBOUNDED, tree)
            .do_send(GrowTree(Grow::all(leaves)));
        alive(sum.await)
    }
}

pub(crate) struct Counter {
    sum: u64,
}

impl Actor for Counter {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Add(u64);

#[derive(Message)]
#[rtype(result = "()")]
struct AddCounted(u64, Arc<Latch>);

#[derive(Message)]
#[rtype(result = "u64")]
struct AddAndAnswer(u64);

#[derive(Message)]
#[rtype(result = "()")]
struct AddSlowly(u64);

impl Handler<Add> for Counter {
    type Result = ();

    fn handle(&mut self, Add(number): Add, _: &mut Context<Self>) {
        self.sum += number;
    }
}

impl Handler<AddCounted> for Counter {
    type Result = ();

    fn handle(&mut self, AddCounted(number, latch): AddCounted, _: &mut Context<Self>) {
        self.sum += number;
        latch.count_down();
    }
}

impl Handler<AddAndAnswer> for Counter {
    type Result = u64;

    fn handle(&mut self, AddAndAnswer(number): AddAndAnswer, _: &mut Context<Self>) -> u64 {
        self.sum += number;
        self.sum
    }
}

impl Handler<AddSlowly> for Counter {
    type Result = ();

    fn handle(&mut self, AddSlowly(number): AddSlowly, _: &mut Context<Self>) {
        self.sum += slowly(number);
    }
}

impl super::Counter for Addr<Counter> {
    fn add(&self, number: u64) {
        self.do_send(Add(number));
    }

    fn add_counted(&self, number: u64, latch: Arc<Latch>) {
        self.do_send(AddCounted(number, latch));
    }

    async fn ask(&self, number: u64) -> u64 {
        alive(self.send(AddAndAnswer(number)).timeout(ASK_TIMEOUT).await)
    }

    async fn ask_without_timeout(&self, number: u64) -> u64 {
        alive(self.send(AddAndAnswer(number)).await)
    }
}

impl super::Consumer for Addr<Counter> {
    /// `send` is what waits for room in actix, and it waits for the answer too.
    async fn put(&self, number: u64) {
        alive(self.send(AddSlowly(number)).await);
    }

    async fn sum(&self) -> u64 {
        alive(self.send(AddAndAnswer(0)).timeout(ASK_TIMEOUT).await)
    }
}

pub(crate) struct Node {
    next: Option<Addr<Self>>,
    seen: u64,
    end: Arc<Latch>,
}

impl Actor for Node {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Link(Option<Addr<Node>>);

#[derive(Message)]
#[rtype(result = "()")]
struct Token(u64);

#[derive(Message)]
#[rtype(result = "u64")]
struct Seen;

impl Handler<Link> for Node {
    type Result = ();

    fn handle(&mut self, Link(next): Link, _: &mut Context<Self>) {
        self.next = next;
    }
}

impl Handler<Token> for Node {
    type Result = ();

    fn handle(&mut self, Token(left): Token, _: &mut Context<Self>) {
        self.seen += 1;
        match &self.next {
            Some(next) if left > 0 => next.do_send(Token(left - 1)),
            _ => self.end.count_down(),
        }
    }
}

impl Handler<Seen> for Node {
    type Result = u64;

    fn handle(&mut self, _: Seen, _: &mut Context<Self>) -> u64 {
        self.seen
    }
}

impl super::Node for Addr<Node> {
    fn link(&self, next: Option<&Self>) {
        self.do_send(Link(next.cloned()));
    }

    fn token(&self, left: u64) {
        self.do_send(Token(left));
    }

    async fn seen(&self) -> u64 {
        alive(self.send(Seen).timeout(ASK_TIMEOUT).await)
    }
}

pub(crate) struct Guest {
    manners: Manners,
    all: Arc<[Addr<Self>]>,
    answered: u64,
}

impl Actor for Guest {
    type Context = Context<Self>;
}

impl Guest {
    fn ping_next(&mut self) {
        if let Some(other) = self.manners.next(self.all.len()) {
            let own = self.all[self.manners.own()].clone();
            self.all[other].do_send(Ping(own));
        }
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Begin(Arc<[Addr<Guest>]>);

#[derive(Message)]
#[rtype(result = "()")]
struct Ping(Addr<Guest>);

#[derive(Message)]
#[rtype(result = "()")]
struct Pong;

#[derive(Message)]
#[rtype(result = "u64")]
struct Answered;

impl Handler<Begin> for Guest {
    type Result = ();

    fn handle(&mut self, Begin(all): Begin, _: &mut Context<Self>) {
        self.all = all;
        self.ping_next();
    }
}

impl Handler<Ping> for Guest {
    type Result = ();

    fn handle(&mut self, Ping(from): Ping, _: &mut Context<Self>) {
        self.answered += 1;
        from.do_send(Pong);
    }
}

impl Handler<Pong> for Guest {
    type Result = ();

    fn handle(&mut self, _: Pong, _: &mut Context<Self>) {
        self.ping_next();
    }
}

impl Handler<Answered> for Guest {
    type Result = u64;

    fn handle(&mut self, _: Answered, _: &mut Context<Self>) -> u64 {
        self.answered
    }
}

impl super::Guest for Addr<Guest> {
    fn begin(&self, all: Arc<[Self]>) {
        self.do_send(Begin(all));
    }

    async fn answered(&self) -> u64 {
        alive(self.send(Answered).timeout(ASK_TIMEOUT).await)
    }
}

enum Parent {
    Tree(Addr<Tree>),
    Asker(Option<oneshot::Sender<u64>>),
}

struct Tree {
    parent: Parent,
    waiting: u32,
    sum: u64,
    /// The root shares the branches out among all threads; a branch stays on its own.
    arbiters: Option<Actix>,
}

impl Tree {
    fn finish(&mut self, sum: u64, ctx: &mut Context<Self>) {
        match &mut self.parent {
            Parent::Tree(parent) => parent.do_send(AddToTree(sum)),
            Parent::Asker(asker) => {
                if let Some(asker) = asker.take() {
                    alive(asker.send(sum));
                }
            }
        }
        ctx.stop();
    }
}

impl Actor for Tree {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct GrowTree(Grow);

#[derive(Message)]
#[rtype(result = "()")]
struct AddToTree(u64);

impl Handler<GrowTree> for Tree {
    type Result = ();

    fn handle(&mut self, GrowTree(grow): GrowTree, ctx: &mut Context<Self>) {
        if grow.is_leaf() {
            return self.finish(grow.first, ctx);
        }
        for (place, part) in grow.parts().enumerate() {
            self.waiting += 1;
            let child = Self {
                parent: Parent::Tree(ctx.address()),
                waiting: 0,
                sum: 0,
                arbiters: None,
            };
            let child = match &self.arbiters {
                Some(arbiters) => arbiters.start(place, UNBOUNDED, child),
                None => child.start(),
            };
            child.do_send(GrowTree(part));
        }
    }
}

impl Handler<AddToTree> for Tree {
    type Result = ();

    fn handle(&mut self, AddToTree(number): AddToTree, ctx: &mut Context<Self>) {
        self.sum += number;
        self.waiting -= 1;
        if self.waiting == 0 {
            self.finish(self.sum, ctx);
        }
    }
}
