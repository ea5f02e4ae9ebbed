//! Runs `cargo test` and gathers what the tests skipped: the output of a test that passes is otherwise not read.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use xtask::{Failure, Outcome, process};

/// Something that a test could not show here.
#[derive(Debug, PartialEq)]
pub struct Skipped {
    pub test: String,
    pub reason: String,
}

/// Runs the tests, which have to be asked for `--show-output`. What passing tests print is not shown; their lines that begin
/// with `skipped: ` are returned.
pub fn run(command: &mut Command) -> Outcome<Vec<Skipped>> {
    let typed = process::line(command);
    let unread = |error: std::io::Error| Failure::io(format!("run `{typed}`"), &error);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(unread)?;
    let mut output = Output::default();
    for line in child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).split(b'\n')) {
        let line = line.map_err(unread)?;
        let line = String::from_utf8_lossy(&line);
        if output.shows(&line) {
            println!("{line}");
        }
    }
    let status = child.wait().map_err(unread)?;
    if status.success() { Ok(output.skipped) } else { Err(Failure::found(format!("`{typed}` ended with {status}"))) }
}

#[derive(Default)]
struct Output {
    /// Whether this is what passing tests print.
    passing: bool,
    test: String,
    skipped: Vec<Skipped>,
}

impl Output {
    fn shows(&mut self, line: &str) -> bool {
        if line == "successes:" {
            self.passing = true;
        } else if line == "failures:" || line.starts_with("test result: ") {
            self.passing = false;
        }
        if !self.passing {
            return true;
        }
        if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.test = test.to_owned();
        } else if let Some(reason) = line.strip_prefix("skipped: ") {
            let skipped = Skipped { test: self.test.clone(), reason: reason.to_owned() };
            if !self.skipped.contains(&skipped) {
                self.skipped.push(skipped);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passing_tests_skip_is_gathered_and_what_failing_tests_print_is_shown() {
        let text = "running 3 tests\ntest a::b ... ok\n\nsuccesses:\n\n---- a::b stdout ----\nnoise\nskipped: no root\nskipped: no root\n\
                    \n\nsuccesses:\n    a::b\n\nfailures:\n\n---- c stdout ----\nskipped: not for long\n\nfailures:\n    c\n\ntest result: FAILED. 1\n";
        let mut output = Output::default();
        let shown: Vec<&str> = text.lines().filter(|line| output.shows(line)).collect();
        assert_eq!(output.skipped, [Skipped { test: "a::b".into(), reason: "no root".into() }]);
        assert!(!shown.contains(&"noise") && shown.contains(&"skipped: not for long"), "{shown:?}");
        assert_eq!(shown.last(), Some(&"test result: FAILED. 1"));
    }
}
