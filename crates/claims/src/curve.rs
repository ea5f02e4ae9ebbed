//! What a curve of latencies over sizes says: plateaus, the edges at which they end, and what each of them is.
//!
//! Pure functions, independent of where the points come from. A block even slightly larger than a cache misses it every few
//! loads, so the curve of a random chase is flat up to the size of a cache, rises within an octave or two to the latency of the
//! next, and is flat again.
//!
//! | question | answer |
//! | --- | --- |
//! | where is the curve flat, and what is that level | [`plateaus`] |
//! | did the hardware read ahead | [`reading`] |
//! | up to which size are small pages as fast as huge ones | [`reach`] |
//! | what it lacks to contradict a claim | [`lack`] |
//! | whether it excludes a claim, and where an edge is with few sizes | [`brackets`] |
//!
//! # How well an edge is known
//!
//! An edge lies between the two sizes at which the curve reaches the geometric mean of the plateaus on either side, and the curve
//! says no more than that: the ratio of the two is the step of the sizes. How that compares with the size of the cache depends on
//! the cache. One that drops what was used longest ago drops, on a cycle that is a little too long, everything, and the edge is
//! at its size; one that drops anything keeps the share that fits, and the edge is at 1.5 times its size where the next one takes four
//! times as long. Small pages fill sets unevenly, and others use the cache as well: that moves edges down. So a stated size agrees with
//! an edge unless it is more than [`AGREEMENT`] times away from both of its ends.
//!
//! A level that holds less than about eight times what the one inside of it does, and drops anything, has no plateau: it is not
//! found, and the edge of the one inside is where that leaves its plateau.

mod brackets;
mod evidence;
mod flat;
mod levels;
#[cfg(test)]
mod tests;

pub use brackets::{Bracket, Fit, brackets};
use charz_data::Arrange;
use charz_stats::median;
pub use evidence::{BETWEEN, ENOUGH, Lack, lack};
use flat::Flat;
use levels::BEYOND;
pub use levels::MEMORY;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The bytes over which the loads go.
    pub size_bytes: u64,
    /// Nanoseconds a load. Positive and finite.
    pub ns: f64,
    /// How far the number may be off, as a fraction of it; 0 where nothing is known.
    pub slack: f64,
    pub doubtful: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// What it is; `None` where there are more plateaus than caches, and others fit them better.
    pub level: Option<Level>,
    /// Nanoseconds a load: the median of its points; for memory of those of its larger sizes.
    pub ns: f64,
    pub from_bytes: u64,
    pub to_bytes: u64,
    /// Where it ends; `None` where there is no other behind it.
    pub edge: Option<Edge>,
    /// Whether half or more of the points that its time is drawn from are doubtful. The median of fewer lies among sound ones.
    pub doubtful: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A cache, from 1 for the one next to the core.
    Cache(u8),
    Memory,
}

impl Level {
    /// The size that is claimed for it, after that of the cache inside of it, or 0.
    pub fn claim(self, caches: &[u64]) -> Option<(u64, u64)> {
        let Level::Cache(level) = self else { return None };
        let at = usize::from(level).checked_sub(1)?;
        let bytes = *caches.get(at)?;
        Some((at.checked_sub(1).map_or(0, |inner| caches[inner]), bytes))
    }
}

/// Between two sizes a plateau ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The largest size that is nearer to the plateau than to the next one.
    pub inside_bytes: u64,
    /// The smallest one that is nearer to the next.
    pub beyond_bytes: u64,
    /// Whether one of the two points, or one of the plateaus beside them, is doubtful, or too few points are sound.
    pub doubtful: bool,
}

/// How many times a stated size may be away from an edge, and agree with it.
pub const AGREEMENT: f64 = 1.5;

impl Edge {
    /// Whether a cache of this size would end a plateau here.
    pub fn agrees(&self, bytes: u64) -> bool {
        let bytes = bytes as f64;
        bytes * AGREEMENT >= self.inside_bytes as f64 && bytes <= AGREEMENT * self.beyond_bytes as f64
    }

    /// The factor, from its middle, within which it gives the size of the cache: half of a step of the sizes, and what [`Edge::agrees`]
    /// allows beyond.
    pub fn factor(&self) -> f64 {
        (self.beyond_bytes as f64 / self.inside_bytes as f64).sqrt() * AGREEMENT
    }
}

