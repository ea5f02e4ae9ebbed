//! All series of a history, and when they changed.

use super::entry::{Entry, EnvChange, env_diff};
use super::series::{Series, Value};
use charz_stats::{
    Better, LEAST_FOR_CHANGE, MOST_FOR_CHANGE, Pair, Rule, Sample, changes, compare_one, median_interval,
};

/// The share of false calls to accept over all series, as in comparisons.
pub const ALPHA: f64 = 0.01;

const CONFIDENCE: f64 = 0.95;

#[derive(Clone, Debug)]
pub struct Timeline {
    /// The reports, the oldest first.
    pub entries: Vec<Entry>,
    /// The series, in the order of the newest report that has them.
    pub tracks: Vec<Track>,
}

#[derive(Clone, Debug)]
pub struct Track {
    pub series: Series,
    pub changes: Vec<Change>,
    /// Empty if there are no numbers.
    pub segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub before: Segment,
    pub after: Segment,
    /// The performance after over that before: above 1 is better, with times as well as with rates. `None` where a value has
    /// no ratio.
    pub effect: Option<f64>,
    /// The interval of the effect, of 99% at least; `None` if a side has too few values. The place was chosen for its effect,
    /// so it is somewhat too narrow.
    pub interval: Option<(f64, f64)>,
    /// The adjusted p of [`charz_stats::Change`].
    pub p: f64,
    /// What else differs between the last report before and the first one after.
    pub env: Vec<EnvChange>,
}

/// The values from one change to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Index of the first report among the entries.
    pub first: usize,
    pub last: usize,
    /// How many values there are, gaps left out.
    pub count: usize,
    pub suspect: usize,
    pub median: f64,
    /// The interval of the median; `None` for fewer than six values.
    pub interval: Option<(f64, f64)>,
}

impl Timeline {
    /// Finds the changes. All series are one family: what is called a change does not depend on what is shown.
    pub fn new(entries: Vec<Entry>) -> Self {
        let series = Series::all(&entries);
        let numbers: Vec<Vec<f64>> = series.iter().map(|series| series.numbers().collect()).collect();
        let slices: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
        let found = changes(&slices, ALPHA);
        let tracks =
            series.into_iter().zip(found).map(|(series, found)| Track::new(&entries, series, &found)).collect();
        Timeline { entries, tracks }
    }

    /// How many series have too few values to show a change, and how many have enough.
    pub fn short(&self) -> (usize, usize) {
        let short = self.tracks.iter().filter(|track| track.series.numbers().count() < LEAST_FOR_CHANGE).count();
        (short, self.tracks.len() - short)
    }

    /// The newest change of the series for which `counts`: the last entry before, the first one after, and how many of the
    /// series change there.
    pub(super) fn newest_change(&self, counts: impl Fn(&Series) -> bool) -> Option<(usize, usize, usize)> {
        let tracks = self.tracks.iter().filter(|track| counts(&track.series));
        let changes: Vec<&Change> = tracks.flat_map(|track| &track.changes).collect();
        let after = changes.iter().map(|change| change.after.first).max()?;
        let there = || changes.iter().filter(|change| change.after.first == after);
        let before = there().map(|change| change.before.last).max()?;
        Some((before, after, there().count()))
    }
}

impl Track {
    fn new(entries: &[Entry], series: Series, found: &[charz_stats::Change]) -> Self {
        let values: Vec<(&Value, f64)> =
            series.values.iter().filter_map(|value| Some((value, value.cell.value()?))).collect();
        let starts =
            std::iter::once(values.len().saturating_sub(MOST_FOR_CHANGE)).chain(found.iter().map(|change| change.at));
        let ends = found.iter().map(|change| change.at).chain([values.len()]);
        let parts: Vec<&[(&Value, f64)]> = starts.zip(ends).map(|(start, end)| &values[start..end]).collect();
        let better = if series.key.unit.more_is_better() { Better::Higher } else { Better::Lower };
        let pairs = parts.windows(2).zip(found);
        let changes = pairs.filter_map(|(pair, found)| change(entries, better, [pair[0], pair[1]], found)).collect();
        let segments = parts.iter().filter_map(|part| segment(part)).collect();
        Track { series, changes, segments }
    }

    /// The number of the segment that a value lies in, from 1.
    pub fn segment_of(&self, value: &Value) -> usize {
        1 + self.changes.iter().filter(|change| change.after.first <= value.entry).count()
    }
}

fn change(
    entries: &[Entry],
    better: Better,
    parts: [&[(&Value, f64)]; 2],
    found: &charz_stats::Change,
) -> Option<Change> {
    let [before, after] = [segment(parts[0])?, segment(parts[1])?];
    let [base, new] = parts.map(|part| part.iter().map(|(_, number)| *number).collect::<Vec<f64>>());
    let compared = compare_one(Pair { base: &base, new: &new, better }, &Rule::new(ALPHA, 0.0)?);
    Some(Change {
        env: env_diff(&entries[before.last].report, &entries[after.first].report),
        before,
        after,
        effect: compared.effect,
        interval: compared.interval.map(|interval| (interval.low, interval.high)),
        p: found.adjusted_p,
    })
}

