//! Two reports, compared: one format a line in [`FORMATS`].

use std::borrow::Cow;
use std::io::{self, Write};

use super::look::TerminalStyle;
use super::outline::Block;
use super::{json, markdown, term};
use charz_analysis::compare::{Comparison, Origin, Row, Side, Totals, Verdict};
use charz_analysis::point;
use charz_data::escape::counted;
use charz_data::report::Status;
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

/// One line per cell. The result is last, where a terminal still shows it.
fn table(comparison: &Comparison) -> Vec<Block<'static>> {
    let mut blocks = vec![
        Block::Text(format!("base: {}", origin(&comparison.base))),
        Block::Text(format!("new:  {}", origin(&comparison.new))),
        Block::Text(rule(comparison)),
        Block::Text(String::new()),
        rows(&sorted(comparison), comparison),
        Block::Text(String::new()),
    ];
    blocks.extend(remarks(comparison).into_iter().map(Block::Text));
    blocks.push(Block::Text(totals(&comparison.totals)));
    blocks
}

/// The counts first, then what is slower, and everything else folded.
fn comment(comparison: &Comparison) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::Caption(totals(&comparison.totals)), Block::Text(rule(comparison))];
    blocks.extend(remarks(comparison).into_iter().map(Block::item));
    let sorted = sorted(comparison);
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
        heading: HEADING.map(str::to_owned).to_vec(),
        words: vec![0, 1, 7],
        rows: rows.iter().map(|row| words(row, comparison).to_vec()).collect(),
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
        "{}, {}: margin {}{floor}, at most {} of the calls false, intervals of {}",
        comparison.quantity.name(),
        comparison.design.name(),
        units::percent(comparison.margin),
        units::percent(comparison.alpha),
        units::percent(1.0 - comparison.alpha),
    )
}

/// What matters first. Verdicts in this order, cells of one verdict in the comparison's.
const ORDER: [Verdict; 5] =
    [Verdict::Slower, Verdict::Faster, Verdict::Inconclusive, Verdict::Uncompared, Verdict::Same];

const HEADING: [&str; 8] = ["kernel", "mapping", "workers", "base", "new", "change", "could show", "verdict"];

fn sorted(comparison: &Comparison) -> Vec<&Row> {
    let of = |verdict| comparison.rows.iter().filter(move |row| row.verdict == verdict);
    ORDER.into_iter().flat_map(of).collect()
}

/// A row in words, not escaped. A change is one of performance: less than nothing is slower, also for times.
fn words(row: &Row, comparison: &Comparison) -> [String; HEADING.len()] {
    let side = |side: Option<Side>| match side.and_then(|side| Some((side.value?, side.status))) {
        Some((value, status)) => {
            format!("{}{}", units::value(value, row.unit), units::doubt(status == Status::Suspect))
        }
        None => "-".into(),
    };
    [
        format!("{}{}", row.kernel, point::label(&row.point)),
        row.mapping.clone(),
        row.workers.to_string(),
        side(row.base),
        side(row.new),
        change(row),
        row.smallest_effect.map_or_else(|| "-".into(), |effect| format!("±{}", units::percent(effect - 1.0))),
        verdict(row, comparison),
    ]
}

fn change(row: &Row) -> String {
    let Some(effect) = row.effect else { return "-".into() };
    match row.interval {
        Some(interval) => format!("{} ({} to {})", signed(effect), signed(interval.low), signed(interval.high)),
        None => signed(effect),
    }
}

fn signed(ratio: f64) -> String {
    format!("{:+.1}%", (ratio - 1.0) * 100.0)
}

/// The verdict with all of its caveats, so a line that is copied alone still has them.
fn verdict(row: &Row, comparison: &Comparison) -> String {
    let word = match row.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Uncompared => "not compared",
    };
    let mut against: Vec<Cow<'_, str>> = row.despite.iter().map(|caveat| caveat.name().into()).collect();
    if row.verdict != Verdict::Uncompared {
        against.insert(0, comparison.design.name().into());
    }
    against.extend(row.clock.map(|clock| match clock.is_counted {
        true => format!("clock {}", signed(clock.ratio)).into(),
        false => "at one clock".into(),
    }));
    let against = if against.is_empty() { String::new() } else { format!(" ({})", against.join(", ")) };
    let reason = row.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{word}{against}{reason}")
}

#[cfg(test)]
mod tests;
