//! Building the benches of both revisions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::{Failure, Outcome, process, workspace};

/// The bench target whose cases are counted for each change.
const PURE: &str = "pure";

/// The bench targets whose cases are counted: pure code, what concludes and draws, and the loops of the kernels.
pub const COUNTED: [&str; 3] = [PURE, "answers", "loops"];

/// How much to build, and how well.
#[derive(Clone, Copy, PartialEq)]
pub enum Build {
    /// Only what is counted, optimised as much as its counts need: whole programs take twice as long to build.
    Pure,
    Full,
}

/// The benches of one revision.
pub struct Side {
    /// `base` or `head`.
    pub name: &'static str,
    /// The program of each bench target. Its path is equally long on both sides, since it lies on the program's stack and
    /// so decides how the rest is aligned there.
    pub programs: BTreeMap<String, PathBuf>,
}

pub fn head(build: Build) -> Outcome<Side> {
    compile("head", workspace::root(), build)
}

pub fn base(commit: &str, build: Build) -> Outcome<Option<Side>> {
    let place = folder().join("source");
    // Files that an interrupted run left there.
    remove(&place)?;
    let source = Source { place };
    if !source.extract(commit)? {
        return Ok(None);
    }
    compile("base", &source.place, build).map(Some)
}

/// The folder of the gate's builds and measurements. It is kept between runs, so the next one builds only what changed.
pub fn folder() -> PathBuf {
    workspace::target().join("bench-gate")
}

/// The files of a revision, for as long as the build takes. They are exported rather than checked out, so an
/// interrupted run leaves nothing behind in git.
struct Source {
    place: PathBuf,
}

impl Source {
    /// Returns whether the revision has benches.
    fn extract(&self, commit: &str) -> Outcome<bool> {
        let git = || {
            let mut git = Command::new("git");
            git.current_dir(workspace::root());
            git
        };
        let files = process::read(git().args(["ls-tree", "-r", "--name-only", commit]))?;
        if !files.lines().any(|file| file.ends_with(".rs") && file.split('/').any(|part| part == "benches")) {
            return Ok(false);
        }
        fs::create_dir_all(&self.place).map_err(|error| Failure::io(format!("create {:?}", self.place), &error))?;
        let archive = folder().join("base.tar");
        process::run(git().args(["archive", "--format=tar", "--output"]).arg(&archive).arg(commit))?;
        // Cargo rebuilds what is newer than its last build, which files as old as their commit would not be.
        let unpacked =
            process::run(Command::new("tar").args(["-x", "-m", "-f"]).arg(&archive).arg("-C").arg(&self.place));
        let _ = fs::remove_file(&archive);
        unpacked.map(|()| true)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // The next run removes what is left here now.
        let _ = remove(&self.place);
    }
}

/// Removes a folder where there is one.
pub fn remove(place: &Path) -> Outcome {
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::io(format!("remove {place:?}"), &error))
        }
        _ => Ok(()),
    }
}

/// Builds. Both sides share a folder, and so the packages that both depend on. Their own crates have the same names there, and
/// which of them is newer says nothing, so those are built anew.
fn compile(name: &'static str, source: &Path, build: Build) -> Outcome<Side> {
    let shared = folder().join("target");
    // From the checkout's root also for the base, whose own configuration would else be merged into the checkout's around it.
    let cargo = |arguments: &[&str]| {
        let mut cargo = workspace::cargo();
        cargo.current_dir(workspace::root()).env("CARGO_TARGET_DIR", &shared).args(arguments);
        cargo.arg("--locked").arg("--manifest-path").arg(source.join("Cargo.toml"));
        cargo
    };
    process::run(&mut cargo(&["clean", "--quiet", "--workspace", "--profile", "bench"]))?;
    let mut command = cargo(&["bench", "--no-run", "--message-format", "json"]);
    // Only targets of this kind: the benches of a library's own tests would not understand criterion's options.
    command.args(match build {
        Build::Pure => ["--package", "charz-benches", "--no-default-features", "--bench", PURE].as_slice(),
        Build::Full => &["--workspace", "--bench", "*"],
    });
    command.env("CARGO_PROFILE_BENCH_STRIP", "none");
    if build == Build::Pure {
        let quick = [("OPT_LEVEL", "2"), ("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "false")];
        command.envs(quick.map(|(key, value)| (format!("CARGO_PROFILE_BENCH_{key}"), value)));
    }
    let messages = process::read(&mut command)?;
    let place = folder().join(name);
    remove(&place)?;
    fs::create_dir_all(&place).map_err(|error| Failure::io(format!("create {place:?}"), &error))?;
    let copy = |(bench, built): (String, PathBuf)| {
        let program = place.join(&bench);
        fs::copy(&built, &program).map_err(|error| Failure::io(format!("copy {built:?}"), &error))?;
        Ok((bench, program))
    };
    Ok(Side { name, programs: messages.lines().filter_map(program).map(copy).collect::<Outcome<_>>()? })
}

/// The name and program in one of cargo's messages, if it is about a bench. Several crates may have a bench of one name, so
/// the crate's comes first.
fn program(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let target = message.get("target")?;
    let is_bench = target["kind"].as_array()?.iter().any(|kind| kind == "bench");
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.file_name()?.to_str()?;
    let name = format!("{folder}-{}", target["name"].as_str()?);
    is_bench.then_some((name, message["executable"].as_str()?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_cargos_messages() {
        let bench = r#"{"reason":"compiler-artifact","manifest_path":"/c/stats/Cargo.toml","target":{"kind":["bench"],"name":"pure"},"executable":"/t/pure-0f"}"#;
        assert_eq!(program(bench), Some(("stats-pure".to_owned(), PathBuf::from("/t/pure-0f"))));
        for other in [bench.replace("bench", "bin"), bench.replace("\"/t/pure-0f\"", "null"), "not json".into()] {
            assert_eq!(program(&other), None, "{other}");
        }
    }
}
