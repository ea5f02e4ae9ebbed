//! Many tests at once.

/// The p-values adjusted for being many, in the order given: Benjamini and Hochberg, "Controlling the False Discovery Rate",
/// Journal of the Royal Statistical Society B 57 (1995). Calling those below α differences makes, on average, at most a
/// share α of the calls false; for tests that are independent or that err together (Benjamini and Yekutieli, Annals of
/// Statistics 29 (2001)). Where there are no differences at all, any call is made in at most a share α of such batches.
///
/// All `p` must be numbers between 0 and 1.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_unstable_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut smallest: f64 = 1.0;
    for (place, index) in order.into_iter().enumerate().rev() {
        smallest = smallest.min(p[index] * (p.len() as f64 / (place + 1) as f64));
        adjusted[index] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Against `scipy.stats.false_discovery_control` of SciPy 1.17.1.
    #[test]
    fn golden() {
        let table: [(&[f64], &[f64]); 2] = [
            (&[0.9, 0.01, 0.01, 0.5, 0.04], &[0.9, 0.025, 0.025, 0.625, 0.066_666_666_666_666_67]),
            (
                &[0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205],
                &[0.008, 0.032, 0.067_2, 0.067_2, 0.067_2, 0.08, 0.084_571_428_571_428_57, 0.205],
            ),
        ];
        for (p, expected) in table {
            for (found, expected) in benjamini_hochberg(p).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found} is not {expected} in {p:?}");
            }
        }
    }

    #[test]
    fn few() {
        assert_eq!(benjamini_hochberg(&[]), [0.0; 0]);
        assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
    }

    proptest! {
        #[test]
        fn adjusting_only_raises_and_keeps_the_order(p in prop::collection::vec(0.0..=1.0_f64, 1..50)) {
            let adjusted = benjamini_hochberg(&p);
            for (a, before) in adjusted.iter().zip(&p) {
                prop_assert!(a >= before && *a <= 1.0);
                for (b, other) in adjusted.iter().zip(&p) {
                    prop_assert!(before > other || a <= b);
                }
            }
        }

        /// The procedure as its authors state it: the largest k whose k-th smallest p is at most k α / m.
        #[test]
        fn as_many_are_called_as_by_stepping_up(p in prop::collection::vec(0.0..=0.2_f64, 1..50), alpha in 0.001..0.2_f64) {
            let mut sorted = p.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let level = |k: usize| sorted[k - 1] * (p.len() as f64 / k as f64);
            let k = (1..=p.len()).rev().find(|k| level(*k) < alpha).unwrap_or(0);
            let called = benjamini_hochberg(&p).into_iter().filter(|adjusted| *adjusted < alpha).count();
            prop_assert_eq!(called, k);
        }
    }
}
