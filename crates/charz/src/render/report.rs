//! A report, rendered.

mod csv;
mod summary;
mod table;

use std::io::{self, Write};

use crate::report::{Cell, Report, Status};

/// A way to show a report.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Writes the report.
    pub write: fn(&Report, &mut dyn Write) -> io::Result<()>,
}

/// Every way.
pub const FORMATS: &[Format] = &[
    Format { name: "table", write: write_summary },
    Format { name: "json", write: json },
    Format { name: "csv", write: csv::write },
];

/// Tables of all numbers, what speaks against them, and what follows from them.
///
/// # Errors
/// Those of the output.
pub fn write_summary(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    table::write(report, out)?;
    summary::write(report, out)
}

fn json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// The JSON Schema of a report, generated from the types.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Report);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is a tree of strings and numbers");
    text + "\n"
}

/// A cell whose number may be compared: measured, right, and on its seats.
fn trusted(cell: &Cell) -> bool {
    let off_seat = cell.passport.as_ref().is_some_and(|passport| passport.binding_honoured == Some(false));
    cell.outcome.status == Status::Ok && !off_seat
}

/// A trusted cell without a mark that voids a comparison: quota, too short, other pages than asked for, in the caches.
fn sound(cell: &Cell) -> bool {
    const VOID: [&str; 5] = ["V07", "V09", "V18", "V20", "V27"];
    let marks = cell.passport.iter().flat_map(|passport| &passport.marks);
    trusted(cell) && !marks.into_iter().any(|mark| VOID.contains(&mark.code.as_str()))
}

fn marked(cell: &Cell) -> bool {
    cell.passport.as_ref().is_some_and(|passport| !passport.marks.is_empty())
}
