//! `timeslice`: how long the scheduler lets a thread run before another gets its CPU, and how long it is away then.

use charz_data::params::SAMPLES;
use charz_data::{Card, Family, Metric, Params};

use crate::kernel::{Error, Kernel};
use crate::sample::{Probe, sampled};
use crate::sync::preempted::Rival;
use crate::watch::Watch;

/// Gaps at least as long are turns of another thread: interrupts take less as a rule, and turns are a hundred times as long.
const TURN_NS: u64 = 50_000;
/// Readings of the clock between two looks at the watch.
const LOOKS: u32 = 1000;

static CARD: Card = Card::new(
    "timeslice",
    Family::Timer,
    "reads the clock on a CPU that another thread wants too, and looks how long each of them has it",
    Metric::SecondTime,
)
.times("from getting the CPU until it is taken away", "from losing the CPU until it is back")
.uncounted_traffic("gaps of 50 µs and more count, also those of other programs and of the host")
.params(&[&SAMPLES])
.source(
    "S. Sistare, Solaris scalability: the quantum of the scheduler; Linux kernel documentation, scheduler/sched-eevdf",
)
.on_one_strand()
.blocks_in_kernel(true);

pub(crate) static KERNELS: &[&dyn Kernel] = &[&sampled::<Turn>(&CARD)];

struct Turn {
    rival: Rival,
    /// When it got the CPU last; `None` before its first turn of a run ended.
    since: Option<u64>,
}

impl Probe for Turn {
    const VARIANT: &'static str = "beside a rival on the CPU";

    fn check() -> Result<(), Error> {
        Ok(())
    }

    fn new(_: &'static str, _: &Params) -> Result<Self, Error> {
        Ok(Turn { rival: Rival::here()?, since: None })
    }

    fn sample(&mut self, watch: &Watch) -> Result<Option<(u64, u64)>, Error> {
        self.rival.work(true);
        let mut last = watch.now();
        loop {
            for _ in 0..LOOKS {
                let now = watch.now();
                if now.saturating_sub(last) >= TURN_NS {
                    // The first turn of a run is that of a thread that has just begun, or whose rival has.
                    return Ok(self.since.replace(now).map(|since| (last.saturating_sub(since), now - last)));
                }
                last = now;
            }
            if watch.should_stop() {
                return Ok(None);
            }
        }
    }

    fn rest(&mut self) {
        self.rival.work(false);
        self.since = None;
    }
}
