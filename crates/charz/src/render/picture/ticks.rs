//! Where numbers are written along an axis.

use super::words;
use crate::figure::{Axis, Quantity, Scale};

/// A stretch of an axis with its ticks.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// How numbers lie on it.
    pub(super) scale: Scale,
    /// Its beginning, in units of the scale.
    pub(super) low: f64,
    /// Its end, in units of the scale; below its beginning where it runs backwards.
    pub(super) high: f64,
    /// What is written where.
    pub(super) ticks: Vec<Tick>,
}

/// A number that is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// The number.
    pub(super) at: f64,
    /// As it is read.
    pub(super) label: String,
}

/// The size of what is written.
pub(super) const SIZE: f64 = 12.0;

/// The longest label: a frame keeps its width, however many digits a number has.
const WIDEST: f64 = 150.0;

/// Along which side of a picture an axis runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// From left to right: labels stand beside each other.
    Below,
    /// From below upwards: labels stand above each other.
    Left,
}

impl Span {
    /// The stretch of an axis that holds numbers from one to another, over a length in units of the picture.
    pub(super) fn new(axis: &Axis, range: Option<[f64; 2]>, length: f64, side: Side) -> Self {
        let [low, high] = ends(axis, range);
        let mut span = Span { scale: axis.scale, low, high, ticks: Vec::new() };
        span.ticks = span.best(&axis.quantity, length, side);
        span
    }

    /// Where a number lies, from 0 to 1 within the stretch; `None` for what has no place on the scale.
    pub(super) fn fraction(&self, number: f64) -> Option<f64> {
        let place = self.scale.place(number)?;
        Some((place - self.low) / (self.high - self.low))
    }

    /// Whether a number lies within.
    pub(super) fn holds(&self, number: f64) -> bool {
        self.fraction(number).is_some_and(|part| (-1e-9..=1.0 + 1e-9).contains(&part))
    }

    /// The finest ticks whose labels have room and differ.
    fn best(&self, quantity: &Quantity, length: f64, side: Side) -> Vec<Tick> {
        let labelled = |numbers: Vec<f64>| -> Vec<Tick> {
            let inside = numbers.into_iter().filter(|number| self.holds(*number));
            inside.map(|at| Tick { at, label: words::shortened(&label(quantity, at), SIZE, WIDEST) }).collect()
        };
        let steps = finer_first(self, quantity);
        let fitting = steps.into_iter().map(labelled).find(|ticks| ticks.len() > 1 && self.fits(ticks, length, side));
        fitting.unwrap_or_else(|| {
            // Not even two have room, or all are read alike: what lies in the middle, to the last digit.
            let middle = (self.low + self.high) / 2.0;
            let at = match self.scale {
                Scale::Linear => middle,
                Scale::Log2 => middle.exp2(),
                Scale::Log10 => 10_f64.powf(middle),
            };
            let shown = words::shortened(&label(quantity, at), SIZE, WIDEST);
            if self.holds(at) { vec![Tick { at, label: shown }] } else { Vec::new() }
        })
    }

    fn fits(&self, ticks: &[Tick], length: f64, side: Side) -> bool {
        ticks.windows(2).all(|pair| {
            let [Some(one), Some(other)] = [self.fraction(pair[0].at), self.fraction(pair[1].at)] else { return false };
            let room = match side {
                Side::Below => 12.0 + pair.iter().map(|tick| words::width(&tick.label, SIZE) / 2.0).sum::<f64>(),
                Side::Left => 3.0 * SIZE,
            };
            pair[0].label != pair[1].label && (other - one).abs() * length >= room
        })
    }
}

