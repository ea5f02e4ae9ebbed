//! Several reports beside each other: what each kernel does in them, as a ratio to the first.

use std::collections::BTreeSet;

use super::{Source, VERSUS};
use crate::answer::ratio::of_work;
use crate::answer::{Answer, Reading, Row};
use crate::figure::{
    self, Axis, Body, DataPoint, Datum, Figure, Heatmap, Plot, Quantity, Role, Scale, Series, State, Table, Tile,
};
use crate::source::{in_quota, quota_note, whole};
use charz_claims::compare::{Comparison, Options, Refusal, Row as Compared, Side, Verdict, compare};
use charz_claims::machines::Ratio;
use charz_data::escape::counted;
use charz_data::report::{Interval, Status};
use charz_data::{Arrange, units};
use charz_words::compare as words;

/// What came of comparing another report with the first.
pub(super) type Found<'a> = Result<Comparison<'a>, Refusal<'a>>;
/// A picture, the numbers behind it, and what is said of it.
type Drawn = (Body, Table, Vec<String>);

/// The most reports of which the answer is given in words.
const MOST_SENTENCES: usize = 3;
/// The most reports that a page compares well.
const MANY: usize = 12;
/// In the order of their colours.
const VERDICTS: [Verdict; 5] =
    [Verdict::Same, Verdict::Slower, Verdict::Faster, Verdict::Inconclusive, Verdict::Uncompared];
/// The most configurations that are drawn: a screen of them.
const MOST_ROWS: usize = 40;

/// Each other report against the first one, by the rules of `charz compare`; those that it refuses whatever they differ in: they are beside
/// each other on one page, which says so.
pub(super) fn compared<'a>(sources: &[Source<'a>]) -> Vec<Found<'a>> {
    let rules = Options { cross_machine: true, cross_build: true, cross_plan: true, ..Options::default() };
    let [first, others @ ..] = sources else { return Vec::new() };
    let by = |other: &Source<'a>, rules: &Options| compare([first.report, other.report], rules);
    others.iter().map(|other| by(other, &Options::default()).or_else(|_| by(other, &rules))).collect()
}

/// How bad the worst verdict of a comparison is, the worst first, and how far it goes.
fn worst(compared: &Found<'_>) -> (usize, f64) {
    let Ok(Comparison { totals, rows, .. }) = compared else { return (2, 0.0) };
    let rank = match totals {
        _ if totals.slower > 0 => 0,
        _ if totals.open > 0 || totals.has_no_verdict() => 1,
        _ if totals.inconclusive > 0 => 2,
        _ if totals.faster > 0 => 3,
        _ => 4,
    };
    let judged = rows.iter().filter(|row| matches!(row.verdict, Verdict::Slower | Verdict::Faster));
    (rank, judged.filter_map(|row| row.shown.effect).fold(f64::INFINITY, f64::min))
}

