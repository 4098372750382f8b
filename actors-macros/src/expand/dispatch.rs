//! `impl Actor for Account`: which method a message reaches, and which method is which hook.

use super::{Scope, checks, local, ours};
use crate::{
    model::{Answer, CallShape, Handler, Hook, HookInput, Input},
    parse::Role,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

pub(super) fn actor(scope: &Scope<'_>) -> Vec<TokenStream> {
    let (core, actor, arguments) = (&scope.actor.core, &scope.actor.ty, &scope.arguments);
    let reference = &scope.actor.reference;
    let msg = scope.msg();
    let (generics, _, _) = scope.generics.split_for_impl();
    let clause = checks::assumed(scope);
    let receive = receive(scope);
    let hooks = scope.actor.hooks.iter().map(|hook| match hook.role {
        Role::OnFailure => decision(scope, hook),
        _ => self::hook(scope, hook),
    });
    let supervision = scope.actor.supervision.as_ref().map(|policy| {
        quote! {
            fn supervision() -> ::core::option::Option<#core::Supervision> {
                ::core::option::Option::Some(#policy)
            }
        }
    });
    let deprecated = scope
        .actor
        .handlers
        .iter()
        .any(|handler| handler.deprecated.is_some());
    let deprecated = deprecated
        .then(|| quote!(#[allow(deprecated, reason = "whoever sends the message was told")]));
    vec![quote! {
        #[automatically_derived]
        #deprecated
        impl #generics #core::Actor for #actor #clause {
            type Msg = #msg;
            type Ref = #reference<#arguments>;
            #receive
            #(#hooks)*
            #supervision
        }
    }]
}

fn receive(scope: &Scope<'_>) -> TokenStream {
    let core = &scope.actor.core;
    let arms = scope
        .actor
        .handlers
        .iter()
        .map(|handler| arm(scope, handler));
    let ty = scope.msg();
    let (me, msg, ctx) = (ours_named("self"), ours_named("msg"), ours_named("ctx"));
    let never = scope
        .has_type_parameters()
        .then(|| quote!(Self::Msg::__Parameters(_, never) => match never {},));
    quote! {
        #[inline]
        fn receive<'a>(
            &'a mut #me,
            #msg: #ty,
            #ctx: &'a mut #core::ActorContext<Self>,
        ) -> #core::Flow<'a> {
            match #msg { #(#arms)* #never }
        }
    }
}

