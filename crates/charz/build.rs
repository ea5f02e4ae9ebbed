//! Passes the commit, the compiler and the build options to the program, which writes them into every report. No name begins as those of
//! the flags do: `cargo run` sets these variables for the program, too.

use std::fs;
use std::path::Path;
use std::process::Command;

fn output(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(program).args(args).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The crates of the workspace by their folders, so none can be forgotten; empty where this package is built alone.
fn crates() -> Vec<String> {
    let workspace = fs::read_to_string("../../Cargo.toml").is_ok_and(|text| text.contains("[workspace]"));
    let folders = fs::read_dir("..").into_iter().flatten().flatten().filter(|_| workspace);
    let crates = folders.filter(|folder| folder.path().join("Cargo.toml").exists());
    crates.filter_map(|folder| folder.file_name().into_string().ok()).collect()
}

fn main() {
    let crates = crates();
    // A build from an archive has no git, so the commit is unknown; the folder of a registry may lie in a checkout of something else.
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"]).filter(|_| !crates.is_empty());
    let status = ["status", "--porcelain", "--untracked-files=no", "--", "..", "../../Cargo.toml", "../../Cargo.lock"];
    let changed = commit.is_some() && output("git", &status).is_some_and(|list| !list.is_empty());
    let name = commit.as_deref().unwrap_or("unknown");
    println!("cargo::rustc-env=BUILD_COMMIT={name}{}", if changed { "-dirty" } else { "" });
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo::rustc-env=BUILD_RUSTC={}", output(&rustc, &["--version"]).unwrap_or_default());
    println!("cargo::rustc-env=BUILD_TARGET={}", env("TARGET"));
    println!("cargo::rustc-env=BUILD_PROFILE={}", env("PROFILE"));
    println!("cargo::rustc-env=BUILD_RUSTFLAGS={}", env("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " "));
    println!("cargo::rustc-env=BUILD_CRATES={}", crates.join(" "));
    for path in ["build.rs", "src", "../../Cargo.toml", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for part in crates.iter().flat_map(|name| ["src", "Cargo.toml", "build.rs"].map(|part| format!("../{name}/{part}")))
    {
        // A file that is not there would have this script run in every build.
        if Path::new(&part).exists() {
            println!("cargo::rerun-if-changed={part}");
        }
    }
    if let Some(git) = commit.and_then(|_| output("git", &["rev-parse", "--git-dir"])) {
        println!("cargo::rerun-if-changed={git}/HEAD");
        println!("cargo::rerun-if-changed={git}/logs/HEAD");
    }
}
