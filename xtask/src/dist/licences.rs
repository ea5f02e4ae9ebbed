//! What is linked into the program, and under which terms: the licence texts of its crates, and a bill of materials.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::target::{self, Target};
use xtask::{Failure, Outcome, process, workspace};

/// The bill of materials, in the format CycloneDX 1.5 (<https://cyclonedx.org/docs/1.5/json>).
pub(super) const BILL: &str = "charz.cdx.json";

/// The texts of all crates.
const TEXTS: &str = "copyright.crates";

/// The texts of Rust's standard library, with all that is in it.
const RUST: &str = "copyright.rust.html";

/// Packages without a text, and those of the same repository that have theirs.
const ELSEWHERE: [(&str, &str); 1] = [("hwlocality-sys", "hwlocality")];

/// Files of a package that hold its terms begin with one of these.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// A crate that is linked into the program.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    /// Its terms as an expression of SPDX.
    terms: &'a str,
    source: &'a str,
}

impl<'a> Package<'a> {
    /// From `serde v1.0.2|MIT OR Apache-2.0|https://…`; none for a crate of the checkout, which has a path behind its version.
    fn read(line: &'a str) -> Option<Self> {
        let [package, terms, source] = line.split('|').collect::<Vec<_>>()[..] else { return None };
        let (name, version) = package.trim().split_once(" v")?;
        // `(proc-macro)` may follow.
        let (version, rest) = version.split_once(' ').unwrap_or((version, ""));
        (!rest.contains("(/")).then_some(Package { name, version, terms, source })
    }

    fn file(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }
}

/// Writes both into the folder of documents.
pub(super) fn write(target: &Target, documents: &Path) -> Outcome {
    let mut tree = workspace::cargo();
    tree.args(["tree", "--locked", "--package", "charz", "--edges", "normal", "--prefix", "none", "--no-dedupe"]);
    let listed = process::read(tree.args(["--target", target.triple, "--format", "{p}|{l}|{r}"]))?;
    let mut packages: Vec<Package<'_>> = listed.lines().filter_map(Package::read).collect();
    packages.sort();
    packages.dedup();
    let sources = sources()?;
    let read = |package: &Package<'_>| Ok((package.file(), texts(&sources, &holder(package, &packages).file())?));
    let texts: Vec<(String, Vec<String>)> = packages.iter().map(read).collect::<Outcome<_>>()?;
    super::write(&documents.join(TEXTS), &together(&packages, &texts))?;
    let locked = workspace::root().join("Cargo.lock");
    let locked = fs::read_to_string(&locked).map_err(|error| Failure::io(format!("read {locked:?}"), &error))?;
    let rustc = |words: &[&str]| process::read(Command::new("rustc").current_dir(workspace::root()).args(words));
    let rust = rustc(&["--version"])?;
    let rust = rust.split(' ').nth(1).unwrap_or_default();
    super::write(&documents.join(BILL), &bill(&packages, &locked, &hwloc(target)?, rust))?;
    // Distributions' own packages of Rust have it elsewhere, or not at all.
    let library = Path::new(rustc(&["--print", "sysroot"])?.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    if library.is_file() { super::copy(&library, &documents.join(RUST)) } else { Ok(()) }
}

/// The package that holds the text of this one.
fn holder<'a>(package: &'a Package<'a>, packages: &'a [Package<'a>]) -> &'a Package<'a> {
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == package.name);
    let held = |(_, holder): &(&str, &str)| packages.iter().find(|package| package.name == *holder);
    elsewhere.and_then(held).unwrap_or(package)
}

/// The folders where cargo unpacks packages of registries.
fn sources() -> Outcome<Vec<PathBuf>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let folder = home.unwrap_or_default().join("registry/src");
    let entries = fs::read_dir(&folder).map_err(|error| Failure::io(format!("list {folder:?}"), &error))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// The texts in a package's files of terms, by the names of the files.
fn texts(sources: &[PathBuf], package: &str) -> Outcome<Vec<String>> {
    let folder = sources.iter().map(|folder| folder.join(package)).find(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| Failure::found(format!("cargo has no source of {package}")))?;
    let entries = fs::read_dir(&folder).map_err(|error| Failure::io(format!("list {folder:?}"), &error))?;
    let has_terms = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        file.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(has_terms).collect();
    files.sort();
    let read = |file: &PathBuf| fs::read(file).map_err(|error| Failure::io(format!("read {file:?}"), &error));
    files.iter().map(|file| Ok(String::from_utf8_lossy(&read(file)?).trim().to_owned())).collect()
}

/// The packages with their terms, and below them each text once, under the names of all packages that have it.
fn together(packages: &[Package<'_>], texts: &[(String, Vec<String>)]) -> String {
    let mut by_text: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (package, texts) in texts {
        texts.iter().for_each(|text| by_text.entry(text).or_default().push(package));
    }
    let mut written = String::from("charz contains these crates; the texts of their licences follow.\n\n");
    for (package, (file, texts)) in packages.iter().zip(texts) {
        let none = if texts.is_empty() { "; its package holds no text of them" } else { "" };
        written += &format!("{file}: {}, {}{none}\n", package.terms, package.source);
    }
    for (text, packages) in by_text {
        written += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), packages.join(", "));
    }
    written
}

