//! Changes and series for a terminal.

use std::io::{self, Write};

use super::View;
use crate::history::{ALPHA, Change, Track};
use crate::render::text::plain;
use crate::render::{grid, human};
use crate::report::Status;
use crate::stats::{LEAST_FOR_CHANGE, MOST_FOR_CHANGE};

pub(super) fn write(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_changes(view, out)?;
    writeln!(out)?;
    write_series(view, out)?;
    writeln!(out)?;
    for remark in remarks(view) {
        writeln!(out, "{remark}")?;
    }
    Ok(())
}

/// The changes, the newest first, and those in one place by how much they are.
fn write_changes(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut changes: Vec<(&Track, &Change)> =
        view.tracks.iter().flat_map(|track| track.changes.iter().map(move |change| (*track, change))).collect();
    let size = |change: &Change| change.effect.map_or(0.0, |effect| effect.ln().abs());
    changes.sort_by(|(_, a), (_, b)| b.after.first.cmp(&a.after.first).then(size(b).total_cmp(&size(a))));
    if changes.is_empty() {
        return writeln!(out, "no change in {} series", view.tracks.len());
    }
    let heading = ["series", "between reports", "before", "after", "change", "p", "what else became other"];
    let rows: Vec<_> = changes.iter().map(|(track, change)| row(view, track, change)).collect();
    grid::columns(&heading, &[0, 1, 6], &rows, out)
}

fn row(view: &View<'_>, track: &Track, change: &Change) -> [String; 7] {
    let unit = track.series.unit;
    let [before, after] = [change.before.last, change.after.first].map(|at| view.timeline.entries[at].place());
    let words = [
        track.series.name(),
        format!("{before} and {after}"),
        change.before.shown(unit),
        change.after.shown(unit),
        change.percent(),
        format!("{:.5}", change.adjusted_p),
        change.became_in_words(),
    ];
    words.map(|word| plain(&word))
}

fn write_series(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let heading = ["series", "values", "gaps", "newest", "since report", "level", "changes"];
    let rows: Vec<_> = view.tracks.iter().map(|track| standing(view, track)).collect();
    grid::columns(&heading, &[0], &rows, out)
}

fn standing(view: &View<'_>, track: &Track) -> [String; 7] {
    let series = &track.series;
    let count = series.numbers().count();
    let newest = series.values.last().map_or_else(|| "-".into(), |value| value.shown(series.unit));
    let segment = track.segments.last();
    let since = segment.map(|segment| view.timeline.entries[segment.first].id.to_string());
    [
        plain(&series.name()),
        count.to_string(),
        (series.values.len() - count).to_string(),
        newest,
        since.unwrap_or_else(|| "-".into()),
        segment.map_or_else(|| "-".into(), |segment| segment.shown(series.unit)),
        track.changes.len().to_string(),
    ]
}

/// What must be known to read the tables.
fn remarks(view: &View<'_>) -> Vec<String> {
    let (short, enough) = view.timeline.short();
    let mut remarks = vec![format!(
        "changes: E-divisive over {enough} series, at most {} of the calls false; the change is one of performance, with an interval \
         of 99%, the levels are medians with 95%",
        human::percent(ALPHA)
    )];
    if short > 0 {
        remarks.push(format!(
            "too few for a change to be shown, fewer than {LEAST_FOR_CHANGE} values: {short} of {} series; add more reports",
            short + enough
        ));
    }
    if view.tracks.iter().any(|track| track.series.numbers().count() > MOST_FOR_CHANGE) {
        remarks.push(format!("of longer series the last {MOST_FOR_CHANGE} values are looked at"));
    }
    if view.tracks.iter().any(|track| track.series.values.iter().any(|value| value.status == Status::Suspect)) {
        remarks.push("? marks what is suspect, or has suspect values in it; charz history show tells why".into());
    }
    remarks
}
