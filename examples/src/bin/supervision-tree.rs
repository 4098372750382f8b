//! Who is restarted when one of several children fails: the tree before and after, under each strategy.

#![expect(
    clippy::print_stdout,
    reason = "the printout is what this program is for"
)]

use std::error::Error;
use std::marker::PhantomData;

use actors_core::Subscription;
use actors_core::prelude::*;

type Outcome = Result<(), Box<dyn Error>>;

// ANCHOR: part
/// A child. It says when it comes up and goes down, so that the order can be seen.
struct Part {
    /// The part that it hands its work to. A restart keeps references, so this one is good for as long as that part is.
    to: Option<PartRef>,
}

impl Part {
    const fn last() -> Self {
        Self { to: None }
    }

    fn before(part: &PartRef) -> Self {
        Self {
            to: Some(part.clone()),
        }
    }
}

#[actor]
impl Part {
    #[on_start]
    fn up(&mut self, ctx: &mut ActorContext<Self>) {
        let name = ctx.path().name();
        match &self.to {
            Some(part) => println!("    up    {name} (to {})", part.actor_path().name()),
            None => println!("    up    {name}"),
        }
    }

    /// Its place is taken by a fresh one.
    #[on_restart]
    fn down(&mut self, ctx: &mut ActorContext<Self>) {
        println!("    down  {}", ctx.path().name());
    }

    /// It ends. When the whole program does, that goes without saying.
    #[on_stop]
    fn end(&mut self, ctx: &mut ActorContext<Self>, reason: &StopReason) {
        if *reason != StopReason::ParentStopped {
            println!("    end   {}: {reason}", ctx.path().name());
        }
    }

    /// The handler returns as usual; the failure is looked at then.
    #[handler]
    fn break_down(&mut self, ctx: &mut ActorContext<Self>) {
        ctx.fail("out of order");
    }

    #[handler]
    fn leave(&mut self, ctx: &mut ActorContext<Self>) {
        ctx.stop();
    }

    #[handler]
    fn refresh(&mut self, ctx: &mut ActorContext<Self>) {
        ctx.restart();
    }
}
// ANCHOR_END: part

// ANCHOR: plant
/// A parent of four children; `P` says what becomes of them when one fails.
struct Plant<P>(PhantomData<P>);

trait Policy: Send + 'static {
    fn policy() -> Supervision;
}

#[actor(supervision = P::policy())]
impl<P: Policy> Plant<P> {
    /// The work goes from the reader to the writer, and the children start the other way round: first the one that the others
    /// use. Each is ready before the next one starts. If one cannot start, neither can the plant.
    #[on_start]
    async fn open(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), StartError> {
        let writer = ctx.start("writer", Part::last).await?;
        let parser = ctx.start("parser", move || Part::before(&writer)).await?;
        let to = parser.clone();
        let import = ctx.actor(move || Part::before(&to)).name("import");
        import.restart_type(RestartType::Temporary).start().await?;
        ctx.start("reader", move || Part::before(&parser)).await?;
        Ok(())
    }
}
// ANCHOR_END: plant

// ANCHOR: policies
/// The children have nothing to do with each other.
struct OneForOne;

impl Policy for OneForOne {
    fn policy() -> Supervision {
        Supervision::one_for_one()
    }
}

/// No child is of use without the others.
struct OneForAll;

impl Policy for OneForAll {
    fn policy() -> Supervision {
        Supervision::one_for_all().restarts(2, within(secs(60)))
    }
}

/// Each child uses those that were started before it.
struct RestForOne;

impl Policy for RestForOne {
    fn policy() -> Supervision {
        Supervision::rest_for_one()
    }
}
// ANCHOR_END: policies

#[tokio::main]
async fn main() -> Outcome {
    one_for_one().await?;
    one_for_all().await?;
    rest_for_one().await?;
    ends_of_their_own().await
}

