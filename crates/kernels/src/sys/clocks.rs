//! The operating system's clocks, as the C library hands them out.

use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    seconds: i64,
    /// 10^9 of them are a second, or 10^6: the argument of [`Time::nanos`].
    parts: i64,
}

impl Time {
    /// Nanoseconds since the clock's origin, where a second has so many parts.
    pub fn nanos(self, parts: i64) -> u64 {
        let nanos =
            i128::from(self.seconds) * 1_000_000_000 + i128::from(self.parts) * i128::from(1_000_000_000 / parts);
        u64::try_from(nanos).unwrap_or(0)
    }
}

/// A duration for the system, the longest it has where there is none so long.
pub fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// The time by `clock_gettime`; for a clock that the kernel does not have, the clock's origin.
#[inline(always)]
pub fn gettime(clock: libc::clockid_t) -> Time {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for a time, and it outlives the call.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    // Volatile, which makes a load of each field: one load of both would wait until the two stores that the vDSO has just made
    // are in the cache (store forwarding fails).
    // SAFETY: the fields are initialised, aligned and this function's own.
    let load = |field: &i64| unsafe { ptr::read_volatile(field) };
    Time { seconds: load(&time.tv_sec), parts: load(&time.tv_nsec) }
}

/// What the system says that the clock moves by, `None` where it has no such clock.
pub fn resolution(clock: libc::clockid_t) -> Option<Duration> {
    let mut step = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for a time, and it outlives the call.
    let code = unsafe { libc::clock_getres(clock, &raw mut step) };
    (code == 0).then(|| Duration::new(step.tv_sec.unsigned_abs(), u32::try_from(step.tv_nsec).unwrap_or(0)))
}

// The `libc` crate has it on other systems only.
unsafe extern "C" {
    safe fn clock() -> libc::clock_t;
}

/// The processor time of the process in microseconds, by `clock`.
#[inline(always)]
pub fn process_micros() -> i64 {
    clock()
}

/// The time by `times` since some moment, in ticks of the system.
#[inline(always)]
pub fn ticks() -> i64 {
    let mut spent = MaybeUninit::uninit();
    // SAFETY: there is room for what is written, and it outlives the call.
    unsafe { libc::times(spent.as_mut_ptr()) }
}

/// How long a tick of [`ticks`] is.
pub fn nanos_per_tick() -> f64 {
    // SAFETY: the call touches no memory of this process.
    1e9 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64
}

/// The processor time that the calling thread took, in the kernel and outside, by `getrusage`, in microseconds. How it is shared
/// out between the two is an estimate by ticks, and their sum is none.
#[inline(always)]
pub fn usage() -> Time {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: there is room for what is written, and it outlives the call.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: its fields are integers, for which zeros are valid if nothing was written.
    let usage = unsafe { usage.assume_init() };
    let (user, system) = (usage.ru_utime, usage.ru_stime);
    Time { seconds: user.tv_sec + system.tv_sec, parts: user.tv_usec + system.tv_usec }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_second() {
        let time = Time { seconds: 3, parts: 7 };
        assert_eq!((time.nanos(1_000_000_000), time.nanos(1_000_000)), (3_000_000_007, 3_000_007_000));
        assert_eq!(Time { seconds: -1, parts: 0 }.nanos(1_000_000), 0, "before the origin");
    }

    #[test]
    fn a_coarse_clock_moves_by_more_and_one_that_is_missing_by_nothing() {
        let fine = resolution(libc::CLOCK_MONOTONIC).unwrap();
        assert!(fine > Duration::ZERO && fine <= resolution(libc::CLOCK_MONOTONIC_COARSE).unwrap());
        assert_eq!(resolution(libc::clockid_t::MAX), None);
    }

    #[test]
    fn clocks_go() {
        let (wall, process) = (gettime(libc::CLOCK_MONOTONIC), process_micros());
        let mut state = 1_u64;
        while usage().nanos(1_000_000) == 0 || process_micros() == process {
            state = std::hint::black_box(state.wrapping_mul(3));
        }
        assert!(gettime(libc::CLOCK_MONOTONIC).nanos(1_000_000_000) > wall.nanos(1_000_000_000));
    }
}
