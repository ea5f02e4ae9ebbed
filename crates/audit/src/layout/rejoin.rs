//! Small groups that damaged values have taken apart or joined.

use std::collections::BTreeSet;

use super::{Candidate, GROWN, Latencies};
use crate::median;

/// Up to this share of CPUs, those without a sibling where others have one may have lost it to a damaged value.
const FEW: f64 = 0.3;
/// So many values between two parts of a group may be damaged at once; fewer are behind a pair, and behind a thread of a core of four.
const FRAIL: usize = 3;
/// A value that is so many standard deviations from the median of others is none of them; at least by this ratio.
const OUTLIER: f64 = 4.0;
const LEAST_OUTLIER: f64 = 1.1;
/// A standard deviation, in median absolute deviations of a normal distribution.
const DEVIATIONS: f64 = 1.4826;

/// Where most CPUs are in groups of one small size, those that are in smaller ones may have lost each other to a damaged value, and those
/// in larger ones have gained one. They are put together anew: first those whose value is like that within groups, then those whose
/// value is like no other of theirs. What is left beside others is open, unless it is much and nothing is odd about it: uneven groups.
pub(super) fn rejoin(candidate: &mut Candidate, outer: Option<&[Vec<usize>]>, latencies: &Latencies) {
    let cpus = latencies.len();
    let open: BTreeSet<usize> = candidate.open.iter().copied().collect();
    let in_size = |size: usize| candidate.groups.iter().filter(|group| group.len() == size).count() * size;
    let Some(usual) = (2..=FRAIL + 1).max_by_key(|size| in_size(*size)) else { return };
    if GROWN * cpus as f64 > in_size(usual) as f64 {
        return;
    }
    let of_pair = |group: &[usize]| (group.len() == 2).then(|| latencies.get(group[0], group[1])).flatten();
    let inside = |group: &[usize]| {
        let pairs = group.iter().flat_map(|a| group.iter().filter(move |b| a < *b).map(|b| (*a, *b)));
        pairs.filter_map(|(a, b)| latencies.get(a, b)).collect::<Vec<f64>>()
    };
    let typical =
        Spread::of(candidate.groups.iter().filter(|group| group.len() == usual).flat_map(|group| inside(group)));
    let is_unlike = |group: &[usize]| of_pair(group).is_some_and(|value| !typical.has(value));
    let is_torn = |group: &[usize]| is_unlike(group) || group.iter().any(|cpu| open.contains(cpu));
    let is_odd = |group: &Vec<usize>| is_torn(group) || group.len() < usual || (usual == 2 && group.len() == 3);
    let (odd, sound): (Vec<Vec<usize>>, Vec<_>) = candidate.groups.iter().cloned().partition(is_odd);
    if odd.is_empty() {
        return;
    }
    let is_even = open.is_empty() && odd.iter().all(|group| group.len() < usual);
    let parts = odd.into_iter().flat_map(|group| match is_torn(&group) || group.len() > usual {
        true => group.into_iter().map(|cpu| vec![cpu]).collect(),
        false => vec![group],
    });
    let parts: Vec<Vec<usize>> = parts.collect();
    let all: Vec<Vec<usize>> = vec![(0..cpus).collect()];
    let (mut found, mut left) = (Vec::new(), Vec::new());
    for around in outer.unwrap_or(&all) {
        let mut here: Vec<Vec<usize>> = parts.iter().filter(|part| around.contains(&part[0])).cloned().collect();
        let like = |a, b| latencies.get(a, b).is_some_and(|value| typical.has(value));
        // Cores of another kind are as far from all as none of the others is, and may be near each other for that.
        let ordinary = Spread::of(
            sound
                .iter()
                .flatten()
                .filter(|cpu| around.contains(cpu))
                .filter_map(|cpu| distance(*cpu, around, latencies)),
        );
        let is_ordinary = |cpu| distance(cpu, around, latencies).is_some_and(|ns| ordinary.has(ns));
        let strange = |a, b| {
            let is_strange = |value| !others(a, b, around, latencies).has(value);
            latencies.get(a, b).is_some_and(is_strange) && is_ordinary(a) && is_ordinary(b)
        };
        found.extend(pair_up(&mut here, usual, like));
        found.extend(pair_up(&mut here, usual, strange));
        left.extend(here.into_iter().map(|part| (part, around)));
    }
    let is_many = left.iter().map(|(part, _)| part.len()).sum::<usize>() as f64 > FEW * cpus as f64;
    let is_uneven = found.is_empty() && is_even && is_many;
    let has_company = |part: &Vec<usize>, around: &Vec<usize>| {
        left.iter().any(|(other, theirs)| *theirs == around && other != part && may_join(part, other) <= usual)
    };
    let company = left.iter().filter(|(part, around)| !is_uneven && has_company(part, around));
    candidate.open = company.flat_map(|(part, _)| part.iter().copied()).collect();
    candidate.groups = sound.into_iter().chain(found).chain(left.into_iter().map(|(part, _)| part)).collect();
    candidate.groups.sort();
}

