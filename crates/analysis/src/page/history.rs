//! The page of a history: its changes, and each series over time. Its tables are those of `charz history` in every format.

use super::about::about;
use super::points::{self, state};
use super::{Page, Section, Source, make_ids_unique};
use crate::compare::signed;
use crate::figure::{
    Axis, Body, DataPoint, Datum, Figure, Plot, Quantity, ReferenceLine, Role, Row, Scale, Series, State, Table, id,
};
use crate::history::{ALPHA, Change, Entry, Segment, Timeline, Track, Value, display, env_diff};
use charz_data::escape::counted;
use charz_data::report::{Status, Unit};
use charz_data::{Arrange, units};
use charz_stats::{LEAST_FOR_CHANGE, MOST_FOR_CHANGE};

/// The max number of series with a figure of their own, to keep a page readable.
const MOST: usize = 60;

/// The page of `tracks`, those with changes first; what is said is said of all of `asked`, among which they are.
pub fn history(timeline: &Timeline, asked: &[&Track], tracks: &[&Track]) -> Page {
    let mut tracks = tracks.to_vec();
    tracks.arrange_by_key(|track| track.changes.is_empty());
    let mut about_series = vec![
        "Each point is the median of several processes in one report; the band is the interval of that median"
            .to_owned(),
        "A marked stretch lies between the last report before a change and the first one after it".to_owned(),
    ];
    let drawn: Vec<&Track> = tracks.iter().copied().filter(|track| track.series.numbers().next().is_some()).collect();
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
            table: (!list.rows.is_empty()).then_some(list),
        },
        Section {
            id: "series",
            title: "Over time",
            about: about_series,
            table: None,
            figures: drawn.iter().take(MOST).map(|track| figure(timeline, track)).collect(),
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
        format!("{host}: {}", counted(timeline.entries.len(), "report"))
    };
    let source =
        |entry: &Entry| about(&Source { name: &format!("report {}, the newest", entry.id), report: &entry.report });
    let mut page = Page {
        title: newest.map_or_else(|| "a history without reports".into(), title),
        summary,
        sources: newest.map(source).into_iter().collect(),
        sections: sections.into_iter().filter(|section| !section.figures.is_empty()).collect(),
        ..Page::default()
    };
    make_ids_unique(&mut page);
    page
}

/// The most changes on the first screen.
const MOST_TOLD: usize = 6;

/// How many series changed, then what changed, when and by how much, the newest change first.
pub fn summary(timeline: &Timeline, tracks: &[&Track]) -> Vec<String> {
    let Some(first) = timeline.entries.first() else {
        return vec!["No report is in this history yet".to_owned()];
    };
    let all = sorted(tracks);
    let Some((_, newest)) = all.first() else {
        let all = tracks.len();
        return vec![match tracks.iter().filter(long).count() {
            0 => format!("No verdict: {all} of {all} series have fewer than {LEAST_FOR_CHANGE} values"),
            enough => format!("No change in {enough} series since report {}", first.name()),
        }];
    };
    let changed = tracks.iter().filter(|track| !track.changes.is_empty()).count();
    let last = timeline.entries[newest.after.first].name();
    let headline = format!("{changed} of {} series changed, the last in report {last}", tracks.len());
    let told =
        all.iter().map(|(track, change)| format!("{}: {}", track.series.name(), sentence(timeline, track, change)));
    let more = all.len().saturating_sub(MOST_TOLD);
    let more = (more > 0).then(|| format!("{} more, in the table of changes", counted(more, "change")));
    [headline].into_iter().chain(told.take(MOST_TOLD)).chain(more).collect()
}

/// Whether a series can show a change.
fn long(track: &&&Track) -> bool {
    track.series.numbers().count() >= LEAST_FOR_CHANGE
}

/// What the changes mean, one sentence each.
pub fn remarks(timeline: &Timeline, tracks: &[&Track]) -> Vec<String> {
    let (_, enough) = timeline.short();
    let short = tracks.len() - tracks.iter().filter(long).count();
    let mut remarks = vec![format!(
        "Changes: E-divisive over {enough} series, at most {} of the calls false; a change is one of performance with an interval of \
         99%, levels are medians with 95%",
        units::percent(ALPHA)
    )];
    if short > 0 {
        remarks.push(format!(
            "{short} of {} series have fewer than {LEAST_FOR_CHANGE} values, too few to show a change; add more reports",
            tracks.len()
        ));
    }
    if tracks.iter().any(|track| track.series.numbers().count() > MOST_FOR_CHANGE) {
        remarks.push(format!("Of longer series only the last {MOST_FOR_CHANGE} values are examined"));
    }
    if tracks.iter().any(|track| track.series.values.iter().any(|value| value.cell.is_suspect())) {
        remarks.push("~ marks noisy values and levels that include one; charz history show gives the reason".into());
    }
    remarks
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
        let changed = before.map(|before| display(&env_diff(before, report))).unwrap_or_default();
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
    Table::new(&heading, entries.iter().enumerate().map(row))
}

