//! How sure a median is.
//!
//! # Which interval
//!
//! Two were candidates from 10 values on: the BCa bootstrap (Efron, "Better Bootstrap Confidence Intervals", Journal of the
//! American Statistical Association 82 (1987)) and the interpolated order statistics of Hettmansperger and Sheather
//! ("Confidence Intervals Based on Interpolated Order Statistics", Statistics & Probability Letters 4 (1986)). How often
//! nominal 95 % intervals hold the true median, in percent of 10,000 simulated samples each (standard error 0.2), BCa with
//! 200,000 resamples and ties counted half; the last column is the mean width of BCa over that of the other:
//!
//! | values | n | interpolated | BCa | order statistics | BCa width |
//! | --- | ---: | ---: | ---: | ---: | ---: |
//! | normal | 10 | 95.3 | 94.0 | 98.1 | 0.94 |
//! | normal | 15 | 95.0 | 93.3 | 96.4 | 1.00 |
//! | normal | 30 | 94.8 | 93.8 | 95.7 | 0.95 |
//! | lognormal, s = 0.5 | 10 | 95.1 | 94.1 | 98.0 | 0.93 |
//! | lognormal, s = 0.5 | 15 | 95.1 | 93.0 | 96.6 | 0.99 |
//! | lognormal, s = 0.5 | 30 | 94.9 | 94.0 | 95.5 | 0.96 |
//! | bimodal, 70 % | 10 | 94.8 | 93.5 | 97.7 | 1.00 |
//! | bimodal, 70 % | 15 | 95.1 | 92.2 | 96.5 | 0.96 |
//! | bimodal, 70 % | 30 | 95.1 | 94.2 | 95.8 | 0.92 |
//! | bimodal, 60 % | 10 | 95.0 | 93.0 | 98.1 | 0.99 |
//! | bimodal, 60 % | 15 | 94.8 | 93.0 | 96.3 | 1.00 |
//! | bimodal, 60 % | 30 | 94.8 | 93.8 | 95.6 | 0.96 |
//!
//! (The bimodal values are of N(1, 0.01²), 70 or 60 %, and of N(1.1, 0.01²).) The interpolated interval stays between 94 and
//! 96 %, BCa falls below, and the interpolated one needs neither resamples nor a seed: it is the one. Below 10 values
//! interpolation has little to go by; the conservative order statistics are taken as they are, with the confidence
//! that they have.

use super::Sample;
use super::distribution::first_without;
use super::tails::heads_at_most;

/// The fewest values that have an interval: of 5, even the whole range holds the median in 93.75 % only.
pub const LEAST_FOR_INTERVAL: usize = 6;

/// From how many values on interpolation is used.
const LEAST_FOR_INTERPOLATION: usize = 10;

/// A range that holds the true value in a share of all cases in which it is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end, in the unit of the values.
    pub low: f64,
    /// The upper end, not below the lower one.
    pub high: f64,
    /// The share of intervals so computed that hold the true value, between 0 and 1. It is what was reached, which can be
    /// more than what was asked for.
    pub confidence: f64,
}

impl Interval {
    /// Half of the width, in the unit of the values.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether `value` lies in it, the ends included.
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// An interval for the median of the population of `sample`, with `confidence` (between 0 and 1, usually 0.95).
///
/// `None` with fewer than [`LEAST_FOR_INTERVAL`] values, and where even the whole range is not as sure as asked.
pub fn median_interval(sample: &Sample, confidence: f64) -> Option<Interval> {
    let (values, n) = (sample.values(), sample.len());
    let usable = n >= LEAST_FOR_INTERVAL && 0.0 < confidence && confidence < 1.0;
    if !usable {
        return None;
    }
    // How many values lie below the median is binomial. `sure(d)` is the confidence of [x_(d), x_(n+1−d)], counted from 1.
    let below = heads_at_most(n);
    let sure = |d: usize| 1.0 - 2.0 * below[d - 1];
    let d = first_without(n / 2, |before| sure(before + 1) >= confidence);
    if d == 0 {
        return None;
    }
    let (low, high) = (values[d - 1], values[n - d]);
    // At the values next to the middle there is no pair further inside.
    if n < LEAST_FOR_INTERPOLATION || d == n / 2 {
        return Some(Interval { low, high, confidence: sure(d) });
    }
    // The authors' weight of the inner pair. It is not linear in the confidence; for the double exponential it is exact, and
    // nearly so for other symmetric distributions.
    let share = (sure(d) - confidence) / (sure(d) - sure(d + 1));
    let weight = (n - d) as f64 * share / (d as f64 + (n as f64 - 2.0 * d as f64) * share);
    let between = |outer: f64, inner: f64| outer + (inner - outer) * weight;
    Some(Interval { low: between(low, values[d]), high: between(high, values[n - d - 1]), confidence })
}

#[cfg(test)]
mod tests;
