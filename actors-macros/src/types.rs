//! Questions about types as they are written.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    GenericArgument, Lifetime, ParenthesizedGenericArguments, PathArguments, PathSegment, Type,
    TypeBareFn, TypeImplTrait, TypeReference,
    visit::{self, Visit},
};

/// Looks through parentheses and through the invisible groups that `macro_rules` makes.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        other => other,
    }
}

/// The last segment of a path, as `Result<u8>` of `io::Result<u8>`.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match peel(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// Whether the last segment of the path is `name`.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name)
}

/// Whether the type is the bare name.
pub(crate) fn is_ident(ty: &Type, name: &Ident) -> bool {
    matches!(peel(ty), Type::Path(path) if path.path.is_ident(name))
}

/// The one type in the angle brackets of `ReplyTo<T>`.
pub(crate) fn only_argument(ty: &Type) -> Option<&Type> {
    let PathArguments::AngleBracketed(list) = &last_segment(ty)?.arguments else {
        return None;
    };
    match list.args.first() {
        Some(GenericArgument::Type(ty)) if list.args.len() == 1 => Some(ty),
        _ => None,
    }
}

/// The target of a `&mut` or `&`.
pub(crate) fn referent(ty: &Type) -> Option<&TypeReference> {
    match peel(ty) {
        Type::Reference(reference) => Some(reference),
        _ => None,
    }
}

/// Whether the type is a `&` to something whose path ends in `name`.
pub(crate) fn refers_to(ty: &Type, name: &str) -> bool {
    referent(ty)
        .is_some_and(|reference| reference.mutability.is_none() && is_named(&reference.elem, name))
}

/// Whether the type is `()`.
pub(crate) fn is_unit(ty: &Type) -> bool {
    matches!(peel(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// Whether the type is, as everyone knows, `Send` and no `Result`.
pub(crate) fn is_plain(ty: &Type) -> bool {
    const PLAIN: &[&str] = &[
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "u128", "usize", "String", "Duration", "PathBuf",
    ];
    const WRAPPERS: &[&str] = &["Option", "Vec", "Box"];
    match peel(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().all(is_plain),
        ty @ Type::Path(path) if path.qself.is_none() && path.path.segments.len() == 1 => {
            PLAIN.iter().any(|name| is_named(ty, name))
                || (WRAPPERS.iter().any(|name| is_named(ty, name))
                    && only_argument(ty).is_some_and(is_plain))
        }
        _ => false,
    }
}

/// The `Rc<T>` in a type that is sure not to be `Send` because of it: the type itself, or what a
/// container of the standard library holds.
pub(crate) fn counted_by_one_thread(ty: &Type) -> Option<&Type> {
    const CONTAINERS: &[&str] = &[
        "Arc", "BTreeMap", "BTreeSet", "Box", "HashMap", "HashSet", "Option", "Result", "Vec",
        "VecDeque",
    ];
    match peel(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().find_map(counted_by_one_thread),
        Type::Array(array) => counted_by_one_thread(&array.elem),
        ty @ Type::Path(_) if is_named(ty, "Rc") && only_argument(ty).is_some() => Some(ty),
        ty if CONTAINERS.iter().any(|name| is_named(ty, name)) => {
            let PathArguments::AngleBracketed(list) = &last_segment(ty)?.arguments else {
                return None;
            };
            list.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => counted_by_one_thread(ty),
                _ => None,
            })
        }
        _ => None,
    }
}

/// What keeps a type from being owned data with a name.
pub(crate) enum Trouble {
    /// A reference, as it is written and what to write instead.
    Reference {
        at: TokenStream,
        written: String,
        owned: String,
    },
    /// A lifetime other than `'static`.
    Lifetime { at: TokenStream, written: String },
    /// An `impl Trait`; what to take instead.
    Impl { at: TokenStream, boxed: String },
}

/// Finds the first thing in `ty` that a message cannot hold. `&'static`, and what stands inside
/// `Fn(..)` and `fn(..)`, are no trouble.
pub(crate) fn trouble(ty: &Type) -> Option<Trouble> {
    let mut search = Search { found: None };
    search.visit_type(ty);
    search.found
}

struct Search {
    found: Option<Trouble>,
}

impl<'ast> Visit<'ast> for Search {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        let lifetime = reference.lifetime.as_ref();
        if lifetime.is_some_and(|lifetime| lifetime.ident == "static") {
            return visit::visit_type_reference(self, reference);
        }
        self.found.get_or_insert(Trouble::Reference {
            at: reference.to_token_stream(),
            written: pretty(reference),
            owned: owned_instead(&reference.elem),
        });
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            self.found.get_or_insert(Trouble::Lifetime {
                at: lifetime.to_token_stream(),
                written: lifetime.to_string(),
            });
        }
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        let boxed = format!("Box<dyn {} + Send>", pretty(&ty.bounds));
        self.found.get_or_insert(Trouble::Impl {
            at: ty.to_token_stream(),
            boxed,
        });
    }

    // What these borrow, the call brings along.
    fn visit_type_bare_fn(&mut self, _: &'ast TypeBareFn) {}
    fn visit_parenthesized_generic_arguments(&mut self, _: &'ast ParenthesizedGenericArguments) {}
    fn visit_bound_lifetimes(&mut self, _: &'ast syn::BoundLifetimes) {}
}

fn owned_instead(ty: &Type) -> String {
    match peel(ty) {
        Type::Slice(slice) => format!("Vec<{}>", pretty(&slice.elem)),
        Type::TraitObject(object) => {
            format!("Box<dyn {} + Send>", pretty(&object.bounds))
        }
        ty if is_named(ty, "str") => "String".to_owned(),
        ty if is_named(ty, "Path") => "PathBuf".to_owned(),
        ty => pretty(ty),
    }
}

/// Tokens the way a person writes types.
pub(crate) fn pretty(tokens: &impl ToTokens) -> String {
    let spaced = tokens.to_token_stream().to_string();
    [
        (" :: ", "::"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
        (" (", "("),
        (" ;", ";"),
    ]
    .into_iter()
    .fold(spaced, |text, (from, to)| text.replace(from, to))
}

/// Replaces `Self` by the type it stands for: generated items stand outside its `impl`.
pub(crate) fn without_self(tokens: TokenStream, actor: &Type) -> TokenStream {
    let mut out = TokenStream::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(ident) if ident == "Self" => {
                let path =
                    matches!(trees.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
                out.extend(if path {
                    quote!(<#actor>)
                } else {
                    quote!(#actor)
                });
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_self(group.stream(), actor));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other => out.extend([other]),
        }
    }
    out
}

/// Takes off the invisible group around the whole, which `macro_rules` puts around an item.
pub(crate) fn without_outer_group(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => {
            without_outer_group(group.stream())
        }
        _ => tokens,
    }
}
