//! An ordinary user for the tests of a CI that runs as root: root passes where the users of the project do not.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;

use xtask::{Failure, Outcome, process, workspace};

/// A user and group id without an account: it owns nothing and shares no limit with other users.
const ID: u32 = 64_317;

/// Bytes that it may lock, as usual for users on Linux.
const LOCKED: u64 = 8 << 20;

/// The user, with a home for as long as this lives.
pub struct User {
    home: PathBuf,
    /// Bytes that it may lock here.
    locked: u64,
}

impl User {
    /// `None`, and a word about it, where this is an ordinary user already or root cannot become one.
    pub fn new() -> Outcome<Option<Self>> {
        if !process::is_root() {
            return Ok(None);
        }
        let home = std::env::temp_dir().join(format!("charz-user-{}", std::process::id()));
        fs::create_dir(&home).map_err(|error| Failure::io(format!("create {home:?}"), &error))?;
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let user = User { home, locked: locked(&limits) };
        // Tests write here, and root may have left files of its own.
        let scratch = workspace::built("tmp");
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch).map_err(|error| Failure::io(format!("create {scratch:?}"), &error))?;
        if let Err(failure) = give(&user.home).and_then(|()| give(&scratch)) {
            // As in a namespace without this id.
            println!("NOT TESTED as an ordinary user: {failure}");
            return Ok(None);
        }
        let runner = user.runner();
        let mut words = runner.split(' ');
        let mut reads = Command::new(words.next().unwrap_or_default());
        reads.args(words).args(["sh", "-c", "test -r Cargo.toml && test -w \"$0\""]).arg(&scratch);
        if process::succeeds(reads.current_dir(workspace::root())) {
            return Ok(Some(user));
        }
        println!(
            "NOT TESTED as an ordinary user: user id {ID} cannot read {} or write to {}; move the checkout to where everybody may read",
            workspace::root().display(),
            scratch.display()
        );
        Ok(None)
    }

    /// The words before a program that make it run as this user.
    pub fn runner(&self) -> String {
        let User { home, locked } = self;
        let home = home.display();
        format!(
            "prlimit --memlock={locked}:{locked} setpriv --reuid={ID} --regid={ID} --clear-groups env HOME={home} TMPDIR={home}"
        )
    }

    /// The variable from which cargo takes these words.
    pub fn variable() -> Outcome<String> {
        let version = process::read(Command::new("rustc").arg("-vV"))?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.ok_or_else(|| Failure::environment("`rustc -vV` names no host"))?;
        Ok(format!("CARGO_TARGET_{}_RUNNER", host.to_uppercase().replace('-', "_")))
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// What the user may lock where this process has these limits: a container's root may lower its hard limit, and not raise it.
fn locked(limits: &str) -> u64 {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"));
    let hard = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    hard.map_or(LOCKED, |hard: u64| hard.min(LOCKED))
}

/// Gives a folder to the user.
fn give(folder: &PathBuf) -> Outcome {
    let given =
        chown(folder, Some(ID), Some(ID)).and_then(|()| fs::set_permissions(folder, PermissionsExt::from_mode(0o755)));
    given.map_err(|error| Failure::io(format!("give {folder:?} to user id {ID}"), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_locked_memory_is_never_raised() {
        for (hard, expected) in [("65536", 65_536), ("unlimited", LOCKED), ("16777216", LOCKED)] {
            let limits = format!("Max processes   1 2 processes\nMax locked memory   65536   {hard}   bytes\n");
            assert_eq!(locked(&limits), expected, "{hard}");
        }
        assert_eq!(locked(""), LOCKED);
    }
}
