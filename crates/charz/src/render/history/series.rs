//! The values of series as rows.

use std::io::{self, Write};

use super::View;
use crate::render::report::csv::{harmless, number, status_word, unit};

pub(super) fn csv(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record([
        "kernel",
        "mapping",
        "workers",
        "parameters",
        "unit",
        "report",
        "started",
        "label",
        "status",
        "reason",
        "value",
        "low",
        "high",
        "segment",
    ])?;
    for track in &view.tracks {
        let series = &track.series;
        for value in &series.values {
            let entry = &view.timeline.entries[value.entry];
            // What is no result has no interval either.
            let interval = value.interval.filter(|_| value.value.is_some());
            rows.write_record([
                harmless(&series.kernel),
                harmless(&series.mapping),
                series.workers.to_string(),
                harmless(series.parameters.label().trim_start()),
                unit(series.unit).to_owned(),
                entry.id.to_string(),
                harmless(&entry.head.started),
                harmless(entry.label.as_deref().unwrap_or_default()),
                status_word(value.status),
                harmless(value.reason.as_deref().unwrap_or_default()),
                number(value.value),
                number(interval.map(|interval| interval.0)),
                number(interval.map(|interval| interval.1)),
                number(value.value.map(|_| track.segment_of(value))),
            ])?;
        }
    }
    rows.flush()
}
