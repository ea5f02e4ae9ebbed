//! Lines and dots over axes.

use super::{Axis, range};
use charz_data::units;

#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub x: Axis,
    pub y: Axis,
    /// In the order of their legend.
    pub series: Vec<Series>,
    /// Places on the x axis that something is said of: edges of caches, changes.
    pub reference_lines: Vec<ReferenceLine>,
    /// Points that something is said of: where a mapping saturates.
    pub flags: Vec<Label>,
    /// The x range that it shares with its neighbours; else its own.
    pub shared_x: Option<[f64; 2]>,
}

/// Points that belong together, drawn as one line or in one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    pub role: Role,
    /// Which of the page's reports it is from, from 0.
    pub source: usize,
    /// By ascending x. A line does not join the neighbours of a point without a number.
    pub points: Vec<DataPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Measured,
    /// What is expected: linear scaling, a model, a level; drawn faintly, without points, with its band.
    Ideal,
    /// The limit of the machine; drawn faintly, without points.
    Bound,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DataPoint {
    pub x: f64,
    /// On the y axis; `None` is a gap, and the note says why.
    pub y: Option<f64>,
    /// Where the number lies, from below; both ends or none.
    pub spread: Option<[f64; 2]>,
    pub state: State,
    /// What it is and its number, then what is wrong with it, all between semicolons.
    pub note: String,
    /// What each run gave, where it was run more than once.
    pub runs: Vec<f64>,
}

impl DataPoint {
    /// Without an interval and runs.
    pub fn new(x: f64, y: Option<f64>, state: State, note: String) -> Self {
        DataPoint { x, y, spread: None, state, note, runs: Vec::new() }
    }
}

/// Whether a number may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Ok,
    /// Suspect: it is shown as a hollow marker.
    Suspect,
    /// There is none, or it is invalid: it is a gap.
    Missing,
}

/// A place on the x axis, or a stretch of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceLine {
    pub from: f64,
    /// Where it ends; the same for a single place.
    pub to: f64,
    /// What is there, in a few words: `L2, claimed`.
    pub label: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Which series, from 0.
    pub series: usize,
    pub x: f64,
    /// What is said, in a few words: `saturates`.
    pub label: String,
}

impl Series {
    /// The points that have a number, with it.
    pub fn numbers(&self) -> impl Iterator<Item = (&DataPoint, f64)> {
        self.points.iter().filter_map(|point| Some((point, point.y.filter(|y| y.is_finite())?)))
    }

    /// The corners of a line that is straight between numbers when it is drawn on axes that are not linear.
    pub fn bent(&self) -> Vec<[f64; 2]> {
        const PARTS: u32 = 24;
        let numbers: Vec<[f64; 2]> = self.numbers().map(|(point, y)| [point.x, y]).collect();
        let mut corners: Vec<[f64; 2]> = numbers.first().copied().into_iter().collect();
        for pair in numbers.windows(2) {
            let ([from, low], [to, high]) = (pair[0], pair[1]);
            let parts = if low == high { 1 } else { PARTS };
            corners.extend((1..=parts).map(|part| {
                // Spread as on a logarithmic axis, so a bow is as smooth at its beginning as at its end.
                let share = f64::from(part) / f64::from(parts);
                let x =
                    if from > 0.0 && to > 0.0 { from * (to / from).powf(share) } else { from + (to - from) * share };
                [x, if to > from { low + (high - low) * ((x - from) / (to - from)) } else { high }]
            }));
        }
        corners
    }
}

impl ReferenceLine {
    /// Its label with the place or the stretch on the x axis.
    pub fn note(&self, x: &Axis) -> String {
        let [from, to] = [self.from, self.to].map(|end| x.quantity.shown(end));
        if self.from == self.to { format!("{}: {from}", self.label) } else { format!("{}: {from} to {to}", self.label) }
    }
}

impl Label {
    /// What is said, of which series and where.
    pub fn note(&self, plot: &Plot) -> String {
        let name = plot.series.get(self.series).map(|series| series.name.as_str()).unwrap_or_default();
        format!("{name} {} at {}", self.label, plot.x.quantity.shown(self.x))
    }
}

impl Plot {
    /// Without rules and flags.
    pub fn new(x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Plot { x, y, series, reference_lines: Vec::new(), flags: Vec::new(), shared_x: None }
    }

    /// The series that were measured, each with its index.
    pub fn measured(&self) -> impl Iterator<Item = (usize, &Series)> {
        self.series.iter().enumerate().filter(|(_, series)| series.role == Role::Measured)
    }

    pub fn has(&self, state: State) -> bool {
        self.measured().any(|(_, series)| series.points.iter().any(|point| point.state == state))
    }

    /// The min and the max x of all points, gaps included; `None` without any.
    pub fn x_range(&self) -> Option<[f64; 2]> {
        self.shared_x.or_else(|| range(self.series.iter().flat_map(|series| &series.points).map(|point| point.x)))
    }

    /// The min and the max y of all numbers and their intervals; `None` without any.
    pub fn y_range(&self) -> Option<[f64; 2]> {
        range(self.series.iter().flat_map(Series::numbers).flat_map(ends))
    }

