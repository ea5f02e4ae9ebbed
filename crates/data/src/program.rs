//! A user's program as a kernel: what is run, and how a run becomes a number.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cpulist;
use crate::escape::quoted;
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
    /// The longest that a run may take, in nanoseconds; null for five seconds and ten times what is predicted.
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
        if self.in_copies() { None } else { self.quoted(threads, cpus, mapping, "'{rank}'") }
    }

    /// The line for a shell that starts a copy on each of these CPUs, of which there is one at least; `None` where one program has all threads.
    pub fn copies(&self, cpus: &[u32], mapping: &str) -> Option<String> {
        if !self.in_copies() {
            return None;
        }
        if let [cpu] = cpus {
            return Some(format!("taskset -c {cpu} {}", self.quoted(1, cpus, mapping, "0")?));
        }
        let command = self.quoted(cpus.len(), cpus, mapping, "\"${rank}\"")?;
        let has_rank = self.command.contains("{rank}");
        let [first, next] = if has_rank { ["rank=0; ", "rank=$((rank + 1)); "] } else { ["", ""] };
        let ids = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        Some(format!("{first}for cpu in {ids}; do taskset -c $cpu {command} & {next}done; wait"))
    }

    /// The words of the command line, filled, and quoted: they were run without a shell, and one is to run the same. `rank` is code for it,
    /// outside of quotations. `None` where there are no words.
    fn quoted(&self, threads: usize, cpus: &[u32], mapping: &str, rank: &str) -> Option<String> {
        let words = shlex::split(&self.command)?;
        let word = |text: &String| {
            let filled = Self::fill(text, threads, cpus, mapping);
            let parts = filled.split("{rank}").map(|part| if part.is_empty() { String::new() } else { quoted(part) });
            let spliced = parts.collect::<Vec<_>>().join(rank);
            if spliced.is_empty() { quoted("") } else { spliced }
        };
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        // A launcher would take an assignment for the program.
        let assigns = words.first()?.split_once('=').is_some_and(|(name, _)| is_name(name));
        let env = assigns.then(|| "env".to_owned());
        Some(env.into_iter().chain(words.iter().map(word)).collect::<Vec<_>>().join(" "))
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
        assert_eq!(line("sh -c \"echo $1 *\" {n}").as_deref(), Some("sh -c 'echo $1 *' 2"), "no shell but its own");
        assert_eq!(line("'{n}"), None);
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
            ("./a img{rank}_a.png", ["-c 0 ./a img0_a.png", "-c 3 ./a img1_a.png"]),
            ("awk 'NR=={rank} {print $1}' f", ["-c 0 awk NR==0 {print $1} f", "-c 3 awk NR==1 {print $1} f"]),
            (
                "sh -c \"for i in 1; do ./a $i; done\"",
                ["-c 0 sh -c for i in 1; do ./a $i; done", "-c 3 sh -c for i in 1; do ./a $i; done"],
            ),
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
