//! The few statistics that the tasks need.

/// The value at `share` (0 to 1) of the way through the sorted values, between neighbours by straight line; that is
/// definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996).
///
/// # Panics
/// When there are no values.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

/// The middle value.
///
/// # Panics
/// When there are no values.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The distance between the quartiles.
///
/// # Panics
/// When there are no values.
pub fn quartile_range(values: &[f64]) -> f64 {
    quantile(values, 0.75) - quantile(values, 0.25)
}

/// The probability that values without a shift, symmetric around zero, have a signed-rank sum as large as that of `values`:
/// the one-sided exact test of Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945). Zeros
/// are left out, and equal magnitudes share their middle rank, over which the distribution is then exact.
pub fn signed_rank_p(values: &[f64]) -> f64 {
    let mut values: Vec<f64> = values.iter().copied().filter(|value| *value != 0.0).collect();
    values.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let ranks = doubled_ranks(&values);
    let sum: usize = ranks.iter().zip(&values).filter(|(_, value)| **value > 0.0).map(|(rank, _)| rank).sum();
    // ways[s] is the share of the equally likely choices of signs whose positive ranks add up to s.
    let mut ways = vec![0.0; ranks.iter().sum::<usize>() + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for s in (0..ways.len()).rev() {
            let with = if s >= rank { ways[s - rank] } else { 0.0 };
            ways[s] = (ways[s] + with) / 2.0;
        }
    }
    // Added from the small end, and cut, since rounding may lead a hair past 1.
    ways[sum..].iter().rev().sum::<f64>().min(1.0)
}

/// Twice the rank of each value in order of magnitude, so that the middle rank of equals is whole.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    while ranks.len() < sorted.len() {
        let first = ranks.len();
        let equals = sorted[first..].iter().take_while(|value| value.abs() == sorted[first].abs()).count();
        ranks.resize(first + equals, 2 * first + equals + 1);
    }
    ranks
}

/// Holm's correction for testing several things at once, "A Simple Sequentially Rejective Multiple Test Procedure",
/// Scandinavian Journal of Statistics 6 (1979): the corrected probabilities, in the order given.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut corrected = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    for (place, index) in order.into_iter().enumerate() {
        largest = largest.max((p[index] * (p.len() - place) as f64).min(1.0));
        corrected[index] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.25), 2.0);
        assert_eq!(quartile_range(&[7.0]), 0.0);
    }

    /// Against every choice of signs, added up one by one.
    #[test]
    fn signed_ranks_agree_with_counting() {
        for values in [&[1.0, 2.0, 3.0][..], &[-1.0, 2.0, 3.0, 4.0], &[1.0, -1.0, 1.0, 2.0, 2.0], &[0.0, 5.0, -0.5]] {
            let magnitudes: Vec<f64> = values.iter().copied().filter(|v| *v != 0.0).collect();
            let rank = |v: f64| {
                let below = magnitudes.iter().filter(|w| w.abs() < v.abs()).count() as f64;
                let equal = magnitudes.iter().filter(|w| w.abs() == v.abs()).count() as f64;
                below + (equal + 1.0) / 2.0
            };
            let observed: f64 = magnitudes.iter().filter(|v| **v > 0.0).map(|v| rank(*v)).sum();
            let n = magnitudes.len();
            let as_large = (0..1_usize << n)
                .filter(|signs| {
                    let positive = (0..n).filter(|i| signs >> i & 1 == 1);
                    positive.map(|i| rank(magnitudes[i])).sum::<f64>() >= observed
                })
                .count();
            let expected = as_large as f64 / (1_usize << n) as f64;
            assert!((signed_rank_p(values) - expected).abs() < 1e-12, "{values:?}");
        }
    }

    #[test]
    fn no_values_show_nothing() {
        assert_eq!(signed_rank_p(&[]), 1.0);
        assert_eq!(signed_rank_p(&[0.0, 0.0]), 1.0);
    }

    /// The worked example of the paper's method: the smallest times 3, the next times 2, never decreasing.
    #[test]
    fn holm_corrects_in_order() {
        let corrected = holm(&[0.02, 0.01, 0.9]);
        assert!((corrected[1] - 0.03).abs() < 1e-12);
        assert!((corrected[0] - 0.04).abs() < 1e-12);
        assert!((corrected[2] - 0.9).abs() < 1e-12);
        assert_eq!(holm(&[0.5, 0.5]), [1.0, 1.0]);
    }
}
