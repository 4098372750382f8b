//! The modules depend on each other in one direction, and nothing is global.

mod source;

use std::fmt::Write as _;

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, ItemStatic, ItemUse, Macro, Path, UseTree, VisRestricted};

use source::{Module, modules};

/// The modules of the crate from the bottom up: each may use those before it, and itself.
const LADDER: &[&str] = &[
    "sync",
    "time_units",
    "path",
    "panic",
    "error",
    "mailbox",
    "dispatch",
    "supervision",
    "event",
    "system",
    "actor",
    "private_autoref",
    "__private",
    "lib",
    "prelude",
];

fn rung(module: &str) -> usize {
    let rung = LADDER.iter().position(|other| *other == module);
    rung.unwrap_or_else(|| {
        panic!("`{module}` is new: give it its place in `LADDER`, above all that it uses")
    })
}

/// A path in the source of a module that leads out of it: the names on the way, and the line.
#[derive(Debug, PartialEq, Eq)]
struct Use {
    path: Vec<String>,
    line: usize,
}

/// Finds the paths in a module that begin with `crate` or `super`, outside of documentation.
#[derive(Default)]
struct Uses(Vec<Use>);

impl Uses {
    fn of(module: &Module) -> Vec<Use> {
        let mut uses = Self::default();
        for item in &module.items {
            uses.visit_item(item);
        }
        uses.0
    }

    fn add(&mut self, path: Vec<String>, line: usize) {
        if matches!(path[0].as_str(), "crate" | "super") {
            self.0.push(Use { path, line });
        }
    }

    /// Adds each path of a `use`, after those names.
    fn tree(&mut self, mut names: Vec<String>, tree: &UseTree) {
        let line = tree.span().start().line;
        match tree {
            UseTree::Path(path) => {
                names.push(path.ident.to_string());
                self.tree(names, &path.tree);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(names.clone(), tree);
                }
            }
            UseTree::Name(name) => {
                names.push(name.ident.to_string());
                self.add(names, line);
            }
            UseTree::Rename(rename) => {
                names.push(rename.ident.to_string());
                self.add(names, line);
            }
            UseTree::Glob(_) => {
                names.push("*".to_owned());
                self.add(names, line);
            }
        }
    }

    /// Adds each path in the tokens of a macro, which are not parsed.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut goes_on) = (0, false);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if goes_on && !path.is_empty() => {
                    path.push(ident.to_string());
                    goes_on = false;
                }
                TokenTree::Ident(ident) => {
                    self.end(&mut path, line);
                    line = ident.span().start().line;
                    path.push(ident.to_string());
                    goes_on = false;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    goes_on = punct.spacing() == Spacing::Alone;
                }
                TokenTree::Group(group) => {
                    self.end(&mut path, line);
                    self.tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.end(&mut path, line),
            }
        }
        self.end(&mut path, line);
    }

    fn end(&mut self, path: &mut Vec<String>, line: usize) {
        if path.len() > 1 {
            self.add(std::mem::take(path), line);
        }
        path.clear();
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(Vec::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let names = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        self.add(names.collect(), path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    // `pub(crate)` says who may use something, and uses nothing.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}

    // Documentation may point anywhere.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// The top-level module that a path in a module at `from` leads to; none if it stays in its own.
fn target<'a>(from: &[String], path: &'a [String], tops: &[&str]) -> Option<&'a str> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    if ups > 0 && ups < from.len() {
        return None;
    }
    match path[ups.max(1)..].first() {
        Some(name) if tops.contains(&name.as_str()) => Some(name),
        _ => Some("lib"),
    }
}

/// What a module uses that is above it: one line each, with what to do.
fn upward(module: &Module, tops: &[&str]) -> String {
    let from = module.top();
    let mut lines = String::new();
    for Use { path, line } in Uses::of(module) {
        if let Some(to) = target(&module.path, &path, tops)
            && rung(to) > rung(from)
        {
            let (file, path) = (module.file.display(), path.join("::"));
            writeln!(
                lines,
                "{file}:{line}: `{path}`: `{from}` must not use `{to}`, which is above it. Move what `{from}` needs down into \
                 `{from}` or below, or name the module where the item is defined."
            )
            .expect("a string takes everything");
        }
    }
    lines
}

