//! Writes the model down as code, one generated thing a module.
//!
//! | module      | generates                                                          |
//! |-------------|--------------------------------------------------------------------|
//! | `message`   | `enum AccountMsg`, its `Debug` and `Message`                       |
//! | `reference` | `struct AccountRef`, its traits, a method a handler                |
//! | `dispatch`  | `impl Actor for Account`: from a message to the method, and hooks  |
//! | `checks`    | what the compiler shall find at the user's types before it finds it in generated code |

use crate::{model::Actor, types};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    GenericParam, Generics, Token, TypeParamBound, WhereClause, WherePredicate, parse_quote,
    punctuated::Punctuated,
};

mod checks;
mod dispatch;
mod message;
mod reference;

/// Everything that `#[actor]` emits for a block.
pub(crate) fn actor(actor: &Actor) -> TokenStream {
    let Actor { cfgs, block, .. } = actor;
    let scope = Scope::new(actor);
    let parts: Vec<TokenStream> = [
        checks::parameters(&scope),
        checks::shared(&scope),
        checks::carried(&scope),
        message::definition(&scope),
        message::debug(&scope),
        message::message(&scope),
        reference::definition(&scope),
        reference::traits(&scope),
        reference::stubs(&scope),
        dispatch::actor(&scope),
    ]
    .concat();
    let parts = parts.iter().map(|part| quote!(#(#cfgs)* #part));
    quote!(#block #(#parts)*)
}

/// The actor together with what all generated items repeat.
struct Scope<'a> {
    actor: &'a Actor,
    /// The block's parameters, with what every actor asks of them added.
    generics: Generics,
    /// The arguments of `generics`, without brackets.
    arguments: TokenStream,
    /// Stands for any actor in the items that are generic over it.
    any: Ident,
}

impl<'a> Scope<'a> {
    fn new(actor: &'a Actor) -> Self {
        // `checks::parameters` asks for these at the user's parameter. Assumed here, they are
        // missing there only.
        let generics = with_bounds(&actor.generics);
        let names = generics.params.iter().map(|param| match param {
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
            GenericParam::Lifetime(param) => &param.lifetime.ident,
        });
        let arguments = quote!(#(#names,)*);
        Self {
            any: fresh(actor),
            generics,
            arguments,
            actor,
        }
    }

    /// The block's parameters, then one for any actor.
    fn generic_over_actor(&self) -> Generics {
        let (any, core) = (&self.any, &self.actor.core);
        let mut generics = self.generics.clone();
        generics.params.push(parse_quote!(#any: #core::Actor));
        generics
    }

    fn clause(&self) -> Option<&WhereClause> {
        self.generics.where_clause.as_ref()
    }

    /// `AccountMsg`, with its arguments.
    fn msg(&self) -> TokenStream {
        let (msg, arguments) = (&self.actor.msg, &self.arguments);
        if arguments.is_empty() {
            quote!(#msg)
        } else {
            quote!(#msg<#arguments>)
        }
    }

    /// Where `actors_core` is, written at a place of the user's.
    fn core_at(&self, at: Span) -> TokenStream {
        moved(&self.actor.core, at)
    }

    fn has_type_parameters(&self) -> bool {
        self.generics.type_params().next().is_some()
    }
}

/// The parameters, each with `Send + 'static` where its other bounds are.
fn with_bounds(written: &Generics) -> Generics {
    let mut generics = written.clone();
    let clause = &mut generics.where_clause;
    let mut predicates: Vec<_> = clause
        .iter_mut()
        .flat_map(|clause| &mut clause.predicates)
        .collect();
    for param in &mut generics.params {
        let GenericParam::Type(param) = param else {
            continue;
        };
        let own = predicates.iter_mut().find_map(|predicate| match predicate {
            WherePredicate::Type(predicate)
                if types::is_ident(&predicate.bounded_ty, &param.ident) =>
            {
                Some(&mut predicate.bounds)
            }
            _ => None,
        });
        match own {
            Some(bounds) if param.bounds.is_empty() => complete(bounds),
            _ => complete(&mut param.bounds),
        }
    }
    generics
}

/// Adds what is not among the bounds already: a bound that stands twice is a warning.
fn complete(bounds: &mut Punctuated<TypeParamBound, Token![+]>) {
    let is_send = bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Send"),
        _ => false,
    });
    if !is_send {
        bounds.push(parse_quote!(::core::marker::Send));
    }
    let is_static = |bound: &TypeParamBound| matches!(bound, TypeParamBound::Lifetime(lifetime) if lifetime.ident == "static");
    if !bounds.iter().any(is_static) {
        bounds.push(parse_quote!('static));
    }
}

/// A name for a parameter that nothing in the block's header is called.
fn fresh(actor: &Actor) -> Ident {
    let (generics, ty) = (&actor.generics, &actor.ty);
    let clause = &generics.where_clause;
    let header = quote!(#generics #ty #clause);
    (0..)
        .map(|n| {
            if n == 0 {
                format_ident!("A")
            } else {
                format_ident!("A{n}")
            }
        })
        .find(|name| !mentions(header.clone(), name))
        .expect("the header is finite")
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// A name of our own in generated code, shown at the user's `at`: nothing of the user's meets it.
fn local(name: &str, at: Span) -> Ident {
    Ident::new(name, ours(at))
}

/// The place `at`, as generated code.
fn ours(at: Span) -> Span {
    Span::mixed_site().located_at(at)
}

/// The same tokens at another place. They are generated code there, but for a `$crate`, which means what
/// it meant.
fn moved(tokens: impl ToTokens, to: Span) -> TokenStream {
    let trees = tokens.into_token_stream().into_iter().map(|mut tree| {
        match &tree {
            TokenTree::Group(group) => {
                tree = TokenTree::Group(Group::new(group.delimiter(), moved(group.stream(), to)));
                tree.set_span(ours(to));
            }
            TokenTree::Ident(ident) if ident == "$crate" => {
                tree.set_span(tree.span().located_at(to));
            }
            _ => tree.set_span(ours(to)),
        }
        tree
    });
    trees.collect()
}

/// What generated types and methods may do: they are always `pub`, so that the actor may be anything,
/// and they have the docs that the user wrote.
fn allowed() -> TokenStream {
    quote! {
        #[allow(
            dead_code,
            missing_docs,
            private_bounds,
            private_interfaces,
            unnameable_types,
            unreachable_pub,
            reason = "generated by `#[actor]`, for an actor of any visibility"
        )]
    }
}
