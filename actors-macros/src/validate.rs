//! Every misuse that can be seen in the syntax: one error at its own place that says what to write.

use crate::{
    errors::Errors,
    model::{self, Handler, Hook, Seat},
    options::HandlerOptions,
    parse::{Block, Method, Role},
    reserved,
    types::{self, Trouble},
};
use proc_macro2::Ident;
use quote::quote;
use syn::{Attribute, GenericParam, PatType, Receiver, ReturnType, Type};

const RECEIVER: &str = "write `&mut self` (or `&self`)";

/// Answers the name of the actor's type, if the block's header can be an actor's.
pub(crate) fn header(block: &Block, errors: &mut Errors) -> Option<Ident> {
    let lifetimes = block
        .generics
        .params
        .iter()
        .filter_map(|param| match param {
            GenericParam::Lifetime(param) => Some(param),
            GenericParam::Type(_) | GenericParam::Const(_) => None,
        });
    let mut is_static = true;
    for param in lifetimes {
        is_static = false;
        errors.push(
            param,
            "an actor owns its state: take out the lifetime, and hold `String` or `Arc<_>` in place of a reference",
        );
    }
    let name = types::last_segment(&block.ty).map(|segment| segment.ident.clone());
    if name.is_none() {
        errors.push(
            &block.ty,
            "an actor is a type with a name: write `impl Account { .. }`",
        );
    }
    name.filter(|_| is_static)
}

/// Answers what a method is, if it is one of ours.
pub(crate) fn role<'m>(method: &'m Method, errors: &mut Errors) -> Option<(Role, &'m Attribute)> {
    let (role, attribute) = method.roles.first()?;
    for (_, second) in method.roles.iter().skip(1) {
        let name = role.name();
        errors.push(
            second,
            format!("this method is already `#[{name}]`: write one of the two"),
        );
    }
    Some((*role, attribute))
}

/// Checks that no attribute of ours was on something else than a method.
pub(crate) fn nothing_misplaced(attribute: Option<&Attribute>, errors: &mut Errors) {
    if let Some(attribute) = attribute {
        errors.push(
            attribute,
            format!("`{}` stands on a method", types::pretty(attribute)),
        );
    }
}

/// Checks the signature of a handler.
pub(crate) fn handler(method: &Method, options: &HandlerOptions, errors: &mut Errors) {
    common(method, errors);
    let name = method.sig.ident.to_string();
    if reserved::is_reserved(name.trim_start_matches("r#")) {
        errors.push(
            &method.sig.ident,
            format!("a reference already has a method `{name}`: give this handler another name"),
        );
    }
    let mut seen = Seen::default();
    for arg in model::arguments(method) {
        handler_argument(arg, &mut seen, errors);
    }
    let has_reply = seen.reply;
    match &method.sig.output {
        ReturnType::Type(_, ty) if has_reply && !types::is_unit(ty) => errors.push(
            ty,
            "this handler answers through its `ReplyTo`: take out the return type",
        ),
        ReturnType::Type(_, ty) => reply(ty, errors),
        ReturnType::Default => {}
    }
    handler_options(method, options, has_reply, errors);
}

fn handler_options(
    method: &Method,
    options: &HandlerOptions,
    has_reply: bool,
    errors: &mut Errors,
) {
    let output = model::output(method);
    if let Some(option) = options
        .fallible
        .as_ref()
        .filter(|_| !has_reply && types::is_plain(&output))
    {
        errors.push(
            option,
            "`fallible` needs a reply that is a `Result`, if by another name: return one",
        );
        return;
    }
    let Some(option) = &options.err_is_failure else {
        return;
    };
    if has_reply {
        errors.push(
            option,
            "a handler that answers through its `ReplyTo` returns no `Err`: call `ctx.fail(error)` instead",
        );
    } else if options.fallible.is_none() && !types::is_named(&output, "Result") {
        errors.push(
            option,
            "`err_is_failure` needs a reply that is a `Result`: return one, or add `fallible` if the type is one by another name",
        );
    }
}

/// Checks the signature of a hook.
pub(crate) fn hook(method: &Method, role: Role, errors: &mut Errors) {
    common(method, errors);
    let mut seen = Seen::default();
    for arg in model::arguments(method) {
        if role == Role::OnFailure {
            decision_argument(arg, &mut seen, errors);
        } else {
            hook_argument(arg, role, &mut seen, errors);
        }
    }
    if role == Role::OnFailure {
        decision(method, errors);
    }
}

