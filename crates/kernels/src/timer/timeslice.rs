//! `timeslice`: how long the scheduler lets a thread run before another gets its CPU, and how long it is away then.

use charz_data::params::SAMPLES;
use charz_data::{Card, Family, Metric, Params};

use crate::kernel::{Error, Kernel};
use crate::sample::{Probe, sampled};
use crate::sync::preempted::Rival;
use crate::sys::pthread::thread::Mask;
use crate::sys::strand;
use crate::watch::Watch;

/// A gap that is no shorter was another thread's turn: interrupts take less as a rule, and turns are a hundred times as long.
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
    /// When it got the CPU last; `None` before its first turn ended.
    since: Option<u64>,
    /// The CPUs that the thread had before.
    before: Mask,
}

impl Probe for Turn {
    const VARIANT: &'static str = "beside a rival on the CPU";

    fn check() -> Result<(), Error> {
        Ok(())
    }

    fn new(_: &'static str, _: &Params) -> Result<Self, Error> {
        let before = Mask::own()?;
        // A thread that may go elsewhere would leave its rival the CPU.
        let cpu =
            strand::current().ok_or_else(|| Error::Unavailable("the system does not say which CPU this is".into()))?;
        Mask::of(cpu).bind()?;
        Ok(Turn { rival: Rival::here()?, since: None, before })
    }

    fn sample(&mut self, watch: &Watch) -> Result<Option<(u64, u64)>, Error> {
        self.rival.work(true);
        let mut last = watch.now();
        loop {
            for _ in 0..LOOKS {
                let now = watch.now();
                if now.saturating_sub(last) >= TURN_NS {
                    let had = self.since.replace(now).map(|since| last.saturating_sub(since));
                    self.rival.work(false);
                    return Ok(had.map(|had| (had, now - last)));
                }
                last = now;
            }
            if watch.should_stop() {
                self.rival.work(false);
                self.since = None;
                return Ok(None);
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = self.before.bind();
    }
}
