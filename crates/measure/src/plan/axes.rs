//! What a sweep varies of a kernel beside its workers: sizes of blocks, pages, strides, chains, delays.

use std::collections::HashMap;

use charz_kernels::{Bytes, Card, Family, Kernel, Params, Sizes, params};
use charz_topology::{CacheHolds, Machine, Strand};

use super::{Request, ResolvedRequest};
use charz_data::params::{PARAMS, Param};
use charz_data::report::Point;

/// The values that were requested, in place of those that each kernel varies by itself. A single value is also one of the
/// plan's parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub sizes: Option<AskedSizes>,
    /// Whether kernels with a curve of sizes take one size of each level.
    pub no_curves: bool,
    /// Values of other parameters.
    pub lists: Vec<(&'static Param, Vec<Params>)>,
}

impl Asked {
    /// The values asked for of a parameter other than the size.
    pub fn list(&self, wanted: &Param) -> Option<&[Params]> {
        self.lists.iter().find(|(param, _)| *param == wanted).map(|(_, values)| &values[..])
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedSizes {
    /// These, in bytes; at least one.
    List(Vec<u64>),
    /// One for each level of caches, and one for memory.
    Levels,
    /// The one for memory.
    Memory,
    /// Many, from inside the first cache to well past the last.
    Curve,
}

/// The block sizes that distinguish the levels of a machine's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// Inside of each level of caches, from the innermost outwards.
    levels: Vec<u64>,
    /// What the caches of the largest level hold; 0 where it is not known.
    last_cache: u64,
    /// In the middle (by ratio) between one and all caches of the outermost level that has several.
    between: Option<u64>,
}

/// What the smallest size of a curve is: 64 lines, inside of every first-level cache there is.
const CURVE_FROM: u64 = 4 << 10;
/// The least that a curve goes to where the caches are small or unknown.
const CURVE_TO: u64 = 64 << 20;
/// The most: some 16 million lines, whose cycle is built in a second or two.
const CURVE_MOST: u64 = 1 << 30;
/// A block in memory is at least this many times as large as the last cache.
const BEYOND: u64 = 4;
/// And no smaller than this where the caches are known: a pass of a millisecond or more. More only takes longer to touch.
const ENOUGH: u64 = 32 << 20;

impl BlockSizes {
    /// The sizes for a machine, for workers on all strands that can be used: the middle (by ratio) between what the caches of the
    /// level below hold for each strand, and what those of the level do, so a block is as far from either edge as possible.
    /// A level that holds less than twice that of the one below for each strand is left out: nothing lies well inside of it.
    pub fn of(machine: &Machine) -> BlockSizes {
        let mut shares: Vec<u64> = Vec::new();
        let (mut last_cache, mut between) = (0, None);
        let levels = machine.caches.iter().map(|cache| cache.level).max().unwrap_or(0);
        let sharers = sharers(machine, machine.usable_strands());
        for level in 1..=levels {
            let of_level = machine
                .caches
                .iter()
                .zip(&sharers)
                .filter(|(cache, _)| cache.level == level && holds_data(cache.holds));
            let used: Vec<(u64, u64)> = of_level
                .filter_map(|(cache, sharers)| Some((cache.size_bytes?, *sharers)))
                .filter(|(_, n)| *n > 0)
                .collect();
            let Some((size, share)) = used.iter().map(|&(size, n)| (size, size / n)).min_by_key(|(_, share)| *share)
            else {
                continue;
            };
            if used.len() > 1 {
                let all: u64 = used.iter().map(|(size, _)| size).sum();
                between = Some(middle(size, all));
            }
            last_cache = last_cache.max(size);
            shares.push(share);
        }
        let mut below = 0;
        let mut levels = Vec::new();
        for share in shares {
            if share >= 2 * below {
                levels.push(if below == 0 { whole_pages(share / 2) } else { middle(below, share) });
                below = share;
            }
        }
        BlockSizes { levels, last_cache, between }
    }

    /// Well past the last cache, and no less than a usual block: one that caches do not hold; `block` where they are not known.
    pub fn memory(&self, block: u64) -> u64 {
        match self.last_cache {
            0 => block,
            last => block.min(ENOUGH).max(last.saturating_mul(BEYOND)),
        }
    }

