//! Type and const parameters, `where` clauses, a part of them fixed, and names that ours could meet.

#![deny(warnings)]

use actors_core::prelude::*;
use std::{collections::HashMap, hash::Hash};

struct Cache<K, V, const N: usize> {
    entries: HashMap<K, V>,
    bytes: [u8; N],
}

#[actor]
impl<K: Eq + Hash + Send + 'static, V, const N: usize> Cache<K, V, N>
where
    V: Clone + Send + 'static,
{
    const LIMIT: usize = 4;

    #[handler]
    fn get(&mut self, key: K) -> Option<V> {
        self.entries.get(&key).cloned()
    }

    #[handler]
    async fn put(&mut self, key: K, value: V, bytes: [u8; N]) -> Result<Option<V>, V> {
        self.bytes = bytes;
        if self.entries.len() == Self::LIMIT {
            return Err(value);
        }
        Ok(self.entries.insert(key, value))
    }

    #[on_start]
    async fn start(&mut self, ctx: &mut ActorContext<Self>) {
        let _ = (ctx, self.bytes);
    }
}

/// Its parameter is called as ours would be.
struct A<A1> {
    value: A1,
}

#[actor]
impl<A1: Send + 'static> A<A1> {
    #[handler]
    fn replace(&mut self, value: A1) -> A1 {
        std::mem::replace(&mut self.value, value)
    }
}

struct Fixed<K, V>(K, V);

#[actor]
impl<V: Send + 'static> Fixed<String, V> {
    #[handler]
    fn first(&self) -> String {
        self.0.clone()
    }

    #[handler]
    fn second(&mut self, value: V) -> V {
        std::mem::replace(&mut self.1, value)
    }
}

struct Unused<T>(std::marker::PhantomData<T>);

#[actor]
impl<T: Send + 'static> Unused<T> {
    #[handler]
    fn tick(&mut self) {
        let _ = self.0;
    }
}

struct Idle<T>(T);

#[actor]
impl<T: Send + 'static> Idle<T> {}

struct Nothing;

#[actor]
impl Nothing {}

struct Lengths<const N: usize>;

#[actor]
impl<const N: usize> Lengths<N> {
    #[handler]
    fn length(&self, bytes: [u8; N]) -> usize {
        bytes.len()
    }
}

fn main() {
    let _ = |cache: &CacheRef<String, u8, 3>, a: &ARef<u8>, fixed: &FixedRef<u8>| {
        cache.get(String::new()).tell();
        cache.put(String::new(), 1, [0; 3]).tell();
        a.replace(2).tell();
        fixed.first().tell();
        fixed.second(2).tell();
    };
    let _ = |unused: &UnusedRef<u8>, lengths: &LengthsRef<2>| {
        unused.tick().tell();
        lengths.length([1; 2]).tell();
    };
    let _: Option<(IdleRef<u8>, NothingRef)> = None;
    let cache = Cache::<String, u8, 1> {
        entries: HashMap::new(),
        bytes: [0],
    };
    let _ = (
        cache,
        A { value: 1 },
        Fixed(String::new(), 1),
        Unused::<u8>(Default::default()),
    );
    let _ = (Idle(1).0, Nothing, Lengths::<1>);
}