/// One row per change, the newest first, and of one place the largest.
pub fn changes(timeline: &Timeline, tracks: &[&Track]) -> Table {
    let heading =
        ["series", "last before", "first after", "before", "after", "change", "low", "high", "p", "what else changed"];
    let share = |ratio: Option<f64>| Datum::known(ratio.map(|ratio| ratio - 1.0), signed);
    let row = |(track, change): (&Track, &Change)| {
        let unit = track.series.key.unit;
        let data = vec![
            Datum::word(track.series.name()),
            report_of(timeline, change.before.last),
            report_of(timeline, change.after.first),
            Datum::number(level_text(&change.before, unit), change.before.median),
            Datum::number(level_text(&change.after, unit), change.after.median),
            share(change.effect),
            share(change.interval.map(|interval| interval.0)),
            share(change.interval.map(|interval| interval.1)),
            Datum::number(format!("{:.5}", change.p), change.p),
            Datum::word(or_dash(display(&change.env))),
        ];
        Row::new(data, suspect(change.before.suspect + change.after.suspect))
    };
    Table::new(&heading, sorted(tracks).into_iter().map(row))
}

/// All changes, the newest first, and of one place the largest.
fn sorted<'a>(tracks: &[&'a Track]) -> Vec<(&'a Track, &'a Change)> {
    let mut changes: Vec<(&Track, &Change)> =
        tracks.iter().flat_map(|track| track.changes.iter().map(move |change| (*track, change))).collect();
    let size = |change: &Change| change.effect.map_or(0.0, |effect| effect.ln().abs());
    changes.arrange_by(|(_, a), (_, b)| b.after.first.cmp(&a.after.first).then(size(b).total_cmp(&size(a))));
    changes
}

