//! Numbers, and what they are of a cell.

use charz_data::units;
use charz_estimate::{Estimate, Quantity};
use charz_stats::LEAST_FOR_INTERVAL;

use crate::point;

/// Shown where there is no number.
pub const NONE: &str = "–";

/// What follows the number where it is no capacity.
pub fn label(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Capacity => "",
        Quantity::Delivered => " delivered",
        Quantity::Estimated => " estimated",
    }
}

/// `12.3 GB/s`, with `~` if it is doubtful, and what it is where it is no capacity.
pub fn shown(estimate: &Estimate<'_>) -> String {
    let value = units::value(estimate.unscaled().value, estimate.cell.unit);
    format!("{value}{}{}", units::doubt(estimate.is_doubtful()), label(estimate.quantity))
}

/// A time, with `~` if it is doubtful.
pub fn time(ns: f64, doubtful: bool) -> String {
    format!("{}{}", units::nanos(ns), units::doubt(doubtful))
}

/// `~` for a result of the two, if one of them is doubtful.
pub fn doubt_of(one: &Estimate<'_>, other: &Estimate<'_>) -> &'static str {
    units::doubt(one.is_doubtful() || other.is_doubtful())
}

/// How many times the base it is: `1.31 (1.29 to 1.33)`; with `~` if one of them is doubtful, `1.31?` after too few runs for an interval,
/// `1.31~` where enough runs give none.
pub fn times(own: &Estimate<'_>, base: &Estimate<'_>) -> String {
    let (times, interval) = own.times(base);
    let times = units::ratio(times);
    match interval {
        None if own.runs.min(base.runs) < LEAST_FOR_INTERVAL => format!("{times}?"),
        None => times + units::doubt(true),
        Some((low, high)) => {
            let [low, high] = [low, high].map(units::ratio);
            format!("{times}{} ({low} to {high})", doubt_of(own, base))
        }
    }
}

/// Which cell of the report it is from, and what it is: `mem-read dumb x2: 12.3 GB/s`.
pub fn cited(estimate: &Estimate<'_>) -> String {
    format!("{}: {}", point::name(estimate.cell), shown(estimate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Unit, fixtures};

    #[test]
    fn a_small_ratio_has_as_many_digits() {
        let [one, few] = [1e9, 12.5e6].map(|value| fixtures::cell("pool-std", 1, Unit::OpsPerSecond, value));
        let shown = times(&Estimate::of(&few).unwrap(), &Estimate::of(&one).unwrap());
        assert!(shown.starts_with("0.0125 (0.01"), "{shown}");
    }

    #[test]
    fn a_ratio_without_an_interval_is_of_too_few_runs_or_too_noisy() {
        for (runs, shown) in [(5, "1.00?"), (10, "1.00~")] {
            let mut cell = fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9).without_interval();
            cell.invocations = vec![cell.invocations[0].clone(); runs];
            let number = Estimate::of(&cell).unwrap();
            assert_eq!(times(&number, &number), shown);
        }
    }
}
