//! Every value of the document and every number of this machine, a row each.

use std::io::{self, Write};

use super::words::standing;
use crate::replicate::{Replicated, Replication, Row, Said};

const HEADING: [&str; 20] = [
    "document",
    "number",
    "standing",
    "group",
    "label",
    "kernel",
    "mapping",
    "workers",
    "unit",
    "machine",
    "document_low",
    "document_high",
    "here",
    "here_low",
    "here_high",
    "suspect",
    "ratio",
    "gap",
    "reasons",
    "report",
];

/// A row for each value of the document, and for each row without one.
pub(super) fn write(replication: &Replication, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADING)?;
    for figure in &replication.figures {
        if figure.rows.is_empty() {
            writer.write_record(record(replication, figure, None, None).map(|cell| inert(&cell)))?;
        }
        for row in &figure.rows {
            let values: Vec<Option<&Said>> = match row.document.is_empty() {
                true => vec![None],
                false => row.document.iter().map(Some).collect(),
            };
            for said in values {
                writer.write_record(record(replication, figure, Some(row), said).map(|cell| inert(&cell)))?;
            }
        }
    }
    writer.flush()
}

fn record(
    replication: &Replication,
    figure: &Replicated,
    row: Option<&Row>,
    said: Option<&Said>,
) -> [String; HEADING.len()] {
    let word = |word: Option<&String>| word.cloned().unwrap_or_default();
    let digits = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    let here = row.and_then(|row| row.here.as_ref());
    [
        replication.document.name.clone(),
        figure.number.clone(),
        standing(figure.standing).to_owned(),
        word(row.map(|row| &row.group)),
        word(row.map(|row| &row.label)),
        word(row.and_then(|row| row.kernel.as_ref())),
        word(row.and_then(|row| row.mapping.as_ref())),
        row.and_then(|row| row.workers).map_or_else(String::new, |workers| workers.to_string()),
        word(row.map(|row| &row.unit)),
        word(said.map(|said| &said.machine)),
        digits(said.map(|said| said.low)),
        digits(said.map(|said| said.high)),
        digits(here.map(|here| here.value)),
        digits(here.and_then(|here| here.low)),
        digits(here.and_then(|here| here.high)),
        here.map_or_else(String::new, |here| here.suspect.to_string()),
        digits(row.and_then(|row| row.ratio)),
        word(row.and_then(|row| row.gap.as_ref())),
        figure.reasons.join("; "),
        replication.report.as_ref().map_or_else(String::new, |report| report.id.clone()),
    ]
}

/// Foreign text is no formula for a spreadsheet, and steers no terminal.
fn inert(text: &str) -> String {
    let text = crate::render::text::plain(text);
    let number = text.parse::<f64>().is_ok();
    if !number && text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn no_cell_is_a_formula() {
        for (text, expected) in [("=1+1", "'=1+1"), ("-1.5", "-1.5"), ("@x", "'@x"), ("a\u{1b}", "a\\u{1b}")] {
            assert_eq!(inert(text), expected);
        }
    }
}
