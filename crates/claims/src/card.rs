//! A machine's card: what was measured of its caches, its memory and its clock, beside what the operating system claims, as in
//! Table 1 of K. Milfeld et al., "Effective Use of Multi-Core Commodity Systems in HPC" (TACC, 2007).
//!
//! A pure function of a report. Nothing is guessed: what the report does not hold stays empty, and what contradicts a claim is named.

mod doubts;
#[cfg(test)]
mod tests;

use charz_estimate::grouped;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use charz_data::card::{Access, Chase};
use charz_data::machine::{Cache, CacheHolds, Machine, Strand};
use charz_data::{Arrange, Role};

use crate::curve::{Bracket, Level as Place, Plateau, Point, Reach, brackets, plateaus, reach};
use crate::curves::{Curve, clocks};
use crate::numa::{self, NodePair, Number};
use charz_data::report::{self, Cell, PageKind, Report};
use charz_stats::Sample;

pub use doubts::{About, Contradiction, Unknown};

pub const OPERATIONS: [(&str, Access); 3] = [("read", Access::Read), ("write", Access::Write), ("copy", Access::Copy)];

/// What the levels are called where no cache is.
pub const MEMORY: &str = "memory";

/// What the report's machine claims and its cells show. The counts of its parts and the size of its memory are the report's.
#[derive(Clone, Debug, PartialEq)]
pub struct Card<'a> {
    pub clock: Clock,
    /// The line of the innermost cache for data, as the system claims it. It is never measured: random loads do not distinguish
    /// a line from two that the hardware fetches together, and sequential loads do not distinguish it from data read ahead.
    pub line_bytes: Option<u32>,
    /// Caches from the innermost outwards, then memory.
    pub levels: Vec<Level>,
    /// Up to which size small pages are as fast as huge ones.
    pub tlb: Option<Reach>,
    pub pages: Vec<Pages<'a>>,
    /// Memory of another NUMA node, against a node's own; `None` where it was not measured.
    pub remote: Option<Remote>,
    pub contradictions: Vec<Contradiction>,
    /// What was not measured well enough to contradict anything.
    pub unknown: Vec<Unknown>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    pub claimed_hz: Option<f64>,
    /// By a chain of dependent multiplications on the cores of the workers, the median.
    pub measured_hz: Option<f64>,
}

/// The share by which two clocks differ that are the same.
pub const SAME_CLOCK: f64 = 0.05;

/// How a measured clock is not the nominal one: no mismatch, since a core may run at another clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffNominal {
    Above,
    Below,
}

