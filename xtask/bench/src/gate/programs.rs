//! The bench programs of a revision. Both revisions are built at one place, one after the other: what does not differ between them is
//! compiled once, and a program that no change reaches is the same to the byte.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::Value;
use xtask::{Failure, Outcome, process, workspace};

use super::base;
use crate::tree::{Plant, Tree, remove};

/// How many commits' programs are kept: a base of today was a head of before.
const KEPT: usize = 4;

/// The bench programs of one revision.
#[derive(Clone, Copy)]
pub struct Side {
    /// A link of this name leads to the programs. Its length is that of the other side's, since the path of a program lies on its stack and
    /// so decides how the rest is aligned there.
    pub name: &'static str,
}

impl Side {
    /// The program of a bench target, if it has it.
    pub fn program(&self, target: &str) -> Option<PathBuf> {
        Some(folder().join(self.name).join(target)).filter(|program| program.is_file())
    }

    /// Whether a target's program is the same as that of another side.
    pub fn has_the_same(&self, other: &Side, target: &str) -> bool {
        let bytes = |side: &Side| side.program(target).and_then(|program| fs::read(program).ok());
        bytes(self).is_some_and(|own| Some(own) == bytes(other))
    }

    /// Runs every case of a target once, which finds one that cannot be measured before half of the others are.
    pub fn runs(&self, target: &str) -> Outcome {
        let Some(program) = self.program(target) else { return Ok(()) };
        process::read(Command::new(program).args(["--bench", "--test"])).map(drop)
    }

    /// Where something that is known of a program is kept, such as `counts`: with the program.
    pub fn beside(&self, target: &str, what: &str) -> PathBuf {
        folder().join(self.name).join(format!("{target}.{what}"))
    }
}

/// The checkout as it is.
pub fn head() -> Outcome<Side> {
    let kept = base::clean_head();
    Ok(side("head", kept.as_deref(), || Tree::of_checkout(source()))?.0)
}

/// A commit.
pub fn commit(id: &str) -> Outcome<Side> {
    Ok(side("base", Some(id), || Tree::of_commit(source(), id))?.0)
}

/// The checkout with a change planted in it.
pub fn edited(plant: &Plant) -> Outcome<Side> {
    let tree = Tree::of_checkout(source())?;
    tree.with(plant, || compile(&tree, &folder().join("kept/edited")))?;
    link("head", "edited")
}

/// The checkout as it is, as the base of a change.
pub fn unedited() -> Outcome<Side> {
    let (_, place) = side("head", base::clean_head().as_deref(), || Tree::of_checkout(source()))?;
    link("base", &place)
}

/// The folder of the gate's builds and measurements. It is kept between runs, so the next one builds only what changed.
pub fn folder() -> PathBuf {
    workspace::target().join("bench-gate")
}

fn source() -> PathBuf {
    folder().join("source")
}

/// Takes the programs that are kept of a commit, or builds them; also gives the name of their folder.
fn side(name: &'static str, commit: Option<&str>, tree: impl FnOnce() -> Outcome<Tree>) -> Outcome<(Side, String)> {
    let place = match commit {
        Some(id) => format!("{id}-{:016x}", compiler()?),
        None => "checkout".to_owned(),
    };
    let programs = folder().join("kept").join(&place);
    if commit.is_none() || !programs.is_dir() {
        compile(&tree()?, &programs)?;
    }
    let side = link(name, &place)?;
    forget();
    Ok((side, place))
}

fn link(name: &'static str, place: &str) -> Outcome<Side> {
    let link = folder().join(name);
    let _ = fs::remove_file(&link);
    // Of a run before this one, which knew no links.
    remove(&link)?;
    symlink(Path::new("kept").join(place), &link).map_err(|error| Failure::io(format!("link {link:?}"), &error))?;
    Ok(Side { name })
}

/// Another compiler, or the same with other flags, makes other programs.
fn compiler() -> Outcome<u64> {
    let mut hasher = DefaultHasher::new();
    process::read(Command::new("rustc").args(["--version", "--verbose"]))?.hash(&mut hasher);
    std::env::var_os("RUSTFLAGS").hash(&mut hasher);
    Ok(hasher.finish())
}

/// Removes what was kept longest, but for what a link leads to.
fn forget() {
    let linked = ["base", "head"].map(|name| fs::read_link(folder().join(name)).ok());
    let kept = fs::read_dir(folder().join("kept")).into_iter().flatten().flatten();
    let age = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut kept: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
    kept.sort_by_key(|path| std::cmp::Reverse(age(path)));
    let is_linked = |path: &PathBuf| linked.iter().flatten().any(|link| link.file_name() == path.file_name());
    for old in kept.iter().skip(KEPT).filter(|path| !is_linked(path)) {
        let _ = fs::remove_dir_all(old);
    }
}

/// Builds a tree's programs, and moves them to `place` when all are there.
fn compile(tree: &Tree, place: &Path) -> Outcome {
    let mut cargo = workspace::cargo();
    // From the checkout's root also for another tree, whose own configuration would else be merged into the checkout's around it.
    cargo.current_dir(workspace::root()).env("CARGO_TARGET_DIR", folder().join("target"));
    cargo.args(["bench", "--no-run", "--quiet", "--locked", "--package", "charz-benches", "--message-format", "json"]);
    // Kernels and harness as in a release; the rest takes more work unoptimised, and so does what is added to it.
    cargo.args(["--profile", "first"]);
    let messages = process::read(cargo.arg("--manifest-path").arg(tree.path().join("Cargo.toml")))?;
    let growing = place.with_extension("growing");
    remove(&growing)?;
    fs::create_dir_all(&growing).map_err(|error| Failure::io(format!("create {growing:?}"), &error))?;
    for (bench, built) in messages.lines().filter_map(program) {
        fs::copy(&built, growing.join(bench)).map_err(|error| Failure::io(format!("copy {built:?}"), &error))?;
    }
    remove(place)?;
    fs::rename(&growing, place).map_err(|error| Failure::io(format!("rename {growing:?}"), &error))
}

/// The name and program in one of cargo's messages, if it is about a bench.
fn program(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let target = message.get("target")?;
    let is_bench = target["kind"].as_array()?.iter().any(|kind| kind == "bench");
    is_bench.then_some((target["name"].as_str()?.to_owned(), message["executable"].as_str()?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_cargos_messages() {
        let bench = r#"{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"reports"},"executable":"/t/reports-0f"}"#;
        assert_eq!(program(bench), Some(("reports".to_owned(), PathBuf::from("/t/reports-0f"))));
        for other in [bench.replace("bench", "bin"), bench.replace("\"/t/reports-0f\"", "null"), "not json".into()] {
            assert_eq!(program(&other), None, "{other}");
        }
    }
}
