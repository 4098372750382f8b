//! The matrix of OTP's supervisor: restart type, way to end, strategy, and what arrives meanwhile. What has to come of each cell
//! is computed by a model of its own.

mod common;

use actors_core::prelude::*;
use common::puppet::{Oops, PuppetRef};
use common::troupe::{Troupe, calm, together};
use common::{Gate, pass};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Normal,
    Failure,
    Killed,
    StartFails,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    OneForOne,
    OneForAll,
    RestForOne,
}

/// What arrives while the subject is down, or about to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    Nothing,
    /// An order to stop, for the subject.
    Stop,
    Shutdown,
    /// The younger sibling fails in a handler that ran when the subject ended.
    AnotherFailure,
}

/// The subject is the second of three children; its siblings are transient.
#[derive(Clone, Copy, Debug)]
struct Row {
    kind: RestartType,
    way: Way,
    strategy: Strategy,
    meanwhile: Meanwhile,
}

/// What becomes of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fate {
    /// The restarts of one that lives, or why it ended.
    end: Result<u32, String>,
    /// What it was told in time and has handled.
    handled: Vec<u32>,
    /// How much of what it was told became dead letters.
    dead: usize,
}

/// What the subject is told when it is about to end, in this order.
const QUEUE: [u32; 3] = [0, 1, 2];

/// What its siblings are told when it has ended.
const NOTE: u32 = 7;

/// How long a restart waits.
const WAIT: u64 = 1_000;

fn rows() -> impl Iterator<Item = Row> {
    use {Meanwhile as M, RestartType as R, Strategy as S, Way as W};
    let kinds = [R::Permanent, R::Transient, R::Temporary];
    let ways = [W::Normal, W::Failure, W::Killed, W::StartFails];
    let strategies = [S::OneForOne, S::OneForAll, S::RestForOne];
    let all = [M::Nothing, M::Stop, M::Shutdown, M::AnotherFailure];
    kinds.into_iter().flat_map(move |kind| {
        ways.into_iter().flat_map(move |way| {
            strategies.into_iter().flat_map(move |strategy| {
                all.into_iter().map(move |meanwhile| Row {
                    kind,
                    way,
                    strategy,
                    meanwhile,
                })
            })
        })
    })
}

/// Says what has to come of a row, for each of the three children.
fn model(row: Row) -> [Fate; 3] {
    const SUBJECT: usize = 1;
    const YOUNGER: usize = 2;
    let comes_back = match (row.way, row.kind) {
        (Way::Killed, _) | (_, RestartType::Temporary) => false,
        (Way::Normal, kind) => kind == RestartType::Permanent,
        (Way::Failure | Way::StartFails, _) => true,
    };
    let own_end = match row.way {
        Way::Normal => "stopped",
        Way::Failure => "failed: boom",
        Way::Killed => "killed",
        Way::StartFails => "failed: oops: no start",
    };
    let concerns = |failed: usize, other: usize| match row.strategy {
        Strategy::OneForOne => failed == other,
        Strategy::OneForAll => true,
        Strategy::RestForOne => other >= failed,
    };
    let mut goes_down = [0, 1, 2].map(|child| comes_back && concerns(SUBJECT, child));
    if row.meanwhile == Meanwhile::AnotherFailure && !goes_down[YOUNGER] {
        for (child, goes) in goes_down.iter_mut().enumerate() {
            *goes |= concerns(YOUNGER, child);
        }
    }
    [0, 1, 2].map(|child| {
        let end = match row.meanwhile {
            _ if child == SUBJECT && !comes_back => Err(own_end.to_owned()),
            Meanwhile::Stop if child == SUBJECT => Err("stopped".to_owned()),
            Meanwhile::Shutdown => Err("parent stopped".to_owned()),
            _ => Ok(u32::from(goes_down[child])),
        };
        let told = if child == SUBJECT {
            &QUEUE[..]
        } else {
            &[NOTE]
        };
        // A sibling that is not concerned handles what it is told at once, whatever becomes of it later.
        let at_once = child != SUBJECT && !(comes_back && concerns(SUBJECT, child));
        if end.is_ok() || at_once {
            Fate {
                end,
                handled: told.to_vec(),
                dead: 0,
            }
        } else {
            Fate {
                end,
                handled: Vec::new(),
                dead: told.len(),
            }
        }
    })
}

