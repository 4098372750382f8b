//! The public API of this crate is what `public_api.txt` says. A change of it is a change of that file, under review.
//!
//! Derived and written trait implementations are in the file; auto traits are what `auto_traits.rs` is about.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use quote::{ToTokens as _, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Block, Fields, FnArg, Ident, ImplItem, Item, ItemImpl, ItemTrait, Meta, Pat,
    Signature, Token, TraitItem, Type, UseTree, Visibility, parse_quote,
};

use source::{Module, is_hidden, modules};

/// Set it to write the snapshot anew, then read the difference.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

#[test]
fn the_public_api_is_the_one_under_review() {
    let now = Api::of(&modules()).print();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public_api.txt");
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, &now).expect("the folder can be written");
    }
    let reviewed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        now == reviewed,
        "the public API differs from {}; set {UPDATE} to renew it\n{}",
        path.display(),
        difference(&reviewed, &now)
    );
}

/// What the root of a crate exports.
struct Api<'a> {
    modules: &'a [Module],
    /// The name of each exported item of this crate, and the item.
    items: BTreeMap<String, &'a Item>,
    /// What comes from another crate, and the names of the prelude.
    others: BTreeSet<String>,
}

impl<'a> Api<'a> {
    fn of(modules: &'a [Module]) -> Self {
        let mut api = Self {
            modules,
            items: BTreeMap::new(),
            others: BTreeSet::new(),
        };
        let open = modules.iter().filter(|module| module.path.len() < 2);
        for module in open.filter(|module| !is_hidden(&module.attrs)) {
            match module.path.first().map(String::as_str) {
                None => api.exports(module),
                Some("prelude") => api.prelude(module),
                Some(_) => {}
            }
        }
        api
    }

    /// Takes up what the root re-exports; it defines nothing itself.
    fn exports(&mut self, root: &Module) {
        for (names, exported) in public_uses(root) {
            match self.find(root, &names) {
                Some(item) => {
                    self.items.insert(exported, item);
                }
                None => {
                    self.others.insert(format!("pub use {};", names.join("::")));
                }
            }
        }
    }

    fn prelude(&mut self, prelude: &Module) {
        for (names, _) in public_uses(prelude) {
            let name = names.last().expect("a path has names");
            self.others.insert(format!("pub use prelude::{name};"));
        }
    }

    /// Follows a path from a module to the item; none if it leads to another crate.
    fn find(&self, from: &Module, names: &[String]) -> Option<&'a Item> {
        let (name, way) = names.split_last().expect("a path has names");
        let module = self.module(from, way)?;
        let defined = module.items.iter().find(|item| is_named(item, name));
        defined.or_else(|| {
            let mut uses = all_uses(module).into_iter();
            let (names, _) = uses.find(|(_, exported)| exported == name)?;
            self.find(module, &names)
        })
    }

    fn module(&self, from: &Module, way: &[String]) -> Option<&'a Module> {
        let mut path = from.path.clone();
        for name in way {
            match name.as_str() {
                "crate" => path.clear(),
                "self" => {}
                "super" => drop(path.pop()),
                name => path.push(name.to_owned()),
            }
        }
        self.modules.iter().find(|module| module.path == path)
    }

    /// The whole API: first what comes from elsewhere, then each item with its methods and traits.
    fn print(&self) -> String {
        let mut text: String = self.others.iter().map(|line| format!("{line}\n")).collect();
        for (name, item) in &self.items {
            text.push('\n');
            text.push_str(&unparse(bare(item)));
            let mut blocks: Vec<_> = self.blocks(name).map(unparse).collect();
            blocks.sort();
            text.extend(blocks);
        }
        text
    }

    /// The public part of the implementations that belong to an item.
    fn blocks<'b>(&'b self, name: &'b str) -> impl Iterator<Item = Item> + 'b {
        let items = self.modules.iter().flat_map(|module| &module.items);
        items.filter_map(move |item| match item {
            Item::Impl(block) if self.owner(block).as_deref() == Some(name) => open_part(block),
            _ => None,
        })
    }

    /// Where an implementation is listed: at its type, or at its trait if that is for types of users. Destructors, and what
    /// has to do with a private type or trait, are listed nowhere.
    fn owner(&self, block: &ItemImpl) -> Option<String> {
        let of_trait = block.trait_.as_ref().map(|(_, path, _)| path);
        let of_trait = of_trait.and_then(|path| Some(path.segments.last()?.ident.to_string()));
        let of_type = type_name(&block.self_ty);
        let mut named = of_trait.iter().chain(&of_type);
        if named.any(|name| name == "Drop" || self.is_private(name)) {
            return None;
        }
        let is_listed = |name: &String| self.items.contains_key(name);
        of_type.filter(is_listed).or(of_trait.filter(is_listed))
    }

    fn is_private(&self, name: &str) -> bool {
        let mut items = self.modules.iter().flat_map(|module| &module.items);
        !self.items.contains_key(name) && items.any(|item| is_named(item, name))
    }
}

