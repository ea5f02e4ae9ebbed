//! How many independent values is a series of runs worth?
//!
//! Two sides that were measured one after the other differ by all that changes slowly, and their own runs show how slowly: neighbours are
//! alike then. n values with a correlation of ρ from one to the next hold as much as n (1 − ρ) / (1 + ρ) independent ones (Bayley and
//! Hammersley, "The Effective Number of Independent Observations in an Autocorrelated Time Series", Supplement to the Journal of the Royal
//! Statistical Society 8 (1946)), so an interval is the root of that wider.
//!
//! ρ is that of the ranks of each side (Bartels, "The Rank Version of von Neumann's Ratio Test for Randomness", Journal of the American
//! Statistical Association 77 (1982)), of both together. Of few values it comes out too low, by (1 + 3ρ) / n (Marriott and Pope, "Bias in
//! the Estimation of Autocorrelations", Biometrika 41 (1954)), which is added; and since ten values hardly know it, its upper end counts.

/// The least distance from ρ to its upper end: with less, noise as long as a series passes too often for none (see the table of
/// `charz-claims`, `compare/tests/noise.rs`).
const LEAST_ERROR: f64 = 0.3;

/// The values of a side that one independent value is worth at most, for each of them: noise that lasts three times as long as the side.
const MOST_PER_VALUE: f64 = 6.0;

/// How many times wider the interval of a difference is than that of independent values, at least 1. The values of each side are in the
/// order of time, at least 4 of each.
pub(crate) fn widening(sides: [&[f64]; 2]) -> f64 {
    let (mut products, mut squares, mut pairs) = (0.0, 0.0, 0.0);
    for side in sides {
        let ranks = centred_ranks(side);
        products += ranks.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        squares += ranks.iter().map(|rank| rank * rank).sum::<f64>();
        pairs += side.len() as f64 - 1.0;
    }
    if squares == 0.0 {
        return 1.0;
    }
    let count = pairs / 2.0 + 1.0;
    let kept = 1.0 - 3.0 / count;
    let (correlation, error) = ((products / squares + 1.0 / count) / kept, pairs.sqrt().recip() / kept);
    let upper = (correlation + error.max(LEAST_ERROR)).clamp(0.0, 1.0);
    let per_value = (1.0 + upper) / (1.0 - upper);
    per_value.min(MOST_PER_VALUE * count).sqrt()
}

/// Their ranks less the one in the middle; equal values share their middle rank.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let doubled = |value: &f64| {
        values.iter().map(|other| f64::from(i8::from(other < value) - i8::from(other > value))).sum::<f64>()
    };
    values.iter().map(|value| doubled(value) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::simulate::{Law, normal};

    #[test]
    fn known_series() {
        // By hand: ranks of both −2.5 … 2.5, products 8.75, squares 17.5, so r = 0.5; n = 6, ρ = (1/2 + 1/6) / (1/2) = 4/3.
        let rising = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(widening([&rising, &rising]), 6.0);
        // Neighbours that are as unlike as can be are worth no more than independent ones.
        let alternating = [1.0, 6.0, 2.0, 5.0, 3.0, 4.0, 3.5, 3.6];
        assert_eq!(widening([&alternating, &alternating]), 1.0);
        assert_eq!(widening([&[5.0; 8], &[7.0; 8]]), 1.0);
        assert_eq!(centred_ranks(&[3.0, 1.0, 3.0]), [0.5, -1.0, 0.5]);
    }

    /// The middle of 2,000 widenings each, of independent values and of noise that lasts as long as a side.
    #[test]
    fn noise_that_lasts_is_seen() {
        let mut random = Rng::with_seed(5);
        let mut lasting = |count: usize| {
            let (kept, mut level) = ((-1.0 / count as f64).exp(), 0.0);
            let mut next = || {
                level = level * kept + (1.0 - kept * kept).sqrt() * normal(&mut random);
                level
            };
            (0..2 * count).map(|_| next()).collect::<Vec<f64>>()
        };
        for (count, independent, of_noise) in [(10, 1.3..1.5, 4.0..8.0), (20, 1.3..1.4, 8.0..12.0)] {
            let middle = |mut found: Vec<f64>| {
                found.sort_by(f64::total_cmp);
                found[found.len() / 2]
            };
            let mut of = Rng::with_seed(9);
            let alone = |_| {
                let values = Law::Normal(0.01).draw(2 * count, &mut of);
                widening([&values[..count], &values[count..]])
            };
            let alone = middle((0..2000).map(alone).collect());
            let together = (0..2000).map(|_| lasting(count)).map(|of| widening([&of[..count], &of[count..]]));
            let together = middle(together.collect());
            assert!(independent.contains(&alone) && of_noise.contains(&together), "{count}: {alone} {together}");
        }
    }
}
