//! Axes: how numbers are spread along them, and which numbers are written.

use super::{Quantity, quantity};
use charz_data::report::Unit;

#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it counts, in words without the unit: `workers`, `size of the block`.
    pub label: String,
    pub quantity: Quantity,
    pub scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from 0 where the quantity is a throughput.
    Linear,
    /// Evenly, around the numbers: for what changes little over time.
    Around,
    /// By ratios, with ticks at powers of two.
    Log2,
    /// By ratios, with ticks at powers of ten.
    Log10,
}

/// A stretch of an axis. It runs backwards where `high` is below `low`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub scale: Scale,
    /// Its beginning, in units of the scale.
    pub low: f64,
    /// Its end, in units of the scale.
    pub high: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub number: f64,
    pub text: String,
}

impl Scale {
    /// The scale of numbers in a unit. Times of levels, or of many workers, differ by factors: a curve of several decades shows nothing of
    /// its lower ones on an even axis.
    pub fn of(unit: Unit) -> Scale {
        if unit.more_is_better() { Scale::Linear } else { Scale::Log10 }
    }

    /// Whether equal distances are equal differences.
    pub fn is_even(self) -> bool {
        matches!(self, Scale::Linear | Scale::Around)
    }

    /// The place of a number, in units of the scale; `None` for 0 and less on a logarithmic one.
    pub fn place(self, number: f64) -> Option<f64> {
        let place = match self {
            Scale::Linear | Scale::Around => number,
            Scale::Log2 => number.log2(),
            Scale::Log10 => number.log10(),
        };
        place.is_finite().then_some(place)
    }

    /// What an axis says of it.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Scale::Linear | Scale::Around => None,
            Scale::Log2 => Some("log\u{2082}"),
            Scale::Log10 => Some("log\u{2081}\u{2080}"),
        }
    }

    fn number(self, place: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Around => place,
            Scale::Log2 => place.exp2(),
            Scale::Log10 => 10_f64.powf(place),
        }
    }
}

impl Span {
    /// Where a number lies: from 0 at the beginning to 1 at the end, and beyond.
    pub fn fraction(&self, number: f64) -> Option<f64> {
        Some((self.scale.place(number)? - self.low) / (self.high - self.low))
    }

    /// Where a number lies, from 0 to 1; `None` outside.
    pub fn inside(&self, number: f64) -> Option<f64> {
        self.fraction(number).filter(|part| (-1e-9..=1.0 + 1e-9).contains(part)).map(|part| part.clamp(0.0, 1.0))
    }

    pub fn number(&self, fraction: f64) -> f64 {
        self.scale.number(self.low + (self.high - self.low) * fraction)
    }
}

impl Axis {
    pub fn new(label: impl Into<String>, quantity: Quantity, scale: Scale) -> Self {
        Axis { label: label.into(), quantity, scale }
    }

    /// The stretch that shows all numbers of a range, with a little room around them. A throughput begins at 0.
    pub fn span(&self, range: Option<[f64; 2]>) -> Span {
        let [low, high] = ends(self, range);
        Span { scale: self.scale, low, high }
    }

    /// The finest round numbers of a span whose texts differ and do not touch, ascending. `extent` is the share of the span that a
    /// text takes, including the gap to its neighbour.
    pub fn ticks(&self, span: &Span, extent: impl Fn(&str) -> f64) -> Vec<Tick> {
        let tick = |number: f64| span.inside(number).map(|_| Tick { number, text: text(&self.quantity, number) });
        let fits = |pair: &[Tick]| {
            let [Some(one), Some(other)] = [&pair[0], &pair[1]].map(|tick| span.fraction(tick.number)) else {
                return false;
            };
            pair[0].text != pair[1].text && (other - one).abs() >= (extent(&pair[0].text) + extent(&pair[1].text)) / 2.0
        };
        let all = finest_first(span, &self.quantity).into_iter();
        let fitting = all.map(|numbers| numbers.into_iter().filter_map(tick).collect::<Vec<_>>());
        let found = fitting.into_iter().find(|ticks| ticks.len() > 1 && ticks.windows(2).all(fits));
        // Where not even two fit: the number in the middle, to the last digit.
        found.unwrap_or_else(|| tick(span.number(0.5)).into_iter().collect())
    }
}