async fn one_for_one() -> Outcome {
    println!("one-for-one: the child that fails is restarted, and no other");
    let plant = Trial::of::<OneForOne>("one-for-one").await?;
    plant.after_a_failure_of("parser", "parser").await?;
    println!("  a temporary child that fails is not restarted");
    plant.after_a_failure_of("import", "import").await?;
    plant.shut_down().await
}

async fn one_for_all() -> Outcome {
    println!("one-for-all: all go down, and then all come up, but for the temporary one");
    let plant = Trial::of::<OneForAll>("one-for-all").await?;
    plant.after_a_failure_of("parser", "reader").await?;
    println!("  again: restart 2 of 2 in a minute");
    plant.after_a_failure_of("writer", "reader").await?;
    println!("  once more: the budget is spent");
    plant.after_a_failure_of("reader", "writer").await?;
    plant.shut_down().await
}

async fn rest_for_one() -> Outcome {
    println!("rest-for-one: the one that fails, and those that were started after it");
    let plant = Trial::of::<RestForOne>("rest-for-one").await?;
    plant.after_a_failure_of("reader", "reader").await?;
    plant.after_a_failure_of("parser", "reader").await?;
    plant.after_a_failure_of("writer", "reader").await?;
    plant.shut_down().await
}

// ANCHOR: types
async fn ends_of_their_own() -> Outcome {
    println!("restart types: each of the three stops itself");
    let trial = Trial::new("types")?;
    for (name, restart_type) in [
        ("permanent", RestartType::Permanent),
        ("transient", RestartType::Transient),
        ("temporary", RestartType::Temporary),
    ] {
        let part = trial.system.actor(Part::last).name(name);
        part.restart_type(restart_type).start().await?;
    }
    trial.print();
    for name in ["permanent", "transient", "temporary"] {
        let mut events = trial.system.events();
        trial.part(name)?.leave().tell();
        until_settled(name, &mut events).await;
    }
    trial.print();
    println!("  one that restarts itself does not count as failed");
    let mut events = trial.system.events();
    trial.part("permanent")?.refresh().tell();
    until_settled("permanent", &mut events).await;
    trial.print();
    println!("  whoever is told to stop stops, permanent or not");
    trial.part("permanent")?.stop().await;
    trial.print();
    trial.shut_down().await
}
// ANCHOR_END: types

/// A system that something is tried out in.
struct Trial {
    system: ActorSystem,
}

impl Trial {
    fn new(name: &str) -> Result<Self, Box<dyn Error>> {
        let system = ActorSystem::new(name)?;
        Ok(Self { system })
    }

    /// One with a plant in it, which is ready.
    async fn of<P: Policy>(name: &str) -> Result<Self, Box<dyn Error>> {
        let trial = Self::new(name)?;
        let plant = || Plant::<P>(PhantomData);
        trial.system.start("plant", plant).await?;
        trial.print();
        Ok(trial)
    }

    fn part(&self, path: &str) -> Result<PartRef, Box<dyn Error>> {
        Ok(self.system.lookup::<Part>(path)?)
    }

    /// Lets a child fail, and prints the tree when `last` has come up again, or has ended.
    async fn after_a_failure_of(&self, name: &str, last: &str) -> Outcome {
        println!("  {name} fails");
        let mut events = self.system.events();
        self.part(&format!("plant/{name}"))?.break_down().tell();
        until_settled(last, &mut events).await;
        self.print();
        Ok(())
    }

    fn print(&self) {
        for line in self.system.tree().to_string().lines() {
            println!("  | {line}");
        }
    }

    async fn shut_down(self) -> Outcome {
        self.system.shutdown().await;
        println!();
        Ok(())
    }
}

/// Waits until the actor with this name has come up again, or has ended.
async fn until_settled(name: &str, events: &mut Subscription<LifecycleEvent>) {
    while let Some(event) = events.next().await {
        let settled = matches!(
            event,
            LifecycleEvent::Restarted { .. } | LifecycleEvent::Stopped { .. }
        );
        if settled && event.actor().name() == name {
            return;
        }
    }
}
