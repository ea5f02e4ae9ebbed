//! The levels of a machine from latencies of pairs alone: which CPUs are one core, one cache, one die, one package.
//!
//! At each threshold of a fine grid the CPUs are grouped with the fewest disagreements ([`graph`]). A grouping that stays the same while
//! the threshold rises by a quarter is a level: no pair is near the limit, so the limit is one of the machine. On a mesh, whose
//! latencies are a continuum, groups grow with every step, and nothing stays. What persists over a range of scales is structure, and
//! what does not is noise (H. Edelsbrunner, D. Letscher and A. Zomorodian, "Topological persistence and simplification", 2002).

mod graph;
mod latencies;
mod machine;
mod names;
mod rejoin;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::design::{connected, members};
use super::median;
use graph::Graph;
pub use latencies::Latencies;
pub use machine::Contradiction;
pub use names::LevelName;

/// What a threshold rises by from one grouping to the next.
const STEP: f64 = 1.04;
/// What it has to rise by without a change of the groups.
const LEAST_GAP: f64 = 1.25;
/// The share of CPUs whose groups have to be the same in two groupings, for these to be one.
const SAME: f64 = 0.75;
/// The share of CPUs that have to be in larger groups than a level below has.
const GROWN: f64 = 0.5;
/// Further groups make up for CPUs that are in none: half of the CPUs are enough where so many groups are alike.
const SEVERAL: usize = 3;

/// The levels that latencies show.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// From the innermost; none where nothing is shared by fewer than all.
    pub levels: Vec<Level>,
    /// Levels that the numbers suggest and do not decide.
    pub undecided: Vec<Undecided>,
}

/// Groups of CPUs that are nearer to each other than to the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// What the groups probably are.
    pub name: LevelName,
    /// OS ids, ascending, of all CPUs; a CPU that shares nothing is a group of its own.
    pub groups: Vec<Vec<u32>>,
    /// The share of pairs on their side of the limit, within the groups or across, whichever is lower, by the rule of succession: (n + 1) /
    /// (N + 2), so few pairs give little.
    pub confidence: f64,
    /// The median of pairs within, outside of the groups of the level below.
    pub within: f64,
    /// The median of pairs across, inside of the groups of the level above.
    pub across: f64,
    /// The ratio by which the limit could rise without a change of the groups.
    pub gap: f64,
}

/// A level that the numbers suggest and do not decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecided {
    /// Its groups as far as they are known.
    pub level: Level,
    /// CPUs whose group is open; all of them where the level is.
    pub cpus: Vec<u32>,
    /// Why it is not decided.
    pub why: Why,
}

/// Why a level is not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Some CPUs belong as well to another group, or to none.
    Torn,
    /// Half of the CPUs or more are in no larger group than without the level.
    InPart,
    /// The groups cross those of a level with a wider gap.
    Crossing,
}

/// A grouping that stays over a range of thresholds. CPUs are positions.
#[derive(Clone)]
struct Candidate {
    /// The lowest threshold, and the first above that changes it.
    from: f64,
    to: f64,
    groups: Vec<Vec<usize>>,
    open: Vec<usize>,
}

impl Candidate {
    fn limit(&self) -> f64 {
        middle(self.from, self.to)
    }

    fn gap(&self) -> f64 {
        self.to / self.from
    }

    /// For each CPU the group that it is in.
    fn group_of(&self) -> BTreeMap<usize, &[usize]> {
        self.groups.iter().flat_map(|group| group.iter().map(move |cpu| (*cpu, &group[..]))).collect()
    }
}

/// Latencies are compared by their ratios.
fn middle(low: f64, high: f64) -> f64 {
    (low * high).sqrt()
}

/// The limit between what is within a level and what is across, by a typical latency of each; `None` where the gap is that of no level.
pub(super) fn limit(within: f64, across: f64) -> Option<f64> {
    (within.max(across) >= LEAST_GAP * within.min(across)).then(|| middle(within, across))
}

