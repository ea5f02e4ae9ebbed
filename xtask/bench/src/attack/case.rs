//! A case: a folder of its own, and the runs of charz in it.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process, pidfd_open, prlimit};
use xtask::{Failure, Outcome, process};

use super::laws::{Files, Run, broken};

/// The longest that a run may take, from its signal on where it gets one.
const LIMIT: Duration = Duration::from_secs(10);

/// Address space of a run, in bytes.
const MEMORY: u64 = 4 << 30;

/// How long processes without a parent may take to notice.
const LAST: Duration = Duration::from_secs(5);

pub struct Case<'a> {
    charz: &'a Path,
    codes: &'a [i32],
    folder: PathBuf,
    /// What was run, as one types it in `work`.
    pub lines: Vec<String>,
    /// What the folder held before the last run.
    before: Files,
    /// Address space of a run, in bytes.
    pub memory: u64,
    /// The words of a program that runs charz; none for charz itself.
    pub under: Vec<String>,
    /// Whether the processes that a run started stand still when it gets its signal.
    pub freezes: bool,
}

impl<'a> Case<'a> {
    /// An empty folder; one that an earlier case left is removed.
    pub fn new(charz: &'a Path, codes: &'a [i32], folder: PathBuf) -> Outcome<Self> {
        let (lines, before, under) = (Vec::new(), Files::new(), Vec::new());
        let mut case = Case { charz, codes, folder, lines, before, memory: MEMORY, under, freezes: false };
        case.empty()?;
        Ok(case)
    }

    /// Begins again, as if nothing had been run.
    pub fn empty(&mut self) -> Outcome {
        let _ = fs::remove_dir_all(&self.folder);
        for name in ["work", "home"] {
            fs::create_dir_all(self.folder.join(name)).map_err(failed)?;
        }
        (self.memory, self.freezes) = (MEMORY, false);
        self.under.clear();
        self.lines.clear();
        Ok(())
    }

    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
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
        let home = self.folder.join("home");
        command.env_clear().current_dir(self.work()).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(["HOME", "TMPDIR", "CHARZ_LOCK_DIR"].map(|name| (name, &home)));
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
            if self.freezes {
                inside(&self.work()).into_iter().filter(|one| *one != pid).for_each(|one| {
                    let _ = kill_process(one, Signal::STOP);
                });
            }
            kill_process(pid, signal)?;
            sent = Some(signal);
        }
        Ok((sent, !ends_within(LIMIT)?))
    }

    /// The processes that are left in the folder after a time in which they should have ended. They are ended.
    fn left(&self) -> usize {
        let begun = Instant::now();
        loop {
            let left = inside(&self.work());
            if left.is_empty() || begun.elapsed() > LAST {
                for pid in &left {
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
        for (name, bytes) in self.before.iter().filter(|(name, _)| !name.ends_with('/')) {
            fs::write(work.join(name), bytes).map_err(failed)?;
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

fn files(folder: &Path) -> Outcome<Files> {
    let mut files = Files::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match path.is_dir() {
            true => files.insert(name + "/", Vec::new()),
            false => files.insert(name, fs::read(&path).map_err(failed)?),
        };
    }
    Ok(files)
}

fn failed(error: io::Error) -> Failure {
    Failure::io("prepare a case", &error)
}
