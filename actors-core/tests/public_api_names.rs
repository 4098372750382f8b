//! The names that a handler cannot have are those of the methods that every reference has, and no others.

mod source;

use std::borrow::{Borrow, BorrowMut};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Deref;

use actors_core::Handle;
use actors_core::prelude::*;
use syn::{Expr, ImplItem, Item, Lit, TraitItem, Type, Visibility};

use source::{file, modules};

/// The methods of the traits of the standard library that [`has_these_traits`] asks for.
const STANDARD: &[&str] = &[
    "borrow",
    "borrow_mut",
    "clone",
    "clone_from",
    "clone_into",
    "deref",
    "drop",
    "eq",
    "fmt",
    "from",
    "hash",
    "into",
    "ne",
    "to_owned",
    "try_from",
    "try_into",
    "type_id",
];

const fn has_these_traits<A: Actor, R>()
where
    R: Borrow<R> + BorrowMut<R> + Clone + ToOwned + Deref<Target = ActorRef<A>> + Eq + Debug + Hash,
    R: From<ActorRef<A>> + Into<R> + TryInto<R> + TryFrom<R> + std::any::Any + Handle<A>,
{
}

struct Nobody;

#[actor]
impl Nobody {}

const _: () = has_these_traits::<Nobody, NobodyRef>();

/// The list in the macros.
fn reserved() -> BTreeSet<String> {
    let items = file("../actors-macros/src/reserved.rs").items;
    let list = items.into_iter().find_map(|item| match item {
        Item::Const(item) if item.ident == "RESERVED" => Some(*item.expr),
        _ => None,
    });
    let Some(Expr::Reference(list)) = list else {
        panic!("`RESERVED` is a reference to an array");
    };
    let Expr::Array(list) = *list.expr else {
        panic!("`RESERVED` is a reference to an array");
    };
    let names = list.elems.into_iter().map(|name| match name {
        Expr::Lit(name) => match name.lit {
            Lit::Str(name) => name.value(),
            _ => panic!("a name is a string"),
        },
        _ => panic!("a name is a literal"),
    });
    names.collect()
}

/// The public methods of `ActorRef`, and those of `Handle`.
fn verbs() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in modules().into_iter().flat_map(|module| module.items) {
        match item {
            Item::Impl(block) if block.trait_.is_none() && is_reference(&block.self_ty) => {
                names.extend(block.items.iter().filter_map(public_function));
            }
            Item::Trait(item) if item.ident == "Handle" => {
                names.extend(item.items.iter().filter_map(|item| match item {
                    TraitItem::Fn(function) => Some(function.sig.ident.to_string()),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    names
}

fn is_reference(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|name| name.ident == "ActorRef"),
        _ => false,
    }
}

fn public_function(item: &ImplItem) -> Option<String> {
    match item {
        ImplItem::Fn(function) if matches!(function.vis, Visibility::Public(_)) => {
            Some(function.sig.ident.to_string())
        }
        _ => None,
    }
}

#[test]
fn every_method_of_a_reference_is_reserved() {
    let reserved = reserved();
    let standard = STANDARD.iter().map(|&name| name.to_owned());
    let missing: Vec<_> = verbs()
        .into_iter()
        .chain(standard)
        .filter(|name| !reserved.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "a handler of this name would hide the method; add to `actors-macros/src/reserved.rs`: {missing:?}"
    );
}

#[test]
fn no_name_is_reserved_without_a_method() {
    let verbs = verbs();
    let idle: Vec<_> = reserved()
        .into_iter()
        .filter(|name| !verbs.contains(name) && !STANDARD.contains(&name.as_str()))
        .collect();
    assert!(
        idle.is_empty(),
        "no reference has such a method, so a handler may; take out of `actors-macros/src/reserved.rs`: {idle:?}"
    );
}