fn tops(modules: &[Module]) -> Vec<&str> {
    let tops = modules.iter().filter(|module| module.path.len() == 1);
    tops.map(Module::top).collect()
}

#[test]
fn no_module_uses_one_that_is_above_it() {
    let modules = modules();
    let tops = tops(&modules);
    let upward: String = modules.iter().map(|module| upward(module, &tops)).collect();
    assert!(upward.is_empty(), "\n{upward}");
}

#[test]
fn every_module_has_its_place() {
    let modules = modules();
    let mut tops = tops(&modules);
    for top in &tops {
        rung(top);
    }
    tops.push("lib");
    for name in LADDER {
        assert!(
            tops.contains(name),
            "there is no `{name}`: take it out of `LADDER`"
        );
    }
}

/// A module at `path` with this source.
fn module(path: &[&str], source: &str) -> Module {
    Module {
        file: "src/example.rs".into(),
        path: path.iter().map(|&name| name.to_owned()).collect(),
        items: syn::parse_file(source).expect("it is Rust").items,
        attrs: Vec::new(),
    }
}

#[test]
fn an_upward_use_is_found_wherever_it_is_written() {
    for source in [
        "use crate::system::ActorSystem;",
        "use crate::{path::ActorPath, system::{self, ActorSystem}};",
        "pub(crate) use crate::system as services;",
        "use crate::*;",
        "use crate::ActorRef;",
        "use super::super::system::*;",
        "fn f() { use crate::system::X; }",
        "fn f(x: &crate::system::X) {}",
        "fn f() -> impl crate::system::X {}",
        "impl<T: crate::system::X> T for U {}",
        "fn f() { crate::system::x() }",
        "fn f() { match x { crate::system::X { .. } => {} } }",
        "fn f() { write!(f, \"{}\", crate::system::x()) }",
        "fn f() { crate::system::macros!() }",
        "thread_local! { static X: Vec<super::super::system::X> = { none }; }",
    ] {
        let found = upward(&module(&["mailbox", "queue"], source), LADDER);
        assert!(found.starts_with("src/example.rs:1: "), "{source}: {found}");
    }
}

#[test]
fn what_goes_down_or_stays_is_no_upward_use() {
    for source in [
        "use crate::sync::Mutex;",
        "use crate::mailbox::room::Room;",
        "use super::{Entry, room};",
        "use std::sync::Arc; use system::X;",
        "pub(crate) fn f() {} pub(super) fn g() { super::room::h() }",
        "/// See [`crate::ActorRef`].\n#[doc = \"crate::system\"] fn f() { write!(f, \"crate::system\") }",
    ] {
        assert_eq!(
            upward(&module(&["mailbox", "queue"], source), LADDER),
            "",
            "{source}"
        );
    }
}

/// Finds what lives as long as the process or the thread.
#[derive(Default)]
struct Globals(Vec<String>);

impl<'ast> Visit<'ast> for Globals {
    fn visit_item_static(&mut self, item: &'ast ItemStatic) {
        self.0.push(item.ident.to_string());
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if call
            .path
            .segments
            .last()
            .is_some_and(|name| name.ident == "thread_local")
        {
            self.0.push("thread_local!".to_owned());
        }
    }
}

#[test]
fn one_thread_local_is_all_that_does_not_belong_to_a_system() {
    let mut found = Vec::new();
    for module in modules() {
        let mut globals = Globals::default();
        for item in &module.items {
            globals.visit_item(item);
        }
        let file = module.file.display().to_string();
        found.extend(globals.0.into_iter().map(|name| format!("{file}: {name}")));
    }
    assert_eq!(found, ["src/dispatch/current.rs: thread_local!"]);
}
