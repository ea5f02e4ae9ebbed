//! The processor's counters for the calling thread, by `perf_event_open(2)`: opened before anything is timed, enabled around the timed
//! span, read behind it.
//!
//! They count user mode only, which the system allows to any user up to `kernel.perf_event_paranoid` 2, and threads that the thread starts
//! after they were opened. Two events whose quotient is of interest are a group, which the kernel puts on the processor together.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use charz_data::report::{HardwareCount, HardwareCounts};
use charz_data::{HARDWARE_EVENTS, units};
use charz_system::file;

/// What can be asked for counters.
pub trait OpenCounters: Sync {
    /// Counters of the calling thread, which do not count yet.
    ///
    /// # Errors
    /// Why there are none, as the end of a sentence, with the remedy if there is one.
    fn open(&self) -> Result<Box<dyn Counters>, String>;
}

/// Counters of the thread that opened them.
pub trait Counters {
    /// Lets them count, or stops them.
    fn enable(&mut self, on: bool);
    /// What they have counted since they were opened; `None` for one that cannot be read.
    fn read(&self) -> Readings;
}

/// In the order of the fields of [`HardwareCounts`].
pub type Readings = [Option<HardwareCount>; HARDWARE_EVENTS];

/// Counters, and what they had counted before the span at hand.
pub(in crate::harness) struct SpanCounters {
    counters: Box<dyn Counters>,
    before: Readings,
}

impl SpanCounters {
    pub(in crate::harness) fn new(counters: Box<dyn Counters>) -> Self {
        SpanCounters { before: counters.read(), counters }
    }

    #[inline]
    pub(in crate::harness) fn enable(&mut self, on: bool) {
        self.counters.enable(on);
    }

    /// What was counted since the last call.
    pub(in crate::harness) fn lap(&mut self) -> HardwareCounts {
        let now = self.counters.read();
        let before = std::mem::replace(&mut self.before, now);
        std::array::from_fn(|at| since(now[at]?, before[at]?)).into()
    }
}

/// `None` for a counter that never ran meanwhile: what it counted is not 0, but unknown.
fn since(later: HardwareCount, earlier: HardwareCount) -> Option<HardwareCount> {
    let enabled_ns = later.enabled_ns.saturating_sub(earlier.enabled_ns);
    let running_ns = later.running_ns.saturating_sub(earlier.running_ns).min(enabled_ns);
    let count = later.count.saturating_sub(earlier.count);
    (running_ns > 0).then_some(HardwareCount { count, enabled_ns, running_ns })
}

/// A kind of event: `type` and `config` of `perf_event_attr`.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    kind: u32,
    config: u64,
}

const fn generic(config: u64) -> Event {
    const PERF_TYPE_HARDWARE: u32 = 0;
    Event { kind: PERF_TYPE_HARDWARE, config }
}

/// Loads from a cache: all, or those that miss it.
const fn loads(cache: u64, miss: bool) -> Event {
    const PERF_TYPE_HW_CACHE: u32 = 3;
    Event { kind: PERF_TYPE_HW_CACHE, config: cache | (miss as u64) << 16 }
}

const L1D: u64 = 0;
#[cfg(target_arch = "aarch64")]
const LAST_LEVEL: u64 = 2;

/// In the order of the fields of [`HardwareCounts`]: pairs, of which the second is a part of the first, or is divided by it. The numbers
/// are those of `linux/perf_event.h`. Its generic cache events are about the last level on Intel, about the second one on AMD
/// (`arch/x86/events/amd/core.c`), and about the first one on Arm (`drivers/perf/arm_pmuv3.c`), which has events of the last level.
pub const EVENTS: [Event; HARDWARE_EVENTS] = [
    generic(0),
    generic(1),
    generic(4),
    generic(5),
    #[cfg(not(target_arch = "aarch64"))]
    generic(2),
    #[cfg(not(target_arch = "aarch64"))]
    generic(3),
    #[cfg(target_arch = "aarch64")]
    loads(LAST_LEVEL, false),
    #[cfg(target_arch = "aarch64")]
    loads(LAST_LEVEL, true),
    loads(L1D, false),
    loads(L1D, true),
];

/// The system's.
pub struct PerfEvents(pub [Event; HARDWARE_EVENTS]);

