//! `struct AccountRef`: an `ActorRef` with a method a handler.
//!
//! The struct and its traits are generic over the actor, which is the actor of the block only by
//! default. `Deref` of a plain `pub struct AccountRef` would name a private actor in a public
//! interface, and that is error E0446.

use super::{Scope, allowed, local, ours};
use crate::model::Handler;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Generics;

pub(super) fn definition(scope: &Scope<'_>) -> Vec<TokenStream> {
    let (any, core, actor) = (&scope.any, &scope.actor.core, &scope.actor.ty);
    let (name, ty_name) = (&scope.actor.reference, &scope.actor.name);
    let params = scope.generics.params.iter();
    let phantom = phantom(scope).map(|phantom| quote!(, #phantom));
    let doc =
        format!("A reference to the actor `{ty_name}`: an `ActorRef` with a method a handler.");
    let (clause, allowed) = (scope.clause(), allowed());
    vec![quote! {
        #[doc = #doc]
        #allowed
        pub struct #name<#(#params,)* #any: #core::Actor = #actor>(#core::ActorRef<#any> #phantom) #clause;
    }]
}

pub(super) fn traits(scope: &Scope<'_>) -> Vec<TokenStream> {
    let (any, core) = (&scope.any, &scope.actor.core);
    let name = &scope.actor.reference;
    let phantom = phantom(scope).map(|_| quote!(, ::core::marker::PhantomData));
    let bodies = [
        (
            quote!(::core::clone::Clone),
            quote! {
                fn clone(&self) -> Self { Self(::core::clone::Clone::clone(&self.0) #phantom) }
            },
        ),
        (
            quote!(::core::ops::Deref),
            quote! {
                type Target = #core::ActorRef<#any>;
                fn deref(&self) -> &Self::Target { &self.0 }
            },
        ),
        (
            quote!(::core::cmp::PartialEq),
            quote! {
                fn eq(&self, other: &Self) -> bool { self.0 == other.0 }
            },
        ),
        (quote!(::core::cmp::Eq), quote!()),
        (
            quote!(::core::hash::Hash),
            quote! {
                fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) { ::core::hash::Hash::hash(&self.0, state); }
            },
        ),
        (
            quote!(::core::fmt::Debug),
            quote! {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { ::core::fmt::Debug::fmt(&self.0, f) }
            },
        ),
        (
            quote!(::core::convert::From<#core::ActorRef<#any>>),
            quote! {
                fn from(actor: #core::ActorRef<#any>) -> Self { Self(actor #phantom) }
            },
        ),
        (
            quote!(#core::Handle<#any>),
            quote! {
                fn actor(&self) -> &#core::ActorRef<#any> { &self.0 }
            },
        ),
    ];
    let generics: Generics = scope.generic_over_actor();
    let (impl_generics, ty_generics, clause) = generics.split_for_impl();
    bodies
        .into_iter()
        .map(|(what, body)| quote!(#[automatically_derived] impl #impl_generics #what for #name #ty_generics #clause { #body }))
        .collect()
}

pub(super) fn stubs(scope: &Scope<'_>) -> Vec<TokenStream> {
    let (name, actor, arguments) = (&scope.actor.reference, &scope.actor.ty, &scope.arguments);
    let (generics, _, clause) = scope.generics.split_for_impl();
    let stubs = scope
        .actor
        .handlers
        .iter()
        .map(|handler| stub(scope, handler));
    let allowed = allowed();
    vec![quote! {
        #allowed
        impl #generics #name<#arguments #actor> #clause { #(#stubs)* }
    }]
}

/// The method that makes a call. As a path it is a plain function from the reference and the
/// arguments to the call, so it serves wherever a message to oneself is wanted.
fn stub(scope: &Scope<'_>, handler: &Handler) -> TokenStream {
    let (core, actor, msg) = (&scope.actor.core, &scope.actor.ty, &scope.actor.msg);
    let Handler {
        name,
        variant,
        vis,
        docs,
        deprecated,
        cfgs,
        reply,
        ..
    } = handler;
    let at = ours(name.span());
    let (names, types): (Vec<_>, Vec<_>) = handler.fields().unzip();
    let values: Vec<_> = (0..names.len())
        .map(|n| local(&format!("value{n}"), at))
        .collect();
    let reply_ty = &reply.ty;
    let kind = if reply.is_fallible {
        quote!(Fallible)
    } else {
        quote!(Value)
    };
    let (back, me) = (
        local("reply", at),
        quote_spanned!(Span::call_site().located_at(name.span())=> self),
    );
    quote! {
        #(#docs)*
        #(#cfgs)*
        #deprecated
        #vis fn #name(&#me, #(#names: #types,)*) -> #core::Call<'_, #actor, #core::#kind<#reply_ty>, (#(#types,)*)> {
            #core::__private::call(
                &#me.0,
                (#(#names,)*),
                |(#(#values,)*), #back| #msg::#variant { #(#names: #values,)* reply: #back },
            )
        }
    }
}

/// Uses the parameters of the block that `A` hides.
fn phantom(scope: &Scope<'_>) -> Option<TokenStream> {
    scope.has_type_parameters().then(|| {
        let params = scope.generics.type_params().map(|param| &param.ident);
        quote!(::core::marker::PhantomData<fn() -> (#(#params,)*)>)
    })
}
