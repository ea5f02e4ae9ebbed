//! Caches inside of the last level, by contention for their capacity.
//!
//! Two strands each pass over a block of three quarters of the cache. In a cache of its own each block stays; in a shared one the
//! blocks push each other out, and both strands read from the next level.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::machine::{Cache, CacheHolds};

use super::cores::Cores;
use super::design::{by_itself, ordered};
use super::interference::{Interference, Judgement};
use super::relation::{Evidence, Kind, Reason, Relation};
use super::{Bench, Probe};

/// A block's share of the cache, in quarters.
const QUARTERS: u64 = 3;
/// The most pairs that run one after the other.
const MOST_OPEN: usize = 32;

pub(super) type Pair = (usize, usize);

/// The pairs of neighbours in a ring: each strand is in two of them, so one in a wrong place differs from both of its neighbours.
pub(super) fn ring(strands: &[usize]) -> Vec<Pair> {
    match strands {
        [] | [_] => Vec::new(),
        [a, b] => vec![ordered(*a, *b)],
        _ => (0..strands.len()).map(|at| ordered(strands[at], strands[(at + 1) % strands.len()])).collect(),
    }
}

/// Each strand of each group with one of the next group.
pub(super) fn across(groups: &[Vec<usize>]) -> Vec<Pair> {
    if groups.len() < 2 {
        return Vec::new();
    }
    let with_next = |at: usize| {
        let (own, next) = (&groups[at], &groups[(at + 1) % groups.len()]);
        own.iter().enumerate().map(|(rank, strand)| ordered(*strand, next[rank % next.len()]))
    };
    let mut pairs: Vec<Pair> = (0..groups.len()).flat_map(with_next).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The strand's cache of a level, for data.
pub(super) fn cache_of<'a>(bench: &Bench<'a>, strand: usize, level: u32) -> Option<(u32, &'a Cache)> {
    let claim = bench.claim;
    let caches = bench.strands[strand].caches.iter();
    let mut known = caches.filter_map(|index| Some((*index, claim.caches.get(*index as usize)?)));
    known.find(|(_, cache)| cache.level == level && cache.holds != CacheHolds::Instruction)
}

/// The level of the last cache of any strand.
pub(super) fn last_level(bench: &Bench<'_>) -> u32 {
    bench.claim.caches.iter().map(|cache| cache.level).max().unwrap_or(0)
}

pub(super) fn measure(bench: &mut Bench<'_>, cores: &Cores) -> Vec<Relation> {
    let representatives = cores.representatives();
    let mut relations = Vec::new();
    for level in 2..last_level(bench) {
        // Blocks are of one size in a round, and hybrid machines have caches of several.
        let mut by_size: BTreeMap<u64, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
        for strand in &representatives {
            if let Some((index, cache)) = cache_of(bench, *strand, level)
                && let Some(size) = cache.size_bytes
            {
                by_size.entry(size).or_default().entry(index).or_default().push(*strand);
            }
        }
        for (size, caches) in by_size {
            relations.extend(of_size(bench, level, size, &caches.into_values().collect::<Vec<_>>()));
        }
    }
    relations
}

fn of_size(bench: &mut Bench<'_>, level: u32, size: u64, caches: &[Vec<usize>]) -> Vec<Relation> {
    let mut near = vec![BTreeSet::new(); bench.strands.len()];
    for strands in caches {
        strands.iter().for_each(|strand| near[*strand].extend(strands));
    }
    let within: Vec<Pair> = caches.iter().flat_map(|strands| ring(strands)).collect();
    let far = across(caches);
    let pairs: Vec<Pair> = within.iter().chain(&far).copied().collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let probe = Probe::Cache(size / 4 * QUARTERS);
    let first = Interference::measure(bench, probe, &pairs, &near);
    let claims = within.iter().map(|pair| (*pair, true)).chain(far.iter().map(|pair| (*pair, false)));
    let mut judged: Vec<(Pair, bool, Judgement)> =
        claims.map(|(pair, claimed)| (pair, claimed, first.judge(pair))).collect();
    // Where the claim is wrong, strands that ran beside a pair may share its cache: what was not confirmed runs by itself.
    let open: Vec<Pair> =
        judged.iter().filter(|(_, claimed, judged)| *claimed && !judged.is(true)).map(|(pair, ..)| *pair).collect();
    let fit = &open[..open.len().min(MOST_OPEN)];
    let near = by_itself(bench.strands.len(), fit);
    let [second, third] = [(); 2].map(|()| Interference::measure(bench, probe, fit, &near));
    for (pair, _, judged) in judged.iter_mut().filter(|(pair, ..)| open.contains(pair)) {
        let (one, other) = (second.judge(*pair), third.judge(*pair));
        *judged = match one.shared == other.shared {
            true => one,
            false => Judgement { shared: Err(Reason::NotSeenAgain), confidence: None, ..one },
        };
    }
    judged.iter().map(|(pair, claimed, judged)| relation(bench, level, *pair, *claimed, judged)).collect()
}

fn relation(bench: &Bench<'_>, level: u32, (a, b): Pair, claimed: bool, judged: &Judgement) -> Relation {
    // Strands with caches of their own may share the way to the next level, so a loss contradicts no claim.
    let loss = !claimed && judged.is(true);
    let reason = loss.then_some(Reason::SlowEachOther);
    let evidence = Evidence {
        claimed: Some(claimed),
        measured: judged.shared.clone().ok().filter(|_| !loss),
        figures: judged.figure(Probe::Cache(0)).into_iter().collect(),
        rounds: judged.rounds as u64,
        confidence: judged.confidence.filter(|_| !loss),
        reason: reason.or_else(|| judged.shared.clone().err()),
    };
    Relation::new(Kind::Cache(level), bench.id(a), Some(bench.id(b)), evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_paired_within_and_across() {
        assert_eq!(ring(&[3]), []);
        assert_eq!(ring(&[3, 5]), [(3, 5)]);
        assert_eq!(ring(&[3, 5, 9]), [(3, 5), (5, 9), (3, 9)]);
        assert_eq!(across(&[vec![0, 1]]), []);
        assert_eq!(across(&[vec![0, 1], vec![2, 3]]), [(0, 2), (1, 3)]);
        assert_eq!(across(&[vec![0, 1, 2], vec![3]]), [(0, 3), (1, 3), (2, 3)]);
    }
}
