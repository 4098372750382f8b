//! Asks the compiler first, at the user's types, for what generated code would ask anywhere.

use super::{Scope, moved, ours};
use crate::{model::Reply, types};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashSet;
use syn::{Type, WhereClause, WherePredicate, parse_quote, spanned::Spanned};

/// Every type parameter is `Send + 'static`, asked at the parameter. The generated items assume it (see
/// `Scope`), so that a missing bound is one error.
pub(super) fn parameters(scope: &Scope<'_>) -> Vec<TokenStream> {
    if !scope.has_type_parameters() {
        return Vec::new();
    }
    let (generics, _, clause) = scope.actor.generics.split_for_impl();
    let asked = scope.actor.generics.type_params().map(|param| {
        let ident = &param.ident;
        quote_spanned!(ident.span()=> actor_parameter::<#ident>();)
    });
    let carried = scope
        .carried()
        .into_iter()
        .map(|ty| quote_spanned!(ours(ty.span())=> carried::<#ty>();));
    let (assumed, _, bounds) = scope.generics.split_for_impl();
    vec![quote! {
        #[allow(dead_code, reason = "it is compiled to be checked")]
        const _: () = {
            fn actor_parameter<T: ::core::marker::Send + 'static>() {}
            fn parameters #generics () #clause { #(#asked)* }
            fn carried<T: ::core::marker::Send>() {}
            fn payload #assumed () #bounds { #(#carried)* }
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

/// Every type that travels is `Send`, said at the type. The other generated items take it from there
/// (see `assumed`), so that a type which is not is one error. Without this it is four, and the first of them
/// stands at `#[actor]`. It has a price: to check fifty actors of ten handlers takes 2.9 s instead of 1.9 s.
///
/// Not for an actor with type parameters: a bound `T: Send` below a trait that is none of the compiler's
/// own would make a circle of an actor that holds a reference to it and is held as `T`. There
/// `parameters` asks, and the message itself is an error too.
pub(super) fn carried(scope: &Scope<'_>) -> Vec<TokenStream> {
    let carried = scope.carried();
    if carried.is_empty() || scope.has_type_parameters() {
        return Vec::new();
    }
    let (core, msg) = (&scope.actor.core, scope.msg());
    let (_, _, clause) = scope.generics.split_for_impl();
    let params = scope.generics.params.iter();
    let generics = quote!(<'__a, #(#params,)*>);
    let parts = carried.iter().enumerate().map(|(n, ty)| {
        quote! {
            #[automatically_derived]
            #[doc(hidden)]
            impl #generics #core::__private::Carried<'__a, #msg, #n> for #ty #clause {}
        }
    });
    let mut whole = scope
        .clause()
        .cloned()
        .unwrap_or_else(|| parse_quote!(where));
    whole
        .predicates
        .extend(carried.iter().enumerate().map(|(n, ty)| -> WherePredicate {
            parse_quote!(for<'__b> #ty: #core::__private::Carried<'__b, #msg, #n>)
        }));
    let whole = quote! {
        #[automatically_derived]
        #[doc(hidden)]
        impl #generics #core::__private::Carrier<'__a> for #msg #whole {}
    };
    parts.chain([whole]).collect()
}

/// The clause of an item that is sound only with a message that is `Send`.
pub(super) fn assumed(scope: &Scope<'_>) -> Option<WhereClause> {
    let mut clause = scope.clause().cloned();
    if !scope.carried().is_empty() && !scope.has_type_parameters() {
        let (core, msg) = (&scope.actor.core, scope.msg());
        let empty = || parse_quote!(where);
        let predicate = parse_quote!(for<'__a> #msg: #core::__private::Carrier<'__a>);
        clause.get_or_insert_with(empty).predicates.push(predicate);
    }
    clause
}

impl Scope<'_> {
    /// The types that travel, each once, but for those of which everyone knows that they may.
    fn carried(&self) -> Vec<&Type> {
        let mut known = HashSet::new();
        let fresh = |ty: &&Type| known.insert(ty.to_token_stream().to_string());
        self.actor
            .payload()
            .filter(|ty| !types::is_plain(ty))
            .filter(fresh)
            .collect()
    }
}
