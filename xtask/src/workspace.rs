//! Where things are: the checkout, its target folder, its cargo.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::json::Json;
use crate::packages::HWLOC;

/// The root of the checkout that cargo runs the task for. What was compiled in may be another one: checkouts that share a
/// target folder share this program, too.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).ancestors().find(|folder| folder.join("Cargo.lock").is_file());
        root.unwrap_or(Path::new(".")).to_owned()
    });
    &ROOT
}

/// The address of the project, as the manifest of the workspace has it: its one place.
pub fn repository() -> String {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap_or_default();
    let line = manifest.lines().find_map(|line| line.strip_prefix("repository = "));
    line.unwrap_or_default().trim_matches('"').to_owned()
}

/// The folder where cargo builds, as its variables or a configuration name it.
pub fn target() -> PathBuf {
    static TARGET: LazyLock<PathBuf> = LazyLock::new(|| {
        let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
        // Where the task was started: another folder may have another configuration.
        let asked = || target_directory(&mut Command::new(cargo_program()));
        named.or_else(asked).unwrap_or_else(|| root().join("target"))
    });
    TARGET.clone()
}

fn target_directory(cargo: &mut Command) -> Option<PathBuf> {
    cargo.args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"]).arg(root().join("Cargo.toml"));
    let metadata = Json::parse(&String::from_utf8(cargo.output().ok()?.stdout).ok()?).ok()?;
    Some(metadata["target_directory"].text()).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// The folder of a profile, such as `debug`, or `tmp`, where cargo builds for itself.
pub fn built(profile: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    below(&own, &target()).join(profile)
}

/// Where `build.target` names a triple, cargo builds in a folder of that name: this program, too.
fn below(own: &Path, target: &Path) -> PathBuf {
    let place = target.canonicalize().unwrap_or_else(|_| target.to_owned());
    let first = own.strip_prefix(place).ok().and_then(|own| own.iter().next());
    let triple = first.filter(|name| name.to_string_lossy().contains("-linux-"));
    triple.map_or_else(|| target.to_owned(), |triple| target.join(triple))
}

/// The cargo that runs this task, started in the root of the checkout.
pub fn cargo() -> Command {
    let mut command = Command::new(cargo_program());
    command.current_dir(root()).env("CARGO_TARGET_DIR", target());
    link_what_is_loaded(&mut command);
    command
}

/// Makes a linker that a command starts find the libraries that `LD_LIBRARY_PATH` has programs load, and hwloc wherever else the
/// dynamic linker finds it: linkers search neither its cache nor all of its folders.
pub fn link_what_is_loaded(command: &mut Command) {
    const LINKED: &str = "LIBRARY_PATH";
    let hwloc = HWLOC.shared_object().and_then(|file| Some(file.parent()?.as_os_str().to_owned()));
    let folders = joined([std::env::var_os(LINKED), std::env::var_os("LD_LIBRARY_PATH"), hwloc]);
    if !folders.is_empty() {
        command.env(LINKED, folders);
    }
}

fn joined(folders: [Option<OsString>; 3]) -> OsString {
    folders.into_iter().flatten().filter(|folders| !folders.is_empty()).collect::<Vec<_>>().join(":".as_ref())
}

/// The path of the cargo that runs this task.
pub fn cargo_program() -> PathBuf {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).into()
}

/// Builds charz for measuring and returns the path of the program.
pub fn build_charz() -> crate::Outcome<PathBuf> {
    crate::process::run(cargo().args(["build", "--release", "--package", "charz"]))?;
    Ok(built("release").join("charz"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_folder_is_the_one_that_cargo_has() {
        let mut cargo = Command::new(cargo_program());
        cargo.current_dir(root()).env_remove("CARGO_TARGET_DIR").env("CARGO_BUILD_TARGET_DIR", "/a \"b\"");
        if !crate::process::succeeds(Command::new(cargo_program()).arg("--version")) {
            return println!("skipped: this user cannot start cargo");
        }
        assert_eq!(target_directory(&mut cargo), Some("/a \"b\"".into()));
    }

    #[test]
    fn programs_lie_below_a_triple_where_this_one_does() {
        let target = Path::new("/a-linux-b/target");
        for (own, folder) in [
            ("/a-linux-b/target/debug/xtask", "/a-linux-b/target"),
            ("/a-linux-b/target/debug/deps/xtask-1", "/a-linux-b/target"),
            ("/a-linux-b/target/x86_64-unknown-linux-gnu/debug/xtask", "/a-linux-b/target/x86_64-unknown-linux-gnu"),
            ("/elsewhere/xtask", "/a-linux-b/target"),
        ] {
            assert_eq!(below(Path::new(own), target), Path::new(folder), "{own}");
        }
    }

    #[test]
    fn what_is_loaded_is_linked_after_what_is_linked_already() {
        assert_eq!(joined([None, Some("".into()), Some("/b".into())]), "/b");
        assert_eq!(joined(["/a", "/b:/c", "/d"].map(|folders| Some(folders.into()))), "/a:/b:/c:/d");
        let file = HWLOC.shared_object().expect("programs of this workspace load it");
        let mut command = Command::new("true");
        link_what_is_loaded(&mut command);
        let linked =
            command.get_envs().find(|(name, _)| *name == "LIBRARY_PATH").and_then(|(_, folders)| folders).unwrap();
        assert!(std::env::split_paths(linked).any(|folder| file.parent() == Some(&folder)), "{linked:?}");
    }
}
