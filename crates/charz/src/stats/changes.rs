//! When did a series of values change? E-divisive: D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple
//! Change Point Analysis of Multivariate Data", Journal of the American Statistical Association 109(505) (2014),
//! doi 10.1080/01621459.2013.849605. It asks for no distribution but that means exist, and is what others watch performance
//! with: D. Daly et al., "The Use of Change Point Detection to Identify Software Performance Regressions in a Continuous
//! Integration System", ICPE 2020, doi 10.1145/3358960.3375791.
//!
//! # The divergence
//!
//! Values are cut into two sides where the energy distance between them (G. J. Székely and M. L. Rizzo, "Energy statistics",
//! Journal of Statistical Planning and Inference 143 (2013)), weighted by their sizes, is largest. The right side may end
//! before the segment does, as the authors have it, so that what rises and falls again does not hide itself. Each side has at
//! least [`LEAST_SEGMENT`] values. Positive values are compared by their logarithms: what counts are ratios.
//!
//! # Whether it is more than chance
//!
//! Without a change all orders of a segment's values are equally likely. So they are shuffled, and p is the share of orders
//! whose largest divergence is at least as large, the order found counted as one of them. A series with much against it is
//! given up after [`HOPELESS`] such orders (J. Besag and P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78
//! (1991)); one with little is shuffled until it can show itself among the others. The shuffles come from a fixed seed: the
//! same values have the same answer.
//!
//! # Many series
//!
//! All series with enough values are one family. The strongest change of each is [adjusted](super::benjamini_hochberg) for
//! their number. Where k of m series have changed, further changes are looked for in these k, each at the level α k / m
//! (Y. Benjamini and M. Bogomolov, "Selective inference on multiple families of hypotheses", Journal of the Royal
//! Statistical Society B 76 (2014)): on average over the series that are called changed, at most a share α of what is called
//! is false.
//!
//! # What it takes
//!
//! Simulated with normal values of 400 series each, at α = 0.01: in how many percent of them a shift is found, no more than two
//! values from where it is. Values differ by 1 % (standard deviation), and in brackets by 3 %.
//!
//! | values before + after | −2 % | −3 % | −5 % | −10 % | −20 % |
//! | ---: | ---: | ---: | ---: | ---: | ---: |
//! | 5 + 5 | 13 (2) | 28 (4) | 62 (9) | 99 (38) | 100 (88) |
//! | 10 + 3 | 8 (0) | 26 (3) | 83 (6) | 100 (41) | 100 (99) |
//! | 20 + 3 | 17 (0) | 60 (2) | 99 (8) | 100 (74) | 100 (100) |
//! | 20 + 5 | 45 (1) | 92 (6) | 100 (24) | 100 (97) | 100 (100) |
//! | 10 + 10 | 60 (5) | 96 (10) | 100 (47) | 100 (99) | 100 (100) |
//! | 20 + 20 | 92 (6) | 100 (23) | 100 (76) | 100 (100) | 100 (100) |
//!
//! Of a thousand series without a change 0.8 to 1.4 % are called changed, with 10, 20, 40 and 100 values.
//!
//! Values that go together, such as those of one busy afternoon, are not equally likely in all orders. Of series in which each
//! value is correlated with the one before by 0.3, 2 % are called changed with 10 values, 7 % with 20 and 12 % with 40; by 0.6,
//! 6 %, 29 % and 49 %.

mod search;
mod split;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};
use std::thread;

use super::discoveries::benjamini_hochberg;
use search::Search;

/// The fewest values between two changes, and before the first and after the last: with two a single wild value and its
/// neighbour are a segment.
pub const LEAST_SEGMENT: usize = 3;
/// The fewest values of a series in which a change can be shown at α = 0.01: in two of the 252 ways to deal ten values five
/// and five, all of the one side are above all of the other.
pub const LEAST_FOR_CHANGE: usize = 10;
/// The most values of a series that are looked at, the last ones: each shuffle takes as many steps as their square.
pub const MOST_FOR_CHANGE: usize = 400;

/// The first shuffles of each series.
const FIRST: u32 = 999;
/// The most shuffles of a series: enough to show one change among a thousand series.
const MOST: u32 = 200_000;
/// After so many orders that are no less divergent, a series is given up; its p-value is known to a seventh by then.
const HOPELESS: u32 = 50;

/// Where a series changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The index of the first value that is other.
    pub at: usize,
    /// How often chance alone would divide the segment as much.
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
    side_by_side(&mut called, |(search, adjusted_p)| search.conclude(*adjusted_p, share, alpha * share));
    searches.into_iter().map(|search| search.map(Search::into_changes).unwrap_or_default()).collect()
}

/// The adjusted p-values of the strongest changes, each shuffled for long enough to tell.
fn test(searches: &mut [&mut Search], alpha: f64) -> Vec<f64> {
    // Below this a single one shows itself among all, and one at the level is known well enough.
    let finest = ((2.0 * searches.len() as f64).max(f64::from(HOPELESS)) / alpha).min(f64::from(MOST)) as u32;
    let mut goal = FIRST;
    loop {
        let mut open: Vec<_> = searches.iter_mut().filter(|search| !search.is_hopeless()).collect();
        side_by_side(&mut open, |search| search.shuffle(goal));
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

/// Works on all items, on as many threads as there are strands. The answer does not depend on their number.
fn side_by_side<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Sync) {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let queue = Mutex::new(items.iter_mut());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let help = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system refuses a thread, the others do its part.
            let _ = thread::Builder::new().spawn_scoped(scope, help);
        }
        help();
    });
}
