//! All series of a history, and when they changed.

use super::entry::{Entry, EnvChange, env_diff};
use super::series::{Series, Value};
use charz_stats::{
    Better, LEAST_FOR_CHANGE, MOST_FOR_CHANGE, Pair, Rule, Sample, changes, compare_one, median_interval,
};

/// The share of false calls to accept over all series, as in comparisons.
pub const ALPHA: f64 = 0.01;

const CONFIDENCE: f64 = 0.95;

/// All series of a history.
#[derive(Clone, Debug)]
pub struct Timeline<'a> {
    /// The reports, the oldest first.
    pub entries: &'a [Entry],
    /// The series, in the order of the newest report that has them.
    pub tracks: Vec<Track<'a>>,
}

/// A series with its changes.
#[derive(Clone, Debug)]
pub struct Track<'a> {
    /// The series.
    pub series: Series<'a>,
    /// The oldest first.
    pub changes: Vec<Change>,
    /// Empty if there are no numbers.
    pub segments: Vec<Segment>,
}

/// A change of performance.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The values up to it.
    pub before: Segment,
    /// The values from it on.
    pub after: Segment,
    /// The performance after over that before: above 1 is better, with times as well as with rates. `None` where a value has
    /// no ratio.
    pub effect: Option<f64>,
    /// The interval of the effect, of 99% at least; `None` if a side has too few values. The place was chosen for its effect,
    /// so it is somewhat too narrow.
    pub interval: Option<(f64, f64)>,
    /// The adjusted p of [`charz_stats::Change`].
    pub p: f64,
}

/// The values from one change to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Index of the first report among the entries.
    pub first: usize,
    /// Index of the last one.
    pub last: usize,
    /// How many values there are, gaps left out.
    pub count: usize,
    /// How many of them are suspect.
    pub suspect: usize,
    /// Their median.
    pub median: f64,
    /// The interval of the median; `None` for fewer than six values.
    pub interval: Option<(f64, f64)>,
    /// Where its values usually lie: the quartiles, and one and a half times their distance beyond (Tukey, "Exploratory Data Analysis",
    /// 1977). A single value outside is unusual, and no change by itself.
    pub usual: [f64; 2],
}

impl<'a> Timeline<'a> {
    /// Finds the changes. All series are one family: what is called a change does not depend on what is shown.
    pub fn new(entries: &'a [Entry]) -> Self {
        let series = Series::all(entries);
        let numbers: Vec<Vec<f64>> = series.iter().map(|series| series.numbers().collect()).collect();
        let slices: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
        let found = changes(&slices, ALPHA);
        let tracks = series.into_iter().zip(found).map(|(series, found)| Track::new(series, &found)).collect();
        Timeline { entries, tracks }
    }

    /// What else differs between the last report before a change and the first one after.
    pub fn env(&self, change: &Change) -> Vec<EnvChange<'a>> {
        env_diff(&self.entries[change.before.last].report, &self.entries[change.after.first].report)
    }

    /// How many series have too few values to show a change, and how many have enough.
    pub fn short(&self) -> (usize, usize) {
        let short = self.tracks.iter().filter(|track| !track.is_long()).count();
        (short, self.tracks.len() - short)
    }

    /// The newest change of the series for which `counts`: the last entry before, the first one after, and how many of the
    /// series change there.
    pub(super) fn newest_change(&self, counts: impl Fn(&Series<'_>) -> bool) -> Option<(usize, usize, usize)> {
        let tracks = self.tracks.iter().filter(|track| counts(&track.series));
        let changes: Vec<&Change> = tracks.flat_map(|track| &track.changes).collect();
        let after = changes.iter().map(|change| change.after.first).max()?;
        let there = || changes.iter().filter(|change| change.after.first == after);
        let before = there().map(|change| change.before.last).max()?;
        Some((before, after, there().count()))
    }
}

