//! `docs`: the generated pages that are kept in the project, written by charz itself, and the JSON Schemas that it prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::{Failure, Outcome};
use xtask::{arguments, process, setup, workspace};

use crate::test;

pub fn start(words: &[String]) -> Outcome {
    let only_compares = arguments::flag("docs", "--check", words)?;
    setup::quietly()?;
    if only_compares { check() } else { each_page(write) }
}

/// Compares every page with what charz says today.
pub fn check() -> Outcome {
    let mut stale = Vec::new();
    each_page(|file, text| {
        if fs::read_to_string(workspace::root().join(file)).unwrap_or_default() != text {
            stale.push(file.to_owned());
        }
        Ok(())
    })?;
    if stale.is_empty() {
        return Ok(());
    }
    Err(Failure::found(format!("out of step with the program: {}; run `cargo xtask docs`", stale.join(", "))))
}

/// The JSON Schemas, with their files: the program includes them.
const SCHEMAS: [(&str, &str); 3] = [
    ("report", "crates/data/schema/report.json"),
    ("comparison", "crates/words/schema/comparison.json"),
    ("replication", "crates/replicate/schema/replication.json"),
];
const PRINT_SCHEMA: [&str; 8] =
    ["run", "--quiet", "--package", "charz-render", "--features", "schema", "--example", "schema"];

/// Goes through the schemas and the pages that `charz docs` lists, each with its file below the root and its text.
fn each_page(mut with: impl FnMut(&str, &str) -> Outcome) -> Outcome {
    for (name, file) in SCHEMAS {
        with(file, &process::read(workspace::cargo().args(PRINT_SCHEMA).arg(name))?)?;
    }
    // What it prints is the same in every build, and the tests' is there already.
    test::programs()?;
    let charz = workspace::built("debug").join("charz");
    let list = process::read(Command::new(&charz).arg("docs"))?;
    for (name, file) in pages(&list)? {
        with(file, &process::read(Command::new(&charz).args(["docs", name]))?)?;
    }
    Ok(())
}

/// The names and files in the list, one page per line. A page without a file is not kept.
fn pages(list: &str) -> Outcome<Vec<(&str, &str)>> {
    let kept = list.lines().filter_map(|line| line.split_once('\t'));
    let pages: Option<Vec<(&str, &str)>> = kept
        .map(|(name, file)| {
            // Files elsewhere are never written, even if the program lists them.
            let inside = Path::new(file).components().all(|part| matches!(part, std::path::Component::Normal(_)));
            (inside && file.starts_with("docs/")).then_some((name, file))
        })
        .collect();
    let pages = pages.filter(|pages| !pages.is_empty());
    pages.ok_or_else(|| Failure::found(format!("`charz docs` lists no pages below docs: {list:?}")))
}

fn write(file: &str, text: &str) -> Outcome {
    let path = workspace::root().join(file);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::io(format!("create {folder:?}"), &error))?;
    }
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    println!("{file}");
    fs::write(&path, text).map_err(|error| Failure::io(format!("write {path:?}"), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lie_below_docs() {
        assert_eq!(pages("checks\tdocs/checks.md\nman\n").unwrap(), [("checks", "docs/checks.md")]);
        for list in ["", "man\n", "man\t/etc/passwd\n", "man\tdocs/../README.md\n"] {
            assert!(pages(list).is_err(), "{list:?}");
        }
    }
}
