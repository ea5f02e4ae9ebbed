//! Two reports, compared: one format a line in [`FORMATS`].

use std::borrow::Cow;
use std::io::{self, Write};

use super::look::TerminalStyle;
use super::outline::Block;
use super::picture::svg;
use super::report::csv::{harmless, number, record};
use super::verdicts::{self, Case, Outcome, Suite};
use super::{html, json, markdown, term};
use charz_analysis::figure::{Axis, Body, Figure, Plot, Quantity, Scale};
use charz_analysis::page::{Source, VERSUS, of_comparison};
use charz_claims::compare::{Comparison, Row, Side, Verdict};
use charz_data::Arrange;
use charz_data::escape::counted;
use charz_data::report::{Interval, Report, Status};
use charz_data::units;
use charz_words::compare::{self as words, signed, wire};
use charz_words::point;

pub type Format = super::formats::Format<fn(&Compared<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// Two reports, the base first, and what came of comparing them.
pub struct Compared<'a> {
    pub reports: [Source<'a>; 2],
    pub comparison: &'a Comparison<'a>,
    /// Notes of who compared them.
    pub asides: &'a [String],
}

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "table",
        about: "one line per configuration, what is slower first",
        write: |compared, look, out| term::text(&table(compared), look, out),
    },
    Format {
        name: "json",
        about: "all numbers; charz docs comparison-schema describes the fields",
        write: |compared, _, out| {
            json::write_pretty_line(&wire::Comparison::of(compared.comparison, compared.asides), out)
        },
    },
    Format {
        name: "markdown",
        about: "for a comment on a pull request, details folded",
        write: |compared, _, out| markdown::text(&comment(compared), markdown::COMMENT, out),
    },
    Format {
        name: "html",
        about: "one file for a browser: the verdict, its picture, then both reports",
        write: |compared, look, out| {
            html::write(&of_comparison(&compared.reports, compared.comparison, compared.asides), look, out)
        },
    },
    Format {
        name: "svg",
        about: "how many times as fast each configuration is, with its interval, as a picture",
        write: |compared, _, out| picture(compared, out),
    },
    Format {
        name: "csv",
        about: "one row per configuration, for a spreadsheet or pandas",
        write: |compared, _, out| csv(compared.comparison, out),
    },
    Format {
        name: "junit",
        about: "a test case per configuration, for a build server: slower fails, an open difference is an error",
        write: |compared, _, out| verdicts::junit(&suite(compared.comparison), out),
    },
    Format {
        name: "github",
        about: "annotations of a GitHub workflow: an error per slower configuration, a warning per open difference",
        write: |compared, _, out| verdicts::github(&suite(compared.comparison), out),
    },
];

/// The word that a build server has for a row.
fn outcome(row: &Row<'_>) -> Outcome {
    match row.verdict {
        Verdict::Slower => Outcome::Failed,
        Verdict::Faster | Verdict::Same => Outcome::Passed,
        Verdict::Inconclusive | Verdict::Uncompared if row.shown.apart => Outcome::Open,
        Verdict::Inconclusive | Verdict::Uncompared => Outcome::Skipped,
    }
}

/// The failures and errors are those for which the command ends with 1 or 5.
fn suite(comparison: &Comparison<'_>) -> Suite {
    let [_, new] = words::sides(comparison.design);
    let case = |row: &&Row<'_>| {
        let [kernel, mapping, threads, base, new, change, .., verdict] = line(row, comparison, true);
        let text = match change.as_str() {
            "-" => verdict,
            _ => format!("{change}, {base} -> {new}, {verdict}"),
        };
        let group = row.cell().kernel.clone();
        // The kernel is the class of the case.
        let parameters = kernel.strip_prefix(&group).unwrap_or_default();
        let name = format!("{parameters} {mapping} x{threads}").trim().to_owned();
        Case { group, name, outcome: outcome(row), word: row.verdict.name(), text }
    };
    let mut cases: Vec<Case> = words::sorted(comparison).iter().map(case).collect();
    cases.arrange_by_key(|case| case.outcome != Outcome::Failed && case.outcome != Outcome::Open);
    let answer = format!("{} {}", words::sentence(comparison, new), words::rule(comparison));
    Suite { name: "charz compare", answer, cases }
}

