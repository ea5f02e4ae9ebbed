//! CPUs in groups such that as few pairs as possible are on the wrong side of a threshold.
//!
//! Correlation clustering (N. Bansal, A. Blum and S. Chawla, "Correlation clustering", Machine Learning 56, 2004): a pair within a group
//! that is above the threshold disagrees, as does a pair of two groups that is below it. A damaged value is one disagreement, so the
//! grouping with the fewest is the one that takes the fewest values for damaged.

use std::collections::{BTreeMap, BTreeSet};

use super::latencies::Latencies;
use crate::design::connected;

/// Two CPUs begin in one group if they share more than half of their neighbours.
const ALIKE: u32 = 2;

/// Which pairs are below a threshold.
pub(super) struct Graph {
    cpus: usize,
    words: usize,
    /// Bits by row: pairs below the threshold, and pairs whose value is known; each CPU with itself.
    near: Vec<u64>,
    known: Vec<u64>,
}

/// Groups of CPUs.
pub(super) struct Grouping {
    /// The group of each CPU, by the lowest position in it.
    pub(super) of: Vec<usize>,
    /// CPUs that would agree as well with another group.
    pub(super) torn: Vec<usize>,
}

impl Graph {
    pub(super) fn below(latencies: &Latencies, threshold: f64) -> Self {
        let cpus = latencies.len();
        let words = cpus.div_ceil(64);
        let mut graph = Graph { cpus, words, near: vec![0; cpus * words], known: vec![0; cpus * words] };
        for a in 0..cpus {
            for b in 0..cpus {
                let value = latencies.get(a, b);
                let (word, bit) = (a * words + b / 64, 1 << (b % 64));
                if a == b || value.is_some() {
                    graph.known[word] |= bit;
                }
                if a == b || value.is_some_and(|ns| ns <= threshold) {
                    graph.near[word] |= bit;
                }
            }
        }
        graph
    }

    fn row(&self, of: &[u64], cpu: usize) -> std::ops::Range<usize> {
        debug_assert_eq!(of.len(), self.near.len());
        cpu * self.words..(cpu + 1) * self.words
    }

    /// +1 of a pair below the threshold, −1 of one above, 0 of one that is not known.
    fn vote(&self, a: usize, b: usize) -> i32 {
        let (word, bit) = (a * self.words + b / 64, 1 << (b % 64));
        if self.near[word] & bit != 0 { 1 } else { -i32::from(self.known[word] & bit != 0) }
    }

    /// Whether most CPUs that are near one of two are near the other, by the CPUs that are known to both.
    fn alike(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.row(&self.near, a), self.row(&self.near, b));
        let (mut both, mut any) = (0, 0);
        for (a, b) in a.zip(b) {
            let known = self.known[a] & self.known[b];
            both += (self.near[a] & self.near[b] & known).count_ones();
            any += ((self.near[a] | self.near[b]) & known).count_ones();
        }
        ALIKE * both > any
    }

    /// The groups of CPUs that are alike, then moved one by one for as long as that takes away disagreements.
    pub(super) fn group(&self) -> Grouping {
        let pairs = (0..self.cpus).flat_map(|a| (0..a).map(move |b| (a, b)));
        let mut of = connected(self.cpus, pairs.filter(|(a, b)| self.vote(*a, *b) > 0 && self.alike(*a, *b)));
        // What each CPU agrees with the CPUs of a group, less what it disagrees.
        let mut net = vec![0; self.cpus * self.cpus];
        for cpu in 0..self.cpus {
            for other in (0..self.cpus).filter(|other| *other != cpu) {
                net[cpu * self.cpus + of[other]] += self.vote(cpu, other);
            }
        }
        let mut best: Vec<Move> = (0..self.cpus).map(|cpu| self.best(&net, &of, cpu)).collect();
        for _ in 0..self.cpus {
            let Some(cpu) = (0..self.cpus).max_by_key(|cpu| best[*cpu].gain).filter(|cpu| best[*cpu].gain > 0) else {
                break;
            };
            let unused = || (0..self.cpus).find(|free| !of.contains(free)).unwrap_or(cpu);
            let (from, to) = (of[cpu], best[cpu].to.unwrap_or_else(unused));
            of[cpu] = to;
            for other in 0..self.cpus {
                let vote = if other == cpu { 0 } else { self.vote(cpu, other) };
                let row = other * self.cpus;
                net[row + from] -= vote;
                net[row + to] += vote;
                // Only these two groups are worth more or less than before.
                let is_near = |group: usize| group == from || group == to;
                let gain = net[row + from].max(net[row + to]) - net[row + of[other]];
                if is_near(of[other]) || best[other].to.is_none_or(is_near) || gain > best[other].gain {
                    best[other] = self.best(&net, &of, other);
                }
            }
        }
        let as_well_one = self.join(&mut net, &mut of);
        let best = |cpu| self.best(&net, &of, cpu).gain;
        let torn = (0..self.cpus).filter(|cpu| best(*cpu) >= 0 || as_well_one.contains(&of[*cpu])).collect();
        let first = |cpu: usize| of.iter().position(|group| *group == of[cpu]).unwrap_or(cpu);
        Grouping { torn, of: (0..self.cpus).map(first).collect() }
    }

    /// Joins whole groups for as long as that takes away disagreements; then those that could as well be joined. Four CPUs in a ring are
    /// two pairs in two ways.
    fn join(&self, net: &mut [i32], of: &mut [usize]) -> BTreeSet<usize> {
        loop {
            let mut between: BTreeMap<(usize, usize), i32> = BTreeMap::new();
            for (a, b) in (0..self.cpus).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|(a, b)| of[*a] != of[*b]) {
                if self.vote(a, b) > 0 {
                    between.entry((of[a].min(of[b]), of[a].max(of[b]))).or_default();
                }
            }
            for ((one, other), sum) in &mut between {
                *sum = (0..self.cpus).filter(|cpu| of[*cpu] == *other).map(|cpu| net[cpu * self.cpus + one]).sum();
            }
            let best = between.iter().max_by_key(|(_, sum)| **sum).filter(|(_, sum)| **sum > 0);
            let Some((&(one, other), _)) = best else {
                return between
                    .iter()
                    .filter(|(_, sum)| **sum == 0)
                    .flat_map(|((one, other), _)| [*one, *other])
                    .collect();
            };
            for row in net.chunks_exact_mut(self.cpus) {
                row[one] += std::mem::take(&mut row[other]);
            }
            of.iter_mut().filter(|group| **group == other).for_each(|group| *group = one);
        }
    }

    /// The group other than its own that a CPU agrees with best.
    fn best(&self, net: &[i32], of: &[usize], cpu: usize) -> Move {
        let row = &net[cpu * self.cpus..(cpu + 1) * self.cpus];
        let own = row[of[cpu]];
        let others = (0..self.cpus).filter(|group| *group != of[cpu]);
        let is_alone = || of.iter().filter(|group| **group == of[cpu]).count() == 1;
        match others.max_by_key(|group| row[*group]).filter(|group| row[*group] > 0) {
            Some(group) => Move { to: Some(group), gain: row[group] - own },
            // To be alone agrees and disagrees with nothing; a CPU that is alone already gains nothing.
            None if own == 0 && is_alone() => Move { to: None, gain: i32::MIN },
            None => Move { to: None, gain: -own },
        }
    }
}

/// A move of a CPU to another group, or to one of its own, and the disagreements that it takes away.
#[derive(Clone, Copy)]
struct Move {
    to: Option<usize>,
    gain: i32,
}
