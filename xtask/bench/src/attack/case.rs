//! A case: a folder of its own, and the runs of charz in it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use charz_system::task::Stat;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process, pidfd_open, prlimit};
use xtask::{Failure, Outcome, process};

use super::laws::{Files, Run, broken};

/// The longest that a run may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Address space of a run, in bytes.
const MEMORY: u64 = 4 << 30;

/// How old a process has to be to be made to stand still; and how often the system counts in a second of its age.
const SETTLED: Duration = Duration::from_millis(300);
const TICKS: f64 = 100.0;

/// How long processes without a parent may take to notice.
const LAST: Duration = Duration::from_secs(5);

pub struct Case<'a> {
    charz: &'a Path,
    codes: &'a [i32],
    pub folder: PathBuf,
    /// Its place among those of its part, from 1 on.
    pub number: u64,
    /// What was run, as one types it in `work`.
    pub lines: Vec<String>,
    /// What the folder held before the last run.
    before: Files,
    /// Address space of a run, in bytes.
    pub memory: u64,
    /// The words of a program that runs charz; none for charz itself.
    pub under: Vec<String>,
    /// How many processes a run has when all but charz itself are made to stand still, just before its signal.
    pub freezes: Option<usize>,
    /// The longest that a run may take, from its signal on where it gets one.
    pub limit: Duration,
    /// Whether so little memory is given that the system may end a run for want of it.
    pub is_short: bool,
    /// Where the lock of those that measure is, if not in the home.
    pub lock: Option<PathBuf>,
}

impl<'a> Case<'a> {
    /// An empty folder; one that an earlier case left is removed.
    pub fn new(charz: &'a Path, codes: &'a [i32], folder: PathBuf) -> Outcome<Self> {
        let (lines, before, under) = (Vec::new(), Files::new(), Vec::new());
        let (number, memory, freezes, limit, is_short, lock) = (1, MEMORY, None, LIMIT, false, None);
        let mut case =
            Case { charz, codes, folder, number, lines, before, memory, under, freezes, limit, is_short, lock };
        case.empty()?;
        Ok(case)
    }

    /// Begins again, as if nothing had been run.
    pub fn empty(&mut self) -> Outcome {
        let _ = fs::remove_dir_all(&self.folder);
        for name in ["work", "home"] {
            fs::create_dir_all(self.folder.join(name)).map_err(failed)?;
        }
        (self.memory, self.freezes, self.limit, self.is_short, self.lock) = (MEMORY, None, LIMIT, false, None);
        self.under.clear();
        self.lines.clear();
        Ok(())
    }

    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub fn put(&self, name: &str, bytes: &[u8]) -> Outcome {
        fs::write(self.work().join(name), bytes).map_err(failed)
    }

    /// Runs charz to its end. It may write the outputs, and gets the signal if it still runs at that time. A run that breaks a
    /// law is a failure.
    pub fn run(&mut self, words: &[&str], outputs: &[&str], signal: Option<(Duration, Signal)>) -> Outcome<Run> {
        let mut command = match &self.under[..] {
            [] => Command::new(self.charz),
            [program, words @ ..] => {
                let mut command = Command::new(program);
                command.args(words).arg(self.charz);
                command
            }
        };
        command.args(words);
        self.lines.push(match signal {
            Some((moment, signal)) => format!("{}  # {signal:?} after {moment:?}", process::line(&command)),
            None => process::line(&command),
        });
        let home = self.home();
        command.env_clear().current_dir(self.work()).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(["HOME", "TMPDIR"].map(|name| (name, &home)));
        command.env("CHARZ_LOCK_DIR", self.lock.as_ref().unwrap_or(&home));
        let stream = |name: &str| File::create(self.folder.join(name)).map_err(failed);
        command.stdout(stream("stdout")?).stderr(stream("stderr")?);

        self.before = files(&self.work())?;
        let mut child = command.spawn().map_err(failed)?;
        let watched = self.watch(&child, signal);
        // What has ended already gets no signal.
        let _ = child.kill();
        let status = child.wait().map_err(failed)?;
        let (sent, is_slow) = watched.map_err(failed)?;
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let run = Run {
            words: owned(words),
            outputs: owned(outputs),
            code: status.code(),
            signal: status.signal(),
            sent: sent.map(Signal::as_raw),
            is_slow,
            is_short: self.is_short,
            left: self.left(),
            out: fs::read(self.folder.join("stdout")).map_err(failed)?,
            err: fs::read(self.folder.join("stderr")).map_err(failed)?,
            before: self.before.clone(),
            after: files(&self.work())?,
        };
        match broken(&run, self.codes) {
            None => Ok(run),
            Some(law) => Err(Failure::found(format!("{law}; it ended with {status}"))),
        }
    }