/// What `charz compare` answers, the worst reports first, and of many reports their counts before; of two reports with what it rests on.
pub(super) fn summary(sources: &[Source<'_>], compared: &[Found<'_>], asides: &[String]) -> Vec<String> {
    let refused = |why: &Refusal<'_>| words::refusal(why, None);
    let sentence = |(other, compared): (&Source<'_>, &Found<'_>)| match compared {
        Ok(comparison) => {
            let (sentence, totals) = (words::sentence(comparison, other.name), &comparison.totals);
            // One that finds a difference begins with the name.
            let is_named = sources.len() <= 2 || totals.slower + totals.faster > 0;
            if is_named { sentence } else { format!("{}: {sentence}", other.name) }
        }
        Err(why) => format!("{}: {}", other.name, refused(why)),
    };
    let mut all: Vec<(&Source<'_>, &Found<'_>)> = sources.iter().skip(1).zip(compared).collect();
    all.arrange_by(|(_, one), (_, other)| {
        let [one, other] = [one, other].map(|found| worst(found));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let (others, more) = (all.len(), all.len().saturating_sub(MOST_SENTENCES));
    let counts = (more > 0).then(|| {
        let count = |of: &[usize]| all.iter().filter(|(_, found)| of.contains(&worst(found).0)).count();
        let [slower, faster, same, open] = [&[0][..], &[3], &[4], &[1, 2]].map(count);
        let base = sources[0].name;
        format!(
            "{slower} of {others} reports slower than {base}, {faster} faster, {same} the same, {open} without a verdict."
        )
    });
    let mut summary: Vec<String> = counts.into_iter().collect();
    let mut refusals = BTreeSet::new();
    all.retain(|(_, found)| found.as_ref().err().is_none_or(|why| more == 0 || refusals.insert(refused(why))));
    all.truncate(MOST_SENTENCES);
    let more = others - all.len();
    summary.extend(all.into_iter().map(sentence));
    summary.extend((more > 0).then(|| format!("{}: see the table.", counted(more, "more report"))));
    summary.extend((others >= MANY).then(|| {
        "For many nodes use charz fleet show, which compares each with all others; for one machine over time, charz history."
            .to_owned()
    }));
    if let [Ok(comparison)] = compared {
        summary.push(format!("{}; {}", words::counts(comparison), words::rule(comparison)));
        summary.extend(words::remarks(comparison, asides));
    }
    summary
}

/// Two reports by what came of comparing them, more by the kernels that the first one has a best of; `None` of one report.
pub(super) fn figure(sources: &[Source<'_>], answers: &[Answer], compared: &[Found<'_>]) -> Option<Figure> {
    let (body, table, about) = match (sources, compared) {
        ([base, new], [Ok(comparison)]) => forest([base.name, new.name], comparison)?,
        ([_, _, ..], _) => {
            let all: Vec<Vec<Row>> = answers.iter().zip(sources).map(rows).collect();
            let (first, others) = all.split_first()?;
            let found = |row| others.iter().map(|other| same(other, row)).collect::<Vec<_>>();
            let rows: Vec<(&Row, Vec<Option<&Row>>)> = first.iter().map(|row| (row, found(row))).collect();
            let rows: Vec<_> = rows.into_iter().filter(|(_, found)| found.iter().any(Option::is_some)).collect();
            let mut about =
                vec!["The best of each kernel, at its number of threads; above 1 is faster, for times too".to_owned()];
            about.extend(sources.iter().filter_map(quota_note));
            let has_gap = |(row, found): &(&Row, Vec<Option<&Row>>)| {
                let mut others = sources[1..].iter().zip(found);
                others.any(|(source, other)| {
                    other.is_some_and(|other| ratio([&sources[0], source], row, other).is_none())
                })
            };
            about.extend(
                rows.iter()
                    .any(has_gap)
                    .then(|| "No ratio where only some reports have numbers of threads up to all CPUs".to_owned()),
            );
            (!rows.is_empty()).then(|| (matrix(sources, &rows), table(sources, &rows), about))?
        }
        _ => return None,
    };
    let title = format!("Performance relative to {}", sources[0].name);
    Some(Figure { id: VERSUS.into(), title, about, body, table: Some(table) })
}

/// A row with its interval for each configuration that has an effect, in a colour for each verdict; behind it all of them.
fn forest([base, new]: [&str; 2], comparison: &Comparison<'_>) -> Option<Drawn> {
    let all = words::sorted(comparison);
    let with_effect = all.iter().copied().filter(|row| row.shown.effect.is_some());
    let drawn: Vec<(f64, &Compared<'_>)> = (0_u32..).map(f64::from).zip(with_effect).take(MOST_ROWS).collect();
    // Empty ones too: a colour is that of a place.
    let series = VERDICTS.into_iter().map(|verdict| Series {
        name: verdict.name().to_owned(),
        role: Role::Measured,
        source: 1,
        points: drawn.iter().filter(|(_, row)| row.verdict == verdict).map(|(place, row)| point(row, *place)).collect(),
    });
    let level = |name: String, times: f64| Series {
        name,
        role: Role::Bound,
        source: 0,
        points: vec![DataPoint::new(0.0, Some(times), State::Ok, String::new())],
    };
    let margin = 1.0 + comparison.margin;
    let within = format!("the same within ±{}", units::percent(comparison.margin));
    let levels =
        [level(format!("as fast as {base}"), 1.0), level(within.clone(), margin), level(within, margin.recip())];
    let names = drawn.iter().map(|(_, row)| words::name(row)).collect();
    let x = Axis::new("configuration", Quantity::Names(names), Scale::Linear);
    let y = Axis::new(format!("times as fast as {base}"), Quantity::Plain, Scale::Log10);
    let plot = Plot::new(x, y, series.chain(levels).collect());
    let mut about = vec!["Above 1 is faster, for times too".to_owned()];
    if drawn.len() < all.len() {
        about.push(format!("{} of {} configurations are drawn; the table has all", drawn.len(), all.len()));
    }
    let better = format!("P({new} better)");
    let heading = ["configuration", base, new, "times as fast", "low", "high", &better, "verdict", "reason"];
    let table = Table::new(&heading, all.into_iter().map(|one| row(one, comparison)));
    let table = table.sparing(&[&better, "high", "low", base, new]);
    (!drawn.is_empty()).then_some((Body::Dots(plot), table, about))
}

fn is_noisy(row: &Compared<'_>) -> State {
    let is = row.sides.iter().flatten().any(|side| side.status == Status::Suspect);
    if is { State::Suspect } else { State::Ok }
}

fn point(row: &Compared<'_>, place: f64) -> DataPoint {
    let spread = row.shown.interval.map(|Interval { low, high }| [low, high]);
    let range = spread.map(|ends| ends.map(units::ratio)).map(|[low, high]| format!(" ({low} to {high})"));
    let range = range.unwrap_or_default();
    let good = if row.cell().unit.is_of_speed() { "fast" } else { "good" };
    let effect = row.shown.effect;
    let times = effect.map(|effect| format!("{}{range} times as {good}", units::ratio(effect))).unwrap_or_default();
    let state = is_noisy(row);
    let doubt = units::doubt(state == State::Suspect);
    let clock = words::of_clock(row).map(|clock| format!(", {clock}")).unwrap_or_default();
    let note = format!("{}: {times}{doubt}; {}{clock}", words::name(row), row.verdict.name());
    DataPoint { spread, ..DataPoint::new(place, effect, state, note) }
}

fn row(row: &Compared<'_>, comparison: &Comparison<'_>) -> figure::Row {
    let value = |side: Option<Side>| {
        let doubt = units::doubt(side.is_some_and(|side| side.status == Status::Suspect));
        Datum::known(side.and_then(|side| side.value), |value| units::value(value, row.cell().unit) + doubt)
    };
    let times = |number: Option<f64>| Datum::known(number, units::ratio);
    let reason = row.reason.as_ref().map(|reason| words::reason(reason, comparison.design));
    let reason = [reason, words::of_clock(row)].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let end = |of: fn(Interval) -> f64| times(row.shown.interval.map(of));
    let data = vec![
        Datum::word(words::name(row)),
        value(row.sides[0]),
        value(row.sides[1]),
        times(row.shown.effect),
        end(|interval| interval.low),
        end(|interval| interval.high),
        Datum::known(row.shown.superiority, |share| format!("{share:.2}")),
        Datum::word(row.verdict.name()),
        Datum::word(if reason.is_empty() { "-" } else { &reason }),
    ];
    figure::Row::new(data, is_noisy(row))
}

/// The rows of a report, with peaks that its quota has time for.
fn rows((answer, source): (&Answer, &Source<'_>)) -> Vec<Row> {
    let row = |row: &Row| Row { peak: in_quota(row.peak.clone(), source.report, &row.kernel), ..row.clone() };
    answer.rows.iter().map(row).collect()
}

/// The row of the same kernel at the same point.
fn same<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Row> {
    rows.iter().find(|other| other.name() == row.name() && other.best.unit == row.best.unit)
}

/// `None` where one of the two may be capable of more with threads that were not measured, and both have not as many.
fn ratio([base, new]: [&Source<'_>; 2], row: &Row, other: &Row) -> Option<Ratio> {
    let are_whole = whole(row, base.report).is_some() && whole(other, new.report).is_some();
    let is_alike = are_whole || row.peak.threads == other.peak.threads;
    is_alike.then(|| of_work(&row.peak, &other.peak, row.is_each))
}

fn state(one: &Reading, other: &Reading) -> State {
    if one.is_noisy || other.is_noisy { State::Suspect } else { State::Ok }
}

type Rows<'a> = [(&'a Row, Vec<Option<&'a Row>>)];

fn matrix(sources: &[Source<'_>], rows: &Rows<'_>) -> Body {
    let tile = |row: &Row, (source, other): (&Source<'_>, Option<&Row>)| {
        let found = other.and_then(|other| Some((other, ratio([&sources[0], source], row, other)?)));
        let Some((other, ratio)) = found else { return Tile::NOTHING };
        Tile { value: Some(ratio.times), state: state(&row.peak, &other.peak), reason: None }
    };
    let tiles = rows.iter().flat_map(|(row, found)| {
        let all = [Some(*row)].into_iter().chain(found.iter().copied());
        sources.iter().zip(all).map(|other| tile(row, other)).collect::<Vec<_>>()
    });
    Body::Heatmap(Heatmap {
        row_label: "kernel".into(),
        column_label: "report".into(),
        rows: rows.iter().map(|(row, _)| row.name()).collect(),
        columns: sources.iter().map(|source| source.name.to_owned()).collect(),
        borders: Vec::new(),
        tiles: tiles.collect(),
        quantity: Quantity::Plain,
        reasons: Vec::new(),
        folded: 1,
    })
}

fn table(sources: &[Source<'_>], rows: &Rows<'_>) -> Table {
    let mut heading = vec!["kernel".to_owned(), sources[0].name.to_owned()];
    heading.extend(sources[1..].iter().flat_map(|source| [source.name.to_owned(), "ratio".to_owned()]));
    let data = rows.iter().map(|(row, found)| {
        let peak = |row: &Row| Datum::number(format!("{} at {}", row.peak.text(), row.peak.threads), row.peak.value);
        let mut data = vec![Datum::word(row.name()), peak(row)];
        for (source, other) in sources[1..].iter().zip(found) {
            let times = other.and_then(|other| ratio([&sources[0], source], row, other));
            data.push(other.map_or_else(Datum::none, peak));
            data.push(
                times
                    .map_or_else(Datum::none, |times| Datum::number(charz_words::machines::ratio(&times), times.times)),
            );
        }
        data
    });
    // Of many reports the last ones.
    let spare = (2..heading.len()).rev().collect();
    Table { spare, ..Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>(), data) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::page;
    use charz_data::report::{Cell, Report, Unit, fixtures};

    /// A figure of the page of these reports.
    fn figure_of(reports: &[Report]) -> Figure {
        let names = ["a", "b", "c"];
        let sources: Vec<_> = names.iter().zip(reports).map(|(name, report)| Source { name, report }).collect();
        page(&sources).figures().find(|figure| figure.id == VERSUS).unwrap().clone()
    }

    #[test]
    fn a_verdict_has_its_colour_whatever_the_others_are() {
        let report = |factor| fixtures::report(vec![fixtures::cell("k", 1, Unit::OpsPerSecond, factor * 1e9)]);
        let place = |factor: f64, verdict: Verdict| {
            let figure = figure_of(&[report(1.0), report(factor)]);
            let Body::Dots(plot) = &figure.body else { panic!("{figure:?}") };
            let found = plot.measured().find(|(_, series)| !series.points.is_empty()).unwrap();
            assert_eq!(found.1.name, verdict.name());
            found.0
        };
        let places = [place(1.0, Verdict::Same), place(0.5, Verdict::Slower), place(2.0, Verdict::Faster)];
        assert!(places[0] != places[1] && places[1] != places[2] && places[0] != places[2], "{places:?}");
    }

    #[test]
    fn the_worst_report_is_told_first() {
        let reports = [1.0, 1.0, 1.0, 1.5, 1.0, 0.6]
            .map(|factor| fixtures::report(vec![fixtures::cell("k", 1, Unit::OpsPerSecond, factor * 1e9)]));
        let names = ["base", "same", "bq", "fast", "f1045", "m06"];
        let sources: Vec<_> = names.into_iter().zip(&reports).map(|(name, report)| Source { name, report }).collect();
        let ranks: Vec<usize> = compared(&sources).iter().map(|found| worst(found).0).collect();
        assert_eq!(ranks, [4, 4, 3, 4, 0]);
        assert!(summary(&sources, &compared(&sources), &[])[1].starts_with("m06 "));
    }

    /// Three reports, each by its kernel, quota, CPUs and numbers of threads with a value; and the ratios to the first.
    #[test]
    fn ratios_are_of_work_that_was_measured_alike() {
        let of = |kernel: &str, unit, quota_cpus, cpus, values: &[(u64, f64)]| {
            let cell =
                |(threads, value): &(u64, f64)| -> Cell { fixtures::cell(kernel, *threads, unit, *value).in_order() };
            let mut report = fixtures::report(values.iter().map(cell).collect()).on(cpus);
            report.machine.usable.quota_cpus = quota_cpus;
            report
        };
        let ops = |quota, cpus, counts: &[u64]| {
            let values: Vec<_> = counts.iter().map(|threads| (*threads, *threads as f64 * 1e9)).collect();
            of("arith-int", Unit::OpsPerSecond, quota, cpus, &values)
        };
        // Two threads with loads of their own do more of them than one, though each load takes longer.
        let loads = |threads, ns| of("chase-random", Unit::NanosecondsPerStep, None, threads as u32, &[(threads, ns)]);
        for (reports, expected) in [
            (
                [ops(None, 2, &[1, 2]), ops(Some(1.5), 2, &[1, 2]), ops(None, 2, &[1, 2])],
                [Some(1.0), Some(0.75), Some(1.0)],
            ),
            ([loads(1, 100.0), loads(2, 110.0), loads(1, 100.0)], [Some(1.0), Some(1.818), Some(1.0)]),
            // Two of eight CPUs are no fourth of a machine.
            ([ops(None, 8, &[1, 2, 4, 8]), ops(None, 8, &[1, 2]), ops(None, 8, &[1, 8])], [Some(1.0), None, Some(1.0)]),
        ] {
            let figure = figure_of(&reports);
            let Body::Heatmap(map) = &figure.body else { panic!("{figure:?}") };
            let rounded = |tile: &Tile| tile.value.map(|times| (times * 1e3).round() / 1e3);
            assert_eq!(map.tiles.iter().map(rounded).collect::<Vec<_>>(), expected);
        }
    }
}
