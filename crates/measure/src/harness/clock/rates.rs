//! Whether the clocks run at one rate: the C library's, by which everything is timed, the kernel's, and the time-stamp counter.

use std::time::Instant;

use charz_system::cpuinfo;
use rustix::time::{ClockId, clock_gettime};

use super::{check_tsc, ticks};

/// How far the three have come over the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// By `clock_gettime` of the C library, which a preloaded library can replace.
    pub(super) libc_ns: f64,
    /// By the kernel, whose vDSO or system call rustix uses without the C library.
    pub(super) kernel_ns: f64,
    /// 0 where there is no counter that can be relied on.
    pub(super) ticks: f64,
}

/// How long they are compared: readings err by well under 1 µs at each end, so the rates by under 50 ppm.
const SPAN_NS: f64 = 20_000_000.0;

/// From how far apart on, as a fraction, the C library's clock is not the kernel's: it is that clock's own readings, and NTP, which slews
/// by 0.05% at most, moves both.
const APART_FROM_KERNEL: f64 = 0.002;

/// The same for the counter: the kernel refines its rate by up to 1% after it has claimed it.
const APART_FROM_CLAIM: f64 = 0.01;

impl Rates {
    pub fn measure() -> Self {
        let start = Moment::now();
        let mut end = Moment::now();
        while end.kernel_ns - start.kernel_ns < SPAN_NS {
            end = Moment::now();
        }
        let ticks = if check_tsc().is_ok() { end.ticks.saturating_sub(start.ticks) } else { 0 };
        let libc_ns = end.libc.saturating_duration_since(start.libc).as_nanos() as f64;
        Rates { libc_ns, kernel_ns: end.kernel_ns - start.kernel_ns, ticks: ticks as f64 }
    }

    /// Why no time that is measured here would be true, in a sentence. `claimed_hz` is what the system claims of the counter.
    pub fn disagreement(&self, claimed_hz: Option<f64>) -> Option<String> {
        let of_kernel = self.libc_ns / self.kernel_ns;
        if is_apart(of_kernel, APART_FROM_KERNEL) {
            return Some(format!(
                "the clock of the C library runs at {of_kernel:.4} times the rate of the kernel's clock, so all times would be wrong: a \
                 preloaded library such as libfaketime replaces clock_gettime; unset LD_PRELOAD (or empty /etc/ld.so.preload)"
            ));
        }
        let (hz, claimed) = (self.ticks / self.kernel_ns * 1e9, claimed_hz?);
        (self.ticks > 0.0 && is_apart(hz / claimed, APART_FROM_CLAIM)).then(|| {
            format!(
                "the time-stamp counter runs at {:.3} GHz by the system's clock, and the kernel claims {:.3} GHz (bogomips / 2 in \
                 /proc/cpuinfo), so times may be wrong by {:.1}%: reset the clock's rate (adjtimex --print shows it) or reboot",
                hz / 1e9,
                claimed / 1e9,
                (hz / claimed - 1.0).abs() * 100.0
            )
        })
    }
}

fn is_apart(ratio: f64, limit: f64) -> bool {
    !((1.0 - limit)..=(1.0 + limit)).contains(&ratio)
}

/// The rate of the counter as the kernel claims it, in Hz.
///
/// Where the kernel keeps time by the counter, a "loop" of its delays is a tick, and the BogoMIPS are two per µs, on real machines
/// as in guests. `cpu MHz` is the present clock of the core where there is a governor.
pub fn claimed_hz() -> Option<f64> {
    bogomips_hz(&cpuinfo::read())
}

fn bogomips_hz(cpuinfo: &str) -> Option<f64> {
    let bogomips = cpuinfo::number(cpuinfo, "bogomips").filter(|bogomips| *bogomips > 0.0)?;
    Some(bogomips / 2.0 * 1e6)
}

/// What all show at one time.
struct Moment {
    kernel_ns: f64,
    libc: Instant,
    ticks: u64,
}

impl Moment {
    /// Of some readings the one that took least: a thread may lose its strand between two clocks, but not each time.
    fn now() -> Self {
        let readings = (0..8).map(|_| {
            let (before, libc, ticks) = (kernel_ns(), Instant::now(), ticks());
            (kernel_ns() - before, Moment { kernel_ns: before, libc, ticks })
        });
        let fastest = readings.reduce(|best, next| if next.0 < best.0 { next } else { best });
        fastest.expect("there are some").1
    }
}

/// A double is exact to under 1 ns for 104 days.
fn kernel_ns() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of the C library at `libc` times the kernel's rate, and a counter at `counter` times 2.6 GHz.
    fn rates(libc: f64, counter: f64) -> Rates {
        Rates { libc_ns: libc * 2e7, kernel_ns: 2e7, ticks: counter * 2.6 * 2e7 }
    }

    #[track_caller]
    fn check(rates: Rates, claimed_hz: Option<f64>, agree: bool) {
        let found = rates.disagreement(claimed_hz);
        assert_eq!(found.is_none(), agree, "{found:?}");
    }

    #[test]
    fn rates_that_are_apart_are_refused() {
        for (times, agree) in
            [(0.8, false), (0.991, false), (0.9985, true), (1.0, true), (1.0015, true), (1.0025, false)]
        {
            check(rates(times, 1.0), Some(2.6e9), agree);
            check(rates(times, 1.0), None, agree);
        }
        for (times, agree) in [(0.989, false), (0.991, true), (1.0, true), (1.009, true), (1.011, false)] {
            check(rates(1.0, times), Some(2.6e9), agree);
            check(rates(1.0, times), None, true);
        }
        check(Rates { ticks: 0.0, ..rates(1.0, 1.0) }, Some(2.6e9), true);
        check(Rates { libc_ns: 0.0, ..rates(1.0, 1.0) }, None, false);
    }

    #[test]
    fn the_clocks_of_this_machine_agree() {
        assert_eq!(Rates::measure().disagreement(None), None);
    }

    #[test]
    fn bogomips_are_two_for_each_tick() {
        assert_eq!(bogomips_hz("cpu MHz\t\t: 1200.000\nbogomips\t: 5192.40\nbogomips\t: 1.00\n"), Some(2.5962e9));
        assert_eq!(bogomips_hz("bogomips\t: 0.00\n"), None);
        assert_eq!(bogomips_hz("BogoMIPS\t: 48.00\n"), None, "of ARM, where it is not the counter's");
        assert_eq!(bogomips_hz(""), None);
    }
}
