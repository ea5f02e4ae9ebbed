//! The page of a history: its changes, and each series over time. Its tables are those of `charz history` in every format.

use super::about::about;
use super::points::{self, state};
use super::{Page, Section, Source, make_ids_unique};
use crate::figure::{
    Axis, Body, DataPoint, Datum, Figure, Plot, Quantity, ReferenceLine, Role, Row, Scale, Series, State, Table, id,
};
use charz_claims::history::{Change, Entry, Segment, Timeline, Track, Value, env_diff};
use charz_data::escape::counted;
use charz_data::report::Status;
use charz_data::{Arrange, units};
use charz_words::compare::signed;
use charz_words::history::{self as words, effect, level, remarks, sorted, summary};

/// The max number of series with a figure of their own, to keep a page readable.
const MOST: usize = 60;
/// The most series whose numbers are in the list of reports, and reports in it.
const MOST_LISTED: usize = 4;
const MOST_REPORTS: usize = 500;

/// The page of `tracks`, those with changes first; what is said is said of all of `asked`, among which they are.
pub fn history(timeline: &Timeline<'_>, asked: &[&Track<'_>], tracks: &[&Track<'_>]) -> Page {
    let mut tracks = tracks.to_vec();
    tracks.arrange_by_key(|track| track.changes.is_empty());
    let mut about_series = vec![
        "Each point is the median of several processes in one report; the band is the interval of that median"
            .to_owned(),
        "A marked stretch lies between the last report before a change and the first one after it".to_owned(),
        "The dashed line is the median of a level, the grey band where single values of it usually lie (the quartiles, and 1.5 times \
         their distance beyond): one point outside is unusual, a shift that lasts is a change"
            .to_owned(),
    ];
    let drawn: Vec<&Track<'_>> =
        tracks.iter().copied().filter(|track| track.series.numbers().next().is_some()).collect();
    if drawn.len() > MOST {
        about_series.push(format!(
            "{MOST} of {} series have a figure here; charz history plot --kernel shows others",
            drawn.len()
        ));
    }
    let list = changes(timeline, &tracks);
    let sections = [
        Section {
            id: "changes",
            title: "Changes",
            about: remarks(timeline, asked),
            figures: changes_figure(&list).into_iter().collect(),
            table: (!list.rows.is_empty()).then(|| list.without_empty_columns()),
        },
        Section {
            id: "series",
            title: "Over time",
            about: about_series,
            table: None,
            figures: drawn.iter().take(MOST).map(|track| figure(timeline, track)).collect(),
        },
        Section {
            id: "reports",
            title: "Reports",
            about: vec!["The newest first; what changed is against the report before".to_owned()],
            table: (!timeline.entries.is_empty()).then(|| listed(timeline, &drawn)),
            figures: Vec::new(),
        },
    ];
    let mut summary = summary(timeline, asked);
    // Where there is no change there is no section of changes.
    if sections[0].figures.is_empty() && !asked.is_empty() {
        summary.extend(remarks(timeline, asked));
    }
    let newest = timeline.entries.last();
    let title = |entry: &Entry| {
        let host = entry.report.host.name.as_deref().unwrap_or("a machine");
        format!("history of {host}: {}", counted(timeline.entries.len(), "report"))
    };
    let source =
        |entry: &Entry| about(&Source { name: &format!("report {}, the newest", entry.id), report: &entry.report });
    let mut page = Page {
        title: newest.map_or_else(|| "a history without reports".into(), title),
        summary,
        sources: newest.map(source).into_iter().collect(),
        sections: sections
            .into_iter()
            .filter(|section| !section.figures.is_empty() || section.table.is_some())
            .collect(),
        ..Page::default()
    };
    make_ids_unique(&mut page);
    page
}

