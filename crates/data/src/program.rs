//! A user's program as a kernel: what is run, and how a run becomes a number.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cpulist;
use crate::escape::quoted;
use crate::reported::ReportedUnit;
use crate::words::words;

/// The name of the kernel that a program is measured as.
pub const COMMAND: &str = "command";

/// Variables by which OpenMP runtimes bind threads themselves, or choose the CPUs for them.
pub const BINDING: [&str; 5] = ["OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_HW_SUBSET"];

/// How the reason of a run begins whose output has no line that the expression of `--value` matches.
pub const NO_MATCH: &str = "the program printed no value: no line matches";

/// What `--command` and the flags beside it ask for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    /// The command line: words as in a POSIX shell, leading `NAME=VALUE` are its environment. `{threads}` or `{n}`, `{cpus}`,
    /// `{mapping}` and `{rank}` are replaced. In a report the values of that environment are left out, as [`Program::recorded`] does.
    pub command: String,
    /// What is run before each run of the program, untimed and not on its seats; null for nothing. Values are left out as in `command`.
    pub setup: Option<String>,
    /// Where its number comes from.
    pub value: ProgramValue,
    /// The unit of the number.
    pub unit: ReportedUnit,
    /// The file that its standard output goes to, `/dev/null` among them; the names in braces are replaced as in `command`. Null or absent where
    /// charz reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// A regular expression that a line of the output must match for the run to count; null for none.
    pub verify: Option<String>,
    /// The longest that a run may take, in nanoseconds; null for five seconds and ten times what is predicted.
    pub timeout_ns: Option<u64>,
    /// The exit codes of runs that count although they are those of a failure, or all of them if there is none in the list; null or absent where
    /// only 0 is no failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored_failures: Option<Vec<u8>>,
    /// How its threads are found and put on their seats; null or absent for ptrace, or not at all where that takes a notable part of its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<Follow>,
}

/// How the threads of a program are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Follow {
    /// By ptrace(2): each new thread stops before its first instruction and gets its seat, and stops at its end to be counted. Where
    /// the system refuses, by polling.
    #[default]
    Ptrace,
    /// By looking into `/proc` every 1 to 8 ms: for programs that do not work under a tracer, such as debuggers, sanitizers and
    /// those with another user's rights.
    Poll,
    /// Not at all: all threads may run on all seats, and the program is counted as a whole.
    None,
}

// The words of reports and of command lines.
words! { Follow { Ptrace = "ptrace", Poll = "poll", None = "none" } }

/// Which program a command line starts: another one under the same name has other numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramIdentity {
    /// The folder that it is started in.
    pub folder: String,
    /// The files of the program and of its set-up, in the order in which the command lines name them; behind an interpreter the script. Empty
    /// where each run has a name of its own.
    pub files: Vec<ProgramFile>,
}

/// One file of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramFile {
    /// Where it is, links followed.
    pub path: String,
    /// The device that it is on.
    pub device: u64,
    /// Its number there: that of a file that was written anew is another one.
    pub inode: u64,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970-01-01T00:00:00Z.
    pub modified_ns: i64,
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
    /// The file of an output that nothing reads.
    pub const NO_OUTPUT: &str = "/dev/null";

    /// The words that stand for the number of threads. A program that has one of them runs once, with all threads.
    pub const COUNTS: [&str; 3] = ["{threads}", "{n}", "{cpus}"];

    /// A program of which nothing else is asked for.
    pub fn new(command: impl Into<String>, value: ProgramValue, unit: ReportedUnit) -> Self {
        Program {
            command: command.into(),
            setup: None,
            value,
            unit,
            output: None,
            verify: None,
            timeout_ns: None,
            ignored_failures: None,
            follow: None,
        }
    }

    /// The program as reports keep it: without the values of its environment, which may be secrets.
    #[must_use]
    pub fn recorded(&self) -> Self {
        Program { command: withheld(&self.command), setup: self.setup.as_deref().map(withheld), ..self.clone() }
    }

    /// A command line as reports keep it: without the values of its environment.
    #[must_use]
    pub fn without_values(line: &str) -> String {
        withheld(line)
    }

    /// Whether a value of its environment was left out, so it cannot be run as it stands.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        [Some(&self.command), self.setup.as_ref()].into_iter().flatten().any(|line| line.contains('…'))
    }

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
        // A launcher would take an assignment for the program.
        let env = assignment(words.first()?).map(|_| "env".to_owned());
        Some(env.into_iter().chain(words.iter().map(word)).collect::<Vec<_>>().join(" "))
    }
}

/// What stands for a value that was left out.
const WITHHELD: &str = "=…";

/// `NAME=VALUE`, by the names that a shell takes.
#[must_use]
pub fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let named =
        !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()) && name.bytes().all(is_name);
    named.then_some((name, value))
}

/// A command line with `NAME=…` for each assignment before its program, and behind each word `env`. What a run gives, such as `{threads}`, is
/// no secret and stays. A line that a shell would not split stays as it is: no program is started by it.
fn withheld(line: &str) -> String {
    let Some(words) = shlex::split(line) else { return line.to_owned() };
    let mut before = Before::Program;
    let kept: Vec<Option<String>> = words.iter().map(|word| before.kept(word)).collect();
    if kept.iter().all(Option::is_none) {
        return line.to_owned();
    }
    let shown = |(word, kept): (&String, Option<String>)| match (kept, assignment(word)) {
        (Some(kept), _) => kept,
        // A shell takes no quoted name for an assignment.
        (None, Some((name, value))) if !value.is_empty() => format!("{name}={}", quoted(value)),
        (None, Some((name, _))) => format!("{name}="),
        (None, None) => quoted(word),
    };
    words.iter().zip(kept).map(shown).collect::<Vec<_>>().join(" ")
}

