//! Two reports, compared: one format a line in [`FORMATS`].

use charz_data::units;
mod line;
mod markdown;
mod table;

pub(super) use markdown::escaped;

use std::io::{self, Write};

use super::json;
use charz_analysis::compare::{Comparison, Totals};
use charz_data::escape::counted;

/// A way to show a comparison.
pub struct Format {
    /// The word on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Writes the comparison.
    pub write: fn(&Comparison, &mut dyn Write) -> io::Result<()>,
}

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format { name: "table", about: "a line a cell, what is slower first", write: table::write },
    Format { name: "json", about: "all numbers; charz docs comparison-schema describes the fields", write: json },
    Format { name: "markdown", about: "for a comment on a pull request, details folded", write: markdown::write },
];

fn json(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(comparison, out)?;
    writeln!(out)
}

/// The JSON Schema of a comparison, generated from the types.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Comparison);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is a tree of strings and numbers");
    text + "\n"
}

/// The counts in one line.
fn totals(totals: &Totals) -> String {
    format!(
        "{} compared: {} slower, {} faster, {} same, {} inconclusive; {} not compared",
        counted(totals.compared(), "cell"),
        totals.slower,
        totals.faster,
        totals.same,
        totals.inconclusive,
        totals.uncompared,
    )
}

/// Sentences about the comparison as a whole. Whoever writes them escapes them.
fn remarks(comparison: &Comparison) -> Vec<String> {
    let totals = &comparison.totals;
    let mut remarks = Vec::new();
    if totals.inconclusive > 0 {
        remarks.push(format!("{} inconclusive: that is not a pass", totals.inconclusive));
    }
    if totals.fewest < totals.needed {
        remarks.push(format!(
            "showing a single difference among {} takes {} invocations a side, and there are as few as {}; measure \
             both with --invocations {}",
            counted(totals.compared(), "comparison"),
            totals.needed,
            totals.fewest,
            totals.needed,
        ));
    }
    remarks.extend(comparison.differences.iter().map(|difference| format!("compared all the same: {difference}")));
    remarks.extend(comparison.notes.iter().map(|note| format!("note: {note}")));
    remarks
}

/// What the verdicts rest on.
fn rule(comparison: &Comparison) -> String {
    let floor = match comparison.noise_floor {
        Some(floor) => format!(", noise floor of this machine {}", units::percent(floor)),
        None => String::new(),
    };
    format!(
        "{}: margin {}{floor}, at most {} of the calls false, intervals of {}",
        comparison.design.name(),
        units::percent(comparison.margin),
        units::percent(comparison.alpha),
        units::percent(1.0 - comparison.alpha),
    )
}

#[cfg(test)]
mod tests;