impl OffNominal {
    /// `None` where the two are the same.
    pub fn of(measured: f64, nominal: f64) -> Option<Self> {
        match measured / nominal {
            times if times > 1.0 + SAME_CLOCK => Some(OffNominal::Above),
            times if times < 1.0 - SAME_CLOCK => Some(OffNominal::Below),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// 1 for `L1`; `None` for memory.
    pub cache: Option<u32>,
    /// One of the caches as claimed, and how many there are; `None` for memory, and for a level without a claim.
    pub claimed: Option<(Cache, u32)>,
    pub found: Option<Plateau>,
    pub bandwidths: Vec<Bandwidth>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// One of [`OPERATIONS`].
    pub operation: &'static str,
    /// How many workers, each with a block of its own.
    pub workers: u64,
    /// Bytes per second, of all of them.
    pub bytes_per_second: f64,
    pub suspect: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pages<'a> {
    /// What was asked for, by name.
    pub kind: &'a str,
    /// The share of the memory that got it, the worst of all cells; `None` if no cell has evidence of it.
    pub obtained: Option<f64>,
    /// What a load from memory takes; `None` where it was not measured.
    pub memory: Option<Plateau>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remote {
    /// How many times as long a load takes, by the medians.
    pub times: Number,
    /// The same by the firmware's distances; `None` where it claims none.
    pub claimed_times: Option<f64>,
}

impl<'a> Card<'a> {
    pub fn of(report: &'a Report) -> Self {
        let curves = curves(report);
        let claims = claims(&report.machine, curves.last().and_then(|curve| curve.strand));
        let sizes: Vec<u64> = claims.iter().filter_map(|(cache, _)| cache.size_bytes).collect();
        // Huge pages show the caches alone, small ones also what translations cost.
        let points = curves.last().map_or(&[][..], |curve| &curve.points);
        let plateaus = plateaus(points, &sizes);
        let mut card = Card {
            clock: Clock::of(report),
            line_bytes: claims.first().and_then(|(cache, _)| cache.line_bytes),
            levels: levels(&claims, &plateaus, report),
            tlb: tlb(&curves),
            pages: curves.iter().map(|curve| pages(curve, &sizes, report)).collect(),
            remote: remote(report),
            contradictions: Vec::new(),
            unknown: Vec::new(),
        };
        (card.contradictions, card.unknown) = doubts::all(&card, curves.last(), &plateaus, report);
        card
    }

    /// What was found of a level; `None` where its edge and latency follow from too few sizes, and may be those of another level. By
    /// enough of them, all suspect, they are doubtful.
    pub fn found<'l>(&self, level: &'l Level) -> Option<&'l Plateau> {
        level.found.as_ref().filter(|found| !self.is_thin(level) || (found.edge.is_some() && found.doubtful))
    }

    /// What the curve shows of each claimed cache of a known size, with its level.
    pub fn brackets(&self, report: &Report) -> Vec<(u32, Bracket)> {
        let curves = curves(report);
        let points = curves.last().map_or(&[][..], |curve| &curve.points);
        self.held_to(points)
    }

    fn held_to(&self, points: &[Point]) -> Vec<(u32, Bracket)> {
        let claimed = |level: &Level| level.cache.zip(level.claimed.as_ref()?.0.size_bytes);
        let claims: Vec<(u32, u64)> = self.levels.iter().map_while(claimed).collect();
        let sizes: Vec<u64> = claims.iter().map(|(_, bytes)| *bytes).collect();
        claims.iter().map(|(level, _)| *level).zip(brackets(points, &sizes)).collect()
    }

    /// Whether too few sizes around the edge of a level have a reliable number.
    pub fn is_thin(&self, level: &Level) -> bool {
        self.unknown.iter().any(|unknown| matches!(unknown, Unknown::Edge(cache, _) if Some(*cache) == level.cache))
    }
}

impl Clock {
    /// That of the cores on which latencies were measured, else on which anything was.
    pub fn of(report: &Report) -> Self {
        let of = |cells: &mut dyn Iterator<Item = &Cell>| {
            Sample::new(cells.flat_map(clocks).filter(|hz| hz.is_finite() && *hz > 0.0).collect())
        };
        let found = of(&mut points(report)).or_else(|| of(&mut report.cells.iter()));
        Clock { claimed_hz: report.host.claimed_hz, measured_hz: found.as_ref().map(Sample::median) }
    }
}

/// The caches for data, from the innermost outwards, one for each level, with how many there are: those of the strand that was measured,
/// else, where a machine has several kinds, the commonest.
fn claims(machine: &Machine, measured: Option<&Strand>) -> Vec<(Cache, u32)> {
    let kind = |cache: &Cache| Cache { index: 0, ..cache.clone() };
    let own: Option<Vec<Cache>> =
        measured.map(|strand| machine.data_caches(strand).map(|(_, cache)| kind(cache)).collect());
    let data = machine.caches.iter().filter(|cache| cache.holds != CacheHolds::Instruction);
    let data = data.filter(|cache| own.as_ref().is_none_or(|own| own.contains(&kind(cache))));
    let alike = grouped(data, |cache| kind(cache));
    let mut claims: Vec<(Cache, u32)> = alike.iter().map(|all| (all[0].clone(), all.len() as u32)).collect();
    claims.arrange_by_key(|(cache, count)| (cache.level, Reverse(count.saturating_mul(cache.strands))));
    claims.dedup_by_key(|(cache, _)| cache.level);
    claims
}

fn levels(claims: &[(Cache, u32)], plateaus: &[Plateau], report: &Report) -> Vec<Level> {
    let level = |cache: Option<u32>, claimed: Option<(Cache, u32)>, place: Place| Level {
        cache,
        found: plateaus.iter().find(|plateau| plateau.level == Some(place)).copied(),
        bandwidths: bandwidths(cache, report),
        claimed,
    };
    // Without claims the plateaus count themselves.
    let counted = plateaus.iter().filter_map(|plateau| match plateau.level {
        Some(Place::Cache(level)) => Some(u32::from(level)),
        _ => None,
    });
    let mut numbers: Vec<u32> = (1..).take(claims.len()).chain(counted).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let cache = |number: u32| {
        let claimed = claims.get(number as usize - 1).cloned();
        let own = claimed.as_ref().map_or(number, |(cache, _)| cache.level);
        level(Some(own), claimed, Place::Cache(u8::try_from(number).unwrap_or(u8::MAX)))
    };
    let caches = numbers.into_iter().map(cache);
    caches.chain([level(None, None, Place::Memory)]).collect()
}

/// What a level gives, to one worker and to as many as were measured.
fn bandwidths(cache: Option<u32>, report: &Report) -> Vec<Bandwidth> {
    let mut found = Vec::new();
    let is_here = |name: &str| match cache {
        Some(cache) => name.strip_prefix('L').and_then(|level| level.parse().ok()) == Some(cache),
        None => name == MEMORY,
    };
    for (operation, access) in OPERATIONS {
        let kernels = report.kernels_in(|role| *role == Role::LevelBandwidth(access));
        let here = |cell: &&Cell| {
            kernels.contains(&cell.kernel.as_str())
                && cell.level.as_deref().is_some_and(is_here)
                && cell.point.memory.is_none()
        };
        let numbers = report.cells.iter().filter(here).filter_map(|cell| {
            let (bytes_per_second, suspect) = (cell.value()?, cell.is_suspect());
            Some(Bandwidth { operation, workers: cell.workers, bytes_per_second, suspect })
        });
        // Of several for a number of workers the best: the others are on other pages, or under other mappings.
        let mut numbers: Vec<Bandwidth> = numbers.collect();
        numbers.arrange_by(|one, other| {
            one.workers.cmp(&other.workers).then(other.bytes_per_second.total_cmp(&one.bytes_per_second))
        });
        numbers.dedup_by_key(|number| number.workers);
        found.extend(numbers.iter().filter(|number| number.workers == 1));
        found.extend(numbers.last().filter(|number| number.workers > 1));
    }
    found
}

/// The curves of latencies, small pages first.
fn curves(report: &Report) -> Vec<Curve<'_>> {
    let mut curves = Curve::of(report, Chase::Random);
    curves.retain(|curve| curve.is_plain());
    // Of several mappings the first one counts.
    let mut kinds = BTreeSet::new();
    curves.retain(|curve| kinds.insert(curve.pages));
    curves.arrange_by_key(|curve| curve.pages != SMALL);
    curves
}

