//! The values of a figure beside this machine's, as rows of words.

use super::words::{digits, interval, number, said};
use crate::render::human;
use crate::render::text::one_line;
use crate::replicate::{Machine, Replicated, Replication, Row};

/// A table of words.
pub(super) struct Sheet {
    /// The names of the columns.
    pub(super) heading: Vec<String>,
    /// The columns that hold words.
    pub(super) words: Vec<usize>,
    /// The rows; one with a first word only heads those below it.
    pub(super) rows: Vec<Vec<String>>,
    /// What stands behind the letters in place of numbers, a line each.
    pub(super) legend: Vec<String>,
}

impl Sheet {
    /// That of a figure; `None` where it has no rows to show.
    pub(super) fn of(replication: &Replication, figure: &Replicated) -> Option<Sheet> {
        let measured = replication.report.is_some();
        let has_value = |machine: &&Machine| {
            let mut values = figure.rows.iter().flat_map(|row| &row.document);
            values.any(|said| said.machine == machine.key)
        };
        let machines: Vec<&Machine> = replication.machines.iter().filter(has_value).collect();
        // What is beyond this machine is told in a note; it stands in the table for the document's sake only.
        let shown = |row: &&Row| !row.document.is_empty() || (measured && !row.beyond);
        let rows: Vec<&Row> = figure.rows.iter().filter(shown).collect();
        let answered = measured && rows.iter().any(|row| row.kernel.is_some());
        if rows.is_empty() {
            return None;
        }
        let mut heading = vec![if counts_workers(&rows) { "workers" } else { "" }.to_owned()];
        heading.extend(machines.iter().map(|machine| machine.name.clone()));
        if answered {
            heading.extend(["here", "95% interval", "ratio"].map(str::to_owned));
        }
        heading.push("unit".to_owned());
        let mut sheet = Sheet { words: vec![0, heading.len() - 1], heading, rows: Vec::new(), legend: Vec::new() };
        let mut gaps: Vec<&str> = Vec::new();
        let mut group = "";
        for row in rows {
            if row.group != group {
                group = &row.group;
                let blank = sheet.heading.len() - 1;
                sheet.rows.push(std::iter::once(one_line(group)).chain(vec![String::new(); blank]).collect());
            }
            sheet.rows.push(words(row, &machines, answered, &mut gaps));
        }
        sheet.legend = gaps.iter().enumerate().map(|(at, why)| format!("({}) {}", letter(at), one_line(why))).collect();
        let notes = figure.rows.iter().filter_map(|row| {
            let note = row.here.as_ref()?.note.as_ref()?;
            Some(format!("{}, {}: {}", one_line(&row.group), one_line(&row.label), one_line(note)))
        });
        sheet.legend.extend(notes);
        Some(sheet)
    }
}

/// Whether every row is headed by a number of workers.
fn counts_workers(rows: &[&Row]) -> bool {
    rows.iter().all(|row| row.label.parse::<u64>().is_ok())
}

fn words<'a>(row: &'a Row, machines: &[&Machine], answered: bool, gaps: &mut Vec<&'a str>) -> Vec<String> {
    let indent = if row.group.is_empty() { "" } else { "  " };
    let mut words = vec![format!("{indent}{}", one_line(&row.label))];
    words.extend(
        machines
            .iter()
            .map(|machine| row.document.iter().find(|said| said.machine == machine.key).map_or_else(String::new, said)),
    );
    if answered {
        match (&row.here, &row.gap) {
            (Some(here), _) => {
                words.extend([number(here), interval(here)]);
                words.push(row.ratio.map_or_else(|| "-".to_owned(), |ratio| ratio_words(ratio, here.suspect)));
            }
            (None, why) => {
                let why = why.as_deref().filter(|_| row.kernel.is_some());
                words.push(why.map_or_else(String::new, |why| format!("- ({})", letter(place(gaps, why)))));
                words.extend([String::new(), String::new()]);
            }
        }
    }
    words.push(row.unit.clone());
    words
}

/// A ratio of a doubtful number is doubtful too.
fn ratio_words(ratio: f64, suspect: bool) -> String {
    format!("{}{}", digits(ratio), human::doubt(suspect))
}

/// Where a reason stands among those so far, and behind them where it is new.
fn place<'a>(gaps: &mut Vec<&'a str>, why: &'a str) -> usize {
    gaps.iter().position(|other| *other == why).unwrap_or_else(|| {
        gaps.push(why);
        gaps.len() - 1
    })
}

/// `a`, `b`, …, `z`, `27`, …
fn letter(at: usize) -> String {
    match u8::try_from(at) {
        Ok(at @ 0..26) => char::from(b'a' + at).to_string(),
        _ => (at + 1).to_string(),
    }
}
