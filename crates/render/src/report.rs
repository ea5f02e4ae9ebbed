//! A report's own tables and rows.

mod card;
pub mod csv;
#[cfg(test)]
mod tests;

use crate::formats::{Draw, Format};

/// What was measured of a machine beside what is claimed.
pub const CARD: &Format = &Format {
    name: "table",
    about: "what was measured of the machine beside what is claimed",
    write: Draw::Report(card::write),
};
