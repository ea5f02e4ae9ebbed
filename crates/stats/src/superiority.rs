//! How often is a value of one side better than one of the other? The common-language effect size (McGraw and Wong, Psychological
//! Bulletin 111 (1992)): U / (m n) of the Mann–Whitney statistic, equal values counting half. It is about single runs, where a ratio of
//! medians is about what is typical.
//!
//! The interval is the fifth method of R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann–Whitney
//! statistic. Part 2: asymptotic methods and evaluation", Statistics in Medicine 25 (2006): a score interval with the variance of Hanley
//! and McNeil. It has a width also where no value of one side is above any of the other.

use super::interval::Interval;
use super::tails::normal_quantile;

/// The probability that a value of `new` is larger than one of `base`, and its interval with `confidence` (between 0 and 1). `None` where a
/// side is empty or has a value that is no number.
pub fn superiority(base: &[f64], new: &[f64], confidence: f64) -> Option<(f64, Interval)> {
    let pairs = base.len() as f64 * new.len() as f64;
    if pairs == 0.0 || base.iter().chain(new).any(|value| value.is_nan()) {
        return None;
    }
    let wins = |n: &f64| base.iter().map(|b| f64::from(n > b) + 0.5 * f64::from(n == b)).sum::<f64>();
    let found = new.iter().map(wins).sum::<f64>() / pairs;
    let z = normal_quantile((1.0 + confidence) / 2.0);
    let others = (base.len() + new.len()) as f64 / 2.0 - 1.0;
    let is_within = |p: f64| {
        let variance = p * (1.0 - p) * (1.0 + others * ((1.0 - p) / (2.0 - p) + p / (1.0 + p))) / pairs;
        (found - p).powi(2) <= z * z * variance
    };
    // From what is found, which is within, to an end, which is not unless it is what is found.
    let end = |mut out: f64| {
        let mut within = found;
        for _ in 0..60 {
            let middle = f64::midpoint(within, out);
            if is_within(middle) { within = middle } else { out = middle }
        }
        within
    };
    Some((found, Interval { low: end(0.0), high: end(1.0), confidence }))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::simulate::Law;

    #[test]
    fn known_sides() {
        let ends = |base: &[f64], new: &[f64]| {
            let (found, interval) = superiority(base, new, 0.95).unwrap();
            [found, interval.low, interval.high].map(|end| (end * 1e3).round() / 1e3)
        };
        assert_eq!(ends(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0])[0], 0.5);
        assert_eq!(ends(&[1.0, 2.0], &[2.0, 4.0])[0], 7.0 / 8.0);
        let apart = ends(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[7.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
        assert!(apart[0] == 1.0 && apart[2] == 1.0 && (0.5..0.9).contains(&apart[1]), "{apart:?}");
        let exchanged = ends(&[7.0, 8.0, 9.0, 10.0, 11.0, 12.0], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!((exchanged[2] - (1.0 - apart[1])).abs() < 2e-3, "{exchanged:?}");
        assert_eq!(superiority(&[], &[1.0], 0.95), None);
        assert_eq!(superiority(&[f64::NAN], &[1.0], 0.95), None);
    }

    /// Equal laws: the truth is one half.
    #[test]
    fn it_holds_the_truth_as_often_as_it_says() {
        let mut random = Rng::with_seed(5);
        for n in [6, 10, 30] {
            let held = |_: &u32| {
                let [base, new] = [(); 2].map(|()| Law::Normal(0.02).draw(n, &mut random));
                superiority(&base, &new, 0.95).unwrap().1.covers(0.5)
            };
            let share = (0..4000_u32).filter(held).count() as f64 / 4000.0;
            assert!((0.93..=0.99).contains(&share), "{n} values: {share}");
        }
    }
}
