//! Actors behind HTTP, with axum: JSON in and out, and each way in which an ask can fail is a status of its own.
//!
//! ```text
//! cargo run --bin web                # or with an address: web 127.0.0.1:8080
//! curl -X PUT  localhost:8080/accounts/alice
//! curl -X POST localhost:8080/accounts/alice/withdraw --json '{"amount": 30}'
//! ```

#![expect(
    clippy::print_stdout,
    reason = "whoever started the server wants to know where it is"
)]

use std::error::Error;
use std::fmt::Display;

use actors_core::prelude::*;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;

// ANCHOR: account
#[derive(Debug, thiserror::Error)]
#[error("the balance is only {balance}")]
struct Overdrawn {
    balance: u64,
}

struct Account {
    name: String,
    balance: u64,
    journal: JournalRef,
}

#[actor]
impl Account {
    #[handler]
    fn balance(&self) -> u64 {
        self.balance
    }

    #[handler]
    fn deposit(&mut self, amount: u64) -> u64 {
        self.balance += amount;
        self.journal
            .record(format!("{} +{amount}", self.name))
            .tell();
        self.balance
    }

    #[handler]
    fn withdraw(&mut self, amount: u64) -> Result<u64, Overdrawn> {
        let balance = self.balance;
        self.balance = balance.checked_sub(amount).ok_or(Overdrawn { balance })?;
        self.journal
            .record(format!("{} -{amount}", self.name))
            .tell();
        Ok(self.balance)
    }
}
// ANCHOR_END: account

/// The parent of all accounts.
struct Branch {
    accounts: Vec<AccountRef>,
    journal: JournalRef,
}

#[actor]
impl Branch {
    /// Opens an account. The name is unique among the children of this actor, so two cannot open the same.
    #[handler]
    fn open(&mut self, ctx: &mut ActorContext<Self>, name: String) -> Result<(), SpawnError> {
        let (owner, journal) = (name.clone(), self.journal.clone());
        let account = move || Account {
            name: owner.clone(),
            balance: 0,
            journal: journal.clone(),
        };
        self.accounts.push(ctx.spawn(name, account)?);
        Ok(())
    }

    /// Has every account finish what it has accepted.
    #[handler]
    async fn close(&mut self) -> usize {
        join_all(self.accounts.drain(..).map(|account| account.drain()))
            .await
            .len()
    }
}

/// Writes down what happened, one line after the other, and never as fast as it happens.
#[derive(Default)]
struct Journal {
    lines: Vec<String>,
}

#[actor]
impl Journal {
    #[handler]
    async fn record(&mut self, line: String) {
        tokio::time::sleep(ms(1)).await; // A disk, for example.
        self.lines.push(line);
    }

    #[on_stop]
    fn close(&mut self) {
        println!("journal: {} lines written", self.lines.len());
    }
}

/// Writes reports, slowly. Its mailbox holds one request, so that others are refused at once and do not wait in vain.
#[derive(Default)]
struct Reports {
    written: u64,
}

#[actor]
impl Reports {
    #[handler]
    async fn write(&mut self, pages: u64) -> u64 {
        for _ in 0..pages {
            tokio::time::sleep(ms(10)).await;
        }
        self.written += 1;
        self.written
    }
}

// ANCHOR: problem
/// An answer that is none: a status, and a body that says what went wrong and whether to try again.
struct Problem(StatusCode, Value);

impl<E: Display> From<AskError<E>> for Problem {
    fn from(error: AskError<E>) -> Self {
        let status = match error {
            AskError::Handler(_) => StatusCode::CONFLICT,
            AskError::MailboxFull | AskError::Stopped { .. } => StatusCode::SERVICE_UNAVAILABLE,
            AskError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            // Bugs: a panic, a reply that was forgotten, actors that wait for each other.
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let nothing_was_done = error.phase() == Phase::Queued;
        Self(
            status,
            json!({ "error": error.to_string(), "nothing_was_done": nothing_was_done }),
        )
    }
}

impl From<LookupError> for Problem {
    fn from(error: LookupError) -> Self {
        Self(
            StatusCode::NOT_FOUND,
            json!({ "error": error.to_string(), "nothing_was_done": true }),
        )
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.0, Json(self.1)).into_response()
    }
}
// ANCHOR_END: problem

