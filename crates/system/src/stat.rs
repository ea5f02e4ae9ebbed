//! `/proc/stat`: how the processors spent their time.

use std::fs;
use std::path::Path;

use crate::{Error, file};

/// The file.
pub const FILE: &str = "/proc/stat";

/// What is wrong with the file in a container under lxcfs, as the end of a sentence about it.
pub const OF_LXCFS: &str = "lxcfs numbers the CPUs anew, and counts this container's own work only";

/// The text of the file in a `/proc`.
///
/// # Errors
/// If it cannot be read, and [`OF_LXCFS`] if it is not the kernel's: its CPUs are not those of the kernel's other files.
pub fn read(proc: &Path) -> Result<String, Error> {
    let mounts = file::text(proc.join("self/mountinfo"));
    if mounts.is_some_and(|mounts| is_of_lxcfs(&mounts)) {
        return Err(Error::new(FILE, OF_LXCFS));
    }
    fs::read_to_string(proc.join("stat")).map_err(|error| Error::new(FILE, error.to_string()))
}

/// Whether lxcfs serves the file, given the text of [`MOUNTS`](crate::cgroup::MOUNTS).
pub fn is_of_lxcfs(mounts: &str) -> bool {
    let is_it = |line: &str| {
        let (mount, system) = line.split_once(" - ")?;
        Some(["/proc", FILE].contains(&mount.split(' ').nth(4)?) && system.starts_with("fuse.lxcfs "))
    };
    mounts.lines().any(|line| is_it(line) == Some(true))
}

/// The nanoseconds of a tick: `USER_HZ` is 100 on every Linux that Rust supports.
pub const TICK_NS: u64 = 10_000_000;

/// What a CPU, or all together, did since the system started, in ticks of 10 ms. The time of guests is in `user` and `nice`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the kernel's")]
pub struct Ticks {
    pub user: u64,
    pub nice: u64,
    pub system: u64,
    pub idle: u64,
    pub iowait: u64,
    pub irq: u64,
    pub softirq: u64,
    /// The hypervisor ran something else while the CPU wanted to run.
    pub steal: u64,
}

impl Ticks {
    /// All CPUs together.
    ///
    /// # Errors
    /// If the file has no such line, or no tick was counted, as by gVisor.
    pub fn of_all(stat: &str) -> Result<Self, Error> {
        let ticks = Ticks::parse(line(stat, "cpu").ok_or_else(|| Error::new(FILE, "has no line cpu"))?)?;
        if ticks.total() == 0 { Err(Error::new(FILE, "counts no time")) } else { Ok(ticks) }
    }

    /// Each CPU that is online, by its id.
    pub fn of_each(stat: &str) -> impl Iterator<Item = (u32, Self)> {
        stat.lines().filter_map(|line| {
            let (id, numbers) = line.strip_prefix("cpu")?.split_once(' ')?;
            Some((id.parse().ok()?, Ticks::parse(numbers).ok()?))
        })
    }

    fn parse(numbers: &str) -> Result<Self, Error> {
        let ticks: Result<Vec<u64>, _> = numbers.split_whitespace().take(8).map(str::parse).collect();
        let start = || numbers.chars().take(40).collect::<String>();
        let ticks = ticks.map_err(|_| Error::new(FILE, format!("{:?} are not numbers", start())))?;
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks[..] else {
            return Err(Error::new(FILE, "does not count steal"));
        };
        Ok(Ticks { user, nice, system, idle, iowait, irq, softirq, steal })
    }

    /// All ticks that passed.
    pub fn total(self) -> u64 {
        [self.busy(), self.idle, self.iowait, self.steal].into_iter().fold(0, u64::saturating_add)
    }

    /// The ticks in which it ran a task or served an interrupt.
    pub fn busy(self) -> u64 {
        [self.tasks(), self.irq, self.softirq].into_iter().fold(0, u64::saturating_add)
    }

    /// The ticks in which it ran a task. Whether interrupts are in them too depends on how the kernel was built.
    pub fn tasks(self) -> u64 {
        [self.user, self.nice, self.system].into_iter().fold(0, u64::saturating_add)
    }
}

/// How many tasks were running or ready to run, this one among them.
pub fn running(stat: &str) -> Result<u64, Error> {
    let number = line(stat, "procs_running").and_then(|number| number.trim().parse().ok());
    number.ok_or_else(|| Error::new(FILE, "does not count running tasks (procs_running)"))
}

fn line<'a>(stat: &'a str, name: &str) -> Option<&'a str> {
    stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}
