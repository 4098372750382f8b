//! What a block means: an actor with its handlers and hooks. Nothing below this asks about syntax.

use crate::{
    errors::Errors,
    options::{self, ActorOptions, HandlerOptions},
    parse::{Block, Item, Method, Role},
    types, validate,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident};
use syn::{
    Attribute, Expr, FnArg, Generics, Pat, PatType, Path, ReturnType, Type, Visibility, parse_quote,
};

/// An actor, ready to be expanded.
pub(crate) struct Actor {
    /// Where `actors_core` is.
    pub(crate) core: Path,
    pub(crate) msg: Ident,
    pub(crate) reference: Ident,
    pub(crate) supervision: Option<Expr>,
    /// The block without our attributes.
    pub(crate) block: Block,
    /// Of the block, without `Self`.
    pub(crate) generics: Generics,
    pub(crate) ty: Type,
    /// The last segment of the type's path.
    pub(crate) name: Ident,
    /// The `cfg` attributes of the block: they govern everything generated.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) hooks: Vec<Hook>,
}

/// A method that a message reaches.
pub(crate) struct Handler {
    pub(crate) name: Ident,
    pub(crate) variant: Ident,
    pub(crate) vis: Visibility,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) deprecated: Option<Attribute>,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) call: CallShape,
    /// What the method takes, in its order.
    pub(crate) inputs: Vec<Input>,
    pub(crate) reply: Reply,
}

/// How a method is called.
#[derive(Clone)]
pub(crate) struct CallShape {
    pub(crate) is_async: bool,
    /// Where the receiver is, if it is `&self`.
    pub(crate) shared: Option<Span>,
}

/// Something a handler takes.
pub(crate) enum Input {
    Context,
    Reply,
    Field { name: Ident, ty: Box<Type> },
}

/// What a handler answers.
pub(crate) struct Reply {
    pub(crate) ty: Type,
    pub(crate) is_fallible: bool,
    pub(crate) by: Answer,
}

/// Who sends the reply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The dispatch, with what the method returned.
    Returned,
    /// The same, and an `Err` is a failure too.
    Failing,
    /// The method, which took the way back.
    Deferred,
}

/// A method that the life of the actor reaches.
pub(crate) struct Hook {
    pub(crate) role: Role,
    pub(crate) name: Ident,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) call: CallShape,
    /// In the order of the method.
    pub(crate) inputs: Vec<HookInput>,
    pub(crate) output: Type,
}

pub(crate) enum HookInput {
    Context,
    /// The reason, the cause, who ended, or the failure.
    News,
    /// The child that failed.
    Child,
}

/// What could be understood of a block with mistakes in it.
pub(crate) struct Rejected {
    pub(crate) known: Option<Actor>,
    /// What the user wrote, without our attributes.
    pub(crate) block: TokenStream,
    pub(crate) errors: syn::Error,
}

impl Actor {
    /// Gives the block its meaning, or says everything that is wrong with it.
    pub(crate) fn new(args: TokenStream, mut block: Block) -> Result<Self, Box<Rejected>> {
        let mut errors = Errors::new();
        let options = ActorOptions::new(args, &mut errors);
        let parts = members(&mut block, &mut errors);
        let plain = block.to_token_stream();
        let known = validate::header(&block, &mut errors).map(|name| {
            let (handlers, hooks) = parts;
            Self {
                core: options.core.unwrap_or_else(|| parse_quote!(::actors_core)),
                msg: options.msg.unwrap_or_else(|| format_ident!("{name}Msg")),
                reference: options
                    .reference
                    .unwrap_or_else(|| format_ident!("{name}Ref")),
                supervision: options.supervision,
                generics: without_self(&block.generics, &block.ty),
                ty: block.ty.clone(),
                cfgs: with_name(&block.attrs, "cfg"),
                name,
                block,
                handlers,
                hooks,
            }
        });
        match (known, errors.finish()) {
            (Some(actor), Ok(())) => Ok(actor),
            (known, result) => {
                let errors = result
                    .err()
                    .unwrap_or_else(|| unreachable!("a header that is not understood is an error"));
                Err(Box::new(Rejected {
                    known,
                    block: plain,
                    errors,
                }))
            }
        }
    }
}

