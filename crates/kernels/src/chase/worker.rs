//! Workers that follow rings.

use std::time::{Duration, Instant};

use charz_data::params::MAX_OPS;
use charz_data::{PageKind, Params, Work};

use crate::block::{Block, Line, Region};
use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::sys::chase::{LONG_TURN, MOST_RINGS, Rings, TURN};
use crate::watch::Watch;

/// How long a worker follows its rings at most before a repetition. In that time it comes round a block of 8 MiB on Zen 4, and what
/// is larger than that hardly stays in a cache from one repetition to the next, or is continued where the last one ended.
const WARM: Duration = Duration::from_millis(5);

/// From it, the orders of all workers are drawn: the same in every process.
const SEED: u64 = 0x5a77_0106;

#[derive(Clone, Copy, Debug)]
pub(super) struct Chasing {
    name: &'static str,
    order: Order,
    lines: usize,
    /// Lines from one place to the next.
    step: usize,
    rings: usize,
    length: usize,
    pages: PageKind,
    /// Pairs of operations between a load and the next of its ring.
    pairs: u64,
}

impl Chasing {
    pub(super) fn new(name: &'static str, order: Order, params: &Params) -> Result<Self, Error> {
        let (size, stride, chains) = (params.size_bytes, params.stride_bytes, params.chains);
        let refused = |reason| Err(Error::Unavailable(format!("{name} {reason}")));
        if stride == 0 || stride % Line::BYTES as u64 != 0 {
            let line = Line::BYTES;
            return refused(format!("needs a stride of whole lines, not {stride} bytes: ask for a multiple of {line}"));
        }
        if !(1..=MOST_RINGS as u64).contains(&chains) {
            return refused(format!("follows 1 to {MOST_RINGS} chains, not {chains}: ask for a number of those"));
        }
        let places = size / stride;
        if places < chains {
            let least = stride.saturating_mul(chains);
            return refused(format!("needs at least {least} bytes a worker, not {size}: ask for more"));
        }
        if places > Order::MOST {
            let most = Order::MOST;
            return refused(format!(
                "links {most} places at most, not {places}: ask for a longer stride or a smaller size"
            ));
        }
        let ops = if order == Order::Computing { params.ops_per_load } else { 0 };
        if ops % 2 != 0 || ops > MAX_OPS {
            return refused(format!("does 0 to {MAX_OPS} operations per load, an even number, not {ops}"));
        }
        let (lines, step) = (size as usize / Line::BYTES, stride as usize / Line::BYTES);
        let (rings, length) = (chains as usize, (places / chains) as usize);
        Ok(Chasing { name, order, lines, step, rings, length, pages: params.pages, pairs: ops / 2 })
    }
}

pub(super) struct Chaser {
    name: &'static str,
    order: Order,
    pub(super) rings: Rings,
    /// How many loads of each ring were asked for since the worker was built.
    pub(super) loads: u64,
}

impl Chaser {
    pub(super) fn new(stage: Chasing, rank: usize) -> Result<Self, Error> {
        let Chasing { name, order, lines, step, rings, length, pages, pairs } = stage;
        let block = Block::zeroed(lines, pages)?;
        let rings = order.link(block, rings, length, step, SEED + rank as u64).ok_or_else(|| {
            Error::Wrong(format!(
                "{name}: the places of the block were not linked to full cycles: nothing can be measured"
            ))
        })?;
        Ok(Chaser { name, order, rings: rings.computing(pairs), loads: 0 })
    }

    /// Follows the rings for a stretch, and returns how many loads that were of each.
    fn stretch(&mut self, turns: u64) -> u64 {
        let loads = match self.order {
            Order::Unrolled => {
                self.rings.follow_long(turns);
                turns * LONG_TURN
            }
            Order::Computing => {
                self.rings.compute(turns);
                turns
            }
            Order::Random | Order::Ascending => {
                self.rings.follow(turns);
                turns * TURN
            }
        };
        self.loads += loads;
        loads
    }
}

impl Worker for Chaser {
    fn prepare(&mut self) {
        let (round, mut done, mut pace) = (self.rings.length() as u64, 0, Pace::start());
        let start = Instant::now();
        while done < round && start.elapsed() < WARM {
            done += self.stretch(pace.attempts());
            pace.adapt();
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut done, mut pace) = (0, Pace::start());
        while !watch.should_stop_after(done * self.rings.rings() as u64) {
            done += self.stretch(pace.attempts());
            pace.adapt();
        }
        Work::ops(done * self.rings.rings() as u64)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let length = self.rings.length() as u64;
        for (ring, found) in (0..).zip(self.rings.ranks()) {
            let expected = ring * length + self.loads % length;
            Error::unless(found == expected, self.name, || {
                format!("{} loads of cycle {ring} led to place {found} instead of {expected}", self.loads)
            })?;
        }
        Ok(())
    }

    fn region(&self) -> Option<Region> {
        Some(self.rings.block().region())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Any, all with the same chance.
    Random,
    Ascending,
    /// Random, with operations between the loads of a ring.
    Computing,
    /// Ascending, of a single ring, by a loop of [`LONG_TURN`] load instructions.
    Unrolled,
}

impl Order {
    /// The most places that an order is drawn for: 256 GiB at 64 bytes each.
    pub(super) const MOST: u64 = 1 << 32;

    /// The memory that it takes to draw one, in bytes.
    pub(super) fn footprint(self, places: u64) -> u64 {
        match self {
            Order::Random | Order::Computing => places.saturating_mul(size_of::<u32>() as u64),
            Order::Ascending | Order::Unrolled => 0,
        }
    }

    /// Links `rings` rings of `length` places each, which are `step` lines apart. The seed decides on a random order.
    ///
    /// `None` if what was to be linked are no such rings.
    pub(super) fn link(self, block: Block, rings: usize, length: usize, step: usize, seed: u64) -> Option<Rings> {
        match self {
            Order::Random | Order::Computing => {
                let order = shuffled(rings * length, seed);
                Rings::link(block, rings, length, |rank| order[rank] as usize * step)
            }
            Order::Ascending | Order::Unrolled => Rings::link(block, rings, length, |rank| rank * step),
        }
    }
}

/// The numbers below `count`, at most [`Order::MOST`], in an order of which each has the same chance. It is a Fisher-Yates shuffle.
fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).map(|place| place as u32).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    order
}
