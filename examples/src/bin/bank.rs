//! Transfers between accounts: domain errors, which are replies, next to faults, which are not.
//!
//! The ledger is an actor that keeps what is true; here in memory, elsewhere in a database. An account is an actor that knows
//! its balance. A teller moves money with asks to both accounts, and has an answer to each way in which that can go wrong.

#![expect(
    clippy::print_stdout,
    reason = "the printout is what this program is for"
)]

use std::error::Error;

use actors_core::prelude::*;
use actors_examples::show_panics_in_a_line;

// ANCHOR: ledger
/// One line of the ledger.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    transfer: u32,
    owner: &'static str,
    amount: i64,
}

/// A domain error: a reply like any other, and no failure of the actor.
#[derive(Debug, thiserror::Error)]
#[error("{owner} has only {balance}")]
struct Overdrawn {
    owner: &'static str,
    balance: i64,
}

#[derive(Default)]
struct Ledger {
    entries: Vec<Entry>,
}

#[actor]
impl Ledger {
    /// Writes an entry and answers the new balance. Writing it again changes nothing, so whoever does not know whether it
    /// is written may simply write it.
    #[handler]
    fn write(&mut self, entry: Entry) -> Result<i64, Overdrawn> {
        let owner = entry.owner;
        if !self.entries.contains(&entry) {
            let balance = self.balance(owner);
            if balance + entry.amount < 0 {
                return Err(Overdrawn { owner, balance });
            }
            self.entries.push(entry);
        }
        Ok(self.balance(owner))
    }

    #[handler]
    fn balance(&self, owner: &'static str) -> i64 {
        self.entries
            .iter()
            .filter(|entry| entry.owner == owner)
            .map(|entry| entry.amount)
            .sum()
    }
}
// ANCHOR_END: ledger

// ANCHOR: account
struct Account {
    owner: &'static str,
    balance: i64,
    ledger: LedgerRef,
    has_a_bug: bool,
}

impl Account {
    /// The factory. A restarted account asks the ledger for its balance, so a fault costs no money.
    async fn open(owner: &'static str, ledger: LedgerRef) -> Result<Self, AskError> {
        let balance = ledger.balance(owner).await?;
        Ok(Self {
            owner,
            balance,
            ledger,
            has_a_bug: false,
        })
    }
}

#[actor]
impl Account {
    /// Takes `amount` in, or pays it out if it is negative, and answers the new balance.
    #[handler]
    async fn book(&mut self, transfer: u32, amount: i64) -> Result<i64, Overdrawn> {
        assert!(!self.has_a_bug, "a bug in `book`");
        let entry = Entry {
            transfer,
            owner: self.owner,
            amount,
        };
        match self.ledger.write(entry).await.map_err(AskError::split) {
            Ok(balance) => self.balance = balance,
            Err(Ok(overdrawn)) => return Err(overdrawn),
            // Whether the ledger has written is unknown, and so is the balance: this account starts afresh.
            Err(Err(fault)) => panic!("the ledger does not answer: {fault}"),
        }
        Ok(self.balance)
    }

    #[handler]
    fn balance(&self) -> i64 {
        self.balance
    }

    /// For the demonstration: the next booking panics.
    #[handler]
    fn get_a_bug(&mut self) {
        self.has_a_bug = true;
    }
}
// ANCHOR_END: account

// ANCHOR: teller
/// Why a transfer was not made.
#[derive(Debug, thiserror::Error)]
enum TransferError {
    #[error("refused: {0}")]
    Refused(Overdrawn),
    #[error("not made, because the account of the payer failed: {0}")]
    NotMade(AskError<Overdrawn>),
    #[error("undone, because the account of the payee failed: {0}")]
    Undone(AskError<Overdrawn>),
    #[error("transfer {0} needs somebody to look at the ledger: {1}")]
    Unknown(u32, AskError<Overdrawn>),
}

#[derive(Default)]
struct Teller {
    transfers: u32,
}

#[actor]
impl Teller {
    /// Moves `amount` and answers the number of the transfer.
    #[handler]
    async fn transfer(
        &mut self,
        from: AccountRef,
        to: AccountRef,
        amount: i64,
    ) -> Result<u32, TransferError> {
        self.transfers += 1;
        let transfer = self.transfers;
        match book(&from, transfer, -amount).await {
            Ok(_) => {}
            Err(AskError::Handler(overdrawn)) => return Err(TransferError::Refused(overdrawn)),
            Err(error) if error.phase() == Phase::Queued => {
                return Err(TransferError::NotMade(error));
            }
            Err(error) => return Err(TransferError::Unknown(transfer, error)),
        }
        match book(&to, transfer, amount).await {
            Ok(_) => Ok(transfer),
            // The handler did not run and will not, so it is safe to give the money back.
            Err(error) if error.phase() == Phase::Queued => {
                match book(&from, transfer, amount).await {
                    Ok(_) => Err(TransferError::Undone(error)),
                    Err(error) => Err(TransferError::Unknown(transfer, error)),
                }
            }
            Err(error) => Err(TransferError::Unknown(transfer, error)),
        }
    }
}

/// Books, and once more if a fault leaves open what was done: a second time does no harm, and the account has started afresh
/// by then.
async fn book(
    account: &AccountRef,
    transfer: u32,
    amount: i64,
) -> Result<i64, AskError<Overdrawn>> {
    match account.book(transfer, amount).await {
        Err(fault @ (AskError::Panicked(_) | AskError::Timeout { .. })) => {
            println!("  (the teller heard: {fault}; and books once more)");
            account.book(transfer, amount).await
        }
        answer => answer,
    }
}
// ANCHOR_END: teller

// ANCHOR: main
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    show_panics_in_a_line();
    let system = ActorSystem::new("bank")?;
    let ledger = system.spawn("ledger", Ledger::default)?;
    let open = |owner| {
        let ledger = ledger.clone();
        system.spawn(owner, move || Account::open(owner, ledger.clone()))
    };
    let (alice, bob, carol) = (open("alice")?, open("bob")?, open("carol")?);
    let teller = system.spawn("teller", Teller::default)?;
    alice.book(0, 100).await?;

    let transfer = async |from: &AccountRef, to: &AccountRef, amount| match teller
        .transfer(from.clone(), to.clone(), amount)
        .await
    {
        Ok(transfer) => println!("  done, transfer number {transfer}"),
        Err(error) => println!("  {error}"),
    };

    println!("alice pays 60 to bob");
    transfer(&alice, &bob, 60).await;
    println!("alice pays 60 to bob again: a domain error, and no actor is touched");
    transfer(&alice, &bob, 60).await;
    println!(
        "bob pays 20 to carol, whose account has a bug: it panics, restarts, and is asked again"
    );
    carol.get_a_bug().tell();
    transfer(&bob, &carol, 20).await;
    println!("bob pays 5 to carol, whose account is closed: the payment is undone");
    carol.drain().await;
    transfer(&bob, &carol, 5).await;

    println!(
        "alice has {}, bob has {}",
        alice.balance().await?,
        bob.balance().await?
    );
    println!(
        "carol has {}, as the ledger knows",
        ledger.balance("carol").await?
    );
    system.shutdown().await;
    Ok(())
}
// ANCHOR_END: main
