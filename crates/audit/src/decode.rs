//! Who slows whom down: the siblings of each strand, out of its times in rounds with random others.
//!
//! The time of a step on a unit that m others share is linear in m where the unit is the bottleneck. So a strand's times are a sum of
//! a constant and one term for each sibling that was active. The siblings are the few strands whose activity explains the times:
//! orthogonal matching pursuit finds them (Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, Asilomar 1993).

use std::collections::BTreeSet;

/// The least slowdown by one sibling, as a fraction of the time alone, that counts.
const LEAST_EFFECT: f64 = 0.1;
/// What is explained must be so many times the unexplained variance: five standard deviations.
const LEAST_GAIN: f64 = 25.0;
/// The most siblings of a strand: SMT-8, once more.
const MOST: usize = 15;
/// The fewest rounds from which anything is decoded.
pub(super) const LEAST_ROUNDS: usize = 8;
/// How often siblings of siblings are tried: sharing is transitive, and a large group is found part by part.
const PASSES: usize = 3;

/// What strands did in the rounds: which were active, and the time of a step of those, where it is known.
pub(super) struct Seen {
    pub(super) active: Vec<Vec<bool>>,
    pub(super) times: Vec<Vec<Option<f64>>>,
}

impl Seen {
    /// The rounds in which a strand's time is known.
    pub(super) fn rounds_of(&self, strand: usize) -> usize {
        self.times.iter().filter(|round| round[strand].is_some()).count()
    }
}

/// The strands that slow each strand down, beginning with a guess of them. Empty where too little is known.
pub(super) fn sharers(seen: &Seen, guess: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let mut found: Vec<BTreeSet<usize>> = guess.to_vec();
    for pass in 0..PASSES {
        let tried = match pass {
            0 => found.clone(),
            _ => (0..found.len()).map(|strand| with_theirs(&found, strand)).collect(),
        };
        let again: Vec<_> = (0..found.len()).map(|strand| of_one(seen, strand, &tried[strand])).collect();
        if again == found {
            break;
        }
        found = again;
    }
    found
}

/// The siblings of a strand, theirs, and those that have it as theirs.
fn with_theirs(found: &[BTreeSet<usize>], strand: usize) -> BTreeSet<usize> {
    let mut all: BTreeSet<usize> = found[strand].iter().flat_map(|other| found[*other].iter()).copied().collect();
    all.extend(&found[strand]);
    all.extend((0..found.len()).filter(|other| found[*other].contains(&strand)));
    all.remove(&strand);
    all
}

fn of_one(seen: &Seen, strand: usize, tried: &BTreeSet<usize>) -> BTreeSet<usize> {
    let (rounds, times): (Vec<usize>, Vec<f64>) =
        seen.times.iter().enumerate().filter_map(|(round, times)| Some((round, times[strand]?))).unzip();
    if times.len() < LEAST_ROUNDS {
        return BTreeSet::new();
    }
    let most = MOST.min(times.len() / 2);
    let mut fit = Fit::new(seen, &rounds, &times);
    tried.iter().take(most).for_each(|other| fit.add(*other));
    while fit.chosen.len() < most
        && let Some(best) = fit.best(strand)
    {
        fit.add(best);
    }
    // What was tried on a guess, and does nothing, has no effect now.
    let columns: Vec<Vec<f64>> = fit.chosen.iter().map(|other| fit.column(*other)).collect();
    let Some(effects) = solve(&columns, &times) else { return BTreeSet::new() };
    let effects = fit.chosen.iter().zip(&effects[1..]).filter(|(_, effect)| **effect > LEAST_EFFECT * effects[0]);
    effects.map(|(other, _)| *other).collect()
}

/// A least-squares fit that grows: what the chosen strands leave of the times.
struct Fit<'a> {
    seen: &'a Seen,
    /// The rounds in which the times are known.
    rounds: &'a [usize],
    left: Vec<f64>,
    mean: f64,
    chosen: Vec<usize>,
    /// Their columns without the mean, at right angles to each other.
    basis: Vec<Vec<f64>>,
}

impl<'a> Fit<'a> {
    fn new(seen: &'a Seen, rounds: &'a [usize], times: &[f64]) -> Self {
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let left = times.iter().map(|time| time - mean).collect();
        Fit { seen, rounds, left, mean, chosen: Vec::new(), basis: Vec::new() }
    }

    /// In which of the rounds a strand was active.
    fn column(&self, strand: usize) -> Vec<f64> {
        self.rounds.iter().map(|round| f64::from(u8::from(self.seen.active[*round][strand]))).collect()
    }

