//! In which order rings come by their places.

use crate::block::Block;
use crate::sys::chase::Rings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Any, all with the same chance.
    Random,
    Ascending,
}

impl Order {
    /// The most places that an order is drawn for: 256 GiB at 64 bytes each.
    pub(crate) const MOST: u64 = 1 << 32;

    /// The memory that it takes to draw one, in bytes.
    pub(crate) fn footprint(self, places: u64) -> u64 {
        match self {
            Order::Random => places.saturating_mul(size_of::<u32>() as u64),
            Order::Ascending => 0,
        }
    }

    /// Links `rings` rings of `length` places each, which are `step` lines apart. The seed decides on a random order.
    ///
    /// `None` if what was to be linked are no such rings.
    pub(crate) fn link(self, block: Block, rings: usize, length: usize, step: usize, seed: u64) -> Option<Rings> {
        match self {
            Order::Random => {
                let order = shuffled(rings * length, seed);
                Rings::link(block, rings, length, |rank| order[rank] as usize * step)
            }
            Order::Ascending => Rings::link(block, rings, length, |rank| rank * step),
        }
    }
}

/// The numbers below `count`, at most [`Order::MOST`], in an order of which each has the same chance. It is a Fisher-Yates shuffle.
fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).map(|place| place as u32).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    order
}
