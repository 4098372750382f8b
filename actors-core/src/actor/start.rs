//! The start of an incarnation: factory, `on_start`, and what becomes of a start that fails.

use std::sync::Arc;

use crate::error::AskFailure;
use crate::event::LifecycleEvent;
use crate::panic::{self, Guarded, PanicText};
use crate::supervision::{Failure, FailureOrigin};
use crate::system::ActorState;
use crate::system::orders::Signal;

use super::Actor;
use super::activation::answer_orphans;
use super::context::ActorContext;
use super::drive::{Driven, Patience};
use super::factory::{Made, spent};
use super::lifecycle::{Born, Exit, Judged, Life, work};

impl<A: Actor> Life<A> {
    /// Starts an incarnation, again and again if the policy says so. There is none when the actor ends.
    pub(super) async fn start(&mut self) -> Guarded<Born<A>> {
        loop {
            match self.try_start().await {
                Ok(born) => return Guarded::new(born),
                Err(exit) => {
                    if !self.leave(exit).await {
                        return Guarded::empty();
                    }
                }
            }
        }
    }

    /// Makes the state and runs `on_start`.
    async fn try_start(&mut self) -> Result<Born<A>, Exit> {
        self.look();
        if self.seen.is_stopping() {
            return Err(Exit::Stop);
        }
        self.set_handler(None);
        if let Some(family) = self.cell.core.existing_family() {
            family.reopen();
        }
        let mut ctx = ActorContext::new(Arc::clone(&self.cell), self.incarnation);
        let mut state = match self.make_state().await {
            Ok(state) => state,
            Err(end) => return Err(self.fail_start(None, ctx, end).await),
        };
        self.look();
        if self.seen.is_stopping() {
            return Err(self.fail_start(Some(state), ctx, StartEnd::Cut).await);
        }
        match self.run_start(&mut state, &mut ctx).await {
            Ok(()) => {}
            Err(end) => return Err(self.fail_start(Some(state), ctx, end).await),
        }
        if self.cell.core.is_abandoned() {
            return Err(self.fail_start(Some(state), ctx, StartEnd::Cut).await);
        }
        self.tell_started();
        let state = state.into_inner();
        Ok(Born { state, ctx })
    }

    /// The incarnation is ready for messages.
    fn tell_started(&mut self) {
        let core = &self.cell.core;
        if let Some(record) = &mut self.record {
            record.running(core.system.clock.now());
        }
        core.set_state(ActorState::Ready);
        if self.incarnation == 0 {
            core.detail(|actor, id| LifecycleEvent::Started { actor, id });
        } else {
            let restarts = core.restarts();
            core.detail(|actor, id| LifecycleEvent::Restarted {
                actor,
                id,
                restarts,
            });
        }
        self.cell.tell_started();
    }

    async fn make_state(&mut self) -> Result<Guarded<A>, StartEnd> {
        let made = panic::catch(|| self.source.make());
        if self.source.is_spent() {
            self.source = Guarded::new(spent());
        }
        let made = match made {
            Err(text) => return Err(StartEnd::panic(text)),
            Ok(Made::Now(made)) => made,
            Ok(Made::Later(future)) => match self.drive(work(future), Patience::UntilCut).await {
                Driven::Done(made) => made,
                Driven::Panicked(text) => return Err(StartEnd::panic(text)),
                Driven::Cut => return Err(StartEnd::Cut),
            },
        };
        made.map(Guarded::new)
            .map_err(|failure| StartEnd::Failed(failure.at(FailureOrigin::Start)))
    }

    async fn run_start(
        &mut self,
        state: &mut A,
        ctx: &mut ActorContext<A>,
    ) -> Result<(), StartEnd> {
        let flow = panic::catch(|| state.on_start(ctx));
        let flow = self.finish_hook(flow, None).await;
        match flow {
            Driven::Panicked(text) => Err(StartEnd::panic(text)),
            Driven::Cut => Err(StartEnd::Cut),
            Driven::Done(Some(failure)) => Err(StartEnd::Failed(failure.at(FailureOrigin::Start))),
            Driven::Done(None) => match self.own_failure(ctx.incarnation()) {
                Some(failure) => Err(StartEnd::Failed(failure.at(FailureOrigin::Start))),
                None => Ok(()),
            },
        }
    }

    /// What the actor said of itself through its context while it started.
    fn own_failure(&self, current: u32) -> Option<Failure> {
        let word = self.cell.mail.amend(|control| {
            let signals = &mut control.as_mut()?.signals;
            let own = signals.iter().position(
                |signal| matches!(signal, Signal::Own { incarnation, .. } if *incarnation == current),
            )?;
            match signals.remove(own)? {
                Signal::Own { word, .. } => Some(word),
                Signal::Child { .. } => None,
            }
        })?;
        Some(word.into_failure())
    }

    /// Cleans up after a start that failed or was cut: no hook runs, but children may have been spawned.
    async fn fail_start(
        &mut self,
        state: Option<Guarded<A>>,
        ctx: ActorContext<A>,
        end: StartEnd,
    ) -> Exit {
        let exit = match end {
            StartEnd::Cut => self.called_off(),
            StartEnd::Failed(failure) => match self.judge(failure).await {
                Judged::Exit(exit) => exit,
                // A failed start cannot be resumed; the policy knows.
                Judged::Resume => Exit::Stop,
            },
        };
        self.tidy(ctx, &exit).await;
        if let Some(state) = state {
            self.drop_state(state);
        }
        if matches!(exit, Exit::Recall { .. }) {
            self.cell.tell_not_started();
        }
        exit
    }
}

/// How a start did not come to its end.
enum StartEnd {
    Failed(Failure),
    Cut,
}

impl StartEnd {
    fn panic(text: PanicText) -> Self {
        answer_orphans(&AskFailure::Panicked(Arc::clone(&text)));
        Self::Failed(Failure::panic(text, FailureOrigin::Start))
    }
}