    /// Sends the signal at its time, and says whether it was sent and whether the end was too late.
    fn watch(&self, child: &Child, signal: Option<(Duration, Signal)>) -> io::Result<(Option<Signal>, bool)> {
        let pid = Pid::from_child(child);
        let memory = Rlimit { current: Some(self.memory), maximum: Some(self.memory) };
        // It may have ended by now.
        let _ = prlimit(Some(pid), Resource::As, memory);
        let end = pidfd_open(pid, PidfdFlags::empty())?;
        let ends_within = |time: Duration| -> io::Result<bool> {
            let time = time.try_into().map_err(io::Error::other)?;
            Ok(poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&time))? > 0)
        };
        let mut sent = None;
        if let Some((moment, signal)) = signal
            && !ends_within(moment)?
        {
            if let Some(least) = self.freezes {
                let begun = Instant::now();
                let settled = || inside(&self.work()).into_iter().filter(|one| is_settled(*one)).collect::<Vec<_>>();
                let mut all = settled();
                while all.len() < least && begun.elapsed() < LAST {
                    thread::sleep(Duration::from_millis(2));
                    all = settled();
                }
                all.into_iter().filter(|one| *one != pid).for_each(|one| {
                    let _ = kill_process(one, Signal::STOP);
                });
            }
            kill_process(pid, signal)?;
            sent = Some(signal);
        }
        Ok((sent, !ends_within(self.limit)?))
    }

    /// The processes that are left in the folder after a time in which they should have ended. They are ended, and noted.
    fn left(&mut self) -> usize {
        let begun = Instant::now();
        loop {
            let left = inside(&self.work());
            if left.is_empty() || begun.elapsed() > LAST {
                for pid in &left {
                    let file =
                        |name: &str| fs::read(format!("/proc/{}/{name}", pid.as_raw_nonzero())).unwrap_or_default();
                    let said = ["cmdline", "wchan", "status"]
                        .map(|name| String::from_utf8_lossy(&file(name)).replace('\0', " "));
                    let state = said[2].lines().find(|line| line.starts_with("State:")).unwrap_or_default();
                    self.lines.push(format!("# left: {}: {}; {state}; {}", pid.as_raw_nonzero(), said[0], said[1]));
                    let _ = kill_process(*pid, Signal::KILL);
                }
                return left.len();
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Keeps what the last run read and printed, with how to repeat it.
    pub fn keep(&self, folder: &Path, why: &str) -> Outcome {
        let work = folder.join("work");
        fs::create_dir_all(&work).map_err(failed)?;
        for (name, bytes) in &self.before {
            match name.strip_suffix(['/', '@', '|']) {
                None => fs::write(work.join(name), bytes).map_err(failed)?,
                Some(name_only) if name.ends_with('/') => fs::create_dir_all(work.join(name_only)).map_err(failed)?,
                // One of an earlier attack with this seed may be there.
                Some(link) if name.ends_with('@') => drop(symlink(OsStr::from_bytes(bytes), work.join(link))),
                Some(_) => {}
            }
        }
        for name in ["stdout", "stderr"] {
            fs::copy(self.folder.join(name), folder.join(name)).map_err(failed)?;
        }
        let text = format!("{why}\n\nIn {}, of which the last failed:\n{}\n", work.display(), self.lines.join("\n"));
        fs::write(folder.join("case.txt"), text).map_err(failed)
    }
}

/// The processes whose working folder this is.
fn inside(folder: &Path) -> Vec<Pid> {
    let pids = fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| {
        let entry = entry.ok()?;
        (fs::read_link(entry.path().join("cwd")).ok()? == folder).then_some(())?;
        Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)
    });
    pids.collect()
}

/// Whether a process is no longer on its way to what it is for: one that stands still before it has asked for its end with its parent's
/// stands for good.
fn is_settled(pid: Pid) -> bool {
    let read = |path: String| fs::read_to_string(path).unwrap_or_default();
    let begun = Stat::new(&read(format!("/proc/{}/stat", pid.as_raw_nonzero()))).begun();
    let now: Option<f64> = read("/proc/uptime".into()).split(' ').next().and_then(|seconds| seconds.parse().ok());
    begun.zip(now).is_some_and(|(begun, now)| now - begun as f64 / TICKS > SETTLED.as_secs_f64())
}

fn files(folder: &Path) -> Outcome<Files> {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).map_err(failed)? {
            let (entry, path) = entry.map(|entry| (entry.file_type(), entry.path())).map_err(failed)?;
            let (kind, name) = (entry.map_err(failed)?, path.strip_prefix(folder).unwrap_or(&path).to_string_lossy());
            match kind {
                _ if kind.is_file() => files.insert(name.into_owned(), fs::read(&path).map_err(failed)?),
                _ if kind.is_symlink() => {
                    let target = fs::read_link(&path).map_err(failed)?;
                    files.insert(format!("{name}@"), target.into_os_string().into_vec())
                }
                _ if kind.is_dir() => {
                    let found = files.insert(format!("{name}/"), Vec::new());
                    folders.push(path);
                    found
                }
                _ => files.insert(format!("{name}|"), Vec::new()),
            };
        }
    }
    Ok(files)
}

pub fn failed(error: io::Error) -> Failure {
    Failure::io("prepare a case", &error)
}
