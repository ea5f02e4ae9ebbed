//! What a sweep varies of a kernel beside its workers: sizes of blocks, pages, strides, chains, delays.

use std::collections::HashMap;

use charz_kernels::{Bytes, Card, Family, Kernel, PageKind, Params, Sizes, params};
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
    /// Whether the pages were left to the plan: base pages take the place of transparent huge ones where the system gives none.
    pub fitting_pages: bool,
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
    /// Inside of each level of caches, from the innermost outwards, for workers on all strands at once.
    levels: Vec<u64>,
    /// The same for a worker that has the caches of its strand for itself.
    alone: Vec<u64>,
    /// The largest of the last caches; `None` where it is not known.
    last_cache: Option<u64>,
    /// In the middle (by ratio) between one and all caches of the outermost level that has several.
    between: Option<u64>,
    /// Whether the last caches that are listed are the last that there are.
    ends: bool,
}

/// What the smallest size of a curve is: 64 lines, inside of every first-level cache there is.
const CURVE_FROM: u64 = 4 << 10;
/// The least that a curve goes to where the caches are small, and where larger ones may lie behind them.
const CURVE_TO: [u64; 2] = [64 << 20, 256 << 20];
/// The most: some 16 million lines, whose cycle is built in a second or two.
const CURVE_MOST: u64 = 1 << 30;
/// A block in memory is at least this many times as large as the last cache.
const BEYOND: u64 = 4;
/// And no larger than this, whatever a machine claims.
const MOST: u64 = 1 << 50;
/// And no smaller than this where all caches are known: a pass of a millisecond or more. More only takes longer to touch.
const ENOUGH: u64 = 32 << 20;

impl BlockSizes {
    /// The sizes for a machine: the middle (by ratio) between what the caches of the level below hold for each strand, and what those of the
    /// level do, so a block is as far from either edge as possible. A level that holds less than twice that of the one below for each strand
    /// is left out: nothing lies well inside of it.
    pub fn of(machine: &Machine) -> BlockSizes {
        let last = machine.caches.iter().map(|cache| cache.level).max().unwrap_or(0);
        let sharers = sharers(machine, machine.usable_strands());
        let used = |level: u32| {
            let of_level = data_caches(machine, &sharers, level);
            of_level.filter_map(|(cache, sharers)| Some((cache.size_bytes?, sharers))).collect::<Vec<(u64, u64)>>()
        };
        let several = (1..=last).rev().map(used).find(|used| used.len() > 1);
        let between = several.and_then(|used| {
            let sizes = used.iter().map(|(size, _)| *size);
            Some(middle(sizes.clone().min()?, sizes.sum()))
        });
        let alone = machine.usable_strands().next().map(|strand| machine.cache_sizes(strand));
        BlockSizes {
            levels: inside((1..=last).filter_map(|level| used(level).iter().map(|(size, n)| size / n).min())),
            alone: inside(alone.into_iter().flatten()),
            last_cache: machine.last_cache_bytes(),
            between,
            ends: lists_last(machine),
        }
    }

    /// Well past the last cache, and no less than a usual block: one that caches do not hold; at least `block` where they are not known, or
    /// larger ones may lie behind them.
    pub fn memory(&self, block: u64) -> u64 {
        let usual = if self.ends { block.min(ENOUGH) } else { block };
        self.last_cache.map_or(block, |last| usual.max(last.saturating_mul(BEYOND)).min(MOST))
    }

    /// One size for each level of caches that a worker alone has, and the one for memory.
    fn of_one(&self, block: u64) -> Vec<u64> {
        let memory = self.memory(block);
        self.alone.iter().copied().filter(|&size| size < memory).chain([memory]).collect()
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
                let past = self.last_cache.unwrap_or(0).saturating_mul(BEYOND).min(CURVE_MOST);
                let end = past.next_power_of_two().max(CURVE_TO[usize::from(!self.ends)]);
                let octaves = CURVE_FROM.ilog2()..end.ilog2();
                // Between two powers of two their middle by ratio, in whole lines.
                let steps = octaves.flat_map(|power| [1 << power, ((1_u64 << power) as f64 * 2_f64.sqrt()) as u64]);
                Some(steps.map(|size| size / LINE * LINE).chain([end]).collect())
            }
        }
    }
}

/// Whether the last caches that the system lists are the last that there are. Behind those that cores have for themselves, and behind a
/// second level of which a socket has several, a larger one may lie that is listed nowhere: one of the interconnect, or those of other cores.
fn lists_last(machine: &Machine) -> bool {
    let data = || machine.caches.iter().filter(|cache| holds_data(cache.holds));
    let level = data().map(|cache| cache.level).max().unwrap_or(0);
    let last: Vec<u32> = data().filter(|cache| cache.level == level).map(|cache| cache.strands).collect();
    let core = machine.cores.iter().map(|core| core.strands).max().unwrap_or(1);
    let package = machine.packages.iter().map(|package| package.strands).max().unwrap_or(u32::MAX);
    let is_last = |strands: &u32| *strands > core && (level >= 3 || *strands >= package);
    machine.last_cache_bytes().is_some() && (level >= 3 && last.len() == 1 || last.iter().any(is_last))
}

/// The data caches of a level that have sharers, each with their number.
fn data_caches<'a>(
    machine: &'a Machine,
    sharers: &'a [u64],
    level: u32,
) -> impl Iterator<Item = (&'a charz_topology::Cache, u64)> + Clone {
    let caches = machine.caches.iter().zip(sharers.iter().copied());
    caches.filter(move |(cache, sharers)| cache.level == level && *sharers > 0 && holds_data(cache.holds))
}

