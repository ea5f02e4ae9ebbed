//! The clocks that are read.

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

    fn check() -> Result<(), Error> {
        Ok(())
    }

    fn read() -> Self::Reading;

    /// The place of a reading on the clock's own scale, in units of [`Source::unit`].
    fn place(reading: Self::Reading) -> u64;

    /// Nanoseconds that a unit stands for.
    fn unit() -> f64 {
        1.0
    }
}

const NANOS: i64 = 1_000_000_000;
const MICROS: i64 = 1_000_000;

macro_rules! counters {
    ($($(#[$about:meta])* $name:ident, $variant:expr, $read:path, $available:expr, $lacks:literal;)*) => {
        $(
            $(#[$about])*
            pub(super) struct $name;

            impl Source for $name {
                type Reading = u64;
                const VARIANT: &'static str = $variant;

                fn check() -> Result<(), Error> {
                    if $available { Ok(()) } else { Err(Error::Unavailable($lacks.into())) }
                }

                #[inline(always)]
                fn read() -> u64 {
                    $read()
                }

                fn place(reading: u64) -> u64 {
                    reading
                }

                fn unit() -> f64 {
                    scale::nanos_per_tick()
                }
            }
        )*
    };
}

counters! {
    /// Without any order.
    Tsc, counter::PLAIN, counter::read, counter::AVAILABLE, "charz reads the processor's counter on x86_64 and aarch64 only";
    /// Behind a fence.
    Ordered, counter::ORDERED, counter::read_ordered, counter::AVAILABLE,
        "charz reads the processor's counter on x86_64 and aarch64 only";
    /// By an instruction that waits.
    Waiting, "rdtscp", counter::read_waiting, counter::waits(), "this processor has no rdtscp";
}

macro_rules! system {
    ($($(#[$about:meta])* $name:ident, $clock:ident;)*) => {
        $(
            $(#[$about])*
            pub(super) struct $name;

            impl Source for $name {
                type Reading = Time;
                const VARIANT: &'static str = "clock_gettime";

                #[inline(always)]
                fn read() -> Time {
                    clocks::gettime(libc::$clock)
                }

                fn place(reading: Time) -> u64 {
                    reading.nanos(NANOS)
                }
            }
        )*
    };
}

system! {
    /// Since the machine was started, at the rate of the world's time.
    Monotonic, CLOCK_MONOTONIC;
    /// The same at the rate of the machine's own oscillator.
    Raw, CLOCK_MONOTONIC_RAW;
    /// The same as it was at the last tick of the kernel.
    Coarse, CLOCK_MONOTONIC_COARSE;
    /// The time of day, which people and programs may set.
    Realtime, CLOCK_REALTIME;
}

pub(super) struct Instant;

static ORIGIN: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);

impl Source for Instant {
    type Reading = std::time::Instant;
    const VARIANT: &'static str = "Instant::now";

    fn check() -> Result<(), Error> {
        // No instant is read before the one that all are counted from.
        LazyLock::force(&ORIGIN);
        Ok(())
    }

    #[inline(always)]
    fn read() -> std::time::Instant {
        std::time::Instant::now()
    }

    fn place(reading: std::time::Instant) -> u64 {
        u64::try_from(reading.duration_since(*ORIGIN).as_nanos()).unwrap_or(u64::MAX)
    }
}

pub(super) struct Cpu;

impl Source for Cpu {
    type Reading = i64;
    const VARIANT: &'static str = "clock";

    #[inline(always)]
    fn read() -> i64 {
        clocks::process_micros()
    }

    fn place(reading: i64) -> u64 {
        u64::try_from(reading).unwrap_or(0)
    }

    fn unit() -> f64 {
        (NANOS / MICROS) as f64
    }
}

pub(super) struct Usage;

impl Source for Usage {
    type Reading = Time;
    const VARIANT: &'static str = "getrusage";

    #[inline(always)]
    fn read() -> Time {
        clocks::usage()
    }

    fn place(reading: Time) -> u64 {
        reading.nanos(MICROS)
    }
}
