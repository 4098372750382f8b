//! The children of an actor, or of the system: a table of names under its own lock, and the order in which they stop.
//!
//! Adding, finding and removing a child takes constant time, whatever the number of its siblings. A dying child removes
//! itself, and only then tells its watchers: a name is free when anyone can know.

use std::hash::{BuildHasher, Hash, Hasher};
use std::mem;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};
use tokio::time::Instant;

use crate::path::RESERVED;
use crate::supervision::{StopReason, Supervision};
use crate::sync::Mutex;

use super::breed::{Breed, Breeds, Kind, Options};
use super::deadlines::earlier;
use super::enforce::see_to_the_end;
use super::group::Group;
use super::member::{Core, Member};
use super::orders::{EndKind, Ending};

/// Why a child cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    NameTaken,
    Closed,
}

#[derive(Default)]
pub(crate) struct Family {
    /// Keyed for this table alone: names may come from anybody.
    hasher: DefaultHashBuilder,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    children: HashTable<Arc<dyn Member>>,
    breeds: Breeds,
    closed: bool,
    /// Made with the first child of a parent that restarts its children together.
    group: Option<Arc<Group>>,
}

/// What a child is found by. The child holds it itself, and the table nothing but the child.
#[derive(PartialEq, Eq)]
enum Key<'a> {
    Name(&'a str),
    /// Of one that has no name but that of its identity, of which no text is kept.
    Anonymous(u64),
}

impl<'a> Key<'a> {
    fn of(core: &'a Core) -> Self {
        let anonymous = Self::Anonymous(core.id.as_u64());
        core.own_name().map_or(anonymous, Self::Name)
    }

    fn parse(name: &'a str) -> Self {
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

impl Family {
    /// Finds what a child to come has in common with its siblings, or makes it.
    pub(crate) fn breed(
        &self,
        kind: &'static Kind,
        options: &Options,
        make: impl FnOnce() -> Breed,
    ) -> Arc<Breed> {
        if let Some(breed) = self.table.lock().breeds.find(kind, options) {
            return breed;
        }
        let breed = Arc::new(make());
        let forgotten = self.table.lock().breeds.note(&breed);
        drop(forgotten);
        breed
    }

    /// Adds a child; `policy` is its parent's.
    pub(crate) fn add(&self, child: Arc<dyn Member>, policy: &Supervision) -> Result<(), NoRoom> {
        let key = Key::of(child.core());
        let hash = self.hasher.hash_one(&key);
        let mut table = self.table.lock();
        if table.closed {
            return Err(NoRoom::Closed);
        }
        let is_taken = |other: &Arc<dyn Member>| Key::of(other.core()) == key;
        if table.children.find(hash, is_taken).is_some() {
            return Err(NoRoom::NameTaken);
        }
        table.children.insert_unique(hash, child, |child| {
            self.hasher.hash_one(Key::of(child.core()))
        });
        if table.group.is_none() && policy.strategy().is_group() {
            table.group = Some(Group::new(policy.clone()));
        }
        Ok(())
    }

    /// Removes the child that `core` belongs to.
    pub(super) fn remove(&self, core: &Core) {
        let hash = self.hasher.hash_one(Key::of(core));
        let mut table = self.table.lock();
        let entry = table
            .children
            .find_entry(hash, |child| child.core().id == core.id);
        let child = entry.ok().map(|entry| entry.remove().0);
        if table.children.len() * 8 < table.children.capacity() {
            let half = table.children.capacity() / 2;
            table
                .children
                .shrink_to(half, |child| self.hasher.hash_one(Key::of(child.core())));
        }
        drop(table);
        drop(child);
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn Member>> {
        let key = Key::parse(name);
        let hash = self.hasher.hash_one(&key);
        let table = self.table.lock();
        let child = table
            .children
            .find(hash, |child| Key::of(child.core()) == key);
        child.cloned()
    }

    /// All children, in start order.
    pub(crate) fn members(&self) -> Vec<Arc<dyn Member>> {
        let table = self.table.lock();
        let mut members: Vec<_> = table.children.iter().map(Arc::clone).collect();
        drop(table);
        members.sort_unstable_by_key(|member| member.core().id);
        members
    }

    pub(crate) fn len(&self) -> usize {
        self.table.lock().children.len()
    }

    /// The children as a group, if they are restarted together.
    pub(super) fn group(&self) -> Option<Arc<Group>> {
        self.table.lock().group.clone()
    }

    /// The children of a group, in start order; `None` if the family is closed, or the group is of an earlier incarnation.
    pub(super) fn members_of(&self, group: &Arc<Group>) -> Option<Vec<Arc<dyn Member>>> {
        let table = self.table.lock();
        let is_it = table
            .group
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(own, group));
        let holds = is_it && !table.closed;
        drop(table);
        holds.then(|| self.members())
    }

    /// Refuses new children from now on.
    pub(crate) fn close(&self) {
        self.table.lock().closed = true;
    }

    /// Takes children again: a new incarnation begins.
    pub(crate) fn reopen(&self) {
        let mut table = self.table.lock();
        table.closed = false;
        // What its children have in common is of the earlier one.
        let earlier = (table.group.take(), mem::take(&mut table.breeds));
        drop(table);
        drop(earlier);
    }

    /// Ends all children and waits for them: the named ones one after another in reverse start order, then the anonymous ones
    /// all at once. Each gets the smaller of its own deadline and `deadline`.
    ///
    /// Not cancel safe in one respect: dropped, it leaves children that have no order yet.
    pub(crate) async fn stop_all(
        &self,
        kind: EndKind,
        reason: StopReason,
        deadline: Option<Instant>,
    ) {
        self.close();
        let order = |child: &Arc<dyn Member>| {
            child.order(&Ending {
                kind,
                reason: reason.clone(),
                deadline: earlier(child.core().stop_deadline(), deadline),
            });
        };
        let (anonymous, named): (Vec<_>, Vec<_>) = self
            .members()
            .into_iter()
            .partition(|child| child.core().own_name().is_none());
        let at_once = kind == EndKind::Kill;
        if at_once {
            named.iter().rev().for_each(order);
        }
        for child in named.into_iter().rev() {
            if !at_once {
                order(&child);
            }
            see_to_the_end(child).await;
        }
        anonymous.iter().for_each(order);
        for child in anonymous {
            see_to_the_end(child).await;
        }
    }
}