impl Actor {
    /// The types that travel: arguments and replies, where no `#[cfg]` may take them away.
    pub(crate) fn payload(&self) -> impl Iterator<Item = &Type> {
        let handlers = self
            .handlers
            .iter()
            .filter(|handler| handler.cfgs.is_empty());
        handlers.flat_map(|handler| {
            handler
                .fields()
                .map(|(_, ty)| ty)
                .chain([&handler.reply.ty])
        })
    }
}

/// Finds handlers and hooks. A handler that repeats another leaves the block, so that the compiler
/// does not report it once more.
fn members(block: &mut Block, errors: &mut Errors) -> (Vec<Handler>, Vec<Hook>) {
    let actor = block.ty.clone();
    let (mut handlers, mut hooks) = (Vec::new(), Vec::new());
    block.items.retain(|item| {
        let method = match item {
            Item::Method(method) => method,
            Item::Other { misplaced, .. } => {
                validate::nothing_misplaced(misplaced.as_deref(), errors);
                return true;
            }
        };
        let Some((role, attribute)) = validate::role(method, errors) else {
            return true;
        };
        if role == Role::Handler {
            let options = HandlerOptions::new(attribute, errors);
            let Some(handler) = Handler::new(method, &options, &actor, errors) else {
                return true;
            };
            if !validate::is_fresh_handler(&handler, &handlers, errors) {
                return false;
            }
            handlers.push(handler);
        } else {
            options::none(attribute, errors);
            let Some(hook) = Hook::new(method, role, &actor, errors) else {
                return true;
            };
            if validate::is_fresh_hook(&hook, &hooks, errors) {
                hooks.push(hook);
            }
        }
        true
    });
    (handlers, hooks)
}

impl Handler {
    fn new(
        method: &Method,
        options: &HandlerOptions,
        actor: &Type,
        errors: &mut Errors,
    ) -> Option<Self> {
        if !errors.none_in(|errors| validate::handler(method, options, errors)) {
            return None;
        }
        let inputs = arguments(method).filter_map(|arg| match Seat::of(&arg.ty) {
            Seat::Context => Some(Input::Context),
            Seat::Reply => Some(Input::Reply),
            Seat::Other => Some(Input::Field {
                name: name_of(arg)?.clone(),
                ty: Box::new(here(&arg.ty, actor)),
            }),
        });
        Some(Self {
            name: method.sig.ident.clone(),
            variant: variant(&method.sig.ident),
            vis: method.vis.clone(),
            docs: with_name(&method.attrs, "doc"),
            deprecated: with_name(&method.attrs, "deprecated").pop(),
            cfgs: with_name(&method.attrs, "cfg"),
            call: CallShape::new(method),
            inputs: inputs.collect(),
            reply: Reply::new(method, options, actor),
        })
    }

    /// The arguments that travel in the message.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&Ident, &Type)> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Field { name, ty } => Some((name, &**ty)),
            Input::Context | Input::Reply => None,
        })
    }
}

impl Reply {
    fn new(method: &Method, options: &HandlerOptions, actor: &Type) -> Self {
        let deferred = arguments(method).find(|arg| matches!(Seat::of(&arg.ty), Seat::Reply));
        let written = match deferred {
            Some(arg) => types::only_argument(&arg.ty).cloned(),
            None => Some(output(method)),
        };
        let ty = written.unwrap_or_else(|| parse_quote!(()));
        let by = match (deferred, &options.err_is_failure) {
            (Some(_), _) => Answer::Deferred,
            (None, Some(_)) => Answer::Failing,
            (None, None) => Answer::Returned,
        };
        let is_fallible = options.fallible.is_some() || types::is_named(&ty, "Result");
        Self {
            ty: here(&ty, actor),
            is_fallible,
            by,
        }
    }
}

