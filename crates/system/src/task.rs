//! `stat`, `sched` and `schedstat` of a thread or process, below `/proc/PID` or `/proc/thread-self`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use charz_data::at_once;
use rustix::fs::{CWD, Mode, OFlags, openat};

/// The file `stat`, as in proc_pid_stat(5): `13064 (a name) R 1 …`. The name may hold blanks and parentheses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat<'a> {
    /// The name without its parentheses.
    pub name: &'a str,
    /// From the third field on.
    fields: Vec<&'a str>,
}

impl<'a> Stat<'a> {
    /// All is missing where the text is not that of such a file.
    pub fn new(text: &'a str) -> Self {
        let Some((head, fields)) = text.rsplit_once(')') else { return Stat::default() };
        Stat { name: head.split_once('(').map_or("", |(_, name)| name), fields: fields.split_whitespace().collect() }
    }

    /// Fields are counted from 1, as in the manual page.
    fn field(&self, number: usize) -> Option<u64> {
        self.fields.get(number - 3)?.parse().ok()
    }

    /// Whether it is a thread of the kernel, which no user can stop.
    pub fn is_of_kernel(&self) -> Option<bool> {
        const PF_KTHREAD: u64 = 0x0020_0000;
        Some(self.field(9)? & PF_KTHREAD != 0)
    }

    /// Whether it ended, and is there only until its parent asks for its code.
    pub fn has_ended(&self) -> bool {
        self.fields.first().is_some_and(|state| ["Z", "X"].contains(state))
    }

    /// Whether it runs, or waits for a CPU only.
    pub fn is_runnable(&self) -> bool {
        self.fields.first() == Some(&"R")
    }

    /// Page faults that took no reading from a disk.
    pub fn minor_faults(&self) -> Option<u64> {
        self.field(10)
    }

    /// Page faults that waited for a disk.
    pub fn major_faults(&self) -> Option<u64> {
        self.field(12)
    }

    /// The processor time, its own and the kernel's for it, in ticks of 10 ms.
    pub fn ticks(&self) -> Option<u64> {
        Some(self.field(14)?.saturating_add(self.field(15)?))
    }

    /// How nice it is, from -20 to 19, and its policy by the number that `sched_setscheduler` takes.
    pub fn priority(&self) -> Option<(i8, u32)> {
        Some((self.fields.get(19 - 3)?.parse().ok()?, u32::try_from(self.field(41)?).ok()?))
    }

    /// When it began, in ticks of 10 ms since the system started.
    pub fn begun(&self) -> Option<u64> {
        self.field(22)
    }

    /// The CPU that it ran on last.
    pub fn cpu(&self) -> Option<u32> {
        u32::try_from(self.field(39)?).ok()
    }
}

/// What a process used up to now, by its `stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Its name.
    pub name: String,
    /// The process that started it, or that took it over.
    pub parent: u32,
    /// When it began: another process may get its id later.
    pub begun: u64,
    /// Its processor time in ticks of 10 ms.
    pub ticks: u64,
    /// That of children that have ended and were waited for, and of theirs.
    pub of_children: u64,
    /// The CPU that it ran on last.
    pub cpu: Option<u32>,
    /// How many threads it has.
    pub threads: u64,
    /// Whether it is a thread of the kernel, which no user can stop.
    pub is_of_kernel: bool,
}

impl Used {
    /// `None` where the text is not that of such a file.
    pub fn of(stat: &str) -> Option<Self> {
        let stat = Stat::new(stat);
        Some(Used {
            name: stat.name.to_owned(),
            parent: u32::try_from(stat.field(4)?).ok()?,
            begun: stat.begun()?,
            ticks: stat.ticks()?,
            of_children: stat.field(16)?.saturating_add(stat.field(17)?),
            cpu: stat.cpu(),
            threads: stat.field(20)?,
            is_of_kernel: stat.is_of_kernel()?,
        })
    }
}

/// The longest `stat`: a name of 64 bytes, and fifty numbers.
const MOST_BYTES: usize = 2048;
/// So many processes are read by one thread: starting another takes longer than fewer.
const OF_A_THREAD: usize = 1000;
/// The most threads that read.
const MOST_THREADS: usize = 4;

/// What each process below a `/proc` used up to now, by its id. Of thousands the reading takes milliseconds, so several threads share it.
pub fn used_by_all(proc: &Path) -> BTreeMap<u32, Used> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let ids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let Ok(folder) = openat(CWD, proc, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
        return BTreeMap::new();
    };
    // Three calls each, and no allocation: opening by the folder, reading once, closing.
    let one = |id: &u32| {
        let file = openat(&folder, format!("{id}/stat"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut text = [0; MOST_BYTES];
        let length = rustix::io::read(&file, &mut text[..]).ok()?;
        // A name may be any bytes.
        Some((*id, Used::of(&String::from_utf8_lossy(&text[..length]))?))
    };
    let parts = ids.chunks(ids.len().div_ceil(MOST_THREADS).max(OF_A_THREAD));
    at_once(parts, |part| part.iter().filter_map(one).collect::<Vec<_>>()).into_iter().flatten().collect()
}

/// The number of moves from one CPU to another, from `sched`: `se.nr_migrations    :    12`. Kernels without scheduler statistics do not
/// count them.
pub fn migrations(sched: &str) -> Option<u64> {
    let line = sched.lines().find_map(|line| line.strip_prefix("se.nr_migrations"))?;
    line.trim_start().strip_prefix(':')?.trim().parse().ok()
}

/// The nanoseconds that the thread ran, and those that it waited for a CPU though it could have run, from `schedstat` (kernel
/// documentation, `scheduler/sched-stats`).
pub fn times_ns(schedstat: &str) -> [Option<u64>; 2] {
    let mut numbers = schedstat.split_whitespace().map(|number| number.parse().ok());
    [numbers.next().flatten(), numbers.next().flatten()]
}

/// How long a process has waited for CPUs up to now: its first thread, which starts it, and of the others the one that waited longest; zero
/// where the system does not say.
pub fn waited(pid: u32) -> Duration {
    let of = |folder: &Path| fs::read_to_string(folder.join("schedstat")).ok().and_then(|text| times_ns(&text)[1]);
    let all = PathBuf::from(format!("/proc/{pid}/task"));
    let first = all.join(pid.to_string());
    let others = fs::read_dir(&all).into_iter().flatten().flatten().map(|thread| thread.path());
    let longest = others.filter(|thread| *thread != first).filter_map(|thread| of(&thread)).max();
    Duration::from_nanos(of(&first).unwrap_or(0) + longest.unwrap_or(0))
}
