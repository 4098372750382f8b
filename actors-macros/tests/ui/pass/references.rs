//! Messages carry references: to the actor itself, to each other, to a generic actor of oneself.

#![deny(warnings)]

use actors_core::prelude::*;
use std::{collections::HashMap, sync::Arc};

struct Ping {
    peers: Vec<PingRef>,
}

#[actor]
impl Ping {
    #[handler]
    fn meet(
        &mut self,
        peer: PingRef,
        pong: PongRef,
        map: HashMap<String, Arc<PongRef>>,
    ) -> PongRef {
        self.peers.push(peer);
        drop(map);
        pong
    }

    #[handler]
    async fn introduce(&mut self, pong: PongRef) -> Result<Option<PingRef>, PongRef> {
        std::future::ready(Err(pong)).await
    }

    #[handler]
    fn nested(&mut self, message: Box<PingMsg>, other: Option<PongMsg>) {
        drop((message, other));
    }
}

struct Pong;

#[actor]
impl Pong {
    #[handler]
    fn meet(&mut self, ping: PingRef, holder: HolderRef<PingRef>) -> HolderRef<PongRef> {
        drop((ping, holder));
        unreachable!("nobody sends it")
    }
}

struct Holder<T> {
    value: T,
}

#[actor]
impl<T: Clone + Send + Sync + 'static> Holder<T> {
    #[handler]
    async fn hold(&self, value: Box<T>, of: Vec<T>, other: HolderRef<T>) -> Box<T> {
        drop((of, other));
        std::future::ready(()).await;
        let _ = &self.value;
        value
    }
}

fn local() {
    #[derive(Debug)]
    struct Argument;

    struct Local;

    #[actor]
    impl Local {
        #[handler]
        async fn tick(&mut self, argument: Argument, me: LocalRef, any: Vec<Arc<str>>) -> Argument {
            drop((me, any));
            std::future::ready(argument).await
        }
    }

    let _ = |local: &LocalRef| local.tick(Argument, local.clone(), Vec::new()).tell();
    let _ = Local;
}

fn sendable<T: Send + Sync + 'static>() {}

fn main() {
    local();
    sendable::<(PingRef, PongRef, HolderRef<u8>)>();
    let _ = |ping: &PingRef, pong: &PongRef, holder: &HolderRef<PingRef>| {
        ping.meet(ping.clone(), pong.clone(), HashMap::new()).tell();
        ping.introduce(pong.clone()).tell();
        pong.meet(ping.clone(), holder.clone()).tell();
        holder
            .hold(Box::new(ping.clone()), Vec::new(), holder.clone())
            .tell();
    };
    let _ = (Ping { peers: Vec::new() }, Pong, Holder { value: 1 }.value);
}
