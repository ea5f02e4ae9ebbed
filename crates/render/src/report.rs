//! A report's own tables and rows.

mod card;
pub(super) mod csv;
mod distribution;
mod findings;
mod summary;
pub(super) mod table;
#[cfg(test)]
mod tests;

use crate::formats::{Draw, Format};
use charz_data::report::{Cell, Report, Status};
use charz_data::units;

/// What was measured of a machine beside what is claimed.
pub const CARD: &Format = &Format {
    name: "table",
    about: "what was measured of the machine beside what is claimed",
    for_people: true,
    draw: Draw::Report(|report, _, out| card::write(report, out)),
};

/// The JSON Schema of a report, generated from the types.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Report);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is a tree of strings and numbers");
    text + "\n"
}

/// A question mark behind a doubtful number.
fn doubt(cell: &Cell) -> &'static str {
    units::doubt(cell.outcome.status == Status::Suspect)
}