/// The unit that all ticks have in common, which an axis then names once: taken from their texts.
pub fn take_unit(ticks: &mut [Tick]) -> Option<String> {
    let parts = |tick: &Tick| {
        let (number, unit) = tick.text.split_once(' ')?;
        Some((number.parse::<f64>().ok().filter(|number| *number != 0.0)?, unit.to_owned()))
    };
    // Of several units that of the largest number is for all, where the others remain short in it.
    let last = ticks.iter().rev().find(|tick| tick.number != 0.0)?;
    let (shown, unit) = parts(last)?;
    let one = last.number / shown;
    let texts = ticks.iter().map(|tick| {
        let own = (tick.number / one * 1e6).round() / 1e6;
        let is_unit = tick.number == 0.0 || parts(tick).is_some_and(|(_, other)| other == unit);
        let text = own.to_string();
        let is_short = text.len() <= 4;
        (is_unit || parts(tick).is_some() && is_short)
            .then(|| if is_unit { tick.text.split(' ').next().unwrap_or_default().to_owned() } else { text })
    });
    let texts: Vec<String> = texts.collect::<Option<_>>()?;
    for (tick, text) in ticks.iter_mut().zip(texts) {
        tick.text = text;
    }
    Some(unit)
}

fn ends(axis: &Axis, range: Option<[f64; 2]>) -> [f64; 2] {
    /// A span over all numbers up to this one has a finite length.
    const LARGEST: f64 = f64::MAX / 4.0;
    if let Quantity::Names(names) = &axis.quantity {
        return [-0.5, names.len().max(1) as f64 - 0.5];
    }
    let Some([low, high]) = range else { return if axis.scale.is_even() { [0.0, 1.0] } else { [0.0, 3.0] } };
    if !axis.scale.is_even() {
        let high = axis.scale.place(high).unwrap_or(3.0);
        let low = axis.scale.place(low).unwrap_or(high - 3.0);
        let room = if high > low { (high - low) * 0.04 } else { 0.5 };
        return at_least([low - room, high + room], least(axis, high));
    }
    let [low, high] = [low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST)];
    // A loss is seen against none.
    let high = if axis.quantity == Quantity::Share && low < 0.0 { high.max(0.0) } else { high };
    let from_zero = match axis.quantity {
        _ if axis.scale == Scale::Around => false,
        Quantity::Value(unit) if unit.more_is_better() => true,
        Quantity::Share | Quantity::Count => low < high * 0.6,
        // A time is not compared with none.
        Quantity::Value(_) | Quantity::Nanos => false,
        Quantity::Bytes | Quantity::Plain => low < high * 0.3,
        Quantity::Date | Quantity::Names(_) => false,
    };
    if low >= 0.0 && high > 0.0 && (from_zero || low == 0.0) {
        return [0.0, high * 1.06];
    }
    let room = match high - low {
        wide if wide > high.abs() * 1e-9 => wide * 0.06,
        // A constant, or differences too small to see.
        _ => (high.abs() * 0.1).max(if axis.quantity == Quantity::Date { DAY } else { 1e-9 }),
    };
    at_least([low - room, high + room], least(axis, low.abs().max(high.abs())))
}

/// How much an axis shows at least of what is measured, in units of its scale, where numbers go to this: noise is not stretched over all
/// of it.
fn least(axis: &Axis, most: f64) -> f64 {
    const SHARE: f64 = 0.1;
    match (&axis.quantity, axis.scale) {
        (Quantity::Value(_) | Quantity::Nanos | Quantity::Plain, scale) if scale.is_even() => most * SHARE,
        (Quantity::Value(_) | Quantity::Nanos | Quantity::Plain, scale) => scale.place(1.0 + SHARE).unwrap_or(0.0),
        (Quantity::Share, scale) if scale.is_even() => SHARE,
        _ => 0.0,
    }
}

/// A stretch as long as this at least, around its middle.
fn at_least([low, high]: [f64; 2], length: f64) -> [f64; 2] {
    let missing = (length - (high - low)).max(0.0) / 2.0;
    [low - missing, high + missing]
}

const DAY: f64 = 86_400.0;

/// Series of numbers that could be written, those with the most numbers first.
fn finest_first(span: &Span, quantity: &Quantity) -> Vec<Vec<f64>> {
    let (low, high) = (span.low.min(span.high), span.low.max(span.high));
    let powers = |base: f64, every: i32| -> Vec<f64> {
        let [first, last] = [low.ceil().max(-1100.0) as i32, high.floor().min(1100.0) as i32];
        (first..=last).filter(|power| power.rem_euclid(every) == 0).map(|power| base.powi(power)).collect()
    };
    match span.scale {
        Scale::Linear | Scale::Around => evenly(low, high, quantity),
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
            // Less than a decade holds few of the others.
            if high - low < 1.0 {
                all.extend(evenly(10_f64.powf(low), 10_f64.powf(high), quantity));
            }
            if high - low < 3.0 {
                all.extend([parts(&[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]), parts(&[1.0, 2.0, 5.0]), parts(&[1.0, 3.0])]);
            }
            all.extend([1, 2, 3, 5, 10, 20, 50, 100].map(|every| powers(10.0, every)));
            all
        }
    }
}

