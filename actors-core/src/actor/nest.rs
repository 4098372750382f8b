//! The only place that assembles an actor: its name, its cell, its activation.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use ecow::EcoString;

use crate::dispatch::{self, Runnable};
use crate::error::SpawnError;
use crate::path::ActorPath;
use crate::supervision::Supervision;
use crate::system::breed::{Breed, Kind, Options};
use crate::system::family::{Family, NoRoom};
use crate::system::member::{Core, Member};
use crate::system::{ActorSystem, SystemCore, check_name};

use super::Actor;
use super::activation::activate;
use super::cell::Cell;
use super::factory::Source;
use super::lifecycle::Life;

/// Where a new actor belongs: under a parent, or at the top of the system.
#[derive(Clone)]
pub(super) struct Nest {
    home: Home,
    /// The parent's policy for its children.
    policy: Option<Supervision>,
}

/// Whose child it will be.
#[derive(Clone)]
enum Home {
    Top(Arc<SystemCore>),
    Under(Arc<dyn Member>),
}

impl Nest {
    pub(super) const fn under(parent: Arc<dyn Member>, policy: Option<Supervision>) -> Self {
        Self {
            home: Home::Under(parent),
            policy,
        }
    }

    pub(super) fn top(system: &ActorSystem) -> Self {
        Self {
            home: Home::Top(Arc::clone(&system.core)),
            policy: None,
        }
    }

    pub(super) fn system(&self) -> &Arc<SystemCore> {
        match &self.home {
            Home::Top(system) => system,
            Home::Under(parent) => &parent.core().system,
        }
    }

    fn family(&self) -> &Family {
        match &self.home {
            Home::Top(system) => &system.family,
            Home::Under(parent) => parent.core().family(),
        }
    }

    fn path(&self) -> &ActorPath {
        match &self.home {
            Home::Top(system) => &system.path,
            Home::Under(parent) => parent.core().kept_path(),
        }
    }

    fn parent(&self) -> Option<Weak<dyn Member>> {
        match &self.home {
            Home::Top(_) => None,
            Home::Under(parent) => Some(Arc::downgrade(parent)),
        }
    }

    /// The policy for the children here.
    fn policy(&self) -> &Supervision {
        let own = self.policy.as_ref();
        own.unwrap_or(&self.system().settings.supervision)
    }

    fn breed(&self, kind: &'static Kind, options: Arc<Options>) -> Breed {
        let own = options.supervision.as_ref();
        Breed {
            system: Arc::clone(self.system()),
            parent: self.parent(),
            home: self.path().clone(),
            kind,
            policy: own.unwrap_or_else(|| self.policy()).clone(),
            options,
        }
    }

    /// Makes the cell and takes the name: from here on the actor exists, and can be told messages.
    pub(super) fn assemble<A: Actor>(
        &self,
        name: Option<EcoString>,
        options: &OptionsOf,
    ) -> Result<Arc<Cell<A::Msg>>, SpawnError> {
        let system = self.system();
        check(name.as_deref(), options.get(system))?;
        system.health.expect(options.get(system).slow_handler);
        let family = self.family();
        let kind = KindOf::<A>::KIND;
        let breed = family.breed(kind, options.get(system), || {
            self.breed(kind, Arc::clone(options.get(system)))
        });
        let core = Core::new(system.next_id(), breed, name.unwrap_or_default());
        let cell = Arc::new(Cell::new(core));
        let member = Arc::clone(&cell) as Arc<dyn Member>;
        match family.add(member, self.policy()) {
            Ok(()) => Ok(cell),
            Err(NoRoom::NameTaken) => Err(SpawnError::NameTaken {
                path: cell.core.path(),
            }),
            Err(NoRoom::Closed) => Err(self.closed()),
        }
    }

    /// Gives the actor its activation. Says whether it could: an end that came before ends it for good.
    pub(super) fn launch<A: Actor>(
        &self,
        cell: &Arc<Cell<A::Msg>>,
        source: Box<dyn Source<A>>,
    ) -> bool {
        if !cell.core.claim_birth() {
            return false;
        }
        let life = Life::new(Arc::clone(cell), source);
        dispatch::schedule(Runnable::new(activate(life)));
        true
    }

    /// Says why no actor can begin here any more.
    pub(super) fn closed(&self) -> SpawnError {
        if self.system().is_shutting_down() {
            SpawnError::ShuttingDown
        } else {
            SpawnError::ParentStopped {
                parent: self.path().clone(),
            }
        }
    }
}

/// Finds what is wrong with a name or with options.
fn check(name: Option<&str>, options: &Options) -> Result<(), SpawnError> {
    if let Some(name) = name {
        check_name(name).map_err(|error| SpawnError::Name {
            name: name.to_owned(),
            error,
        })?;
    }
    if options.mailbox.has_zero_capacity() {
        return Err(SpawnError::ZeroCapacity);
    }
    if options.throughput == 0 {
        return Err(SpawnError::ZeroThroughput);
    }
    Ok(())
}

/// The options of an actor to come: those of the system, unless it says otherwise. Nothing is counted for those.
pub(super) enum OptionsOf {
    Plain,
    /// Of one whose state cannot be made again.
    Once,
    Own(Arc<Options>),
}

impl OptionsOf {
    pub(super) fn get<'a>(&'a self, system: &'a SystemCore) -> &'a Arc<Options> {
        match self {
            Self::Plain => &system.settings.options,
            Self::Once => &system.settings.options_once,
            Self::Own(options) => options,
        }
    }

    /// Makes them its own, to be changed.
    pub(super) fn own(&mut self, system: &SystemCore) -> &mut Options {
        if let Self::Plain | Self::Once = self {
            *self = Self::Own(Arc::clone(self.get(system)));
        }
        match self {
            Self::Own(options) => Arc::make_mut(options),
            Self::Plain | Self::Once => unreachable!("they are its own"),
        }
    }
}

struct KindOf<A>(PhantomData<A>);

impl<A: Actor> KindOf<A> {
    const KIND: &'static Kind = &Kind {
        type_id: TypeId::of::<A>,
        name: type_name::<A>,
        message: type_name::<A::Msg>,
        decides: A::DECIDES,
    };
}
