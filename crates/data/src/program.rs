//! A user's program as a kernel: what is run, and how a run becomes a number.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cpulist;
use crate::reported::ReportedUnit;

/// The name of the kernel that a program is measured as.
pub const COMMAND: &str = "command";

/// How the reason of a run begins whose output has no line that the expression of `--value` matches.
pub const NO_MATCH: &str = "the program printed no value: no line matches";

/// What `--command` and the flags beside it ask for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    /// The command line: words as in a POSIX shell, leading `NAME=VALUE` are its environment. `{threads}` or `{n}`, `{cpus}`,
    /// `{mapping}` and `{rank}` are replaced.
    pub command: String,
    /// What is run before each run of the program, untimed and not on its seats; null for nothing.
    pub setup: Option<String>,
    /// Where its number comes from.
    pub value: ProgramValue,
    /// The unit of the number.
    pub unit: ReportedUnit,
    /// A regular expression that a line of the output must match for the run to count; null for none.
    pub verify: Option<String>,
    /// The longest that a run may take, in nanoseconds; null for ten times what is predicted.
    pub timeout_ns: Option<u64>,
}

/// Where the number of a run comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProgramValue {
    /// The time from its start to its end, in seconds.
    Wall,
    /// So many operations over that time.
    Work(u64),
    /// The first group of the last match of a regular expression in a line of its output, or all of the match.
    Regex(String),
    /// A number in the JSON document that it prints: names and indexes with dots between them.
    Json(String),
    /// The last number that it prints.
    Last,
    /// What it answers by the line protocol.
    Protocol,
}

impl fmt::Display for ProgramValue {
    /// As the flag takes it; of [`ProgramValue::Work`], which has a flag of its own, `work:N`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramValue::Wall => f.write_str("wall"),
            ProgramValue::Work(operations) => write!(f, "work:{operations}"),
            ProgramValue::Regex(text) => write!(f, "regex:{text}"),
            ProgramValue::Json(path) => write!(f, "json:{path}"),
            ProgramValue::Last => f.write_str("last"),
            ProgramValue::Protocol => f.write_str("protocol"),
        }
    }
}

impl Program {
    /// The words that stand for the number of threads. A program that has one of them runs once, with all threads.
    pub const COUNTS: [&str; 3] = ["{threads}", "{n}", "{cpus}"];

    /// Whether as many copies run as there are threads, each on a seat: the command has no place for the number of threads.
    pub fn in_copies(&self) -> bool {
        !Self::COUNTS.iter().any(|word| self.command.contains(word))
    }

    /// A text of the command line with what takes the place of the names in braces, but for `{rank}`.
    pub fn fill(text: &str, threads: usize, cpus: &[u32], mapping: &str) -> String {
        let threads = threads.to_string();
        text.replace("{threads}", &threads)
            .replace("{n}", &threads)
            .replace("{cpus}", &cpulist::print(cpus))
            .replace("{mapping}", mapping)
    }

    /// The command line for a shell behind the words of a launcher, with all threads in one program; `None` for copies.
    pub fn line(&self, threads: usize, cpus: &[u32], mapping: &str) -> Option<String> {
        let env = if self.assigns() { "env " } else { "" };
        (!self.in_copies()).then(|| format!("{env}{}", Self::fill(self.command.trim(), threads, cpus, mapping)))
    }

    /// The line for a shell that starts a copy on each of these CPUs, of which there is one at least; `None` where one program has all threads.
    pub fn copies(&self, cpus: &[u32], mapping: &str) -> Option<String> {
        let env = if self.assigns() { "env " } else { "" };
        let command = Self::fill(self.command.trim(), cpus.len(), cpus, mapping);
        if let [cpu] = cpus {
            return self.in_copies().then(|| format!("taskset -c {cpu} {env}{}", command.replace("{rank}", "0")));
        }
        let has_rank = command.contains("{rank}");
        // A shell in the command finds it too.
        let [first, next] = if has_rank { ["export rank=0; ", "rank=$((rank + 1)); "] } else { ["", ""] };
        let ids = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let command = command.replace("{rank}", "$rank");
        let line = format!("{first}for cpu in {ids}; do taskset -c $cpu {env}{command} & {next}done; wait");
        self.in_copies().then_some(line)
    }

    /// Whether it begins with an assignment, which a launcher would take for the program.
    fn assigns(&self) -> bool {
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        self.command.trim_start().split_once('=').is_some_and(|(name, _)| is_name(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reported::Better;

    fn program(command: &str) -> Program {
        Program {
            command: command.into(),
            setup: None,
            value: ProgramValue::Json("a.0".into()),
            unit: ReportedUnit::new("MB/s", Better::Higher).unwrap(),
            verify: None,
            timeout_ns: None,
        }
    }

    #[test]
    fn one_program_where_it_has_a_place_for_the_number_of_threads_else_copies() {
        for (command, copies) in [
            ("./a -t {threads}", false),
            ("N={n} ./a", false),
            ("./a --on={cpus}", false),
            ("./a {rank} {mapping}", true),
            ("./a {thread}", true),
        ] {
            assert_eq!(program(command).in_copies(), copies, "{command}");
        }
    }

    #[test]
    fn a_line_has_what_a_run_has() {
        let line = |command: &str| program(command).line(2, &[0, 3], "rr");
        assert_eq!(line("./a -t {n} --on {cpus}").as_deref(), Some("./a -t 2 --on 0,3"));
        assert_eq!(line(" OMP_NUM_THREADS={threads} ./a -x=1").as_deref(), Some("env OMP_NUM_THREADS=2 ./a -x=1"));
        assert_eq!(line("./a x=1 {threads}").as_deref(), Some("./a x=1 2"));
        assert_eq!(line("./a {rank}"), None);
    }

    /// What a shell prints that starts the copies, with echo in place of taskset.
    #[test]
    fn a_line_of_copies_starts_one_on_each_cpu() {
        let copies = |command: &str| program(command).copies(&[0, 3], "rr");
        assert_eq!(copies("./a {threads}"), None);
        assert_eq!(program("./a {rank}").copies(&[3], "rr").as_deref(), Some("taskset -c 3 ./a 0"));
        for (command, expected) in [
            ("./a -x", ["-c 0 ./a -x", "-c 3 ./a -x"]),
            ("N=1 ./a {rank}", ["-c 0 env N=1 ./a 0", "-c 3 env N=1 ./a 1"]),
        ] {
            let script = copies(command).unwrap().replace("taskset", "echo");
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            let mut lines: Vec<&str> = said.lines().collect();
            lines.sort_unstable();
            assert_eq!(lines, expected, "{script}");
        }
    }

    #[test]
    fn a_program_comes_back() {
        let one = program("./a");
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Program>(&json).unwrap(), one);
    }
}
