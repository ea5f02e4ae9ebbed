//! What the operating system counted for the calling thread and for the machine.
//!
//! Everything here may be missing (no `/proc`, another kernel): then it is `None`, never zero.
#![allow(unsafe_code)] // getrusage has no safe wrapper among our dependencies; see `resource_usage`.

pub(crate) mod hardware;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use charz_data::report::{Busy, Counts};
use charz_kernels::sys::clocks;
use charz_system::energy::{self, Meter};
use charz_system::stat::{self, TICK_NS, Ticks};
use charz_system::{cgroup, pressure, task};

use hardware::{EVENTS, OpenCounters, PerfEvents};

/// Whether the processor's counters can be had here.
///
/// # Errors
/// Why not, as the end of a sentence.
pub fn of_processor() -> Result<(), String> {
    PerfEvents(EVENTS).open().map(drop)
}

/// The calling thread's counts before a run, but for its [`cpu_ns`]; about 30 µs.
pub(super) fn before() -> Counts {
    with_usage(of_files(Counts::default()))
}

/// The processor time of the calling thread; some 0.2 µs. It grows while others are read, so it is read last before a run, and first after
/// it.
pub(super) fn cpu_ns() -> Option<u64> {
    time(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The same after a run, with the processor time.
pub(super) fn after() -> Counts {
    of_files(with_usage(Counts { cpu_ns: cpu_ns(), ..Counts::default() }))
}

fn of_files(counts: Counts) -> Counts {
    let file = |name: &str| fs::read_to_string(format!("/proc/thread-self/{name}")).ok();
    Counts {
        migrations: file("sched").and_then(|text| task::migrations(&text)),
        run_delay_ns: file("schedstat").and_then(|text| task::times_ns(&text)[1]),
        ..counts
    }
}

fn with_usage(counts: Counts) -> Counts {
    let Some(usage) = resource_usage(libc::RUSAGE_THREAD) else { return counts };
    let count = |number: libc::c_long| u64::try_from(number).ok();
    Counts {
        involuntary_switches: count(usage.ru_nivcsw),
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        ..counts
    }
}

/// What was counted for the whole machine, or for this process's control group, since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineCounts {
    /// Nanoseconds that the hypervisor ran something else while one of the strands in question wanted to run, summed over
    /// them. `/proc/stat` counts it in ticks of 10 ms.
    pub steal_ns: Option<u64>,
    pub throttled_periods: Option<u64>,
    /// Nanoseconds in which at least one task on the machine waited for a processor (pressure stall information, `some`).
    pub pressure_ns: Option<u64>,
    /// Microjoules of each package.
    pub energy_uj: Option<energy::Reading>,
    /// Nanoseconds by the monotonic clock when they were read: how long they counted.
    pub time_ns: Option<u64>,
}

impl MachineCounts {
    /// Reads the counts; steal from the strands with these OS ids, or from all where there are none.
    pub fn read(seats: &[u32]) -> Self {
        MachineCounts {
            time_ns: time(libc::CLOCK_MONOTONIC),
            steal_ns: processors().and_then(|text| steal(&text, seats)),
            throttled_periods: cgroup::throttled_periods(),
            pressure_ns: fs::read_to_string("/proc/pressure/cpu").ok().and_then(|text| pressure::waited_ns(&text)),
            // Last: a reading may interrupt a CPU of each package, and the pressure is held against the time.
            energy_uj: energy::meter().ok().and_then(Meter::read),
        }
    }

    pub fn since(self, earlier: Self) -> Self {
        let time_ns = difference(self.time_ns, earlier.time_ns);
        MachineCounts {
            steal_ns: difference(self.steal_ns, earlier.steal_ns),
            throttled_periods: difference(self.throttled_periods, earlier.throttled_periods),
            pressure_ns: difference(self.pressure_ns, earlier.pressure_ns),
            energy_uj: rise(self.energy_uj, earlier.energy_uj, time_ns),
            time_ns,
        }
    }

    /// The energy of a run of so many nanoseconds at the mean power of the time that was counted, unless that is much more: workers prepare
    /// before a run.
    pub fn energy_of(&self, interval_ns: u64) -> Option<energy::Reading> {
        let time_ns = self.time_ns.filter(|time| *time <= interval_ns.saturating_add(interval_ns / 20))?;
        let share = (interval_ns as f64 / time_ns.max(1) as f64).min(1.0);
        Some(self.energy_uj.as_ref()?.iter().map(|energy| (*energy as f64 * share).round() as u64).collect())
    }
}

fn rise(now: Option<energy::Reading>, then: Option<energy::Reading>, time_ns: Option<u64>) -> Option<energy::Reading> {
    energy::meter().ok()?.since(&now?, &then?, time_ns?)
}

/// The processor time that was used by now, and the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage(Busy);

impl Usage {
    /// `None` where the system does not tell.
    pub(crate) fn read() -> Option<Self> {
        let all_ns = tasks_ns(&processors()?)?;
        // With the programs that it started and has waited for, whichever `/proc` shows them.
        let own_ns = time(libc::CLOCK_PROCESS_CPUTIME_ID)?.checked_add(children_ns()?)?;
        // The coarse clock is set at each tick.
        let tick = clocks::resolution(libc::CLOCK_MONOTONIC_COARSE);
        let tick_ns = tick.and_then(|tick| u64::try_from(tick.as_nanos()).ok());
        Some(Usage(Busy { time_ns: time(libc::CLOCK_MONOTONIC)?, all_ns, own_ns, tick_ns }))
    }

    pub(crate) fn since(self, earlier: Usage) -> Busy {
        let (Usage(later), Usage(earlier)) = (self, earlier);
        Busy {
            time_ns: later.time_ns.saturating_sub(earlier.time_ns),
            all_ns: later.all_ns.saturating_sub(earlier.all_ns),
            own_ns: later.own_ns.saturating_sub(earlier.own_ns),
            tick_ns: later.tick_ns,
        }
    }
}

/// The text of `/proc/stat`, where it is the kernel's. Whether it is, is asked once: a host of containers has thousands of mounts.
pub(super) fn processors() -> Option<String> {
    static IS_KERNELS: LazyLock<bool> = LazyLock::new(|| stat::read(Path::new("/proc")).is_ok());
    IS_KERNELS.then(|| fs::read_to_string(stat::FILE).ok())?
}

fn difference(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    // Steal has been seen to step back by a tick on some hypervisors.
    Some(later?.saturating_sub(earlier?))
}

/// Nanoseconds since the clock's origin; `None` at the origin, where the kernel does not have it.
fn time(clock: libc::clockid_t) -> Option<u64> {
    Some(clocks::gettime(clock).nanos(1_000_000_000)).filter(|nanos| *nanos > 0)
}

fn resource_usage(of: i32) -> Option<libc::rusage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is valid for the write of one `rusage`, which is what the call writes.
    let status = unsafe { libc::getrusage(of, usage.as_mut_ptr()) };
    if status != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    Some(unsafe { usage.assume_init() })
}