/// The figure of the page alone, with what is compared in its title; without any effect its frame is empty.
fn picture(Compared { reports, comparison, asides }: &Compared<'_>, out: &mut dyn Write) -> io::Result<()> {
    let page = of_comparison(reports, comparison, asides);
    let nothing = || {
        let axis = |name: &str| Axis::new(name, Quantity::Plain, Scale::Linear);
        let body = Body::Dots(Plot::new(axis("configuration"), axis("times as fast"), Vec::new()));
        Figure { id: VERSUS.into(), title: "Performance".into(), about: Vec::new(), body, table: None }
    };
    let figure = page.figures().find(|figure| figure.id == VERSUS).cloned().unwrap_or_else(nothing);
    let title = format!("{}: {}", figure.title, comparison.quantity.name());
    svg(&Figure { title, ..figure }, out)
}

/// The columns of the table as numbers in base units; ratios are of performance, above 1 is better.
fn csv(comparison: &Comparison<'_>, out: &mut dyn Write) -> io::Result<()> {
    let heading = "kernel,parameters,mapping,threads,quantity,unit,base,new,base_status,new_status,ratio,low,high,adjusted_p,margin,\
                   smallest_effect,superiority,verdict,caveats,reason";
    record(out, heading.split(','))?;
    for row in &comparison.rows {
        let (cell, shown) = (row.cell(), &row.shown);
        let value = |side: usize| number(row.sides[side].and_then(|side| side.value));
        let status = |side: usize| row.sides[side].map(|side| side.status.name()).unwrap_or_default().to_owned();
        let caveats: Vec<&str> = shown.despite.iter().map(|one| words::caveat(*one)).collect();
        let fields = [
            harmless(&cell.kernel),
            harmless(point::label(&cell.point).trim()),
            harmless(&words::mapping(row)),
            cell.workers.to_string(),
            comparison.quantity.name().to_owned(),
            harmless(cell.unit.symbol()),
            value(0),
            value(1),
            status(0),
            status(1),
            number(shown.effect),
            number(shown.interval.map(|interval| interval.low)),
            number(shown.interval.map(|interval| interval.high)),
            number(shown.adjusted_p),
            shown.margin.to_string(),
            number(shown.smallest_effect),
            number(shown.superiority),
            row.verdict.name().to_owned(),
            caveats.join("; "),
            harmless(&reason(row, comparison).unwrap_or_default()),
        ];
        record(out, fields)?;
    }
    Ok(())
}

/// The verdict, what it rests on, one line per configuration with a verdict, then what was skipped, by reason.
fn table(Compared { comparison, asides, .. }: &Compared<'_>) -> Vec<Block<'static>> {
    let [base, new] = words::sides(comparison.design);
    let mut blocks = vec![Block::Title(words::sentence(comparison, new)), Block::Text(words::counts(comparison))];
    blocks.extend(words::remarks(comparison, asides).into_iter().map(Block::Text));
    blocks.extend([
        Block::Gap,
        Block::Item(base.to_owned(), origin(comparison.reports[0])),
        Block::Item(new.to_owned(), origin(comparison.reports[1])),
        Block::Item("rule".to_owned(), words::rule(comparison)),
    ]);
    let mut judged = words::sorted(comparison);
    judged.retain(|row| row.verdict != Verdict::Uncompared || row.shown.apart);
    blocks.extend((!judged.is_empty()).then(|| [Block::Gap, rows(comparison, &judged, false)]).into_iter().flatten());
    let reasons = [Verdict::Inconclusive, Verdict::Uncompared].map(|verdict| reasons(comparison, verdict)).concat();
    blocks.extend((!reasons.is_empty()).then_some(Block::Gap));
    blocks.extend(reasons.into_iter().map(|(word, text)| Block::Item(word.to_owned(), text)));
    blocks
}

/// Why there is no verdict: each reason once, with how many configurations have it and the first of them.
fn reasons(comparison: &Comparison<'_>, verdict: Verdict) -> Vec<(&'static str, String)> {
    let mut reasons: Vec<(String, Vec<&Row<'_>>)> = Vec::new();
    for row in comparison.rows.iter().filter(|row| row.verdict == verdict) {
        let reason = reason(row, comparison).unwrap_or_default();
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, rows)) => rows.push(row),
            None => reasons.push((reason, vec![row])),
        }
    }
    let line = |(reason, rows): &(String, Vec<&Row<'_>>)| {
        let names = rows.iter().take(MOST_NAMED).map(|row| words::name(row)).collect::<Vec<_>>().join(", ");
        let more = rows.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (verdict.name(), format!("{reason}: {names}{more}"))
    };
    reasons.iter().map(line).collect()
}

fn reason(row: &Row<'_>, comparison: &Comparison<'_>) -> Option<String> {
    row.reason.as_ref().map(|reason| words::reason(reason, comparison.design))
}