    /// The y range to show: numbers that were measured with their intervals, and limits that do not make these small. On a
    /// logarithmic axis a noisy number far from all others, or an interval that wide, does not stretch it.
    pub fn shown_range(&self) -> Option<[f64; 2]> {
        /// How far beyond sound numbers a noisy one, or an interval beyond its number, still counts.
        const FAR: f64 = 4.0;
        let of = |measured: bool| {
            let series = self.series.iter().filter(move |series| (series.role == Role::Measured) == measured);
            series.flat_map(Series::numbers).flat_map(ends).filter(|number| self.y.scale.place(*number).is_some())
        };
        let sound = self.measured().flat_map(|(_, series)| series.numbers());
        let sound = range(sound.filter(|(point, _)| point.state == State::Ok).map(|(_, y)| y));
        let near = |number: &f64| match sound.filter(|_| !self.y.scale.is_even()) {
            Some([low, high]) => (low / FAR..=high * FAR).contains(number),
            None => true,
        };
        match range(of(true).filter(near)) {
            Some([low, high]) => {
                let limits = of(false).filter(|limit| (low / 2.0..=high * 1.6).contains(limit));
                range([low, high].into_iter().chain(limits))
            }
            None => range(of(false)),
        }
    }

    /// Whether no series has a number.
    pub fn is_empty(&self) -> bool {
        self.y_range().is_none()
    }

    /// From what to what each measured series goes, and how many gaps and doubtful points it has.
    pub(super) fn in_words(&self) -> String {
        let axes = format!("{} against {}", self.y.label, self.x.label);
        let series = self.measured().filter(|(_, series)| !series.points.is_empty());
        let series = series.map(|(_, series)| self.said(series));
        let flags = self.flags.iter().filter(|flag| flag.series < self.series.len()).map(|flag| flag.note(self));
        let rules = self.reference_lines.iter().map(|rule| rule.note(&self.x));
        [axes].into_iter().chain(series).chain(flags).chain(rules).collect::<Vec<_>>().join(". ") + "."
    }

    fn said(&self, series: &Series) -> String {
        let at = |(point, y): (&DataPoint, f64)| {
            let doubt = units::doubt(point.state == State::Suspect);
            format!("{}{doubt} at {}", self.y.quantity.shown(y), self.x.quantity.shown(point.x))
        };
        let ends = match (series.numbers().next(), series.numbers().last()) {
            (Some(first), Some(last)) if first.0.x != last.0.x => format!("from {} to {}", at(first), at(last)),
            (Some(only), _) => at(only),
            (None, _) => "no result".to_owned(),
        };
        let count = |state| series.points.iter().filter(|point| point.state == state).count();
        let besides = [(count(State::Suspect), "noisy"), (count(State::Missing), "missing")];
        let besides: Vec<String> =
            besides.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        let besides = if besides.is_empty() { String::new() } else { format!(" ({})", besides.join(", ")) };
        let name = if series.name.is_empty() { String::new() } else { format!("{}: ", series.name) };
        format!("{name}{ends}{besides}")
    }
}

/// A number and the ends of its interval.
fn ends((point, y): (&DataPoint, f64)) -> impl Iterator<Item = f64> {
    [y].into_iter().chain(point.spread.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::super::{Quantity, Scale};
    use super::*;
    use charz_data::report::Unit;

    fn plot() -> Plot {
        let point = |x: f64, y: Option<f64>, state| DataPoint {
            spread: y.map(|y| [y * 0.9, y * 1.1]),
            ..DataPoint::new(x, y, state, String::new())
        };
        Plot {
            x: Axis { label: "workers".into(), quantity: Quantity::Count, scale: Scale::Log2 },
            y: Axis { label: "throughput".into(), quantity: Quantity::Value(Unit::OpsPerSecond), scale: Scale::Linear },
            series: vec![Series {
                name: "dumb".into(),
                role: Role::Measured,
                source: 0,
                points: vec![
                    point(1.0, Some(1e9), State::Ok),
                    point(2.0, None, State::Missing),
                    point(4.0, Some(3e9), State::Suspect),
                ],
            }],
            reference_lines: vec![ReferenceLine { from: 2.0, to: 4.0, label: "strands shared".into() }],
            flags: vec![Label { series: 0, x: 4.0, label: "saturates".into() }],
            shared_x: None,
        }
    }

    #[test]
    fn words_name_doubts_and_gaps() {
        let words = plot().in_words();
        for part in
            ["from 1.00 Gop/s at 1 to 3.00 Gop/s~ at 4 (1 noisy, 1 missing)", "dumb saturates at 4", "shared: 2 to 4"]
        {
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn ranges_hold_spreads_and_gaps() {
        assert_eq!(plot().x_range(), Some([1.0, 4.0]));
        assert_eq!(plot().y_range(), Some([0.9e9, 3.3000000000000003e9]));
        let faint = |y| Series {
            role: Role::Bound,
            points: vec![DataPoint { y: Some(y), ..plot().series[0].points[0].clone() }],
            ..plot().series[0].clone()
        };
        let limited = Plot { series: vec![plot().series[0].clone(), faint(1e12), faint(4e9)], ..plot() };
        assert_eq!(
            limited.shown_range().map(|[_, high]| high > 3.4e9 && high < 5e9),
            Some(true),
            "a far limit is left out"
        );
        let empty = Plot { series: Vec::new(), ..plot() };
        assert!(empty.is_empty() && empty.x_range().is_none());
    }
}
