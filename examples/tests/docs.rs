//! The documentation is held to the code: links lead somewhere, items are where the text says, promises have tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .expect("the package is in the workspace")
        .to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below `folder` whose name ends in `ending`, build output aside.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be listed") {
            let path = entry.expect("an entry can be read").path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            if path.is_dir() {
                if name != "target" && name != "book" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The pages of the book, and those beside the crates.
fn pages() -> Vec<PathBuf> {
    let beside = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut pages = files(&root().join("docs"), ".md");
    pages.extend(beside.map(|page| root().join(page)));
    pages
}

/// The text of a page without its code blocks.
fn prose(page: &str) -> String {
    let mut in_code = false;
    let lines = page.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The links of a page: text and target. The text of a link may contain code, not brackets.
fn links(page: &str) -> Vec<(String, String)> {
    let prose = prose(page);
    let mut links = Vec::new();
    for (middle, _) in prose.match_indices("](") {
        let text = prose[..middle].rsplit('[').next().unwrap_or_default();
        let target = prose[middle + 2..].split(')').next().unwrap_or_default();
        links.push((text.to_owned(), target.to_owned()));
    }
    links
}

/// The anchors of a page's headings, as mdBook and the usual hosts make them.
fn headings(page: &str) -> BTreeSet<String> {
    let prose = prose(page);
    let titles = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |title: &str| {
        let title = title.trim_start_matches('#').trim().to_lowercase();
        title
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            })
            .collect::<String>()
    };
    titles.map(anchor).collect()
}

/// Collects what is wrong, so that one run shows all of it.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn unless(&mut self, is_fine: bool, page: &Path, complaint: &str) {
        if !is_fine {
            let page = page.strip_prefix(root()).unwrap_or(page);
            self.0.push(format!("{}: {complaint}", page.display()));
        }
    }
}

impl Drop for Complaints {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.0.is_empty(), "\n{}\n", self.0.join("\n"));
        }
    }
}

#[test]
fn every_link_leads_to_something() {
    let mut complaints = Complaints::default();
    for page in pages() {
        let text = read(&page);
        for (_, target) in links(&text) {
            if target.starts_with("http") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().expect("a page is in a folder").join(file),
            };
            complaints.unless(path.exists(), &page, &format!("`{target}` leads nowhere"));
            if path.exists() && !anchor.is_empty() {
                let there = headings(&read(&path)).contains(anchor);
                complaints.unless(there, &page, &format!("`{target}`: no such heading"));
            }
        }
    }
}

#[test]
fn every_page_is_in_the_summary() {
    let mut complaints = Complaints::default();
    let docs = root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let listed: BTreeSet<_> = links(&read(&summary))
        .into_iter()
        .map(|(_, target)| docs.join(target))
        .collect();
    for page in files(&docs, ".md") {
        let is_listed = page == summary || listed.contains(&page);
        complaints.unless(is_listed, &page, "is not in SUMMARY.md");
    }
}

#[test]
fn every_page_with_code_is_compiled() {
    let mut complaints = Complaints::default();
    let compiled = read(&root().join("examples/src/docs.rs"));
    for page in pages() {
        let has_code = read(&page).lines().any(|line| line.trim() == "```rust");
        let name = page
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_fine = !has_code || compiled.contains(&format!("/{name}\""));
        complaints.unless(
            is_fine,
            &page,
            "has code and is not in examples/src/docs.rs",
        );
    }
}

#[test]
fn every_included_anchor_exists() {
    let mut complaints = Complaints::default();
    for page in pages() {
        let text = read(&page);
        for include in text.split("{{#").skip(1) {
            let directive = include.split("}}").next().unwrap_or_default();
            let (verb, target) = directive.split_once(' ').unwrap_or((directive, ""));
            complaints.unless(
                verb == "include" || verb == "rustdoc_include",
                &page,
                &format!("`{verb}` is no directive"),
            );
            let (file, anchor) = target.split_once(':').unwrap_or((target, ""));
            let path = page.parent().expect("a page is in a folder").join(file);
            complaints.unless(path.is_file(), &page, &format!("no file `{file}`"));
            if path.is_file() && !anchor.is_empty() {
                let code = read(&path);
                let has = |mark: &str| {
                    code.lines()
                        .any(|line| line.trim() == format!("// {mark}: {anchor}"))
                };
                let both = has("ANCHOR") && has("ANCHOR_END");
                complaints.unless(both, &page, &format!("no anchor `{anchor}` in `{file}`"));
            }
        }
    }
}