fn policy(strategy: Strategy) -> Supervision {
    let policy = match strategy {
        Strategy::OneForOne => Supervision::one_for_one(),
        Strategy::OneForAll => Supervision::one_for_all(),
        Strategy::RestForOne => Supervision::rest_for_one(),
    };
    policy.backoff(Backoff::fixed(ms(WAIT)))
}

/// Spawns the children; the subject is about to end, and has its queue.
async fn set_up(troupe: &Troupe, row: Row, ends: &Gate) -> [PuppetRef; 3] {
    let older = troupe.add("a").await;
    let kind = row.kind;
    let mut script = troupe.script("b");
    if row.way == Way::StartFails {
        let ends = ends.clone();
        script = script.on_start(move |ctx| {
            let fails = (ctx.restarts() == 0).then(|| ends.clone());
            Box::pin(async move {
                let Some(ends) = fails else { return Ok(()) };
                ends.pass().await;
                Err(Oops("no start").into())
            })
        });
    }
    let subject = troupe
        .add_as(script, move |spawn| spawn.restart_type(kind))
        .await;
    let younger = troupe.add("c").await;
    match row.way {
        Way::Killed => subject.hold(Gate::new()).tell(),
        Way::Normal | Way::Failure => subject.hold(ends.clone()).tell(),
        Way::StartFails => {}
    }
    calm().await;
    match row.way {
        Way::Normal => subject.act(Box::new(|ctx| ctx.stop())).tell(),
        Way::Failure => subject.crash("boom").tell(),
        Way::Killed | Way::StartFails => {}
    }
    for number in QUEUE {
        subject.number(number).tell();
    }
    [older, subject, younger]
}

/// Lets the row happen, and says what has come of it.
async fn play(troupe: &Troupe, row: Row) -> [Fate; 3] {
    let (ends, other) = (Gate::new(), Gate::new());
    let mut dead_letters = troupe.system.dead_letters();
    let children = set_up(troupe, row, &ends).await;
    let [older, subject, younger] = &children;
    if row.meanwhile == Meanwhile::AnotherFailure {
        younger.crash_at(other.clone(), "another failure").tell();
        calm().await;
    }
    match row.way {
        Way::Killed => drop(subject.kill()),
        Way::Normal | Way::Failure | Way::StartFails => ends.open(),
    }
    calm().await;
    older.number(NOTE).tell();
    younger.number(NOTE).tell();
    pass(ms(WAIT / 2)).await;
    match row.meanwhile {
        Meanwhile::Nothing => {}
        Meanwhile::Stop => drop(subject.stop()),
        Meanwhile::Shutdown => drop(troupe.system.shutdown()),
        Meanwhile::AnotherFailure => other.open(),
    }
    for _ in 0..10 {
        pass(ms(WAIT / 2)).await;
    }
    let mut dead = Vec::new();
    while let Some(letter) = dead_letters.try_next() {
        dead.push(letter.recipient.name().to_owned());
    }
    let (lines, restarts) = (troupe.log.take(), troupe.restarts());
    let mut fates = Vec::new();
    for (name, child) in ["a", "b", "c"].into_iter().zip(&children) {
        let lives = restarts.iter().find(|(other, _)| other == name);
        let end = match lives {
            Some((_, restarts)) => Ok(*restarts),
            None => Err(described(&child.stopped().await)),
        };
        let of = format!("{name} number ");
        let numbers = lines.iter().filter_map(|line| line.strip_prefix(&of));
        fates.push(Fate {
            end,
            handled: numbers
                .map(|number| number.parse().expect("it was a number"))
                .collect(),
            dead: dead.iter().filter(|other| *other == name).count(),
        });
    }
    fates.try_into().expect("three children")
}

fn described(reason: &StopReason) -> String {
    match reason.failure() {
        None => reason.name().to_owned(),
        Some(failure) => format!("{}: {}", reason.name(), failure.text()),
    }
}

#[test]
fn every_restart_type_ends_and_comes_back_in_every_way_under_every_strategy_as_the_model_says() {
    let mut count = 0;
    for row in rows() {
        count += 1;
        together(policy(row.strategy), async move |troupe| {
            assert_eq!(play(&troupe, row).await, model(row), "{row:?}");
        });
    }
    assert_eq!(count, 3 * 4 * 3 * 4);
}
