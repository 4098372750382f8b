//! Who waits for whom (promise A7): the edges between actors whose handlers wait for an ask.
//!
//! An ask made in a handler adds an edge from its actor to the asked one while it is unanswered. An ask that would close a
//! cycle cannot be answered before its own handler ends, so it fails instead, with the path. Adding the edge and checking is
//! one step under one lock: of two asks that close a cycle together, one sees the other.

use std::collections::HashMap;

use crate::error::CyclePath;
use crate::path::{ActorId, ActorPath};
use crate::sync::Mutex;

#[derive(Default)]
pub(crate) struct Waits(Mutex<HashMap<ActorId, Waiter>>);

/// An actor whose handler waits: for each ask that is unanswered, its key and whom it asked.
struct Waiter {
    path: ActorPath,
    asked: Vec<(u64, ActorId)>,
    next: u64,
}

impl Waits {
    /// Adds the edge `from` to `to`, unless it closes a cycle. Returns the key of the edge.
    pub(crate) fn add(&self, from: (ActorId, &ActorPath), to: ActorId) -> Result<u64, CyclePath> {
        let mut waits = self.0.lock();
        if let Some(mut cycle) = path_between(&waits, to, from.0) {
            cycle.insert(0, from.1.clone());
            return Err(CyclePath::new(cycle));
        }
        let waiter = waits.entry(from.0).or_insert_with(|| Waiter {
            path: from.1.clone(),
            asked: Vec::new(),
            next: 0,
        });
        waiter.next += 1;
        let key = waiter.next;
        waiter.asked.push((key, to));
        Ok(key)
    }

    pub(crate) fn remove(&self, from: ActorId, key: u64) {
        let mut waits = self.0.lock();
        let Some(waiter) = waits.get_mut(&from) else {
            return;
        };
        waiter.asked.retain(|(edge, _)| *edge != key);
        if waiter.asked.is_empty() {
            waits.remove(&from);
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.lock().len()
    }
}

/// Finds how `start` comes to wait for `goal`: the actors from `start` on, without the goal. A walk with its own stack.
fn path_between(
    waits: &HashMap<ActorId, Waiter>,
    start: ActorId,
    goal: ActorId,
) -> Option<Vec<ActorPath>> {
    if start == goal {
        return Some(Vec::new());
    }
    let mut came_from: HashMap<ActorId, ActorId> = HashMap::new();
    let mut stack = vec![start];
    while let Some(actor) = stack.pop() {
        for (_, next) in waits
            .get(&actor)
            .into_iter()
            .flat_map(|waiter| &waiter.asked)
        {
            if *next == goal {
                let mut path: Vec<ActorPath> =
                    std::iter::successors(Some(actor), |id| came_from.get(id).copied())
                        .filter_map(|id| waits.get(&id).map(|waiter| waiter.path.clone()))
                        .collect();
                path.reverse();
                return Some(path);
            }
            if *next != start && !came_from.contains_key(next) {
                came_from.insert(*next, actor);
                stack.push(*next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(id: u64) -> (ActorId, ActorPath) {
        (
            ActorId::new(id),
            ActorPath::root("test").child(id.to_string()),
        )
    }

    fn ask(waits: &Waits, from: u64, to: u64) -> Result<u64, String> {
        let (from, path) = actor(from);
        waits
            .add((from, &path), ActorId::new(to))
            .map_err(|cycle| cycle.to_string())
    }

    #[test]
    fn an_ask_that_closes_a_cycle_is_refused_with_the_path() {
        let waits = Waits::default();
        assert!(ask(&waits, 1, 2).is_ok());
        assert!(ask(&waits, 2, 3).is_ok());
        assert_eq!(
            ask(&waits, 3, 1),
            Err("/test/3 -> /test/1 -> /test/2 -> /test/3".to_owned())
        );
    }

    #[test]
    fn a_removed_edge_closes_nothing() {
        let waits = Waits::default();
        let key = ask(&waits, 1, 2).unwrap();
        waits.remove(ActorId::new(1), key);
        assert!(ask(&waits, 2, 1).is_ok());
    }

    #[test]
    fn two_edges_to_one_actor_are_removed_one_by_one() {
        let waits = Waits::default();
        let first = ask(&waits, 1, 2).unwrap();
        let second = ask(&waits, 1, 2).unwrap();
        waits.remove(ActorId::new(1), first);
        assert!(ask(&waits, 2, 1).is_err());
        waits.remove(ActorId::new(1), second);
        assert_eq!(waits.len(), 0);
    }
}
