//! `tidy`: the conventions of the project, checked.

mod circles;
mod circumstances;
mod layers;
#[cfg(test)]
mod planted;
mod prose;
mod reasons;
mod source;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use source::Source;
use xtask::{Failure, Outcome, arguments, process, workspace};

/// A file that breaks a convention.
#[derive(Debug, PartialEq)]
struct Finding {
    /// The path from the root, with `/`.
    path: String,
    /// The line, from 1.
    line: usize,
    /// What is wrong and what to do.
    sentence: String,
}

impl Finding {
    /// A finding at line `at`, counted from 0.
    fn new(path: &str, at: usize, sentence: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line: at + 1, sentence: sentence.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.sentence)
    }
}

pub fn start(words: &[String]) -> Outcome {
    arguments::none("tidy", words)?;
    check()
}

pub fn check() -> Outcome {
    let findings = findings(&read()?);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err(Failure::found("one convention is broken")),
        n => Err(Failure::found(format!("{n} conventions are broken"))),
    }
}

/// The texts of the files that are checked, by path.
fn read() -> Outcome<BTreeMap<String, String>> {
    let root = workspace::root();
    let text = |path: String| Some((fs::read_to_string(root.join(&path)).ok()?, path));
    Ok(files(root)?.into_iter().filter_map(text).map(|(text, path)| (path, text)).collect())
}

fn findings(files: &BTreeMap<String, String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut crates, mut pairs) = (circles::Crates::default(), circumstances::Pairs::default());
    for (path, text) in files {
        findings.extend(file(path, text));
        if path.ends_with(".rs") {
            let source = Source::new(text);
            crates.add(path, &source);
            pairs.add(path, &source);
        }
    }
    findings.extend(crates.check());
    findings.extend(pairs.check());
    findings.extend(text::changelog(files.get("CHANGELOG.md").map_or("", String::as_str)));
    findings
}

fn file(path: &str, text: &str) -> Vec<Finding> {
    if is_recorded(path) {
        return prose::check(path, text);
    }
    let mut findings = text::check(path, text);
    if !path.ends_with("CHANGELOG.md") {
        findings.extend(prose::check(path, text));
    }
    if path.ends_with(".rs") {
        let source = Source::new(text);
        findings.extend(layers::check(path, &source));
        findings.extend(layers::facts(path, text, &source));
        findings.extend(reasons::check(path, text, &source));
    }
    findings
}

/// The files of the checkout that are checked, and none that its user has put there: those that git has, or without git all.
fn files(root: &Path) -> Outcome<Vec<String>> {
    let listed = process::git(root, &["ls-files", "-z"]).unwrap_or_default();
    let mut files: Vec<String> = listed.split('\0').map(str::to_owned).collect();
    // A checkout without git may lie in one of something else.
    if !files.iter().any(|path| path == "Cargo.lock") {
        files.clear();
        collect(root, "", &mut files)?;
    }
    files.retain(|path| is_checked(path));
    files.sort();
    Ok(files)
}

/// The files below `folder`, but for those in hidden folders, in caches and of vendored crates.
fn collect(root: &Path, folder: &str, files: &mut Vec<String>) -> Outcome {
    let place = root.join(folder);
    let entries = fs::read_dir(&place).map_err(|error| Failure::io(format!("list {place:?}"), &error))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            let is_hidden = name.starts_with('.') && ![".cargo", ".ci", ".github"].contains(&name.as_str());
            if !is_hidden
                && !name.starts_with("target")
                && name != "vendor"
                && !entry.path().join("CACHEDIR.TAG").exists()
            {
                collect(root, &path, files)?;
            }
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file is written, or a recorded output that people read.
fn is_checked(path: &str) -> bool {
    const KINDS: &[&str] = &[".rs", ".toml", ".md", ".ci/run", ".sh", ".yml"];
    match is_recorded(path) {
        true => [".txt", ".md"].iter().any(|kind| path.ends_with(kind)),
        false => KINDS.iter().any(|kind| path.ends_with(kind)),
    }
}

fn is_recorded(path: &str) -> bool {
    path.starts_with("tests/golden/") || path.starts_with("tests/cases/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_asked() {
        let text = "use hwlocality::Topology; \n\nfn f() {\n    unsafe { g() }\n}\n";
        let lines: Vec<(usize, bool)> =
            file("crates/kernels/src/arith.rs", text).iter().map(|f| (f.line, f.sentence.contains("unsafe"))).collect();
        assert_eq!(lines, [(1, false), (1, false), (4, true), (4, true)]);
    }

    #[test]
    fn the_users_own_files_are_not_checked() {
        let root = std::env::temp_dir().join(format!("charz-tidy-{}", std::process::id()));
        let folders = [".ci", "src", ".venv", "cache", "vendor"].map(|name| root.join(name));
        folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
        for file in [
            "Cargo.lock",
            ".ci/run",
            "src/a.rs",
            ".venv/b.md",
            "cache/CACHEDIR.TAG",
            "cache/c.rs",
            "vendor/e.md",
            "d.md",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        assert_eq!(files(&root).unwrap(), [".ci/run", "d.md", "src/a.rs"]);
        if process::git(&root, &["init", "-q"]).and(process::git(&root, &["add", "Cargo.lock", "src"])).is_some() {
            assert_eq!(files(&root).unwrap(), ["src/a.rs"]);
        }
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn of_recorded_files_those_are_checked_that_people_read() {
        for (path, checked) in [
            ("crates/charz/src/main.rs", true),
            ("README.md", true),
            (".ci/run", true),
            ("docs/kernels.md", true),
            ("tests/golden/table.md", true),
            ("tests/golden/report.json", false),
            ("Cargo.lock", false),
        ] {
            assert_eq!(is_checked(path), checked, "{path}");
        }
    }
}
