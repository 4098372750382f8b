//! The options in the parentheses of `#[actor(..)]` and `#[handler(..)]`.

use crate::errors::Errors;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{
    Attribute, Expr, Meta, Path, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

/// What `#[actor(..)]` was told.
#[derive(Default)]
pub(crate) struct ActorOptions {
    pub(crate) core: Option<Path>,
    pub(crate) msg: Option<Ident>,
    pub(crate) reference: Option<Ident>,
    pub(crate) supervision: Option<Expr>,
}

impl ActorOptions {
    /// Reads the options; one that cannot be read is an error and otherwise left out.
    pub(crate) fn new(args: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let parser = |input: ParseStream<'_>| options.read(input);
        if let Err(error) = parser.parse2(args) {
            errors.absorb(error);
        }
        options
    }

    fn read(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let known = ["crate", "msg", "ref", "supervision"];
            if !known.iter().any(|known| key == known) {
                return Err(syn::Error::new(
                    key.span(),
                    format!(
                        "`#[actor]` has no option `{key}`: write `crate = path`, `msg = Name`, `ref = Name` or `supervision = expression`"
                    ),
                ));
            }
            input.parse::<Token![=]>()?;
            let fresh = match key.to_string().as_str() {
                "crate" => self
                    .core
                    .replace(input.call(Path::parse_mod_style)?)
                    .is_none(),
                "msg" => self.msg.replace(input.parse()?).is_none(),
                "ref" => self.reference.replace(input.parse()?).is_none(),
                _ => self.supervision.replace(input.parse()?).is_none(),
            };
            if !fresh {
                return Err(syn::Error::new(key.span(), format!("write `{key}` once")));
            }
            comma(input)?;
        }
        Ok(())
    }
}

/// What `#[handler(..)]` was told.
#[derive(Default)]
pub(crate) struct HandlerOptions {
    pub(crate) fallible: Option<Ident>,
    pub(crate) err_is_failure: Option<Ident>,
}

impl HandlerOptions {
    pub(crate) fn new(attribute: &Attribute, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let read = |input: ParseStream<'_>| options.read(input);
        let result = match &attribute.meta {
            Meta::Path(_) => Ok(()),
            Meta::List(list) => read.parse2(list.tokens.clone()),
            Meta::NameValue(pair) => Err(syn::Error::new_spanned(
                pair,
                "write `#[handler]`, `#[handler(fallible)]` or `#[handler(err_is_failure)]`",
            )),
        };
        if let Err(error) = result {
            errors.absorb(error);
        }
        options
    }

    fn read(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let seat = match key.to_string().as_str() {
                "fallible" => &mut self.fallible,
                "err_is_failure" => &mut self.err_is_failure,
                _ => {
                    return Err(syn::Error::new(
                        key.span(),
                        format!(
                            "`#[handler]` has no option `{key}`: write `fallible` or `err_is_failure`"
                        ),
                    ));
                }
            };
            if seat.is_some() {
                return Err(syn::Error::new(key.span(), format!("write `{key}` once")));
            }
            *seat = Some(key);
            comma(input)?;
        }
        Ok(())
    }
}

/// Reports options on an attribute that takes none.
pub(crate) fn none(attribute: &Attribute, errors: &mut Errors) {
    if !matches!(attribute.meta, Meta::Path(_)) {
        let name = attribute.path().to_token_stream();
        errors.push(
            &attribute.meta,
            format!("this attribute has no options: write `#[{name}]`"),
        );
    }
}

fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}
