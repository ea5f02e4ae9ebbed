//! Do two sets of values differ? The rank test of Mann and Whitney, "On a Test of Whether One of Two Random Variables Is
//! Stochastically Larger than the Other", Annals of Mathematical Statistics 18 (1947), as an exact permutation test. And by how
//! much do they differ? The estimate of Hodges and Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical
//! Statistics 34 (1963): the median of the differences of all pairs. On logarithms a difference is a ratio.

use std::collections::HashMap;

use super::Sample;
use super::distribution::{COUNTED, Null};

/// The rank test, with the distributions that it has needed so far: of many comparisons most have the same sizes.
#[derive(Default)]
pub struct Ranks {
    untied: HashMap<(usize, usize), Null>,
}

impl Ranks {
    /// The two-sided p-value: how often two sets of these sizes that do not differ come out at least as far apart.
    ///
    /// Equal values share their middle rank. Up to 40 values together it is exact, with and without ties, given how the
    /// values are tied; beyond, it is the normal approximation with corrections for ties and continuity.
    pub fn p(&mut self, base: &Sample, new: &Sample) -> f64 {
        self.p_of_sorted(base.values(), new.values())
    }

    /// [`Ranks::p`] of values that are sorted already.
    pub(super) fn p_of_sorted(&mut self, base: &[f64], new: &[f64]) -> f64 {
        let (groups, doubled_u) = merge(base, new);
        if groups.len() == base.len() + new.len() {
            self.untied(base.len(), new.len()).two_sided(doubled_u)
        } else {
            Null::tied(&groups, new.len()).two_sided(doubled_u)
        }
    }

    /// The distribution without ties for these sizes.
    pub(super) fn untied(&mut self, base: usize, new: usize) -> &Null {
        self.untied.entry((base, new)).or_insert_with(|| Null::untied(base, new))
    }
}

/// Merges two sorted sides: the sizes of the groups of equal values, and doubled U of the new side.
fn merge(base: &[f64], new: &[f64]) -> (Vec<usize>, usize) {
    let mut groups = Vec::with_capacity(base.len() + new.len());
    let (mut b, mut n, mut doubled_u) = (0, 0, 0);
    while let Some(value) = base[b..].first().into_iter().chain(new[n..].first()).copied().reduce(f64::min) {
        let of_base = base[b..].iter().take_while(|v| **v == value).count();
        let of_new = new[n..].iter().take_while(|v| **v == value).count();
        doubled_u += of_new * (2 * b + of_base);
        groups.push(of_base + of_new);
        (b, n) = (b + of_base, n + of_new);
    }
    (groups, doubled_u)
}

/// The smallest p-value that sides of these sizes can have, when each value of one is above all of the other.
fn smallest_p(base: usize, new: usize) -> f64 {
    if base + new > COUNTED {
        return Null::untied(base, new).two_sided(0);
    }
    // One way in (base + new) choose new, on either side.
    (1..=new).fold(2.0, |p, k| p * k as f64 / (base + k) as f64).min(1.0)
}

/// How many values per side one difference among `comparisons` needs at least for the rank test to show it below `alpha`
/// (above 0) after [adjusting](super::benjamini_hochberg) for the others, none of which differs. At α = 0.01 that is 5 for
/// one comparison, 9 for 100, 14 for 100,000: a sweep with fewer can only show differences that many cells share.
pub fn min_invocations(comparisons: usize, alpha: f64) -> usize {
    let shows = |n: &usize| smallest_p(*n, *n) * (comparisons.max(1) as f64) < alpha;
    (1..).find(shows).expect("the p-value of more and more values goes to 0")
}

/// The differences of all pairs, new − base.
pub struct Shift(Sample);

impl Shift {
    /// The differences of two sides of finite values, neither of them empty.
    pub fn new(base: &[f64], new: &[f64]) -> Shift {
        let mut differences: Vec<f64> = new.iter().flat_map(|n| base.iter().map(move |b| n - b)).collect();
        differences.sort_unstable_by(f64::total_cmp);
        Shift(Sample(differences))
    }

    pub fn estimate(&self) -> f64 {
        self.0.median()
    }

    /// The two ends of the shifts that the rank test with this distribution does not refuse at `alpha`, and the confidence of
    /// that interval, at least 1 − α. `None` where the test can refuse nothing.
    ///
    /// With c the critical U, the ends are the (c + 1)-th smallest and largest difference: a shift beyond the former leaves at
    /// most c pairs that contradict it. So the interval excludes 0 exactly when the test, without ties, has p < α.
    pub fn interval(&self, null: &Null, alpha: f64) -> Option<(f64, f64, f64)> {
        let differences = self.0.values();
        let critical = null.critical(alpha, differences.len())?;
        let (low, high) = (differences[critical], differences[differences.len() - 1 - critical]);
        Some((low, high, 1.0 - null.two_sided(2 * critical)))
    }
}

#[cfg(test)]
mod tests;
