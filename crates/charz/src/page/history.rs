//! What a history says: its changes, and each series in the course of time.

use super::about::about;
use super::spots::word;
use super::{About, Page, Section, Source, tell_apart};
use crate::figure::{
    Axis, Body, Datum, Figure, Plot, Quantity, Role, Row, Rule, Scale, Series, Spot, State, Table, id,
};
use crate::history::{Change, Entry, Timeline, Track, Value};
use crate::render::human;
use crate::render::text::counted;
use crate::report::{Status, Unit};
use crate::stats::LEAST_FOR_CHANGE;

/// The most series with a figure of their own: a page with more is no help to anybody.
const MOST: usize = 60;

/// What these series of a history say; those that changed come first.
pub fn history(timeline: &Timeline, tracks: &[&Track]) -> Page {
    let mut tracks = tracks.to_vec();
    tracks.sort_by_key(|track| track.changes.is_empty());
    let shown = &tracks[..tracks.len().min(MOST)];
    let mut about = vec![
        "Each spot is what one report says, the median of several processes, and the band is the interval in which that median lies"
            .to_owned(),
        "Where a level changed lies in the marked stretch, between the last report before and the first one after".to_owned(),
    ];
    if tracks.len() > shown.len() {
        about.push(format!(
            "Of {} series {} have a figure here; charz history plot --kernel names others",
            tracks.len(),
            shown.len()
        ));
    }
    let figures = shown.iter().map(|track| figure(timeline, track)).collect();
    let sections = [
        Section {
            id: "changes",
            title: "Changes",
            about: verdict(timeline, &tracks),
            figures: changes(timeline, &tracks),
        },
        Section { id: "series", title: "In the course of time", about, figures },
    ];
    let newest = timeline.entries.last();
    let mut page = Page {
        title: newest.map_or_else(|| "a history without reports".into(), |entry| title(timeline, entry)),
        sources: newest.map(source).into_iter().collect(),
        sections: sections.into_iter().filter(|section| !section.figures.is_empty()).collect(),
        ..Page::default()
    };
    tell_apart(&mut page);
    page
}

fn title(timeline: &Timeline, newest: &Entry) -> String {
    let host = newest.head.host.name.as_deref().unwrap_or("a machine");
    format!("{host}: {}", counted(timeline.entries.len(), "report"))
}

/// Where the newest report comes from.
fn source(newest: &Entry) -> About {
    let counts = [
        (Status::Ok, newest.counts.ok),
        (Status::Suspect, newest.counts.suspect),
        (Status::Invalid, newest.counts.invalid),
    ];
    let counts = counts.into_iter().map(|(status, count)| (status, usize::try_from(count).unwrap_or(usize::MAX)));
    let name = format!("report {}, the newest", newest.id);
    About {
        counts: counts.filter(|(_, count)| *count > 0).collect(),
        ..about(&Source { name: &name, report: &newest.head })
    }
}

/// What holds of all series, a sentence each.
fn verdict(timeline: &Timeline, tracks: &[&Track]) -> Vec<String> {
    let changed = tracks.iter().filter(|track| !track.changes.is_empty()).count();
    let (short, enough) = timeline.short();
    let mut about = vec![format!(
        "{changed} of {} series changed, as far as E-divisive can tell with at most {} of its calls false",
        tracks.len(),
        human::percent(crate::history::ALPHA)
    )];
    if short > 0 {
        about.push(format!(
            "Too few for a change to be shown, fewer than {LEAST_FOR_CHANGE} values: {short} of {} series",
            short + enough
        ));
    }
    about
}