    /// The sizes of a kind, ascending; `block` is the one for memory where caches are not known. `None` for that one alone.
    pub(super) fn sizes(&self, kind: Sizes, block: u64) -> Option<Vec<u64>> {
        let memory = self.memory(block);
        match kind {
            Sizes::Block => (memory != block).then(|| vec![memory]),
            Sizes::Fixed(size) => Some(vec![size]),
            Sizes::BetweenCaches(source) => {
                let mut sizes: Vec<u64> = self.between.into_iter().chain([source]).collect();
                sizes.sort_unstable();
                sizes.dedup();
                Some(sizes)
            }
            Sizes::Levels => {
                let inside = self.levels.iter().copied().filter(|&size| size < memory);
                Some(inside.chain([memory]).collect())
            }
            Sizes::Curve => {
                let end = self.last_cache.saturating_mul(BEYOND).next_power_of_two().clamp(CURVE_TO, CURVE_MOST);
                let octaves = CURVE_FROM.ilog2()..end.ilog2();
                // Between two powers of two their middle by ratio, in whole lines.
                let steps = octaves.flat_map(|power| [1 << power, ((1_u64 << power) as f64 * 2_f64.sqrt()) as u64]);
                Some(steps.map(|size| size / LINE * LINE).chain([end]).collect())
            }
        }
    }
}

/// How many of these strands share each cache of the machine.
fn sharers<'a>(machine: &Machine, strands: impl Iterator<Item = &'a Strand>) -> Vec<u64> {
    let mut sharers = vec![0; machine.caches.len()];
    strands.flat_map(|strand| &strand.caches).for_each(|at| {
        sharers.get_mut(*at as usize).into_iter().for_each(|sharers| *sharers += 1);
    });
    sharers
}

/// Bytes of a cache line, of which blocks are made.
const LINE: u64 = 64;
const PAGE: u64 = 4 << 10;

/// The middle by ratio, in whole base pages.
fn middle(one: u64, other: u64) -> u64 {
    whole_pages((one as f64 * other as f64).sqrt() as u64)
}

/// The size in whole base pages, so the size that is reported is the size of the block.
fn whole_pages(size: u64) -> u64 {
    (size / PAGE).max(1) * PAGE
}

fn holds_data(holds: CacheHolds) -> bool {
    holds != CacheHolds::Instruction
}

pub(super) fn points(kernel: &dyn Kernel, asked: &Asked, base: &Params, ladder: &BlockSizes) -> Vec<Point> {
    let (own, card) = (kernel.axes(), kernel.card());
    let block = base.size_bytes;
    let sizes = match &asked.sizes {
        None if asked.no_curves && own.sizes == Sizes::Curve => ladder.sizes(Sizes::Levels, block),
        None => ladder.sizes(own.sizes, block),
        Some(AskedSizes::Levels) => ladder.sizes(Sizes::Levels, block),
        Some(AskedSizes::Memory) => ladder.sizes(Sizes::Block, block),
        Some(AskedSizes::Curve) => ladder.sizes(Sizes::Curve, block),
        Some(AskedSizes::List(list)) => (list.len() > 1).then(|| list.clone()),
    };
    let mut points = vec![Point::default()];
    for param in PARAMS.iter().filter(|param| param.vary && **param != &params::SIZE && **param != &params::MEMORY) {
        let own =
            || own.lists.iter().find(|(of, _)| of == param).map(|(_, list)| param.list(list).expect("it is tested"));
        let values = match asked.list(param) {
            Some(values) => (values.len() > 1 || is_named(param, values)).then(|| values.to_vec()),
            None => own(),
        };
        vary(&mut points, card, param, values);
    }
    let places = asked.list(&params::MEMORY).filter(|places| places.len() > 1 || is_named(&params::MEMORY, places));
    vary(&mut points, card, &params::MEMORY, places.map(<[Params]>::to_vec));
    let of_size = |size_bytes| Params { size_bytes, ..Params::SMALL };
    vary(&mut points, card, &params::SIZE, sizes.map(|sizes| sizes.into_iter().map(of_size).collect()));
    // A block without room for two places has nothing to go to.
    let fits = |point: &Point| {
        let Params { size_bytes, stride_bytes, .. } = point.params(base);
        !card.obeys(&params::STRIDE) || size_bytes >= 2 * stride_bytes
    };
    let (fitting, others): (Vec<_>, Vec<_>) = points.into_iter().partition(fits);
    if fitting.is_empty() { others } else { fitting }
}