/// Round numbers at equal distances.
fn evenly(low: f64, high: f64, quantity: &Quantity) -> Vec<Vec<f64>> {
    let wide = high - low;
    if !(wide.is_finite() && wide > 0.0) {
        return Vec::new();
    }
    let steps: Vec<f64> = match quantity {
        Quantity::Names(names) => (0..=names.len().max(1).ilog2()).map(|power| (1_u64 << power) as f64).collect(),
        Quantity::Date => {
            let minutes = [1.0, 5.0, 15.0, 60.0, 180.0, 360.0, 720.0].map(|minutes| minutes * 60.0);
            let days = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0].map(|days| days * DAY);
            [1.0, 5.0, 15.0].into_iter().chain(minutes).chain(days).collect()
        }
        Quantity::Bytes => {
            let power = (wide / 16.0).log2().floor();
            (0..6).map(|more| (power + f64::from(more)).exp2().max(1.0)).collect()
        }
        _ => {
            let power = 10_f64.powf((wide / 20.0).log10().floor());
            let min = if *quantity == Quantity::Count { 1.0 } else { 0.0 };
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0].map(|part| f64::max(part * power, min)).into()
        }
    };
    let multiples = |step: f64| -> Vec<f64> {
        let (first, last) = ((low / step).ceil(), (high / step).floor());
        // More than any picture has room for, or steps that vanish beside the numbers.
        if !step.is_normal() || !(0.0..=200.0).contains(&(last - first)) || first.abs() > 1e15 {
            return Vec::new();
        }
        (0..=(last - first) as u32).map(|count| (first + f64::from(count)) * step).collect()
    };
    let months: &[usize] = if *quantity == Quantity::Date { &[1, 3, 6, 12, 24, 60, 120, 1200] } else { &[] };
    steps.into_iter().map(multiples).chain(months.iter().map(|every| quantity::months(low, high, *every))).collect()
}