fn segment(part: &[(&Value, f64)]) -> Option<Segment> {
    let sample = Sample::new(part.iter().map(|(_, number)| *number).collect())?;
    let interval = median_interval(&sample, CONFIDENCE);
    Some(Segment {
        first: part.first()?.0.entry,
        last: part.last()?.0.entry,
        count: part.len(),
        suspect: part.iter().filter(|(value, _)| value.cell.is_suspect()).count(),
        median: sample.median(),
        interval: interval.map(|interval| (interval.low, interval.high)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::fixtures::{around, cell, entries, of_cells};
    use charz_data::report::Unit;

    #[test]
    fn a_change_lies_between_its_reports_with_what_else_changed() {
        let timeline = Timeline::new(entries());
        let [changed, calm] = timeline.tracks.as_slice() else { panic!("two tracks") };
        assert!(calm.changes.is_empty() && calm.segments.len() == 1);
        let [change] = changed.changes.as_slice() else { panic!("{:?}", changed.changes) };
        assert_eq!((change.before.last, change.after.first), (9, 12), "gaps belong to neither side");
        assert_eq!((change.before.count, change.after.count, change.after.suspect), (10, 8, 1));
        assert!((change.effect.unwrap() - 0.9).abs() < 0.01 && change.interval.unwrap().1 < 0.92, "{change:?}");
        assert!(change.p < ALPHA);
        let expected = EnvChange { what: "system's kernel", before: "Linux 1".into(), after: "Linux 2".into() };
        assert_eq!(change.env, [expected]);
        assert_eq!(timeline.newest_change(|_| true), Some((9, 12, 1)));
        assert_eq!(timeline.newest_change(|series| series.key.kernel == "calm"), None);
        assert_eq!(changed.segment_of(&changed.series.values[9]), 1);
        assert_eq!(changed.segment_of(&changed.series.values[12]), 2);
    }

    #[test]
    fn the_level_before_a_change_is_of_values_that_were_examined() {
        let values = [around(100.0, 300), around(80.0, MOST_FOR_CHANGE - 50), around(70.0, 50)].concat();
        let cells = values.into_iter().map(|value| vec![cell("arith", Unit::OpsPerSecond, value)]);
        let timeline = Timeline::new(of_cells(cells));
        let [change] = timeline.tracks[0].changes.as_slice() else { panic!("{:?}", timeline.tracks[0].changes) };
        assert!((change.before.median - 80.0).abs() < 1.0 && change.before.count == MOST_FOR_CHANGE - 50, "{change:?}");
    }

    #[test]
    fn shorter_times_are_better() {
        let values = [around(100.0, 10), around(50.0, 10)].concat();
        let cells = values.into_iter().map(|value| vec![cell("chase", Unit::NanosecondsPerOp, value)]);
        let timeline = Timeline::new(of_cells(cells));
        let change = &timeline.tracks[0].changes[0];
        assert!((change.effect.unwrap() - 2.0).abs() < 0.05, "{change:?}");
        assert_eq!(change.env, []);
    }

    #[test]
    fn series_with_too_few_numbers_are_counted() {
        let cells = |at: usize, value| {
            let gap = cell("b", Unit::OpsPerSecond, value);
            vec![cell("a", Unit::OpsPerSecond, value), if at == 3 { gap.invalid() } else { gap }]
        };
        let all = around(1e9, LEAST_FOR_CHANGE).into_iter().enumerate().map(|(at, value)| cells(at, value));
        assert_eq!(Timeline::new(of_cells(all)).short(), (1, 1));
        let nothing = Timeline::new(Vec::new());
        assert_eq!((nothing.short(), nothing.newest_change(|_| true)), ((0, 0), None));
    }

    #[test]
    fn a_host_that_moves_cpus_makes_two_series_and_no_change() {
        let numbers = [around(47e9, 8), around(79e9, 8)].concat();
        let apart = |at: usize| if at < 8 { 25.0 } else { 130.0 };
        let cell = |(at, number)| vec![cell("mem-read", Unit::BytesPerSecond, number).apart(apart(at))];
        let cells = numbers.into_iter().enumerate().map(cell);
        let timeline = Timeline::new(of_cells(cells));
        let names: Vec<String> = timeline.tracks.iter().map(|track| track.series.name()).collect();
        assert!(
            names.len() == 2 && names[0].ends_with(" 25.0 ns apart") && names[1].ends_with("130 ns apart"),
            "{names:?}"
        );
        assert!(timeline.tracks.iter().all(|track| track.changes.is_empty() && track.series.values.len() == 8));
    }

    #[test]
    fn reports_without_a_distance_keep_their_values_and_their_change() {
        let numbers = [around(47e9, 12), around(42e9, 12)].concat();
        let cells = numbers.into_iter().enumerate().map(|(at, number)| {
            let own = cell("mem-read", Unit::BytesPerSecond, number);
            vec![if at < 16 { own } else { own.apart([60.0, 150.0][at % 2]) }]
        });
        let timeline = Timeline::new(of_cells(cells));
        let counts: Vec<_> = timeline.tracks.iter().map(|own| (own.series.values.len(), own.changes.len())).collect();
        assert_eq!(counts, [(4, 0), (4, 0), (16, 1)]);
    }
}