fn arm(scope: &Scope<'_>, handler: &Handler) -> TokenStream {
    let Handler {
        name,
        variant,
        cfgs,
        call,
        reply,
        ..
    } = handler;
    let msg = &scope.actor.msg;
    let at = ours(name.span());
    let core = scope.core_at(at);
    let back = local("reply", at);
    let mut fields = Vec::new();
    let mut passed = Vec::new();
    for input in &handler.inputs {
        passed.push(match input {
            Input::Context => ours_named("ctx"),
            Input::Reply => back.clone(),
            Input::Field { name, .. } => {
                let value = local(&format!("value{}", fields.len()), at);
                fields.push(quote!(#name: #value));
                value
            }
        });
    }
    let out = called(name, call, &passed);
    let describe = quote_spanned!(at=> |error| {
        use #core::__private::{DescribeDebug as _, DescribeName as _};
        #core::__private::Describe(error).describe()
    });
    let finished = match (reply.by, reply.is_fallible) {
        (Answer::Deferred, _) => quote_spanned!(at=> #core::__private::finish_deferred(#out)),
        (Answer::Failing, _) => {
            quote_spanned!(at=> #core::__private::finish_failing(#back, #out, #describe))
        }
        (Answer::Returned, true) => {
            quote_spanned!(at=> #core::__private::finish_fallible(#back, #out, #describe))
        }
        (Answer::Returned, false) => quote_spanned!(at=> #core::__private::finish(#back, #out)),
    };
    let held = handler
        .fields()
        .map(|(_, ty)| ty.to_token_stream())
        .collect();
    let flow = flow(scope, call, held, finished, at);
    let plain = checks::plain_reply(scope, reply);
    quote! {
        #(#cfgs)*
        #msg::#variant { #(#fields,)* reply: #back } => { #plain #flow }
    }
}

fn hook(scope: &Scope<'_>, hook: &Hook) -> TokenStream {
    let core = &scope.actor.core;
    let Hook {
        role,
        name,
        cfgs,
        call,
        inputs,
        output,
    } = hook;
    let at = ours(name.span());
    let (me, ctx, news) = (ours_named("self"), ours_named("ctx"), ours_named("news"));
    let out = called(name, call, &passed(inputs));
    let at_output = ours(output.span());
    let core_at_output = scope.core_at(at_output);
    let made = quote_spanned!(at_output=> #core_at_output::__private::hook);
    let flow = flow(
        scope,
        call,
        Vec::new(),
        quote_spanned!(at=> #made(#out)),
        at,
    );
    let method = Ident::new(role.name(), Span::call_site());
    let news = match role {
        Role::OnStop => Some(quote!(#news: &'a #core::StopReason)),
        Role::OnRestart => Some(quote!(#news: &'a #core::Failure)),
        Role::OnTerminated => Some(quote!(#news: #core::Terminated)),
        Role::OnStart | Role::OnFailure | Role::Handler => None,
    };
    quote! {
        #(#cfgs)*
        fn #method<'a>(
            &'a mut #me,
            #ctx: &'a mut #core::ActorContext<Self>,
            #news
        ) -> #core::Flow<'a> {
            #flow
        }
    }
}

/// The hook that decides. Whoever looks for it asks the constant.
fn decision(scope: &Scope<'_>, hook: &Hook) -> TokenStream {
    let core = &scope.actor.core;
    let Hook {
        name,
        cfgs,
        call,
        inputs,
        output,
        ..
    } = hook;
    let at = ours(name.span());
    let (me, ctx) = (ours_named("self"), ours_named("ctx"));
    let (news, child) = (ours_named("news"), ours_named("child"));
    let out = called(name, call, &passed(inputs));
    let at_output = ours(output.span());
    let core_at_output = scope.core_at(at_output);
    let made = quote_spanned!(at_output=> #core_at_output::__private::decision);
    let decided = quote_spanned!(at=> #made(#out));
    quote! {
        #(#cfgs)*
        const DECIDES: bool = true;
        #(#cfgs)*
        fn on_failure(
            &mut #me,
            #ctx: &mut #core::ActorContext<Self>,
            #news: &#core::Failure,
            #child: &#core::ChildInfo,
        ) -> ::core::option::Option<#core::Directive> {
            #decided
        }
    }
}

/// What a hook is called with, in its order.
fn passed(inputs: &[HookInput]) -> Vec<Ident> {
    let name = |input: &HookInput| match input {
        HookInput::Context => "ctx",
        HookInput::News => "news",
        HookInput::Child => "child",
    };
    inputs.iter().map(|input| ours_named(name(input))).collect()
}

/// The call of a method, awaited if it is async.
fn called(name: &Ident, call: &CallShape, passed: &[Ident]) -> TokenStream {
    let at = ours(name.span());
    let me = local("self", at);
    let wait = call.is_async.then(|| quote_spanned!(at=> .await));
    quote_spanned!(at=> Self::#name(#me, #(#passed),*) #wait)
}

/// Runs at once what can; boxes what may wait. Every token of the box stands at the method's name,
/// because that is where the compiler then says that the future is not `Send`.
fn flow(
    scope: &Scope<'_>,
    call: &CallShape,
    mut held: Vec<TokenStream>,
    finished: TokenStream,
    at: Span,
) -> TokenStream {
    if !call.is_async {
        return finished;
    }
    let (core, actor) = (scope.core_at(at), &scope.actor.ty);
    held.push(quote!(#actor));
    held.extend(call.shared.as_ref().map(|_| quote!(&'static #actor)));
    // The types stay where the user wrote them: a misspelt one is the same error there.
    let boxed = quote_spanned!(at=> #core::__private::Sound::<(#(#held,)*)>::boxed);
    quote_spanned!(at=> {
        use #core::__private::Unsound as _;
        #core::__private::later(#boxed(async move { #finished }))
    })
}

/// A name of our own that no place of the user's belongs to.
fn ours_named(name: &str) -> Ident {
    local(name, Span::call_site())
}
