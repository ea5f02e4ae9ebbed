//! `loaded-*`: how long a load takes while others keep the memory busy.
//!
//! Worker 0 follows a random cycle through its block, and each of its loads waits for the one before. All others stream through
//! blocks of their own, a portion at a time, and make a delay after each: the longer the delay, the less they load the memory. The
//! number is worker 0's time of a load; the bytes of the others, in their laps, are the bandwidth that it goes with. One delay after
//! the other they make a curve, flat at first, which turns up where the memory's queues fill. Intel's Memory Latency Checker draws
//! the same curve.

use charz_data::card::ROOM;
use charz_data::params::{DELAY, MEMORY, PAGES, SIZE, SPAN};
use charz_data::{Card, Family, Metric, Params, Role, Work, WorkerCount};

use crate::block::Region;
use crate::chase::{self, Order};
use crate::kernel::{Axes, Error, Sizes, Worker};
use crate::level::{Op, Passer, Passing};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, block_of_size, kernels, stage};
use crate::sync::section;
use crate::watch::Watch;

/// Lines of a portion: 1 KiB, which takes some 30 ns where no other worker loads the memory.
const PORTION: usize = 16;

/// The most portions between two looks at the watch: 64 µs at 16 GB/s, and less where there are delays, as [`Pace`] sees to.
const MOST: u64 = 1024;

/// From portions back to back to one in some 4 µs, a quarter of a GB/s a worker. They are closest where a worker alone goes from all
/// that it can to a half.
const DELAYS: &str = "0,32,128,256,512,1024,4096";

const CARD: Card = Card::new("", Family::Memory, "", Metric::op_time("a load of worker 0 that needs what the one before it found"))
    .uncounted_traffic("the bytes of all other workers, which load the memory meanwhile: a kibibyte, then a delay of `--delay` steps of about a \
             nanosecond")
    .params(&[&SPAN, &SIZE, &MEMORY, &PAGES, &DELAY])
    .role(Role::LoadedLatency)
    .source("loaded latency as in Intel's Memory Latency Checker")
    .max_per_cycle(ROOM / chase::LATENCY)
    .workers(WorkerCount::AtLeast(2));

kernels! {
    loaded, Op::Read => CARD
        .named("loaded-read", "worker 0 follows a random cycle through its block, while all others read blocks of \
            their own");
    loaded, Op::Write => CARD
        .named("loaded-write", "worker 0 follows a random cycle through its block, while all others overwrite blocks \
            of their own with ordinary stores");
}

/// The kernel whose other workers do this to their blocks.
const fn loaded(card: &'static Card, load: Op) -> PlainKernel<Op> {
    let footprint = |kernel: &PlainKernel<Op>, params: &Params| {
        chase::footprint(Order::Random, &line_by_line(params)).max(block_of_size(kernel, params))
    };
    let kernel = PlainKernel::new(card, load, footprint, |kernel, params, _| {
        let (name, delay) = (kernel.name(), params.delay);
        let load = Passing::new(name, kernel.data, params)?;
        let chase = chase::chasing(name, Order::Random, &line_by_line(params))?;
        stage(load.looping.name(), Extent::Span(load.span), move |rank| match rank {
            0 => chase.worker(rank),
            _ => Ok(Box::new(Loader { passer: Passer::new(load, rank)?, stage: load, delay })),
        })
    });
    kernel.axes(Axes { sizes: Sizes::Block, lists: &[(&DELAY, DELAYS)], ..Axes::NONE })
}

/// The same parameters with each line a place of the cycle.
fn line_by_line(params: &Params) -> Params {
    Params { stride_bytes: Params::SMALL.stride_bytes, chains: 1, ..*params }
}

struct Loader {
    passer: Passer,
    stage: Passing,
    delay: u64,
}

impl Worker for Loader {
    fn prepare(&mut self) {
        self.passer.prepare();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut lines, mut seed, mut pace) = (0, 0, Pace::up_to(MOST));
        while !watch.should_stop() {
            for _ in 0..pace.attempts() {
                lines += self.passer.go_on(PORTION);
                seed = section(self.delay, seed);
            }
            pace.adapt();
        }
        // The result of the delays is not used: without this the compiler could leave them out.
        std::hint::black_box(seed);
        self.stage.bytes(lines)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.passer.verify()
    }

    fn region(&self) -> Option<Region> {
        self.passer.region()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::tests::{Look, stage_laps};

    /// What worker 0 and another do together in a short run.
    fn works(kernel: &dyn Kernel, delay: u64) -> [Work; 2] {
        let params = Params { size_bytes: 1 << 20, delay, span_ns: 5_000_000, ..Params::SMALL };
        let stage = kernel.stage(&params, 2).unwrap();
        let laps = stage_laps(stage.as_ref(), 2, 1, |_, _| Look::whole(stage.span()));
        [0, 1].map(|worker| {
            let lap = &laps[worker][0];
            assert_eq!(lap.verdict, Ok(()));
            lap.work
        })
    }

    #[test]
    fn the_first_waits_and_the_others_load() {
        for kernel in KERNELS {
            let [first, other] = works(*kernel, 0);
            assert!(first.ops.0 > 0 && first.bytes.0 == 0, "{first:?}");
            assert!(other.bytes.0 > 0 && other.ops.0 == 0, "{other:?}");
            assert_eq!(other.bytes.0 % (PORTION as u64 * 64), 0, "whole portions: {other:?}");
        }
    }

    /// A delay a thousand times as long as a portion leaves next to nothing of the load, however busy the machine.
    #[test]
    fn delays_take_load_away() {
        let [_, without] = works(KERNELS[0], 0);
        let [_, with] = works(KERNELS[0], 100_000);
        assert!(with.bytes.0 * 5 < without.bytes.0, "{with:?} {without:?}");
    }
}
