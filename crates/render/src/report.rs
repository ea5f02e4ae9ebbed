//! A report, rendered.

mod card;
pub(super) mod csv;
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
use super::look::Look;
use charz_data::report::{Cell, Report, Status};
use charz_data::units;
pub use matrix::class_name;

/// A way to show a report.
#[derive(Clone, Copy)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What it is good for.
    pub about: &'static str,
    /// Whether people read it, so that a line may stand behind it.
    pub for_people: bool,
    /// Writes the report.
    pub write: fn(&Report, &Look, &mut dyn Write) -> io::Result<()>,
}

/// What a report is told by when its sweep has ended.
pub trait Show {
    /// Whether people read it, so that a line may stand behind it.
    fn for_people(&self) -> bool;

    /// Writes the report.
    ///
    /// # Errors
    /// Those of the output.
    fn write(&self, report: &Report, look: &Look, out: &mut dyn Write) -> io::Result<()>;
}

impl Show for Format {
    fn for_people(&self) -> bool {
        self.for_people
    }

    fn write(&self, report: &Report, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        (self.write)(report, look, out)
    }
}

/// Tables for people.
pub const TABLE: &Format = &Format {
    name: "table",
    about: "tables of all numbers, what speaks against them, and what follows",
    for_people: true,
    write: write_summary,
};

/// Every way.
pub const FORMATS: &[Format] = &[
    *TABLE,
    Format { name: "json", about: "the report itself", for_people: false, write: |report, _, out| json(report, out) },
    Format {
        name: "csv",
        about: "a row for each cell",
        for_people: false,
        write: |report, _, out| csv::write(report, out),
    },
    Format {
        name: "joint",
        about: "how two times came together, as a picture of signs",
        for_people: true,
        write: |report, _, out| joint::write(report, out),
    },
    Format {
        name: "joint-csv",
        about: "the same, a row for each bin",
        for_people: false,
        write: |report, _, out| joint::write_csv(report, out),
    },
    Format {
        name: "matrix-json",
        about: "what pairs of strands take",
        for_people: false,
        write: |report, _, out| matrix::json(report, out),
    },
    Format {
        name: "matrix-csv",
        about: "the same, a row for each pair",
        for_people: false,
        write: |report, _, out| matrix::csv(report, out),
    },
    Format {
        name: "card",
        about: "what was measured of the machine beside what is claimed",
        for_people: true,
        write: |report, _, out| card::write(report, out),
    },
    Format { name: "card-json", about: "the same", for_people: false, write: |report, _, out| card::json(report, out) },
    Format {
        name: "numa",
        about: "what memory takes from each NUMA node to each",
        for_people: true,
        write: numa::write,
    },
    Format { name: "numa-json", about: "the same", for_people: false, write: |report, _, out| numa::json(report, out) },
    Format {
        name: "numa-csv",
        about: "the same, a row for each pair of nodes",
        for_people: false,
        write: |report, _, out| numa::csv(report, out),
    },
];

/// Every way to show what was measured of a machine beside what is claimed.
pub const CARDS: &[Format] = &[
    Format {
        name: "table",
        about: "tables of all numbers, what speaks against them, and what follows",
        for_people: true,
        write: |report, _, out| card::write(report, out),
    },
    Format {
        name: "json",
        about: "the report itself",
        for_people: false,
        write: |report, _, out| card::json(report, out),
    },
];

/// Every way to show what memory takes from each NUMA node to each.
pub const SQUARES: &[Format] = &[
    Format { name: "heat", about: "a square of numbers", for_people: true, write: numa::write },
    Format {
        name: "csv",
        about: "a row for each cell",
        for_people: false,
        write: |report, _, out| numa::csv(report, out),
    },
    Format {
        name: "json",
        about: "the report itself",
        for_people: false,
        write: |report, _, out| numa::json(report, out),
    },
];

/// Every way to show what pairs of strands take.
pub const MATRICES: &[Format] = &[
    Format { name: "heat", about: "a square of numbers", ..*TABLE },
    Format {
        name: "csv",
        about: "a row for each cell",
        for_people: false,
        write: |report, _, out| matrix::csv(report, out),
    },
    Format {
        name: "json",
        about: "the report itself",
        for_people: false,
        write: |report, _, out| matrix::json(report, out),
    },
];

/// Tables of all numbers, what speaks against them, and what follows from them.
///
/// # Errors
/// Those of the output.
pub fn write_summary(report: &Report, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    table::write(report, look, out)?;
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

/// A question mark behind a doubtful number.
fn doubt(cell: &Cell) -> &'static str {
    units::doubt(cell.outcome.status == Status::Suspect)
}