/// The plateaus of a curve, by ascending size and latency.
///
/// `caches` are the sizes that are claimed for the data caches, in bytes, from the innermost outwards. They decide what plateaus are
/// called, not how fast they are nor where they end. Without any, plateaus are called by their order.
///
/// The points may come in any order and be unevenly spaced. A curve of fewer than three has no plateau.
pub fn plateaus(points: &[Point], caches: &[u64]) -> Vec<Plateau> {
    let points = sorted(points);
    let flats = flat::flats(&points);
    let mut plateaus: Vec<Plateau> = flats.iter().map(|flat| Plateau::of(flat, &points)).collect();
    levels::name(&mut plateaus, caches);
    plateaus.retain(|plateau| plateau.level.is_some() || plateau.to_bytes >= UNCLAIMED * plateau.from_bytes);
    for at in 0..plateaus.len() {
        plateaus[at].edge = plateaus.get(at + 1).and_then(|next| edge(&points, &plateaus[at], next, caches.len()));
    }
    for plateau in &mut plateaus {
        let Some((inner, bytes)) = plateau.level.and_then(|level| level.claim(caches)) else { continue };
        if lack(&points, &[], inner, bytes, plateau.edge).is_some() {
            match &mut plateau.edge {
                Some(edge) => edge.doubtful = true,
                // It may be another level.
                None => plateau.doubtful = true,
            }
        }
    }
    if let Some(memory) = plateaus.last_mut().filter(|last| last.level == Some(Level::Memory)) {
        (memory.ns, memory.doubtful) = far(&points, memory);
    }
    plateaus
}

/// A plateau that is no cache that is claimed spans so many times its smallest size, or it is part of a rise that was disturbed.
const UNCLAIMED: u64 = 4;