/// The size of two groups together; out of reach where more values are between them than can be damaged at once.
fn may_join(a: &[usize], b: &[usize]) -> usize {
    if a.len() * b.len() <= FRAIL { a.len() + b.len() } else { usize::MAX }
}

/// Takes groups of a size out of parts, of those of which each is the only one that fits the other.
fn pair_up(parts: &mut Vec<Vec<usize>>, size: usize, fits: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let fit = |one: &Vec<usize>, other: &Vec<usize>| {
        one != other && may_join(one, other) == size && one.iter().any(|a| other.iter().any(|b| fits(*a, *b)))
    };
    let only = |one: &Vec<usize>| {
        let mut partners = (0..parts.len()).filter(|other| fit(one, &parts[*other]));
        partners.next().filter(|_| partners.next().is_none())
    };
    let partner: Vec<Option<usize>> = parts.iter().map(only).collect();
    let is_mutual = |at: usize| partner[at].is_some_and(|other| partner[other] == Some(at));
    let joined = (0..parts.len())
        .filter(|at| is_mutual(*at))
        .filter_map(|at| partner[at].filter(|other| at < *other).map(|other| (at, other)));
    let found = joined.map(|(one, other)| {
        let mut group = [&parts[one][..], &parts[other][..]].concat();
        group.sort_unstable();
        group
    });
    let found: Vec<Vec<usize>> = found.collect();
    parts.retain(|part| !found.iter().any(|group| group.contains(&part[0])));
    found
}

/// How far a CPU typically is from those around.
fn distance(cpu: usize, around: &[usize], latencies: &Latencies) -> Option<f64> {
    median(around.iter().filter(|other| **other != cpu).filter_map(|other| latencies.get(cpu, *other)))
}

/// The values that two CPUs have with the others around.
fn others(a: usize, b: usize, around: &[usize], latencies: &Latencies) -> Spread {
    let others = around.iter().copied().filter(|other| *other != a && *other != b);
    Spread::of(others.flat_map(|other| [latencies.get(a, other), latencies.get(b, other)]).flatten())
}

/// Where the logarithms of values lie.
struct Spread {
    middle: f64,
    deviation: f64,
}

impl Spread {
    fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let logs: Vec<f64> = values.into_iter().map(f64::ln).collect();
        let middle = median(logs.iter().copied()).unwrap_or(f64::NAN);
        let deviation = median(logs.iter().map(|log| (log - middle).abs())).unwrap_or(0.0) * DEVIATIONS;
        Spread { middle, deviation }
    }

    /// Whether a value is like these; of none, every one is.
    fn has(&self, value: f64) -> bool {
        let distance = (value.ln() - self.middle).abs();
        distance.is_nan() || distance <= (OUTLIER * self.deviation).max(LEAST_OUTLIER.ln())
    }
}
