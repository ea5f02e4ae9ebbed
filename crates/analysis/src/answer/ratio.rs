//! How many times as fast one number is as another.

use super::Reading;
use charz_claims::machines::Ratio;
use charz_stats::{Around, ratio_of_estimates};

pub(crate) fn of(base: &Reading, own: &Reading) -> Ratio {
    let is_wide = |one: &Reading| one.half_width().is_some_and(|half| half >= 1.0);
    let noisy = [base, own].into_iter().any(|one| one.is_noisy || is_wide(one));
    let (base, own) = if base.unit.more_is_better() { (base, own) } else { (own, base) };
    let around = |one: &Reading| {
        let [low, high] = one.ends?.map(|end| end * one.value);
        Some(Around { value: one.value, low, high })
    };
    let ends = around(base).zip(around(own)).and_then(|(base, own)| ratio_of_estimates(base, own));
    Ratio { times: own.value / base.value, interval: ends.map(|(low, high)| [low, high]), noisy }
}

/// That of work: where each thread does its own, more threads do more.
pub(crate) fn of_work(base: &Reading, own: &Reading, is_each: bool) -> Ratio {
    of(base, own).for_price(if is_each { base.threads as f64 / own.threads as f64 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::Unit;
    use charz_data::units;
    use charz_estimate::Quantity;
    use charz_words::machines::ratio;

    #[test]
    fn a_ratio_is_how_many_times_as_fast_and_has_an_interval_where_both_have() {
        let reading = |value, unit, ends| Reading {
            value,
            unit,
            ends,
            is_noisy: false,
            threads: 1,
            mapping: "dumb".into(),
            origin: Quantity::Capacity,
        };
        let rate =
            |value, width: Option<f64>| reading(value, Unit::OpsPerSecond, width.map(|half| [1.0 - half, 1.0 + half]));
        let found = of(&rate(2.0, None), &rate(3.0, Some(0.1)));
        assert_eq!((found.times, found.interval, ratio(&found).as_str()), (1.5, None, "1.50"));
        let found = of(&rate(2.0, Some(0.1)), &rate(4.0, Some(0.1)));
        let [low, high] = found.interval.unwrap();
        assert!(found.times == 2.0 && low < 1.75 && high > 2.3, "{low} {high}");
        assert_eq!(found.for_price(4.0).times, 0.5);
        // An interval that lies to one side of its number is no wider to the other.
        let one_sided = reading(39.0, Unit::OpsPerSecond, Some([36.0 / 39.0, 39.2 / 39.0]));
        let found = of(&rate(30.0, Some(0.1 / 30.0)), &one_sided);
        assert_eq!(found.interval.map(|ends| ends.map(units::ratio)), Some(["1.20", "1.31"].map(str::to_owned)));
        let noisy = Reading { is_noisy: true, ..rate(2.0, None) };
        assert_eq!(ratio(&of(&noisy, &rate(3.0, None))), "1.50~");
        assert_eq!(ratio(&of(&rate(2.0, Some(1.2)), &rate(3.0, Some(0.1)))), "1.50~");
        let time = |value| reading(value, Unit::NanosecondsPerOp, None);
        assert_eq!(of(&time(10.0), &time(5.0)).times, 2.0, "half the time is twice as fast");
    }
}
