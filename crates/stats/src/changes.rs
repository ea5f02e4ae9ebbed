//! Change points of a series, by E-divisive: D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple Change Point
//! Analysis of Multivariate Data", Journal of the American Statistical Association 109(505) (2014), doi
//! 10.1080/01621459.2013.849605. It assumes no distribution but that means exist, and is used to monitor performance: D. Daly et
//! al., "The Use of Change Point Detection to Identify Software Performance Regressions in a Continuous Integration System", ICPE
//! 2020, doi 10.1145/3358960.3375791.
//!
//! # The divergence
//!
//! Values are cut where the energy distance between the sides (G. J. Székely and M. L. Rizzo, "Energy statistics", Journal of
//! Statistical Planning and Inference 143 (2013)), weighted by their sizes, is largest. The right side may end before the segment
//! does, as the authors have it, so a rise and a fall do not hide each other. Positive values are compared by their
//! logarithms, since ratios count.
//!
//! # The test
//!
//! Without a change all orders of a segment's values are equally likely. So they are shuffled, and p is the share of orders whose
//! largest divergence is at least as large, the observed order included. A series is given up after [`HOPELESS`] such orders
//! (J. Besag and P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991)); the others are shuffled until they can be
//! significant among all. The seed is fixed: the same values give the same answer.
//!
//! # Many series
//!
//! All series with enough values are one family. The strongest change of each is [adjusted](super::benjamini_hochberg) for
//! their number. Where k of m series have changed, further changes are looked for in these k, each at the level α k / m
//! (Y. Benjamini and M. Bogomolov, "Selective inference on multiple families of hypotheses", Journal of the Royal
//! Statistical Society B 76 (2014)): on average over the series that are called changed, at most a share α of the calls is false.
//!
//! docs/history.md has its power by simulation, and what correlated values do to it.

mod search;
mod split;
#[cfg(test)]
mod tests;

use charz_data::at_once;

use super::discoveries::benjamini_hochberg;
use search::Search;

/// The fewest values between two changes, and before the first and after the last: with two, an outlier and its neighbour would
/// be a segment.
pub const LEAST_SEGMENT: usize = 3;
/// The fewest values of a series in which a change can be shown at α = 0.01: in two of the 252 ways to deal ten values five
/// and five, all of the one side are above all of the other.
pub const LEAST_FOR_CHANGE: usize = 10;
/// Of a longer series the last values are examined: a shuffle takes time by the square of their number.
pub const MOST_FOR_CHANGE: usize = 400;

/// The first shuffles of each series.
const FIRST: u32 = 999;
/// The most shuffles of a series: enough to show one change among a thousand series.
const MOST: u32 = 200_000;
/// A series is given up after so many orders that are no less divergent; its p is known to a seventh by then.
const HOPELESS: u32 = 50;

/// A place where a series goes to another level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The index of the first value of the new level.
    pub at: usize,
    /// The share of orders that divide the segment as much.
    pub p: f64,
    /// The same, adjusted for the number of series.
    pub adjusted_p: f64,
}

/// The changes of each series, in its order; none in one that is shorter than [`LEAST_FOR_CHANGE`]. The values of a series
/// are finite and in the order of time; of more than [`MOST_FOR_CHANGE`] the last ones are looked at. `alpha` is the share of
/// false calls to accept, above 0 and below 1.
pub fn changes(series: &[&[f64]], alpha: f64) -> Vec<Vec<Change>> {
    let mut searches: Vec<Option<Search>> = series.iter().map(|values| Search::new(values)).collect();
    let mut tested: Vec<&mut Search> = searches.iter_mut().flatten().collect();
    let adjusted = test(&mut tested, alpha);
    let mut called: Vec<(&mut Search, f64)> = tested
        .iter_mut()
        .map(|search| &mut **search)
        .zip(adjusted.iter().copied())
        .filter(|(_, p)| *p < alpha)
        .collect();
    let share = called.len() as f64 / adjusted.len().max(1) as f64;
    at_once(&mut called, |(search, adjusted_p)| search.conclude(*adjusted_p, share, alpha * share));
    searches.into_iter().map(|search| search.map(Search::into_changes).unwrap_or_default()).collect()
}

/// The adjusted p-values of the strongest changes, each shuffled for long enough to decide.
fn test(searches: &mut [&mut Search], alpha: f64) -> Vec<f64> {
    // Enough for a single change to be significant among all, and to know a p at the level well.
    let finest = ((2.0 * searches.len() as f64).max(f64::from(HOPELESS)) / alpha).min(f64::from(MOST)) as u32;
    let mut goal = FIRST;
    loop {
        at_once(searches.iter_mut().filter(|search| !search.is_hopeless()), |search| search.shuffle(goal));
        let p: Vec<f64> = searches.iter().map(|search| search.p()).collect();
        let adjusted = benjamini_hochberg(&p);
        let pending =
            searches.iter().zip(&adjusted).filter(|(search, p)| **p >= alpha && !search.is_hopeless()).count();
        if pending == 0 || goal >= finest {
            return adjusted;
        }
        goal = goal.saturating_mul(2).min(finest);
    }
}
