//! `package`: the crates as a registry would get them, and charz installed from those outside the checkout, and run.

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
        let version = env!("CARGO_PKG_VERSION");
        cargo.args(["install", "--debug", "--quiet", "--locked", "--root"]).arg(outside.join("installed"));
        cargo.arg("--path").arg(outside.join(format!("charz-{version}")));
        // As `cargo install charz` finds it; else the flags of a checkout, which needs no development files of hwloc.
        if !process::succeeds(Command::new("pkg-config").args(["--exists", "hwloc >= 2.8", "libudev"])) {
            println!("pkg-config has no hwloc of 2.8 or later, or no libudev: compiled with the configuration of the checkout");
            cargo.arg("--config").arg(workspace::root().join(".cargo/config.toml"));
        }
        process::run(&mut cargo)?;
        let topology = process::read(Command::new(outside.join("installed/bin/charz")).arg("topo"))?;
        println!("installed outside the checkout: charz topo prints {} lines", topology.lines().count());
        Ok(())
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
