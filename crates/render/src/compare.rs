//! Two reports, compared: one format a line in [`FORMATS`].

mod line;

use std::io::{self, Write};

use super::look::TerminalStyle;
use super::outline::Block;
use super::{json, markdown, term};
use charz_analysis::compare::{Comparison, Origin, Row, Totals, Verdict};
use charz_data::escape::counted;
use charz_data::units;

pub struct Format {
    pub name: &'static str,
    pub about: &'static str,
    pub write: fn(&Comparison, &TerminalStyle, &mut dyn Write) -> io::Result<()>,
}

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "table",
        about: "a line a cell, what is slower first",
        write: |comparison, look, out| term::text(&table(comparison), look, out),
    },
    Format {
        name: "json",
        about: "all numbers; charz docs comparison-schema describes the fields",
        write: |comparison, _, out| json::write_pretty_line(comparison, out),
    },
    Format {
        name: "markdown",
        about: "for a comment on a pull request, details folded",
        write: |comparison, _, out| markdown::text(&comment(comparison), markdown::COMMENT, out),
    },
];

/// A line per cell. What it comes to is last, where a terminal still shows it.
fn table(comparison: &Comparison) -> Vec<Block<'static>> {
    let mut blocks = vec![
        Block::Text(format!("base: {}", origin(&comparison.base))),
        Block::Text(format!("new:  {}", origin(&comparison.new))),
        Block::Text(rule(comparison)),
        Block::Text(String::new()),
        rows(&line::sorted(comparison), comparison),
        Block::Text(String::new()),
    ];
    blocks.extend(remarks(comparison).into_iter().map(Block::Text));
    blocks.push(Block::Text(totals(&comparison.totals)));
    blocks
}

/// The counts first, then what is slower, and everything else folded.
fn comment(comparison: &Comparison) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::Caption(totals(&comparison.totals)), Block::Text(rule(comparison))];
    blocks.extend(remarks(comparison).into_iter().map(|remark| Block::Item(String::new(), remark)));
    let sorted = line::sorted(comparison);
    let (slower, others) = sorted.split_at(sorted.partition_point(|row| row.verdict == Verdict::Slower));
    if !slower.is_empty() {
        blocks.extend([Block::Caption("Slower".to_owned()), rows(slower, comparison)]);
    }
    if !others.is_empty() {
        blocks.push(Block::Folded(format!("The other {} rows", others.len()), vec![rows(others, comparison)]));
    }
    blocks
}

fn rows(rows: &[&Row], comparison: &Comparison) -> Block<'static> {
    Block::Table {
        heading: line::HEADING.map(str::to_owned).to_vec(),
        words: vec![0, 1, 7],
        rows: rows.iter().map(|row| line::words(row, comparison).to_vec()).collect(),
    }
}

fn origin(origin: &Origin) -> String {
    let host = origin.host.as_deref().unwrap_or("an unnamed host");
    let processor = origin.processor.as_deref().unwrap_or("an unnamed processor").trim();
    format!("{host}, {processor}; started {}", origin.started)
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

/// Sentences about the comparison as a whole.
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
