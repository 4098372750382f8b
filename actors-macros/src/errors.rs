//! Collects every mistake of a block, so that the user sees them all at once.

use quote::ToTokens;
use std::fmt::Display;

/// The mistakes found so far. It must be finished: dropping it unfinished is a bug and panics.
pub(crate) struct Errors {
    found: Option<Vec<syn::Error>>,
}

impl Errors {
    pub(crate) fn new() -> Self {
        Self {
            found: Some(Vec::new()),
        }
    }

    /// Records a mistake at the user's tokens; `text` says what to write.
    pub(crate) fn push(&mut self, at: &impl ToTokens, text: impl Display) {
        // Of the tokens, not of their span: on stable only this covers the whole of them.
        self.absorb(syn::Error::new_spanned(at, text));
    }

    /// Records what a parser found.
    pub(crate) fn absorb(&mut self, error: syn::Error) {
        self.list().push(error);
    }

    /// Whether `check` finds nothing new.
    pub(crate) fn none_in(&mut self, check: impl FnOnce(&mut Self)) -> bool {
        let before = self.list().len();
        check(self);
        self.list().len() == before
    }

    /// Answers all mistakes as one error, if there are any.
    pub(crate) fn finish(mut self) -> Result<(), syn::Error> {
        let found = self.found.take().unwrap_or_default();
        let all = found.into_iter().reduce(|mut all, next| {
            all.combine(next);
            all
        });
        all.map_or(Ok(()), Err)
    }

    fn list(&mut self) -> &mut Vec<syn::Error> {
        self.found
            .as_mut()
            .expect("`finish` takes the list and `self`")
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(
            self.found.is_none() || std::thread::panicking(),
            "errors of `#[actor]` were dropped without being reported"
        );
    }
}