/// The ends of an axis, in units of its scale: all numbers with a little room around; a rate begins at 0.
fn ends(axis: &Axis, range: Option<[f64; 2]>) -> [f64; 2] {
    /// Half of the largest number: a stretch over all numbers has a length then.
    const LARGEST: f64 = f64::MAX / 4.0;
    if let Quantity::Names(names) = &axis.quantity {
        return [-0.5, (names.len().max(1) as f64) - 0.5];
    }
    let Some([low, high]) = range else { return if axis.scale == Scale::Linear { [0.0, 1.0] } else { [0.0, 3.0] } };
    if axis.scale != Scale::Linear {
        // Nothing and less than nothing have no place there; what does is shown.
        let high = axis.scale.place(high).unwrap_or(3.0);
        let low = axis.scale.place(low).unwrap_or(high - 3.0);
        let room = if high > low { (high - low) * 0.04 } else { 0.5 };
        return [low - room, high + room];
    }
    let [low, high] = [low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST)];
    let from_zero = match axis.quantity {
        Quantity::Value(unit) if unit.more_is_better() => true,
        Quantity::Value(_) | Quantity::Nanos | Quantity::Share | Quantity::Count => low < high * 0.6,
        Quantity::Bytes | Quantity::Plain => low < high * 0.3,
        Quantity::Date | Quantity::Names(_) => false,
    };
    if low >= 0.0 && high > 0.0 && from_zero {
        return [0.0, high * 1.06];
    }
    let room = match high - low {
        // A constant, and what differs by less than a picture can show.
        wide if wide > high.abs() * 1e-9 => wide * 0.06,
        _ => (high.abs() * 0.1).max(if matches!(axis.quantity, Quantity::Date) { 86_400.0 } else { 1e-9 }),
    };
    [low - room, high + room]
}

/// Series of numbers to be written, the most first.
fn finer_first(span: &Span, quantity: &Quantity) -> Vec<Vec<f64>> {
    let (low, high) = (span.low.min(span.high), span.low.max(span.high));
    let powers = |base: f64, every: i32| -> Vec<f64> {
        let [first, last] = [low.ceil().max(-1100.0) as i32, high.floor().min(1100.0) as i32];
        (first..=last).filter(|power| power.rem_euclid(every) == 0).map(|power| base.powi(power)).collect()
    };
    match span.scale {
        Scale::Linear => evenly(low, high, quantity),
        Scale::Log2 => {
            let all = [1, 2, 5, 10, 20, 50, 100, 500].map(|every| powers(2.0, every));
            all.into_iter().chain(evenly(low.exp2(), high.exp2(), quantity)).collect()
        }
        Scale::Log10 => {
            let decades = low.floor().max(-310.0) as i32..=high.ceil().min(310.0) as i32;
            let parts = |parts: &[f64]| -> Vec<f64> {
                decades.clone().flat_map(|power| parts.iter().map(move |part| part * 10_f64.powi(power))).collect()
            };
            let mut all = Vec::new();
            if high - low < 3.0 {
                all.extend([parts(&[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]), parts(&[1.0, 2.0, 5.0]), parts(&[1.0, 3.0])]);
            }
            all.extend([1, 2, 3, 5, 10, 20, 50, 100].map(|every| powers(10.0, every)));
            // Within less than a decade nothing of that may lie.
            all.extend(evenly(10_f64.powf(low), 10_f64.powf(high), quantity));
            all
        }
    }
}

/// Round numbers at equal distances.
fn evenly(low: f64, high: f64, quantity: &Quantity) -> Vec<Vec<f64>> {
    const DAY: f64 = 86_400.0;
    let wide = high - low;
    if !(wide.is_finite() && wide > 0.0) {
        return Vec::new();
    }
    let steps: Vec<f64> = match quantity {
        Quantity::Names(names) => (0..=names.len().max(1).ilog2()).map(|power| (1_u64 << power) as f64).collect(),
        Quantity::Date => {
            [1.0, 2.0, 7.0, 14.0, 28.0, 91.0, 182.0, 365.0, 1826.0, 36_525.0].map(|days| days * DAY).into()
        }
        Quantity::Bytes => {
            let power = (wide / 16.0).log2().floor();
            (0..6).map(|more| (power + f64::from(more)).exp2().max(1.0)).collect()
        }
        _ => {
            let power = 10_f64.powf((wide / 20.0).log10().floor());
            let least = if *quantity == Quantity::Count { 1.0 } else { 0.0 };
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0].map(|part| f64::max(part * power, least)).into()
        }
    };
    let at = |step: f64| -> Vec<f64> {
        let (first, last) = ((low / step).ceil(), (high / step).floor());
        // More than a picture has room for; and steps that vanish beside the numbers.
        if !step.is_normal() || !(0.0..=200.0).contains(&(last - first)) || first.abs() > 1e15 {
            return Vec::new();
        }
        (0..=(last - first) as u32).map(|count| (first + f64::from(count)) * step).collect()
    };
    steps.into_iter().map(at).collect()
}

