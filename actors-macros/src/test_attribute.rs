//! `#[actors_testkit::test]`: makes an ordinary test of an async function that takes a kit.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, FnArg, ItemFn, Pat, PatType, Path, Token, Type};

use crate::errors::Errors;

/// What stands in the brackets of the attribute.
struct Options {
    /// Where `actors_testkit` is found.
    krate: Path,
    /// `|system| system.throughput(1)`, for example.
    system: Option<Expr>,
}

enum Setting {
    Crate(Path),
    System(Expr),
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(syn::Ident::parse_any)?;
        if name == "crate" {
            input.parse::<Token![=]>()?;
            return input
                .call(Path::parse_mod_style)
                .map(|path| Self::Crate(ours(path)));
        }
        if name == "system" {
            input.parse::<Token![=]>()?;
            return input.parse().map(Self::System);
        }
        let text = "the options are `system = |system| system.throughput(1)`, for example, and `crate = path`";
        Err(syn::Error::new_spanned(name, text))
    }
}

impl Options {
    fn parse(args: TokenStream) -> syn::Result<Self> {
        let settings = Punctuated::<Setting, Token![,]>::parse_terminated.parse2(args)?;
        let mut options = Self::none();
        for setting in settings {
            match setting {
                Setting::Crate(path) => options.krate = path,
                Setting::System(settings) => options.system = Some(settings),
            }
        }
        Ok(options)
    }

    fn none() -> Self {
        Self {
            krate: syn::parse_quote!(::actors_testkit),
            system: None,
        }
    }
}

/// Makes a path of the user's one of ours, at the same place, so that it is none that lints judge.
fn ours(mut path: Path) -> Path {
    for segment in &mut path.segments {
        segment
            .ident
            .set_span(Span::call_site().located_at(segment.ident.span()));
    }
    path
}

/// What the attribute makes of a function; with mistakes in it, the errors and an ordinary function.
pub(crate) fn test(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let text = format!(
                "`#[actors_testkit::test]` stands on an `async fn name(kit: TestKit)`: {error}"
            );
            let error = syn::Error::new(error.span(), text).to_compile_error();
            return quote!(#error #item);
        }
    };
    let mut errors = Errors::new();
    let options = Options::parse(args).unwrap_or_else(|error| {
        errors.absorb(error);
        Options::none()
    });
    check(&function, &mut errors);
    match errors.finish() {
        Ok(()) => expand(&options, function),
        Err(error) => {
            let error = error.to_compile_error();
            function.attrs.retain(|attribute| !is_test(attribute));
            quote!(#error #[allow(dead_code)] #function)
        }
    }
}

fn check(function: &ItemFn, errors: &mut Errors) {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        errors.push(
            &signature.fn_token,
            "a test with a kit awaits what it expects: write `async fn`",
        );
    }
    if !signature.generics.params.is_empty() {
        errors.push(
            &signature.generics,
            "nobody could say what a generic test is for: leave the parameters out",
        );
    }
    if let Some(token) = &signature.constness {
        errors.push(token, "a test is not `const`");
    }
    if let Some(token) = &signature.unsafety {
        errors.push(token, "a test is not `unsafe`");
    }
    if let Some(abi) = &signature.abi {
        errors.push(abi, "a test has no ABI of its own");
    }
    for attribute in &function.attrs {
        if is_test(attribute) {
            errors.push(
                attribute,
                "`#[actors_testkit::test]` makes this a test already: leave this attribute out",
            );
        }
    }
    let mut inputs = signature.inputs.iter();
    match (inputs.next(), inputs.next()) {
        (None, _) => errors.push(
            &signature.ident,
            format!(
                "the test has no kit: write `async fn {}(kit: TestKit)`",
                signature.ident
            ),
        ),
        (Some(kit), None) if is_kit(kit) => {}
        (Some(kit), None) => errors.push(
            kit,
            "a test gets a kit and nothing else: write `kit: TestKit`",
        ),
        (Some(_), Some(second)) => {
            errors.push(second, "a test gets a kit and nothing else: leave this out");
        }
    }
}

fn is_test(attribute: &Attribute) -> bool {
    let name = attribute.path().segments.last();
    name.is_some_and(|last| last.ident == "test")
}

fn is_kit(argument: &FnArg) -> bool {
    let FnArg::Typed(PatType { pat, ty, .. }) = argument else {
        return false;
    };
    let Type::Path(path) = &**ty else {
        return false;
    };
    let is_name =
        matches!(&**pat, Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none());
    let is_name = is_name || matches!(&**pat, Pat::Wild(_));
    is_name
        && path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "TestKit")
}

fn expand(options: &Options, function: ItemFn) -> TokenStream {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
    } = function;
    let (krate, name, output) = (&options.krate, &sig.ident, &sig.output);
    let text = name.unraw().to_string();
    // At the name of the test, so that a failure at its end points there.
    let run = match &options.system {
        None => quote_spanned!(name.span()=> #krate::TestKit::run(#text, #name)),
        Some(system) => {
            let system = system.to_token_stream();
            quote_spanned!(name.span()=> #krate::TestKit::run_with(#text, #system, #name))
        }
    };
    let test = format_ident!("test");
    quote! {
        #(#attrs)*
        #[::core::prelude::v1::#test]
        #vis fn #name() #output {
            #[allow(
                clippy::needless_pass_by_value,
                clippy::unused_async,
                reason = "every test has a kit, and is async"
            )]
            #sig #block
            #run
        }
    }
}
