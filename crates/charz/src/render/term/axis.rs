//! Where numbers stand on an axis of cells, and which of them are named.

use crate::figure::{Axis, Quantity, Scale};

/// An axis from one end to the other.
pub(super) struct Span<'a> {
    axis: &'a Axis,
    /// Its ends, in units of the scale.
    ends: [f64; 2],
}

/// Beyond these numbers differences are no numbers any more.
const GREATEST: f64 = 1e300;

/// Ticks of an axis without many powers in it: these times a power of ten.
const ROUND: [f64; 3] = [1.0, 2.0, 5.0];

impl<'a> Span<'a> {
    /// One that holds these numbers with about so many ticks; `None` where the scale has no place for them.
    pub(super) fn new(axis: &'a Axis, range: [f64; 2], ticks: usize) -> Option<Self> {
        let place = |number: f64| axis.scale.place(number.clamp(-GREATEST, GREATEST));
        let [mut low, mut high] = [place(range[0])?, place(range[1])?];
        match axis.scale {
            Scale::Linear => {
                if matches!(&axis.quantity, Quantity::Value(unit) if unit.more_is_better()) {
                    (low, high) = (low.min(0.0), high.max(0.0));
                }
                if low == high {
                    let room = if low == 0.0 { 1.0 } else { low.abs() / 10.0 };
                    (low, high) = (low - room, high + room);
                }
                let step = step(high - low, ticks, &axis.quantity);
                (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
            }
            Scale::Log2 | Scale::Log10 => {
                let room = if low == high { 0.5 } else { (high - low) / 40.0 };
                (low, high) = (low - room, high + room);
            }
        }
        // Numbers so close that their difference is lost have one place.
        (high > low).then_some(Span { axis, ends: [low, high] })
    }

    /// Where a number stands, from 0 at one end to 1 at the other.
    pub(super) fn place(&self, number: f64) -> Option<f64> {
        let [low, high] = self.ends;
        let place = (self.axis.scale.place(number)? - low) / (high - low);
        (-1e-9..=1.0 + 1e-9).contains(&place).then(|| place.clamp(0.0, 1.0))
    }

    /// What stands at a place.
    pub(super) fn number(&self, place: f64) -> f64 {
        let [low, high] = self.ends;
        let at = low + place * (high - low);
        match self.axis.scale {
            Scale::Linear => at,
            Scale::Log2 => at.exp2(),
            Scale::Log10 => 10_f64.powf(at),
        }
    }

    /// At most so many places with what stands there in words, ascending; no words twice in a row.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let most = most.max(2);
        let powers = match self.axis.scale {
            Scale::Linear => Vec::new(),
            Scale::Log2 | Scale::Log10 => self.powers(most),
        };
        let numbers = if powers.len() < 2 { self.round(most) } else { powers };
        let mut ticks: Vec<(f64, String)> = Vec::new();
        for number in numbers {
            let Some(place) = self.place(number) else { continue };
            let words = self.axis.quantity.shown(number);
            if ticks.last().is_none_or(|(_, last)| *last != words) {
                ticks.push((place, words));
            }
        }
        ticks
    }

    /// Powers of the scale's base; of many those that are as far apart from each other.
    fn powers(&self, most: usize) -> Vec<f64> {
        let [first, last] = [self.ends[0].ceil() as i64, self.ends[1].floor() as i64];
        let all = last.saturating_sub(first).saturating_add(1).max(0) as usize;
        let raised = |power: i64| match self.axis.scale {
            Scale::Log10 => 10_f64.powf(power as f64),
            _ => (power as f64).exp2(),
        };
        let stride = all.div_ceil(most).max(1) as i64;
        // From a power that the stride divides: 1 KiB and 1 MiB rather than 2 KiB and 2 MiB.
        let from = (first + stride - 1).div_euclid(stride) * stride;
        (0..most as i64 + 1).map(|at| from + at * stride).filter(|power| *power <= last).map(raised).collect()
    }

    /// Round numbers evenly apart.
    fn round(&self, most: usize) -> Vec<f64> {
        let [low, high] = [self.number(0.0), self.number(1.0)];
        let step = step(high - low, most, &self.axis.quantity);
        let first = (low / step).ceil();
        (0..=most + 1).map(|at| (first + at as f64) * step).filter(|number| *number <= high + step / 1e6).collect()
    }
}

/// The distance of about so many ticks over a range: 1, 2 or 5 times a power of ten, and no part of what is counted.
fn step(range: f64, most: usize, quantity: &Quantity) -> f64 {
    let least = (range / most.max(1) as f64).clamp(f64::MIN_POSITIVE, GREATEST);
    let power = 10_f64.powf(least.log10().floor());
    let round = ROUND.iter().map(|digit| digit * power).find(|step| *step >= least * 0.999);
    let step = round.unwrap_or(10.0 * power);
    if matches!(quantity, Quantity::Count | Quantity::Bytes) { step.max(1.0).ceil() } else { step }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::Unit;

    fn axis(quantity: Quantity, scale: Scale) -> Axis {
        Axis { label: String::new(), quantity, scale }
    }

    #[track_caller]
    fn check(quantity: Quantity, scale: Scale, range: [f64; 2], expected: &[&str]) {
        let axis = axis(quantity, scale);
        let ticks = Span::new(&axis, range, 5).unwrap().ticks(5);
        assert_eq!(ticks.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>(), expected);
        assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0), "{ticks:?}");
    }

    #[test]
    fn ticks_are_round() {
        use Quantity::{Bytes, Count, Nanos, Value};
        let rate = Value(Unit::BytesPerSecond);
        check(Count, Scale::Log2, [1.0, 8.0], &["1", "2", "4", "8"]);
        check(Count, Scale::Log2, [1.0, 512.0], &["1", "4", "16", "64", "256"]);
        check(Bytes, Scale::Log2, [4096.0, 268_435_456.0], &["4 KiB", "64 KiB", "1 MiB", "16 MiB", "256 MiB"]);
        check(
            rate.clone(),
            Scale::Linear,
            [9e9, 38e9],
            &["0.00 B/s", "10.0 GB/s", "20.0 GB/s", "30.0 GB/s", "40.0 GB/s"],
        );
        check(Nanos, Scale::Log10, [1.0, 2e5], &["1.00 ns", "100 ns", "10.0 µs"]);
        check(Nanos, Scale::Log10, [110.0, 180.0], &["120 ns", "140 ns", "160 ns", "180 ns"]);
        check(Count, Scale::Linear, [1.0, 1.0], &["0", "1", "2"]);
    }

    proptest! {
        #[test]
        fn every_number_of_the_range_has_a_place(
            numbers in (1e-30_f64..1e30, 1e-30_f64..1e30), scale in 0..3_usize, unit in any::<bool>(), most in 0..40_usize
        ) {
            let scale = [Scale::Linear, Scale::Log2, Scale::Log10][scale];
            let quantity = if unit { Quantity::Value(Unit::OpsPerSecond) } else { Quantity::Count };
            let axis = axis(quantity, scale);
            let range = [numbers.0.min(numbers.1), numbers.0.max(numbers.1)];
            if let Some(span) = Span::new(&axis, range, most) {
                prop_assert!(span.place(range[0]).is_some() && span.place(range[1]).is_some());
                let ticks = span.ticks(most);
                prop_assert!(ticks.len() <= most.max(2) + 2, "{}", ticks.len());
                prop_assert!(ticks.iter().all(|(place, _)| (0.0..=1.0).contains(place)));
            }
        }
    }
}