/// Whether values are a cell's own even where there is a single one, if it is not the usual one: reports name it beside each number then.
fn is_named(param: &Param, values: &[Params]) -> bool {
    [&params::MEMORY, &params::MIX, &params::PROCESS].contains(&param)
        && values.iter().any(|value| !param.same(value, &Params::SMALL))
}

/// Each point with each of these values; as it is where there are none, or the kernel does not obey the parameter.
fn vary(points: &mut Vec<Point>, card: &Card, param: &Param, values: Option<Vec<Params>>) {
    if let Some(values) = values.filter(|_| card.obeys(param)) {
        *points = points.iter().flat_map(|point| values.iter().map(|value| point.with(param, value))).collect();
    }
}

impl ResolvedRequest<'_> {
    /// A worker's part of the block for memory, where the size was not asked for and is not what the kernel varies.
    pub(super) fn block(
        &self,
        request: &Request,
        kernel: &dyn Kernel,
        point: &Point,
        seats: &[Option<u32>],
    ) -> Option<u64> {
        let (base, card, asked) = (&request.params, kernel.card(), &request.asked);
        let size = point.params(base).size_bytes;
        let is_of_memory = size == self.memory_bytes && card.obeys(&params::SIZE) && card.family == Family::Memory;
        let is_asked = matches!(asked.sizes, Some(AskedSizes::List(_) | AskedSizes::Curve));
        let is_curve = kernel.axes().sizes == Sizes::Curve && asked.sizes.is_none() && !asked.no_curves;
        if !is_of_memory || is_asked || is_curve {
            return None;
        }
        Some(divided(self.machine, seats, size)).filter(|block| *block < size)
    }
}

/// The block of each of these workers that together pass the last caches by as much as one alone does with a block of `memory` bytes.
fn divided(machine: &Machine, seats: &[Option<u32>], memory: u64) -> u64 {
    let strands: HashMap<u32, &Strand> = machine.usable_strands().map(|strand| (strand.os_id, strand)).collect();
    let last = machine.caches.iter().map(|cache| cache.level).max();
    let of_last = |counts: Vec<u64>| {
        let counts = machine.caches.iter().zip(counts).filter(|(cache, _)| Some(cache.level) == last);
        counts.filter(|(cache, count)| holds_data(cache.holds) && *count > 0).map(|(_, count)| count).collect()
    };
    let sharers: Vec<u64> = of_last(sharers(machine, strands.values().copied()));
    let workers = seats.len() as u64;
    let seated: Option<Vec<&Strand>> = seats.iter().map(|seat| strands.get(&(*seat)?).copied()).collect();
    let each = match seated {
        Some(seated) => {
            let each: Vec<u64> = of_last(self::sharers(machine, seated.into_iter()));
            if each.iter().sum::<u64>() == workers { each.into_iter().min() } else { None }
        }
        // Where the scheduler puts them, evenly.
        None => workers.checked_div(sharers.len() as u64),
    };
    let share = memory.div_ceil(each.unwrap_or(1).max(1)).next_multiple_of(PAGE);
    share.max(ENOUGH).min(memory)
}

/// The level of caches that holds the blocks of all these workers by what the operating system claims, or `memory`; `None`
/// where it is not known which workers share which cache.
pub(super) fn level(machine: &Machine, seats: &[Option<u32>], block: Bytes) -> Option<String> {
    let strands = machine.usable_strands();
    let seated: Vec<&Strand> = match seats {
        // Alone, it does not matter where.
        [None] => strands.take(1).collect(),
        _ => {
            let known: HashMap<u32, &Strand> = strands.map(|strand| (strand.os_id, strand)).collect();
            seats.iter().map(|seat| known.get(&(*seat)?).copied()).collect::<Option<_>>()?
        }
    };
    let levels = machine.caches.iter().map(|cache| cache.level).max()?;
    let sharers = sharers(machine, seated.into_iter());
    let inside = |level: u32| {
        let holds = |(cache, sharers): (&charz_topology::Cache, &u64)| {
            cache.size_bytes.is_some_and(|size| block.0.saturating_mul(*sharers) <= size)
        };
        let of_level = machine.caches.iter().zip(&sharers);
        let mut of_level = of_level.filter(|(cache, _)| cache.level == level && holds_data(cache.holds)).peekable();
        of_level.peek().is_some() && of_level.all(holds)
    };
    let level = (1..=levels).find(|&level| inside(level));
    Some(level.map_or_else(|| "memory".to_owned(), |level| format!("L{level}")))
}

#[cfg(test)]
mod tests;