    /// The strand whose activity explains most of what is left, if that is more than noise.
    fn best(&self, own: usize) -> Option<usize> {
        let freedom = self.left.len().saturating_sub(self.chosen.len() + 2) as f64;
        let active: Vec<&Vec<bool>> = self.rounds.iter().map(|round| &self.seen.active[*round]).collect();
        let mut best = (None, 0.0);
        for other in (0..self.seen.active[0].len()).filter(|other| *other != own && !self.chosen.contains(other)) {
            // What is left has the mean 0, so the column needs none taken off.
            let (mut along, mut count) = (0.0, 0.0);
            for (left, round) in self.left.iter().zip(&active) {
                if round[other] {
                    along += left;
                    count += 1.0;
                }
            }
            let size = count * (1.0 - count / self.left.len() as f64);
            if size > 0.5 && along > LEAST_EFFECT / 2.0 * self.mean * size && along * along / size > best.1 {
                best = (Some(other), along * along / size);
            }
        }
        let noise = (dot(&self.left, &self.left) - best.1).max(0.0) / freedom.max(1.0);
        best.0.filter(|_| freedom >= 1.0 && best.1 > LEAST_GAIN * noise)
    }

    fn add(&mut self, strand: usize) {
        let mut column = self.column(strand);
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        column.iter_mut().for_each(|value| *value -= mean);
        self.basis.iter().for_each(|base| take_out(base, &mut column));
        if dot(&column, &column) > 1e-6 {
            take_out(&column, &mut self.left);
            self.basis.push(column);
            self.chosen.push(strand);
        }
    }
}

/// Makes a vector orthogonal to another.
fn take_out(base: &[f64], vector: &mut [f64]) {
    let along = dot(vector, base) / dot(base, base);
    vector.iter_mut().zip(base).for_each(|(value, part)| *value -= along * part);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The coefficients of a constant and of columns that fit the times best, by the normal equations; `None` where they are not unique.
fn solve(columns: &[Vec<f64>], times: &[f64]) -> Option<Vec<f64>> {
    let ones = vec![1.0; times.len()];
    let all: Vec<&[f64]> = [&ones[..]].into_iter().chain(columns.iter().map(Vec::as_slice)).collect();
    let size = all.len();
    let mut rows: Vec<Vec<f64>> =
        all.iter().map(|row| all.iter().map(|column| dot(row, column)).chain([dot(row, times)]).collect()).collect();
    for at in 0..size {
        let pivot = (at..size).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() < 1e-9 {
            return None;
        }
        for row in 0..size {
            if row != at {
                let factor = rows[row][at] / rows[at][at];
                let pivot_row = rows[at].clone();
                rows[row].iter_mut().zip(pivot_row).for_each(|(value, part)| *value -= factor * part);
            }
        }
    }
    Some((0..size).map(|at| rows[at][size] / rows[at][at]).collect())
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::design::{halves, rounds_for};

    /// What strands of cores of this width show, each of which slows down its siblings by `effect`, with this noise.
    fn seen(strands: usize, width: usize, effect: f64, noise: f64, random: &mut Rng) -> Seen {
        let active = halves(strands, rounds_for(strands), random);
        let times = active.iter().map(|round| {
            let time = |strand: usize| {
                let core = strand / width * width;
                let others = (core..core + width).filter(|other| *other != strand && round[*other]).count();
                round[strand].then(|| (1.0 + effect * others as f64) * (1.0 + noise * (random.f64() - 0.5)))
            };
            (0..strands).map(time).collect()
        });
        let times = times.collect();
        Seen { active, times }
    }

    #[track_caller]
    fn check(strands: usize, width: usize, guess: usize) {
        let mut random = Rng::with_seed(7);
        let seen = seen(strands, width, 0.8, 0.04, &mut random);
        let of_width = |width: usize| -> Vec<BTreeSet<usize>> {
            let core =
                |strand: usize| (strand / width * width..strand / width * width + width).filter(move |o| *o != strand);
            (0..strands).map(|strand| core(strand).collect()).collect()
        };
        assert_eq!(sharers(&seen, &of_width(guess)), of_width(width));
    }

    #[test]
    fn siblings_are_found_without_a_claim_and_against_one() {
        check(64, 1, 1);
        check(64, 2, 1);
        check(256, 2, 1);
        check(64, 1, 2);
        check(256, 4, 8);
        check(64, 8, 8);
    }

    #[test]
    fn too_few_rounds_say_nothing() {
        let seen = Seen { active: vec![vec![true, false]; 7], times: vec![vec![Some(1.0), None]; 7] };
        assert_eq!(sharers(&seen, &[BTreeSet::from([1]), BTreeSet::new()]), [BTreeSet::new(), BTreeSet::new()]);
    }
}