/// One row per report, the oldest first.
pub fn reports(entries: &[Entry]) -> Table {
    let source = ["report", "began", "label", "host", "charz", "complete"];
    let heading = [&source[..], &["ok", "suspect", "invalid", "no number", "what changed"]].concat();
    let row = |(at, Entry { id, label, report, .. }): (usize, &Entry)| {
        let count = |statuses: &[Status]| {
            Datum::count(statuses.iter().map(|status| report.count(*status)).sum::<usize>() as u64)
        };
        let before = at.checked_sub(1).map(|before| &entries[before].report);
        let changed = before.map(|before| words::changed(&env_diff(before, report))).unwrap_or_default();
        vec![
            Datum::number(id.to_string(), *id as f64),
            Datum::word(&report.started),
            Datum::word(label.as_deref().unwrap_or("-")),
            Datum::word(report.host.name.as_deref().unwrap_or("-")),
            Datum::word(format!("{} ({})", report.tool.version, report.tool.commit)),
            Datum::word(if report.complete { "yes" } else { "no" }),
            count(&[Status::Ok]),
            count(&[Status::Suspect]),
            count(&[Status::Invalid]),
            count(&[Status::Pending, Status::Skipped, Status::Failed]),
            Datum::word(or_dash(changed)),
        ]
    };
    let spare = ["charz", "host", "complete", "label", "no number", "invalid", "suspect"];
    Table::new(&heading, entries.iter().enumerate().map(row)).sparing(&spare)
}

/// One row per report, the newest first, with its numbers of a few series.
fn listed(timeline: &Timeline<'_>, tracks: &[&Track<'_>]) -> Table {
    let shown = &tracks[..tracks.len().min(MOST_LISTED)];
    let all = reports(timeline.entries);
    let number = |track: &Track<'_>, at: usize| {
        let value = track.series.values.iter().find(|value| value.entry == at);
        value.map_or_else(Datum::none, |value| points::datum(value.cell))
    };
    let (own, rest) = all.heading.split_at(3);
    let names: Vec<String> = shown.iter().map(|track| words::series(&track.series)).collect();
    let rows = all.rows.iter().enumerate().rev().map(|(at, row)| {
        let (own, rest) = row.data.split_at(3);
        let numbers: Vec<Datum> = shown.iter().map(|track| number(track, at)).collect();
        Row { data: [own, &numbers[..], rest].concat(), ..row.clone() }
    });
    let rows = rows.collect();
    Table { heading: [own, &names[..], rest].concat(), rows, ..Table::default() }
        .without_empty_columns()
        .at_most(MOST_REPORTS)
}

/// One row per change, the newest first, and of one place the largest.
pub fn changes(timeline: &Timeline<'_>, tracks: &[&Track<'_>]) -> Table {
    let heading =
        ["series", "last before", "first after", "before", "after", "change", "low", "high", "p", "what else changed"];
    let share = |ratio: Option<f64>| Datum::known(ratio.map(|ratio| ratio - 1.0), signed);
    let row = |(track, change): (&Track<'_>, &Change)| {
        let unit = track.series.key.unit;
        let data = vec![
            Datum::word(words::series(&track.series)),
            report_of(timeline, change.before.last),
            report_of(timeline, change.after.first),
            Datum::number(level(&change.before, unit), change.before.median),
            Datum::number(level(&change.after, unit), change.after.median),
            share(change.effect),
            share(change.interval.map(|interval| interval.0)),
            share(change.interval.map(|interval| interval.1)),
            Datum::number(format!("{:.5}", change.p), change.p),
            Datum::word(or_dash(words::changed(&timeline.env(change)))),
        ];
        Row::new(data, suspect(change.before.suspect + change.after.suspect))
    };
    Table::new(&heading, sorted(tracks).into_iter().map(row)).sparing(&[
        "p",
        "last before",
        "high",
        "low",
        "before",
        "after",
    ])
}

/// One row per level of a series.
pub fn levels(timeline: &Timeline<'_>, tracks: &[&Track<'_>]) -> Table {
    let heading =
        ["series", "first report", "last report", "values", "suspect", "median", "low", "high", "newest value"];
    let row = |track: &Track<'_>, segment: &Segment| {
        let unit = track.series.key.unit;
        let newest = track.series.values.iter().find(|value| value.entry == segment.last);
        let data = vec![
            Datum::word(words::series(&track.series)),
            report_of(timeline, segment.first),
            report_of(timeline, segment.last),
            Datum::count(segment.count as u64),
            Datum::count(segment.suspect as u64),
            Datum::number(level(segment, unit), segment.median),
            Datum::known(segment.interval.map(|interval| interval.0), |low| units::value(low, unit)),
            Datum::known(segment.interval.map(|interval| interval.1), |high| units::value(high, unit)),
            newest
                .and_then(|value| Some((value.cell.value()?, value.cell.is_suspect())))
                .map_or_else(Datum::none, |(newest, noisy)| {
                    Datum::number(units::value(newest, unit) + units::doubt(noisy), newest)
                }),
        ];
        Row::new(data, suspect(segment.suspect))
    };
    let rows = tracks.iter().flat_map(|track| track.segments.iter().map(|segment| row(track, segment)));
    Table::new(&heading, rows).sparing(&["suspect", "newest value", "high", "low", "values"])
}

