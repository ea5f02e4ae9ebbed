//! By how much do two sets of values differ? The estimate of Hodges and Lehmann, "Estimates of Location Based on Rank
//! Tests", Annals of Mathematical Statistics 34 (1963): the median of the differences of all pairs. On logarithms a
//! difference is a ratio.

use super::Sample;
use super::distribution::Null;

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
