//! Who failed.

use crate::path::{ActorId, ActorPath};

/// The child that failed, as a decider sees it.
#[derive(Clone, Debug)]
pub struct ChildInfo {
    path: ActorPath,
    id: ActorId,
    restarts: u32,
}

impl ChildInfo {
    pub(crate) fn new(path: ActorPath, id: ActorId, restarts: u32) -> Self {
        Self { path, id, restarts }
    }

    /// Returns the path of the child.
    pub fn path(&self) -> &ActorPath {
        &self.path
    }

    /// Returns the name of the child, the last part of its path.
    pub fn name(&self) -> &str {
        self.path.name()
    }

    /// Returns the identity of the child.
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// Returns how often the child has been restarted.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }
}
