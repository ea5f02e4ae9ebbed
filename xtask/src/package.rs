//! `package`: the crates as a registry would get them, and charz compiled from those outside the checkout.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::{Failure, Outcome, process, workspace};

pub fn start(words: &[String]) -> Outcome {
    if !words.is_empty() {
        return Err(Failure::usage("`package` takes no arguments"));
    }
    // Packages of earlier versions would be compiled as well.
    let made = workspace::target().join("package");
    _ = fs::remove_dir_all(&made);
    let skipped = ["charz-benches", "charz-models", "xtask", "xtask-bench"].map(|name| ["--exclude", name]);
    let mut package = workspace::cargo();
    package.args(["package", "--quiet", "--workspace", "--no-verify", "--allow-dirty"]).args(skipped.as_flattened());
    process::run(&mut package)?;
    let outside = std::env::temp_dir().join(format!("charz-packages-{}", std::process::id()));
    let built = lay_out(&made, &outside).and_then(|()| {
        let mut cargo = Command::new(workspace::cargo_program());
        // What comes from the registry is compiled already.
        cargo.current_dir(&outside).env("CARGO_TARGET_DIR", workspace::target());
        // In the place of hwloc's development files.
        let config = workspace::root().join(".cargo/config.toml");
        process::run(cargo.args(["check", "--package", "charz", "--config"]).arg(config))
    });
    _ = fs::remove_dir_all(&outside);
    built
}

/// Unpacks the packages side by side, each in the place of that in the registry, with the versions of the checkout.
fn lay_out(made: &Path, outside: &Path) -> Outcome {
    let failed = |error| Failure::io(format!("lay out packages in {outside:?}"), &error);
    fs::create_dir_all(outside).map_err(failed)?;
    let mut patches = String::new();
    for entry in fs::read_dir(made).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_none_or(|extension| extension != "crate") {
            continue;
        }
        process::run(Command::new("tar").arg("-xf").arg(&path).arg("-C").arg(outside))?;
        let folder = path.file_stem().unwrap_or_default().to_string_lossy();
        let (name, _) = folder.rsplit_once('-').unwrap_or((&folder, ""));
        patches += &format!("{name} = {{ path = {folder:?} }}\n");
    }
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [\"charz*\"]\n\n[patch.crates-io]\n{patches}");
    fs::write(outside.join("Cargo.toml"), manifest).map_err(failed)?;
    fs::copy(workspace::root().join("Cargo.lock"), outside.join("Cargo.lock")).map_err(failed)?;
    Ok(())
}
