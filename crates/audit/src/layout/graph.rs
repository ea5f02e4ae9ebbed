//! CPUs in groups such that as few pairs as possible are on the wrong side of a threshold.
//!
//! Correlation clustering (N. Bansal, A. Blum and S. Chawla, "Correlation clustering", Machine Learning 56, 2004): a pair within a group
//! that is above the threshold disagrees, as does a pair of two groups that is below it. A damaged value is one disagreement, so the
//! grouping with the fewest is the one that takes the fewest values for damaged.

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

/// A CPU's gain from another group, and whether it is in doubt.
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

    /// Whether most of what is near one of two CPUs is near the other, by the CPUs that are known to both.
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
        for _ in 0..self.cpus {
            let moves = (0..self.cpus).map(|cpu| (cpu, self.best(&net, &of, cpu)));
            let best = moves.map(|(cpu, (group, gain))| (gain, cpu, group)).max_by_key(|(gain, ..)| *gain);
            let Some((_, cpu, group)) = best.filter(|(gain, ..)| *gain > 0) else { break };
            let group = group.unwrap_or_else(|| (0..self.cpus).find(|free| !of.contains(free)).unwrap_or(cpu));
            for other in (0..self.cpus).filter(|other| *other != cpu) {
                let vote = self.vote(cpu, other);
                net[other * self.cpus + of[cpu]] -= vote;
                net[other * self.cpus + group] += vote;
            }
            of[cpu] = group;
        }
        let torn = (0..self.cpus).filter(|cpu| self.best(&net, &of, *cpu).1 >= 0).collect();
        let first = |cpu: usize| of.iter().position(|group| *group == of[cpu]).unwrap_or(cpu);
        Grouping { torn, of: (0..self.cpus).map(first).collect() }
    }

    /// The group other than its own that a CPU agrees with best, and the gain of a move there; `None` is a group of its own.
    fn best(&self, net: &[i32], of: &[usize], cpu: usize) -> (Option<usize>, i32) {
        let row = &net[cpu * self.cpus..(cpu + 1) * self.cpus];
        let own = row[of[cpu]];
        let others = (0..self.cpus).filter(|group| *group != of[cpu]);
        let best = others.max_by_key(|group| row[*group]).filter(|group| row[*group] > 0);
        let is_alone = || of.iter().filter(|group| **group == of[cpu]).count() == 1;
        match best {
            Some(group) => (Some(group), row[group] - own),
            // To be alone agrees and disagrees with nothing; a CPU that is alone already gains nothing.
            None if own == 0 && is_alone() => (None, i32::MIN),
            None => (None, -own),
        }
    }
}
