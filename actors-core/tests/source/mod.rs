//! The sources of this crate, parsed: for the tests about its shape.

#![allow(dead_code, reason = "each test uses its own part of this")]

use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens as _;
use syn::{Attribute, File, ImplItem, Item, ItemMod, Meta, TraitItem};

/// One module, without what is compiled for tests alone, and without the modules inside it.
pub(crate) struct Module {
    /// Its file, from the folder of the crate on.
    pub(crate) file: PathBuf,
    /// The names of the modules on the way to it; none for the root.
    pub(crate) path: Vec<String>,
    pub(crate) items: Vec<Item>,
    /// The attributes with which its parent declares it.
    pub(crate) attrs: Vec<Attribute>,
}

impl Module {
    /// The top-level module that it belongs to.
    pub(crate) fn top(&self) -> &str {
        self.path.first().map_or("lib", String::as_str)
    }
}

/// Reads every module of the library.
pub(crate) fn modules() -> Vec<Module> {
    let mut reader = Reader(Vec::new());
    reader.read(Path::new("src/lib.rs"), Path::new("src"), &[], &[]);
    reader.0
}

/// Reads one file; its path is from the folder of this crate on.
pub(crate) fn file(path: impl AsRef<Path>) -> File {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

struct Reader(Vec<Module>);

impl Reader {
    /// Reads the module in `path`, whose own modules are in `folder`.
    fn read(&mut self, path: &Path, folder: &Path, names: &[String], attrs: &[Attribute]) {
        self.add(path, folder, names, attrs, file(path).items);
    }

    fn add(
        &mut self,
        path: &Path,
        folder: &Path,
        names: &[String],
        attrs: &[Attribute],
        items: Vec<Item>,
    ) {
        let (modules, items): (Vec<_>, Vec<_>) = items
            .into_iter()
            .filter(|item| !is_for_tests(attributes(item)))
            .partition(|item| matches!(item, Item::Mod(_)));
        self.0.push(Module {
            file: path.to_owned(),
            path: names.to_owned(),
            items: items.into_iter().map(without_tests).collect(),
            attrs: attrs.to_owned(),
        });
        for module in modules {
            if let Item::Mod(module) = module {
                self.child(path, folder, names, module);
            }
        }
    }

    fn child(&mut self, path: &Path, folder: &Path, names: &[String], module: ItemMod) {
        let name = module.ident.to_string();
        let folder = folder.join(&name);
        let names = [names, std::slice::from_ref(&name)].concat();
        if let Some((_, items)) = module.content {
            return self.add(path, &folder, &names, &module.attrs, items);
        }
        let beside = folder.with_extension("rs");
        let is_beside = Path::new(env!("CARGO_MANIFEST_DIR")).join(&beside).exists();
        let path = if is_beside {
            beside
        } else {
            folder.join("mod.rs")
        };
        self.read(&path, &folder, &names, &module.attrs);
    }
}

fn without_tests(mut item: Item) -> Item {
    match &mut item {
        Item::Impl(block) => block.items.retain(|item| match item {
            ImplItem::Fn(function) => !is_for_tests(&function.attrs),
            ImplItem::Const(constant) => !is_for_tests(&constant.attrs),
            _ => true,
        }),
        Item::Trait(block) => block.items.retain(|item| match item {
            TraitItem::Fn(function) => !is_for_tests(&function.attrs),
            _ => true,
        }),
        _ => {}
    }
    item
}

/// Says whether something is compiled for tests alone.
fn is_for_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition == "test" || condition.starts_with("all (test")
        }
        _ => false,
    })
}

/// Says whether something is hidden from the documentation, and so no part of the public API.
pub(crate) fn is_hidden(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        Meta::Path(_) | Meta::NameValue(_) => false,
    })
}

pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        other => panic!("what is this: {}", other.to_token_stream()),
    }
}
