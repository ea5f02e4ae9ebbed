//! Starting other programs and waiting for them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Failure, Outcome};

/// The arguments of this process, without its name.
pub fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Runs a program to its end; its output goes where ours goes.
pub fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(Failure::found(format!("`{}` ended with {status}", line(command)))) }
}

/// Runs a program to its end and returns what it wrote to its standard output. Its standard error goes where ours goes.
pub fn read(command: &mut Command) -> Outcome<String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Failure::found(format!("`{}` ended with {}", line(command), output.status)))
    }
}

/// What git says of a folder, if it is there and succeeds; its complaints are thrown away.
pub fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(folder).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program can be started and succeeds; what it writes is thrown away.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// Sends a signal to a process, or to a group by a hyphen before its number; whether it could. By the shell, which has it built in:
/// not every system has a program for it.
pub fn kill(signal: &str, process: &str) -> bool {
    succeeds(Command::new("sh").args(["-c", "kill -s \"$0\" -- \"$1\"", signal, process]))
}

/// The path of a program on PATH. The folders that hold system programs are searched too, since PATH of an ordinary
/// user often leaves them out.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).map(|folder| folder.join(program)).find(|file| is_program(file))
}

/// The variable PATH with a folder before all others.
pub fn path_with(folder: PathBuf) -> Outcome<OsString> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&own)));
    path.map_err(|error| Failure::environment(format!("the path of programs cannot be extended: {error}")))
}

pub fn is_root() -> bool {
    read(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// The command as one would type it, for messages.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word as the shell would need it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure::environment(format!("cannot start `{}`: {error}", line(command)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

    use super::*;

    #[test]
    fn a_line_can_be_typed_again() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'a b'", ""]);
        assert_eq!(line(&command), r"sh -c 'echo '\''a b'\''' ''");
    }

    #[test]
    fn output_and_failure_are_told_apart() {
        assert_eq!(read(Command::new("sh").args(["-c", "echo one"])).unwrap(), "one\n");
        let failure = read(Command::new("sh").args(["-c", "exit 7"])).unwrap_err();
        assert!(failure.to_string().contains("exit status: 7"), "{failure}");
    }

    #[test]
    fn a_group_ends_by_a_signal() {
        let mut leader = Command::new("sh").args(["-c", "sleep 1000 & wait"]).process_group(0).spawn().unwrap();
        assert!(kill("TERM", &format!("-{}", leader.id())));
        assert_eq!(leader.wait().unwrap().signal(), Some(15));
        assert!(!kill("TERM", &leader.id().to_string()));
    }

    #[test]
    fn finds_what_can_be_run() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program"), None);
    }
}
