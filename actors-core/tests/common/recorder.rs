//! An actor that writes down the numbers it is told, and otherwise does what a test wants a handler to do.

use std::sync::{Arc, Mutex};

use actors_core::prelude::*;

use super::Gate;

/// What actors write down, in order; it outlives their incarnations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers(Arc<Mutex<Vec<u64>>>);

impl Numbers {
    pub(crate) fn add(&self, number: u64) {
        self.0.lock().unwrap().push(number);
    }

    pub(crate) fn entries(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }
}

/// Does what it is told, and writes down the numbers that it is told.
#[derive(Default)]
pub(crate) struct Recorder {
    log: Numbers,
    kept: Vec<ReplyTo<u64>>,
}

impl Recorder {
    /// A factory of recorders that write to `log`.
    pub(crate) fn writing_to(log: &Numbers) -> impl Fn() -> Self + Send + Sync + 'static {
        let log = log.clone();
        move || Self {
            log: log.clone(),
            kept: Vec::new(),
        }
    }
}

#[actor]
impl Recorder {
    #[handler]
    pub(crate) fn note(&mut self, number: u64) {
        self.log.add(number);
    }

    /// Writes `number` down and answers it.
    #[handler]
    pub(crate) fn echo(&mut self, number: u64) -> u64 {
        self.log.add(number);
        number
    }

    /// Writes `number` down, waits at the gate, and answers it.
    #[handler]
    pub(crate) async fn wait(&mut self, gate: Gate, number: u64) -> u64 {
        self.log.add(number);
        gate.pass().await;
        number
    }

    /// Waits at the gate.
    #[handler]
    pub(crate) async fn hold(&mut self, gate: Gate) {
        gate.pass().await;
    }

    #[handler]
    pub(crate) fn boom(&mut self, text: &'static str) -> u64 {
        panic!("{text}");
    }

    #[handler]
    pub(crate) async fn boom_later(&mut self, gate: Gate, text: &'static str) -> u64 {
        gate.pass().await;
        panic!("{text}");
    }

    /// Answers with an error.
    #[handler]
    pub(crate) fn refuse(&mut self, why: &'static str) -> Result<u64, &'static str> {
        Err(why)
    }

    /// Waits at the gate, and answers with an error.
    #[handler]
    pub(crate) async fn refuse_later(
        &mut self,
        gate: Gate,
        why: &'static str,
    ) -> Result<u64, &'static str> {
        gate.pass().await;
        Err(why)
    }

    /// Keeps the way back, to answer when it is told to.
    #[handler]
    pub(crate) fn keep(&mut self, reply: ReplyTo<u64>) {
        self.kept.push(reply);
    }

    /// Answers all that were kept, in order, with this number and those that follow.
    #[handler]
    pub(crate) fn answer_kept(&mut self, first: u64) {
        for (reply, number) in self.kept.drain(..).zip(first..) {
            reply.send(number);
        }
    }

    /// Drops all that were kept.
    #[handler]
    pub(crate) fn drop_kept(&mut self) {
        self.kept.clear();
    }
}

/// Spawns a recorder that writes to a new log.
pub(crate) fn recorder(system: &ActorSystem) -> (RecorderRef, Numbers) {
    let log = Numbers::default();
    let recorder = system.spawn_anonymous(Recorder::writing_to(&log)).unwrap();
    (recorder, log)
}

/// Spawns a recorder with a mailbox of its own that writes to a new log.
pub(crate) fn recorder_with(system: &ActorSystem, mailbox: Mailbox) -> (RecorderRef, Numbers) {
    let log = Numbers::default();
    let recorder = system.actor(Recorder::writing_to(&log)).mailbox(mailbox);
    (recorder.spawn().unwrap(), log)
}

/// Brings a recorder to wait in a handler; the gate lets it go on.
pub(crate) async fn held(recorder: &RecorderRef) -> Gate {
    let gate = Gate::new();
    recorder.hold(gate.clone()).tell();
    gate.reached(1).await;
    gate
}