/// The version of hwloc that is linked in, from the name of its source: `hwloc_2.9.0.orig.tar.bz2`.
fn hwloc(target: &Target) -> Outcome<String> {
    let folder = target::hwloc(target)?;
    let entries = fs::read_dir(&folder).map_err(|error| Failure::io(format!("list {folder:?}"), &error))?;
    let version = entries.flatten().find_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        Some(name.strip_prefix("hwloc_")?.split_once(".orig")?.0.to_owned())
    });
    version.ok_or_else(|| Failure::found("hwloc's source has no version"))
}

fn bill(packages: &[Package<'_>], locked: &str, hwloc: &str, rust: &str) -> String {
    let crates = packages.iter().map(|package| {
        let Package { name, version, terms, .. } = package;
        let hash = checksum(locked, name, version)
            .map(|sum| format!(r#""hashes":[{{"alg":"SHA-256","content":"{sum}"}}],"#))
            .unwrap_or_default();
        let terms = terms.replace('/', " OR ");
        format!(
            r#"{{"type":"library","name":"{name}","version":"{version}",{hash}"licenses":[{{"expression":"{terms}"}}],"purl":"pkg:cargo/{name}@{version}"}}"#
        )
    });
    let libraries = [
        format!(
            r#"{{"type":"library","name":"hwloc","version":"{hwloc}","licenses":[{{"expression":"BSD-3-Clause"}}]}}"#
        ),
        r#"{"type":"library","name":"glibc","licenses":[{"expression":"LGPL-2.1-or-later"}]}"#.to_owned(),
        format!(
            r#"{{"type":"library","name":"rust-std","version":"{rust}","licenses":[{{"expression":"MIT OR Apache-2.0"}}]}}"#
        ),
        // Its unwinder.
        r#"{"type":"library","name":"libgcc","licenses":[{"expression":"GPL-3.0-or-later WITH GCC-exception-3.1"}]}"#
            .to_owned(),
    ];
    let components: Vec<String> = crates.chain(libraries).collect();
    format!(
        "{{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"version\":1,\n\"metadata\":{{\"component\":{{\"type\":\"application\",\
         \"name\":\"charz\"}}}},\n\"components\":[\n{}\n]}}\n",
        components.join(",\n")
    )
}

/// The checksum of a package in Cargo.lock.
fn checksum<'a>(locked: &'a str, name: &str, version: &str) -> Option<&'a str> {
    let head = format!("name = \"{name}\"\nversion = \"{version}\"\n");
    let package = locked.split("[[package]]\n").find(|package| package.starts_with(&head))?;
    package.lines().find_map(|line| line.strip_prefix("checksum = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_the_checkout_are_not_listed() {
        let serde = Package { name: "serde", version: "1.0.2", terms: "MIT OR Apache-2.0", source: "https://a.org" };
        assert_eq!(Package::read("serde v1.0.2|MIT OR Apache-2.0|https://a.org"), Some(serde));
        let derive = Package::read("serde_derive v1.0.2 (proc-macro)|MIT|").unwrap();
        assert_eq!((derive.name, derive.version), ("serde_derive", "1.0.2"));
        assert_eq!(Package::read("charz-data v0.1.0 (/c/crates/data)|MIT|"), None);
        assert_eq!(Package::read(""), None);
    }

    #[test]
    fn a_text_is_written_once() {
        let package = |name| Package { name, version: "1.0.0", terms: "MIT", source: "" };
        let packages = ["a", "b", "c"].map(package);
        let texts = [("a-1.0.0", vec!["same"]), ("b-1.0.0", vec!["same", "other"]), ("c-1.0.0", vec![])]
            .map(|(name, texts)| (name.to_owned(), texts.into_iter().map(str::to_owned).collect::<Vec<_>>()));
        let written = together(&packages, &texts);
        assert_eq!((written.matches("same").count(), written.matches("other").count()), (1, 1));
        assert!(written.contains("a-1.0.0, b-1.0.0\n"), "{written}");
        assert!(written.contains("c-1.0.0: MIT, ; its package holds no text"), "{written}");
    }

    #[test]
    fn a_bill_has_checksums_of_the_lock_file() {
        let locked = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"0f\"\n\n[[package]]\nname = \"a\"\nversion = \"2.0.0\"\n";
        assert_eq!(checksum(locked, "a", "1.0.0"), Some("0f"));
        assert_eq!(checksum(locked, "a", "2.0.0"), None);
        let bill = bill(
            &[Package { name: "a", version: "1.0.0", terms: "MIT/Apache-2.0", source: "" }],
            locked,
            "2.9.0",
            "1.95.0",
        );
        assert!(bill.contains(r#""content":"0f""#) && bill.contains("MIT OR Apache-2.0"), "{bill}");
        assert!(bill.contains(r#""name":"rust-std","version":"1.95.0""#) && bill.contains("libgcc"), "{bill}");
    }

    #[test]
    fn a_text_may_be_in_a_package_of_the_same_repository() {
        let package = |name| Package { name, version: "1.0.0", terms: "MIT", source: "" };
        let packages = ["hwlocality", "hwlocality-sys", "serde"].map(package);
        assert_eq!(
            packages.each_ref().map(|package| holder(package, &packages).name),
            ["hwlocality", "hwlocality", "serde"]
        );
        assert_eq!(holder(&packages[1], &[]).name, "hwlocality-sys");
    }
}
