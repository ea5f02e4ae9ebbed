//! One record per value of the document, and per row without one.

use std::io::{self, Write};

use crate::report::csv::{harmless, number};
use charz_analysis::replicate::{PublishedRange, ReplicatedFigure, Replication, Row};

const HEADING: [&str; 20] = [
    "document",
    "number",
    "status",
    "group",
    "label",
    "kernel",
    "mapping",
    "workers",
    "unit",
    "machine",
    "published_low",
    "published_high",
    "here",
    "here_low",
    "here_high",
    "suspect",
    "ratio",
    "gap",
    "reasons",
    "report",
];

pub(super) fn write(replication: &Replication, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADING)?;
    for figure in &replication.figures {
        let mut write = |row: Option<&Row>, range: Option<&PublishedRange>| {
            writer.write_record(record(replication, figure, row, range).map(|cell| harmless(&cell)))
        };
        if figure.rows.is_empty() {
            write(None, None)?;
        }
        for row in &figure.rows {
            if row.published.is_empty() {
                write(Some(row), None)?;
            }
            row.published.iter().try_for_each(|range| write(Some(row), Some(range)))?;
        }
    }
    writer.flush()
}

fn record(
    replication: &Replication,
    figure: &ReplicatedFigure,
    row: Option<&Row>,
    range: Option<&PublishedRange>,
) -> [String; HEADING.len()] {
    let here = row.and_then(|row| row.here.as_ref());
    [
        replication.document.name.clone(),
        figure.number.clone(),
        figure.status.name().to_owned(),
        number(row.map(|row| &row.group)),
        number(row.map(|row| &row.label)),
        number(row.and_then(|row| row.kernel.as_ref())),
        number(row.and_then(|row| row.mapping.as_ref())),
        number(row.and_then(|row| row.workers)),
        number(row.map(|row| &row.unit)),
        number(range.map(|range| &range.machine)),
        number(range.map(|range| range.low)),
        number(range.map(|range| range.high)),
        number(here.map(|here| here.value)),
        number(here.and_then(|here| here.low)),
        number(here.and_then(|here| here.high)),
        number(here.map(|here| here.suspect)),
        number(row.and_then(|row| row.ratio)),
        number(row.and_then(|row| row.gap.as_ref()).map(|gap| &gap.reason)),
        figure.reasons.join("; "),
        number(replication.report.as_ref().map(|report| &report.id)),
    ]
}
