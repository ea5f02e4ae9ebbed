//! The clocks that are read.

use std::convert::identity;
use std::sync::LazyLock;

use super::scale;
use crate::kernel::Error;
use crate::sys::clocks::{self, Time};
use crate::sys::counter;

/// A clock to be read, however it is that it is read.
pub(super) trait Source: 'static {
    /// What a reading gives, before anything is made of it.
    type Reading: Copy + PartialEq + Send;

    const VARIANT: &'static str;

    /// What [`clock_getres`](clocks::resolution) takes for it; `None` for a clock that the system has no number for.
    const CLOCK: Option<libc::clockid_t> = None;

    fn check() -> Result<(), Error>;

    fn read() -> Self::Reading;

    /// The place of a reading on the clock's own scale, in units of [`Source::unit`].
    fn place(reading: Self::Reading) -> u64;

    /// Nanoseconds per unit.
    fn unit() -> f64;
}

const NANOS: i64 = 1_000_000_000;
const MICROS: i64 = 1_000_000;

/// Clocks: what a reading gives and the variant; how it is read, its place, nanoseconds of a unit, whether it is here, and its number
/// in the system.
macro_rules! sources {
    ($(
        $(#[$about:meta])*
        $name:ident: $reading:ty, $variant:expr, $read:expr, $place:expr, $unit:expr, $check:expr $(, $clock:expr)?;
    )*) => {$(
        $(#[$about])*
        pub(super) struct $name;

        impl $crate::timer::source::Source for $name {
            type Reading = $reading;
            const VARIANT: &'static str = $variant;
            $(const CLOCK: Option<libc::clockid_t> = Some($clock);)?

            fn check() -> Result<(), $crate::kernel::Error> {
                $check
            }

            #[inline(always)]
            fn read() -> $reading {
                $read
            }

            fn place(reading: $reading) -> u64 {
                $place(reading)
            }

            fn unit() -> f64 {
                $unit
            }
        }
    )*};
}

#[cfg(test)]
pub(super) use sources;

sources! {
    /// Without any order.
    Tsc: u64, counter::PLAIN, counter::read(), identity, scale::nanos_per_tick(), known(counter::AVAILABLE, NO_COUNTER);
    /// Behind a fence.
    Ordered: u64, counter::ORDERED, counter::read_ordered(), identity, scale::nanos_per_tick(),
        known(counter::AVAILABLE, NO_COUNTER);
    /// By an instruction that waits.
    Waiting: u64, "rdtscp", counter::read_waiting(), identity, scale::nanos_per_tick(),
        known(counter::waits(), "this processor has no rdtscp");
    /// Since the machine was started, at the rate of the world's time.
    Monotonic: Time, "clock_gettime", clocks::gettime(libc::CLOCK_MONOTONIC), nanos, 1.0, Ok(()),
        libc::CLOCK_MONOTONIC;
    /// The same at the rate of the machine's own oscillator.
    Raw: Time, "clock_gettime", clocks::gettime(libc::CLOCK_MONOTONIC_RAW), nanos, 1.0, Ok(()),
        libc::CLOCK_MONOTONIC_RAW;
    /// The same as it was at the last tick of the kernel.
    Coarse: Time, "clock_gettime", clocks::gettime(libc::CLOCK_MONOTONIC_COARSE), nanos, 1.0, Ok(()),
        libc::CLOCK_MONOTONIC_COARSE;
    /// The time of day, which people and programs may set.
    Realtime: Time, "clock_gettime", clocks::gettime(libc::CLOCK_REALTIME), nanos, 1.0, Ok(()),
        libc::CLOCK_REALTIME;
    Instant: std::time::Instant, "Instant::now", std::time::Instant::now(), since_origin, 1.0, {
        // No instant is read before the one that all are counted from.
        LazyLock::force(&ORIGIN);
        Ok(())
    }, libc::CLOCK_MONOTONIC;
    Cpu: i64, "clock", clocks::process_micros(), |micros| u64::try_from(micros).unwrap_or(0),
        (NANOS / MICROS) as f64, Ok(()), libc::CLOCK_PROCESS_CPUTIME_ID;
    Ticks: i64, "times", clocks::ticks(), |ticks| u64::try_from(ticks).unwrap_or(0), clocks::nanos_per_tick(), Ok(());
    Usage: Time, "getrusage", clocks::usage(), |time: Time| time.nanos(MICROS), 1.0, Ok(());
}

const NO_COUNTER: &str = "charz reads the processor's counter on x86_64 and aarch64 only";

fn known(available: bool, lacking: &str) -> Result<(), Error> {
    if available { Ok(()) } else { Err(Error::Unavailable(lacking.into())) }
}

fn nanos(time: Time) -> u64 {
    time.nanos(NANOS)
}

static ORIGIN: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);

fn since_origin(instant: std::time::Instant) -> u64 {
    u64::try_from(instant.duration_since(*ORIGIN).as_nanos()).unwrap_or(u64::MAX)
}