impl OpenCounters for PerfEvents {
    fn open(&self) -> Result<Box<dyn Counters>, String> {
        let mut files: [Option<OwnedFd>; HARDWARE_EVENTS] = Default::default();
        let mut refused = None;
        for (at, event) in self.0.into_iter().enumerate() {
            let leader = (at % 2 == 1).then(|| files[at - 1].as_ref()).flatten();
            match open(event, leader) {
                Ok(file) => files[at] = Some(file),
                // Without files it would be half of the counters of some workers.
                Err(error) if is_short_of_files(&error) => return Err(reason(&error, None)),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match refused {
            Some(error) if files.iter().all(Option::is_none) => Err(reason(&error, paranoid())),
            _ => Ok(Box::new(Files(files))),
        }
    }
}

/// A file for each event that the processor has.
struct Files([Option<OwnedFd>; HARDWARE_EVENTS]);

impl Counters for Files {
    fn enable(&mut self, on: bool) {
        // One call for all counters that this thread opened, and for those of the threads that it started. It never fails.
        let _ = rustix::process::configure_performance_counters(on);
    }

    fn read(&self) -> Readings {
        self.0.each_ref().map(|file| {
            let mut bytes = [0; 24];
            let length = rustix::io::read(file.as_ref()?, &mut bytes).ok()?;
            // Count, enabled, running: what `READ_FORMAT` asks for.
            let number = |at: usize| Some(u64::from_ne_bytes(bytes[at..at + 8].try_into().ok()?));
            let counter = HardwareCount { count: number(0)?, enabled_ns: number(8)?, running_ns: number(16)? };
            (length == bytes.len()).then_some(counter)
        })
    }
}

/// `struct perf_event_attr` as it was first, `PERF_ATTR_SIZE_VER0`: every kernel takes it.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// `PERF_FORMAT_TOTAL_TIME_ENABLED` and `PERF_FORMAT_TOTAL_TIME_RUNNING`. `inherit` does not work with `PERF_FORMAT_GROUP`
/// (`perf_event_open(2)`), so each counter is read by itself.
const READ_FORMAT: u64 = 1 | 2;
/// `disabled`, `inherit`, `exclude_kernel` and `exclude_hv`.
const FLAGS: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 6;

/// A counter of the calling thread, on whatever strand it is.
fn open(event: Event, leader: Option<&OwnedFd>) -> io::Result<OwnedFd> {
    const THIS_THREAD: libc::pid_t = 0;
    const ANY_STRAND: libc::c_int = -1;
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    let attributes = Attributes {
        kind: event.kind,
        size: size_of::<Attributes>() as u32,
        config: event.config,
        sample_period: 0,
        sample_type: 0,
        read_format: READ_FORMAT,
        flags: FLAGS,
        wakeup_events: 0,
        breakpoint_type: 0,
        config1: 0,
    };
    let group: libc::c_int = leader.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: the first argument points to a structure of the size that it says, which the call only reads; the others are numbers.
    let file = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, THIS_THREAD, ANY_STRAND, group, CLOSE_ON_EXEC)
    };
    match libc::c_int::try_from(file) {
        // SAFETY: the call succeeded, so this is a new descriptor, which nothing else owns.
        Ok(file) if file >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(file) }),
        _ => Err(io::Error::last_os_error()),
    }
}

fn is_short_of_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn paranoid() -> Option<i64> {
    file::number("/proc/sys/kernel/perf_event_paranoid")
}