/// The paths that a module re-exports to everybody, each with the name it gets.
fn public_uses(module: &Module) -> Vec<(Vec<String>, String)> {
    uses(module, |visibility| {
        matches!(visibility, Visibility::Public(_))
    })
}

fn all_uses(module: &Module) -> Vec<(Vec<String>, String)> {
    uses(module, |_| true)
}

fn uses(module: &Module, wanted: impl Fn(&Visibility) -> bool) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    for item in &module.items {
        if let Item::Use(item) = item
            && wanted(&item.vis)
        {
            flatten(Vec::new(), &item.tree, &mut found);
        }
    }
    found
}

fn flatten(mut names: Vec<String>, tree: &UseTree, found: &mut Vec<(Vec<String>, String)>) {
    match tree {
        UseTree::Path(path) => {
            names.push(path.ident.to_string());
            flatten(names, &path.tree, found);
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(names.clone(), tree, found);
            }
        }
        UseTree::Name(name) => {
            names.push(name.ident.to_string());
            found.push((names, name.ident.to_string()));
        }
        UseTree::Rename(rename) => {
            names.push(rename.ident.to_string());
            found.push((names, rename.rename.to_string()));
        }
        UseTree::Glob(_) => {
            names.push("*".to_owned());
            found.push((names, "*".to_owned()));
        }
    }
}

fn is_named(item: &Item, name: &str) -> bool {
    let ident: &Ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return false,
    };
    ident == name
}

fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        Type::Reference(reference) => type_name(&reference.elem),
        Type::TraitObject(object) => match object.bounds.first()? {
            syn::TypeParamBound::Trait(bound) => {
                Some(bound.path.segments.last()?.ident.to_string())
            }
            _ => None,
        },
        _ => None,
    }
}

/// An item as others see it: no private fields, no bodies, no documentation.
fn bare(item: &Item) -> Item {
    let mut item = item.clone();
    match &mut item {
        Item::Const(item) => {
            essential(&mut item.attrs);
            *item.expr = parse_quote!(_);
        }
        Item::Enum(item) => {
            essential(&mut item.attrs);
            for variant in &mut item.variants {
                essential(&mut variant.attrs);
                for field in &mut variant.fields {
                    essential(&mut field.attrs);
                }
            }
        }
        Item::Fn(item) => {
            essential(&mut item.attrs);
            signature(&mut item.sig);
            *item.block = nothing();
        }
        Item::Struct(item) => {
            essential(&mut item.attrs);
            fields(&mut item.fields);
        }
        Item::Trait(item) => bare_trait(item),
        Item::Type(item) => essential(&mut item.attrs),
        other => unreachable!("{} has no name", other.to_token_stream()),
    }
    item
}

fn bare_trait(item: &mut ItemTrait) {
    essential(&mut item.attrs);
    item.items.retain(|item| match item {
        TraitItem::Fn(function) => !is_hidden(&function.attrs),
        _ => true,
    });
    for item in &mut item.items {
        match item {
            TraitItem::Fn(function) => {
                essential(&mut function.attrs);
                signature(&mut function.sig);
                if let Some(body) = &mut function.default {
                    *body = nothing();
                }
            }
            TraitItem::Type(ty) => essential(&mut ty.attrs),
            TraitItem::Const(constant) => essential(&mut constant.attrs),
            _ => {}
        }
    }
}