/// The most configurations of one reason that are named.
const MOST_NAMED: usize = 3;

/// The counts first, then what is slower, and everything else folded.
fn comment(Compared { comparison, asides, .. }: &Compared<'_>) -> Vec<Block<'static>> {
    let counts = format!("{}. {}", words::counts(comparison), words::rule(comparison));
    let [_, new] = words::sides(comparison.design);
    let mut blocks = vec![Block::Caption(words::sentence(comparison, new)), Block::Text(counts)];
    blocks.extend(words::remarks(comparison, asides).into_iter().map(Block::item));
    let sorted = words::sorted(comparison);
    let (slower, others) = sorted.split_at(sorted.partition_point(|row| row.verdict == Verdict::Slower));
    if !slower.is_empty() {
        blocks.extend([Block::Caption("Slower".to_owned()), rows(comparison, slower, true)]);
    }
    if !others.is_empty() {
        let title = counted(others.len(), if slower.is_empty() { "row" } else { "other row" });
        blocks.push(Block::Folded(title, vec![rows(comparison, others, true)]));
    }
    blocks
}

/// A row per configuration, with the reasons unless these are beside the table.
fn rows(comparison: &Comparison<'_>, rows: &[&Row<'_>], reasoned: bool) -> Block<'static> {
    let [base, new] = words::sides(comparison.design);
    let better = format!("P({new} better)");
    let heading: [&str; COLUMNS] =
        ["kernel", "mapping", "threads", base, new, "change", "detectable", &better, "verdict"];
    let rows = rows.iter().map(|row| line(row, comparison, reasoned).to_vec()).collect();
    Block::Table {
        heading: heading.map(str::to_owned).to_vec(),
        words: vec![0, 1, COLUMNS - 1],
        spare: SPARE.to_vec(),
        rows,
    }
}

fn origin(report: &Report) -> String {
    let host = report.host.name.as_deref().unwrap_or("an unnamed host");
    let processor = report.host.processor.as_deref().unwrap_or("an unnamed processor").trim();
    format!("{host}, {processor}; started {}", report.started)
}

const COLUMNS: usize = 9;
/// What is left out before the change and the verdict: the common-language effect size, what was detectable, both values.
const SPARE: [usize; 4] = [7, 6, 3, 4];

/// A row in words, not escaped. A change is one of performance: less than nothing is slower, also for times.
fn line(row: &Row<'_>, comparison: &Comparison<'_>, reasoned: bool) -> [String; COLUMNS] {
    let (cell, shown) = (row.cell(), &row.shown);
    let side = |side: Option<Side>| match side.and_then(|side| Some((side.value?, side.status))) {
        Some((value, status)) => {
            format!("{}{}", units::value(value, cell.unit), units::doubt(status == Status::Suspect))
        }
        None => "-".into(),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let clock = if shown.clock.is_some_and(|clock| !clock.is_counted) { " at one clock" } else { "" };
    let of = |ratio: f64| signed(ratio - 1.0);
    let range = |ends: Option<Interval>, of: &dyn Fn(f64) -> String| {
        ends.map(|Interval { low, high }| format!(" ({} to {})", of(low), of(high))).unwrap_or_default()
    };
    // More than twice as fast, or half: no size that a reader would wait for.
    let detectable = |effect| {
        if effect > 2.0 { "over ±100%".to_owned() } else { format!("±{}", units::percent(effect - 1.0)) }
    };
    let share = |share: f64| format!("{share:.2}");
    // The verdict with all of its caveats, so a line that is copied alone still has them.
    let mut against: Vec<Cow<'_, str>> = shown.despite.iter().map(|one| words::caveat(*one).into()).collect();
    against.extend(words::of_clock(row).map(Cow::from));
    let against = if against.is_empty() { String::new() } else { format!(" ({})", against.join(", ")) };
    let reason = reason(row, comparison).filter(|_| reasoned).map(|reason| format!(": {reason}")).unwrap_or_default();
    [
        format!("{}{}", cell.kernel, point::label(&cell.point)),
        words::mapping(row),
        cell.workers.to_string(),
        side(row.sides[0]),
        side(row.sides[1]),
        or_dash(shown.effect.map(|effect| of(effect) + &range(shown.interval, &of) + clock)),
        or_dash(shown.smallest_effect.map(detectable)),
        or_dash(shown.superiority.map(|found| share(found) + &range(shown.superiority_interval, &share))),
        format!("{}{against}{reason}", row.verdict.name()),
    ]
}

#[cfg(test)]
mod tests;
