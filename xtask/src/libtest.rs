//! Runs `cargo test` to its end, whatever fails first, and reads what the test programs print: which tests failed, and what
//! those that passed have skipped.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use xtask::{Failure, Outcome, process};

/// Something that a test could not show here.
#[derive(Debug, PartialEq)]
pub struct Skipped {
    pub test: String,
    pub reason: String,
}

/// What test programs came to.
#[derive(Debug, Default)]
pub struct Ran {
    /// `PROGRAM :: TEST` for each test that failed, and how it ended for a program that failed without one.
    pub failed: Vec<String>,
    pub skipped: Vec<Skipped>,
}

impl Ran {
    /// Runs more of them, by a cargo that is asked for `--no-fail-fast`, and the programs for `--show-output`. What passing tests
    /// print is not shown; of that, lines that begin with `skipped: ` are kept. Tests that fail are kept as well, and no failure here.
    /// A program's lines are shown when it has ended, since others may run at the same time.
    pub fn run(&mut self, command: &mut Command) -> Outcome {
        let typed = process::line(command);
        let unread = |error: std::io::Error| Failure::io(format!("run `{typed}`"), &error);
        // Of both streams in one order: cargo names a program on one, and the program prints to the other.
        let (reader, writer) = std::io::pipe().map_err(unread)?;
        command.stdout(writer.try_clone().map_err(unread)?).stderr(writer).env("CARGO_TERM_COLOR", "never");
        let child = command.spawn();
        // The command would keep the pipe open for ever.
        command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
        let mut child = child.map_err(unread)?;
        let (mut output, known, mut shown) = (Output::default(), self.failed.len(), String::new());
        for line in BufReader::new(reader).split(b'\n') {
            let line = line.map_err(unread)?;
            let line = String::from_utf8_lossy(&line);
            if program(&line).is_some() {
                print!("{shown}");
                shown.clear();
            }
            if output.shows(self, &line) {
                shown.extend([&*line, "\n"]);
            }
        }
        print!("{shown}");
        let status = child.wait().map_err(unread)?;
        let is_explained = status.success() || self.failed.len() > known;
        if is_explained { Ok(()) } else { Err(Failure::found(format!("`{typed}` ended with {status}"))) }
    }

    /// With what others came to.
    pub fn append(&mut self, others: Ran) {
        self.failed.extend(others.failed);
        self.skipped.extend(others.skipped);
    }

    /// A failure that names all that failed.
    pub fn outcome(&self) -> Outcome {
        match self.failed.len() {
            0 => Ok(()),
            count => Err(Failure::found(format!("{count} failed:\n  {}", self.failed.join("\n  ")))),
        }
    }
}

/// Where in the output of a program a line is.
#[derive(Clone, Copy, Default, PartialEq)]
enum Part {
    #[default]
    Results,
    /// What passing tests print, which may be anything, such as the results of other tests.
    Printed,
    /// The names of passing tests.
    Passed,
}

#[derive(Default)]
struct Output {
    /// The program that runs: its name, and that of its package where that is another one.
    program: String,
    part: Part,
    test: String,
    /// The last list of failures, which is one of names where the results follow.
    failures: Option<Vec<String>>,
    /// How many failures of this program are known.
    known: usize,
}

impl Output {
    fn shows(&mut self, ran: &mut Ran, line: &str) -> bool {
        match (self.part, line) {
            (Part::Printed, "successes:") => self.part = Part::Passed,
            (Part::Printed, _) => self.passed(ran, line),
            (Part::Passed, line) if line.is_empty() || line.starts_with("    ") => {}
            (_, "successes:") => self.part = Part::Printed,
            (_, line) => {
                self.part = Part::Results;
                self.result(ran, line);
            }
        }
        self.part == Part::Results
    }

    fn result(&mut self, ran: &mut Ran, line: &str) {
        if let Some(program) = program(line) {
            *self = Output { program, ..Output::default() };
        } else if line == "failures:" {
            self.failures = Some(Vec::new());
        } else if line.starts_with("test result: ") {
            let failures = self.failures.take().unwrap_or_default();
            self.known = failures.len();
            ran.failed.extend(failures.iter().map(|test| format!("{} :: {test}", self.program)));
        } else if let Some(failures) = &mut self.failures {
            failures.extend(line.strip_prefix("    ").map(str::to_owned));
        }
        if let Some(ending) = ending(line).filter(|_| self.known == 0) {
            ran.failed.push(format!("{}: {ending}", self.program));
        }
    }

    /// A line that passing tests print.
    fn passed(&mut self, ran: &mut Ran, line: &str) {
        if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.test = test.to_owned();
        } else if let Some(reason) = line.strip_prefix("skipped: ") {
            let skipped = Skipped { test: self.test.clone(), reason: reason.to_owned() };
            if !ran.skipped.contains(&skipped) {
                ran.skipped.push(skipped);
            }
        }
    }
}

