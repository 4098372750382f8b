//! `enum AccountMsg`: a variant a handler, its arguments inline, the way back inside.

use super::{Scope, allowed, checks};
use crate::model::Handler;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::WhereClause;

pub(super) fn definition(scope: &Scope<'_>) -> Vec<TokenStream> {
    let core = &scope.actor.core;
    let (name, ty_name) = (&scope.actor.msg, &scope.actor.name);
    let (generics, _, clause) = scope.generics.split_for_impl();
    let variants = scope.actor.handlers.iter().map(|handler| {
        let Handler {
            variant,
            docs,
            cfgs,
            reply,
            ..
        } = handler;
        let fields = handler.fields().map(|(name, ty)| quote!(#name: #ty));
        let reply = &reply.ty;
        quote!(#(#docs)* #(#cfgs)* #variant { #(#fields,)* reply: #core::ReplyTo<#reply> })
    });
    let unused = scope.has_type_parameters().then(|| {
        let params = scope.generics.type_params().map(|param| &param.ident);
        quote! {
            #[doc(hidden)]
            __Parameters(::core::marker::PhantomData<fn() -> (#(#params,)*)>, ::core::convert::Infallible),
        }
    });
    let allowed = allowed();
    let doc = format!("The messages of `{ty_name}`, one variant a handler.");
    vec![quote! {
        #[doc = #doc]
        #allowed
        #[non_exhaustive]
        pub enum #name #generics #clause { #(#variants,)* #unused }
    }]
}

pub(super) fn debug(scope: &Scope<'_>) -> Vec<TokenStream> {
    let core = &scope.actor.core;
    let arms = scope.actor.handlers.iter().map(|handler| {
        let Handler { variant, cfgs, .. } = handler;
        let text = variant.to_string();
        let names = handler.fields().map(|(name, _)| name);
        let values = (0..).map(|n| format_ident!("field{n}"));
        let (names, values): (Vec<_>, Vec<_>) = names.zip(values).unzip();
        let texts = names
            .iter()
            .map(|name| name.to_string().trim_start_matches("r#").to_owned());
        quote! {
            #(#cfgs)*
            Self::#variant { #(#names: #values,)* .. } => f
                .debug_struct(#text)
                #(.field(#texts, #core::__private::Field(#values).shown()))*
                .finish()
        }
    });
    let body = scope.matching(arms);
    vec![scope.implement(
        &quote!(::core::fmt::Debug),
        scope.clause(),
        &quote! {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                use #core::__private::HiddenField as _;
                #body
            }
        },
    )]
}

pub(super) fn message(scope: &Scope<'_>) -> Vec<TokenStream> {
    let core = &scope.actor.core;
    let names = scope
        .actor
        .handlers
        .iter()
        .map(|Handler { variant, cfgs, .. }| {
            let text = variant.to_string();
            quote!(#(#cfgs)* Self::#variant { .. } => #text)
        });
    let ways = scope.actor.handlers.iter().map(|Handler { variant, cfgs, .. }| {
        quote!(#(#cfgs)* Self::#variant { reply, .. } => reply.way_back())
    });
    let (names, ways) = (scope.matching(names), scope.matching(ways));
    vec![scope.implement(
        &quote!(#core::Message),
        checks::assumed(scope).as_ref(),
        &quote! {
            #[inline]
            fn variant(&self) -> &'static str { #names }
            #[inline]
            fn way_back(&self) -> ::core::option::Option<&dyn #core::WayBack> { #ways }
        },
    )]
}

impl Scope<'_> {
    /// An `impl` for the message enum.
    fn implement(
        &self,
        what: &TokenStream,
        clause: Option<&WhereClause>,
        body: &TokenStream,
    ) -> TokenStream {
        let (generics, _, _) = self.generics.split_for_impl();
        let msg = self.msg();
        quote!(#[automatically_derived] impl #generics #what for #msg #clause { #body })
    }

    /// A `match` on a message behind `self`.
    fn matching(&self, arms: impl Iterator<Item = TokenStream>) -> TokenStream {
        let mut arms: Vec<_> = arms.collect();
        if self.has_type_parameters() {
            arms.push(quote!(Self::__Parameters(_, never) => match *never {}));
        }
        // The compiler sees that there is no message by its value, not by a reference to it.
        if arms.is_empty() {
            quote!(match *self {})
        } else {
            quote!(match self { #(#arms,)* })
        }
    }
}
