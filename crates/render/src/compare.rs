//! Two reports, compared: one format a line in [`FORMATS`].

use std::borrow::Cow;
use std::io::{self, Write};

use super::look::TerminalStyle;
use super::outline::Block;
use super::{json, markdown, term};
use charz_analysis::compare::{Comparison, Design, Origin, Row, Side, Totals, Verdict};
use charz_analysis::point;
use charz_data::escape::counted;
use charz_data::report::{Interval, Status};
use charz_data::units;

pub type Format = super::formats::Format<fn(&Comparison, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

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

/// The verdict, what it rests on, one line per configuration with a verdict, then what was skipped, by reason.
fn table(comparison: &Comparison) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::Title(comparison.sentence("new")), Block::Text(totals(&comparison.totals))];
    blocks.extend(remarks(comparison).into_iter().map(Block::Text));
    blocks.extend([
        Block::Gap,
        Block::Item("base".to_owned(), origin(&comparison.base)),
        Block::Item("new".to_owned(), origin(&comparison.new)),
        Block::Item("rule".to_owned(), rule(comparison)),
    ]);
    let sorted = sorted(comparison);
    let judged: Vec<&Row> = sorted.iter().copied().filter(|row| row.verdict != Verdict::Uncompared).collect();
    blocks.extend((!judged.is_empty()).then(|| [Block::Gap, rows(&judged, false)]).into_iter().flatten());
    let skipped = skipped(comparison);
    blocks.extend((!skipped.is_empty()).then_some(Block::Gap));
    blocks.extend(skipped);
    blocks
}

/// What was not compared: each reason once, with how many configurations have it and the first of them.
fn skipped(comparison: &Comparison) -> Vec<Block<'static>> {
    let mut reasons: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in comparison.rows.iter().filter(|row| row.verdict == Verdict::Uncompared) {
        let reason = row.reason.as_deref().unwrap_or_default();
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, rows)) => rows.push(row),
            None => reasons.push((reason, vec![row])),
        }
    }
    let line = |(reason, rows): &(&str, Vec<&Row>)| {
        let names = rows.iter().take(MOST_NAMED).map(|row| format!("{} {} x{}", row.kernel, row.mapping, row.workers));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = rows.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Block::Item("skipped".to_owned(), format!("{reason}: {names}{more}"))
    };
    reasons.iter().map(line).collect()
}

/// The most configurations of one reason that are named.
const MOST_NAMED: usize = 3;

/// The counts first, then what is slower, and everything else folded.
fn comment(comparison: &Comparison) -> Vec<Block<'static>> {
    let counts = format!("{}. {}", totals(&comparison.totals), rule(comparison));
    let mut blocks = vec![Block::Caption(comparison.sentence("new")), Block::Text(counts)];
    blocks.extend(remarks(comparison).into_iter().map(Block::item));
    let sorted = sorted(comparison);
    let (slower, others) = sorted.split_at(sorted.partition_point(|row| row.verdict == Verdict::Slower));
    if !slower.is_empty() {
        blocks.extend([Block::Caption("Slower".to_owned()), rows(slower, true)]);
    }
    if !others.is_empty() {
        blocks.push(Block::Folded(format!("The other {} rows", others.len()), vec![rows(others, true)]));
    }
    blocks
}

/// Where there is room for them, with how often a run of the new side is better.
fn rows(rows: &[&Row], is_wide: bool) -> Block<'static> {
    let columns = || (0..HEADING.len()).filter(move |at| is_wide || *at != BETTER);
    let chosen = |words: [String; HEADING.len()]| columns().map(|at| words[at].clone()).collect::<Vec<_>>();
    Block::Table {
        heading: chosen(HEADING.map(str::to_owned)),
        words: vec![0, 1, columns().count() - 1],
        rows: rows.iter().map(|row| chosen(words(row))).collect(),
    }
}

fn origin(origin: &Origin) -> String {
    let host = origin.host.as_deref().unwrap_or("an unnamed host");
    let processor = origin.processor.as_deref().unwrap_or("an unnamed processor").trim();
    format!("{host}, {processor}; started {}", origin.started)
}

/// The counts in one line.
fn totals(totals: &Totals) -> String {
    let rest = format!("{} inconclusive, {} skipped", totals.inconclusive, totals.uncompared);
    if totals.has_no_verdict() {
        return format!("Nothing could be compared: {rest}");
    }
    format!("{} slower, {} faster, {} same, {rest}", totals.slower, totals.faster, totals.same)
}

/// Sentences about the comparison as a whole.
fn remarks(comparison: &Comparison) -> Vec<String> {
    let totals = &comparison.totals;
    let mut remarks = Vec::new();
    if totals.fewest < totals.needed {
        remarks.push(format!(
            "too few runs: {} per side, {} needed for {}; measure both with --invocations {}",
            totals.fewest,
            totals.needed,
            counted(totals.compared(), "comparison"),
            totals.needed,
        ));
    }
    remarks.extend(comparison.differences.iter().map(|difference| format!("compared despite: {difference}")));
    remarks.extend(comparison.notes.iter().map(|note| format!("note: {note}")));
    remarks
}

/// What the verdicts rest on.
fn rule(comparison: &Comparison) -> String {
    let floor = match comparison.noise_floor {
        Some(floor) => format!(" (noise floor of this machine {})", units::percent(floor)),
        None => String::new(),
    };
    let runs = match comparison.design {
        Design::Sequential => "runs not interleaved",
        Design::Interleaved => "runs interleaved",
    };
    format!(
        "{}, threshold {}{floor}, α = {} (FDR), {} CI, {runs}",
        comparison.quantity.name(),
        units::percent(comparison.margin),
        units::percent(comparison.alpha),
        units::percent(1.0 - comparison.alpha),
    )
}

/// What matters first. Verdicts in this order, cells of one verdict in the comparison's.
const ORDER: [Verdict; 5] =
    [Verdict::Slower, Verdict::Faster, Verdict::Inconclusive, Verdict::Uncompared, Verdict::Same];

const HEADING: [&str; 9] =
    ["kernel", "mapping", "threads", "base", "new", "change", "detectable", "P(new better)", "verdict"];
/// The column of the common-language effect size.
const BETTER: usize = 7;

fn sorted(comparison: &Comparison) -> Vec<&Row> {
    let of = |verdict| comparison.rows.iter().filter(move |row| row.verdict == verdict);
    ORDER.into_iter().flat_map(of).collect()
}

/// A row in words, not escaped. A change is one of performance: less than nothing is slower, also for times.
fn words(row: &Row) -> [String; HEADING.len()] {
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
        better(row),
        verdict(row),
    ]
}

fn change(row: &Row) -> String {
    let Some(effect) = row.effect else { return "-".into() };
    match row.interval {
        Some(interval) => format!("{} ({} to {})", signed(effect), signed(interval.low), signed(interval.high)),
        None => signed(effect),
    }
}

/// `0.97 (0.80 to 1.00)`.
fn better(row: &Row) -> String {
    let range = |found: Interval| format!(" ({:.2} to {:.2})", found.low, found.high);
    let range = row.superiority_interval.map(range).unwrap_or_default();
    row.superiority.map_or_else(|| "-".into(), |found| format!("{found:.2}{range}"))
}

fn signed(ratio: f64) -> String {
    format!("{:+.1}%", (ratio - 1.0) * 100.0)
}

/// The verdict with all of its caveats, so a line that is copied alone still has them.
fn verdict(row: &Row) -> String {
    let word = match row.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Uncompared => "skipped",
    };
    let mut against: Vec<Cow<'_, str>> = row.despite.iter().map(|caveat| caveat.name().into()).collect();
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
