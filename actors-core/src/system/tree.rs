//! Pictures of all actors, taken from outside, without recursion on the depth of the tree.

use std::fmt;
use std::sync::Arc;

use crate::path::{ActorId, ActorPath};

use super::SystemCore;
use super::counters::Counters;
use super::member::Member;
use super::state::ActorState;

/// One actor in a [`Tree`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TreeNode {
    /// Where it is.
    pub path: ActorPath,
    /// Which it is.
    pub id: ActorId,
    /// The name of its type, as [`std::any::type_name`] gives it.
    pub type_name: &'static str,
    /// What it is doing.
    pub state: ActorState,
    /// How many messages wait in its mailbox.
    pub mailbox_depth: usize,
    /// How often it was restarted since it was spawned, together with its siblings or alone.
    pub restarts: u32,
    /// Its distance from the system: 1 for a top-level actor.
    pub depth: usize,
}

/// A picture of all actors of a system: parents before their children, siblings in start order.
///
/// Its `Display` draws the tree.
#[derive(Clone, Debug)]
pub struct Tree {
    system: ActorPath,
    nodes: Vec<TreeNode>,
}

impl Tree {
    /// Returns all actors, parents before their children, siblings in start order.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// Returns the actor at a path written in full, as [`ActorPath`] displays it: with a slash and the name of the system first,
    /// such as `/app/pipeline/store`.
    pub fn find(&self, path: &str) -> Option<&TreeNode> {
        self.nodes.iter().find(|node| node.path.to_string() == path)
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.system)?;
        for node in &self.nodes {
            let indent = node.depth.min(64) * 2;
            let short = short_name(node.type_name);
            write!(
                f,
                "{:indent$}{} ({short}) {}",
                "",
                node.path.name(),
                node.state
            )?;
            if node.mailbox_depth > 0 {
                write!(f, ", {} queued", node.mailbox_depth)?;
            }
            if node.restarts > 0 {
                write!(f, ", restarted {}x", node.restarts)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Returns the name of a type without its path and its arguments.
fn short_name(full: &str) -> &str {
    let bare = full.split_once('<').map_or(full, |(bare, _)| bare);
    bare.rsplit_once("::").map_or(bare, |(_, name)| name)
}

/// Visits every actor that lives, parents before their children, siblings in start order, with its distance from the system.
pub(super) fn visit(system: &SystemCore, mut look: impl FnMut(&Arc<dyn Member>, usize)) {
    let mut stack: Vec<(Arc<dyn Member>, usize)> = Vec::new();
    stack.extend(
        system
            .family
            .members()
            .into_iter()
            .rev()
            .map(|member| (member, 1)),
    );
    while let Some((member, depth)) = stack.pop() {
        look(&member, depth);
        if let Some(family) = member.core().existing_family() {
            stack.extend(
                family
                    .members()
                    .into_iter()
                    .rev()
                    .map(|child| (child, depth + 1)),
            );
        }
    }
}

pub(super) fn picture(system: &SystemCore) -> Tree {
    let mut nodes = Vec::new();
    visit(system, |member, depth| {
        let core = member.core();
        nodes.push(TreeNode {
            path: core.path(),
            id: core.id,
            type_name: (core.kind.name)(),
            state: core.state(),
            mailbox_depth: member.depth(),
            restarts: core.restarts(),
            depth,
        });
    });
    Tree {
        system: system.path.clone(),
        nodes,
    }
}

pub(super) fn count(system: &SystemCore) -> Counters {
    let mut counters = system.counters.snapshot();
    visit(system, |member, _| {
        let core = member.core();
        counters.accepted += member.accepted();
        counters.handled += core.handled();
        counters.queued += member.depth() as u64;
        counters.running += u64::from(core.state() == ActorState::Busy);
    });
    counters
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn a_type_is_called_by_its_name_alone() {
        assert_eq!(short_name("bank::Account"), "Account");
        assert_eq!(short_name("shop::Stock<shop::Item>"), "Stock");
        assert_eq!(short_name("Account"), "Account");
    }
}
