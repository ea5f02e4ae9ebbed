//! What a sweep varies of a kernel beside its workers: sizes of blocks, pages, strides, chains, delays.

use charz_kernels::{Bytes, Kernel, PageKind, Params, Sizes, params};
use charz_topology::{CacheHolds, Machine, Strand};

use charz_data::MemoryPolicy;
use charz_data::report::Point;

/// What was asked for, in place of what each kernel varies by itself. A list with a single value is the plan's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Sizes of a worker's block.
    pub sizes: Option<AskedSizes>,
    /// Kinds of pages.
    pub pages: Option<Vec<PageKind>>,
    /// Bytes from one place that a load may read to the next.
    pub strides: Option<Vec<u64>>,
    /// Chains of loads at once.
    pub chains: Option<Vec<u64>>,
    /// Steps between two portions of load.
    pub delays: Option<Vec<u64>>,
    /// Where workers' memory is put.
    pub memory: Option<Vec<MemoryPolicy>>,
}

/// Sizes that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedSizes {
    /// These, in bytes; at least one.
    List(Vec<u64>),
    /// One for each level of caches, and one for memory.
    Levels,
    /// Many, from inside the first cache to well past the last.
    Curve,
}

/// The sizes of blocks that tell the levels of a machine's memory apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// Inside of each level of caches, from the innermost outwards.
    levels: Vec<u64>,
    /// What the caches of the largest level hold; 0 where it is not known.
    last_cache: u64,
}

/// What the smallest size of a curve is: 64 lines, inside of every first-level cache there is.
const CURVE_FROM: u64 = 4 << 10;
/// The least that a curve goes to where the caches are small or unknown.
const CURVE_TO: u64 = 64 << 20;
/// The most: some 16 million lines, whose cycle is built in a second or two.
const CURVE_MOST: u64 = 1 << 30;
/// What stands behind the last cache: so many times as much as it holds.
const BEYOND: u64 = 4;

impl Ladder {
    /// That of a machine, for workers on all strands that can be used: the middle (by ratio) between what the caches of the
    /// level below hold for each strand, and what those of the level do, so that a block is as far from either edge as can be.
    /// A level that holds less than twice that of the one below for each strand is left out: nothing lies well inside of it.
    pub fn of(machine: &Machine) -> Ladder {
        let mut shares: Vec<u64> = Vec::new();
        let mut last_cache = 0;
        let levels = machine.caches.iter().map(|cache| cache.level).max().unwrap_or(0);
        for level in 1..=levels {
            let sharers =
                |at: u32| machine.usable_strands().filter(|strand| strand.caches.contains(&at)).count() as u64;
            let of_level =
                (0..).zip(&machine.caches).filter(|(_, cache)| cache.level == level && holds_data(cache.holds));
            let share =
                of_level.filter_map(|(at, cache)| Some((cache.size_bytes?, sharers(at)))).filter(|(_, n)| *n > 0);
            let Some((size, share)) = share.map(|(size, n)| (size, size / n)).min_by_key(|(_, share)| *share) else {
                continue;
            };
            last_cache = last_cache.max(size);
            shares.push(share);
        }
        let mut below = 0;
        let mut levels = Vec::new();
        for share in shares {
            if share >= 2 * below {
                let middle = if below == 0 { share / 2 } else { ((below as f64) * (share as f64)).sqrt() as u64 };
                levels.push(whole_pages(middle));
                below = share;
            }
        }
        Ladder { levels, last_cache }
    }

