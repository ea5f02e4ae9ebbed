//! What parts of unequal length give together: the sum of their work over the sum of their time, where neither a part nor its length is
//! like the others. The median of the quotients is no such number: of parts that are whole or starved it takes one kind.
//!
//! The interval is that of the ratio estimator (W. Cochran, "Sampling Techniques", 3rd ed. 1977, section 6.4): the residuals of the parts
//! from the common quotient, and the t distribution.

use super::interval::{Interval, LEAST_FOR_INTERVAL};
use super::tails::t_quantile;

/// The sum of all work over the sum of all time of `(work, time)`, and where it lies with `confidence` (between 0 and 1, usually 0.95):
/// no interval from fewer than [`LEAST_FOR_INTERVAL`] parts. `None` where there is no time.
pub fn pooled(parts: &[(f64, f64)], confidence: f64) -> Option<(f64, Option<Interval>)> {
    let (work, time) = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    let quotient = Some(work / time).filter(|quotient| quotient.is_finite() && time > 0.0)?;
    let n = parts.len() as f64;
    let interval = (parts.len() >= LEAST_FOR_INTERVAL).then(|| {
        let squares: f64 = parts.iter().map(|(work, time)| (work - quotient * time).powi(2)).sum();
        let error = (squares * n / (n - 1.0)).sqrt() / time;
        let half = t_quantile(0.5 + confidence / 2.0, parts.len() - 1) * error;
        Interval { low: (quotient - half).max(0.0), high: quotient + half, confidence }
    });
    Some((quotient, interval))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::pooled;

    #[test]
    fn long_parts_weigh_more() {
        let (quotient, interval) = pooled(&[(10.0, 1.0), (10.0, 9.0)], 0.95).unwrap();
        assert_eq!((quotient, interval), (2.0, None));
        let (quotient, interval) = pooled(&[(4.0, 2.0); 6], 0.95).unwrap();
        let interval = interval.unwrap();
        assert_eq!((quotient, interval.low, interval.high), (2.0, 2.0, 2.0));
        assert_eq!(pooled(&[(1.0, 0.0)], 0.95), None);
        assert_eq!(pooled(&[], 0.95), None);
    }

    /// Parts that are whole or lose most of their time to others: a median would be 1 or 0.2.
    #[test]
    fn the_interval_holds_the_share() {
        let mut random = Rng::with_seed(3);
        let runs = 2_000;
        let mut held = 0;
        for _ in 0..runs {
            let part = |random: &mut Rng| if random.bool() { (1.0, 1.0) } else { (1.0, 5.0) };
            let parts: Vec<_> = (0..20).map(|_| part(&mut random)).collect();
            let (_, interval) = pooled(&parts, 0.95).unwrap();
            let interval = interval.unwrap();
            held += u32::from(interval.low <= 1.0 / 3.0 && 1.0 / 3.0 <= interval.high);
        }
        assert!((0.90..=0.99).contains(&(f64::from(held) / f64::from(runs))), "{held} of {runs}");
    }
}
