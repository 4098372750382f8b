//! Names and identities of actors.
//!
//! A path is a shared, linked list of names from the actor up to its system, so that a deep tree costs one node an
//! actor, and not one string of the whole path; and an actor without children has no node until somebody asks for its path. An
//! [`ActorId`] is never used twice within a system; a path is, as soon as its name is free again.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ecow::EcoString;

/// The character that starts the names made by the system, of anonymous actors for example.
pub(crate) const RESERVED: char = '$';

/// Identifies one actor within its system, through all its restarts, and is never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(u64);

impl ActorId {
    pub(crate) const fn new(id: u64) -> Self {
        Self(id)
    }

    /// Returns the number behind the identity: 1 for the first actor of a system, then rising.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The place of an actor in the tree of its system: `/bank/accounts/alice` for the actor `alice`, child of `accounts`, in
/// the system `bank`.
///
/// A clone is one reference count. Comparing and hashing walk the names.
#[derive(Clone)]
pub struct ActorPath(Arc<Node>);

struct Node {
    name: EcoString,
    parent: Option<ActorPath>,
}

impl ActorPath {
    pub(crate) fn root(system: &str) -> Self {
        Self(Arc::new(Node {
            name: system.into(),
            parent: None,
        }))
    }

    pub(crate) fn child(&self, name: impl Into<EcoString>) -> Self {
        Self(Arc::new(Node {
            name: name.into(),
            parent: Some(self.clone()),
        }))
    }

    /// Returns the actor's own name, the last part of the path.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the path of the parent; the parent of a top-level actor is its system, whose path has no parent.
    pub fn parent(&self) -> Option<&Self> {
        self.0.parent.as_ref()
    }

    /// Returns the number of steps to the system: 0 for the system itself, 1 for its top-level actors.
    pub fn depth(&self) -> usize {
        self.ancestors().count() - 1
    }

    /// Says whether the actor got its name from the system because it was spawned without one.
    pub fn is_anonymous(&self) -> bool {
        self.name().starts_with(RESERVED)
    }

    /// Yields this path, its parent's, and so on up to the system's.
    fn ancestors(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |path| path.parent())
    }
}

impl PartialEq for ActorPath {
    fn eq(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self, other);
        loop {
            if Arc::ptr_eq(&left.0, &right.0) {
                return true;
            }
            if left.name() != right.name() {
                return false;
            }
            (left, right) = match (left.parent(), right.parent()) {
                (Some(left), Some(right)) => (left, right),
                (None, None) => return true,
                _ => return false,
            };
        }
    }
}

impl Eq for ActorPath {}

impl Hash for ActorPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for path in self.ancestors() {
            path.name().hash(state);
        }
    }
}

impl fmt::Display for ActorPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.ancestors().map(Self::name).collect();
        names.reverse();
        for name in names {
            write!(f, "/{name}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for ActorPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Lets go of a chain of parents one by one: without this, the last reference to a deep path would recurse once a level.
impl Drop for Node {
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(ActorPath(node)) = parent {
            parent = Arc::into_inner(node).and_then(|mut node| node.parent.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_from_the_system_down() {
        let path = ActorPath::root("bank").child("accounts").child("alice");
        assert_eq!(path.to_string(), "/bank/accounts/alice");
        assert_eq!((path.name(), path.depth()), ("alice", 2));
    }

    #[test]
    fn paths_are_equal_by_their_names() {
        let one = ActorPath::root("bank").child("a");
        assert_eq!(one, ActorPath::root("bank").child("a"));
        assert_ne!(one, ActorPath::root("shop").child("a"));
        assert_ne!(one, ActorPath::root("bank").child("a").child("a"));
    }

    #[test]
    fn the_last_reference_to_a_deep_path_drops_on_a_small_stack() {
        let deep = (0..200_000).fold(ActorPath::root("deep"), |path, _| path.child("x"));
        std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn(move || drop(deep))
            .unwrap()
            .join()
            .unwrap();
    }
}