    /// The sizes of a kind, ascending; `block` is the one for memory. `None` for that one alone.
    pub(super) fn sizes(&self, kind: Sizes, block: u64) -> Option<Vec<u64>> {
        match kind {
            Sizes::Block => None,
            Sizes::Fixed(size) => Some(vec![size]),
            Sizes::Levels => {
                let memory = block.max(self.last_cache.saturating_mul(BEYOND));
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

/// Bytes of a cache line, of which blocks are made.
const LINE: u64 = 64;

/// A size that blocks can have on base pages, so that it is what it says.
fn whole_pages(size: u64) -> u64 {
    const PAGE: u64 = 4 << 10;
    (size / PAGE).max(1) * PAGE
}

fn holds_data(holds: CacheHolds) -> bool {
    holds != CacheHolds::Instruction
}

/// The points that a kernel is measured at.
pub(super) fn points(kernel: &dyn Kernel, asked: &Asked, base: &Params, ladder: &Ladder) -> Vec<Point> {
    let (own, card) = (kernel.axes(), kernel.card());
    let block = base.size_bytes;
    let sizes = match &asked.sizes {
        None => ladder.sizes(own.sizes, block),
        Some(AskedSizes::Levels) => ladder.sizes(Sizes::Levels, block),
        Some(AskedSizes::Curve) => ladder.sizes(Sizes::Curve, block),
        Some(AskedSizes::List(list)) => several(list),
    };
    let sizes = axis(card.obeys(&params::SIZE), sizes);
    let pages = axis(card.obeys(&params::PAGES), listed(&asked.pages, own.pages));
    let strides = axis(card.obeys(&params::STRIDE), listed(&asked.strides, own.strides));
    let chains = axis(card.obeys(&params::CHAINS), listed(&asked.chains, own.chains));
    let delays = axis(card.obeys(&params::DELAY), listed(&asked.delays, own.delays));
    // No parameter of the kernel, so that a single place stands with the cell too, unless it is the usual one.
    let memory = asked.memory.clone().filter(|places| places[..] != [MemoryPolicy::Local]);
    let memory = axis(card.obeys(&params::MEMORY), memory);
    let mut points = vec![Point::default()];
    vary(&mut points, &pages, |point, pages| Point { pages, ..point });
    vary(&mut points, &strides, |point, stride_bytes| Point { stride_bytes, ..point });
    vary(&mut points, &chains, |point, chains| Point { chains, ..point });
    vary(&mut points, &delays, |point, delay| Point { delay, ..point });
    vary(&mut points, &memory, |point, memory| Point { memory, ..point });
    vary(&mut points, &sizes, |point, size_bytes| Point { size_bytes, ..point });
    // A block without room for two places has nothing to go to.
    let fits = |point: &Point| {
        let Params { size_bytes, stride_bytes, .. } = point.params(base);
        !card.obeys(&params::STRIDE) || size_bytes >= 2 * stride_bytes
    };
    let (fitting, others): (Vec<_>, Vec<_>) = points.into_iter().partition(fits);
    if fitting.is_empty() { others } else { fitting }
}

/// The values of an axis; a single unknown one where the kernel does not obey it, or the plan has it for all.
fn axis<T>(obeys: bool, values: Option<Vec<T>>) -> Vec<Option<T>> {
    match values.filter(|_| obeys) {
        Some(values) => values.into_iter().map(Some).collect(),
        None => vec![None],
    }
}

/// What was asked for, if it is several; else what the kernel varies by itself, if nothing was asked for.
fn listed<T: Copy>(asked: &Option<Vec<T>>, own: &[T]) -> Option<Vec<T>> {
    match asked {
        Some(asked) => several(asked),
        None => (!own.is_empty()).then(|| own.to_vec()),
    }
}

fn several<T: Copy>(list: &[T]) -> Option<Vec<T>> {
    (list.len() > 1).then(|| list.to_vec())
}

fn vary<T: Copy>(points: &mut Vec<Point>, values: &[Option<T>], with: impl Fn(Point, Option<T>) -> Point) {
    *points = points.iter().flat_map(|point| values.iter().map(|value| with(*point, *value))).collect();
}

/// The level of caches that holds the blocks of all these workers by what the operating system claims, or `memory`; `None`
/// where it is not known which workers share which cache.
pub(super) fn level(machine: &Machine, seats: &[Option<u32>], block: Bytes) -> Option<String> {
    let strands = machine.usable_strands();
    let seated: Vec<&Strand> = match seats {
        // Alone, it does not matter where.
        [None] => strands.clone().take(1).collect(),
        _ => {
            let find = |seat: &Option<u32>| strands.clone().find(|strand| Some(strand.os_id) == *seat);
            seats.iter().map(find).collect::<Option<_>>()?
        }
    };
    let levels = machine.caches.iter().map(|cache| cache.level).max()?;
    let inside = |level: u32| {
        let holds = |(at, cache): (u32, &charz_topology::Cache)| {
            let sharers = seated.iter().filter(|strand| strand.caches.contains(&at)).count() as u64;
            cache.size_bytes.is_some_and(|size| block.0.saturating_mul(sharers) <= size)
        };
        let mut of_level =
            (0..).zip(&machine.caches).filter(|(_, cache)| cache.level == level && holds_data(cache.holds)).peekable();
        of_level.peek().is_some() && of_level.all(holds)
    };
    let level = (1..=levels).find(|&level| inside(level));
    Some(level.map_or_else(|| "memory".to_owned(), |level| format!("L{level}")))
}

#[cfg(test)]
mod tests;
