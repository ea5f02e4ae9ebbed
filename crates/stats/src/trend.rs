//! Does a series rise or fall as it goes on?

use super::tails::normal_above;

/// How often chance alone would let a series without a trend rise or fall as steadily as this one, in order: the two-sided
/// test of Mann, "Nonparametric Tests Against Trend", Econometrica 13 (1945), and Kendall. It counts the pairs whose later
/// value is the larger, less those whose later value is the smaller, so neither the size of the values nor a wild one
/// matters. The normal approximation with the continuity correction is used, which gives 0.009 for six values in order,
/// where counting gives 0.003: it is the cautious side.
///
/// `None` with fewer than three values, which have no trend that chance could not make.
pub fn trend(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let pairs =
        values.iter().enumerate().flat_map(|(at, early)| values[at + 1..].iter().map(move |late| (early, late)));
    let rises: f64 = pairs.map(|(early, late)| f64::from(i8::from(late > early) - i8::from(late < early))).sum();
    let n = values.len() as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let distance = (rises.abs() - 1.0).max(0.0) / deviation;
    Some(2.0 * normal_above(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_are_no_series() {
        assert_eq!(trend(&[1.0, 2.0]), None);
    }

    #[test]
    fn known_series() {
        // By hand: S = 15 of 15 pairs, deviation sqrt(6 × 5 × 17 / 18) = 5.3229, z = 14 / 5.3229 = 2.6302, p = 0.00853.
        assert!((trend(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap() - 0.008_53).abs() < 1e-5);
        // S = 0: as often up as down.
        assert_eq!(trend(&[1.0, 3.0, 3.0, 1.0]), Some(1.0));
        assert_eq!(trend(&[5.0; 10]), Some(1.0));
    }

    #[test]
    fn backwards_it_is_the_same_and_neither_size_nor_a_wild_value_matters() {
        let series = [1.0, 2.0, 1.5, 4.0, 3.5, 7.0, 8.0, 9.0];
        let backwards: Vec<f64> = series.iter().rev().copied().collect();
        let wild: Vec<f64> = series.iter().map(|value| value.powi(9)).collect();
        assert_eq!(trend(&series), trend(&backwards));
        assert_eq!(trend(&series), trend(&wild));
    }
}
