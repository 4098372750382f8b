//! Reads the block that `#[actor]` stands on.
//!
//! Signatures are parsed, bodies are not: a body is one group of tokens that is passed on as it is.
//! So a half-typed body is the compiler's business alone, and the types that users of the actor
//! name exist all the same.

use crate::types;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Generics, ImplItem, Signature, Token, Type, Visibility, braced,
    parse::{Parse, ParseStream},
};

/// An inherent `impl` block.
pub(crate) struct Block {
    pub(crate) attrs: Vec<Attribute>,
    /// With the `where` clause.
    pub(crate) generics: Generics,
    pub(crate) ty: Type,
    pub(crate) items: Vec<Item>,
}

/// Something inside the block.
pub(crate) enum Item {
    Method(Box<Method>),
    /// A constant, a type, a macro: passed on unread, without an attribute of ours that it had.
    Other {
        tokens: TokenStream,
        misplaced: Option<Box<Attribute>>,
    },
}

/// A method, ours or a helper.
#[derive(Clone)]
pub(crate) struct Method {
    /// Without the attribute that gave it its role.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) roles: Vec<(Role, Attribute)>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

/// What one of our attributes makes of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Handler,
    OnStart,
    OnStop,
    OnRestart,
    OnTerminated,
    OnFailure,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Handler => "handler",
            Self::OnStart => "on_start",
            Self::OnStop => "on_stop",
            Self::OnRestart => "on_restart",
            Self::OnTerminated => "on_terminated",
            Self::OnFailure => "on_failure",
        }
    }

    fn of(attribute: &Attribute) -> Option<Self> {
        Self::named(&attribute.path().segments.last()?.ident)
    }

    /// The role that an attribute of this name gives.
    pub(crate) fn named(name: &Ident) -> Option<Self> {
        const ALL: [Role; 6] = [
            Role::Handler,
            Role::OnStart,
            Role::OnStop,
            Role::OnRestart,
            Role::OnTerminated,
            Role::OnFailure,
        ];
        ALL.into_iter().find(|role| name == role.name())
    }
}

/// Reads an inherent `impl` block.
pub(crate) fn block(item: TokenStream) -> syn::Result<Block> {
    syn::parse2(types::without_outer_group(item))
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const MISPLACED: &str = "`#[actor]` stands on an inherent `impl`: write `#[actor] impl Account { .. }` beside the type";
        let mut attrs = input.call(Attribute::parse_outer)?;
        if !input.peek(Token![impl]) {
            return Err(syn::Error::new(input.span(), MISPLACED));
        }
        input.parse::<Token![impl]>()?;
        let mut generics = Generics::default();
        if input.peek(Token![<]) {
            generics = input.parse()?;
        }
        let negative = input.parse::<Option<Token![!]>>()?;
        let ty: Type = input.parse()?;
        if negative.is_some() || input.peek(Token![for]) {
            return Err(syn::Error::new_spanned(
                ty,
                "`#[actor]` stands on an inherent `impl`, not on that of a trait: write `impl Account { .. }`",
            ));
        }
        generics.where_clause = input.parse()?;
        let content;
        braced!(content in input);
        attrs.extend(content.call(Attribute::parse_inner)?);
        let mut items = Vec::new();
        while !content.is_empty() {
            items.push(content.parse()?);
        }
        Ok(Self {
            attrs,
            generics,
            ty,
            items,
        })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if is_fn(&ahead) {
            return input.parse().map(Box::new).map(Self::Method);
        }
        let mut item: ImplItem = input.parse()?;
        let misplaced = attrs_of(&mut item).and_then(|attrs| {
            let at = attrs.iter().position(|attr| Role::of(attr).is_some())?;
            Some(Box::new(attrs.remove(at)))
        });
        Ok(Self::Other {
            tokens: item.into_token_stream(),
            misplaced,
        })
    }
}

impl Parse for Method {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attrs = input.call(Attribute::parse_outer)?;
        let roles = attrs
            .extract_if(.., |attr| Role::of(attr).is_some())
            .filter_map(|attr| Some((Role::of(&attr)?, attr)))
            .collect();
        Ok(Self {
            attrs,
            roles,
            vis: input.parse()?,
            sig: input.parse()?,
            body: input.step(|cursor| {
                let Some((tree, rest)) = cursor.token_tree() else {
                    return Err(cursor.error("expected the body of the method"));
                };
                match &tree {
                    TokenTree::Group(group)
                        if matches!(group.delimiter(), Delimiter::Brace | Delimiter::None) =>
                    {
                        Ok((tree.into(), rest))
                    }
                    _ => Err(cursor.error("expected the body of the method")),
                }
            })?,
        })
    }
}

impl ToTokens for Method {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attrs,
            roles,
            vis,
            sig,
            body,
        } = self;
        // What the framework asks of a method's shape is not the user's carelessness.
        let asked = (!roles.is_empty()).then(|| {
            quote! {
                #[allow(
                    clippy::needless_pass_by_value,
                    clippy::unused_self,
                    reason = "a message owns its data, and goes to an actor"
                )]
            }
        });
        tokens.extend(quote!(#asked #(#attrs)* #vis #sig #body));
    }
}

fn is_fn(input: ParseStream<'_>) -> bool {
    let qualifier = input.peek(Token![async])
        || input.peek(Token![unsafe])
        || input.peek(Token![extern])
        || input.peek(Token![fn]);
    let after_const = input.peek2(Token![async])
        || input.peek2(Token![unsafe])
        || input.peek2(Token![extern])
        || input.peek2(Token![fn]);
    qualifier || (input.peek(Token![const]) && after_const)
}

fn attrs_of(item: &mut ImplItem) -> Option<&mut Vec<Attribute>> {
    match item {
        ImplItem::Const(item) => Some(&mut item.attrs),
        ImplItem::Type(item) => Some(&mut item.attrs),
        ImplItem::Macro(item) => Some(&mut item.attrs),
        _ => None,
    }
}