/// The program that cargo says it starts now: `faults` of `Running ../../tests/faults/main.rs (target/debug/deps/faults-…)`, and
/// the package where it says `Doc-tests charz_data`.
fn program(line: &str) -> Option<String> {
    if let Some(package) = line.strip_prefix("   Doc-tests ") {
        return Some(format!("{package} (examples in docs)"));
    }
    let (source, file) = line.strip_prefix("     Running ")?.strip_suffix(')')?.rsplit_once(" (")?;
    let name = file.rsplit('/').next()?.rsplit_once('-')?.0;
    Some(if source.starts_with("unittests ") { format!("{name} (units)") } else { name.to_owned() })
}

/// How cargo says that a program ended which did not succeed.
fn ending(line: &str) -> Option<&str> {
    let (_, ending) = line.trim_start().strip_prefix("process didn't exit successfully: ")?.rsplit_once("` (")?;
    ending.strip_suffix(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<&str>, Ran) {
        let (mut output, mut ran) = (Output::default(), Ran::default());
        (text.lines().filter(|line| output.shows(&mut ran, line)).collect(), ran)
    }

    #[test]
    fn what_passing_tests_skip_is_gathered_and_what_failing_tests_print_is_shown() {
        let text = "running 3 tests\ntest a::b ... ok\n\nsuccesses:\n\n---- a::b stdout ----\nnoise\n     Running x (y/other-1)\nfailures:\n    z\n\ntest result: FAILED\nskipped: no root\nskipped: no root\n\
                    \n\nsuccesses:\n    a::b\n\nfailures:\n\n---- c stdout ----\nskipped: not for long\n\nfailures:\n    c\n\ntest result: FAILED. 1\n";
        let (shown, ran) = read(text);
        assert_eq!(ran.skipped, [Skipped { test: "a::b".into(), reason: "no root".into() }]);
        assert!(!shown.contains(&"noise") && shown.contains(&"skipped: not for long"), "{shown:?}");
        assert_eq!(shown.last(), Some(&"test result: FAILED. 1"));
        assert_eq!(ran.failed, [" :: c"], "not those that a test prints");
    }

    #[test]
    fn each_failure_is_named_with_its_program() {
        let failed = |name: &str, ending: &str| {
            format!("\nCaused by:\n  process didn't exit successfully: `{name} --x` ({ending})\n")
        };
        let text = [
            "     Running unittests src/lib.rs (target/debug/deps/charz_data-0a)\ntest result: ok. 3 passed\n",
            "     Running ../../tests/faults/main.rs (target/debug/deps/faults-1b)\nfailures:\n\n---- marks::a stdout ----\n",
            "    an indented word of its output\n\nfailures:\n    marks::a\n    marks::b\n\ntest result: FAILED. 0 passed; 2 failed\n",
            &failed("/x/faults-1b", "exit status: 101"),
            "     Running unittests src/lib.rs (target/debug/deps/charz_launch-2c)\nrunning 2 tests\ntest x ... ok\n",
            &failed("/x/charz_launch-2c", "signal: 11, SIGSEGV: invalid memory reference"),
            "   Doc-tests charz_data\nfailures:\n\nfailures:\n    src/cpulist.rs - cpulist::parse (line 12)\n\ntest result: FAILED.\n",
            "error: 3 targets failed:\n    `-p charz --test faults`\n",
        ]
        .concat();
        let expected = [
            "faults :: marks::a",
            "faults :: marks::b",
            "charz_launch (units): signal: 11, SIGSEGV: invalid memory reference",
            "charz_data (examples in docs) :: src/cpulist.rs - cpulist::parse (line 12)",
        ];
        let (_, ran) = read(&text);
        assert_eq!(ran.failed, expected);
        let message = ran.outcome().unwrap_err();
        assert!(message.code == 1 && message.to_string().starts_with("4 failed:\n  faults :: marks::a\n"), "{message}");
    }

    #[test]
    fn a_program_that_crashes_hides_no_other() {
        // As cargo would: each program's line before what it prints, on the other stream.
        let script = "echo '     Running x (deps/one-1)' >&2; echo 'test a ... ok'; \
                      echo \"  process didn't exit successfully: \\`one\\` (signal: 6, SIGABRT)\" >&2; \
                      echo '     Running x (deps/two-2)' >&2; printf 'failures:\\n    b\\n\\ntest result: FAILED\\n'; exit 101";
        let mut ran = Ran::default();
        ran.run(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!(ran.failed, ["one: signal: 6, SIGABRT", "two :: b"]);
        let nothing_named = ran.run(Command::new("sh").args(["-c", "exit 101"])).unwrap_err();
        assert!(nothing_named.to_string().contains("101"), "{nothing_named}");
    }
}
