//! Clocks, and waits that are to end at a given time.
//!
//! Each [clock](Source) has three kernels: the cost of a reading when one follows the other (`read-*`), by how much the
//! clock moves from one value to the next (`step-*`), and the cost of a reading whose code has left the first-level cache
//! (`first-*`). They are the time-stamp counter's table of the TACC report, for the clocks that programs read today.
//!
//! `timeout-*` ask the system to be woken after a time, and look how late it was: Sistare's survey of the calls that take a
//! timeout. `timeslice` looks how long the scheduler lets a thread have a CPU that another wants, and `interrupted` what interrupts
//! take from it.

mod first;
mod interrupted;
mod read;
mod scale;
mod source;
mod timeout;
mod timeslice;

use first::First;
use read::Step;
use source::{Coarse, Cpu, Instant, Monotonic, Ordered, Raw, Realtime, Ticks, Tsc, Usage, Waiting};

use charz_data::params::SAMPLES;
use charz_data::{Card, Family, Metric};

use crate::kernel::Kernel;
use crate::sample::sampled;

pub(crate) use interrupted::KERNELS as INTERRUPTED_KERNELS;
pub(crate) use timeout::KERNELS as TIMEOUT_KERNELS;
pub(crate) use timeslice::KERNELS as TIMESLICE_KERNELS;

const CARD: Card = Card::new("", Family::Timer, "", Metric::Duration).params(&[&SAMPLES]).source(
    "TACC multi-core report, Table 2: the time-stamp counter's accuracy, its throughput back to back, and what a first \
             call costs; here for other clocks too",
);

/// The three kernels of each clock: its word, and what it is.
macro_rules! clocks {
    ($($source:ty, $word:literal, $what:literal;)*) => {
        pub(crate) static KERNELS: &[&dyn Kernel] = &[
            $(&read::read::<$source>(const {
                &read::READ.named(concat!("read-", $word), concat!("reads ", $what, " again and again"))
            }),)*
            $(&sampled::<Step<$source>>(const {
                &read::STEP.named(concat!("step-", $word), concat!("reads ", $what, " until it shows another value, \
                    and again"))
            }),)*
            $(&sampled::<First<$source>>(const {
                &first::CARD.named(concat!("first-", $word),
                    concat!("reads ", $what, " once right after another reading, and once after much other code ran"))
            }),)*
        ];
    };
}

clocks! {
    Tsc, "tsc", "the processor's counter of time";
    Ordered, "tsc-ordered", "the processor's counter of time, behind a fence that waits for what stands in front,";
    Waiting, "tscp", "the processor's counter of time, by the instruction that waits for what stands in front by \
        itself,";
    Monotonic, "monotonic", "CLOCK_MONOTONIC";
    Raw, "monotonic-raw", "CLOCK_MONOTONIC_RAW";
    Coarse, "monotonic-coarse", "CLOCK_MONOTONIC_COARSE";
    Realtime, "realtime", "CLOCK_REALTIME";
    Instant, "instant", "std::time::Instant";
    Cpu, "cpu", "the processor time of the process, by clock(),";
    Ticks, "times", "the time since some moment, by times(),";
    Usage, "usage", "the processor time of the thread, by getrusage(),";
}

#[cfg(test)]
mod tests;
