//! What has to be watched for a while: steal, load, pressure, and the timer.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use charz_system::pressure;
use charz_system::stat::{self, Ticks};
use charz_system::task::Used;

use super::Root;
use super::root::start;
use crate::harness::clock::{self, OsClock};
use charz_data::report::Timer;

#[derive(Clone, Debug)]
pub struct Timed {
    pub processors: Result<Processors, String>,
    /// The other process that took most of the processors' time, if one took a part worth naming.
    pub busiest: Option<Process>,
    /// The shares of the window in which some task waited for processors, memory and the disk.
    pub pressure: [Result<f64, String>; 3],
    pub timer: Timer,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub id: u32,
    pub name: String,
    /// How many strands' worth of time it took.
    pub cpus: f64,
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
        let before = processes(root);
        let begin = Instant::now();
        let (processors, waited) = (Processors::read(root), pressures());
        thread::sleep(window);
        let (processors_after, waited_after) = (Processors::read(root), pressures());
        let nanos = begin.elapsed().as_nanos() as f64;
        let pressure = [0, 1, 2].map(|kind| {
            let (before, after) = (waited[kind].clone()?, waited_after[kind].clone()?);
            Ok((after.saturating_sub(before) as f64 / nanos).min(1.0))
        });
        let processors = processors.and_then(|before| Ok(before.until(processors_after?)));
        let window = processors.as_ref().ok().copied();
        Timed {
            busiest: window.and_then(|window| busiest(&before, processes(root), window)),
            processors,
            pressure,
            timer: clock::watch(&OsClock::default(), Duration::from_millis(100)),
        }
    }
}

/// A process that takes less of a strand is not worth naming.
const WORTH_NAMING: f64 = 0.05;

/// Each process but this one, as far as they can be read. Kernel threads, which cannot be stopped, are not among them.
pub(super) fn processes(root: &Root) -> BTreeMap<u32, Used> {
    let ids = root.names("/proc").unwrap_or_default().into_iter().filter_map(|name| name.parse::<u32>().ok());
    ids.filter(|id| *id != std::process::id())
        .filter_map(|id| Some((id, Used::of(&root.text(format!("/proc/{id}/stat")).ok()?)?)))
        .filter(|(_, used)| !used.is_of_kernel)
        .collect()
}

pub(super) fn busiest(before: &BTreeMap<u32, Used>, after: BTreeMap<u32, Used>, window: Processors) -> Option<Process> {
    let took = |(id, used): (u32, Used)| {
        // One that began meanwhile began with nothing.
        let earlier = before.get(&id).filter(|earlier| earlier.begun == used.begun).map_or(0, |earlier| earlier.ticks);
        let cpus = used.ticks.saturating_sub(earlier) as f64 * window.strands as f64 / window.total.max(1) as f64;
        Process { id, name: used.name, cpus }
    };
    let most = after.into_iter().map(took).max_by(|a, b| a.cpus.total_cmp(&b.cpus))?;
    (most.cpus >= WORTH_NAMING).then_some(most)
}

impl Processors {
    /// Since the system started, by `/proc/stat`.
    pub fn read(root: &Root) -> Result<Self, String> {
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
