//! A report, rendered.

mod card;
mod csv;
mod distribution;
mod findings;
mod growth;
mod joint;
mod matrix;
mod numa;
mod summary;
mod table;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use super::json;
use crate::report::{Cell, Report, Status};
pub(super) use matrix::class_name;

/// A way to show a report.
#[derive(Clone, Copy)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Whether people read it, so that a line may stand behind it.
    pub for_people: bool,
    /// Writes the report.
    pub write: fn(&Report, &mut dyn Write) -> io::Result<()>,
}

/// Tables for people.
pub const TABLE: &Format = &Format { name: "table", for_people: true, write: write_summary };

/// Every way.
pub const FORMATS: &[Format] = &[
    *TABLE,
    Format { name: "json", for_people: false, write: json },
    Format { name: "csv", for_people: false, write: csv::write },
    Format { name: "joint", for_people: true, write: joint::write },
    Format { name: "joint-csv", for_people: false, write: joint::write_csv },
    Format { name: "matrix-json", for_people: false, write: matrix::json },
    Format { name: "matrix-csv", for_people: false, write: matrix::csv },
    Format { name: "card", for_people: true, write: card::write },
    Format { name: "card-json", for_people: false, write: card::json },
    Format { name: "numa", for_people: true, write: numa::write },
    Format { name: "numa-json", for_people: false, write: numa::json },
    Format { name: "numa-csv", for_people: false, write: numa::csv },
];

/// Every way to show what was measured of a machine beside what is claimed.
pub const CARDS: &[Format] = &[
    Format { name: "table", for_people: true, write: card::write },
    Format { name: "json", for_people: false, write: card::json },
];

/// Every way to show what memory takes from each NUMA node to each.
pub const SQUARES: &[Format] = &[
    Format { name: "heat", for_people: true, write: numa::write },
    Format { name: "csv", for_people: false, write: numa::csv },
    Format { name: "json", for_people: false, write: numa::json },
];

/// Every way to show what pairs of strands take.
pub const MATRICES: &[Format] = &[
    Format { name: "heat", ..*TABLE },
    Format { name: "csv", for_people: false, write: matrix::csv },
    Format { name: "json", for_people: false, write: matrix::json },
];

/// Tables of all numbers, what speaks against them, and what follows from them.
///
/// # Errors
/// Those of the output.
pub fn write_summary(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    table::write(report, out)?;
    findings::write(report, out)?;
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
