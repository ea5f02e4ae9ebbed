//! Clocks: the operating system's two, the processor's time-stamp counter, and a fake one for tests.
#![allow(unsafe_code)] // Reading the time-stamp counter is an intrinsic; see `ticks`.

#[cfg(test)]
mod fake;
mod rates;
mod timer;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

pub use charz_kernels::{Clock, OsClock};
#[cfg(test)]
pub(crate) use fake::FakeClock;
pub use rates::{Rates, claimed_hz};
pub use timer::{skew, watch};

/// Which clock stamps, with what another process has to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Stamps {
    Os,
    Realtime,
    Tsc { nanos_per_tick: f64 },
}

impl Stamps {
    pub fn clock(self) -> Arc<dyn Clock> {
        match self {
            Stamps::Os => Arc::new(OsClock::default()),
            Stamps::Realtime => Arc::new(RealtimeClock::new(|clock| {
                let now = clock_gettime(clock);
                now.tv_sec * 1_000_000_000 + now.tv_nsec
            })),
            Stamps::Tsc { nanos_per_tick } => Arc::new(TscClock::calibrated(nanos_per_tick)),
        }
    }
}

/// `CLOCK_REALTIME`, which stamped the T3-4 report. It can be set, which `CLOCK_MONOTONIC` cannot; on Linux a slew moves both alike. So each
/// stamp is compared with that clock, and from the first that is apart from it, that clock stamps: times go on as they were.
#[derive(Debug)]
pub(super) struct RealtimeClock {
    read: fn(ClockId) -> i64,
    origin_ns: i64,
    /// How far it was ahead of the monotonic clock.
    ahead_ns: i64,
    /// How far apart the two may be without that.
    slack_ns: i64,
    /// By how much it was set; 0 where it was not.
    set_by_ns: AtomicI64,
}

impl RealtimeClock {
    pub(super) fn new(read: fn(ClockId) -> i64) -> Self {
        let readings = (0..8).map(|_| {
            let [before, realtime, after] = [ClockId::Monotonic, ClockId::Realtime, ClockId::Monotonic].map(read);
            (after - before, realtime - before.midpoint(after))
        });
        let (took, ahead_ns) = readings.min().unwrap_or_default();
        let (origin_ns, set_by_ns) = (read(ClockId::Monotonic), AtomicI64::new(0));
        // Some systems keep the two apart by whole microseconds.
        RealtimeClock { read, origin_ns, ahead_ns, slack_ns: took + 1000, set_by_ns }
    }
}

impl Clock for RealtimeClock {
    fn name(&self) -> &'static str {
        "realtime"
    }

    fn now(&self) -> u64 {
        let before = (self.read)(ClockId::Monotonic);
        let stamp = (self.read)(ClockId::Realtime) - self.ahead_ns;
        let mut now = stamp;
        if (stamp - before).abs() > self.slack_ns || self.was_set() {
            // The thread may have lost its CPU between the two readings.
            let after = (self.read)(ClockId::Monotonic);
            let apart_ns = match stamp {
                _ if stamp < before => stamp - before,
                _ if stamp > after => stamp - after,
                _ => 0,
            };
            if apart_ns.abs() > self.slack_ns {
                // Relaxed: no other memory depends on it.
                let _ = self.set_by_ns.compare_exchange(0, apart_ns, Ordering::Relaxed, Ordering::Relaxed);
            }
            now = if self.was_set() { after } else { stamp };
        }
        (now - self.origin_ns).max(0).unsigned_abs()
    }

    fn set_by_ns(&self) -> Option<i64> {
        Some(self.set_by_ns.load(Ordering::Relaxed)).filter(|set_by_ns| *set_by_ns != 0)
    }
}

impl RealtimeClock {
    // Without generic functions: a crate that is optimised for its size takes those of the crates below it, as they were compiled.
    fn was_set(&self) -> bool {
        self.set_by_ns.load(Ordering::Relaxed) != 0
    }
}

/// The invariant time-stamp counter, calibrated against the operating system's clock. Its ticks are not core cycles.
#[derive(Debug)]
pub struct TscClock {
    origin: u64,
    pub nanos_per_tick: f64,
}

impl TscClock {
    /// The counter of a machine whose clocks ran at these rates.
    pub fn calibrate(rates: &Rates) -> Result<Self, String> {
        check_tsc()?;
        if rates.ticks == 0.0 {
            return Err("the time-stamp counter stood still during its calibration".into());
        }
        Ok(Self::calibrated(rates.libc_ns / rates.ticks))
    }

    /// The clock of another process of this machine, by what that found out.
    pub fn calibrated(nanos_per_tick: f64) -> Self {
        TscClock { origin: ticks(), nanos_per_tick }
    }
}

impl Clock for TscClock {
    fn name(&self) -> &'static str {
        "tsc"
    }

    fn now(&self) -> u64 {
        // Exact to under 1 ns for 104 days of ticks at 1 GHz and more (a double has 53 bits).
        (ticks().saturating_sub(self.origin) as f64 * self.nanos_per_tick) as u64
    }
}

#[cfg(target_arch = "x86_64")]
fn check_tsc() -> Result<(), String> {
    if !charz_kernels::cpu::has_invariant_counter() {
        return Err(
            "the processor does not promise an invariant time-stamp counter (CPUID 8000_0007h, EDX bit 8)".into()
        );
    }
    // The kernel watches the counters of all processors and drops the source when they disagree.
    match std::fs::read_to_string(charz_system::file::CLOCK_SOURCE) {
        Ok(source) if source.trim() == "tsc" => Ok(()),
        Ok(source) => Err(format!(
            "the kernel keeps time by {:?}, so it may have found the processors' time-stamp counters out of step",
            source.trim()
        )),
        Err(error) => Err(format!("cannot learn whether the processors' time-stamp counters agree: {error}")),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn check_tsc() -> Result<(), String> {
    Err("the time-stamp counter is read on x86_64 only".into())
}

#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    // SAFETY: every x86_64 processor has LFENCE. Without it the counter could be read before earlier instructions complete.
    unsafe { core::arch::x86_64::_mm_lfence() };
    // SAFETY: every x86_64 processor has RDTSC; Linux leaves it enabled in user space unless prctl(PR_SET_TSC) forbids
    // it, which nothing in this program does.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_forward(clock: &dyn Clock) {
        let mut last = clock.now();
        for _ in 0..10_000 {
            let now = clock.now();
            assert!(now >= last, "{} went from {last} to {now}", clock.name());
            last = now;
        }
    }

    #[test]
    fn clocks_never_go_backwards() {
        check_forward(&OsClock::default());
        check_forward(Stamps::Realtime.clock().as_ref());
        check_forward(&FakeClock::new(7));
        match TscClock::calibrate(&Rates::measure()) {
            Ok(clock) => check_forward(&clock),
            Err(reason) => assert!(!reason.is_empty()),
        }
    }

    #[test]
    fn the_tsc_agrees_with_the_system_clock() {
        let Ok(tsc) = TscClock::calibrate(&Rates::measure()) else { return };
        let os = OsClock::default();
        let (os_start, tsc_start) = (os.now(), tsc.now());
        std::thread::sleep(std::time::Duration::from_millis(30));
        // Each pair of readings brackets the other clock's: the inner span can only be the shorter.
        let tsc_span = tsc.now() - tsc_start;
        let os_span = os.now() - os_start;
        assert!(tsc_span as f64 <= os_span as f64 * 1.01, "tsc {tsc_span} ns, os {os_span} ns");
    }
}
