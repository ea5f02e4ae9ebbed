//! Where things are: the checkout, its target folder, its cargo.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

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

/// The folder where cargo builds.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
        None => root().join("target"),
    }
}

/// The cargo that runs this task, started in the root of the checkout.
pub fn cargo() -> Command {
    let mut command = Command::new(cargo_program());
    command.current_dir(root());
    command
}

/// The path of the cargo that runs this task.
pub fn cargo_program() -> PathBuf {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).into()
}

/// Builds charz for measuring and returns the path of the program.
pub fn build_charz() -> crate::Outcome<PathBuf> {
    crate::process::run(cargo().args(["build", "--release", "--package", "charz"]))?;
    Ok(target().join("release").join("charz"))
}
