//! What is emitted when something is wrong: the errors, and everything that is known all the same,
//! so that one mistake does not become an error at every use of the actor.

use crate::{expand, model::Rejected};
use proc_macro2::TokenStream;
use quote::quote;

/// A block with mistakes in it: the methods, and the types with the handlers that are sound.
pub(crate) fn actor(rejected: &Rejected) -> TokenStream {
    let errors = rejected.errors.to_compile_error();
    let known = rejected
        .known
        .as_ref()
        .map_or_else(|| rejected.block.clone(), expand::actor);
    quote!(#errors #known)
}

/// Something that is no inherent `impl` block: it stays as it is.
pub(crate) fn untouched(item: &TokenStream, error: &syn::Error) -> TokenStream {
    let error = error.to_compile_error();
    quote!(#error #item)
}

/// An attribute that only `#[actor]` understands, on something that no `#[actor]` has seen. The
/// item is emitted in any case: without it every call of the method would be an error too.
pub(crate) fn outside(name: &str, item: &TokenStream) -> TokenStream {
    let text = format!(
        "`#[{name}]` works on a method inside an `#[actor]` block: write `#[actor]` above the `impl`"
    );
    let error = syn::Error::new(proc_macro2::Span::call_site(), text).to_compile_error();
    quote!(#error #item)
}