/// What the next word of a command line stands before.
#[derive(Clone, Copy)]
enum Before {
    /// The program: only assignments may come.
    Program,
    /// The program of env(1), whose names may be any: options and assignments may come.
    ProgramOfEnv,
    /// The value of an option of env, and whether that is a whole command line.
    Value { is_line: bool },
    /// Nothing: the program has been named.
    Nothing,
}

impl Before {
    /// A word without its secret, where it has one; moves on to the next.
    fn kept(&mut self, word: &str) -> Option<String> {
        let is_env = word.rsplit('/').next() == Some("env");
        let is_assignment = match self {
            Before::Program => assignment(word).is_some(),
            Before::ProgramOfEnv => word.contains('=') && !word.starts_with('-'),
            Before::Value { .. } | Before::Nothing => false,
        };
        match *self {
            Before::Value { is_line } => {
                *self = Before::ProgramOfEnv;
                is_line.then(|| WITHHELD[1..].to_owned())
            }
            _ if is_env => {
                *self = Before::ProgramOfEnv;
                None
            }
            _ if is_assignment => {
                let (name, value) = word.split_once('=')?;
                let given = GIVEN.iter().filter(|given| value.contains(*given)).copied().collect::<Vec<_>>();
                let is_secret = !value.is_empty() && !GIVEN.contains(&value);
                let given = given.iter().map(|given| format!("{given}…")).collect::<String>();
                is_secret.then(|| format!("{name}{WITHHELD}{given}"))
            }
            Before::ProgramOfEnv if word.starts_with('-') => {
                let option = word.split('=').next().unwrap_or_default();
                let is_long = word.starts_with("--");
                // Of `-iu` the last letter has a value, which may be the next word.
                let takes =
                    |long: &[&str], short: &[char]| if is_long { long.contains(&word) } else { word.ends_with(short) };
                let lines = if is_long { option == "--split-string" } else { word.contains('S') };
                if takes(&["--split-string"], &['S']) {
                    *self = Before::Value { is_line: true };
                    return None;
                }
                if takes(&["--unset", "--chdir", "--argv0"], &['u', 'C', 'a']) {
                    *self = Before::Value { is_line: false };
                }
                let kept = if is_long { format!("{option}{WITHHELD}") } else { "-S…".to_owned() };
                lines.then_some(kept).filter(|kept| kept != word)
            }
            Before::Program | Before::ProgramOfEnv => {
                *self = Before::Nothing;
                None
            }
            Before::Nothing => None,
        }
    }
}

/// The values that each run is given.
const GIVEN: [&str; 5] = ["{threads}", "{n}", "{cpus}", "{mapping}", "{rank}"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reported::Better;

    #[test]
    fn a_report_keeps_the_names_of_an_environment_and_not_its_values() {
        for (line, kept) in [
            ("API_KEY=hunter2 ./bench -t {threads}", "API_KEY=… ./bench -t '{threads}'"),
            ("A='x y' B=\"$z\" ./bench 'one two' D=4", "A=… B=… ./bench 'one two' D=4"),
            ("OMP_NUM_THREADS={threads} EMPTY= ./bench", "OMP_NUM_THREADS={threads} EMPTY= ./bench"),
            ("OMP_NUM_THREADS={n} K=v ./bench", "OMP_NUM_THREADS='{n}' K=… ./bench"),
            ("env -i -u HOME K=v /usr/bin/bench K=w", "env -i -u HOME K=… /usr/bin/bench K=w"),
            ("X={n} /usr/bin/env K=v bench", "X='{n}' /usr/bin/env K=… bench"),
            ("./bench --key=value", "./bench --key=value"),
            ("./env.sh K=v", "./env.sh K=v"),
            ("2K=v ./bench", "2K=v ./bench"),
            ("env -iu HOME K=v ./bench", "env -iu HOME K=… ./bench"),
            ("env --argv0 x my-key=v ./bench", "env --argv0 x my-key=… ./bench"),
            ("env -S 'K=v ./bench'", "env -S …"),
            ("env -vS'K=v ./bench'", "env -S…"),
            ("env --split-string='K=v ./bench'", "env --split-string=…"),
            ("nice -n 5 env K=v ./bench", "nice -n 5 env K=… ./bench"),
            ("env A={n} env K=v ./bench", "env A='{n}' env K=… ./bench"),
            ("P=proclist=[{cpus}],explicit ./bench", "P=…{cpus}… ./bench"),
            ("K='v", "K='v"),
        ] {
            let program = Program { setup: Some(line.to_owned()), ..program(line) };
            let recorded = program.recorded();
            assert_eq!((recorded.command.as_str(), recorded.setup.as_deref()), (kept, Some(kept)));
            assert_eq!(recorded.is_withheld(), line != kept, "{line}");
            assert_eq!(recorded.recorded(), recorded, "{line}");
        }
    }

    fn program(command: &str) -> Program {
        Program::new(command, ProgramValue::Json("a.0".into()), ReportedUnit::new("MB/s", Better::Higher).unwrap())
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