/// A number as it is written on an axis: without trailing zeros, since a tick is exact, and never so long that it leaves no room for
/// the picture.
fn text(quantity: &Quantity, number: f64) -> String {
    const LONGEST: usize = 24;
    let shown = quantity.shown(number);
    match quantity {
        Quantity::Date if number % 60.0 != 0.0 => return quantity::second(number),
        // Only the hour distinguishes the dates of one day: `11-23 14:00`.
        Quantity::Date if number % DAY != 0.0 => return quantity::minute(number),
        Quantity::Names(_) | Quantity::Date => return shown,
        _ => {}
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    if shown.len() > LONGEST {
        return format!("{number:.1e}");
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

    fn axis(quantity: Quantity, scale: Scale) -> Axis {
        Axis::new("", quantity, scale)
    }

    /// A text's share of an axis as wide as so many characters.
    fn extent(width: f64) -> impl Fn(&str) -> f64 {
        move |text| (text.chars().count() + 2) as f64 / width
    }

    #[track_caller]
    fn check(quantity: Quantity, scale: Scale, range: [f64; 2], expected: &[&str]) {
        let axis = axis(quantity, scale);
        let ticks = axis.ticks(&axis.span(Some(range)), extent(88.0));
        assert_eq!(ticks.iter().map(|tick| tick.text.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn ticks_are_round() {
        use Quantity::{Bytes, Count, Nanos, Value};
        check(Count, Scale::Log2, [1.0, 16.0], &["1", "2", "4", "8", "16"]);
        check(Count, Scale::Linear, [1.0, 3.0], &["0", "1", "2", "3"]);
        check(Bytes, Scale::Log2, [1024.0, 1_073_741_824.0], &["1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"]);
        check(
            Value(Unit::BytesPerSecond),
            Scale::Linear,
            [1e10, 4e10],
            &["0", "5 GB/s", "10 GB/s", "15 GB/s", "20 GB/s", "25 GB/s", "30 GB/s", "35 GB/s", "40 GB/s"],
        );
        check(Nanos, Scale::Log10, [1.0, 1e6], &["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms"]);
    }

    #[test]
    fn a_unit_that_all_ticks_share_is_taken_from_them() {
        let ticks = |texts: &[(f64, &str)]| -> Vec<Tick> {
            texts.iter().map(|(number, text)| Tick { number: *number, text: (*text).to_owned() }).collect()
        };
        let mut same = ticks(&[(0.0, "0"), (5e9, "5 GB/s"), (1e10, "10 GB/s")]);
        assert_eq!(take_unit(&mut same).as_deref(), Some("GB/s"));
        assert_eq!(same.iter().map(|tick| tick.text.as_str()).collect::<Vec<_>>(), ["0", "5", "10"]);
        let mut mixed = ticks(&[(5e8, "500 MB/s"), (1e9, "1 GB/s")]);
        assert_eq!(take_unit(&mut mixed).as_deref(), Some("GB/s"));
        assert_eq!(mixed.iter().map(|tick| tick.text.as_str()).collect::<Vec<_>>(), ["0.5", "1"]);
        for mut other in [ticks(&[(1.0, "1 ns"), (1e6, "1 ms")]), ticks(&[(0.0, "a name"), (1.0, "b name")])] {
            let before = other.clone();
            assert_eq!(take_unit(&mut other), None);
            assert_eq!(other, before);
        }
    }

    #[test]
    fn a_narrow_stretch_has_ticks_too() {
        let expected = ["40 ns", "40.5 ns", "41 ns", "41.5 ns", "42 ns", "42.5 ns", "43 ns", "43.5 ns", "44 ns"];
        check(Quantity::Nanos, Scale::Log10, [40.0, 44.0], &expected);
        check(Quantity::Count, Scale::Log2, [3.0, 3.0], &["3", "4"]);
        let ratios = ["0.6", "0.7", "0.8", "0.9", "1", "1.1", "1.2", "1.3"];
        check(Quantity::Plain, Scale::Log10, [0.6, 1.31], &ratios);
    }

    #[test]
    fn dates_of_a_day_and_of_a_year_have_ticks() {
        const NOON: f64 = 1_769_860_800.0;
        let of = |length: f64, first: &str, least: usize| {
            let axis = axis(Quantity::Date, Scale::Linear);
            let ticks = axis.ticks(&axis.span(Some([NOON, NOON + length])), extent(88.0));
            let texts: Vec<&str> = ticks.iter().map(|tick| tick.text.as_str()).collect();
            assert!(texts.len() >= least && texts.contains(&first), "{texts:?}");
        };
        of(600.0, "01-31 12:05", 3);
        of(6.0 * 3600.0, "01-31 15:00", 3);
        of(3.0 * DAY, "2026-02-01", 3);
        of(365.0 * DAY, "2026-07-01", 3);
        of(9.0 * 365.0 * DAY, "2030-01-01", 3);
    }

    proptest::proptest! {
        #[test]
        fn ticks_lie_on_their_axis_and_apart(low: f64, high: f64, scale in 0..3_usize, width in 1.0..2000.0) {
            let scale = [Scale::Linear, Scale::Log2, Scale::Log10][scale];
            let range = [low, high].map(|end| if scale == Scale::Linear { end } else { end.abs() });
            let axis = axis(Quantity::Plain, scale);
            let span = axis.span(Some([range[0].min(range[1]), range[0].max(range[1])]));
            proptest::prop_assert!(span.low.is_finite() && span.high.is_finite() && span.low < span.high, "{span:?}");
            let ticks = axis.ticks(&span, extent(width));
            for tick in &ticks {
                proptest::prop_assert!(span.inside(tick.number).is_some() && tick.text.len() <= 24, "{tick:?} {span:?}");
            }
            for pair in ticks.windows(2) {
                let [one, other] = [&pair[0], &pair[1]].map(|tick| span.inside(tick.number).unwrap());
                let wide = (extent(width)(&pair[0].text) + extent(width)(&pair[1].text)) / 2.0;
                proptest::prop_assert!(pair[0].text != pair[1].text && other - one >= wide - 1e-6, "{pair:?} {span:?}");
            }
        }

        #[test]
        fn an_axis_shows_all_of_its_range(one in 1e-30_f64..1e30, other in 1e-30_f64..1e30, scale in 0..3_usize) {
            let scale = [Scale::Linear, Scale::Log2, Scale::Log10][scale];
            let range = [one.min(other), one.max(other)];
            for quantity in [Quantity::Value(Unit::OpsPerSecond), Quantity::Count, Quantity::Date] {
                let span = axis(quantity, scale).span(Some(range));
                proptest::prop_assert!(range.iter().all(|end| span.inside(*end).is_some()), "{range:?} {span:?}");
            }
        }
    }
}
