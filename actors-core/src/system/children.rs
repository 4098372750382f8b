//! A set of children, each found by a name that it holds itself.
//!
//! They are in a row, in no order that anybody may rely on. Few are looked through; many have an index, which holds places of
//! the row and nothing else: it is small, so that finding room in it touches little memory, and the names are read in the order of
//! the row when it grows.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::path::{ActorId, RESERVED};

use super::member::{Core, Member};

/// So many are looked through; more have an index.
const FEW: usize = 16;

/// What a child is found by.
#[derive(PartialEq, Eq)]
pub(super) enum Key<'a> {
    Name(&'a str),
    /// Of one that has no name but that of its identity, of which no text is kept.
    Anonymous(u64),
}

impl<'a> Key<'a> {
    pub(super) fn of(core: &'a Core) -> Self {
        let anonymous = Self::Anonymous(core.id.as_u64());
        core.own_name().map_or(anonymous, Self::Name)
    }

    pub(super) fn parse(name: &'a str) -> Self {
        let id = name.strip_prefix(RESERVED).and_then(|id| id.parse().ok());
        // Of all texts that read as this number, one is the name.
        let is_name = |id: &u64| name == format!("{RESERVED}{id}");
        id.filter(is_name).map_or(Self::Name(name), Self::Anonymous)
    }
}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            // Nothing comes after it, so that it need not be told where it ends.
            Self::Name(name) => state.write(name.as_bytes()),
            Self::Anonymous(id) => state.write_u64(*id),
        }
    }
}

#[derive(Default)]
pub(super) struct Children {
    row: Vec<Arc<dyn Member>>,
    /// The places of all in the row; empty while they are few.
    index: HashTable<u32>,
    /// Keyed for this set alone: names may come from anybody.
    hasher: DefaultHashBuilder,
}

impl Children {
    pub(super) fn len(&self) -> usize {
        self.row.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<dyn Member>> {
        self.row.iter()
    }

    pub(super) fn find(&self, key: &Key<'_>) -> Option<&Arc<dyn Member>> {
        if self.is_indexed() {
            return self.find_indexed(self.hasher.hash_one(key), key);
        }
        self.row.iter().find(|child| Key::of(child.core()) == *key)
    }

    fn find_indexed(&self, hash: u64, key: &Key<'_>) -> Option<&Arc<dyn Member>> {
        let row = &self.row;
        let at = self
            .index
            .find(hash, |&at| Key::of(row[at as usize].core()) == *key)?;
        Some(&row[*at as usize])
    }

    /// Adds a child, unless its name is taken; says whether it has.
    pub(super) fn add(&mut self, child: Arc<dyn Member>) -> bool {
        if self.is_indexed() {
            return self.add_indexed(child);
        }
        let key = Key::of(child.core());
        // An identity is never taken.
        let may_be_taken = matches!(key, Key::Name(_));
        if may_be_taken && self.find(&key).is_some() {
            return false;
        }
        self.row.push(child);
        if self.row.len() > FEW {
            self.reindex();
        }
        true
    }

    fn add_indexed(&mut self, child: Arc<dyn Member>) -> bool {
        let key = Key::of(child.core());
        let hash = self.hasher.hash_one(&key);
        if self.find_indexed(hash, &key).is_some() {
            return false;
        }
        self.row.push(child);
        if self.index.len() == self.index.capacity() {
            self.reindex();
        } else {
            let at = place(self.row.len() - 1);
            self.index
                .insert_unique(hash, at, |_| unreachable!("there is room"));
        }
        true
    }

    /// Takes out the child that `core` belongs to.
    pub(super) fn remove(&mut self, core: &Core) -> Option<Arc<dyn Member>> {
        let at = self.take_place(core)?;
        let child = self.row.swap_remove(at);
        if let Some(moved) = self.row.get(at)
            && self.is_indexed()
        {
            let hash = self.hash_of(moved);
            let last = place(self.row.len());
            if let Some(moved) = self.index.find_mut(hash, |&at| at == last) {
                *moved = place(at);
            }
        }
        self.shrink();
        Some(child)
    }

    /// Finds where a child is in the row; the index forgets it.
    fn take_place(&mut self, core: &Core) -> Option<usize> {
        let row = &self.row;
        let is_it = |id: ActorId| id == core.id;
        if !self.is_indexed() {
            return row.iter().position(|child| is_it(child.core().id));
        }
        let hash = self.hasher.hash_one(Key::of(core));
        let entry = self
            .index
            .find_entry(hash, |&at| is_it(row[at as usize].core().id));
        entry.ok().map(|entry| entry.remove().0 as usize)
    }

    /// Gives memory back when many have gone.
    fn shrink(&mut self) {
        if self.row.len() * 8 < self.row.capacity() {
            self.row.shrink_to(self.row.capacity() / 2);
            self.reindex();
        }
    }

    fn is_indexed(&self) -> bool {
        self.index.capacity() > 0
    }

    /// Makes the index anew, with room for more; without it, if they are few.
    fn reindex(&mut self) {
        if self.row.len() <= FEW {
            self.index = HashTable::new();
            return;
        }
        let mut index = HashTable::with_capacity(self.row.len() + self.row.len() / 2);
        for (at, child) in self.row.iter().enumerate() {
            let hash = self.hash_of(child);
            index.insert_unique(hash, place(at), |_| unreachable!("there is room"));
        }
        self.index = index;
    }

    fn hash_of(&self, child: &Arc<dyn Member>) -> u64 {
        self.hasher.hash_one(Key::of(child.core()))
    }
}

/// A place in the row, as the index holds it.
fn place(at: usize) -> u32 {
    u32::try_from(at).expect("4,294,967,296 siblings take more memory than there is")
}
