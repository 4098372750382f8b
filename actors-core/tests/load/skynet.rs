//! `skynet`: a tree of 11,111 actors in which each node asks its ten children for their sums, and asks again when they fail.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use actors_core::prelude::*;
use futures::future::join_all;

use super::{
    Account, BAD_LUCK, EVENTS, Evidence, Number, Seen, Tally, Witness, patient, restart, restarts,
};
use crate::common::panicked;
use crate::common::world::on_two_threads_with;

const LEAVES: u64 = 10_000;
const NODES: u64 = 11_111;

/// A place in the tree: the numbers of the leaves below it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    first: u64,
    size: u64,
}

impl Place {
    fn children(self) -> impl Iterator<Item = Self> {
        let size = self.size / 10;
        (0..10).map(move |child| Self {
            first: self.first + child * size,
            size,
        })
    }

    /// The number of a try to sum up what is below it.
    const fn number(self, attempt: u64) -> Number {
        Number {
            sender: self.first * 7 + self.size,
            seq: attempt,
        }
    }
}

/// What all nodes know.
struct Sky {
    evidence: Arc<Evidence>,
    directive: Directive,
    policy: Supervision,
    /// The witness of each place, whoever is there, and how often its sum was tried.
    places: Mutex<HashMap<Place, (Arc<Witness>, u64)>>,
    spawned: Tally,
    asked: Tally,
}

impl Sky {
    fn node(self: &Arc<Self>, place: Place) -> impl Fn() -> Node + Send + Sync + 'static {
        self.spawned.add(1);
        let sky = Arc::clone(self);
        move || Node {
            place,
            children: HashMap::new(),
            seen: Seen::new(&sky.witness(place)),
            sky: Arc::clone(&sky),
        }
    }

    fn witness(&self, place: Place) -> Arc<Witness> {
        let mut places = self.places.lock().unwrap();
        let known = places
            .entry(place)
            .or_insert_with(|| (Witness::new(&self.evidence), 0));
        Arc::clone(&known.0)
    }

    fn next_attempt(&self, place: Place) -> Number {
        let mut places = self.places.lock().unwrap();
        let attempts = &mut places.get_mut(&place).unwrap().1;
        *attempts += 1;
        place.number(*attempts)
    }
}

/// Sums up what is below it.
struct Node {
    place: Place,
    children: HashMap<Place, NodeRef>,
    seen: Seen,
    sky: Arc<Sky>,
}

#[actor]
impl Node {
    #[handler]
    async fn sum(&mut self, ctx: &mut ActorContext<Self>) -> u64 {
        let number = self.sky.next_attempt(self.place);
        let inside = self.seen.enter(number);
        // Half of those that have bad luck have it before their work is done.
        let is_early = number.is_unlucky() && number.mixed().is_multiple_of(200);
        if is_early || self.place.size == 1 {
            inside.leave();
            return self.place.first;
        }
        let sum = self.sum_of_children(ctx).await;
        inside.leave();
        sum
    }
}

impl Node {
    async fn sum_of_children(&mut self, ctx: &mut ActorContext<Self>) -> u64 {
        let mut sum = 0;
        let mut open: Vec<_> = self.place.children().collect();
        while !open.is_empty() {
            let asks = open.iter().map(|&place| self.child(ctx, place).sum().ask());
            let answers = join_all(asks.collect::<Vec<_>>()).await;
            let mut failed = Vec::new();
            for (place, answer) in open.into_iter().zip(answers) {
                self.sky.asked.add(1);
                match answer {
                    Ok(below) => sum += below,
                    Err(AskError::Panicked(text)) if &*text == BAD_LUCK => failed.push(place),
                    Err(other) => self.sky.evidence.complain(format_args!("A1: {other}")),
                }
            }
            self.bury_the_dead(&failed).await;
            open = failed;
        }
        sum
    }

    /// Finds the child at a place, or spawns it, by the same name as its predecessor.
    fn child(&mut self, ctx: &mut ActorContext<Self>, place: Place) -> NodeRef {
        let sky = &self.sky;
        let known = self.children.entry(place);
        let child = known.or_insert_with(|| {
            let child = ctx.actor(sky.node(place)).name(place.first.to_string());
            child.supervision(sky.policy.clone()).spawn().unwrap()
        });
        child.clone()
    }

    /// Waits for the ends of those that failed, if that is what failures lead to.
    async fn bury_the_dead(&mut self, failed: &[Place]) {
        if self.sky.directive != Directive::Stop {
            return;
        }
        for place in failed {
            let reason = self.children.remove(place).unwrap().stopped().await;
            if !matches!(reason, StopReason::Failed(_)) {
                self.sky.evidence.complain(format_args!("F: {reason}"));
            }
        }
    }
}

impl Sky {
    fn new(directive: Directive) -> Arc<Self> {
        let policy = match directive {
            Directive::Restart => restart(),
            Directive::Stop => Supervision::stop(),
            _ => Supervision::resume(),
        };
        Arc::new(Self {
            evidence: Arc::default(),
            directive,
            policy,
            places: Mutex::default(),
            spawned: Tally::default(),
            asked: Tally::default(),
        })
    }

    /// Spawns roots until one of them has come to a sum, as each node does with its children.
    async fn sum(self: &Arc<Self>, system: &ActorSystem) -> (NodeRef, u64) {
        let place = Place {
            first: 0,
            size: LEAVES,
        };
        loop {
            let root = system.actor(self.node(place)).name("root");
            let root: NodeRef = root.supervision(self.policy.clone()).spawn().unwrap();
            loop {
                self.asked.add(1);
                match root.sum().await {
                    Ok(sum) => return (root, sum),
                    Err(error) => assert_eq!(error, panicked(BAD_LUCK)),
                }
                if self.directive == Directive::Stop {
                    root.stopped().await;
                    break;
                }
            }
        }
    }
}

fn adds_up(directive: Directive) {
    on_two_threads_with(patient, async move |system| {
        let mut events = system.events_with_capacity(EVENTS);
        let sky = Sky::new(directive);
        let (root, sum) = sky.sum(&system).await;
        assert_eq!(sum, LEAVES * (LEAVES - 1) / 2);
        assert_eq!(system.tree().nodes().len() as u64, NODES);

        assert_eq!(root.stop().await, StopReason::Stopped);
        let evidence = &sky.evidence;
        evidence.check();
        assert_eq!(evidence.begun.get(), sky.asked.get());
        assert_eq!(Account::of(&system), evidence.account());
        let (spawned, failed) = (sky.spawned.get(), evidence.panicked.get());
        let is_restarted = directive == Directive::Restart;
        let restarted = if is_restarted { failed } else { 0 };
        assert_eq!(restarts(&mut events), restarted);
        assert_eq!(evidence.states_made.get(), spawned + restarted);
        match directive {
            Directive::Resume => assert_eq!(spawned, NODES),
            // Whoever fails with children loses them.
            _ => assert!(spawned > NODES),
        }
        assert!(system.tree().nodes().is_empty());
        assert!(
            system
                .spawn("root", sky.node(Place { first: 0, size: 1 }))
                .is_ok()
        );
        assert_eq!(system.shutdown().await.total(), 1);
    });
}

#[test]
fn a_tree_of_11_111_actors_adds_up_when_failures_are_resumed() {
    adds_up(Directive::Resume);
}

#[test]
fn a_tree_of_11_111_actors_adds_up_when_failures_restart_nodes_without_their_children() {
    adds_up(Directive::Restart);
}

#[test]
fn a_tree_of_11_111_actors_adds_up_when_failed_nodes_are_stopped_and_replaced_by_name() {
    adds_up(Directive::Stop);
}
