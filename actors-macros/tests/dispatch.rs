//! A message reaches its method with its arguments, and the answer comes back, in each shape that a handler may have.

use actors_core::prelude::*;
use std::{
    fmt,
    sync::{Arc, Mutex},
};

type Answer = Result<u64, Refused>;

#[derive(Clone, Debug, PartialEq)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, line: impl Into<String>) {
        self.0
            .lock()
            .expect("nobody panics with it")
            .push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("nobody panics with it").clone()
    }
}

struct Account {
    balance: u64,
    log: Log,
}

#[actor]
impl Account {
    #[handler]
    fn subtract(&mut self, from: u64, amount: u64) -> u64 {
        from - amount
    }

    #[handler]
    async fn deposit(&mut self, amount: u64) -> u64 {
        std::future::ready(()).await;
        self.balance += amount;
        self.balance
    }

    #[handler]
    fn withdraw(&mut self, amount: u64) -> Result<u64, Refused> {
        let left = self
            .balance
            .checked_sub(amount)
            .ok_or_else(|| Refused("overdrawn".into()))?;
        self.balance = left;
        Ok(left)
    }

    #[handler(fallible)]
    async fn aliased(&self, amount: u64) -> Answer {
        std::future::ready(Err(Refused(format!("no {amount}")))).await
    }

    #[handler]
    fn answer_itself(&self, add: u64, reply: ReplyTo<u64>, ctx: &mut ActorContext<Self>) {
        let _ = ctx.me();
        reply.send(self.balance + add);
    }

    #[handler(err_is_failure)]
    fn fail(&mut self) -> Result<(), Refused> {
        Err(Refused("failed".into()))
    }

    #[on_start]
    async fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Refused> {
        let _ = ctx.me();
        self.log.note("start");
        std::future::ready(Ok(())).await
    }

    #[on_stop]
    fn ended(&mut self, reason: &StopReason) {
        self.log.note(format!("stop: {reason:?}"));
    }

    #[on_restart]
    async fn replaced(&mut self, cause: &Failure) {
        std::future::ready(()).await;
        self.log.note(format!("restart: {}", cause.is::<Refused>()));
    }
}

fn account(log: &Log) -> impl Fn() -> Account + use<> {
    let log = log.clone();
    move || Account {
        balance: 10,
        log: log.clone(),
    }
}

#[tokio::test]
async fn each_shape_of_a_handler_is_reached_and_answers() {
    let system = ActorSystem::new("bank").unwrap();
    let account = system.spawn("alice", account(&Log::default())).unwrap();

    assert_eq!(account.subtract(7, 2).await, Ok(5));
    assert_eq!(account.deposit(5).await, Ok(15));
    assert_eq!(account.withdraw(5).await, Ok(10));
    assert_eq!(
        account.withdraw(11).await,
        Err(AskError::Handler(Refused("overdrawn".into())))
    );
    assert_eq!(
        account.aliased(3).await,
        Err(AskError::Handler(Refused("no 3".into())))
    );
    assert_eq!(account.answer_itself(1).await, Ok(11));
    system.shutdown().await;
}

#[tokio::test]
async fn each_hook_is_reached() {
    let log = Log::default();
    let system = ActorSystem::new("bank").unwrap();
    let account = system.spawn("alice", account(&log)).unwrap();

    assert_eq!(
        account.fail().await,
        Err(AskError::Handler(Refused("failed".into())))
    );
    assert_eq!(account.subtract(1, 1).await, Ok(0));
    account.stop().await;
    assert_eq!(
        log.lines(),
        ["start", "restart: true", "start", "stop: Stopped"]
    );
    system.shutdown().await;
}

#[test]
fn methods_stay_ordinary_methods() {
    let mut account = account(&Log::default())();
    assert_eq!(account.withdraw(3), Ok(7));
}

/// An actor, and a generic one of references to it, that wait for each other's types.
struct Pong {
    seen: u64,
}

#[actor]
impl Pong {
    #[handler]
    async fn hit(&mut self, holder: HolderRef<PongRef>) -> HolderRef<PongRef> {
        std::future::ready(()).await;
        self.seen += 1;
        holder
    }
}

struct Holder<T> {
    value: T,
}

#[actor]
impl<T: Clone + Send + Sync + 'static> Holder<T> {
    #[handler]
    async fn held(&self, others: Vec<T>, again: HolderRef<T>) -> Option<T> {
        std::future::ready(()).await;
        drop((others, again));
        Some(self.value.clone())
    }
}

#[tokio::test]
async fn actors_whose_types_contain_each_other_run() {
    let system = ActorSystem::new("court").unwrap();
    let pong = system.spawn("pong", || Pong { seen: 0 }).unwrap();
    let value = pong.clone();
    let holder = system
        .spawn("holder", move || Holder {
            value: value.clone(),
        })
        .unwrap();

    assert_eq!(pong.hit(holder.clone()).await.as_ref(), Ok(&holder));
    assert_eq!(
        holder.held(vec![pong.clone()], holder.clone()).await,
        Ok(Some(pong))
    );
    system.shutdown().await;
}
