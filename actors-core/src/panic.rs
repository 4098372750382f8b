//! Catching the panics of user code, destructors included.
//!
//! The runtime calls into code that is not its own: handlers, hooks, factories, deciders, `Display` of errors, and the
//! destructors of all the values that these own. A panic in any of them is a fact about an actor and must not reach a
//! worker, so every such call goes through this module.
//!
//! Not covered: a program built with `panic = "abort"`, and a destructor that panics while an unwinding panic drops the
//! values of the user's own frames. Both end the process before anybody can catch.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;

/// What a panic said.
pub(crate) type PanicText = Arc<str>;

/// How often the payload of a payload's panicking destructor is dropped in turn before it is leaked.
const MOST_PAYLOADS: usize = 16;

/// Calls user code and returns the text of its panic if it panics.
///
/// Whatever the code leaves half done is the caller's business: state that took part in a panic is dropped or handed
/// to a supervisor that decides to keep it.
#[inline]
pub(crate) fn catch<R>(code: impl FnOnce() -> R) -> Result<R, PanicText> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|payload| {
        let text = text_of(&*payload);
        discard(payload);
        text
    })
}

/// Drops a value of the user's type and returns the text of the panic of its destructor, if it panics.
pub(crate) fn drop_quietly<T>(value: T) -> Option<PanicText> {
    catch(move || drop(value)).err()
}

/// Wakes whoever waits. A waker may be code of a user's executor, and its panic is no business of whoever wakes it; the panic
/// hook has reported it.
pub(crate) fn wake(waker: Waker) {
    let _ = catch(|| waker.wake());
}

fn text_of(payload: &(dyn Any + Send)) -> PanicText {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        Arc::from(*text)
    } else if let Some(text) = payload.downcast_ref::<String>() {
        Arc::from(text.as_str())
    } else {
        Arc::from("a panic whose payload is no text")
    }
}

/// Drops the payload of a panic; its destructor may panic with another payload, and so on.
fn discard(mut payload: Box<dyn Any + Send>) {
    for _ in 0..MOST_PAYLOADS {
        match catch_unwind(AssertUnwindSafe(move || drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    // A chain this long is a destructor that panics with a new value of its own type, forever. The last link is given
    // up on purpose: a few lost bytes are better than a worker that never comes back.
    Box::leak(payload);
}

/// Owns a value of the user's type, and catches the panic of its destructor.
///
/// What lives in an activation or a task needs it: whoever drops one has other things to do, and `async-task` aborts the process
/// when dropping a future panics. The text of such a panic is lost; use [`drop_quietly`] where somebody can report it.
pub(crate) struct Guarded<T>(Option<T>);

const PRESENT: &str = "the value is taken only by what ends the wrapper";

impl<T> Guarded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Guards nothing.
    pub(crate) const fn empty() -> Self {
        Self(None)
    }

    /// Returns the value, which nothing guards any more.
    pub(crate) fn into_inner(mut self) -> T {
        self.0.take().expect(PRESENT)
    }

    /// The value, if there is one.
    #[inline]
    pub(crate) const fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut()
    }

    /// Takes the value out, if there is one; nothing guards it any more.
    pub(crate) const fn take(&mut self) -> Option<T> {
        self.0.take()
    }
}

impl<T> Deref for Guarded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect(PRESENT)
    }
}

impl<T> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(PRESENT)
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            drop_quietly(value);
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Guarded<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    /// Panics when it is dropped, with a value of its own kind while `left` lasts.
    struct Bomb {
        left: usize,
        drops: Arc<AtomicUsize>,
    }

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.drops.fetch_add(1, SeqCst);
            if self.left > 0 {
                panic_any(Self {
                    left: self.left - 1,
                    drops: Arc::clone(&self.drops),
                });
            }
        }
    }

    #[test]
    fn the_text_of_a_panic_is_its_message() {
        let n = 3;
        assert_eq!(catch(|| 7), Ok(7));
        assert_eq!(catch(|| panic!("plain")), Err::<(), _>("plain".into()));
        assert_eq!(
            catch(|| panic!("formatted {n}")),
            Err::<(), _>("formatted 3".into())
        );
        assert_eq!(
            catch(|| panic_any(n)),
            Err::<(), _>("a panic whose payload is no text".into())
        );
    }

    #[test]
    fn a_payload_whose_destructor_panics_is_caught() {
        for left in [0, 1, 5] {
            let drops = Arc::new(AtomicUsize::new(0));
            let bomb = Bomb {
                left,
                drops: Arc::clone(&drops),
            };
            assert!(catch(move || panic_any(bomb)).is_err());
            assert_eq!(drops.load(SeqCst), left + 1);
        }
    }

    #[test]
    fn a_payload_that_panics_forever_is_given_up() {
        let drops = Arc::new(AtomicUsize::new(0));
        let bomb = Bomb {
            left: usize::MAX,
            drops: Arc::clone(&drops),
        };
        assert!(catch(move || panic_any(bomb)).is_err());
        assert_eq!(drops.load(SeqCst), MOST_PAYLOADS);
    }

    #[test]
    fn a_quiet_drop_tells_what_the_destructor_said() {
        struct Loud;
        impl Drop for Loud {
            fn drop(&mut self) {
                panic!("ouch");
            }
        }
        assert_eq!(drop_quietly(Loud).as_deref(), Some("ouch"));
        assert_eq!(drop_quietly(1), None);
        drop(Guarded::new(Loud));
    }

    #[test]
    fn a_guard_holds_even_while_its_owner_unwinds() {
        let drops = Arc::new(AtomicUsize::new(0));
        let guarded = Guarded::new(Bomb {
            left: 1,
            drops: Arc::clone(&drops),
        });
        let caught = catch(move || {
            let _owned = guarded;
            panic!("outer");
        });
        assert_eq!(caught, Err::<(), _>("outer".into()));
        assert_eq!(drops.load(SeqCst), 2);
    }

    #[test]
    fn a_guarded_value_is_used_and_returned() {
        let mut guarded = Guarded::new(vec![1]);
        guarded.push(2);
        assert_eq!((guarded.len(), guarded.into_inner()), (2, vec![1, 2]));
    }
}
