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
    E: From<AskError<Locked>> + From<AskError> + From<SpawnError> + From<BuildError>,
    E: From<LookupError> + From<TryTellError<DoorMsg>> + From<EnqueueError<DoorMsg>>,
{
    let other = ActorSystem::builder("other").build()?;
    other.shutdown().await;
    let door = system.spawn_anonymous(Door::default)?;
    let named = system.spawn("door", Door::default)?;
    let found = system.lookup::<Door>("door")?;
    assert_eq!(named, found);
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

/// One of each error, and a word of what to do or of what is so.
fn every_error() -> Vec<(String, &'static str)> {
    let path = || ActorPath::clone(&known_path());
    let name = || "a/b".to_owned();
    let mut errors: Vec<(Box<dyn Error>, &'static str)> = vec![
        (
            Box::new(AskError::<Locked>::Panicked("boom".into())),
            "boom",
        ),
        (Box::new(AskError::<Locked>::MailboxFull), "wait_for_room"),
        (Box::new(AskError::<Locked>::NoReply), "must `send` one"),
        (Box::new(TryTellError::Full(())), "try again"),
        (Box::new(TryTellError::Closed(())), "stopped"),
        (Box::new(EnqueueError(())), "stopped"),
        (Box::new(NameError::Empty), "give a name"),
        (Box::new(NameError::Slash), "separates the names"),
        (Box::new(NameError::Reserved), "`$`"),
        (
            Box::new(SpawnError::NameTaken { path: path() }),
            "give another name",
        ),
        (
            Box::new(SpawnError::ParentStopped { parent: path() }),
            "no more children",
        ),
        (Box::new(SpawnError::ShuttingDown), "no more actors"),
        (Box::new(SpawnError::ZeroCapacity), "at least 1"),
        (Box::new(SpawnError::ZeroThroughput), "at least 1"),
        (Box::new(BuildError::NoRuntime), "worker_threads(n)"),
        (Box::new(BuildError::NoTime), "enable_time()"),
        (Box::new(BuildError::ZeroThreads), "at least one"),
        (Box::new(BuildError::ZeroThroughput), "at least 1"),
        (Box::new(BuildError::ZeroCapacity), "at least 1"),
        (
            Box::new(BuildError::Runtime(std::io::Error::other("none"))),
            "threads",
        ),
    ];
    for phase in [Phase::Queued, Phase::Running] {
        let what = ["did not run", "had begun"][usize::from(phase == Phase::Running)];
        errors.push((Box::new(AskError::<Locked>::Stopped { phase }), what));
        errors.push((Box::new(AskError::<Locked>::Timeout { phase }), what));
    }
    let error = NameError::Slash;
    errors.push((
        Box::new(SpawnError::Name {
            name: name(),
            error,
        }),
        "a/b",
    ));
    errors.push((
        Box::new(BuildError::Name {
            name: name(),
            error,
        }),
        "a/b",
    ));
    let (wanted, found) = ("Door", "Window");
    let absent = LookupError::Absent {
        path: name(),
        found: "a".to_owned(),
    };
    errors.push((Box::new(absent), "as far as a"));
    errors.push((
        Box::new(LookupError::WrongType {
            path: name(),
            wanted,
            found,
        }),
        "Window",
    ));
    errors
        .into_iter()
        .map(|(error, word)| (error.to_string(), word))
        .collect()
}

/// The path of some actor.
fn known_path() -> ActorPath {
    let runtime = common::world::virtual_runtime();
    runtime.block_on(async {
        let door = common::system().spawn("door", Door::default).unwrap();
        door.actor_path().clone()
    })
}

#[test]
fn every_error_is_one_clause_in_lower_case_that_says_what_to_do() {
    for (text, word) in every_error() {
        assert!(text.contains(word), "{text:?} does not say {word:?}");
        let first = text.chars().next().unwrap();
        assert!(!first.is_uppercase(), "{text:?} begins in upper case");
        assert!(
            !text.ends_with(['.', '!', ':', ' ', '\n']),
            "{text:?} goes on"
        );
        assert!(!text.contains('\n'), "{text:?} has more than one line");
    }
}