/// The processor time of the processes that this one has waited for, and of theirs, in nanoseconds.
fn children_ns() -> Option<u64> {
    let usage = resource_usage(libc::RUSAGE_CHILDREN)?;
    let nanos = |time: libc::timeval| {
        u64::try_from(time.tv_sec)
            .ok()?
            .checked_mul(1_000_000_000)?
            .checked_add(u64::try_from(time.tv_usec).ok()? * 1000)
    };
    nanos(usage.ru_utime)?.checked_add(nanos(usage.ru_stime)?)
}

/// What the tasks of all CPUs used, in nanoseconds. The processor time of a process is without the interrupts that it was stopped for.
fn tasks_ns(stat: &str) -> Option<u64> {
    Ticks::of_all(stat).ok()?.tasks().checked_mul(TICK_NS)
}

/// The steal of these CPUs, or of all where there are none, in nanoseconds.
fn steal(stat: &str, cpus: &[u32]) -> Option<u64> {
    let ticks = match cpus {
        [] => Ticks::of_all(stat).ok()?.steal,
        // One pass: it is read around each run, and a large machine has thousands of lines.
        cpus => {
            let each: BTreeMap<u32, Ticks> = Ticks::of_each(stat).collect();
            let of = |cpu| each.get(cpu).filter(|ticks| ticks.total() > 0);
            cpus.iter().try_fold(0_u64, |sum, cpu| sum.checked_add(of(cpu)?.steal))?
        }
    };
    ticks.checked_mul(TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_child_used_is_own() {
        let before = Usage::read().unwrap();
        // Some milliseconds of a shell's time, of which this process has next to nothing.
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
        let children = children_ns().unwrap();
        assert!(shell.status().unwrap().success());
        let used = children_ns().unwrap() - children;
        let own_ns = Usage::read().unwrap().since(before).own_ns;
        assert!(used > 0 && own_ns > used, "{own_ns} of {used} ns");
    }

    #[test]
    fn interrupts_are_no_other_programs() {
        assert_eq!(tasks_ns("cpu  1 2 3 4 5 6 7 8 9 10\n"), Some(60_000_000));
    }

    #[test]
    fn steal_is_that_of_the_seats() {
        let stat = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 3 9 10\ncpu10 1 2 3 4 5 6 7 5 9 10\n";
        let of = |cpus: &[u32]| steal(stat, cpus);
        assert_eq!(
            [of(&[]), of(&[10]), of(&[0, 10]), of(&[1])],
            [Some(80_000_000), Some(50_000_000), Some(80_000_000), None]
        );
        assert_eq!(steal("cpu  1 2 3\n", &[]), None);
        // gVisor counts nothing: that is no quiet machine.
        let nothing = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n";
        assert_eq!([steal(nothing, &[]), steal(nothing, &[0]), tasks_ns(nothing)], [None; 3]);
    }
}