/// Checks what a hook that decides has besides its arguments.
fn decision(method: &Method, errors: &mut Errors) {
    if let Some(token) = &method.sig.asyncness {
        errors.push(
            token,
            "a decision cannot wait, because the failed child waits for it: write `fn`",
        );
    }
    let text = "`#[on_failure]` decides: write `-> Directive`, or `-> Option<Directive>` where `None` leaves it to the declared policy";
    match &method.sig.output {
        ReturnType::Default => errors.push(&method.sig.ident, text),
        ReturnType::Type(_, ty) if types::is_unit(ty) => errors.push(ty, text),
        ReturnType::Type(..) => {}
    }
}

/// Whether the handler is the first of its name and of its variant.
pub(crate) fn is_fresh_handler(new: &Handler, known: &[Handler], errors: &mut Errors) -> bool {
    let twin = known
        .iter()
        .find(|old| old.variant == new.variant && !may_exclude(&old.cfgs, &new.cfgs));
    let Some(twin) = twin else { return true };
    if twin.name == new.name {
        errors.push(
            &new.name,
            format!(
                "there is already a handler `{}`: give this one another name",
                twin.name
            ),
        );
    } else {
        errors.push(
            &new.name,
            format!(
                "the handlers `{}` and `{}` would both be the message `{}`: give this one another name",
                twin.name, new.name, new.variant
            ),
        );
    }
    false
}

/// Whether the hook is the first of its kind.
pub(crate) fn is_fresh_hook(new: &Hook, known: &[Hook], errors: &mut Errors) -> bool {
    let twin = known
        .iter()
        .find(|old| old.role == new.role && !may_exclude(&old.cfgs, &new.cfgs));
    if let Some(twin) = twin {
        errors.push(
            &new.name,
            format!(
                "an actor has one `#[{}]`, and `{}` is it: call this from there",
                new.role.name(),
                twin.name
            ),
        );
    }
    twin.is_none()
}

