//! Clocks, and waits that are to end at a given time.
//!
//! Of each [clock](Source) three things are told: what a reading costs when one follows the other (`read-*`), by how much the clock
//! moves from one value to the next (`step-*`), and what a reading costs whose code has left the first-level cache (`first-*`).
//! They are the time-stamp counter's table of the TACC report, for the clocks that programs read today.
//!
//! `timeout-*` ask the system to be woken after a time, and look how late it was: Sistare's survey of the calls that take a
//! timeout.

mod first;
mod read;
mod sample;
mod scale;
mod source;
mod timeout;

use first::First;
use read::Step;
use sample::sampled;
use source::{Coarse, Cpu, Instant, Monotonic, Ordered, Raw, Realtime, Tsc, Usage, Waiting};

use charz_data::params::SAMPLES;
use charz_data::{Card, Family, Metric};

use crate::kernel::Kernel;

pub(crate) use timeout::KERNELS as TIMEOUT_KERNELS;

const CARD: Card = Card::new("", Family::Timer, "", Metric::Duration).params(&[&SAMPLES]).source(
    "TACC multi-core report, Table 2: the time-stamp counter's accuracy, its throughput back to back, and what a first \
             call costs; here for other clocks too",
);

macro_rules! clocks {
    ($($source:ty, $read:ident, $step:ident, $first:ident, $word:literal, $what:literal;)*) => {
        $(
            static $read: &dyn Kernel = &read::read::<$source>(const { &read::READ.named(concat!("read-", $word), concat!("reads ", $what, " again and again")) });

            static $step: &dyn Kernel = &sampled::<Step<$source>>(const { &read::STEP.named(concat!("step-", $word), concat!("reads ", $what, " until it shows another value, and again")) });

            static $first: &dyn Kernel = &sampled::<First<$source>>(const { &first::CARD.named(concat!("first-", $word), concat!("reads ", $what, " once right after another reading, and once after much other code ran")) });
        )*
        pub(crate) static KERNELS: &[&dyn Kernel] = &[$($read,)* $($step,)* $($first,)*];
    };
}

clocks! {
    Tsc, READ_TSC, STEP_TSC, FIRST_TSC, "tsc", "the processor's counter of time";
    Ordered, READ_TSC_ORDERED, STEP_TSC_ORDERED, FIRST_TSC_ORDERED, "tsc-ordered",
        "the processor's counter of time, behind a fence that waits for what stands in front,";
    Waiting, READ_TSCP, STEP_TSCP, FIRST_TSCP, "tscp",
        "the processor's counter of time, by the instruction that waits for what stands in front by itself,";
    Monotonic, READ_MONOTONIC, STEP_MONOTONIC, FIRST_MONOTONIC, "monotonic", "CLOCK_MONOTONIC";
    Raw, READ_MONOTONIC_RAW, STEP_MONOTONIC_RAW, FIRST_MONOTONIC_RAW, "monotonic-raw", "CLOCK_MONOTONIC_RAW";
    Coarse, READ_MONOTONIC_COARSE, STEP_MONOTONIC_COARSE, FIRST_MONOTONIC_COARSE, "monotonic-coarse",
        "CLOCK_MONOTONIC_COARSE";
    Realtime, READ_REALTIME, STEP_REALTIME, FIRST_REALTIME, "realtime", "CLOCK_REALTIME";
    Instant, READ_INSTANT, STEP_INSTANT, FIRST_INSTANT, "instant", "std::time::Instant";
    Cpu, READ_CPU, STEP_CPU, FIRST_CPU, "cpu", "the processor time of the process, by clock(),";
    Usage, READ_USAGE, STEP_USAGE, FIRST_USAGE, "usage", "the processor time of the thread, by getrusage(),";
}

#[cfg(test)]
mod tests;