impl<'a> Track<'a> {
    fn new(series: Series<'a>, found: &[charz_stats::Change]) -> Self {
        let values: Vec<(Value<'a>, f64)> =
            series.values.iter().filter_map(|value| Some((*value, value.number()?))).collect();
        let starts =
            std::iter::once(values.len().saturating_sub(MOST_FOR_CHANGE)).chain(found.iter().map(|change| change.at));
        let ends = found.iter().map(|change| change.at).chain([values.len()]);
        let parts: Vec<&[(Value<'_>, f64)]> = starts.zip(ends).map(|(start, end)| &values[start..end]).collect();
        let better = if series.key.unit.more_is_better() { Better::Higher } else { Better::Lower };
        let change = |(pair, found): (&[&[(Value<'_>, f64)]], &charz_stats::Change)| {
            let [base, new] = [0, 1].map(|side| pair[side].iter().map(|(_, number)| *number).collect::<Vec<f64>>());
            let compared = compare_one(Pair { base: &base, new: &new, better }, &Rule::new(ALPHA, 0.0)?);
            Some(Change {
                before: segment(pair[0])?,
                after: segment(pair[1])?,
                effect: compared.effect,
                interval: compared.interval.map(|interval| (interval.low, interval.high)),
                p: found.adjusted_p,
            })
        };
        let changes = parts.windows(2).zip(found).filter_map(change).collect();
        let segments = parts.iter().filter_map(|part| segment(part)).collect();
        Track { series, changes, segments }
    }

    /// Whether it has enough values to show a change.
    pub fn is_long(&self) -> bool {
        self.series.numbers().count() >= LEAST_FOR_CHANGE
    }

    /// The number of the segment that a value lies in, from 1.
    pub fn segment_of(&self, value: &Value<'_>) -> usize {
        1 + self.changes.iter().filter(|change| change.after.first <= value.entry).count()
    }
}

fn segment(part: &[(Value<'_>, f64)]) -> Option<Segment> {
    let sample = Sample::new(part.iter().map(|(_, number)| *number).collect())?;
    let interval = median_interval(&sample, CONFIDENCE);
    let beyond = 1.5 * sample.quartile_range();
    Some(Segment {
        first: part.first()?.0.entry,
        last: part.last()?.0.entry,
        count: part.len(),
        suspect: part.iter().filter(|(value, _)| value.cell.is_suspect()).count(),
        median: sample.median(),
        interval: interval.map(|interval| (interval.low, interval.high)),
        usual: [(sample.quantile(0.25) - beyond).max(0.0), sample.quantile(0.75) + beyond],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Said;
    use crate::history::Apart;
    use crate::history::fixtures::{around, cell, entries, of_cells};
    use charz_data::report::{Cell, Severity, Unit};

    #[test]
    fn a_change_lies_between_its_reports_with_what_else_changed() {
        let entries = entries();
        let timeline = Timeline::new(&entries);
        let [changed, calm] = timeline.tracks.as_slice() else { panic!("two tracks") };
        assert!(calm.changes.is_empty() && calm.segments.len() == 1);
        let [change] = changed.changes.as_slice() else { panic!("{:?}", changed.changes) };
        assert_eq!((change.before.last, change.after.first), (9, 12), "gaps belong to neither side");
        assert_eq!((change.before.count, change.after.count, change.after.suspect), (10, 8, 1));
        assert!((change.effect.unwrap() - 0.9).abs() < 0.01 && change.interval.unwrap().1 < 0.92, "{change:?}");
        assert!(change.p < ALPHA);
        assert_eq!(timeline.env(change), [("system's kernel", [Said::Text("Linux 1"), Said::Text("Linux 2")])]);
        assert_eq!(timeline.newest_change(|_| true), Some((9, 12, 1)));
        assert_eq!(timeline.newest_change(|series| series.key.kernel == "calm"), None);
        assert_eq!([9, 12].map(|at| changed.segment_of(&changed.series.values[at])), [1, 2]);
    }

    /// One cell on each day, and for each series how many values it has, and the effects of its changes.
    #[test]
    fn changes_of_one_cell() {
        type Day = fn((usize, f64)) -> Cell;
        let host_moved: Day = |(at, ns)| cell("mem-read", Unit::BytesPerSecond, ns).apart([25.0, 130.0][at / 8]);
        let some_apart: Day = |(at, value)| {
            let own = cell("mem-read", Unit::BytesPerSecond, value);
            if at < 16 { own } else { own.apart([60.0, 150.0][at % 2]) }
        };
        let plain: Day = |(_, value)| cell("a", Unit::OpsPerSecond, value);
        let times: Day = |(_, value)| cell("a", Unit::NanosecondsPerOp, value);
        // A line that has two speeds in most sweeps has a number of neither.
        let speeds: Day = |(at, value)| {
            let own = cell("cas-counter", Unit::OpsPerSecond, value);
            if at % 3 > 0 { own.marked("V16", Severity::Suspect, "two speeds") } else { own }
        };
        let noisy: Day = |(at, value)| {
            let own = cell("a", Unit::OpsPerSecond, value);
            if at == 3 { own.invalid() } else { own }
        };
        let examined = [around(100.0, 300), around(80.0, MOST_FOR_CHANGE - 50), around(70.0, 50)].concat();
        for (numbers, day, expected) in [
            // Of a long series only the last values are examined.
            (examined, plain, vec![(350 + MOST_FOR_CHANGE - 50, vec![0.875])]),
            ([around(100.0, 10), around(50.0, 10)].concat(), times, vec![(20, vec![2.0])]),
            (around(1e9, LEAST_FOR_CHANGE), noisy, vec![(LEAST_FOR_CHANGE, vec![])]),
            ([around(190.0, 10), around(225.0, 10)].concat(), speeds, vec![(20, vec![])]),
            ([around(47e9, 8), around(79e9, 8)].concat(), host_moved, vec![(8, vec![]), (8, vec![])]),
            // Reports without a distance keep their values and their change.
            (
                [around(47e9, 12), around(42e9, 12)].concat(),
                some_apart,
                vec![(4, vec![]), (4, vec![]), (16, vec![0.9])],
            ),
        ] {
            let mut history = of_cells(numbers.into_iter().enumerate().map(|of| vec![day(of)]));
            let cards = history.iter_mut().flat_map(|entry| &mut entry.report.cards);
            cards.for_each(|card| card.contends = card.name == "cas-counter");
            let timeline = Timeline::new(&history);
            let effects = |track: &Track<'_>| -> Vec<f64> {
                track.changes.iter().map(|change| (change.effect.unwrap() * 40.0).round() / 40.0).collect()
            };
            let found: Vec<_> =
                timeline.tracks.iter().map(|track| (track.series.values.len(), effects(track))).collect();
            assert_eq!(found, expected);
            let apart: Vec<_> = timeline.tracks.iter().filter_map(|track| track.series.apart).collect();
            assert_eq!(apart.contains(&Apart::Unknown), found.len() == 3);
            let short =
                timeline.tracks.iter().filter(|track| track.series.numbers().count() < LEAST_FOR_CHANGE).count();
            assert_eq!(timeline.short(), (short, found.len() - short));
        }
        let nothing = Timeline::new(&[]);
        assert_eq!((nothing.short(), nothing.newest_change(|_| true)), ((0, 0), None));
    }
}