impl Plateau {
    fn of(flat: &Flat, points: &[Point]) -> Plateau {
        let [from_bytes, to_bytes] = [flat.first, flat.last].map(|at| points[at].size_bytes);
        let doubtful = most_doubtful(&points[flat.first..=flat.last]);
        Plateau { level: None, ns: flat.ns, from_bytes, to_bytes, edge: None, doubtful }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// Latency, also that of memory.
    Latency,
    /// No latency of memory: the hardware read ahead.
    Prefetched {
        /// Nanoseconds a load at the sizes beyond the caches.
        ns: f64,
        doubtful: bool,
    },
    /// Nothing of memory: no point is far enough beyond the caches.
    Unreached,
}

/// A chase that takes less than this share of a random chase's time does not wait for memory at each load.
const SHARE: f64 = 0.5;

/// What can be read from `points`.
///
/// `caches` are the sizes that are claimed for the data caches, from the innermost outwards; `random` is the curve of a random
/// chase on the same kind of pages, if there is any.
pub fn reading(points: &[Point], caches: &[u64], random: Option<&[Point]>) -> Reading {
    let points = sorted(points);
    let Some(beyond) = caches.last().map(|largest| largest.saturating_mul(BEYOND)) else { return Reading::Unreached };
    let far = |points: &[Point]| {
        let far: Vec<Point> = points.iter().filter(|point| point.size_bytes >= beyond).copied().collect();
        Some((median(far.iter().map(|point| point.ns))?, most_doubtful(&far)))
    };
    let Some((ns, doubtful)) = far(&points) else { return Reading::Unreached };
    let fastest = points.iter().map(|point| point.ns).fold(f64::INFINITY, f64::min);
    if random.is_none() && points.iter().all(|point| point.size_bytes >= beyond) {
        // Nothing to be held against.
        return Reading::Latency;
    }
    // Without a random chase beside it, a time that no memory is as fast as.
    let waits = random.and_then(|random| far(&sorted(random))).map(|(waits, _)| SHARE * waits);
    if ns < waits.unwrap_or(MEMORY * fastest) { Reading::Prefetched { ns, doubtful } } else { Reading::Latency }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Where small pages become slower than huge ones.
    pub edge: Edge,
    /// Nanoseconds that a load beyond takes longer on small pages: the median.
    pub extra_ns: f64,
    /// How many times as long it takes there.
    pub times: f64,
    /// Whether half or more of the sizes beyond are doubtful on either kind of pages.
    pub doubtful: bool,
}

/// Small pages are slower where a load takes this many times as long on them.
const SLOWER: f64 = 1.1;

/// Up to which size `small` pages are as fast as `huge` ones, and what they cost beyond: two curves of the same chase. `None` if
/// they are as fast at all sizes, or slower at all, and where there are too few points on one of the sides.
///
/// Where translations are found in several TLBs, one behind the other, it is the first one that is small enough for the difference to
/// show from there on.
pub fn reach(small: &[Point], huge: &[Point]) -> Option<Reach> {
    let (small, huge) = (sorted(small), sorted(huge));
    let pairs: Vec<(Point, Point)> = small
        .iter()
        .filter_map(|point| Some((*point, *huge.iter().find(|other| other.size_bytes == point.size_bytes)?)))
        .collect();
    let is_slower = |(small, huge): &(Point, Point)| small.ns > SLOWER * huge.ns;
    let is_doubtful = |(small, huge): &(Point, Point)| small.doubtful || huge.doubtful;
    let sound = |pairs: &[(Point, Point)]| pairs.iter().filter(|pair| !is_doubtful(pair)).count();
    let at = split(&pairs, is_slower);
    let (before, after) = pairs.split_at_checked(at)?;
    // On each side of the split, most pairs belong to that side.
    let most = |pairs: &[(Point, Point)], slower: bool| {
        2 * pairs.iter().filter(|pair| is_slower(pair) == slower).count() > pairs.len()
    };
    if [before, after].into_iter().any(|side| side.len() < ENOUGH) || !most(before, false) || !most(after, true) {
        return None;
    }
    let (inside, beyond) = (before.last()?, after.first()?);
    let most_doubtful = |pairs: &[(Point, Point)]| sound(pairs) < ENOUGH || 2 * sound(pairs) <= pairs.len();
    let edge = Edge {
        inside_bytes: inside.0.size_bytes,
        beyond_bytes: beyond.0.size_bytes,
        doubtful: is_doubtful(inside) || is_doubtful(beyond) || most_doubtful(before) || most_doubtful(after),
    };
    Some(Reach {
        edge,
        doubtful: most_doubtful(after),
        extra_ns: median(after.iter().map(|(small, huge)| small.ns - huge.ns))?,
        times: median(after.iter().map(|(small, huge)| small.ns / huge.ns))?,
    })
}

/// Where a plateau ends and the next one is nearer, of a machine with so many caches.
fn edge(points: &[Point], plateau: &Plateau, next: &Plateau, caches: usize) -> Option<Edge> {
    let between: Vec<&Point> =
        points.iter().filter(|point| (plateau.to_bytes..=next.from_bytes).contains(&point.size_bytes)).collect();
    let at = if levels::is_gap(plateau.level, next.level, caches) {
        // Between the two there is a level without a plateau: all that is known is where this one is left.
        1
    } else {
        split(&between, |point| point.ns * point.ns > plateau.ns * next.ns)
    };
    let (inside, beyond) = (between.get(at - 1)?, between.get(at)?);
    let doubtful = plateau.doubtful || next.doubtful || inside.doubtful || beyond.doubtful;
    Some(Edge { inside_bytes: inside.size_bytes, beyond_bytes: beyond.size_bytes, doubtful })
}

/// What memory takes: the median of the larger half of its sizes, by octaves, for some loads of the smaller ones still find their
/// place in the last cache. And whether that is doubtful.
fn far(points: &[Point], memory: &Plateau) -> (f64, bool) {
    let middle = (memory.from_bytes as f64 * memory.to_bytes as f64).sqrt();
    let far = points.iter().filter(|point| point.size_bytes as f64 >= middle && point.size_bytes <= memory.to_bytes);
    let far: Vec<Point> = far.copied().collect();
    let ns = median(far.iter().map(|point| point.ns)).unwrap_or(memory.ns);
    (ns, most_doubtful(&far))
}

/// Whether sound points are not the majority, so the median of all may come from a doubtful one.
fn most_doubtful(points: &[Point]) -> bool {
    2 * points.iter().filter(|point| point.doubtful).count() >= points.len()
}

/// The first of the points, but for the very first, from which on they are beyond: where the fewest are on the wrong side of it.
fn split<T>(points: &[T], is_beyond: impl Fn(&T) -> bool) -> usize {
    let wrong = |at: usize| {
        let (before, after) = points.split_at(at);
        before.iter().filter(|point| is_beyond(point)).count() + after.iter().filter(|point| !is_beyond(point)).count()
    };
    (1..points.len()).min_by_key(|at| wrong(*at)).unwrap_or(1)
}

/// The points that can be read, by ascending size, each size once.
fn sorted(points: &[Point]) -> Vec<Point> {
    let mut points: Vec<Point> =
        points.iter().filter(|point| point.size_bytes > 0 && point.ns.is_finite() && point.ns > 0.0).copied().collect();
    points.arrange_by(|one, other| one.size_bytes.cmp(&other.size_bytes).then(one.ns.total_cmp(&other.ns)));
    points.dedup_by_key(|point| point.size_bytes);
    points
}
