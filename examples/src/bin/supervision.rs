//! What happens to an actor that fails: resume, restart, stop, the restart limit, dead letters, an escalation.

#![expect(
    clippy::print_stdout,
    reason = "the printout is what this program is for"
)]

use std::error::Error;

use actors_core::Subscription;
use actors_core::prelude::*;
use actors_examples::show_panics_in_a_line;

type Outcome = Result<(), Box<dyn Error>>;

// ANCHOR: fault
/// What can go wrong with a printer.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("paper jam")]
    PaperJam,
    #[error("firmware confused")]
    Confused,
    #[error("on fire")]
    OnFire,
    #[error("the power is out")]
    PowerOut,
}

/// What to do about it. A policy is a plain value, so it can be shared and tested without any actor.
fn policy() -> Supervision {
    Supervision::one_for_one()
        .restarts(2, within(secs(60)))
        .on::<Fault>(|fault| match fault {
            Fault::PaperJam => Directive::Resume,
            Fault::Confused => Directive::Restart,
            Fault::OnFire => Directive::Stop,
            Fault::PowerOut => Directive::Escalate,
        })
        .on_panic(Directive::Restart)
}
// ANCHOR_END: fault

// ANCHOR: printer
#[derive(Default)]
struct Printer {
    pages: u32,
}

#[actor]
impl Printer {
    #[handler]
    fn print(&mut self) -> u32 {
        self.pages += 1;
        self.pages
    }

    /// An `Err` is a reply; with `err_is_failure` it is a failure of the actor as well.
    #[handler(err_is_failure)]
    fn suffer(&mut self, fault: Fault) -> Result<(), Fault> {
        Err(fault)
    }

    #[handler]
    fn divide_by_zero(&mut self) {
        panic!("attempt to divide by zero")
    }
}
// ANCHOR_END: printer

// ANCHOR: office
/// A parent: its type says how the failures of its children are judged.
#[derive(Default)]
struct Office {
    printers: Vec<PrinterRef>,
}

#[actor(supervision = policy())]
impl Office {
    #[on_start]
    fn open(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), Failure> {
        for name in ["laser", "inkjet"] {
            self.printers.push(ctx.spawn(name, Printer::default)?);
        }
        Ok(())
    }

    #[handler]
    fn printers(&self) -> Vec<PrinterRef> {
        self.printers.clone()
    }
}
// ANCHOR_END: office

#[tokio::main]
async fn main() -> Outcome {
    show_panics_in_a_line();
    let system = ActorSystem::new("demo")?;
    resume(&system).await?;
    restart(&system).await?;
    stop(&system).await?;
    limit(&system).await?;
    escalate(&system).await?;

    println!("shutdown");
    let report = system.shutdown().await;
    println!(
        "  {} actors ended, all of them well: {}",
        report.total(),
        report.is_clean()
    );
    Ok(())
}

/// Spawns a printer at the top of the tree, and listens to what happens from then on.
fn printer(
    system: &ActorSystem,
    name: &str,
) -> Result<(PrinterRef, Subscription<LifecycleEvent>), Box<dyn Error>> {
    let events = system.events();
    Ok((
        system
            .actor(Printer::default)
            .name(name)
            .supervision(policy())
            .spawn()?,
        events,
    ))
}

/// Prints what happens, until an event has `last` in its text.
async fn print_events_until(last: &str, events: &mut Subscription<LifecycleEvent>) {
    while let Some(event) = events.next().await {
        if matches!(event, LifecycleEvent::Started { .. }) {
            continue; // Actors start beside each other, so these come in any order.
        }
        let text = event.to_string().replace(&format!(" ({})", event.id()), "");
        println!("  event: {text}");
        if text.contains(last) {
            break;
        }
    }
}

// ANCHOR: resume
async fn resume(system: &ActorSystem) -> Outcome {
    println!("resume: the state is kept");
    let (printer, mut events) = printer(system, "resumed")?;
    println!("  page {}", printer.print().await?);
    println!("  asker: {:?}", printer.suffer(Fault::PaperJam).await);
    print_events_until("failed", &mut events).await;
    println!("  page {}", printer.print().await?);
    Ok(())
}
// ANCHOR_END: resume

// ANCHOR: restart
async fn restart(system: &ActorSystem) -> Outcome {
    println!("restart: the state is fresh, and the reference is as good as before");
    let (printer, mut events) = printer(system, "restarted")?;
    println!("  page {}", printer.print().await?);
    println!("  asker: {:?}", printer.divide_by_zero().await);
    print_events_until("restarted,", &mut events).await;
    println!("  page {}", printer.print().await?);
    Ok(())
}
// ANCHOR_END: restart

// ANCHOR: stop
async fn stop(system: &ActorSystem) -> Outcome {
    println!("stop: whatever is queued, or comes later, is a dead letter");
    let (printer, mut events) = printer(system, "stopped")?;
    let mut dead_letters = system.dead_letters();
    printer.suffer(Fault::OnFire).tell();
    println!("  end: {}", printer.stopped().await);
    print_events_until("ended", &mut events).await;
    printer.print().tell();
    if let Some(letter) = dead_letters.next().await {
        println!(
            "  dead letter: {} for {}: {}",
            letter.variant, letter.recipient, letter.reason
        );
    }
    println!("  asker: {:?}", printer.print().await);
    Ok(())
}
// ANCHOR_END: stop

// ANCHOR: limit
async fn limit(system: &ActorSystem) -> Outcome {
    println!("limit: two restarts within a minute, and no third");
    let (printer, mut events) = printer(system, "limited")?;
    for _ in 0..3 {
        printer.suffer(Fault::Confused).tell();
    }
    print_events_until("ended", &mut events).await;
    Ok(())
}
// ANCHOR_END: limit

// ANCHOR: escalate
async fn escalate(system: &ActorSystem) -> Outcome {
    println!(
        "escalate: the parent fails in place of its child, and restarts with all its children"
    );
    let office = system.spawn("office", Office::default)?;
    let printers = office.printers().await?;
    for actor in system.tree().nodes() {
        println!("  actor: {}", actor.path);
    }
    let mut events = system.events();
    println!("  asker: {:?}", printers[0].suffer(Fault::PowerOut).await);
    print_events_until("office restarted,", &mut events).await;
    println!("  the old laser printer: {}", printers[0].stopped().await);
    println!(
        "  the new laser printer: page {}",
        office.printers().await?[0].print().await?
    );
    Ok(())
}
// ANCHOR_END: escalate
