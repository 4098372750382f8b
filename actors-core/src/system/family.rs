//! The children of an actor, or of the system: a table of names under its own lock, and the order in which they stop.
//!
//! Adding, finding and removing a child takes constant time, whatever the number of its siblings. A dying child removes
//! itself, and only then tells its watchers: a name is free when anyone can know.

use std::mem;
use std::sync::Arc;

use tokio::time::Instant;

use crate::supervision::{StopReason, Supervision};
use crate::sync::Mutex;

use super::breed::{Breed, Breeds, Kind, Options};
use super::children::{Children, Key};
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
pub(crate) struct Family(Mutex<Table>);

#[derive(Default)]
struct Table {
    children: Children,
    breeds: Breeds,
    closed: bool,
    /// Made with the first child of a parent that restarts its children together.
    group: Option<Arc<Group>>,
}

impl Family {
    /// Finds what a child to come has in common with its siblings, or makes it.
    pub(crate) fn breed(
        &self,
        kind: &'static Kind,
        options: &Options,
        make: impl FnOnce() -> Breed,
    ) -> Arc<Breed> {
        if let Some(breed) = self.0.lock().breeds.find(kind, options) {
            return breed;
        }
        let breed = Arc::new(make());
        let forgotten = self.0.lock().breeds.note(&breed);
        drop(forgotten);
        breed
    }

    /// Adds a child; `policy` is its parent's.
    pub(crate) fn add(&self, child: Arc<dyn Member>, policy: &Supervision) -> Result<(), NoRoom> {
        let mut table = self.0.lock();
        if table.closed {
            return Err(NoRoom::Closed);
        }
        if !table.children.add(child) {
            return Err(NoRoom::NameTaken);
        }
        if table.group.is_none() && policy.strategy().is_group() {
            table.group = Some(Group::new(policy.clone()));
        }
        Ok(())
    }

    /// Removes the child that `core` belongs to.
    pub(super) fn remove(&self, core: &Core) {
        let child = self.0.lock().children.remove(core);
        drop(child);
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn Member>> {
        let key = Key::parse(name);
        self.0.lock().children.find(&key).map(Arc::clone)
    }

    /// All children, in start order.
    pub(crate) fn members(&self) -> Vec<Arc<dyn Member>> {
        let table = self.0.lock();
        let mut members: Vec<_> = table.children.iter().map(Arc::clone).collect();
        drop(table);
        members.sort_unstable_by_key(|member| member.core().id);
        members
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().children.len()
    }

    /// The children as a group, if they are restarted together.
    pub(super) fn group(&self) -> Option<Arc<Group>> {
        self.0.lock().group.clone()
    }

    /// The children of a group, in start order; `None` if the family is closed, or the group is of an earlier incarnation.
    pub(super) fn members_of(&self, group: &Arc<Group>) -> Option<Vec<Arc<dyn Member>>> {
        let table = self.0.lock();
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
        self.0.lock().closed = true;
    }

    /// Takes children again: a new incarnation begins.
    pub(crate) fn reopen(&self) {
        let mut table = self.0.lock();
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
