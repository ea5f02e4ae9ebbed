//! A browser without a window and without a network.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::process;
use xtask::{Failure, Outcome};

/// What the same browser is called in distributions.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The longest that a page may take. Beyond that the browser hangs, which it does on some machines.
const MOST_SECONDS: u32 = 120;

pub(super) struct Chromium {
    program: PathBuf,
}

/// What came of opening a page.
pub(super) struct Run {
    pub(super) out: String,
    /// What the page said on the console, which it should not.
    pub(super) complaints: Vec<String>,
}

impl Chromium {
    pub(super) fn find() -> Option<Self> {
        NAMES.iter().find_map(|name| process::find(name)).map(|program| Chromium { program })
    }

    /// Opens a page in a browser with an empty profile.
    pub(super) fn open(&self, page: &Path, flags: &[String]) -> Outcome<Run> {
        let profile = page.with_extension("profile");
        // What an earlier run left there, if anything.
        let _ = std::fs::remove_dir_all(&profile);
        let mut command = Command::new("timeout");
        command.arg(MOST_SECONDS.to_string()).arg(&self.program);
        command.args([
            "--headless",
            // Containers and root have no sandbox; the page is ours.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
            "--disable-sync",
            "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--enable-logging=stderr",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display())).args(flags);
        command.arg(format!("file://{}", page.display()));
        let output = command.stdin(Stdio::null()).output();
        let output =
            output.map_err(|error| Failure::environment(format!("cannot start {:?}: {error}", self.program)))?;
        let _ = std::fs::remove_dir_all(&profile);
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let last = said.lines().last().unwrap_or_default();
            return Err(Failure::environment(format!("{:?} ended with {}: {last}", self.program, output.status)));
        }
        Ok(Run { out: String::from_utf8_lossy(&output.stdout).into_owned(), complaints: complaints(&said) })
    }
}

/// What pages said on the console, among all that a browser says.
fn complaints(log: &str) -> Vec<String> {
    log.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_console_is_heard() {
        let log = "[1:2:1121/ERROR:dbus/bus.cc:408] Failed to connect\n\
                   [1:2:1121/INFO:CONSOLE:1] \"Refused to apply inline style\", source: file:///page.html (1)\n";
        let found = complaints(log);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("Refused"), "{found:?}");
    }
}