/// All changes beneath each other, the newest first; nothing without any.
fn changes(timeline: &Timeline, tracks: &[&Track]) -> Vec<Figure> {
    let mut changes: Vec<(&Track, &Change)> =
        tracks.iter().flat_map(|track| track.changes.iter().map(move |change| (*track, change))).collect();
    changes.sort_by_key(|(_, change)| std::cmp::Reverse(change.after.first));
    if changes.is_empty() {
        return Vec::new();
    }
    let names = changes.iter().map(|(track, change)| format!("{}, {}", track.series.name(), between(timeline, change)));
    let spots = (0_u32..).zip(&changes).map(|(row, (track, change))| Spot {
        x: f64::from(row),
        y: change.effect.map(|effect| effect - 1.0),
        spread: change.interval.map(|(low, high)| [low - 1.0, high - 1.0]),
        state: if suspect(change) { State::Doubtful } else { State::Sound },
        note: format!("{}: {}", track.series.name(), said(timeline, track, change)),
    });
    let series = Series { name: "changes".into(), role: Role::Measured, source: 0, spots: spots.collect() };
    let plot = Plot {
        x: Axis { label: "series".into(), quantity: Quantity::Names(names.collect()), scale: Scale::Linear },
        y: Axis { label: "change of performance".into(), quantity: Quantity::Share, scale: Scale::Linear },
        series: vec![series],
        rules: Vec::new(),
        flags: Vec::new(),
    };
    let heading = ["series", "between reports", "before", "after", "change", "p", "what else became other"];
    let rows = changes.iter().map(|(track, change)| change_row(timeline, track, change));
    vec![Figure {
        id: "changes".into(),
        title: "changes of performance, the newest first".into(),
        about: vec!["Less than nothing is slower, also for times".into()],
        body: Body::Dots(plot),
        table: Some(Table { heading: heading.map(str::to_owned).to_vec(), rows: rows.collect(), left_out: 0 }),
    }]
}

fn change_row(timeline: &Timeline, track: &Track, change: &Change) -> Row {
    let unit = track.series.unit;
    let effect = change.effect.map(|effect| effect - 1.0);
    let data = vec![
        Datum::word(track.series.name()),
        Datum::number(between(timeline, change), timeline.entries[change.after.first].at as f64),
        Datum::number(change.before.shown(unit), change.before.median),
        Datum::number(change.after.shown(unit), change.after.median),
        Datum { text: change.percent(), number: effect },
        Datum::number(format!("{:.5}", change.adjusted_p), change.adjusted_p),
        Datum::word(change.became_in_words()),
    ];
    Row { data, state: if suspect(change) { State::Doubtful } else { State::Sound }, passport: Vec::new() }
}

fn suspect(change: &Change) -> bool {
    change.before.suspect + change.after.suspect > 0
}

fn between(timeline: &Timeline, change: &Change) -> String {
    let [before, after] = [change.before.last, change.after.first].map(|at| timeline.entries[at].place());
    format!("{before} and {after}")
}

/// A change in a sentence.
fn said(timeline: &Timeline, track: &Track, change: &Change) -> String {
    let unit = track.series.unit;
    format!(
        "{} between reports {}: from {} to {}; {}",
        change.percent(),
        between(timeline, change),
        change.before.shown(unit),
        change.after.shown(unit),
        change.became_in_words()
    )
}

/// A series in the course of time.
fn figure(timeline: &Timeline, track: &Track) -> Figure {
    let series = &track.series;
    let name = series.name();
    let spots = series.values.iter().map(|value| spot(&timeline.entries[value.entry], value, series.unit)).collect();
    let rule = |change: &Change| {
        let [from, to] = [change.before.last, change.after.first].map(|at| timeline.entries[at].at as f64);
        Rule { from, to, label: change.percent() }
    };
    let quantity = Quantity::Value(series.unit);
    let label = if series.unit.more_is_better() { "throughput" } else { "time" };
    let plot = Plot {
        x: Axis { label: "when it was measured".into(), quantity: Quantity::Date, scale: Scale::Linear },
        y: Axis { label: label.into(), quantity, scale: Scale::Linear },
        series: vec![Series { name: name.clone(), role: Role::Measured, source: 0, spots }],
        rules: track.changes.iter().map(rule).collect(),
        flags: Vec::new(),
    };
    let about = match track.changes.is_empty() {
        true => vec!["No change is found".to_owned()],
        false => track.changes.iter().map(|change| said(timeline, track, change)).collect(),
    };
    Figure { id: id(&name), title: name, about, body: Body::Lines(plot), table: Some(table(timeline, track)) }
}