/// Infers the levels. The CPUs' ids do not matter: what is permuted gives the same groups of the same CPUs.
pub fn layout(latencies: &Latencies) -> Layout {
    let mut found = candidates(latencies);
    // From the outermost: what a CPU may have lost is looked for among its own.
    let mut outer: Option<Vec<Vec<usize>>> = None;
    for candidate in found.iter_mut().rev() {
        rejoin::rejoin(candidate, outer.as_deref(), latencies);
        if candidate.open.is_empty() {
            outer = Some(candidate.groups.clone());
        }
    }
    let (decided, undecided) = nest(found, latencies.len());
    let levels: Vec<Level> = (0..decided.len())
        .map(|at| level(&decided[at], at.checked_sub(1).map(|inner| &decided[inner]), decided.get(at + 1), latencies))
        .collect();
    let mut layout = Layout { levels, undecided: Vec::new() };
    for (candidate, why) in undecided {
        let inner = decided.iter().rfind(|level| level.limit() < candidate.limit());
        let outer = decided.iter().find(|level| level.limit() > candidate.limit());
        let cpus = match candidate.open.is_empty() {
            true => latencies.ids().to_vec(),
            false => candidate.open.iter().map(|cpu| latencies.ids()[*cpu]).collect(),
        };
        layout.undecided.push(Undecided { level: level(&candidate, inner, outer, latencies), cpus, why });
    }
    names::give(&mut layout);
    layout
}

/// Groupings that persist, by their thresholds.
fn candidates(latencies: &Latencies) -> Vec<Candidate> {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    latencies.pairs().for_each(|(.., value)| (low, high) = (low.min(value), high.max(value)));
    let steps = if low < high { ((high / low).ln() / STEP.ln()).ceil() as i32 } else { 0 };
    let cuts: Vec<Cut> = (0..steps).map(|step| Cut::at(latencies, low * STEP.powi(step))).collect();
    let reach = |at: usize| {
        let same = |other: &&Cut| cuts[at].same_as(other) >= SAME;
        let before = cuts[..at].iter().rev().take_while(same).count();
        (at - before, at + cuts[at..].iter().take_while(same).count())
    };
    let mut runs: Vec<(usize, usize)> = (0..cuts.len()).map(reach).collect();
    let mut found: Vec<Candidate> = Vec::new();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    // The longest first.
    runs.sort_by_key(|(from, to)| (from.abs_diff(*to), *from));
    while let Some((from, to)) = runs.pop() {
        let candidate = Candidate {
            from: cuts[from].threshold,
            to: cuts.get(to).map_or(high, |cut| cut.threshold),
            ..agreed(&cuts[from..to], latencies.len())
        };
        let is_new = (from..to).all(|cut| !taken.contains(&cut));
        let grown: usize = candidate.groups.iter().map(Vec::len).filter(|size| *size > 1).sum();
        let is_most = grown as f64 >= GROWN * latencies.len() as f64;
        if is_new && is_most && candidate.gap() >= LEAST_GAP && candidate.groups.len() > 1 {
            taken.extend(from..to);
            found.push(candidate);
        }
    }
    found.sort_by(|a, b| a.from.total_cmp(&b.from));
    found
}

/// What most of several groupings agree on: one alone may have put a CPU in a wrong place.
fn agreed(cuts: &[Cut], cpus: usize) -> Candidate {
    let most = |count: usize| 2 * count > cuts.len();
    let together = |a: usize, b: usize| most(cuts.iter().filter(|cut| cut.of[a] == cut.of[b]).count());
    let pairs = (0..cpus).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|(a, b)| together(*a, *b));
    let open = (0..cpus).filter(|cpu| most(cuts.iter().filter(|cut| cut.torn.contains(cpu)).count()));
    Candidate { from: 0.0, to: 0.0, groups: members(&connected(cpus, pairs)), open: open.collect() }
}

/// The grouping at a threshold.
struct Cut {
    threshold: f64,
    groups: Vec<Vec<usize>>,
    torn: Vec<usize>,
    /// The group of each CPU.
    of: Vec<usize>,
}

impl Cut {
    fn at(latencies: &Latencies, threshold: f64) -> Self {
        let grouping = Graph::below(latencies, threshold).group();
        Cut { threshold, groups: members(&grouping.of), torn: grouping.torn, of: grouping.of }
    }

