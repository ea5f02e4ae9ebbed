//! All series of a history, and when they changed.

use super::entry::Entry;
use super::series::{Series, Value};
use super::surroundings::{Became, became};
use crate::report::Status;
use crate::stats::{self, Better, LEAST_FOR_CHANGE, Pair, Rule, Sample, changes, compare_one, median_interval};

/// The share of false calls to accept over all series, as in comparisons.
pub const ALPHA: f64 = 0.01;

/// The share of intervals that hold the median of a segment.
const CONFIDENCE: f64 = 0.95;

/// Reports and series of a history, each series with its changes.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The reports, the oldest first.
    pub entries: Vec<Entry>,
    /// The series, in the order of the newest report that has them.
    pub tracks: Vec<Track>,
}

/// One series with its changes.
#[derive(Clone, Debug)]
pub struct Track {
    /// The series.
    pub series: Series,
    /// Its changes, the earliest first.
    pub changes: Vec<Change>,
    /// What lies between them, the earliest first; none where there are no numbers.
    pub segments: Vec<Segment>,
}

/// From one level to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What was.
    pub before: Segment,
    /// What is.
    pub after: Segment,
    /// The performance after over that before: above 1 is better, with times as well as with rates. Null where a value has no
    /// ratio.
    pub effect: Option<f64>,
    /// Where the effect lies, with 99% at least; null where a side has too few values to say. Since the place was chosen for its
    /// effect, it is somewhat too narrow.
    pub interval: Option<(f64, f64)>,
    /// How often chance alone divides such a series as much.
    pub p: f64,
    /// The same, adjusted for the number of series.
    pub adjusted_p: f64,
    /// What else is other in the first report after than it was in the last one before.
    pub became: Vec<Became>,
}

/// The values from one change to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The first report, by its place among the entries.
    pub first: usize,
    /// The last report.
    pub last: usize,
    /// How many values there are, gaps left out.
    pub count: usize,
    /// How many of them are suspect.
    pub suspect: usize,
    /// The value in the middle.
    pub median: f64,
    /// Where the median lies, with 95%; null for fewer than six values.
    pub interval: Option<(f64, f64)>,
}

impl Timeline {
    /// Finds the changes. All series are one family, so that the answer does not depend on what is looked at.
    pub fn new(entries: Vec<Entry>, series: Vec<Series>) -> Self {
        let numbers: Vec<Vec<f64>> =
            series.iter().map(|series| series.numbers().map(|(_, number)| number).collect()).collect();
        let slices: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
        let found = changes(&slices, ALPHA);
        let tracks = series.into_iter().zip(found).map(|(series, found)| {
            let (changes, segments) = told(&entries, &series, &found);
            Track { series, changes, segments }
        });
        Timeline { tracks: tracks.collect(), entries }
    }

    /// Series with too few values for a change to be shown, and how many there are that have enough.
    pub fn short(&self) -> (usize, usize) {
        let short = self.tracks.iter().filter(|track| track.series.numbers().count() < LEAST_FOR_CHANGE).count();
        (short, self.tracks.len() - short)
    }

    /// The newest change of the series for which `counts`: the places of the last entry before and of the first after, and
    /// how many of the series change there.
    pub fn newest_change(&self, counts: impl Fn(&Series) -> bool) -> Option<(usize, usize, usize)> {
        let tracks = self.tracks.iter().filter(|track| counts(&track.series));
        let changes: Vec<&Change> = tracks.flat_map(|track| &track.changes).collect();
        let after = changes.iter().map(|change| change.after.first).max()?;
        let there: Vec<_> = changes.into_iter().filter(|change| change.after.first == after).collect();
        let before = there.iter().map(|change| change.before.last).max()?;
        Some((before, after, there.len()))
    }
}

fn told(entries: &[Entry], series: &Series, found: &[stats::Change]) -> (Vec<Change>, Vec<Segment>) {
    let values: Vec<(&Value, f64)> = series.values.iter().filter_map(|value| Some((value, value.value?))).collect();
    let starts: Vec<usize> = std::iter::once(0).chain(found.iter().map(|change| change.at)).collect();
    let ends = found.iter().map(|change| change.at).chain([values.len()]);
    let parts: Vec<&[(&Value, f64)]> = starts.iter().zip(ends).map(|(&start, end)| &values[start..end]).collect();
    let pairs = parts.windows(2).zip(found);
    let changes = pairs.filter_map(|(parts, found)| change(entries, series, [parts[0], parts[1]], found)).collect();
    (changes, parts.iter().filter_map(|part| segment(part)).collect())
}

