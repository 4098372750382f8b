//! Errors ask nothing of the message they bring back, go where errors go, and say what to do.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::error::Error;
use std::fmt;

use actors_core::prelude::*;
use actors_core::{BuildError, EnqueueError, LookupError, NameError, SpawnError, TryTellError};

use common::world::in_virtual_time;

/// A message with nothing but a place in memory: not `Debug`, not `Display`, not `Clone`, not `Send`.
struct Bare(*const u8);

#[derive(Default)]
struct Door {
    opened: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Locked;

impl fmt::Display for Locked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the door is locked: turn the key")
    }
}

impl Error for Locked {}

#[actor]
impl Door {
    #[handler]
    fn open(&mut self, with_key: bool) -> Result<u64, Locked> {
        if !with_key {
            return Err(Locked);
        }
        self.opened += 1;
        Ok(self.opened)
    }

    #[handler]
    fn opened(&self) -> u64 {
        self.opened
    }

    /// Answers why it cannot ask itself.
    #[handler]
    async fn ask_itself(&mut self, ctx: &mut ActorContext<Self>) -> AskError {
        ctx.me().opened().await.unwrap_err()
    }
}

#[test]
fn errors_with_a_message_need_no_bound_on_it() {
    const fn is_an_error<T: Error + fmt::Debug + fmt::Display>() {}
    is_an_error::<TryTellError<Bare>>();
    is_an_error::<EnqueueError<Bare>>();
    let byte = 0;
    let full = TryTellError::Full(Bare(&raw const byte));
    assert_eq!(format!("{full:?}"), "Full(..)");
    assert!(std::ptr::eq(full.into_message().0, &raw const byte));
    let closed = EnqueueError(Bare(&raw const byte));
    assert_eq!(format!("{closed:?}"), "EnqueueError(..)");
    assert!(std::ptr::eq(closed.into_message().0, &raw const byte));
}

#[test]
fn the_error_of_an_ask_needs_no_bound_but_for_what_it_shows() {
    let error: AskError<Bare> = AskError::MailboxFull;
    assert_eq!(error.phase(), Phase::Queued);
    let other: AskError = error.split().err().unwrap();
    assert_eq!(other.widen::<Locked>(), AskError::MailboxFull);
}

/// Every error in one `?`, into one type.
async fn everything_fits<E>(system: &ActorSystem) -> Result<u64, E>
where
    E: From<AskError<Locked>> + From<AskError> + From<SpawnError> + From<StartError>,
    E: From<BuildError> + From<LookupError>,
    E: From<TryTellError<DoorMsg>> + From<EnqueueError<DoorMsg>>,
{
    let other = ActorSystem::builder("other").build()?;
    other.shutdown().await;
    let door = system.spawn_anonymous(Door::default)?;
    let named = system.spawn("door", Door::default)?;
    let found = system.lookup::<Door>("door")?;
    assert_eq!(named, found);
    system.start("back door", Door::default).await?;
    door.open(true).try_tell()?;
    door.open(true).enqueue().await?;
    door.open(true).await?;
    door.opened().await?;
    Ok(door.open(false).await?)
}

#[test]
fn the_question_mark_takes_every_error_into_a_box() {
    in_virtual_time(async |system| {
        let error: Box<dyn Error + Send + Sync> = everything_fits(&system).await.unwrap_err();
        let error = error.downcast::<AskError<Locked>>().unwrap();
        assert_eq!(*error, AskError::Handler(Locked));
    });
}

#[test]
fn the_question_mark_takes_every_error_into_anyhow() {
    in_virtual_time(async |system| {
        let error: anyhow::Error = everything_fits(&system).await.unwrap_err();
        let error: AskError<Locked> = error.downcast().unwrap();
        assert_eq!(error, AskError::Handler(Locked));
    });
}

#[test]
fn the_handler_s_own_error_speaks_for_itself() {
    let error = AskError::Handler(Locked);
    assert_eq!(error.to_string(), Locked.to_string());
    assert!(error.source().is_none(), "it would be said twice");
}