/// One row per level of a series.
pub fn levels(timeline: &Timeline, tracks: &[&Track]) -> Table {
    let heading =
        ["series", "first report", "last report", "values", "suspect", "median", "low", "high", "newest value"];
    let row = |track: &Track, segment: &Segment| {
        let unit = track.series.key.unit;
        let newest = track.series.values.iter().find(|value| value.entry == segment.last);
        let data = vec![
            Datum::word(track.series.name()),
            report_of(timeline, segment.first),
            report_of(timeline, segment.last),
            Datum::count(segment.count as u64),
            Datum::count(segment.suspect as u64),
            Datum::number(level_text(segment, unit), segment.median),
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
    Table::new(&heading, tracks.iter().flat_map(|track| track.segments.iter().map(|segment| row(track, segment))))
}

/// One row per report and series.
pub fn values(timeline: &Timeline, tracks: &[&Track]) -> Table {
    let heading = ["series", "kernel", "mapping", "threads", "parameters", "unit"];
    let rows = tracks.iter().flat_map(|track| {
        let key = &track.series.key;
        let own = vec![
            Datum::word(track.series.name()),
            Datum::word(&key.kernel),
            Datum::word(&key.mapping),
            Datum::count(key.workers),
            Datum::word(or_dash(track.series.parameters().trim_start().to_owned())),
            Datum::word(key.unit.symbol()),
        ];
        let rows = values_of(timeline, track).rows.into_iter();
        rows.map(move |row| Row { data: [own.clone(), row.data].concat(), ..row })
    });
    Table::new(&[&heading[..], &VALUES[..]].concat(), rows)
}

const VALUES: [&str; 9] = ["report", "began", "label", "value", "low", "high", "status", "level", "reason"];

fn values_of(timeline: &Timeline, track: &Track) -> Table {
    let row = |value: &Value| {
        let (entry, cell) = (&timeline.entries[value.entry], &value.cell);
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
    let x = Axis::new("series", Quantity::Names(names), Scale::Linear);
    let y = Axis::new("change of performance", Quantity::Share, Scale::Linear);
    (!table.rows.is_empty()).then(|| Figure {
        id: "changes".into(),
        title: "changes of performance, the newest first".into(),
        about: vec!["Below zero is slower, for times too".into()],
        body: Body::Dots(Plot::new(x, y, vec![series])),
        table: None,
    })
}

fn figure(timeline: &Timeline, track: &Track) -> Figure {
    let (series, name) = (&track.series, track.series.name());
    let at = |entry: usize| timeline.entries[entry].at as f64;
    let point = |value: &Value| {
        let entry = &timeline.entries[value.entry];
        let label = entry.label.as_ref().map(|label| format!(", {label}")).unwrap_or_default();
        DataPoint {
            note: format!("report {}{label}: {}", entry.name(), points::note(&value.cell)),
            ..points::point(&value.cell, at(value.entry))
        }
    };
    let rule = |change: &Change| ReferenceLine {
        from: at(change.before.last),
        to: at(change.after.first),
        label: change.effect.map_or("-".into(), |effect| signed(effect - 1.0)),
    };
    let label = points::quantity(series.key.unit);
    let points = series.values.iter().map(point).collect();
    let x = Axis::new("measured (UTC)", Quantity::Date, Scale::Linear);
    let y = Axis::new(label, Quantity::Value(series.key.unit), Scale::Linear);
    // The title says what it is.
    let series = vec![Series { name: String::new(), role: Role::Measured, source: 0, points }];
    let plot = Plot { reference_lines: track.changes.iter().map(rule).collect(), ..Plot::new(x, y, series) };
    let mut about: Vec<String> = track.changes.iter().map(|change| sentence(timeline, track, change)).collect();
    if about.is_empty() {
        about.push("No change found".to_owned());
    }
    Figure { id: id(&name), title: name, about, body: Body::Lines(plot), table: Some(values_of(timeline, track)) }
}

fn sentence(timeline: &Timeline, track: &Track, change: &Change) -> String {
    let [before, after] = [change.before.last, change.after.first].map(|at| timeline.entries[at].name());
    let [from, to] = [&change.before, &change.after].map(|segment| level_text(segment, track.series.key.unit));
    let percent = change.effect.map_or("-".into(), |effect| signed(effect - 1.0));
    let interval = change.interval.map(|(low, high)| format!(" ({} to {})", signed(low - 1.0), signed(high - 1.0)));
    let env = if change.env.is_empty() { "nothing else in the reports changed".into() } else { display(&change.env) };
    format!(
        "{percent}{} between reports {before} and {after}: from {from} to {to}; {env}",
        interval.unwrap_or_default()
    )
}

/// A segment's median with half the width of its interval.
fn level_text(segment: &Segment, unit: Unit) -> String {
    let width =
        segment.interval.map(|(low, high)| (high - low) / 2.0 / segment.median).filter(|width| width.is_finite());
    let width = width.map(|width| format!(" ±{}", units::percent(width))).unwrap_or_default();
    format!("{}{width}{}", units::value(segment.median, unit), units::doubt(segment.suspect > 0))
}

fn suspect(count: usize) -> State {
    if count > 0 { State::Suspect } else { State::Ok }
}

fn report_of(timeline: &Timeline, entry: usize) -> Datum {
    let entry = &timeline.entries[entry];
    Datum::number(entry.name(), entry.id as f64)
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::fixtures::{around, cell, entries, of_cells};

    fn plot(figure: &Figure) -> &Plot {
        match &figure.body {
            Body::Lines(plot) | Body::Dots(plot) => plot,
            body => panic!("{body:?}"),
        }
    }

    #[test]
    fn too_few_reports_are_no_verdict() {
        let of = |count: usize| {
            let days = around(1e9, count)
                .into_iter()
                .map(|value| vec![cell("mem-read", Unit::BytesPerSecond, value).suspect()]);
            Timeline::new(of_cells(days))
        };
        let summary = |timeline: &Timeline| summary(timeline, &timeline.tracks.iter().collect::<Vec<_>>()).concat();
        let (few, many) = (of(2), of(20));
        assert!(summary(&few).starts_with("No verdict: 1 of 1 series"), "{}", summary(&few));
        assert!(summary(&many).starts_with("No change in 1 series"), "{}", summary(&many));
        let levels = levels(&few, &few.tracks.iter().collect::<Vec<_>>());
        assert!(levels.rows[0].data.last().is_some_and(|newest| newest.text.ends_with('~')), "{levels:?}");
    }

    #[test]
    fn a_page_without_a_change_says_of_which_series_there_are_too_few_values() {
        let day = |(at, value): (usize, f64)| {
            let short = (at < 2).then(|| cell("short", Unit::OpsPerSecond, value));
            [cell("long", Unit::OpsPerSecond, value)].into_iter().chain(short).collect()
        };
        let timeline = Timeline::new(of_cells(around(1e9, 20).into_iter().enumerate().map(day)));
        let few = |kernel: &str| {
            let tracks: Vec<&Track> =
                timeline.tracks.iter().filter(|track| track.series.key.kernel.contains(kernel)).collect();
            let summary = history(&timeline, &tracks, &tracks).summary;
            summary.into_iter().find(|sentence| sentence.contains("too few"))
        };
        assert!(few("").is_some_and(|few| few.starts_with("1 of 2 series")) && few("long").is_none(), "{:?}", few(""));
    }

    #[test]
    fn changes_come_first_and_are_marked_in_their_series() {
        let timeline = Timeline::new(entries());
        let tracks: Vec<&Track> = timeline.tracks.iter().rev().collect();
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
        let tables = [reports(&timeline.entries), levels(&timeline, &tracks), values(&timeline, &tracks)];
        for table in figures.iter().filter_map(|figure| figure.table.as_ref()).chain(&tables) {
            assert!(table.rows.iter().all(|row| row.data.len() == table.heading.len()), "{:?}", table.heading);
        }
    }

    #[test]
    fn a_page_has_a_bounded_number_of_figures() {
        let day = |_| (0..MOST + 5).map(|at| cell(&format!("k{at}"), Unit::OpsPerSecond, around(1e9, 1)[0])).collect();
        let timeline = Timeline::new(of_cells((0..3).map(day)));
        let tracks: Vec<&Track> = timeline.tracks.iter().collect();
        let page = history(&timeline, &tracks, &tracks);
        assert_eq!(page.figures().count(), MOST);
        assert!(history(&Timeline::new(Vec::new()), &[], &[]).sections.is_empty());
    }
}
