//! Figures and findings for a terminal: plots in dots of Braille, heat in colours or shades, machines as boxes.
//!
//! Whatever is in colour is told apart without it too: series by letters, values by shades, doubt by `?`, gaps by `x`. Where the
//! locale is not one of UTF-8 the same pictures come in ASCII.

mod ascii;
mod braille;
mod dots;
pub mod heat;
mod joint;
pub mod nest;
pub mod pen;
mod plot;
pub mod sheet;
mod ticks;

use std::io::{self, Write};

use super::look::Look;
use charz_analysis::figure::{Body, Figure, State, Table};
use charz_analysis::page::{About, Page, Verdict};
use charz_data::escape::counted;
use charz_data::report::{FindingKind, Severity, Status};
use charz_data::units;
use pen::Pen;

/// The most doubts shown; a table has them all.
const DOUBTS: usize = 12;

pub fn write(page: &Page, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut pen = Pen::new(look, out);
    pen.heading(&page.title)?;
    for source in &page.sources {
        ending(source, &mut pen)?;
    }
    differences(page, &mut pen)?;
    listed("SUMMARY", page.summary.iter().map(|(at, words)| format!("{words}{}", of(page, *at))), &mut pen)?;
    verdicts(page, &mut pen)?;
    findings(page, &mut pen)?;
    doubts(page, &mut pen)?;
    for section in &page.sections {
        pen.gap()?;
        pen.heading(&section.title.to_uppercase())?;
        for sentence in &section.about {
            pen.aside(&stopped(sentence))?;
        }
        for shown in &section.figures {
            pen.gap()?;
            figure(shown, &mut pen)?;
        }
    }
    listed("LEFT OUT", page.left_out.iter().cloned(), &mut pen)?;
    pen.gap()?;
    pen.aside("every number: charz render REPORT --format table, or csv; to click on: --format html -o FILE")
}

/// Figures alone, each with what is said of it.
pub(super) fn figures(figures: &[Figure], look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut pen = Pen::new(look, out);
    for figure in figures {
        pen.gap()?;
        picture(figure, &mut pen)?;
    }
    Ok(())
}

fn ending(about: &About, pen: &mut Pen<'_>) -> io::Result<()> {
    let counts: Vec<String> = about.counts.iter().map(|(status, count)| format!("{count} {}", word(*status))).collect();
    let counts = if counts.is_empty() { "no cells".to_owned() } else { format!("cells: {}", counts.join(", ")) };
    pen.text("", &format!("{}: started {}; {counts}", about.name, about.started))?;
    match &about.incomplete {
        Some(why) => pen.text("! ", &format!("not complete, ended by {why}: what is missing may change what follows")),
        None => Ok(()),
    }
}

fn word(status: Status) -> &'static str {
    if status == Status::Suspect { "suspect ?" } else { status.name() }
}

/// Sentences under a heading; nothing where there are none.
fn listed(heading: &str, sentences: impl Iterator<Item = String>, pen: &mut Pen<'_>) -> io::Result<()> {
    let mut sentences = sentences.peekable();
    if sentences.peek().is_none() {
        return Ok(());
    }
    pen.gap()?;
    pen.heading(heading)?;
    sentences.try_for_each(|sentence| pen.text("- ", &sentence))
}

/// In what several reports differ, each in its own words.
fn differences(page: &Page, pen: &mut Pen<'_>) -> io::Result<()> {
    let told = page.differences.iter().map(|difference| {
        let named =
            difference.words.iter().zip(&page.sources).map(|(words, source)| format!("{} {words}", source.name));
        format!("{}: {}", difference.label, named.collect::<Vec<_>>().join("; "))
    });
    listed("IN WHAT THE REPORTS DIFFER", told, pen)
}

