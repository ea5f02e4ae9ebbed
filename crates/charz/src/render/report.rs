//! A report, rendered.

mod csv;
mod summary;
mod table;

use std::io::{self, Write};

use super::json;
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
    json::write_pretty(report, out)?;
    writeln!(out)
}

/// The JSON Schema of a report, generated from the types.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Report);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is a tree of strings and numbers");
    text + "\n"
}

/// The number of a cell that has one: neither invalid nor given up.
fn value(cell: &Cell) -> Option<f64> {
    cell.summary?.value
}

/// A number that nothing speaks against.
fn sound(cell: &Cell) -> bool {
    cell.outcome.status == Status::Ok
}

/// A question mark behind a doubtful number.
fn doubt(cell: &Cell) -> &'static str {
    if cell.outcome.status == Status::Suspect { " ?" } else { "" }
}