#[test]
fn the_cause_of_an_error_is_not_part_of_its_own_text_as_well() {
    let cause = std::io::Error::other("no more threads");
    let error = BuildError::Runtime(cause);
    assert_eq!(error.source().unwrap().to_string(), "no more threads");
    assert!(!error.to_string().contains("no more threads"), "{error}");
}

/// The text of an error, and a part that says what to do or what is so.
type Said = (String, &'static str);

fn said(error: impl Error, what: &'static str) -> Said {
    (error.to_string(), what)
}

fn errors_of_asks() -> Vec<Said> {
    let (queued, running) = (Phase::Queued, Phase::Running);
    let stopped = |phase| AskError::<Locked>::Stopped { phase };
    let timeout = |phase| AskError::<Locked>::Timeout { phase };
    vec![
        said(AskError::<Locked>::Panicked("boom".into()), "boom"),
        said(AskError::<Locked>::MailboxFull, "`wait_for_room`"),
        said(AskError::<Locked>::NoReply, "must `send` one"),
        said(stopped(queued), "did not run"),
        said(stopped(running), "had begun"),
        said(timeout(queued), "did not run"),
        said(timeout(running), "had begun"),
    ]
}

fn errors_of_tells() -> Vec<Said> {
    vec![
        said(TryTellError::Full(()), "`enqueue`"),
        said(TryTellError::Closed(()), "no more messages"),
        said(EnqueueError(()), "no more messages"),
    ]
}

fn errors_of_names() -> Vec<Said> {
    let (name, path) = (|| "a/b".to_owned(), || "/a/b".to_owned());
    let error = NameError::Slash;
    let (wanted, found) = ("Door", "Window");
    vec![
        said(NameError::Empty, "give a name"),
        said(NameError::Slash, "separates the names"),
        said(NameError::Reserved, "`$`"),
        said(
            SpawnError::Name {
                name: name(),
                error,
            },
            "a/b",
        ),
        said(
            BuildError::Name {
                name: name(),
                error,
            },
            "a/b",
        ),
        said(
            LookupError::Absent {
                path: path(),
                found: "/a".to_owned(),
            },
            "as far as /a",
        ),
        said(
            LookupError::WrongType {
                path: path(),
                wanted,
                found,
            },
            "`Window`",
        ),
    ]
}

fn errors_of_makers(path: &ActorPath) -> Vec<Said> {
    let (path, parent, actor) = (path.clone(), path.clone(), path.clone());
    vec![
        said(SpawnError::NameTaken { path }, "give another name"),
        said(SpawnError::ParentStopped { parent }, "no more children"),
        said(SpawnError::ShuttingDown, "no more actors"),
        said(SpawnError::ZeroCapacity, "at least 1"),
        said(SpawnError::ZeroThroughput, "at least 1"),
        said(
            StartError::Spawn(SpawnError::ShuttingDown),
            "no more actors",
        ),
        said(
            StartError::Stopped {
                actor,
                reason: StopReason::Killed,
            },
            "ended before it had started: killed",
        ),
        said(
            BuildError::NoRuntime,
            "`ActorSystem::builder(name).worker_threads(n)`",
        ),
        said(BuildError::NoTime, "`enable_time()`"),
        said(BuildError::ZeroThreads, "at least one"),
        said(BuildError::ZeroThroughput, "at least 1"),
        said(BuildError::ZeroCapacity, "at least 1"),
        said(
            BuildError::Runtime(std::io::Error::other("none")),
            "threads",
        ),
    ]
}

#[test]
fn every_error_is_one_clause_in_lower_case_that_says_what_to_do() {
    in_virtual_time(async |system| {
        let door = system.spawn("door", Door::default).unwrap();
        let cycle = door.ask_itself().await.unwrap();
        let errors = [
            errors_of_asks(),
            errors_of_tells(),
            errors_of_names(),
            errors_of_makers(door.actor_path()),
            vec![said(cycle, "use `pipe`")],
        ];
        for (text, what) in errors.concat() {
            assert!(text.contains(what), "{text:?} does not say {what:?}");
            assert!(!text.starts_with(char::is_uppercase), "{text:?}");
            assert!(!text.ends_with(['.', '!', ':', ' ']), "{text:?}");
            assert!(!text.contains('\n'), "{text:?}");
        }
    });
}
