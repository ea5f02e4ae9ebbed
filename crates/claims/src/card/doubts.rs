//! What of a card contradicts what.

use super::{Card, Level};
use crate::curve::{ENOUGH, Edge, Fit, Lack, Level as Place, Plateau, lack};
use crate::curves::Curve;
use crate::numa::Number;
use charz_data::report::Report;

/// Remote memory that is further than this from the firmware's distances, as a factor either way: they come in steps of tenths,
/// and are seldom measured.
const DISTANCE: f64 = 1.25;

/// What something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    Cache(u32),
    Unclaimed,
    Numa,
}

/// What was measured beside what is claimed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contradiction {
    /// The edge of a cache lies elsewhere.
    Size { cache: u32, edge: Edge, claimed: u64, is_guest: bool },
    /// Blocks that would fit a cache take longer than half of the way to memory: the smallest, its nanoseconds, and the limit. The numbers
    /// are not reliable one by one.
    Excluded { cache: u32, claimed: u64, size_bytes: u64, ns: f64, limit_ns: f64 },
    /// A cache has no plateau.
    Missing { cache: u32, claimed: u64 },
    /// A plateau is no cache that is claimed.
    Unclaimed(Plateau),
    /// Remote memory takes so many times as long, and is claimed to take so many.
    Distances(Number, f64),
}

/// What was not measured well enough to contradict a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    Edge(u32, Lack),
    Distances,
}

impl Contradiction {
    /// What it is about.
    pub fn about(&self) -> About {
        match *self {
            Contradiction::Size { cache, .. }
            | Contradiction::Excluded { cache, .. }
            | Contradiction::Missing { cache, .. } => About::Cache(cache),
            Contradiction::Unclaimed(_) => About::Unclaimed,
            Contradiction::Distances(..) => About::Numa,
        }
    }
}

impl Unknown {
    /// What it is about.
    pub fn about(&self) -> About {
        match *self {
            Unknown::Edge(cache, _) => About::Cache(cache),
            Unknown::Distances => About::Numa,
        }
    }
}

/// All contradictions, in the order of the card, and what was not measured well enough for one.
pub(super) fn all(
    card: &Card<'_>,
    curve: Option<&Curve<'_>>,
    plateaus: &[Plateau],
    report: &Report,
) -> (Vec<Contradiction>, Vec<Unknown>) {
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    let is_guest = report.host.virtual_machine == Some(true);
    let brackets = curve.map(|curve| card.held_to(&curve.points)).unwrap_or_default();
    for (at, level) in card.levels.iter().enumerate() {
        let inner = at.checked_sub(1).and_then(|inner| card.levels[inner].claimed.as_ref()?.0.size_bytes);
        let claimed = level.cache.zip(level.claimed.as_ref().and_then(|claimed| claimed.0.size_bytes));
        let Some((curve, (cache, bytes))) = curve.zip(claimed) else { continue };
        let edge = level.found.and_then(|found| found.edge);
        let fit = brackets.get(at).map_or(Fit::NoSize, |(_, bracket)| bracket.fit);
        match lack(&curve.points, &curve.asked, inner.unwrap_or(0), bytes, edge) {
            None => found.extend(of_cache(level, cache, bytes, is_guest).filter(|found| !is_allowed(found, fit))),
            Some(lack) => match fit {
                Fit::Excluded { size_bytes, ns, limit_ns, sizes } if sizes >= ENOUGH => {
                    found.push(Contradiction::Excluded { cache, claimed: bytes, size_bytes, ns, limit_ns });
                }
                _ => unknown.push(Unknown::Edge(cache, lack)),
            },
        }
    }
    // Beyond the last cache that is named there may be a stretch on the way to memory.
    let named = plateaus.iter().rposition(|plateau| matches!(plateau.level, Some(Place::Cache(_)))).unwrap_or(0);
    let unclaimed = plateaus[..named.min(plateaus.len())].iter().filter(|plateau| plateau.level.is_none());
    // As long as a level is not known, any plateau may be its.
    let unclaimed = unclaimed.filter(|plateau| unknown.is_empty() && !plateau.doubtful);
    found.extend(unclaimed.map(|plateau| Contradiction::Unclaimed(*plateau)));
    if let Some((times, claimed)) = card.remote.and_then(|remote| Some((remote.times, remote.claimed_times?))) {
        match (1.0 / DISTANCE..=DISTANCE).contains(&(times.value / claimed)) {
            _ if times.suspect => unknown.push(Unknown::Distances),
            true => {}
            false => found.push(Contradiction::Distances(times, claimed)),
        }
    }
    (found, unknown)
}

/// Whether a curve allows what a plateau contradicts: a cache that is smaller than claimed, or has no plateau.
fn is_allowed(found: &Contradiction, fit: Fit) -> bool {
    let is_less = match *found {
        Contradiction::Size { edge, claimed, .. } => edge.beyond_bytes < claimed,
        Contradiction::Missing { .. } => true,
        _ => false,
    };
    is_less && fit == Fit::Allowed
}

fn of_cache(level: &Level, cache: u32, claimed: u64, is_guest: bool) -> Option<Contradiction> {
    let Some(found) = level.found else { return Some(Contradiction::Missing { cache, claimed }) };
    let edge = found.edge.filter(|edge| !edge.agrees(claimed))?;
    Some(Contradiction::Size { cache, edge, claimed, is_guest })
}
