//! What is emitted when something is wrong: the errors, and everything that is known all the same,
//! so that one mistake does not become an error at every use of the actor.

use crate::{expand, model::Rejected, parse::Role};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
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

/// Something that is no inherent `impl` block: it stays as it is, but for our attributes inside, which
/// would each be an error.
pub(crate) fn untouched(item: &TokenStream, error: &syn::Error) -> TokenStream {
    let (error, item) = (error.to_compile_error(), without_roles(item.clone()));
    quote!(#error #item)
}

fn without_roles(tokens: TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    for tree in tokens {
        let TokenTree::Group(group) = tree else {
            out.push(tree);
            continue;
        };
        let after_hash =
            matches!(out.last(), Some(TokenTree::Punct(hash)) if hash.as_char() == '#');
        if after_hash && has_role(&group) {
            out.pop();
        } else if matches!(group.delimiter(), Delimiter::Brace | Delimiter::None) {
            let mut inner = Group::new(group.delimiter(), without_roles(group.stream()));
            inner.set_span(group.span());
            out.push(inner.into());
        } else {
            out.push(group.into());
        }
    }
    out.into_iter().collect()
}

/// Whether the path in `[path(..)]` ends as one of our attributes.
fn has_role(brackets: &Group) -> bool {
    let path = brackets
        .stream()
        .into_iter()
        .take_while(|tree| !matches!(tree, TokenTree::Group(_)));
    match path.last() {
        Some(TokenTree::Ident(name)) => Role::named(&name).is_some(),
        _ => false,
    }
}

/// An attribute that only `#[actor]` understands, on something that no `#[actor]` has seen. The
/// item is emitted in any case: without it every call of the method would be an error too.
pub(crate) fn outside(name: &str, item: &TokenStream) -> TokenStream {
    let text = format!(
        "`#[{name}]` works on a method inside an `#[actor]` block: write `#[actor]` above the `impl`"
    );
    let error = syn::Error::new(Span::call_site(), text).to_compile_error();
    quote!(#error #item)
}
