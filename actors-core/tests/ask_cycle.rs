//! An ask that closes a cycle of waiting actors could never be answered: it fails at once, with the path (A7).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use actors_core::ActorState;
use actors_core::prelude::*;
use futures::future::join;

use common::recorder::{Recorder, RecorderRef};
use common::world::{beside, in_virtual_time, in_virtual_time_with, on_two_threads, timed};
use common::{Gate, settle};

/// What came of a chain of asks: how long the answer is, or the path of a cycle.
type Answer = Result<u64, String>;

fn answer(result: Result<Answer, AskError>) -> Answer {
    match result {
        Ok(answer) => answer,
        Err(AskError::Cycle(path)) => Err(path.to_string()),
        Err(other) => Err(other.to_string()),
    }
}

/// Asks the first of `route` to go on with the rest.
#[derive(Default)]
struct Node;

#[actor]
impl Node {
    #[handler]
    async fn walk(&mut self, mut route: Vec<NodeRef>) -> Told {
        match route.is_empty() {
            true => Told(Ok(0)),
            false => {
                let next = route.remove(0);
                Told(answer(next.walk(route).await.map(|told| told.0)).map(|steps| steps + 1))
            }
        }
    }

    /// Asks all at the same time.
    #[handler]
    async fn fan_out(&mut self, one: NodeRef, other: NodeRef, back: NodeRef) -> [Told; 2] {
        let asks = join(one.walk(vec![back.clone()]).ask(), other.walk(vec![]).ask());
        let (one, other) = asks.await;
        [one, other].map(|told| Told(answer(told.map(|told| told.0))))
    }

    /// Asks beside the handler, which does not wait for it.
    #[handler]
    fn ask_beside(
        &mut self,
        ctx: &mut ActorContext<Self>,
        route: Vec<NodeRef>,
        reply: ReplyTo<Told>,
    ) {
        let next = route[0].clone();
        let ask = next.walk(route[1..].to_vec()).ask();
        drop(beside(async move {
            reply.send(Told(answer(ask.await.map(|told| told.0))));
        }));
        let _ = ctx;
    }

    /// Polls an ask once and drops it, then asks again.
    #[handler]
    async fn change_mind(&mut self, first: NodeRef, then: NodeRef, gate: Gate) -> Told {
        let mut dropped = first.hold(gate.clone()).ask();
        assert!(futures::poll!(&mut dropped).is_pending());
        gate.reached(1).await;
        drop(dropped);
        Told(answer(then.walk(vec![first]).await.map(|told| told.0)))
    }

    #[handler]
    async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }
}

/// An answer, which is no `Result` to the handler's reply.
#[derive(Debug, PartialEq)]
struct Told(Answer);

fn nodes<const N: usize>(system: &ActorSystem) -> [NodeRef; N] {
    std::array::from_fn(|place| system.spawn(format!("n{place}"), Node::default).unwrap())
}

async fn walk(first: &NodeRef, route: &[&NodeRef]) -> Answer {
    let route = route.iter().map(|node| (*node).clone()).collect();
    answer(first.walk(route).await.map(|told| told.0))
}

#[test]
fn an_ask_that_closes_a_cycle_fails_at_once_with_the_path() {
    in_virtual_time(async |system| {
        let [a, b, c] = nodes(&system);
        let (took, answer) = timed(walk(&a, &[&b, &c, &a])).await;
        let path = "/test/n2 -> /test/n0 -> /test/n1 -> /test/n2";
        assert_eq!((took, answer), (ms(0), Err(path.to_owned())));
        assert_eq!(walk(&a, &[&b]).await, Ok(1), "nobody is left waiting");
    });
}

#[test]
fn a_cycle_of_two_is_found_from_either_side() {
    in_virtual_time(async |system| {
        let [a, b] = nodes(&system);
        assert_eq!(
            walk(&a, &[&b, &a]).await,
            Err("/test/n1 -> /test/n0 -> /test/n1".to_owned())
        );
        assert_eq!(
            walk(&b, &[&a, &b]).await,
            Err("/test/n0 -> /test/n1 -> /test/n0".to_owned())
        );
    });
}

#[test]
fn a_long_chain_of_asks_that_closes_no_cycle_is_answered() {
    in_virtual_time(async |system| {
        let nodes: [NodeRef; 200] = nodes(&system);
        let route: Vec<_> = nodes[1..].iter().collect();
        assert_eq!(walk(&nodes[0], &route).await, Ok(199));
    });
}

#[test]
fn an_actor_may_be_asked_again_once_it_was_answered() {
    in_virtual_time(async |system| {
        let [a, b, c] = nodes(&system);
        assert_eq!(walk(&a, &[&b, &c]).await, Ok(2));
        assert_eq!(walk(&c, &[&b, &a]).await, Ok(2), "the other way round");
    });
}