/// The public methods of a type, or the head and the types of a trait's implementation; none if there is nothing.
fn open_part(block: &ItemImpl) -> Option<Item> {
    let mut block = block.clone();
    essential(&mut block.attrs);
    let is_of_trait = block.trait_.is_some();
    block.items.retain(|item| match item {
        ImplItem::Fn(function) => {
            !is_of_trait && is_open(&function.vis) && !is_hidden(&function.attrs)
        }
        ImplItem::Const(constant) => !is_of_trait && is_open(&constant.vis),
        ImplItem::Type(_) => true,
        _ => false,
    });
    for item in &mut block.items {
        match item {
            ImplItem::Fn(function) => {
                essential(&mut function.attrs);
                signature(&mut function.sig);
                function.block = nothing();
            }
            ImplItem::Const(constant) => essential(&mut constant.attrs),
            _ => {}
        }
    }
    block.items.sort_by_key(|item| match item {
        ImplItem::Fn(function) => (true, function.sig.ident.to_string()),
        other => (false, other.to_token_stream().to_string()),
    });
    (is_of_trait || !block.items.is_empty()).then_some(Item::Impl(block))
}

const fn is_open(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn nothing() -> Block {
    parse_quote!({})
}

/// Leaves the attributes that a user can tell, without their texts, and derived traits in order.
fn essential(attrs: &mut Vec<Attribute>) {
    attrs.retain(|attr| {
        ["cfg", "derive", "must_use", "non_exhaustive"]
            .iter()
            .any(|name| attr.path().is_ident(name))
    });
    for attr in attrs {
        if attr.path().is_ident("must_use") {
            attr.meta = Meta::Path(attr.path().clone());
        } else if attr.path().is_ident("derive") {
            let derived =
                attr.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
            let mut derived: Vec<_> = derived.expect("a derive has paths").into_iter().collect();
            derived.sort_by_key(|path| path.to_token_stream().to_string());
            *attr = parse_quote!(#[derive(#(#derived),*)]);
        }
    }
}

/// Leaves out how a function names its arguments to itself.
fn signature(signature: &mut Signature) {
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(receiver) if receiver.reference.is_none() => {
                receiver.mutability = None;
            }
            FnArg::Receiver(_) => {}
            FnArg::Typed(typed) => {
                if let Pat::Ident(name) = &mut *typed.pat {
                    name.mutability = None;
                }
            }
        }
    }
}

/// Replaces the private fields by one that says that there are some.
fn fields(fields: &mut Fields) {
    let (open, closed): (Vec<_>, Vec<_>) = fields
        .iter()
        .cloned()
        .partition(|field| is_open(&field.vis));
    let open = open.into_iter().map(|mut field| {
        essential(&mut field.attrs);
        field
    });
    *fields = match fields {
        Fields::Named(_) => {
            let private = (!closed.is_empty()).then(|| quote!(private: _));
            Fields::Named(parse_quote!({ #(#open,)* #private }))
        }
        Fields::Unnamed(_) => {
            let private = (!closed.is_empty()).then(|| quote!(_));
            Fields::Unnamed(parse_quote!((#(#open,)* #private)))
        }
        Fields::Unit => Fields::Unit,
    };
}

fn unparse(item: Item) -> String {
    let file = syn::File {
        shebang: None,
        attrs: Vec::new(),
        items: vec![item],
    };
    prettyplease::unparse(&file)
}

/// The lines that only one of two texts has, each below the first line of its paragraph.
fn difference(before: &str, after: &str) -> String {
    let (before, after) = (paragraphs(before), paragraphs(after));
    let heads: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut text = String::new();
    for head in heads {
        let (old, new) = (before.get(head), after.get(head));
        if old == new {
            continue;
        }
        text.push_str(&format!("  {head}\n"));
        let (old, new) = (old.map_or("", |text| text), new.map_or("", |text| text));
        text.extend(only_first(old, new).map(|line| format!("- {line}\n")));
        text.extend(only_first(new, old).map(|line| format!("+ {line}\n")));
    }
    text
}

/// The lines of the first text beyond as many equal ones as the second has.
fn only_first<'a>(first: &'a str, second: &'a str) -> impl Iterator<Item = &'a str> {
    let mut others: Vec<_> = second.lines().collect();
    first.lines().filter(move |line| {
        let twin = others.iter().position(|other| other == line);
        twin.map(|twin| others.swap_remove(twin)).is_none()
    })
}

/// The items of a snapshot, by their line that says what they are.
fn paragraphs(text: &str) -> BTreeMap<&str, &str> {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let mut lines = paragraph.lines();
        let head = lines.find(|line| !line.starts_with("#["));
        (head.unwrap_or_default(), paragraph)
    });
    paragraphs.collect()
}
