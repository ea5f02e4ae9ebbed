//! Passes the commit, the compiler and the build options to the program, which writes them into every report.

use std::process::Command;

fn output(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(program).args(args).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn main() {
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"]);
    let changed =
        output("git", &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|list| !list.is_empty());
    // A build from an archive has no git, so the commit is unknown.
    let name = commit.as_deref().unwrap_or("unknown");
    println!("cargo::rustc-env=CHARZ_COMMIT={name}{}", if changed { "-dirty" } else { "" });
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo::rustc-env=CHARZ_RUSTC={}", output(&rustc, &["--version"]).unwrap_or_default());
    println!("cargo::rustc-env=CHARZ_TARGET={}", env("TARGET"));
    println!("cargo::rustc-env=CHARZ_PROFILE={} opt-level={}", env("PROFILE"), env("OPT_LEVEL"));
    println!("cargo::rustc-env=CHARZ_RUSTFLAGS={}", env("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " "));
    for path in ["build.rs", "src", "../data/src", "../topology/src", "../kernels/src", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Some(git) = commit.and_then(|_| output("git", &["rev-parse", "--git-dir"])) {
        println!("cargo::rerun-if-changed={git}/HEAD");
        println!("cargo::rerun-if-changed={git}/logs/HEAD");
    }
}