/// Two methods under different conditions may be two sides of one choice.
fn may_exclude(one: &[Attribute], other: &[Attribute]) -> bool {
    let text = |cfgs: &[Attribute]| quote!(#(#cfgs)*).to_string();
    !one.is_empty() && !other.is_empty() && text(one) != text(other)
}

/// What every handler and hook has in common: it is an ordinary method.
fn common(method: &Method, errors: &mut Errors) {
    let sig = &method.sig;
    match sig.receiver() {
        None => errors.push(
            &sig.ident,
            format!("this method has no receiver: {RECEIVER}"),
        ),
        Some(receiver) => self::receiver(receiver, errors),
    }
    let generic = sig
        .generics
        .params
        .iter()
        .find(|param| !matches!(param, GenericParam::Lifetime(_)));
    if let Some(param) = generic {
        errors.push(
            param,
            "a message has one type, so its handler cannot be generic: name the type, take a `Box<dyn ..>`, or move the parameter to the actor",
        );
    }
    if let Some(token) = &sig.unsafety {
        errors.push(
            token,
            "whoever sends a message cannot promise anything: take out `unsafe`",
        );
    }
    if let Some(abi) = &sig.abi {
        errors.push(abi, "messages come from Rust: take out `extern`");
    }
    if let Some(dots) = &sig.variadic {
        errors.push(
            dots,
            "a message has a fixed number of arguments: take a `Vec`",
        );
    }
}

fn receiver(receiver: &Receiver, errors: &mut Errors) {
    let is_reference = receiver.reference.is_some()
        || (receiver.colon_token.is_some()
            && types::referent(&receiver.ty)
                .is_some_and(|target| types::is_named(&target.elem, "Self")));
    if !is_reference {
        errors.push(
            receiver,
            format!("the actor keeps its state between messages: {RECEIVER}"),
        );
    }
}

#[derive(Default)]
struct Seen {
    context: bool,
    reply: bool,
    news: bool,
    child: bool,
}

fn handler_argument(arg: &PatType, seen: &mut Seen, errors: &mut Errors) {
    unconditional(arg, errors);
    match Seat::of(&arg.ty) {
        Seat::Context => context(&arg.ty, seen, errors),
        Seat::Reply => {
            if seen.reply {
                errors.push(&arg.ty, "a handler has one `ReplyTo`: take out this one");
            }
            if types::only_argument(&arg.ty).is_none() {
                errors.push(&arg.ty, "say what the reply is: write `ReplyTo<Reply>`");
            }
            seen.reply = true;
            reply(types::only_argument(&arg.ty).unwrap_or(&arg.ty), errors);
        }
        Seat::Other => {
            let name = model::name_of(arg);
            if name.is_none() {
                errors.push(
                    &arg.pat,
                    "an argument becomes a field of the message: give it a name, and take it apart in the body",
                );
            } else if name.is_some_and(|name| name == "reply") {
                errors.push(
                    arg,
                    "`reply` is the way back: write `reply: ReplyTo<_>`, or give this argument another name",
                );
            } else {
                owned(&arg.ty, "a message", errors);
            }
        }
    }
}

fn hook_argument(arg: &PatType, role: Role, seen: &mut Seen, errors: &mut Errors) {
    unconditional(arg, errors);
    if matches!(Seat::of(&arg.ty), Seat::Context) {
        return context(&arg.ty, seen, errors);
    }
    let (news, is_reference) = match role {
        Role::OnStop => (Some("reason: &StopReason"), true),
        Role::OnRestart => (Some("cause: &Failure"), true),
        Role::OnTerminated => (Some("who: Terminated"), false),
        Role::OnStart | Role::OnFailure | Role::Handler => (None, false),
    };
    let name = role.name();
    let Some(news) = news else {
        return errors.push(
            arg,
            format!("`#[{name}]` takes nothing but `ctx: &mut ActorContext<Self>`: what it needs, the factory puts into the state"),
        );
    };
    let reference = types::referent(&arg.ty);
    let fits = reference.is_some() == is_reference
        && reference.is_none_or(|reference| reference.mutability.is_none());
    if seen.news || !fits {
        errors.push(
            arg,
            format!("`#[{name}]` takes `{news}` and `ctx: &mut ActorContext<Self>`, nothing else"),
        );
    }
    seen.news = true;
}

fn decision_argument(arg: &PatType, seen: &mut Seen, errors: &mut Errors) {
    unconditional(arg, errors);
    if matches!(Seat::of(&arg.ty), Seat::Context) {
        return context(&arg.ty, seen, errors);
    }
    let is_child = model::is_child(&arg.ty);
    let is_known = is_child || types::refers_to(&arg.ty, "Failure");
    let before = if is_child {
        &mut seen.child
    } else {
        &mut seen.news
    };
    if !is_known || *before {
        errors.push(
            arg,
            "`#[on_failure]` takes `failure: &Failure`, `child: &ChildInfo` and `ctx: &mut ActorContext<Self>`, nothing else",
        );
    }
    *before |= is_known;
}

fn context(ty: &Type, seen: &mut Seen, errors: &mut Errors) {
    if seen.context {
        errors.push(ty, "there is one context: take out this argument");
    } else if types::referent(ty).is_none_or(|reference| reference.mutability.is_none()) {
        errors.push(
            ty,
            "the context is lent: write `ctx: &mut ActorContext<Self>`",
        );
    }
    seen.context = true;
}

/// An argument is there under every condition.
fn unconditional(arg: &PatType, errors: &mut Errors) {
    let condition = arg.attrs.iter().find(|attr| attr.path().is_ident("cfg"));
    if let Some(attr) = condition {
        errors.push(
            attr,
            "a method has the same arguments everywhere: put `#[cfg]` on the method",
        );
    }
}

/// Reports what cannot go back to an asker. Of an argument that is not `Send` the compiler speaks once, at
/// its type; of a reply it would speak at every generated use.
fn reply(ty: &Type, errors: &mut Errors) {
    owned(ty, "a reply", errors);
    if let Some(counted) = types::counted_by_one_thread(ty) {
        let inner = types::only_argument(counted).map(types::pretty);
        errors.push(
            counted,
            format!(
                "a reply goes to another thread: write `Arc<{}>` in place of `{}`",
                inner.unwrap_or_default(),
                types::pretty(counted)
            ),
        );
    }
}

/// Reports what in a type is not owned data.
fn owned(ty: &Type, what: &str, errors: &mut Errors) {
    match types::trouble(ty) {
        None => {}
        Some(Trouble::Reference { at, written, owned }) => errors.push(
            &at,
            format!("{what} owns its data: write `{owned}` in place of `{written}`"),
        ),
        Some(Trouble::Lifetime { at, written }) => errors.push(
            &at,
            format!("{what} owns its data: write a type without `{written}`"),
        ),
        Some(Trouble::Impl { at, boxed }) => errors.push(
            &at,
            format!("{what} has one type: name it, or write `{boxed}` in place of `impl`"),
        ),
    }
}
