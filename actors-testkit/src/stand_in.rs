//! [`StandIn`]: what comes to an actor that is not there.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use actors_core::__private::Flow;
use actors_core::{Actor, ActorContext, ActorRef, Message};

use crate::kit::{Shared, plain_name};
use crate::probe::TestProbe;
use crate::queue::{Entry, Queue};

/// A probe in the place of an actor: the code under test holds a reference to the actor, and the test sees the messages and
/// answers them. Made by [`TestKit::stand_in`](crate::TestKit::stand_in).
///
/// It derefs to [`TestProbe`] and has all its expectations; `M` is the message type of the actor. An ask whose message is
/// dropped without an answer fails with `NoReply`. Behind the reference is a real actor, so it can be stopped and watched.
///
/// ```
/// use actors_core::prelude::*;
/// use actors_testkit::{TestKit, expect_matching};
///
/// #[derive(Default)]
/// struct Account { balance: u64 }
///
/// #[actor]
/// impl Account {
///     #[handler]
///     fn deposit(&mut self, amount: u64) -> u64 { self.balance += amount; self.balance }
/// }
///
/// struct Teller { account: AccountRef }
///
/// #[actor]
/// impl Teller {
///     #[handler]
///     async fn serve(&mut self, amount: u64) -> String {
///         format!("you have {:?}", self.account.deposit(amount).await)
///     }
/// }
///
/// TestKit::run("stand_in", async |kit| {
///     let (account, mut seen) = kit.stand_in::<Account>();
///     let teller = kit.spawn("teller", move || Teller { account: account.clone() }).unwrap();
///     let mut probe = kit.probe::<String>();
///     teller.serve(5).reply_to(&probe);
///     let reply = expect_matching!(seen, AccountMsg::Deposit { amount: 5, reply } => reply);
///     reply.send(1_000);
///     probe.expect("you have Ok(1000)".to_owned()).await;
/// });
/// ```
#[derive(Debug)]
pub struct StandIn<M>(TestProbe<M>);

impl<M> Deref for StandIn<M> {
    type Target = TestProbe<M>;

    fn deref(&self) -> &TestProbe<M> {
        &self.0
    }
}

impl<M> DerefMut for StandIn<M> {
    fn deref_mut(&mut self) -> &mut TestProbe<M> {
        &mut self.0
    }
}

/// Passes each message on to a probe.
struct Forward<M> {
    to: Arc<Queue<M>>,
}

impl<M: Message> Actor for Forward<M> {
    type Msg = M;
    type Ref = ActorRef<Self>;

    fn receive<'a>(&'a mut self, message: M, _: &'a mut ActorContext<Self>) -> Flow<'a> {
        self.to.push(Entry::Message(message));
        Flow::done()
    }
}

pub(crate) fn spawn<A: Actor>(kit: &Arc<Shared>) -> (A::Ref, StandIn<A::Msg>) {
    let plain = plain_name::<A>();
    let probe = TestProbe::new(format!("the stand-in for `{plain}`"), Arc::clone(kit));
    let queue = probe.queue();
    let actor = kit.system.spawn_anonymous(move || Forward {
        to: Arc::clone(&queue),
    });
    let actor = actor
        .unwrap_or_else(|error| panic!("the stand-in for `{plain}` could not be spawned: {error}"));
    (
        actors_core::__private::stand_in::<A, _>(&actor),
        StandIn(probe),
    )
}