#[test]
fn asks_of_one_handler_to_several_actors_are_all_seen() {
    in_virtual_time(async |system| {
        let [a, b, c] = nodes(&system);
        let [one, other] = a.fan_out(b, c, a.clone()).await.unwrap();
        assert_eq!(
            one,
            Told(Err("/test/n1 -> /test/n0 -> /test/n1".to_owned()))
        );
        assert_eq!(other, Told(Ok(0)));
    });
}

#[test]
fn an_ask_that_was_dropped_closes_no_cycle() {
    in_virtual_time(async |system| {
        let [a, b, c] = nodes(&system);
        let gate = Gate::new();
        let asked = beside(a.change_mind(b.clone(), c, gate.clone()).ask());
        gate.reached(1).await;
        gate.open();
        assert_eq!(asked.await.unwrap(), Ok(Told(Ok(1))));
    });
}

#[test]
fn an_ask_beside_a_handler_that_does_not_wait_closes_no_cycle() {
    in_virtual_time(async |system| {
        let [a, b] = nodes(&system);
        let told = a.ask_beside(vec![b, a.clone()]).await;
        assert_eq!(told, Ok(Told(Ok(1))));
    });
}

#[test]
fn of_two_asks_that_close_a_cycle_together_at_least_one_fails_at_once() {
    on_two_threads(async |system| {
        let nodes: [NodeRef; 2] = nodes(&system);
        for _ in 0..300 {
            let asks = [0, 1].map(|place| {
                let (one, other) = (nodes[place].clone(), nodes[1 - place].clone());
                beside(async move { walk(&one, &[&other]).await })
            });
            for ask in asks {
                match ask.await.unwrap() {
                    Ok(steps) => assert_eq!(steps, 1),
                    Err(text) => assert!(text.contains(" -> "), "{text}"),
                }
            }
        }
    });
}

/// Waits for room at another actor, which may do the same.
#[derive(Default)]
struct Patient {
    other: Option<PatientRef>,
}

#[actor]
impl Patient {
    #[handler]
    fn meet(&mut self, other: PatientRef) {
        self.other = Some(other);
    }

    /// Asks the other, which asks this one, and so on for some rounds; each waits at the gate first.
    #[handler]
    async fn ask_other(&mut self, rounds: u64, gate: Gate) -> Told {
        gate.pass().await;
        let (Some(rounds), Some(other)) = (rounds.checked_sub(1), &self.other) else {
            return Told(Ok(0));
        };
        let told = other.ask_other(rounds, gate).ask().wait_for_room().await;
        Told(answer(told.map(|told| told.0)))
    }
}

#[test]
fn an_ask_that_would_wait_for_room_in_a_cycle_fails_at_once() {
    in_virtual_time(async |system| {
        let narrow = Mailbox::bounded(1);
        let one = system
            .actor(Patient::default)
            .name("one")
            .mailbox(narrow)
            .spawn()
            .unwrap();
        let two = system.spawn("two", Patient::default).unwrap();
        two.meet(one.clone()).await.unwrap();
        one.meet(two).await.unwrap();
        let gate = Gate::new();
        let asked = beside(timed(one.ask_other(2, gate.clone()).ask()));
        gate.reached(1).await;
        one.ask_other(0, gate.clone()).tell();
        gate.open();
        let path = "/test/two -> /test/one -> /test/two".to_owned();
        assert_eq!(asked.await.unwrap(), (ms(0), Ok(Told(Err(path)))));
    });
}

#[test]
fn without_detection_a_cycle_ends_by_its_deadline() {
    in_virtual_time_with(
        |builder| builder.detect_cycles(false),
        async |system| {
            let [a, b] = nodes(&system);
            let (took, answer) = timed(walk(&a, &[&b, &a])).await;
            assert_eq!(took, secs(5));
            assert!(answer.unwrap_err().contains("no reply in time"));
        },
    );
}

#[test]
fn asking_oneself_is_found_with_and_without_detection() {
    for detect in [true, false] {
        in_virtual_time_with(
            move |builder| builder.detect_cycles(detect),
            async move |system| {
                let [a] = nodes(&system);
                let (took, answer) = timed(walk(&a, &[&a])).await;
                let path = "/test/n0 -> /test/n0".to_owned();
                assert_eq!((took, answer), (ms(0), Err(path)), "detection: {detect}");
            },
        );
    }
}

