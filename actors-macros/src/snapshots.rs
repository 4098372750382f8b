//! The generated code under review: `tests/expand/input/<subject>.rs` is what a user writes, and
//! `tests/expand/<subject>.rs` what becomes of it.

use crate::pipeline;
use std::{env, fs, path::Path};
use syn::{ItemImpl, Meta};

/// Set it to write the snapshots anew, then read the difference.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

#[test]
fn an_actor() {
    compare("account");
}

#[test]
fn a_generic_actor() {
    compare("generic");
}

#[test]
fn an_actor_with_hooks() {
    compare("hooks");
}

#[test]
fn an_actor_with_options() {
    compare("options");
}

#[test]
fn conditions_and_docs_go_along() {
    compare("conditions");
}

#[test]
fn what_is_sound_survives_mistakes() {
    compare("mistakes");
}

fn compare(subject: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expand");
    let input = fs::read_to_string(folder.join("input").join(format!("{subject}.rs")))
        .expect("each subject has an input");
    let path = folder.join(format!("{subject}.rs"));
    let generated = expand(&input);
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, &generated).expect("the folder can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        generated == expected,
        "{} differs; set {UPDATE} to renew it",
        path.display()
    );
}

/// What the attribute on the one item of `input` makes of it.
fn expand(input: &str) -> String {
    let mut block: ItemImpl = syn::parse_str(input).expect("the input is an `impl`");
    let args = match block.attrs.remove(0).meta {
        Meta::List(list) => list.tokens,
        Meta::Path(_) | Meta::NameValue(_) => proc_macro2::TokenStream::new(),
    };
    let generated = pipeline(args, &quote::quote!(#block));
    prettyplease::unparse(&syn::parse2(generated).expect("generated code is a file"))
}