const SMALL: &str = PageKind::Small.name();

fn tlb(curves: &[Curve<'_>]) -> Option<Reach> {
    let of = |small: bool| curves.iter().find(|curve| (curve.pages == SMALL) == small);
    reach(&of(true)?.points, &of(false)?.points)
}

fn pages<'a>(curve: &Curve<'a>, sizes: &[u64], report: &Report) -> Pages<'a> {
    let is_memory = |plateau: &Plateau| plateau.level == Some(Place::Memory);
    Pages {
        kind: curve.pages,
        obtained: obtained(report, curve.pages),
        memory: plateaus(&curve.points, sizes).into_iter().find(is_memory),
    }
}

fn remote(report: &Report) -> Option<Remote> {
    let pairs = numa::node_pairs(report);
    Some(Remote {
        times: numa::remote(&pairs, |pair| pair.latency_ns)?,
        claimed_times: numa::remote(&pairs, NodePair::claim).map(|claim| claim.value),
    })
}

/// The cells that are points of a curve: one worker on its own memory that follows one chain through all lines.
fn points(report: &Report) -> impl Iterator<Item = &Cell> {
    const LINE: u64 = 64;
    let kernels = report.kernels_in(numa::is_latency);
    report.cells.iter().filter(move |cell| {
        kernels.contains(&cell.kernel.as_str())
            && cell.workers == 1
            && cell.point.memory.is_none()
            && cell.point.stride_bytes.is_none_or(|stride| stride == LINE)
    })
}

/// Blocks that are smaller than two huge pages hold mostly what is left over.
const LARGE: u64 = 4 << 20;

/// The share of the memory that got the pages that were asked for, by their name: the worst of all cells on which it matters.
fn obtained(report: &Report, pages: &str) -> Option<f64> {
    let asked = |cell: &&Cell| cell.point.params(&report.plan.params).pages.name() == pages;
    let cells = points(report).filter(asked);
    let large = cells.filter(|cell| cell.footprint_bytes >= LARGE);
    let seen = large.flat_map(|cell| &cell.invocations).filter_map(|one| one.evidence.as_ref()?.pages);
    seen.filter_map(|got| share(&got, pages)).min_by(f64::total_cmp)
}

fn share(got: &report::Pages, pages: &str) -> Option<f64> {
    let kinds = [
        (PageKind::Small, got.base_bytes),
        (PageKind::Transparent, got.transparent_bytes),
        (PageKind::Huge2M, got.huge_2m_bytes),
        (PageKind::Huge1G, got.huge_1g_bytes),
    ];
    let all: f64 = kinds.iter().map(|(_, bytes)| *bytes as f64).sum();
    let (_, bytes) = kinds.into_iter().find(|(kind, _)| kind.name() == pages)?;
    (all > 0.0).then(|| bytes as f64 / all)
}