#[test]
fn an_ask_to_an_actor_of_the_same_name_in_another_system_closes_no_cycle() {
    in_virtual_time(async |system| {
        let other = ActorSystem::new("test").unwrap();
        let ([here], [there]) = (nodes(&system), nodes(&other));
        assert_eq!(
            here.actor_id(),
            there.actor_id(),
            "or this would prove nothing"
        );
        assert_eq!(walk(&here, &[&there]).await, Ok(1));
        other.shutdown().await;
    });
}

/// Asks a child that escalates its failure, and so waits for this very actor.
#[derive(Default)]
struct Parent {
    child: Option<RecorderRef>,
}

#[actor(supervision = Supervision::one_for_one().on_panic(Directive::Escalate))]
impl Parent {
    #[on_start]
    fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Failure> {
        let child = ctx.actor(Recorder::default).name("child");
        self.child = Some(child.spawn()?);
        Ok(())
    }

    /// Asks after the failure.
    #[handler]
    async fn ask_late(&mut self) -> Told {
        let child = self.child.clone().unwrap();
        child.boom("on purpose").tell();
        settle().await;
        assert_eq!(child.actor_state(), ActorState::Deciding);
        Told(answer(child.echo(1).await.map(Ok)))
    }

    /// Asks before the child comes to its failure, with messages in between.
    #[handler]
    async fn ask_early(&mut self, between: u64) -> Told {
        let child = self.child.clone().unwrap();
        child.boom("on purpose").tell();
        (0..between).for_each(|number| child.note(number).tell());
        Told(answer(child.echo(1).await.map(Ok)))
    }

    #[handler]
    fn child(&self) -> RecorderRef {
        self.child.clone().unwrap()
    }
}

fn parent(system: &ActorSystem) -> ParentRef {
    let policy = Supervision::one_for_one().on_panic(Directive::Resume);
    system
        .actor(Parent::default)
        .name("parent")
        .supervision(policy)
        .spawn()
        .unwrap()
}

#[test]
fn asking_a_child_that_waits_for_ones_own_decision_is_found_with_and_without_detection() {
    let path = "/test/parent -> /test/parent/child -> /test/parent".to_owned();
    for detect in [true, false] {
        let path = path.clone();
        in_virtual_time_with(
            move |builder| builder.detect_cycles(detect),
            async move |system| {
                let parent = parent(&system);
                let told = timed(parent.ask_late().ask()).await;
                assert_eq!(
                    told,
                    (ms(0), Ok(Told(Err(path.clone())))),
                    "detection: {detect}"
                );
                assert_eq!(
                    parent.child().await.unwrap().echo(2).await,
                    Ok(2),
                    "it was decided"
                );
                for between in [0, 1, 10, 100] {
                    let told = timed(parent.ask_early(between).ask()).await;
                    assert_eq!(
                        told,
                        (ms(0), Ok(Told(Err(path.clone())))),
                        "{between} in between"
                    );
                    assert_eq!(parent.child().await.unwrap().echo(2).await, Ok(2));
                }
            },
        );
    }
}

/// Owns a child with little room, which escalates.
#[derive(Default)]
struct Narrow {
    child: Option<RecorderRef>,
}

#[actor(supervision = Supervision::one_for_one().on_panic(Directive::Escalate))]
impl Narrow {
    #[on_start]
    fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Failure> {
        let child = ctx
            .actor(Recorder::default)
            .name("child")
            .mailbox(Mailbox::bounded(1));
        self.child = Some(child.spawn()?);
        Ok(())
    }

    #[handler]
    fn child(&self) -> RecorderRef {
        self.child.clone().unwrap()
    }

    #[handler]
    async fn ask_child(&mut self) -> Told {
        let child = self.child.clone().unwrap();
        Told(answer(child.echo(1).await.map(Ok)))
    }
}

#[test]
fn the_room_of_an_ask_that_was_refused_goes_to_the_next_in_line() {
    in_virtual_time(async |system| {
        let policy = Supervision::one_for_one().on_panic(Directive::Resume);
        let narrow = system
            .actor(Narrow::default)
            .name("narrow")
            .supervision(policy)
            .spawn()
            .unwrap();
        let child = narrow.child().await.unwrap();
        let gate = Gate::new();
        child.boom_later(gate.clone(), "on purpose").tell();
        gate.reached(1).await;
        let asked = beside(narrow.ask_child().ask());
        settle().await;
        let next = beside(child.echo(7).ask().wait_for_room());
        settle().await;
        gate.open();
        let path = "/test/narrow -> /test/narrow/child -> /test/narrow".to_owned();
        assert_eq!(asked.await.unwrap(), Ok(Told(Err(path))));
        assert_eq!(next.await.unwrap(), Ok(7));
    });
}
