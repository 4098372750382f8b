//! The children of an actor, or of the system: a table of names under its own lock, and the order in which they stop.
//!
//! Adding, finding and removing a child takes constant time, whatever the number of its siblings. A dying child removes
//! itself, and only then tells its watchers: a name is free when anyone can know.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use crate::path::ChildName;
use crate::supervision::StopReason;
use crate::sync::Mutex;

use super::member::{Core, EndKind, Ending, Member, see_to_the_end};

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
    members: HashMap<ChildName, Arc<dyn Member>>,
    closed: bool,
}

impl Family {
    pub(crate) fn add(&self, child: Arc<dyn Member>) -> Result<(), NoRoom> {
        let name = ChildName(child.core().path.clone());
        let mut table = self.0.lock();
        if table.closed {
            return Err(NoRoom::Closed);
        }
        match table.members.entry(name) {
            std::collections::hash_map::Entry::Occupied(_) => Err(NoRoom::NameTaken),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(child);
                Ok(())
            }
        }
    }

    /// Removes the child that `core` belongs to.
    pub(super) fn remove(&self, core: &Core) {
        let mut table = self.0.lock();
        let name = core.path.name();
        let is_it = table
            .members
            .get(name)
            .is_some_and(|member| member.core().id == core.id);
        let member = if is_it {
            table.members.remove(name)
        } else {
            None
        };
        if table.members.len() * 8 < table.members.capacity() {
            let half = table.members.capacity() / 2;
            table.members.shrink_to(half);
        }
        drop(table);
        drop(member);
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn Member>> {
        self.0.lock().members.get(name).cloned()
    }

    /// All children, in start order.
    pub(crate) fn members(&self) -> Vec<Arc<dyn Member>> {
        let mut members: Vec<_> = self.0.lock().members.values().cloned().collect();
        members.sort_unstable_by_key(|member| member.core().id);
        members
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().members.len()
    }

    /// Refuses new children from now on.
    pub(crate) fn close(&self) {
        self.0.lock().closed = true;
    }

    /// Takes children again: a new incarnation begins.
    pub(crate) fn reopen(&self) {
        self.0.lock().closed = false;
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
            let own = child.core().stop_deadline();
            let deadline = match (own, deadline) {
                (Some(own), Some(rest)) => Some(own.min(rest)),
                (own, rest) => own.or(rest),
            };
            child.order(&Ending {
                kind,
                reason: reason.clone(),
                deadline,
            });
        };
        let (anonymous, named): (Vec<_>, Vec<_>) = self
            .members()
            .into_iter()
            .partition(|child| child.core().path.is_anonymous());
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
