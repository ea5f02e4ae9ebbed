//! `fuzz`: throws made-up input at the parsers, on a nightly toolchain.

use std::fs;
use std::path::Path;

use crate::toolchain;
use xtask::{Failure, Outcome};
use xtask::{arguments, process, workspace};

/// How long each target runs by default, in seconds.
const SECONDS: u32 = 60;

/// The longest that one input may take, in seconds, and the most memory, in MiB: what is above is a finding.
const LIMITS: [&str; 2] = ["-timeout=5", "-rss_limit_mb=1024"];

pub fn start(words: &[String]) -> Outcome {
    let (names, seconds) = arguments::names_and_number("fuzz", "--seconds", 1..=u32::MAX, words)?;
    let known = targets(&workspace::root().join("fuzz/fuzz_targets"))?;
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(Failure::usage(format!("there is no target {unknown:?}; the targets are {}", known.join(", "))));
    }
    if !process::succeeds(toolchain::cargo()?.args(["fuzz", "--version"])) {
        return Err(Failure::environment("cargo-fuzz is missing; run: cargo install cargo-fuzz --locked"));
    }
    for name in if names.is_empty() { &known } else { &names } {
        run(name, seconds.unwrap_or(SECONDS)).map_err(|failure| failure.within(name))?;
    }
    Ok(())
}

/// The names of the targets, one a file.
fn targets(folder: &Path) -> Outcome<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::io(format!("list {folder:?}"), &error))?;
    let name = |path: std::path::PathBuf| Some(path.file_stem()?.to_string_lossy().into_owned());
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| name(entry.path())).collect();
    names.sort();
    Ok(names)
}

fn run(name: &str, seconds: u32) -> Outcome {
    let target = workspace::target().join("fuzz");
    // What is found on the way goes here, and not among the inputs that people chose.
    let found = target.join("corpus").join(name);
    fs::create_dir_all(&found).map_err(|error| Failure::io(format!("create {found:?}"), &error))?;
    let mut command = toolchain::cargo()?;
    // No sanitizer: the parsers have no unsafe code, and inputs run several times as fast without.
    command.args(["fuzz", "run", "--sanitizer", "none", name]).arg(&found);
    for chosen in ["corpus", "regressions"] {
        let folder = workspace::root().join("fuzz").join(chosen).join(name);
        command.args(folder.is_dir().then_some(folder));
    }
    command.arg("--").arg(format!("-max_total_time={seconds}")).args(LIMITS);
    let dictionary = workspace::root().join("fuzz/dictionaries").join(name);
    command.args(dictionary.is_file().then(|| format!("-dict={}", dictionary.display())));
    command.env("CARGO_TARGET_DIR", &target).env("HWLOC_HIDE_ERRORS", "2");
    process::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every target is a file, a program of the fuzz crate, a line in its table, and a folder of inputs.
    #[test]
    fn targets_are_whole() {
        let fuzz = workspace::root().join("fuzz");
        let read = |file: &str| fs::read_to_string(fuzz.join(file)).unwrap();
        let (manifest, table) = (read("Cargo.toml"), read("src/lib.rs"));
        let names = targets(&fuzz.join("fuzz_targets")).unwrap();
        assert!(!names.is_empty());
        for name in names {
            assert!(manifest.contains(&format!("name = {name:?}")), "{name} is no program");
            assert!(table.contains(&format!("name: {name:?}")), "{name} is not in the table");
            assert!(fuzz.join("corpus").join(&name).is_dir(), "{name} has no corpus");
        }
    }
}