/// A size well inside of each of these, which are ascending: what a strand has of each level.
fn inside(shares: impl Iterator<Item = u64>) -> Vec<u64> {
    let (mut below, mut levels) = (0, Vec::new());
    for share in shares {
        if share >= 2 * below {
            levels.push(if below == 0 { whole_pages(share / 2) } else { middle(below, share) });
            below = share;
        }
    }
    levels
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
    let (block, is_without_huge) = (base.size_bytes, asked.fitting_pages && base.pages == PageKind::Small);
    let sizes = match &asked.sizes {
        None if asked.no_curves && own.sizes == Sizes::Curve => Some(ladder.of_one(block)),
        None if own.alone && card.workers.min() == 1 && own.sizes == Sizes::Levels => Some(ladder.of_one(block)),
        None => ladder.sizes(own.sizes, block),
        Some(AskedSizes::Levels) => ladder.sizes(Sizes::Levels, block),
        Some(AskedSizes::Memory) => ladder.sizes(Sizes::Block, block),
        Some(AskedSizes::Curve) => ladder.sizes(Sizes::Curve, block),
        Some(AskedSizes::List(list)) => (list.len() > 1).then(|| list.clone()),
    };
    let mut points = vec![Point::default()];
    for param in PARAMS.iter().filter(|param| param.vary && **param != &params::SIZE && **param != &params::MEMORY) {
        let own = || {
            let (_, list) = own.lists.iter().find(|(of, _)| of == param)?;
            let mut values = param.list(list).expect("it is tested");
            if is_without_huge && *param == &params::PAGES {
                let huge = values.iter_mut().filter(|value| value.pages == PageKind::Transparent);
                huge.for_each(|value| value.pages = PageKind::Small);
                values.dedup();
            }
            Some(values)
        };
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
        let (card, own) = (kernel.card(), kernel.axes().sizes);
        let kind = match &request.asked.sizes {
            None if own == Sizes::Curve && request.asked.no_curves => Sizes::Levels,
            None => own,
            Some(AskedSizes::Levels | AskedSizes::Memory) => Sizes::Levels,
            Some(AskedSizes::List(_) | AskedSizes::Curve) => return None,
        };
        let size = point.params(&request.params).size_bytes;
        let is_of_memory = Some(size) == self.memory_bytes && matches!(kind, Sizes::Block | Sizes::Levels);
        if !is_of_memory || card.family != Family::Memory || !card.obeys(&params::SIZE) {
            return None;
        }
        Some(divided(self.machine, seats, size)).filter(|block| *block < size)
    }
}

/// The block of each of these workers, of which those that share a cache pass it together by as much as one alone does by a block of
/// `memory` bytes, whatever the level. Unequal caches count as the largest of their level.
fn divided(machine: &Machine, seats: &[Option<u32>], memory: u64) -> u64 {
    let strands: HashMap<u32, &Strand> = machine.usable_strands().map(|strand| (strand.os_id, strand)).collect();
    let seated: Option<Vec<&Strand>> = seats.iter().map(|seat| strands.get(&(*seat)?).copied()).collect();
    let all = sharers(machine, strands.values().copied());
    let own = seated.as_ref().map(|seated| sharers(machine, seated.iter().copied()));
    let last = machine.caches.iter().map(|cache| cache.level).max().unwrap_or(0);
    let idle = (strands.len() as u64).saturating_sub(seats.len() as u64);
    let share = |level: u32| {
        let largest = data_caches(machine, &all, level).filter_map(|(cache, _)| cache.size_bytes).max()?;
        let workers = match &own {
            Some(own) => data_caches(machine, own, level).map(|(_, workers)| workers).min()?,
            // Where the scheduler puts them, one on a CPU: all idle CPUs may be those of one cache.
            None => data_caches(machine, &all, level).map(|(_, strands)| strands.saturating_sub(idle)).min()?,
        };
        Some(largest.saturating_mul(BEYOND).div_ceil(workers.max(1)))
    };
    // What lies behind the caches that are listed may be shared by all.
    let hidden = (!lists_last(machine)).then(|| memory.div_ceil(seats.len().max(1) as u64));
    let share = (1..=last).filter_map(share).max().map_or(memory, |share| share.max(hidden.unwrap_or(0))).min(memory);
    share.next_multiple_of(PAGE).max(ENOUGH).min(memory)
}

/// The level of caches that holds the blocks of all these workers by what the operating system claims, or `memory`; `None`
/// where it is not known which workers share which cache, or how much a cache holds that may hold them, and where caches hold the
/// blocks of some workers only. Of several levels that hold them it is the outermost.
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
    let sharers = sharers(machine, seated.iter().copied());
    // The first cache that holds the blocks of its workers, by strand: what is too large for a cache is so for those before it.
    let held = |strand: &Strand| -> Option<Option<u32>> {
        let own =
            strand.caches.iter().filter_map(|at| Some((machine.caches.get(*at as usize)?, sharers[*at as usize])));
        let mut known = true;
        for (cache, sharers) in own.filter(|(cache, _)| holds_data(cache.holds)) {
            match cache.size_bytes {
                None => known = false,
                Some(size) if block.0.saturating_mul(sharers) > size => known = true,
                Some(_) => return known.then_some(Some(cache.level)),
            }
        }
        (known && !strand.caches.is_empty()).then_some(None)
    };
    let held: Vec<Option<u32>> = seated.into_iter().map(held).collect::<Option<_>>()?;
    match held.iter().flatten().max() {
        None => Some("memory".to_owned()),
        Some(outermost) => held.iter().all(Option::is_some).then(|| format!("L{outermost}")),
    }
}

#[cfg(test)]
mod tests;
