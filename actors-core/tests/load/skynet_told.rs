//! `skynet` by tells: each node spawns ten children and ends when it has told their sum to its parent. Some fail in the handler in
//! which they have asked for their own end.

use std::sync::{Arc, Mutex};

use actors_core::prelude::*;
use futures::channel::oneshot;

use super::{Account, EVENTS, Evidence, Inside, Number, Seen, Witness, patient, restart, restarts};
use crate::common::world::on_two_threads_with;

const LEAVES: u64 = 10_000;
const NODES: u64 = 11_111;

/// What all nodes know.
struct Sky {
    evidence: Arc<Evidence>,
    policy: Supervision,
    /// Whether a node may fail that goes on, or only one that ends.
    all_may_fail: bool,
    sum: Mutex<Option<oneshot::Sender<u64>>>,
}

/// Hears the sums of its children, and tells its own.
struct Node {
    parent: Option<NodeRef>,
    first: u64,
    size: u64,
    sum: u64,
    heard: u64,
    seen: Seen,
    sky: Arc<Sky>,
}

impl Node {
    fn factory(
        sky: &Arc<Sky>,
        parent: Option<NodeRef>,
        first: u64,
        size: u64,
    ) -> impl Fn() -> Self + Send + Sync + 'static {
        let (sky, witness) = (Arc::clone(sky), Witness::new(&sky.evidence));
        move || Self {
            parent: parent.clone(),
            first,
            size,
            sum: 0,
            heard: 0,
            seen: Seen::new(&witness),
            sky: Arc::clone(&sky),
        }
    }

    /// The number of what a node at a place tells, or else is told first.
    const fn number(first: u64, size: u64, seq: u64) -> Number {
        Number {
            sender: first * 7 + size,
            seq,
        }
    }

    /// Its handler goes on, and may fail if any may.
    fn go_on(&self, inside: Inside) {
        match self.sky.all_may_fail {
            true => inside.leave(),
            false => inside.leave_with(false),
        }
    }

    fn tell_and_end(&self, ctx: &mut ActorContext<Self>, inside: Inside) {
        let sum = if self.size == 1 { self.first } else { self.sum };
        match &self.parent {
            Some(parent) => parent.hear(self.first, sum).tell(),
            None => {
                let root = self.sky.sum.lock().unwrap().take();
                root.unwrap().send(sum).unwrap();
            }
        }
        ctx.stop();
        inside.leave();
    }
}

#[actor]
impl Node {
    #[handler]
    fn grow(&mut self, ctx: &mut ActorContext<Self>) {
        let number = Self::number(self.first, self.size, 0);
        let inside = self.seen.enter(number);
        if self.size == 1 {
            return self.tell_and_end(ctx, inside);
        }
        let size = self.size / 10;
        for first in (0..10).map(|child| self.first + child * size) {
            let node = ctx.actor(Self::factory(&self.sky, Some(ctx.me()), first, size));
            let node = node
                .name(first.to_string())
                .supervision(self.sky.policy.clone());
            node.spawn().unwrap().grow().tell();
        }
        self.go_on(inside);
    }

    #[handler]
    fn hear(&mut self, ctx: &mut ActorContext<Self>, first: u64, sum: u64) {
        let inside = self.seen.enter(Self::number(first, self.size / 10, 1));
        self.sum += sum;
        self.heard += 1;
        if self.heard == 10 {
            self.tell_and_end(ctx, inside);
        } else {
            self.go_on(inside);
        }
    }

    #[on_stop]
    fn end(&mut self, reason: &StopReason) {
        self.seen.witness.end(reason);
    }
}

fn adds_up(policy: Supervision, all_may_fail: bool) {
    on_two_threads_with(patient, async move |system| {
        let mut events = system.events_with_capacity(EVENTS);
        let (root, sum) = oneshot::channel();
        let sky = Arc::new(Sky {
            evidence: Arc::default(),
            policy: policy.clone(),
            all_may_fail,
            sum: Mutex::new(Some(root)),
        });
        let root = system.actor(Node::factory(&sky, None, 0, LEAVES));
        let root = root.name("root").supervision(policy).spawn().unwrap();
        root.grow().tell();
        assert_eq!(sum.await, Ok(LEAVES * (LEAVES - 1) / 2));

        // A parent ends after its children, so all is over with it.
        assert_eq!(root.stopped().await, StopReason::Stopped);
        let evidence = &sky.evidence;
        evidence.check();
        assert_eq!(evidence.begun.get(), NODES + NODES - 1);
        assert_eq!(Account::of(&system), evidence.account());
        // Who has asked for its end is not restarted, and keeps its reason.
        assert_eq!(
            (restarts(&mut events), evidence.states_made.get()),
            (0, NODES)
        );
        assert!(system.tree().nodes().is_empty());
        assert!(
            system
                .spawn("root", Node::factory(&sky, None, 0, 1))
                .is_ok()
        );
        assert_eq!(system.shutdown().await.total(), 1);
    });
}

#[test]
fn a_tree_of_11_111_actors_that_end_when_they_are_done_adds_up_when_failures_are_resumed() {
    adds_up(Supervision::resume(), true);
}

#[test]
fn a_tree_of_11_111_actors_that_end_when_they_are_done_adds_up_when_they_fail_at_their_end() {
    adds_up(restart(), false);
}