/// Says whether `code` defines `name`, as an item, a method or a variant.
fn defines(code: &str, name: &str) -> bool {
    let words = [
        "fn", "struct", "enum", "trait", "const", "static", "type", "mod",
    ];
    code.lines().any(|line| {
        let line = line.trim_start();
        if line.starts_with("//") {
            return false;
        }
        let defined = words.iter().any(|word| {
            let mut rest = line;
            while let Some(at) = rest.find(word) {
                let (before, after) = (&rest[..at], &rest[at + word.len()..]);
                let starts = before.is_empty() || before.ends_with(' ');
                let names = after
                    .strip_prefix(' ')
                    .and_then(|after| after.strip_prefix(name));
                if starts && names.is_some_and(ends_word) {
                    return true;
                }
                rest = after;
            }
            false
        });
        defined
            || line.strip_prefix(name).is_some_and(|rest| {
                let rest = rest.trim_start();
                name.starts_with(char::is_uppercase)
                    && (rest.is_empty() || rest.starts_with(['{', '(', ',']))
            })
    })
}

fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Says whether `code` has `name` as a word.
fn mentions(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        ends_word(&code[at + name.len()..])
            && !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn every_item_that_is_linked_is_in_its_file() {
    let mut complaints = Complaints::default();
    for page in pages() {
        for (text, target) in links(&read(&page)) {
            let item = text
                .strip_prefix('`')
                .and_then(|text| text.strip_suffix('`'));
            let Some(item) = item.filter(|item| !item.contains(['.', '/', ' '])) else {
                continue;
            };
            if !target.ends_with(".rs") {
                continue;
            }
            let code = read(&page.parent().expect("a page is in a folder").join(&target));
            let mut segments: Vec<_> = item.split("::").collect();
            let last = segments.pop().unwrap_or_default();
            let found = defines(&code, last) && segments.iter().all(|name| mentions(&code, name));
            complaints.unless(found, &page, &format!("no `{item}` in `{target}`"));
        }
    }
}

/// The tests of the workspace: the names of all functions below a `#[test]`, and those of generated tests.
fn tests() -> BTreeMap<String, PathBuf> {
    let mut tests = BTreeMap::new();
    for file in files(&root(), ".rs") {
        let code = read(&file);
        let mut is_test = false;
        for line in code.lines().map(str::trim) {
            if line.starts_with("#[") && (line.contains("test]") || line.contains("test(")) {
                is_test = true;
            } else if let Some(name) = function(line) {
                if is_test {
                    tests.insert(name.to_owned(), file.clone());
                }
                is_test = false;
            }
        }
    }
    tests
}

/// The name of the function that this line begins.
fn function(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    line.strip_prefix("fn ")?.split(['(', '<']).next()
}

/// The rows of the tables of a page: the cells of each.
fn rows(page: &str) -> Vec<Vec<String>> {
    let prose = prose(page);
    let rows = prose.lines().filter(|line| line.starts_with("| "));
    rows.map(|row| {
        let cells = row.trim().trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

#[test]
fn every_promise_has_a_test_that_exists() {
    let mut complaints = Complaints::default();
    let page = root().join("docs/guarantees.md");
    let tests = tests();
    let mut groups = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    for row in rows(&read(&page)) {
        let [number, _, names, ..] = &row[..] else {
            continue;
        };
        let Some(group) = number
            .chars()
            .next()
            .filter(|_| number.contains(char::is_numeric))
        else {
            continue;
        };
        groups.insert(group);
        let is_new = numbers.insert(number.clone());
        complaints.unless(is_new, &page, &format!("{number} is there twice"));
        let names: Vec<_> = names.split('`').skip(1).step_by(2).collect();
        complaints.unless(!names.is_empty(), &page, &format!("{number} has no test"));
        for name in names {
            let is_there = tests.contains_key(name);
            complaints.unless(is_there, &page, &format!("{number}: no test `{name}`"));
        }
    }
    assert_eq!(groups, BTreeSet::from(['A', 'D', 'F', 'L', 'W']));
}

#[test]
fn the_readme_names_the_commands_that_ci_runs() {
    let readme = read(&root().join("README.md"));
    let ci = read(&root().join(".ci/run"));
    for command in ["cargo test", "cargo run --release --bin tour"] {
        let lines = readme.lines().filter(|line| {
            let rest = line.strip_prefix(command);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        assert_eq!(lines.count(), 1, "{command}");
        assert!(ci.contains(&format!("readme_command '{command}'")));
    }
}