impl Hook {
    fn new(method: &Method, role: Role, actor: &Type, errors: &mut Errors) -> Option<Self> {
        if !errors.none_in(|errors| validate::hook(method, role, errors)) {
            return None;
        }
        let inputs = arguments(method).map(|arg| match Seat::of(&arg.ty) {
            Seat::Context => HookInput::Context,
            Seat::Reply | Seat::Other if is_child(&arg.ty) => HookInput::Child,
            Seat::Reply | Seat::Other => HookInput::News,
        });
        Some(Self {
            role,
            name: method.sig.ident.clone(),
            cfgs: with_name(&method.attrs, "cfg"),
            call: CallShape::new(method),
            inputs: inputs.collect(),
            output: here(&output(method), actor),
        })
    }
}

impl CallShape {
    fn new(method: &Method) -> Self {
        let receiver = method.sig.receiver();
        let shared = receiver.filter(|receiver| !is_exclusive(receiver));
        Self {
            is_async: method.sig.asyncness.is_some(),
            shared: shared.map(|receiver| receiver.self_token.span),
        }
    }
}

/// What an argument is, by its type.
pub(crate) enum Seat {
    Context,
    Reply,
    Other,
}

impl Seat {
    pub(crate) fn of(ty: &Type) -> Self {
        let target = types::referent(ty).map_or(ty, |reference| &reference.elem);
        if types::is_named(target, "ActorContext") {
            Self::Context
        } else if types::is_named(ty, "ReplyTo") {
            Self::Reply
        } else {
            Self::Other
        }
    }
}

/// Whether an argument is the child that failed, by its type.
pub(crate) fn is_child(ty: &Type) -> bool {
    types::refers_to(ty, "ChildInfo")
}

/// What a method takes besides its receiver.
pub(crate) fn arguments(method: &Method) -> impl Iterator<Item = &PatType> {
    method.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(arg) => Some(arg),
        FnArg::Receiver(_) => None,
    })
}

/// The name of an argument that has no more than a name.
pub(crate) fn name_of(arg: &PatType) -> Option<&Ident> {
    match &*arg.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(&pat.ident),
        _ => None,
    }
}

/// The return type, `()` if none is written.
pub(crate) fn output(method: &Method) -> Type {
    match &method.sig.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    }
}

fn is_exclusive(receiver: &syn::Receiver) -> bool {
    match types::referent(&receiver.ty) {
        Some(reference) => reference.mutability.is_some(),
        None => receiver.mutability.is_some(),
    }
}

/// `deposit_all` becomes `DepositAll`, at the same place.
fn variant(name: &Ident) -> Ident {
    let text = name.to_string();
    let words = text
        .trim_start_matches("r#")
        .split('_')
        .filter(|word| !word.is_empty());
    let camel: String = words
        .map(|word| {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            format!("{}{rest}", first.to_uppercase())
        })
        .collect();
    // `_1` and `self_` would make no identifier.
    if camel == "Self" || !camel.starts_with(char::is_alphabetic) {
        return Ident::new(&format!("On{camel}"), name.span());
    }
    Ident::new(&camel, name.span())
}

fn with_name(attrs: &[Attribute], name: &str) -> Vec<Attribute> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident(name))
        .cloned()
        .collect()
}

/// A type of the block, as it is written outside the block.
fn here(ty: &Type, actor: &Type) -> Type {
    let tokens = types::without_self(ty.to_token_stream(), actor);
    syn::parse2(tokens).unwrap_or_else(|_| ty.clone())
}

fn without_self(generics: &Generics, actor: &Type) -> Generics {
    let mut outside = generics.clone();
    if let Ok(parsed) = syn::parse2(types::without_self(generics.to_token_stream(), actor)) {
        outside = parsed;
    }
    outside.where_clause = generics
        .where_clause
        .as_ref()
        .and_then(|clause| syn::parse2(types::without_self(clause.to_token_stream(), actor)).ok());
    outside
}

impl ToTokens for Block {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attrs,
            generics,
            ty,
            items,
        } = self;
        let (impl_generics, _, clause) = generics.split_for_impl();
        let items = items.iter().map(|item| match item {
            Item::Method(method) => method.to_token_stream(),
            Item::Other { tokens, .. } => tokens.clone(),
        });
        tokens.extend(quote::quote! {
            #(#attrs)*
            impl #impl_generics #ty #clause {
                #(#items)*
            }
        });
    }
}