/// One row per report and series.
pub fn values(timeline: &Timeline<'_>, tracks: &[&Track<'_>]) -> Table {
    let heading = ["series", "kernel", "mapping", "threads", "parameters", "unit"];
    let rows = tracks.iter().flat_map(|track| {
        let key = &track.series.key;
        let own = vec![
            Datum::word(words::series(&track.series)),
            Datum::word(key.kernel),
            Datum::word(key.mapping),
            Datum::count(key.workers),
            Datum::word(or_dash(words::parameters(&track.series).trim_start().to_owned())),
            Datum::word(key.unit.symbol()),
        ];
        let rows = values_of(timeline, track).rows.into_iter();
        rows.map(move |row| Row { data: [own.clone(), row.data].concat(), ..row })
    });
    Table::new(&[&heading[..], &VALUES[..]].concat(), rows)
}

const VALUES: [&str; 9] = ["report", "began", "label", "value", "low", "high", "status", "level", "reason"];

fn values_of(timeline: &Timeline<'_>, track: &Track<'_>) -> Table {
    let row = |value: &Value<'_>| {
        let (entry, cell) = (&timeline.entries[value.entry], value.cell);
        let end = |at: usize| {
            let end = points::interval(cell).map(|ends| ends[at]);
            Datum::known(end, |end| units::value(end, cell.unit))
        };
        let level = cell.value().map(|_| track.segment_of(value) as f64);
        let data = vec![
            report_of(timeline, value.entry),
            Datum::word(&entry.report.started),
            Datum::word(entry.label.as_deref().unwrap_or("-")),
            Datum::known(cell.value(), |_| points::number(cell)),
            end(0),
            end(1),
            Datum::word(cell.status.name()),
            Datum::known(level, |level| level.to_string()),
            Datum::word(cell.reason.as_deref().unwrap_or("-")),
        ];
        Row::new(data, state(cell))
    };
    Table::new(&VALUES, track.series.values.iter().map(row))
}

/// All changes beneath each other; `None` without any.
fn changes_figure(table: &Table) -> Option<Figure> {
    let name = |row: &Row| format!("{}, report {}", row.data[0].text, row.data[2].number.unwrap_or_default());
    let names = table.rows.iter().map(name).collect();
    let points = (0_u32..).zip(&table.rows).map(|(place, row)| {
        let note = row.data.iter().map(|datum| datum.text.as_str()).collect::<Vec<_>>().join("; ");
        let spread = row.data[6].number.zip(row.data[7].number).map(|(low, high)| [low, high]);
        DataPoint { spread, ..DataPoint::new(f64::from(place), row.data[5].number, row.state, note) }
    });
    let series = Series { name: "changes".into(), role: Role::Measured, source: 0, points: points.collect() };
    let none = DataPoint::new(0.0, Some(0.0), State::Ok, String::new());
    let even = Series { name: "no change".into(), role: Role::Bound, source: 0, points: vec![none] };
    let x = Axis::new("series", Quantity::Names(names), Scale::Linear);
    let y = Axis::new("change of performance", Quantity::Share, Scale::Linear);
    (!table.rows.is_empty()).then(|| Figure {
        id: "changes".into(),
        title: "changes of performance, the newest first".into(),
        about: vec!["Below zero is slower, for times too".into()],
        body: Body::Dots(Plot::new(x, y, vec![series, even])),
        table: None,
    })
}

