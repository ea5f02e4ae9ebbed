//! Two reports, compared: one format a line in [`FORMATS`].

use std::borrow::Cow;
use std::io::{self, Write};

use super::look::TerminalStyle;
use super::outline::Block;
use super::{grid, html, json, markdown, term};
use charz_analysis::compare::{Comparison, Origin, Row, Side, Verdict, signed};
use charz_analysis::page::{Source, of_comparison};
use charz_data::escape::counted;
use charz_data::report::{Interval, Status};
use charz_data::units;
use charz_words::point;

pub type Format = super::formats::Format<fn(&Compared<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// Two reports, the base first, and what came of comparing them.
pub struct Compared<'a> {
    pub reports: [Source<'a>; 2],
    pub comparison: &'a Comparison,
}

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "table",
        about: "one line per configuration, what is slower first",
        write: |compared, look, out| term::text(&table(compared.comparison, look.tables), look, out),
    },
    Format {
        name: "json",
        about: "all numbers; charz docs comparison-schema describes the fields",
        write: |compared, _, out| json::write_pretty_line(compared.comparison, out),
    },
    Format {
        name: "markdown",
        about: "for a comment on a pull request, details folded",
        write: |compared, _, out| markdown::text(&comment(compared.comparison), markdown::COMMENT, out),
    },
    Format {
        name: "html",
        about: "one file for a browser: the verdict, its picture, then both reports",
        write: |compared, look, out| html::write(&of_comparison(&compared.reports, compared.comparison), look, out),
    },
];

/// The verdict, what it rests on, one line per configuration with a verdict, then what was skipped, by reason.
fn table(comparison: &Comparison, columns: usize) -> Vec<Block<'static>> {
    let [base, new] = comparison.design.sides();
    let mut blocks = vec![Block::Title(comparison.sentence(new)), Block::Text(comparison.counts())];
    blocks.extend(comparison.remarks().into_iter().map(Block::Text));
    blocks.extend([
        Block::Gap,
        Block::Item(base.to_owned(), origin(&comparison.base)),
        Block::Item(new.to_owned(), origin(&comparison.new)),
        Block::Item("rule".to_owned(), comparison.rule()),
    ]);
    let sorted = comparison.sorted();
    let judged: Vec<&Row> =
        sorted.iter().copied().filter(|row| row.verdict != Verdict::Uncompared || row.apart).collect();
    blocks.extend(
        (!judged.is_empty()).then(|| [Block::Gap, rows(comparison, &judged, columns, false)]).into_iter().flatten(),
    );
    let reasons = [Verdict::Inconclusive, Verdict::Uncompared].map(|verdict| reasons(comparison, verdict)).concat();
    blocks.extend((!reasons.is_empty()).then_some(Block::Gap));
    blocks.extend(reasons.into_iter().map(|(word, text)| Block::Item(word.to_owned(), text)));
    blocks
}

/// Why there is no verdict: each reason once, with how many configurations have it and the first of them.
fn reasons(comparison: &Comparison, verdict: Verdict) -> Vec<(&'static str, String)> {
    let mut reasons: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in comparison.rows.iter().filter(|row| row.verdict == verdict) {
        let reason = row.reason.as_deref().unwrap_or_default();
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, rows)) => rows.push(row),
            None => reasons.push((reason, vec![row])),
        }
    }
    let line = |(reason, rows): &(&str, Vec<&Row>)| {
        let names = rows.iter().take(MOST_NAMED).map(|row| row.name()).collect::<Vec<_>>().join(", ");
        let more = rows.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (verdict.name(), format!("{reason}: {names}{more}"))
    };
    reasons.iter().map(line).collect()
}

/// The most configurations of one reason that are named.
const MOST_NAMED: usize = 3;