/// The best mapping of each kernel, and what the system makes of it, as a table or, on a narrow terminal, as sentences.
fn verdicts(page: &Page, pen: &mut Pen<'_>) -> io::Result<()> {
    if page.verdicts.is_empty() {
        return Ok(());
    }
    let heading = ["kernel", "best mapping", "workers", "number", "saturates at", "auto"].map(str::to_owned);
    let row = |(at, verdict): &(usize, Verdict)| {
        let alike =
            if verdict.alike.is_empty() { String::new() } else { format!(" (as {})", verdict.alike.join(", ")) };
        [
            format!("{}{}", verdict.kernel, of(page, *at)),
            format!("{}{}{alike}", verdict.mapping, units::doubt(verdict.doubtful)),
            verdict.workers.to_string(),
            verdict.best.clone(),
            verdict.saturates.clone().unwrap_or_else(|| "-".to_owned()),
            verdict.auto.clone(),
        ]
    };
    let rows: Vec<[String; 6]> = page.verdicts.iter().map(row).collect();
    pen.gap()?;
    pen.heading("VERDICTS")?;
    pen.table(&heading, &rows)
}

fn findings(page: &Page, pen: &mut Pen<'_>) -> io::Result<()> {
    if page.findings.is_empty() {
        return Ok(());
    }
    pen.gap()?;
    pen.heading("FINDINGS")?;
    for (at, finding) in &page.findings {
        let kind = match finding.kind {
            FindingKind::Cliff => "cliff",
            FindingKind::Collapse => "collapse",
            FindingKind::Fastest => "fastest",
            FindingKind::Advice => "advice",
            FindingKind::Latency => "latency",
            FindingKind::Efficiency => "words",
        };
        pen.text(&format!("{kind:<8}  "), &format!("{}{}", finding.text, of(page, *at)))?;
    }
    Ok(())
}

/// The report that a sentence is about, where there are several.
fn of(page: &Page, at: usize) -> String {
    match page.sources.get(at).filter(|_| page.sources.len() > 1) {
        Some(source) => format!(" ({})", source.name),
        None => String::new(),
    }
}

fn doubts(page: &Page, pen: &mut Pen<'_>) -> io::Result<()> {
    if page.doubts.is_empty() {
        return Ok(());
    }
    pen.gap()?;
    pen.heading("WHAT IS SUSPECT, INVALID OR MISSING")?;
    for (at, doubt) in page.doubts.iter().take(DOUBTS) {
        let weight = match doubt.severity {
            Severity::Note => "note",
            Severity::Suspect => "?",
            Severity::Invalid => "invalid",
        };
        let code = doubt.code.as_deref().unwrap_or_default();
        let more = match doubt.cells.len() {
            0 | 1 => String::new(),
            all => format!(" (and {} like it)", counted(all - 1, "cell")),
        };
        let label = format!("{weight:<7} {}  ", pen::short(code, 8));
        pen.text(&label, &format!("{}: {}{more}{}", doubt.cell, doubt.reason, of(page, *at)))?;
    }
    match page.doubts.len().saturating_sub(DOUBTS) {
        0 => Ok(()),
        more => pen.aside(&format!("{} more; --format table has them", counted(more, "kind"))),
    }
}

/// A sentence with its full stop.
fn stopped(sentence: &str) -> String {
    format!("{}.", sentence.trim_end_matches('.'))
}

/// A picture with what is said of it, and how many numbers stand behind it.
fn figure(figure: &Figure, pen: &mut Pen<'_>) -> io::Result<()> {
    picture(figure, pen)?;
    match &figure.table {
        Some(table) => pen.aside(&format!("{}; --figure {} shows this one alone", behind(table), figure.id)),
        None => Ok(()),
    }
}

fn picture(figure: &Figure, pen: &mut Pen<'_>) -> io::Result<()> {
    pen.heading(&figure.title)?;
    match &figure.body {
        Body::Lines(plot) => plot::draw(plot, pen)?,
        Body::Dots(plot) => dots::draw(plot, pen)?,
        Body::Heat(heat) => heat::draw(heat, pen)?,
        Body::Joint(joint) => joint::draw(joint, pen)?,
        Body::Nest(nest) => nest::draw(nest, pen)?,
    }
    for sentence in &figure.about {
        pen.text("", &stopped(sentence))?;
    }
    Ok(())
}

/// How many numbers stand behind a figure, and how many of them are none.
fn behind(table: &Table) -> String {
    let count = |state: State| table.rows.iter().filter(|row| row.state == state).count();
    let besides = [(count(State::Doubtful), "doubtful"), (count(State::Missing), "missing")];
    let besides: String =
        besides.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!(", {count} {word}")).collect();
    format!("{}{besides}", counted(table.rows.len() + table.left_out, "cell"))
}

#[cfg(test)]
mod tests;