fn figure(timeline: &Timeline<'_>, track: &Track<'_>) -> Figure {
    let (series, name) = (&track.series, words::series(&track.series));
    let at = |entry: usize| timeline.entries[entry].at as f64;
    let point = |value: &Value<'_>| {
        let entry = &timeline.entries[value.entry];
        let label = entry.label.as_ref().map(|label| format!(", {label}")).unwrap_or_default();
        DataPoint {
            note: format!("report {}{label}: {}", words::name(entry), points::note(value.cell)),
            ..points::point(value.cell, at(value.entry))
        }
    };
    let rule = |change: &Change| ReferenceLine {
        from: at(change.before.last),
        to: at(change.after.first),
        label: effect(change),
    };
    let label = points::quantity(series.key.unit);
    let points = series.values.iter().map(point).collect();
    let x = Axis::new("measured (UTC)", Quantity::Date, Scale::Linear);
    let y = Axis::new(label, Quantity::Value(series.key.unit), Scale::Around);
    let level_of = |segment: &Segment| {
        let end = |entry| DataPoint {
            spread: Some(segment.usual),
            ..DataPoint::new(at(entry), Some(segment.median), State::Ok, String::new())
        };
        let name = format!("level: {}", level(segment, series.key.unit));
        Series { name, role: Role::Ideal, source: 0, points: [segment.first, segment.last].map(end).into() }
    };
    // The title says what it is.
    let measured = Series { name: String::new(), role: Role::Measured, source: 0, points };
    let series = [measured].into_iter().chain(track.segments.iter().map(level_of)).collect();
    let plot = Plot { reference_lines: track.changes.iter().map(rule).collect(), ..Plot::new(x, y, series) };
    let mut about: Vec<String> = track.changes.iter().map(|change| words::sentence(timeline, track, change)).collect();
    if about.is_empty() {
        about.push("No change found".to_owned());
    }
    Figure { id: id(&name), title: name, about, body: Body::Lines(plot), table: Some(values_of(timeline, track)) }
}

fn suspect(count: usize) -> State {
    if count > 0 { State::Suspect } else { State::Ok }
}

fn report_of(timeline: &Timeline<'_>, entry: usize) -> Datum {
    let entry = &timeline.entries[entry];
    Datum::number(words::name(entry), entry.id as f64)
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_claims::history::fixtures::{around, cell, entries, of_cells};
    use charz_data::report::Unit;

    fn plot(figure: &Figure) -> &Plot {
        match &figure.body {
            Body::Lines(plot) | Body::Dots(plot) => plot,
            body => panic!("{body:?}"),
        }
    }

    #[test]
    fn changes_come_first_and_are_marked_in_their_series() {
        let entries = entries();
        let timeline = Timeline::new(&entries);
        let tracks: Vec<&Track<'_>> = timeline.tracks.iter().rev().collect();
        let page = history(&timeline, &tracks, &tracks);
        let figures: Vec<&Figure> = page.figures().collect();
        let [all, changed, calm] = figures.as_slice() else { panic!("{} figures", figures.len()) };
        let effect = plot(all).series[0].points[0].y.unwrap();
        assert!((effect + 0.1).abs() < 0.01, "{effect}");
        let [rule] = plot(changed).reference_lines.as_slice() else { panic!("{:?}", plot(changed).reference_lines) };
        let day = |at: usize| timeline.entries[at].at as f64;
        assert_eq!((rule.from, rule.to), (day(9), day(12)));
        let points = &plot(changed).series[0].points;
        assert_eq!((points.len(), points[10].y, points[10].state), (20, None, State::Missing));
        assert_eq!(points[12].state, State::Suspect);
        assert!(plot(calm).reference_lines.is_empty());
        let tables = [reports(timeline.entries), levels(&timeline, &tracks), values(&timeline, &tracks)];
        for table in figures.iter().filter_map(|figure| figure.table.as_ref()).chain(&tables) {
            assert!(table.rows.iter().all(|row| row.data.len() == table.heading.len()), "{:?}", table.heading);
        }
    }

    #[test]
    fn a_page_has_a_bounded_number_of_figures() {
        let day = |_| (0..MOST + 5).map(|at| cell(&format!("k{at}"), Unit::OpsPerSecond, around(1e9, 1)[0])).collect();
        let entries = of_cells((0..3).map(day));
        let timeline = Timeline::new(&entries);
        let tracks: Vec<&Track<'_>> = timeline.tracks.iter().collect();
        assert_eq!(history(&timeline, &tracks, &tracks).figures().count(), MOST);
        assert!(history(&Timeline::new(&[]), &[], &[]).sections.is_empty());
    }
}
