//! Building the benches of both revisions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::{json, process, workspace};

/// The benches of one revision.
pub struct Side {
    /// `base` or `head`.
    pub name: &'static str,
    /// The program of each bench target. Its path is equally long on both sides, since it lies on the program's stack and
    /// so decides how the rest is aligned there.
    pub programs: BTreeMap<String, PathBuf>,
}

/// Builds the benches of the checkout as it is.
///
/// # Errors
/// When they do not build.
pub fn head() -> Outcome<Side> {
    build("head", workspace::root(), &workspace::target())
}

/// Builds the benches of a revision; `None` when it has none.
///
/// # Errors
/// When there is no such revision, or its benches do not build.
pub fn base(revision: &str) -> Outcome<Option<Side>> {
    let place = folder().join("base-source");
    // Whatever an interrupted run left there.
    remove(&place)?;
    let source = Source { place };
    if !source.extract(revision)? {
        return Ok(None);
    }
    build("base", &source.place, &folder().join("base-target")).map(Some)
}

/// Where the gate keeps what it builds and measures; between runs, so that the next one builds only what changed.
pub fn folder() -> PathBuf {
    workspace::target().join("bench-gate")
}

/// The files of a revision, for as long as the build takes. They are exported rather than checked out, so that git knows
/// nothing of them that an interrupted run could leave behind.
struct Source {
    place: PathBuf,
}

impl Source {
    /// Returns whether the revision has benches.
    fn extract(&self, revision: &str) -> Outcome<bool> {
        let git = || {
            let mut git = Command::new("git");
            git.current_dir(workspace::root());
            git
        };
        // An option of git in place of a revision is refused here.
        let commit = format!("{revision}^{{commit}}");
        let known = process::succeeds(git().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]));
        if !known {
            return Err(Failure::usage(format!("git knows no commit {revision:?}")));
        }
        let files = process::read(git().args(["ls-tree", "--name-only", &commit, "benches/"]))?;
        if !files.lines().any(|file| file.ends_with(".rs")) {
            return Ok(false);
        }
        fs::create_dir_all(&self.place).map_err(|error| Failure::io(format!("create {:?}", self.place), &error))?;
        let archive = folder().join("base.tar");
        process::run(git().args(["archive", "--format=tar", "--output"]).arg(&archive).arg(&commit))?;
        // Cargo rebuilds what is newer than its last build, which files as old as their commit would not be.
        let unpack =
            process::run(Command::new("tar").args(["-x", "-m", "-f"]).arg(&archive).arg("-C").arg(&self.place));
        let _ = fs::remove_file(&archive);
        unpack.map(|()| true)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // The next run removes what is left here now.
        let _ = remove(&self.place);
    }
}

fn remove(place: &Path) -> Outcome {
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::io(format!("remove {place:?}"), &error))
        }
        _ => Ok(()),
    }
}

/// Builds with cargo's usual folder for the head, which then has most of it already, and one apart for the base.
fn build(name: &'static str, source: &Path, target: &Path) -> Outcome<Side> {
    let mut command = workspace::cargo();
    command.current_dir(source).env("CARGO_TARGET_DIR", target);
    // Only targets of this kind: the benches of a library's own tests would not understand criterion's options.
    command.args(["bench", "--workspace", "--locked", "--no-run", "--bench", "*", "--message-format", "json"]);
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

/// The name and program in one of cargo's messages, if it tells of a bench.
fn program(message: &str) -> Option<(String, PathBuf)> {
    let message = json::parse(message)?;
    let target = message.get("target")?;
    let is_bench = target.get("kind")?.list()?.iter().any(|kind| kind.text() == Some("bench"));
    let program = message.get("executable")?.text()?;
    is_bench.then_some((target.get("name")?.text()?.to_owned(), program.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_cargos_messages() {
        let bench =
            r#"{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"pure"},"executable":"/t/pure-0f"}"#;
        assert_eq!(program(bench), Some(("pure".to_owned(), PathBuf::from("/t/pure-0f"))));
        for other in [
            r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"charz"},"executable":null}"#,
            r#"{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"charz"},"executable":"/t/charz"}"#,
            r#"{"reason":"build-finished","success":true}"#,
            "not json",
        ] {
            assert_eq!(program(other), None, "{other}");
        }
    }
}