/// A number as it is written on an axis: without zeros that say nothing, since a tick is where it is said to be.
fn label(quantity: &Quantity, number: f64) -> String {
    let shown = quantity.shown(number);
    if matches!(quantity, Quantity::Names(_) | Quantity::Date) {
        return shown;
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let end = shown.find(|mark: char| !(mark.is_ascii_digit() || mark == '.' || mark == '-')).unwrap_or(shown.len());
    let (digits, unit) = shown.split_at(end);
    match digits.contains('.') {
        true => format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.')),
        false => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Unit;

    #[track_caller]
    fn check(quantity: Quantity, scale: Scale, range: [f64; 2], expected: &[&str]) {
        let axis = Axis { label: String::new(), quantity, scale };
        let span = Span::new(&axis, Some(range), 600.0, Side::Below);
        let labels: Vec<&str> = span.ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, expected);
    }

    #[test]
    fn ticks_are_round() {
        check(Quantity::Count, Scale::Log2, [1.0, 16.0], &["1", "2", "4", "8", "16"]);
        check(Quantity::Count, Scale::Linear, [1.0, 3.0], &["0", "1", "2", "3"]);
        check(
            Quantity::Bytes,
            Scale::Log2,
            [1024.0, 1_073_741_824.0],
            &[
                "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB", "256 MiB",
                "1 GiB",
            ],
        );
        check(
            Quantity::Value(Unit::BytesPerSecond),
            Scale::Linear,
            [1e10, 4e10],
            &["0", "5 GB/s", "10 GB/s", "15 GB/s", "20 GB/s", "25 GB/s", "30 GB/s", "35 GB/s", "40 GB/s"],
        );
        check(
            Quantity::Nanos,
            Scale::Log10,
            [1.0, 1e6],
            &["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms"],
        );
    }

    #[test]
    fn a_narrow_stretch_has_ticks_too() {
        check(
            Quantity::Nanos,
            Scale::Log10,
            [40.0, 44.0],
            &["40 ns", "40.5 ns", "41 ns", "41.5 ns", "42 ns", "42.5 ns", "43 ns", "43.5 ns", "44 ns"],
        );
        check(Quantity::Count, Scale::Log2, [3.0, 3.0], &["3", "4"]);
    }

    proptest::proptest! {
        #[test]
        fn ticks_lie_on_their_axis_and_differ(low: f64, high: f64, scale in 0..3_usize, length in 1.0..2000.0) {
            let scale = [Scale::Linear, Scale::Log2, Scale::Log10][scale];
            let range = [low.min(high), low.max(high)];
            let range = if scale == Scale::Linear { range } else { range.map(f64::abs) };
            let axis = Axis { label: String::new(), quantity: Quantity::Plain, scale };
            let span = Span::new(&axis, Some([range[0].min(range[1]), range[0].max(range[1])]), length, Side::Below);
            proptest::prop_assert!(span.low.is_finite() && span.high.is_finite() && span.low < span.high, "{span:?}");
            for tick in &span.ticks {
                proptest::prop_assert!(span.holds(tick.at), "{span:?}");
            }
            for pair in span.ticks.windows(2) {
                proptest::prop_assert!(pair[0].label != pair[1].label, "{span:?}");
            }
        }
    }
}
