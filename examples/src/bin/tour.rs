//! A tour of what actors do here, in less than a second: `cargo run --release --bin tour`.

#![expect(
    clippy::print_stdout,
    reason = "the printout is what this program is for"
)]

use std::error::Error;
use std::fmt::Display;
use std::thread;

use actors_core::prelude::*;
use actors_examples::show_panics_in_a_line;

type Outcome = Result<(), Box<dyn Error>>;

// ANCHOR: actor
#[derive(Default)]
struct Account {
    balance: u64,
}

/// A domain error: a reply like any other, and no failure of the actor.
#[derive(Debug, thiserror::Error)]
#[error("overdrawn: the balance is {balance}")]
struct Overdrawn {
    balance: u64,
}

#[actor]
impl Account {
    #[handler]
    fn deposit(&mut self, amount: u64) -> u64 {
        self.balance += amount;
        self.balance
    }

    #[handler]
    fn withdraw(&mut self, amount: u64) -> Result<u64, Overdrawn> {
        let balance = self.balance;
        self.balance = balance.checked_sub(amount).ok_or(Overdrawn { balance })?;
        Ok(self.balance)
    }

    /// Takes its time. Other messages wait meanwhile, and other actors do not.
    #[handler]
    async fn audit(&self) -> u64 {
        tokio::time::sleep(ms(250)).await;
        self.balance
    }

    /// Has a bug.
    #[handler]
    fn close_the_year(&mut self) -> u64 {
        self.balance = 0;
        panic!("the year has no day 366")
    }
}
// ANCHOR_END: actor

#[tokio::main]
async fn main() -> Outcome {
    show_panics_in_a_line();
    let system = ActorSystem::new("tour")?;
    let account = system.spawn("account", Account::default)?;
    tell(&account).await?;
    ask(&account).await?;
    time_out(&account).await?;
    restart(&account).await?;
    give_up(&system).await?;
    lose_nothing_silently(&system, &account).await?;
    shut_down(&system).await
}

// ANCHOR: tell
async fn tell(account: &AccountRef) -> Outcome {
    println!("1. Tell: eight threads make 1,000 deposits of 1 each, and wait for nothing");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..1_000).for_each(|_| account.deposit(1).tell()));
        }
    });
    // All is told by now, so this question is behind it in the mailbox.
    show("deposit(0)", account.deposit(0).await?);
    Ok(())
}
// ANCHOR_END: tell

// ANCHOR: ask
async fn ask(account: &AccountRef) -> Outcome {
    println!("2. Ask: the reply is typed, and so is the handler's own error");
    show("withdraw(7_000)", account.withdraw(7_000).await?);
    match account.withdraw(7_000).await {
        Err(AskError::Handler(Overdrawn { balance })) => {
            show(
                "withdraw(7_000)",
                format!("refused, the balance is {balance}"),
            );
        }
        other => show("withdraw(7_000)", format!("{other:?}")),
    }
    Ok(())
}
// ANCHOR_END: ask

// ANCHOR: time_out
async fn time_out(account: &AccountRef) -> Outcome {
    println!("3. Timeout: the error says whether the handler had begun");
    let audit = account.audit().ask().timeout(ms(50));
    let deposit = account.deposit(1).ask().timeout(ms(50));
    let (audit, deposit) = tokio::join!(audit, deposit);
    show("audit()", text_of(audit));
    show("deposit(1)", text_of(deposit));
    let balance = account.deposit(0).await?;
    show("deposit(0)", format!("{balance}, so that one did nothing"));
    Ok(())
}
// ANCHOR_END: time_out

// ANCHOR: restart
async fn restart(account: &AccountRef) -> Outcome {
    println!("4. Panic: the asker is told, and the actor goes on with a fresh state");
    show("close_the_year()", text_of(account.close_the_year().await));
    show("deposit(5)", account.deposit(5).await?);
    Ok(())
}
// ANCHOR_END: restart

// ANCHOR: give_up
async fn give_up(system: &ActorSystem) -> Outcome {
    println!("5. Limit: two restarts within a minute, and no more");
    let policy = Supervision::one_for_one().restarts(2, within(secs(60)));
    let fragile = system
        .actor(Account::default)
        .name("fragile")
        .supervision(policy)
        .spawn()?;
    for _ in 0..3 {
        show("close_the_year()", text_of(fragile.close_the_year().await));
    }
    show("its end", fragile.stopped().await);
    show("deposit(1)", text_of(fragile.deposit(1).await));
    Ok(())
}
// ANCHOR_END: give_up

// ANCHOR: lose_nothing_silently
async fn lose_nothing_silently(system: &ActorSystem, account: &AccountRef) -> Outcome {
    println!("6. Dead letters: what nobody can take any more is heard of");
    let mut dead_letters = system.dead_letters();
    show("drain()", account.drain().await);
    account.deposit(10).tell();
    if let Some(letter) = dead_letters.next().await {
        println!(
            "     dead letter         {} for {}: {}",
            letter.variant, letter.recipient, letter.reason
        );
    }
    Ok(())
}
// ANCHOR_END: lose_nothing_silently

// ANCHOR: shut_down
async fn shut_down(system: &ActorSystem) -> Outcome {
    println!("7. Shutdown: no message is forgotten, and the report says how every actor ended");
    let sum = system.counters();
    show("messages accepted", sum.accepted);
    println!(
        "     what became of them {} handled, {} failed, {} cancelled",
        sum.handled, sum.failed, sum.cancelled
    );
    for branch in ["north", "south"] {
        system.spawn(branch, Account::default)?;
    }
    println!("{}", system.shutdown().await);
    Ok(())
}
// ANCHOR_END: shut_down

/// Prints a call, and what came of it.
fn show(call: &str, answer: impl Display) {
    println!("     {call:<20}{answer}");
}

/// The reply or the error, as text.
fn text_of<T: ToString, E: ToString>(answer: Result<T, E>) -> String {
    answer.map_or_else(|error| error.to_string(), |reply| reply.to_string())
}
