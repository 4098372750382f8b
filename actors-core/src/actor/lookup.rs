//! Finding an actor by its path.

use std::sync::Arc;

use crate::error::LookupError;
use crate::system::ActorSystem;
use crate::system::member::Member;

use super::Actor;
use super::cell::Cell;
use super::reference::ActorRef;

impl ActorSystem {
    /// Finds an actor by its path: `/bank/accounts/alice` in the system `bank`, or `accounts/alice` for short.
    ///
    /// # Errors
    ///
    /// [`LookupError::Absent`] says as far as which actor the path exists, [`LookupError::WrongType`] which type is there.
    pub fn lookup<A: Actor>(&self, path: &str) -> Result<A::Ref, LookupError> {
        let member = self.find(path)?;
        let kind = member.core().kind;
        if (kind.type_id)() != std::any::TypeId::of::<A>() {
            return Err(LookupError::WrongType {
                path: path.to_owned(),
                wanted: std::any::type_name::<A>(),
                found: (kind.name)(),
            });
        }
        let cell: Arc<Cell<A::Msg>> = member
            .into_any()
            .downcast()
            .unwrap_or_else(|_| unreachable!("an actor type has one message type"));
        Ok(A::Ref::from(ActorRef::new(cell)))
    }

    fn find(&self, path: &str) -> Result<Arc<dyn Member>, LookupError> {
        let root = self.core.path.name();
        let absent = |found: String| LookupError::Absent {
            path: path.to_owned(),
            found,
        };
        let relative = match path.strip_prefix('/') {
            None => path,
            Some(absolute) => absolute
                .strip_prefix(root)
                .and_then(|rest| rest.strip_prefix('/'))
                .ok_or_else(|| absent(format!("/{root}")))?,
        };
        let mut found: Option<Arc<dyn Member>> = None;
        for name in relative.split('/') {
            let child = match &found {
                None => self.core.family.get(name),
                Some(parent) => parent
                    .core()
                    .existing_family()
                    .and_then(|family| family.get(name)),
            };
            let far = || {
                found
                    .as_ref()
                    .map_or_else(|| format!("/{root}"), |at| at.core().path().to_string())
            };
            found = Some(child.ok_or_else(|| absent(far()))?);
        }
        found.ok_or_else(|| absent(format!("/{root}")))
    }
}