/// The counts first, then what is slower, and everything else folded.
fn comment(comparison: &Comparison) -> Vec<Block<'static>> {
    let counts = format!("{}. {}", comparison.counts(), comparison.rule());
    let [_, new] = comparison.design.sides();
    let mut blocks = vec![Block::Caption(comparison.sentence(new)), Block::Text(counts)];
    blocks.extend(comparison.remarks().into_iter().map(Block::item));
    let sorted = comparison.sorted();
    let (slower, others) = sorted.split_at(sorted.partition_point(|row| row.verdict == Verdict::Slower));
    if !slower.is_empty() {
        blocks.extend([Block::Caption("Slower".to_owned()), rows(comparison, slower, usize::MAX, true)]);
    }
    if !others.is_empty() {
        let title = counted(others.len(), if slower.is_empty() { "row" } else { "other row" });
        blocks.push(Block::Folded(title, vec![rows(comparison, others, usize::MAX, true)]));
    }
    blocks
}

/// Where there is room for them, with how often a run of the new side is better; with the reasons, unless these are beside the table.
fn rows(comparison: &Comparison, rows: &[&Row], columns: usize, reasoned: bool) -> Block<'static> {
    let [base, new] = comparison.design.sides();
    let better = format!("P({new} better)");
    let heading: [&str; COLUMNS] =
        ["kernel", "mapping", "threads", base, new, "change", "detectable", &better, "verdict"];
    let mut heading = heading.map(str::to_owned).to_vec();
    let mut rows: Vec<Vec<String>> = rows.iter().map(|row| words(row, reasoned).to_vec()).collect();
    if grid::width(&heading, &rows) > columns {
        rows.iter_mut().chain([&mut heading]).for_each(|cells| drop(cells.remove(BETTER)));
    }
    Block::Table { words: vec![0, 1, heading.len() - 1], heading, rows }
}

fn origin(origin: &Origin) -> String {
    let host = origin.host.as_deref().unwrap_or("an unnamed host");
    let processor = origin.processor.as_deref().unwrap_or("an unnamed processor").trim();
    format!("{host}, {processor}; started {}", origin.started)
}

const COLUMNS: usize = 9;
/// The column of the common-language effect size.
const BETTER: usize = 7;

/// A row in words, not escaped. A change is one of performance: less than nothing is slower, also for times.
fn words(row: &Row, reasoned: bool) -> [String; COLUMNS] {
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
        row.smallest_effect.map_or_else(|| "-".into(), detectable),
        better(row),
        verdict(row, reasoned),
    ]
}

fn change(row: &Row) -> String {
    let Some(effect) = row.effect else { return "-".into() };
    let of = |ratio: f64| signed(ratio - 1.0);
    let clock = if row.clock.is_some_and(|clock| !clock.is_counted) { " at one clock" } else { "" };
    match row.interval {
        Some(interval) => format!("{} ({} to {}){clock}", of(effect), of(interval.low), of(interval.high)),
        None => of(effect) + clock,
    }
}

fn detectable(effect: f64) -> String {
    // More than twice as fast, or half: no size that a reader would wait for.
    if effect > 2.0 { "over ±100%".to_owned() } else { format!("±{}", units::percent(effect - 1.0)) }
}

/// `0.97 (0.80 to 1.00)`.
fn better(row: &Row) -> String {
    let range = |found: Interval| format!(" ({:.2} to {:.2})", found.low, found.high);
    let range = row.superiority_interval.map(range).unwrap_or_default();
    row.superiority.map_or_else(|| "-".into(), |found| format!("{found:.2}{range}"))
}

/// The verdict with all of its caveats, so a line that is copied alone still has them.
fn verdict(row: &Row, reasoned: bool) -> String {
    let word = row.verdict.name();
    let mut against: Vec<Cow<'_, str>> = row.despite.iter().map(|caveat| caveat.name().into()).collect();
    against.extend(row.of_clock().map(Cow::from));
    let against = if against.is_empty() { String::new() } else { format!(" ({})", against.join(", ")) };
    let reason = row.reason.as_ref().filter(|_| reasoned).map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{word}{against}{reason}")
}

#[cfg(test)]
mod tests;
