//! Asks the compiler first, at the user's types, for what generated code would ask anywhere.

use super::{Scope, moved, ours};
use crate::{model::Reply, types};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{WhereClause, parse_quote, spanned::Spanned};

/// Every type parameter of the block is owned data of a thread's own choice. The generated items
/// assume it (see `Scope`), so that a missing bound is one error, at the parameter.
pub(super) fn parameters(scope: &Scope<'_>) -> Vec<TokenStream> {
    if !scope.has_type_parameters() {
        return Vec::new();
    }
    let (generics, _, clause) = scope.actor.generics.split_for_impl();
    let asked = scope.actor.generics.type_params().map(|param| {
        let ident = &param.ident;
        quote_spanned!(ident.span()=> actor_parameter::<#ident>();)
    });
    vec![quote! {
        #[allow(dead_code, reason = "it is compiled to be checked")]
        const _: () = {
            fn actor_parameter<T: ::core::marker::Send + 'static>() {}
            fn parameters #generics () #clause { #(#asked)* }
        };
    }]
}

/// An async method that borrows its actor for reading needs an actor that may be shared, or else
/// `&mut self`. Asked once, at the first such receiver.
pub(super) fn shared(scope: &Scope<'_>) -> Vec<TokenStream> {
    let calls = scope
        .actor
        .handlers
        .iter()
        .map(|handler| (&handler.call, &handler.cfgs));
    let calls = calls.chain(
        scope
            .actor
            .hooks
            .iter()
            .map(|hook| (&hook.call, &hook.cfgs)),
    );
    let mut asked = calls
        .filter(|(call, _)| call.is_async)
        .filter_map(|(call, cfgs)| Some((call.shared?, cfgs)));
    let Some((receiver, cfgs)) = asked.next() else {
        return Vec::new();
    };
    let (generics, _, clause) = scope.generics.split_for_impl();
    let at = ours(receiver);
    let (core, actor) = (scope.core_at(at), moved(&scope.actor.ty, at));
    let check = quote_spanned!(at=> #core::__private::async_handler_with_shared_self);
    vec![quote! {
        #(#cfgs)*
        #[allow(dead_code, reason = "it is compiled to be checked")]
        const _: () = {
            fn shared #generics () #clause { #check::<#actor>() }
        };
    }]
}

/// Asks that a reply which does not look like a `Result` is none.
pub(super) fn plain_reply(scope: &Scope<'_>, reply: &Reply) -> Option<TokenStream> {
    if reply.is_fallible || types::is_plain(&reply.ty) {
        return None;
    }
    let ty = &reply.ty;
    let at = ours(reply.ty.span());
    let core = scope.core_at(at);
    Some(quote_spanned!(at=> {
        use #core::__private::IsPlain as _;
        #core::__private::Reply::<#ty>::is_plain();
    }))
}

/// The clause of `impl Message`: it assumes what `type Msg` then has to show.
pub(super) fn travelling(scope: &Scope<'_>) -> Option<WhereClause> {
    let core = &scope.actor.core;
    let mut clause = scope.clause().cloned();
    for ty in scope.actor.payload().filter(|ty| !types::is_plain(ty)) {
        let predicate = parse_quote!(for<'__a> #ty: #core::__private::Travels<'__a>);
        let empty = || parse_quote!(where);
        clause.get_or_insert_with(empty).predicates.push(predicate);
    }
    clause
}

/// Where the compiler shall say that a message is not `Send`: at what looks as if it were not, else at
/// the actor.
pub(super) fn blame(scope: &Scope<'_>) -> Span {
    let suspect = scope.actor.payload().find_map(types::suspect);
    suspect.unwrap_or_else(|| scope.actor.name.span())
}
