//! What plateaus are called.

use super::{Level, Plateau};

/// By how many times memory is slower than the first-level cache, at least. TACC's Opteron had 143 cycles against 3, and processors
/// since have more; no cache of theirs comes near it.
pub const MEMORY: f64 = 20.0;

/// A plateau that goes on to so many times the largest cache is memory.
pub(super) const BEYOND: u64 = 2;

/// A plateau that takes more than this share of memory's time is none of a cache: some of its loads find the last one, others do not.
pub(super) const HALF_WAY: f64 = 0.5;

const MOST: usize = 12;

/// Gives plateaus, in ascending order, their names by the sizes that are claimed for caches, from the innermost outwards.
pub(super) fn name(plateaus: &mut [Plateau], caches: &[u64]) {
    let caches = &caches[..caches.len().min(MOST)];
    let Some((last, inner)) = plateaus.split_last_mut() else { return };
    let is_memory = match caches.last() {
        Some(largest) => last.to_bytes >= largest.saturating_mul(BEYOND),
        None => inner.first().is_some_and(|first| last.ns >= MEMORY * first.ns),
    };
    let inner = if is_memory {
        last.level = Some(Level::Memory);
        let caches = inner.iter().take_while(|plateau| plateau.ns < HALF_WAY * last.ns).count();
        &mut inner[..caches]
    } else {
        plateaus
    };
    let count = inner.len().min(MOST);
    let inner = &mut inner[..count];
    if caches.is_empty() {
        inner.iter_mut().zip(1..).for_each(|(plateau, level)| plateau.level = Some(Level::Cache(level)));
        return;
    }
    for (at, cache) in assigned(inner, caches, is_memory) {
        inner[at].level = u8::try_from(cache + 1).ok().map(Level::Cache);
    }
}

/// Which plateau is which cache: of all ways that keep the order, and leave out none that has a partner, the one whose ends are
/// nearest to the claims.
///
/// If the curve does not reach memory, the last plateau may go on beyond its end.
fn assigned(plateaus: &[Plateau], caches: &[u64], to_memory: bool) -> Vec<(usize, usize)> {
    let (few, many) = (plateaus.len().min(caches.len()), plateaus.len().max(caches.len()));
    let ways = (0_u32..1 << many).filter(|way| way.count_ones() as usize == few).map(|way| {
        let chosen = (0..many).filter(move |at| way >> at & 1 == 1);
        let pairs: Vec<(usize, usize)> = if plateaus.len() < caches.len() {
            chosen.enumerate().collect()
        } else {
            chosen.enumerate().map(|(cache, plateau)| (plateau, cache)).collect()
        };
        pairs
    });
    let octaves = |pairs: &Vec<(usize, usize)>| -> f64 {
        let away = |&(plateau, cache): &(usize, usize)| {
            let octaves = (plateaus[plateau].to_bytes as f64 / caches[cache] as f64).log2();
            if to_memory || plateau + 1 < plateaus.len() { octaves.abs() } else { octaves.max(0.0) }
        };
        pairs.iter().map(away).sum()
    };
    ways.min_by(|one, other| octaves(one).total_cmp(&octaves(other))).unwrap_or_default()
}

/// Whether there is a level between two plateaus that has none, of so many caches that are claimed.
pub(super) fn is_gap(level: Option<Level>, next: Option<Level>, caches: usize) -> bool {
    match (level, next) {
        (Some(Level::Cache(level)), Some(Level::Cache(next))) => next > level + 1,
        (Some(Level::Cache(level)), Some(Level::Memory)) => usize::from(level) < caches,
        _ => false,
    }
}