fn spot(entry: &Entry, value: &Value, unit: Unit) -> Spot {
    let label = entry.label.as_ref().map(|label| format!(", {label}")).unwrap_or_default();
    let reason = value.reason.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
    Spot {
        x: entry.at as f64,
        y: value.value,
        spread: value.interval.filter(|_| value.value.is_some()).map(|(low, high)| [low, high]),
        state: state(value),
        note: format!("report {}{label}: {}{reason}", entry.place(), value.shown(unit)),
    }
}

fn state(value: &Value) -> State {
    match (value.value, value.status) {
        (None, _) => State::Missing,
        (Some(_), Status::Suspect) => State::Doubtful,
        (Some(_), _) => State::Sound,
    }
}

fn table(timeline: &Timeline, track: &Track) -> Table {
    let heading = ["report", "began", "label", "value", "status", "segment"];
    let rows = track.series.values.iter().map(|value| {
        let entry = &timeline.entries[value.entry];
        let segment = value.value.map(|_| track.segment_of(value));
        let data = vec![
            Datum::number(entry.id.to_string(), entry.id as f64),
            Datum::number(&entry.head.started, entry.at as f64),
            Datum::word(entry.label.clone().unwrap_or_else(|| "-".into())),
            Datum { text: value.shown(track.series.unit), number: value.value },
            Datum::word(word(value.status)),
            Datum {
                text: segment.map_or_else(|| "-".into(), |segment| segment.to_string()),
                number: segment.map(|at| at as f64),
            },
        ];
        let passport = value.reason.iter().map(|reason| ("reason".to_owned(), reason.clone())).collect();
        Row { data, state: state(value), passport }
    });
    Table { heading: heading.map(str::to_owned).to_vec(), rows: rows.collect(), left_out: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::invented::{around, entries, series};

    fn timeline() -> Timeline {
        let values = [around(1e9, 10), vec![None, None], around(0.9e9, 8)].concat();
        let changed = series("mem-read", Unit::BytesPerSecond, &values);
        Timeline::new(entries(20, 12), vec![series("calm", Unit::Nanoseconds, &around(5.0, 20)), changed])
    }

    fn plot(figure: &Figure) -> &Plot {
        match &figure.body {
            Body::Lines(plot) | Body::Dots(plot) => plot,
            body => panic!("{body:?}"),
        }
    }

    #[test]
    fn changes_come_first_and_are_marked_in_their_series() {
        let timeline = timeline();
        let page = history(&timeline, &timeline.tracks.iter().collect::<Vec<_>>());
        let figures: Vec<&Figure> = page.figures().collect();
        assert_eq!(figures.len(), 3);
        assert_eq!(figures[0].id, "changes");
        let effect = plot(figures[0]).series[0].spots[0].y.unwrap();
        assert!((effect + 0.1).abs() < 0.01, "{effect}");
        let changed = plot(figures[1]);
        let [rule] = changed.rules.as_slice() else { panic!("{:?}", changed.rules) };
        let day = |at: usize| timeline.entries[at].at as f64;
        assert_eq!((rule.from, rule.to), (day(9), day(12)));
        let spots = &changed.series[0].spots;
        assert_eq!((spots.len(), spots[10].y, spots[10].state), (20, None, State::Missing));
        assert!(spots[10].note.contains("as the test wants it"), "{}", spots[10].note);
        assert!(plot(figures[2]).rules.is_empty());
        for figure in figures {
            let table = figure.table.as_ref().unwrap();
            assert!(table.rows.iter().all(|row| row.data.len() == table.heading.len()), "{}", figure.id);
            assert!(!figure.alternative().is_empty());
        }
    }

    #[test]
    fn a_page_has_so_many_figures_and_says_so() {
        let many = (0..MOST + 5).map(|at| series(&format!("k{at}"), Unit::OpsPerSecond, &around(1e9, 3)));
        let timeline = Timeline::new(entries(3, 0), many.collect());
        let page = history(&timeline, &timeline.tracks.iter().collect::<Vec<_>>());
        assert_eq!(page.figures().count(), MOST);
        let said: Vec<&String> = page.sections.iter().flat_map(|section| &section.about).collect();
        assert!(said.iter().any(|sentence| sentence.contains(&format!("{} series", MOST + 5))), "{said:?}");
        assert!(history(&Timeline::new(Vec::new(), Vec::new()), &[]).sections.is_empty());
    }
}
