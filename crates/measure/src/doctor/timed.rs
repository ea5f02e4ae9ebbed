//! What has to be watched for a while: steal, load, pressure, and the timer.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use charz_system::cgroup::MOUNTS;
use charz_system::pressure;
use charz_system::stat::{self, Ticks};

use super::Root;
use super::root::start;
use crate::harness::clock::{self, OsClock};
use crate::invoke::culprits::{Reading, about};
use charz_data::report::{Culprit, Timer};

#[derive(Clone, Debug)]
pub struct Timed {
    pub processors: Result<Processors, String>,
    /// What used the processors, the most first.
    pub users: Vec<Culprit>,
    /// The shares of the window in which some task waited for processors, memory and the disk.
    pub pressure: [Result<f64, String>; 3],
    pub timer: Timer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processors {
    pub strands: u64,
    pub total: u64,
    pub idle: u64,
    pub steal: u64,
}

pub(super) const PRESSURES: [&str; 3] = ["cpu", "memory", "io"];

impl Timed {
    /// Watches for as long as the window, and then reads the clock for a tenth of a second.
    pub fn watch(root: &Root, window: Duration) -> Self {
        let pressures = || PRESSURES.map(|kind| waited_ns(root, kind));
        let proc = root.place(Path::new("/proc"));
        let before = Reading::new(&proc);
        let begin = Instant::now();
        let (processors, waited) = (Processors::read(root), pressures());
        thread::sleep(window);
        let (processors_after, waited_after) = (Processors::read(root), pressures());
        let nanos = begin.elapsed().as_nanos() as f64;
        let pressure = [0, 1, 2].map(|kind| {
            let (before, after) = (waited[kind].clone()?, waited_after[kind].clone()?);
            Ok((after.saturating_sub(before) as f64 / nanos).min(1.0))
        });
        Timed {
            users: before.culprits(&Reading::new(&proc), &[], std::process::id(), about),
            processors: processors.and_then(|before| Ok(before.until(processors_after?))),
            pressure,
            timer: clock::watch(&OsClock::default(), Duration::from_millis(100)),
        }
    }
}

impl Processors {
    /// Since the system started, by `/proc/stat`.
    pub fn read(root: &Root) -> Result<Self, String> {
        if root.text(MOUNTS).is_ok_and(|mounts| stat::is_of_lxcfs(&mounts)) {
            return Err(format!("{}: {}", stat::FILE, stat::OF_LXCFS));
        }
        let stat = root.text(stat::FILE)?;
        let all = Ticks::of_all(&stat)?;
        let strands = Ticks::of_each(&stat).count() as u64;
        Ok(Processors { strands, total: all.total(), idle: all.idle.saturating_add(all.iowait), steal: all.steal })
    }

    pub(super) fn until(self, later: Self) -> Self {
        Processors {
            strands: later.strands,
            total: later.total.saturating_sub(self.total),
            idle: later.idle.saturating_sub(self.idle),
            steal: later.steal.saturating_sub(self.steal),
        }
    }

    /// The share that was stolen; `None` if no time passed.
    pub(super) fn stolen(self) -> Option<f64> {
        (self.total > 0).then(|| self.steal as f64 / self.total as f64)
    }

    /// How many strands' worth of work there was on this system; `None` if no time passed.
    pub(super) fn busy(self) -> Option<f64> {
        let busy = self.total.saturating_sub(self.idle).saturating_sub(self.steal) as f64;
        (self.total > 0).then(|| busy / self.total as f64 * self.strands as f64)
    }
}

/// The nanoseconds since the system started in which some task waited.
pub(super) fn waited_ns(root: &Root, kind: &str) -> Result<u64, String> {
    let path = format!("/proc/pressure/{kind}");
    let text = root.text(&path)?;
    pressure::waited_ns(&text).ok_or_else(|| format!("{path}: {:?} has no total of the waits of some", start(&text)))
}