// ANCHOR: routes
/// What the handlers of requests share: references are cheap to clone.
#[derive(Clone)]
struct App {
    system: ActorSystem,
    branch: BranchRef,
    reports: ReportsRef,
}

impl App {
    fn account(&self, name: &str) -> Result<AccountRef, LookupError> {
        self.system.lookup::<Account>(&format!("branch/{name}"))
    }
}

#[derive(Deserialize)]
struct Money {
    amount: u64,
}

#[derive(Serialize)]
struct Balance {
    name: String,
    balance: u64,
}

async fn open(State(app): State<App>, Path(name): Path<String>) -> Result<StatusCode, Problem> {
    app.branch.open(name).await?;
    Ok(StatusCode::CREATED)
}

async fn balance(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<Balance>, Problem> {
    let balance = app.account(&name)?.balance().await?;
    Ok(Json(Balance { name, balance }))
}

async fn deposit(
    State(app): State<App>,
    Path(name): Path<String>,
    Json(money): Json<Money>,
) -> Result<Json<Balance>, Problem> {
    let balance = app.account(&name)?.deposit(money.amount).await?;
    Ok(Json(Balance { name, balance }))
}

async fn withdraw(
    State(app): State<App>,
    Path(name): Path<String>,
    Json(money): Json<Money>,
) -> Result<Json<Balance>, Problem> {
    let balance = app.account(&name)?.withdraw(money.amount).await?;
    Ok(Json(Balance { name, balance }))
}

#[derive(Deserialize)]
struct ReportRequest {
    pages: u64,
    /// How long the client waits for it.
    patience_ms: u64,
}

async fn report(
    State(app): State<App>,
    Json(request): Json<ReportRequest>,
) -> Result<Json<Value>, Problem> {
    let number = app
        .reports
        .write(request.pages)
        .ask()
        .timeout(ms(request.patience_ms))
        .await?;
    Ok(Json(json!({ "number": number })))
}

/// What all actors are doing just now.
async fn actors(State(app): State<App>) -> String {
    app.system.tree().to_string()
}

fn routes(app: App) -> Router {
    Router::new()
        .route("/accounts/{name}", put(open).get(balance))
        .route("/accounts/{name}/deposit", post(deposit))
        .route("/accounts/{name}/withdraw", post(withdraw))
        .route("/reports", post(report))
        .route("/actors", get(actors))
        .with_state(app)
}
// ANCHOR_END: routes

// ANCHOR: main
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Failures and dead letters go to the log.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let system = ActorSystem::builder("web").ask_timeout(secs(1)).build()?;
    let journal = system.spawn("journal", Journal::default)?;
    let reports = system
        .actor(Reports::default)
        .name("reports")
        .mailbox(Mailbox::bounded(1))
        .spawn()?;
    let branch = {
        let journal = journal.clone();
        system.spawn("branch", move || Branch {
            accounts: Vec::new(),
            journal: journal.clone(),
        })?
    };
    let app = App {
        system: system.clone(),
        branch: branch.clone(),
        reports,
    };

    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_ok() {
            println!("interrupted: no new requests");
        }
    };
    // Returns when the requests that were under way are answered.
    axum::serve(listener, routes(app))
        .with_graceful_shutdown(interrupted)
        .await?;

    // A shutdown alone would turn out what is still queued. So the actors are drained first, in the order in which their
    // messages flow: an account tells the journal.
    println!(
        "accounts closed: {}",
        branch.close().ask().timeout(secs(10)).await?
    );
    journal.drain_within(secs(10)).await;
    println!("{}", system.shutdown().await);
    Ok(())
}
// ANCHOR_END: main
