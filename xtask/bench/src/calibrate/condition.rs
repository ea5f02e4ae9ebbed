//! What runs beside a measurement, and how it is ended.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use xtask::{Failure, Outcome, process};

/// The CPU that a hog is bound to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Any,
    /// That of the first worker.
    Worker,
    /// That of the second worker, which is free where there is one worker.
    Other,
}

#[derive(Clone, Copy, Debug)]
enum Beside {
    Nothing,
    /// The words that choose the hog.
    Hog(&'static str, Place),
    /// The share of one CPU that charz may use, in percent.
    Quota(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pub name: &'static str,
    beside: Beside,
}

const fn hog(name: &'static str, words: &'static str, place: Place) -> Condition {
    Condition { name, beside: Beside::Hog(words, place) }
}

pub const MEMORY: Condition = hog("memory", "memory", Place::Other);
pub const DUTY: Condition = hog("spin-10/90", "spin 10 90", Place::Worker);

pub const CONDITIONS: [Condition; 14] = [
    Condition { name: "undisturbed", beside: Beside::Nothing },
    hog("spin", "spin 100 0", Place::Any),
    hog("spin-worker", "spin 100 0", Place::Worker),
    hog("spin-1/9", "spin 1 9", Place::Worker),
    DUTY,
    hog("spin-200/800", "spin 200 800", Place::Worker),
    hog("fork", "fork", Place::Any),
    hog("compile", "compile", Place::Any),
    hog("timers", "timers", Place::Any),
    MEMORY,
    hog("nice-19", "spin 100 0 --nice 19", Place::Worker),
    hog("fifo-50/50", "spin 50 50 --fifo", Place::Worker),
    Condition { name: "quota-150%", beside: Beside::Quota(150) },
    Condition { name: "quota-50%", beside: Beside::Quota(50) },
];

/// A condition that holds as long as this lives.
#[derive(Default)]
pub struct Held {
    hog: Option<Running>,
    quota: Option<Quota>,
}

/// A hog has begun its loop after this.
const START: Duration = Duration::from_millis(500);

impl Condition {
    /// Begins. Workers have these CPUs. A hog ends by itself after the time.
    pub fn hold(&self, seats: &[u64], time: Duration) -> Outcome<Held> {
        match self.beside {
            Beside::Nothing => Ok(Held::default()),
            Beside::Quota(percent) => Ok(Held { quota: Some(Quota::new(percent)?), ..Held::default() }),
            Beside::Hog(words, place) => {
                let program = std::env::current_exe().map_err(|error| Failure::io("find this program", &error))?;
                // One that no other class of the scheduler holds up.
                let (words, mut command) = match words.strip_suffix(" --fifo") {
                    None => (words, Command::new(program)),
                    Some(words) => {
                        let mut first = Command::new("chrt");
                        first.args(["-f", "1"]).arg(program);
                        (words, first)
                    }
                };
                command.args(["hog", &time.as_secs().to_string()]).args(words.split(' '));
                match (place, seats) {
                    (Place::Any, _) => {}
                    (Place::Worker, [cpu, ..]) | (Place::Other, [_, cpu]) => {
                        command.args(["--cpu", &cpu.to_string()]);
                    }
                    _ => return Err(Failure::environment("a second CPU is required")),
                }
                let mut running = Running::start(command.process_group(0), true)?;
                thread::sleep(START);
                match running.ended()? {
                    None => Ok(Held { hog: Some(running), ..Held::default() }),
                    Some(status) => Err(Failure::environment(format!("the hog ended with {status}"))),
                }
            }
        }
    }
}

impl Held {
    /// The command that starts a program under this condition.
    pub fn command(&self, program: &Path) -> Command {
        match &self.quota {
            Some(quota) => quota.command(program),
            None => Command::new(program),
        }
    }

    /// Whether the hog, if there is one, still runs.
    pub fn check(&mut self) -> Outcome {
        match self.hog.as_mut().map(Running::ended).transpose()?.flatten() {
            Some(status) => Err(Failure::environment(format!("the hog ended early with {status}"))),
            None => Ok(()),
        }
    }
}

/// A program that is killed when this goes out of scope, with its process group if it leads one.
pub struct Running {
    child: Child,
    line: String,
    leads: bool,
}

impl Running {
    pub fn start(command: &mut Command, leads: bool) -> Outcome<Self> {
        let line = process::line(command);
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.map_err(|error| Failure::io(format!("start `{line}`"), &error))?;
        Ok(Running { child, line, leads })
    }

    fn ended(&mut self) -> Outcome<Option<ExitStatus>> {
        self.child.try_wait().map_err(|error| Failure::io(format!("wait for `{}`", self.line), &error))
    }

    /// Waits for the end; it is a failure that it takes longer than this.
    pub fn wait(mut self, limit: Duration) -> Outcome<ExitStatus> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if begun.elapsed() > limit {
                return Err(Failure::environment(format!("`{}` took longer than {limit:?}", self.line)));
            }
            // Rarely, since it measures meanwhile.
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.leads {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A control group with a limit of processor time.
struct Quota {
    folder: PathBuf,
}

/// The period of a quota, in microseconds: the default of the kernel.
const PERIOD: u32 = 100_000;

impl Quota {
    fn new(percent: u32) -> Outcome<Self> {
        let first = Path::new("/sys/fs/cgroup/cpu");
        let quota = percent * (PERIOD / 100);
        let (root, file, text) = if first.is_dir() {
            (first, "cpu.cfs_quota_us", quota.to_string())
        } else {
            (Path::new("/sys/fs/cgroup"), "cpu.max", format!("{quota} {PERIOD}"))
        };
        let group = Quota { folder: root.join("charz-calibrate") };
        // One that an interrupted calibration left is used again.
        fs::create_dir_all(&group.folder).map_err(|error| Failure::io(format!("create {:?}", group.folder), &error))?;
        let file = group.folder.join(file);
        fs::write(&file, text).map_err(|error| Failure::io(format!("write {file:?}"), &error))?;
        Ok(group)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", r#"echo $$ > "$0/cgroup.procs" && exec "$@""#]).arg(&self.folder).arg(program);
        command
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_killed_with_its_group() {
        let mut command = Command::new("sh");
        command.args(["-c", "(sleep 20; echo late) & wait"]).stdout(Stdio::piped()).process_group(0);
        let mut running = Running::start(&mut command, true).unwrap();
        let mut stdout = running.child.stdout.take().unwrap();
        assert!(running.wait(Duration::ZERO).is_err());
        // The end comes when the last of the group has closed its side.
        let mut printed = String::new();
        stdout.read_to_string(&mut printed).unwrap();
        assert_eq!(printed, "");
    }

    #[test]
    fn a_program_that_ends_gives_its_status() {
        let mut command = Command::new("sh");
        let running = Running::start(command.args(["-c", "exit 7"]), false).unwrap();
        assert_eq!(running.wait(Duration::from_secs(60)).unwrap().code(), Some(7));
    }

    #[test]
    fn names_are_unique() {
        for (at, condition) in CONDITIONS.iter().enumerate() {
            assert!(CONDITIONS[..at].iter().all(|other| other.name != condition.name), "{} twice", condition.name);
        }
    }
}
