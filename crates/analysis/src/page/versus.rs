//! Several reports beside each other: what each kernel does in them, as a ratio to the first.

use super::Source;
use crate::answer::{Answer, Reading, Row};
use crate::compare::{Options, compare};
use crate::figure::{
    Axis, Body, DataPoint, Datum, Figure, Heatmap, Plot, Quantity, Role, Scale, Series, State, Table, Tile,
};

use charz_data::escape::shortened;

/// The number of reports from which on a colour says more than a line each.
const MATRIX: usize = 3;

/// The most reports that are compared with the first in words, and the longest sentence.
const MOST_SENTENCES: usize = 3;
const LONGEST: f64 = 400.0;

/// What `charz compare` answers of the first report and each other one.
pub(super) fn sentences(sources: &[Source<'_>]) -> Vec<String> {
    let [first, others @ ..] = sources else { return Vec::new() };
    let sentence = |other: &Source<'_>| {
        let text = match compare(first.report, other.report, &Options::default()) {
            Ok(comparison) => comparison.sentence(other.name),
            Err(refusal) => format!("{}: {refusal}", other.name),
        };
        shortened(&text, LONGEST, |_| 1.0)
    };
    others.iter().take(MOST_SENTENCES).map(sentence).collect()
}

/// Of the kernels that the first report has a best of, all reports; none of one report.
pub(super) fn figures(sources: &[Source<'_>], answers: &[Answer]) -> Vec<Figure> {
    let [first, others @ ..] = answers else { return Vec::new() };
    let found = |row: &Row| others.iter().map(|other| same(other, row)).collect::<Vec<_>>();
    let rows: Vec<(&Row, Vec<Option<&Row>>)> = first.rows.iter().map(|row| (row, found(row))).collect();
    let rows: Vec<_> = rows.into_iter().filter(|(_, found)| found.iter().any(Option::is_some)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let body = if answers.len() < MATRIX { forest(sources, &rows) } else { matrix(sources, &rows) };
    vec![Figure {
        id: "versus".into(),
        title: format!("Performance relative to {}", sources[0].name),
        about: vec!["above 1 is faster, for times too".into()],
        body,
        table: Some(table(sources, &rows)),
    }]
}

/// The row of the same kernel at the same point.
fn same<'a>(answer: &'a Answer, row: &Row) -> Option<&'a Row> {
    answer.rows.iter().find(|other| other.name() == row.name() && other.best.unit == row.best.unit)
}

/// How many times as fast, with the ends of its interval where both numbers have one: the widest that the two allow.
fn ratio(one: &Reading, other: &Reading) -> (f64, Option<[f64; 2]>) {
    let (base, value) = if one.unit.more_is_better() { (one, other) } else { (other, one) };
    let ratio = value.value / base.value;
    let ends = base.half_width.zip(value.half_width).filter(|(base, _)| *base < 1.0);
    (ratio, ends.map(|(base, own)| [ratio * (1.0 - own) / (1.0 + base), ratio * (1.0 + own) / (1.0 - base)]))
}

fn state(one: &Reading, other: &Reading) -> State {
    if one.is_noisy || other.is_noisy { State::Suspect } else { State::Ok }
}

/// `1.31 ±0.04`.
fn words(one: &Reading, other: &Reading) -> String {
    let (ratio, ends) = ratio(one, other);
    ends.map_or_else(|| format!("{ratio:.2}"), |[low, high]| format!("{ratio:.2} ({low:.2} to {high:.2})"))
}

type Rows<'a> = [(&'a Row, Vec<Option<&'a Row>>)];

/// A row of dots with their intervals for each kernel.
fn forest(sources: &[Source<'_>], rows: &Rows<'_>) -> Body {
    let names = rows.iter().map(|(row, _)| row.name()).collect();
    let series = sources.iter().enumerate().skip(1).map(|(at, source)| {
        let points = rows.iter().enumerate().filter_map(|(place, (row, found))| {
            let other = found[at - 1]?;
            let (ratio, spread) = ratio(&row.best, &other.best);
            let note = format!(
                "{}, {}: {}; {} against {}",
                row.name(),
                source.name,
                words(&row.best, &other.best),
                other.best.text(),
                row.best.text()
            );
            let state = state(&row.best, &other.best);
            Some(DataPoint { x: place as f64, y: Some(ratio), spread, state, note, runs: Vec::new() })
        });
        Series { name: source.name.to_owned(), role: Role::Measured, source: at, points: points.collect() }
    });
    let one = DataPoint { x: 0.0, y: Some(1.0), spread: None, state: State::Ok, note: String::new(), runs: Vec::new() };
    let same = Series { name: sources[0].name.to_owned(), role: Role::Bound, source: 0, points: vec![one] };
    let x = Axis::new("kernel", Quantity::Names(names), Scale::Linear);
    let y = Axis::new("times as fast", Quantity::Plain, Scale::Log10);
    Body::Dots(Plot::new(x, y, series.chain([same]).collect()))
}

fn matrix(sources: &[Source<'_>], rows: &Rows<'_>) -> Body {
    let tile = |row: &Row, other: Option<&Row>| {
        let Some(other) = other else { return Tile::NOTHING };
        Tile { value: Some(ratio(&row.best, &other.best).0), state: state(&row.best, &other.best), reason: None }
    };
    let tiles = rows.iter().flat_map(|(row, found)| {
        [Some(*row)].into_iter().chain(found.iter().copied()).map(|other| tile(row, other)).collect::<Vec<_>>()
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
        let mut data = vec![Datum::word(row.name()), Datum::number(row.best.text(), row.best.value)];
        for other in found {
            data.extend(match other {
                Some(other) => [
                    Datum::number(other.best.text(), other.best.value),
                    Datum::number(words(&row.best, &other.best), ratio(&row.best, &other.best).0),
                ],
                None => [Datum::none(), Datum::none()],
            });
        }
        data
    });
    Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>(), data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::Unit;

    fn reading(value: f64, unit: Unit, half_width: Option<f64>) -> Reading {
        Reading { value, unit, half_width, is_noisy: false, threads: 1, mapping: "dumb".into() }
    }

    #[test]
    fn a_ratio_is_how_many_times_as_fast_and_has_an_interval_where_both_have() {
        let rate = |value, width| reading(value, Unit::OpsPerSecond, width);
        assert_eq!(ratio(&rate(2.0, None), &rate(3.0, Some(0.1))), (1.5, None));
        let (times, ends) = ratio(&rate(2.0, Some(0.1)), &rate(4.0, Some(0.1)));
        let [low, high] = ends.unwrap();
        assert!(times == 2.0 && low < 1.7 && high > 2.4, "{low} {high}");
        let time = |value| reading(value, Unit::NanosecondsPerOp, None);
        assert_eq!(ratio(&time(10.0), &time(5.0)).0, 2.0, "half the time is twice as fast");
    }
}