    /// The share of CPUs whose groups are the same.
    fn same_as(&self, other: &Cut) -> f64 {
        // The lowest of each group stands for it, so groups of the same size with the same lowest may differ in the others.
        let theirs: BTreeMap<usize, &[usize]> = other.groups.iter().map(|group| (group[0], &group[..])).collect();
        let same = self.groups.iter().filter(|group| theirs.get(&group[0]) == Some(&&group[..]));
        same.map(Vec::len).sum::<usize>() as f64 / self.of.len().max(1) as f64
    }
}

/// Levels that lie inside each other, from the innermost, and what is not one.
fn nest(found: Vec<Candidate>, cpus: usize) -> (Vec<Candidate>, Vec<(Candidate, Why)>) {
    let (mut decided, mut undecided): (Vec<Candidate>, Vec<_>) = (Vec::new(), Vec::new());
    for candidate in found {
        if decided.iter().any(|level| level.groups == candidate.groups) {
            continue;
        }
        if !candidate.open.is_empty() {
            undecided.push((candidate, Why::Torn));
            continue;
        }
        let alone: Vec<Vec<usize>> = (0..cpus).map(|cpu| vec![cpu]).collect();
        let below = decided.last().map_or(&alone, |level| &level.groups);
        let theirs: BTreeSet<&Vec<usize>> = below.iter().collect();
        let grown: Vec<_> = candidate.groups.iter().filter(|group| !theirs.contains(group)).collect();
        let in_grown = grown.iter().map(|group| group.len()).sum::<usize>();
        // A group that is seen once may be what is fast in a machine whose rest is slow.
        let half = GROWN * cpus as f64;
        let is_most = in_grown as f64 > half || (in_grown as f64 >= half && grown.len() >= SEVERAL);
        if grown.len() < 2 || !is_most {
            undecided.push((candidate, Why::InPart));
            continue;
        }
        let of = candidate.group_of();
        let crosses =
            |level: &Candidate| level.groups.iter().any(|inner| inner.iter().any(|cpu| of[cpu] != of[&inner[0]]));
        match decided.last() {
            Some(level) if crosses(level) && level.gap() < candidate.gap() => {
                undecided.extend(decided.pop().map(|level| (level, Why::Crossing)));
                decided.push(candidate);
            }
            Some(level) if crosses(level) => undecided.push((candidate, Why::Crossing)),
            _ => decided.push(candidate),
        }
    }
    // A level that was decided over another range of thresholds is not open.
    undecided.retain(|(candidate, why)| {
        let shares = |level: &Candidate| {
            level.groups.iter().filter(|group| candidate.groups.contains(group)).map(Vec::len).sum::<usize>()
        };
        *why == Why::InPart || !decided.iter().any(|level| shares(level) as f64 > GROWN * cpus as f64)
    });
    (decided, undecided)
}

fn level(own: &Candidate, inner: Option<&Candidate>, outer: Option<&Candidate>, latencies: &Latencies) -> Level {
    let (of, inner, outer) = (own.group_of(), inner.map(Candidate::group_of), outer.map(Candidate::group_of));
    let (mut within, mut across) = (Vec::new(), Vec::new());
    for (a, b, value) in latencies.pairs() {
        if of[&a] == of[&b] {
            if inner.as_ref().is_none_or(|inner| inner[&a] != inner[&b]) {
                within.push(value);
            }
        } else if outer.as_ref().is_none_or(|outer| outer[&a] == outer[&b]) {
            across.push(value);
        }
    }
    let limit = own.limit();
    let share = |right: usize, of: usize| (right + 1) as f64 / (of + 2) as f64;
    let near = share(within.iter().filter(|value| **value <= limit).count(), within.len());
    let far = share(across.iter().filter(|value| **value > limit).count(), across.len());
    let ids = |group: &Vec<usize>| group.iter().map(|cpu| latencies.ids()[*cpu]).collect();
    Level {
        name: LevelName::Other(0),
        groups: own.groups.iter().map(ids).collect(),
        confidence: near.min(far),
        within: median(within).unwrap_or(own.from),
        across: median(across).unwrap_or(own.to),
        gap: own.gap(),
    }
}
