//! `conditions`: the tests where a machine is not quiet, not root's and not whole. What fails here only is a fault of the test or of
//! the program, not of the machine.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use xtask::{Failure, Outcome, arguments, process, setup, workspace};

use crate::test;
use crate::user::User;

/// A condition: its name, what it is, and how it is made.
struct Condition(&'static str, &'static str, fn() -> Outcome<Made>);

const CONDITIONS: [Condition; 6] = [
    Condition("user", "as an ordinary user", user),
    Condition("descriptors", "with descriptors inherited from whatever started it", descriptors),
    Condition("load", "beside 12 busy processes and one that fills memory again and again", load),
    Condition("cpu", "bound to one CPU", one_cpu),
    Condition("cpuset", "in a control group of one CPU", cpuset),
    Condition("sweep", "beside another charz that measures", sweep),
];

/// A condition that holds while this lives.
#[derive(Default)]
#[expect(dead_code, reason = "most of it has to be there only")]
struct Made {
    /// The words before each test program.
    runner: String,
    script: Option<Script>,
    beside: Vec<Beside>,
    user: Option<User>,
    group: Option<Group>,
}

/// A process that disturbs, with all that it starts.
struct Beside(Child);

/// A file that is there for as long as the condition.
struct Script(PathBuf);

/// A control group without processes in the end.
struct Group(PathBuf);

/// Runs the tests so many times under each of the named conditions, or of all.
pub fn start(words: &[String]) -> Outcome {
    let (words, of_cargo) = test::divide(words);
    let (names, rounds) = arguments::names_and_number("conditions", "--rounds", 1..=100, words)?;
    let known = CONDITIONS.map(|Condition(name, ..)| name);
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::usage(format!("there is no condition {unknown:?}; there are {}", known.join(", "))));
    }
    setup::quietly()?;
    test::build()?;
    let mut table = Vec::new();
    let chosen = |Condition(name, ..): &&Condition| names.is_empty() || names.iter().any(|chosen| chosen == name);
    for condition in CONDITIONS.iter().filter(chosen) {
        table.push(rows(condition, rounds.unwrap_or(1), of_cargo)?);
    }
    println!("\n{}", table.iter().map(|(rows, _)| rows.as_str()).collect::<String>());
    if table.iter().all(|(_, passed)| *passed) { Ok(()) } else { Err(Failure::found("tests failed; see the table")) }
}

/// The rows of one condition, and whether all of its rounds passed.
fn rows(Condition(name, about, make): &Condition, rounds: usize, of_cargo: &[String]) -> Outcome<(String, bool)> {
    println!("== {name}: {about}");
    let made = match make() {
        Ok(made) => made,
        Err(failure) if failure.code == 3 => return Ok((format!("{name:<12} not made here: {failure}\n"), true)),
        Err(failure) => return Err(failure),
    };
    let began = Instant::now();
    let (mut passed, mut failures) = (0, String::new());
    for round in 1..=rounds {
        let ran = test::tests(of_cargo, &[], &made.runner)?;
        passed += usize::from(ran.failed.is_empty());
        failures.extend(ran.failed.iter().map(|test| format!("{:<12} round {round}: {test}\n", "")));
    }
    let each = began.elapsed().as_secs() / rounds as u64;
    Ok((format!("{name:<12} {passed} of {rounds} passed, {each} s each: {about}\n{failures}"), passed == rounds))
}

fn user() -> Outcome<Made> {
    let user = User::new()?;
    let runner = user.as_ref().map(User::runner).unwrap_or_default();
    Ok(Made { runner, user, ..Made::default() })
}

fn descriptors() -> Outcome<Made> {
    script("descriptors", "exec 3</dev/null 4</dev/null 7</ 9>/dev/null")
}

fn load() -> Outcome<Made> {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next());
    let kib: u64 = available.and_then(|kib| kib.parse().ok()).unwrap_or(0);
    // What has no end of line is held whole.
    let fill = format!("while :; do head -c {}K /dev/zero | tail -n 1 >/dev/null; done", (kib / 3).min(8 << 20));
    let busy = (0..12).map(|_| "while :; do :; done");
    let beside = busy.chain([fill.as_str()]).map(Beside::start).collect::<Outcome<_>>()?;
    Ok(Made { beside, ..Made::default() })
}

fn one_cpu() -> Outcome<Made> {
    Ok(Made { runner: format!("taskset -c {}", first_cpu()?), ..Made::default() })
}

/// Of version 1: where a group of version 2 may be made depends on who manages them.
fn cpuset() -> Outcome<Made> {
    let group = Path::new("/sys/fs/cgroup/cpuset").join(format!("charz-conditions-{}", std::process::id()));
    fs::create_dir(&group).map_err(|error| Failure::io(format!("create {group:?}"), &error))?;
    let join = format!("echo $$ > {}", group.join("cgroup.procs").display());
    let made = Made { group: Some(Group(group.clone())), ..script("cpuset", &join)? };
    for (file, value) in [("cpuset.cpus", first_cpu()?.as_str()), ("cpuset.mems", "0")] {
        fs::write(group.join(file), value)
            .map_err(|error| Failure::io(format!("write {file} of {group:?}"), &error))?;
    }
    Ok(made)
}

/// With the lock that users have.
fn sweep() -> Outcome<Made> {
    let charz = workspace::built("debug").join("charz");
    let file = workspace::built("tmp").join("conditions.json");
    let sweeps = format!("while :; do {charz:?} sweep --force --output {file:?}; done");
    Ok(Made { beside: vec![Beside::start(&sweeps)?], ..Made::default() })
}

/// A condition that a script makes before it becomes the test program: cargo splits the words of a runner at spaces, which
/// the path of the checkout may have.
fn script(name: &str, setup: &str) -> Outcome<Made> {
    let file = std::env::temp_dir().join(format!("charz-{name}-{}.sh", std::process::id()));
    let written = File::create_new(&file).and_then(|mut script| writeln!(script, "{setup}\nexec \"$@\""));
    written.map_err(|error| Failure::io(format!("write {file:?}"), &error))?;
    Ok(Made { runner: format!("sh {}", file.display()), script: Some(Script(file)), ..Made::default() })
}

/// The first CPU that this process may use.
fn first_cpu() -> Outcome<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = list.and_then(|list| list.trim().split(['-', ',']).next().map(str::to_owned));
    first.ok_or_else(|| Failure::environment("/proc/self/status names no CPU"))
}

impl Beside {
    fn start(script: &str) -> Outcome<Self> {
        // Where this task is killed, nothing is left that disturbs.
        let task = std::process::id();
        let script = format!("(while kill -0 {task} 2>/dev/null; do sleep 1; done; kill -KILL 0) & {script}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.spawn().map(Beside).map_err(|error| Failure::io("start sh", &error))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = process::kill("KILL", &format!("-{}", self.0.id()));
        let _ = self.0.wait();
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_a_runner_and_leaves_no_file() {
        let made = script("test", "exec 7</").unwrap();
        let words: Vec<&str> = made.runner.split(' ').collect();
        assert!(process::succeeds(Command::new(words[0]).args(&words[1..]).args(["test", "-d", "/proc/self/fd/7/"])));
        let file = PathBuf::from(words[1]);
        assert!(file.is_file());
        drop(made);
        assert!(!file.exists());
    }
}