/// Why there are no counters, as the end of a sentence, and what to do about it.
fn reason(error: &io::Error, paranoid: Option<i64>) -> String {
    /// The most that lets a process count its own cycles in user mode.
    const OWN: i64 = 2;
    match (error.raw_os_error(), paranoid) {
        (Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP), _) => {
            "the system offers none for this processor; in a virtual machine, enable the virtual PMU on its host".into()
        }
        (Some(libc::EACCES | libc::EPERM), Some(level)) if level > OWN => {
            format!("kernel.perf_event_paranoid is {level}; allow them with `sysctl kernel.perf_event_paranoid={OWN}`")
        }
        (Some(libc::EACCES | libc::EPERM), _) => {
            "perf_event_open is not permitted, as in many containers; allow it in the seccomp profile or by CAP_PERFMON"
                .into()
        }
        (Some(libc::ENOSYS), _) => {
            "there is no perf_event_open; the kernel lacks CONFIG_PERF_EVENTS, or a container hides the call".into()
        }
        (Some(libc::EMFILE | libc::ENFILE), _) => format!(
            "the limit on open files is too low for {} files per thread; raise it with `ulimit -n`",
            units::count(HARDWARE_EVENTS as u64)
        ),
        (Some(libc::EBUSY), _) => "another program holds the counters of this processor; end it and repeat".into(),
        _ => format!("perf_event_open failed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use charz_data::report::Counts;
    use proptest::prelude::*;

    use super::*;

    /// Events of the system in place of those of the processor, which every system has that has the call: the CPU time of the thread,
    /// and its page faults.
    const SOFTWARE: [Event; HARDWARE_EVENTS] = {
        const PERF_TYPE_SOFTWARE: u32 = 1;
        let (task_clock, page_faults) =
            (Event { kind: PERF_TYPE_SOFTWARE, config: 1 }, Event { kind: PERF_TYPE_SOFTWARE, config: 2 });
        let unknown = Event { kind: PERF_TYPE_SOFTWARE, config: 1 << 40 };
        [task_clock, page_faults, page_faults, unknown, unknown, page_faults, unknown, task_clock]
    };

    /// Touches so many pages for the first time, and returns what the system counted. The block is larger than any that malloc takes
    /// from memory that was given back, `M_MMAP_THRESHOLD` at its most.
    fn touch(pages: usize) -> Counts {
        const PAGE: usize = 1 << 16;
        let before = super::super::after();
        let mut block: Vec<u8> = Vec::with_capacity((33 << 20) + pages * PAGE);
        block.spare_capacity_mut().chunks_mut(PAGE).take(pages).for_each(|page| _ = page[0].write(1));
        black_box(&block);
        Counts { cpu_ns: super::super::cpu_ns(), ..super::super::before() }.since(before)
    }

    #[test]
    fn the_systems_own_counts_are_those_of_getrusage() {
        // In a container that forbids the call there is nothing to compare.
        let Ok(counters) = PerfEvents(SOFTWARE).open() else { return };
        let mut counters = SpanCounters::new(counters);
        touch(100);
        assert_eq!(counters.lap(), HardwareCounts::default(), "disabled, they do not count");
        for pages in [300, 600] {
            counters.enable(true);
            let own = touch(pages);
            let started = std::thread::spawn(move || touch(pages)).join().unwrap();
            counters.enable(false);
            touch(100);
            let lap = counters.lap();
            let Counts { cpu_ns: Some(cpu_ns), minor_faults: Some(faults), .. } = own else { panic!("{own:?}") };
            let both = faults + started.minor_faults.unwrap();
            let faulted = lap.instructions.unwrap().count;
            // The start and the end of a thread touch some more.
            assert!(
                faults > 0 && both > faults && (both..both + 200).contains(&faulted),
                "{faulted} {own:?} {started:?}"
            );
            let time = lap.cycles.unwrap();
            assert!(time.count >= cpu_ns && time.running_ns > 0 && time.running_share() == 1.0, "{time:?} {own:?}");
            assert_eq!((lap.branch_misses, lap.cache_references, lap.l1d_loads), (None, None, None), "unknown events");
            assert_eq!(lap.cache_misses.map(|own| own.count), Some(faulted), "without its leader it counts alone");
        }
    }

    #[test]
    fn without_any_event_there_is_a_reason() {
        let unknown = Event { kind: 1, config: 1 << 40 };
        let Err(reason) = PerfEvents([unknown; HARDWARE_EVENTS]).open() else { panic!("opened") };
        assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
    }

    #[test]
    fn reasons_have_remedies() {
        let of = |errno, paranoid| reason(&io::Error::from_raw_os_error(errno), paranoid);
        assert!(of(libc::EACCES, Some(4)).contains("is 4; allow them with `sysctl kernel.perf_event_paranoid=2`"));
        assert!(of(libc::EACCES, Some(2)).contains("seccomp"));
        assert!(of(libc::EPERM, None).contains("CAP_PERFMON"));
        assert!(of(libc::ENOENT, Some(4)).contains("virtual PMU"), "the level would not help");
        assert!(of(libc::EMFILE, None).contains("ulimit -n"));
        for errno in 1..=133 {
            let reason = of(errno, None);
            assert!(!reason.is_empty() && !reason.contains('\n') && !reason.ends_with('.'), "{reason}");
        }
    }

    proptest! {
        #[test]
        fn laps_add_up(steps in prop::collection::vec((0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40), 1..8)) {
            let (mut all, mut laps) = (HardwareCount { count: 0, enabled_ns: 0, running_ns: 0 }, 0);
            for (count, running, waiting) in steps {
                let before = all;
                // A counter that does not run counts nothing.
                all.count += if running > 0 { count } else { 0 };
                all.running_ns += running;
                all.enabled_ns += running + waiting;
                let lap = since(all, before);
                prop_assert_eq!(lap.is_some(), running > 0);
                laps += lap.map_or(0, |lap| lap.count);
                prop_assert!(lap.is_none_or(|lap| lap.running_share() <= 1.0));
            }
            prop_assert_eq!(laps, all.count);
        }
    }
}
