//! Tails and quantiles of the normal, the t and the binomial distribution.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, FRAC_PI_2, PI};

/// Where the series of erf gives way to the continued fraction of erfc: both have twelve digits of the tail there.
const FAR: f64 = 2.5;

/// How often a standard normal value is above `z`.
pub fn normal_above(z: f64) -> f64 {
    let x = z.abs() * FRAC_1_SQRT_2;
    let tail = if x < FAR { 0.5 - near(x) } else { far(x) };
    if z < 0.0 { 1.0 - tail } else { tail }
}

/// Half of erf(x), by its series without cancellation (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.6).
fn near(x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (x, x, 1.0);
    while term > sum * f64::EPSILON / 4.0 {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
        n += 1.0;
    }
    sum * (-x * x).exp() / PI.sqrt()
}

/// Half of erfc(x), by its continued fraction (7.1.14), from the inside out.
fn far(x: f64) -> f64 {
    let fraction = (1..=60).rev().fold(x, |inner, k| x + f64::from(k) / 2.0 / inner);
    (-x * x).exp() / (2.0 * PI.sqrt() * fraction)
}

/// What a standard normal value is below with probability `p`, at least one half.
pub fn normal_quantile(p: f64) -> f64 {
    // Newton's steps from 0 stay below the root, as the tail is convex; at p = 1 they go on until the tail is none.
    let (mut z, above) = (0.0, 1.0 - p);
    for _ in 0..200 {
        let step = (normal_above(z) - above) * (2.0 * PI).sqrt() * (z * z / 2.0).exp();
        z += step;
        if step.abs() <= z.abs() * f64::EPSILON {
            break;
        }
    }
    z
}

/// What a value of the t distribution with `freedom` degrees is below with probability `p`, at least one half.
pub fn t_quantile(p: f64, freedom: usize) -> f64 {
    let within = 2.0 * p - 1.0;
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if t_within(middle, freedom) < within { low = middle } else { high = middle }
    }
    (freedom as f64).sqrt() * low.tan()
}

/// How often |t| is below √freedom tan(angle): the finite sums of 26.7.3 and 26.7.4.
fn t_within(angle: f64, freedom: usize) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let odd = freedom % 2;
    let (mut term, mut sum) = (if odd == 1 { sin * cos } else { sin }, 0.0);
    for n in 1..=freedom / 2 {
        sum += term;
        let even = 2.0 * n as f64 + odd as f64;
        term *= cos * cos * (even - 1.0) / even;
    }
    if odd == 1 { FRAC_2_PI * (angle + sum) } else { sum }
}

/// For each k up to half of `n`: how often at most k of `n` tosses of a coin are heads.
pub fn heads_at_most(n: usize) -> Vec<f64> {
    // Relative to the middle, whose own share is below the smallest number from n = 1,074 on.
    let mut weights = vec![1.0; n / 2 + 1];
    for k in (0..n / 2).rev() {
        weights[k] = weights[k + 1] * (k + 1) as f64 / (n - k) as f64;
    }
    let mut sum = 0.0;
    for weight in &mut weights {
        sum += *weight;
        *weight = sum;
    }
    // The middle is there once where n is even.
    let all = 2.0 * sum - if n.is_multiple_of(2) { 1.0 } else { 0.0 };
    weights.iter().map(|weight| weight / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 2e-12, "{found:e}, not {expected:e}");
    }

    // To all digits by mpmath 1.3 with 30 digits.
    #[test]
    fn the_normal_distribution() {
        for (z, above) in [
            (0.5, 0.308_537_538_725_986_9),
            (1.0, 0.158_655_253_931_457_05),
            (3.0, 0.001_349_898_031_630_094_5),
            (3.53, 0.000_207_779_833_480_621_4),
            (3.54, 0.000_200_063_516_007_320_6),
            (6.0, 9.865_876_450_376_98e-10),
            (20.0, 2.753_624_118_606_233_7e-89),
        ] {
            check(normal_above(z), above);
            check(normal_above(-z), 1.0 - above);
        }
        assert_eq!((normal_above(0.0), normal_above(40.0)), (0.5, 0.0));
        for (p, z) in [
            (0.6, 0.253_347_103_135_799_8),
            (0.8, 0.841_621_233_572_914_2),
            (0.975, 1.959_963_984_540_053_6),
            (0.995, 2.575_829_303_548_900_4),
            (0.999_95, 3.890_591_886_413_097),
        ] {
            check(normal_quantile(p), z);
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert!(normal_quantile(1.0) > 8.0);
    }

    // Quantiles of 1 and 2 degrees have a closed form: tan(π(p − 1/2)), and (2p − 1)√(2 / (1 − (2p − 1)²)).
    #[test]
    fn the_t_distribution() {
        for p in [0.75, 0.9, 0.975, 0.995] {
            let within: f64 = 2.0 * p - 1.0;
            check(t_quantile(p, 1), (PI * (p - 0.5)).tan());
            check(t_quantile(p, 2), within * (2.0 / (1.0 - within * within)).sqrt());
        }
        for (freedom, t) in [
            (5, 2.570_581_835_636_314),
            (9, 2.262_157_162_798_205),
            (30, 2.042_272_456_301_237),
            (59, 2.000_995_378_088_259),
        ] {
            check(t_quantile(0.975, freedom), t);
        }
        assert_eq!(t_quantile(0.5, 7), 0.0);
        assert!((t_quantile(0.975, 100_000) - normal_quantile(0.975)).abs() < 1e-4);
    }

    #[test]
    fn coins() {
        assert_eq!(heads_at_most(1), [0.5]);
        assert_eq!(heads_at_most(4), [1.0 / 16.0, 5.0 / 16.0, 11.0 / 16.0]);
        heads_at_most(5).iter().zip([1.0, 6.0, 16.0]).for_each(|(found, heads)| check(*found, heads / 32.0));
        let many = heads_at_most(100_000);
        check(many[50_000] - many[49_999], 0.002_523_126_214_196_74);
    }
}
