//! One record per value of the document, and per row without one.

use std::io::{self, Write};

use crate::report::csv::{harmless, number, record};
use charz_replicate::{Number, PublishedRange, ReplicatedFigure, Replication, Row};
use charz_words::replicate as words;

/// What the fields are made of.
struct Record<'a> {
    replication: &'a Replication<'a>,
    figure: &'a ReplicatedFigure<'a>,
    row: Option<&'a Row<'a>>,
    range: Option<&'a PublishedRange<'a>>,
    here: Option<&'a Number<'a>>,
}

/// The name of a column, and its field.
type Column = (&'static str, fn(&Record<'_>) -> String);

const COLUMNS: [Column; 24] = [
    ("document", |of| of.replication.document.name.clone()),
    ("number", |of| of.figure.number.to_owned()),
    ("status", |of| words::status(of.figure.status).to_owned()),
    ("group", |of| number(of.row.map(|row| row.group))),
    ("label", |of| number(of.row.map(|row| row.label))),
    ("kernel", |of| number(of.row.and_then(|row| row.kernel))),
    ("mapping", |of| number(of.row.and_then(|row| row.mapping))),
    ("workers", |of| number(of.row.and_then(|row| row.workers))),
    ("unit", |of| number(of.row.map(|row| row.unit))),
    ("machine", |of| number(of.range.map(|range| range.machine))),
    ("published_low", |of| number(of.range.map(|range| range.low))),
    ("published_high", |of| number(of.range.map(|range| range.high))),
    ("predicted", |of| number(of.range.and_then(|range| range.predicted.as_ref()).map(|own| own.value))),
    ("predicted_low", |of| number(of.range.and_then(|range| range.predicted.as_ref()).map(|own| own.interval[0]))),
    ("predicted_high", |of| number(of.range.and_then(|range| range.predicted.as_ref()).map(|own| own.interval[1]))),
    ("here", |of| number(of.here.map(|here| here.value))),
    ("here_low", |of| number(of.here.and_then(|here| here.interval).map(|ends| ends[0]))),
    ("here_high", |of| number(of.here.and_then(|here| here.interval).map(|ends| ends[1]))),
    ("delivered_share", |of| number(of.here.and_then(|here| here.delivered_share))),
    ("suspect", |of| number(of.here.map(|here| here.suspect))),
    ("ratio", |of| number(of.row.and_then(|row| row.ratio))),
    ("gap", |of| number(of.row.and_then(|row| row.gap.as_ref()).map(words::why))),
    ("reasons", |of| words::reasons(of.figure).join("; ")),
    ("report", |of| number(of.replication.report.as_ref().map(|report| report.id))),
];

pub(super) fn write(replication: &Replication<'_>, out: &mut dyn Write) -> io::Result<()> {
    record(out, COLUMNS.map(|(name, _)| name))?;
    for figure in &replication.figures {
        let mut write = |row: Option<&Row<'_>>, range: Option<&PublishedRange<'_>>| {
            let here = row.and_then(|row| row.here.as_ref());
            let of = Record { replication, figure, row, range, here };
            record(out, COLUMNS.map(|(_, field)| harmless(&field(&of))))
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
    Ok(())
}