fn change(entries: &[Entry], series: &Series, parts: [&[(&Value, f64)]; 2], found: &stats::Change) -> Option<Change> {
    let [before, after] = [segment(parts[0])?, segment(parts[1])?];
    let [base, new] = parts.map(|part| part.iter().map(|(_, number)| *number).collect::<Vec<f64>>());
    let better = if series.unit.more_is_better() { Better::Higher } else { Better::Lower };
    let rule = Rule::new(ALPHA, 0.0)?;
    let compared = compare_one(Pair { base: &base, new: &new, better }, &rule);
    let became = became(&entries[before.last].head, &entries[after.first].head);
    Some(Change {
        before,
        after,
        effect: compared.effect,
        interval: compared.interval.map(|interval| (interval.low, interval.high)),
        p: found.p,
        adjusted_p: found.adjusted_p,
        became,
    })
}

fn segment(part: &[(&Value, f64)]) -> Option<Segment> {
    let sample = Sample::new(part.iter().map(|(_, number)| *number).collect())?;
    let interval = median_interval(&sample, CONFIDENCE);
    Some(Segment {
        first: part.first()?.0.entry,
        last: part.last()?.0.entry,
        count: part.len(),
        suspect: part.iter().filter(|(value, _)| value.status == Status::Suspect).count(),
        median: sample.median(),
        interval: interval.map(|interval| (interval.low, interval.high)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::invented::{around, entries, series};
    use crate::report::Unit;

    #[test]
    fn a_change_says_from_where_to_where_and_what_else_became_other() {
        let mut values = around(1e9, 10);
        values.extend([None, None]);
        values.extend(around(0.9e9, 8));
        let mut first = series("mem-read", Unit::OpsPerSecond, &values);
        first.values[12].status = Status::Suspect;
        let timeline = Timeline::new(entries(20, 12), vec![first, series("noop", Unit::Nanoseconds, &around(5.0, 20))]);
        let [changed, calm] = timeline.tracks.as_slice() else { panic!("two tracks") };
        assert!(calm.changes.is_empty() && calm.segments.len() == 1);
        let [change] = changed.changes.as_slice() else { panic!("{:?}", changed.changes) };
        assert_eq!((change.before.last, change.after.first), (9, 12), "gaps belong to neither side");
        assert_eq!((change.before.count, change.after.count, change.after.suspect), (10, 8, 1));
        assert!((change.effect.unwrap() - 0.9).abs() < 0.01 && change.interval.unwrap().1 < 0.92, "{change:?}");
        assert!(change.p < ALPHA && change.p <= change.adjusted_p && change.adjusted_p < ALPHA);
        let expected = Became { what: "system's kernel", before: "Linux 1".into(), after: "Linux 2".into() };
        assert_eq!(change.became, [expected]);
        assert_eq!(timeline.newest_change(|_| true), Some((9, 12, 1)));
        assert_eq!(timeline.newest_change(|series| series.kernel == "noop"), None);
        assert!(change.after.shown(Unit::OpsPerSecond).ends_with(" ?"), "a suspect value is in it");
        assert_eq!(changed.segment_of(&changed.series.values[9]), 1);
        assert_eq!(changed.segment_of(&changed.series.values[12]), 2);
    }

    #[test]
    fn shorter_times_are_better() {
        let values = [around(100.0, 10), around(50.0, 10)].concat();
        let timeline = Timeline::new(entries(20, 0), vec![series("chase", Unit::NanosecondsPerOp, &values)]);
        let effect = timeline.tracks[0].changes[0].effect.unwrap();
        assert!((effect - 2.0).abs() < 0.05, "{effect}");
        assert_eq!(timeline.tracks[0].changes[0].became, []);
    }

    #[test]
    fn short_series_are_counted() {
        let long = series("a", Unit::OpsPerSecond, &around(1.0, LEAST_FOR_CHANGE));
        let mut gaps = around(1.0, LEAST_FOR_CHANGE - 1);
        gaps.push(None);
        let timeline = Timeline::new(entries(10, 0), vec![long, series("b", Unit::OpsPerSecond, &gaps)]);
        assert_eq!(timeline.short(), (1, 1));
        let nothing = Timeline::new(Vec::new(), Vec::new());
        assert_eq!((nothing.short(), nothing.newest_change(|_| true)), ((0, 0), None));
    }
}
