//! A counter in shards: a stock for each, and one in the middle.

use super::Counter;
use super::primitives::{AtomicU64, CachePadded, Ordering};

/// Units that go between a shard and the middle at once. A shard that has twice as many gives so many back.
const BATCH: u64 = 16;

/// The units that are not out lie in the middle or in a shard. There are never more than at first, whichever worker takes and
/// gives, since each is taken from one place before it is put into another: that is the limit.
///
/// Two levels and no more: the shards fetch from the middle, and from each other when that is empty.
#[derive(Debug)]
pub struct Sharded {
    middle: CachePadded<AtomicU64>,
    shards: Box<[CachePadded<AtomicU64>]>,
}

impl Sharded {
    /// So many units, all in the middle, and empty shards.
    pub fn with_shards(units: u64, shards: usize) -> Self {
        let stock = |units| CachePadded::new(AtomicU64::new(units));
        Sharded { middle: stock(units), shards: (0..shards).map(|_| stock(0)).collect() }
    }

    fn shard(&self, rank: usize) -> usize {
        // A division takes as long as the rest, and is needed only where workers outnumber shards.
        if rank < self.shards.len() { rank } else { rank % self.shards.len() }
    }
}

impl Counter for Sharded {
    fn take(&self, rank: usize, _: &mut u64) -> bool {
        let ours = self.shard(rank);
        if take(&self.shards[ours], 1) == 1 {
            return true;
        }
        let fetched = take(&self.middle, BATCH);
        if fetched > 0 {
            give(&self.shards[ours], fetched - 1);
            return true;
        }
        let others = self.shards[ours + 1..].iter().chain(&self.shards[..ours]);
        others.into_iter().any(|shard| take(shard, 1) == 1)
    }

    fn give(&self, rank: usize) {
        let ours = &self.shards[self.shard(rank)];
        if give(ours, 1) >= 2 * BATCH {
            give(&self.middle, take(ours, BATCH));
        }
    }

    /// Where units are on their way, fewer than there are.
    fn free(&self) -> u64 {
        let shards = self.shards.iter().map(|shard| shard.load(Ordering::Relaxed));
        self.middle.load(Ordering::Relaxed) + shards.sum::<u64>()
    }
}

/// Takes as many units as there are, at most so many, out of a stock, and returns how many.
fn take(stock: &AtomicU64, most: u64) -> u64 {
    let mut seen = stock.load(Ordering::Relaxed);
    loop {
        let taken = seen.min(most);
        if taken == 0 {
            return 0;
        }
        // Acquire: a worker that has a unit sees what the one that had it before did with it.
        match stock.compare_exchange(seen, seen - taken, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return taken,
            Err(found) => seen = found,
        }
    }
}

/// Puts units into a stock, and returns how many there are then.
fn give(stock: &AtomicU64, units: u64) -> u64 {
    // Release: the other side of the exchange in `take`.
    stock.fetch_add(units, Ordering::Release) + units
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a number: a unit is refused when all are out and only then, from whichever shard the others come.
        #[test]
        #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
        fn it_does_as_one_number_does(
            units in 0..100_u64, shards in 1..5_usize, steps in prop::collection::vec((any::<bool>(), 0..8_usize), 0..400),
        ) {
            let (counter, mut out) = (Sharded::with_shards(units, shards), 0);
            for (takes, rank) in steps {
                if takes {
                    let had = counter.take(rank, &mut 0);
                    prop_assert_eq!(had, out < units);
                    out += u64::from(had);
                } else if out > 0 {
                    counter.give(rank);
                    out -= 1;
                }
                prop_assert_eq!(counter.free(), units - out);
                // What lies in a shard does not grow for ever.
                let most = counter.shards.iter().map(|shard| shard.load(Ordering::Relaxed)).max();
                prop_assert!(most < Some(2 * BATCH));
            }
        }
    }
}
