//! Texts and tables for a terminal, and what `charz topo` draws: machines as boxes.
//!
//! Colour is never the only distinction: noisy numbers have `~`, gaps `x`. Where the locale is not one of UTF-8 the same comes in
//! ASCII.

pub mod ascii;
pub mod nest;
pub mod pen;
mod sheet;

use std::io::{self, Write};

use textwrap::core::display_width;

use super::grid;
use super::look::TerminalStyle;
use super::outline::{self, Block, Extent};
use charz_analysis::answer::Answer;
use charz_analysis::figure::{Body, Figure, Heatmap, Quantity, State, Table, Tile};
use charz_analysis::page::{Source, page};
use charz_data::escape::{counted, one_line};
use charz_data::report::Report;
use charz_data::units;
use pen::Pen;

/// The answer of a report: on a terminal folded by family where it is long.
pub fn answer(report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let extent = if look.tables == usize::MAX { Extent::Rows } else { Extent::Folded };
    text(&outline::answer(&Answer::of(report), extent, look.columns), look, out)
}

/// Every number of a report.
pub fn tables(report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let name = report.host.name.as_deref().unwrap_or("this host");
    text(&outline::page(&page(&[Source { name, report }])), look, out)
}

pub fn text(blocks: &[Block<'_>], look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut pen = Pen::new(look, out);
    blocks.iter().try_for_each(|block| part(block, &mut pen))
}

/// The longest label beside its words.
const LABEL: usize = 18;

fn part(block: &Block<'_>, pen: &mut Pen<'_>) -> io::Result<()> {
    match block {
        Block::Title(title) => pen.heading(title),
        Block::Section(_, blocks) if outline::are_pictures(blocks) => Ok(()),
        Block::Section(heading, blocks) => {
            pen.gap()?;
            pen.heading(&heading.to_uppercase())?;
            blocks.iter().try_for_each(|block| part(block, pen))
        }
        Block::Caption(caption) => {
            pen.gap()?;
            pen.heading(caption)
        }
        Block::Lead(words) | Block::Text(words) => pen.text("", words),
        Block::Code(words) => pen.code(words),
        Block::Item(label, words) if label.is_empty() => pen.text("- ", words),
        // A long label has a line of its own: nothing of it is cut.
        Block::Item(label, words) if display_width(label) > LABEL => {
            pen.text("", &format!("{label}:"))?;
            pen.text("  ", words)
        }
        Block::Item(label, words) => pen.text(&format!("{:<9}  ", one_line(label)), words),
        Block::Table { heading, words, spare, rows } => pen.table(heading, words, spare, rows),
        Block::Figure(_) if outline::is_picture(block) => Ok(()),
        Block::Figure(figure) => {
            pen.gap()?;
            numbers(figure, pen)
        }
        Block::Step(what, None) => pen.text("  * ", what),
        // What is pasted stays on one line.
        Block::Step(what, Some(launch)) => {
            let whole = format!("{what}  {launch}");
            if display_width(&whole) + 4 <= pen.paragraph() {
                return pen.text("  * ", &whole);
            }
            pen.text("  * ", what)?;
            pen.code(launch)
        }
        Block::Line(label, entries) => pen.line_of(label, entries),
        Block::Gap => pen.gap(),
        Block::Data(table) => listed(table, pen),
        Block::Long(_, blocks) => blocks.iter().try_for_each(|block| part(block, pen)),
        Block::Legend(_) | Block::Folded(..) => Ok(()),
    }
}

/// The numbers of a figure: those of pairs in a square, others in a table.
fn numbers(figure: &Figure, pen: &mut Pen<'_>) -> io::Result<()> {
    pen.heading(&figure.title)?;
    if let Body::Heatmap(heat) = &figure.body {
        square(heat, pen)?;
    }
    figure.about.iter().try_for_each(|sentence| pen.text("", &outline::stopped(sentence)))?;
    figure.table.iter().filter(|_| !matches!(figure.body, Body::Heatmap(_))).try_for_each(|table| listed(table, pen))
}

/// A table, and how many rows it is without.
fn listed(table: &Table, pen: &mut Pen<'_>) -> io::Result<()> {
    part(&Block::table(table), pen)?;
    match table.left_out {
        0 => Ok(()),
        more => pen.text("", &format!("{} in --format csv", counted(more, "more row"))),
    }
}

/// A row for each row of a square, in one unit; that it has no room, where it has none.
fn square(heat: &Heatmap, pen: &mut Pen<'_>) -> io::Result<()> {
    // Times in nanoseconds, rates in billions.
    let (by, unit) = match &heat.quantity {
        Quantity::Nanos => (1.0, "nanoseconds"),
        Quantity::Value(unit) => units::billions(*unit),
        _ => (1.0, "ratios"),
    };
    let number = |tile: Tile| {
        let Some(value) = tile.value.map(|value| value / by) else {
            return if tile.reason.is_some() { "x".to_owned() } else { "-".to_owned() };
        };
        let shown = if value.abs() < 9.95 { units::ratio(value) } else { format!("{value:.0}") };
        shown + units::doubt(tile.state == State::Suspect)
    };
    let (rows, columns) = (heat.rows.len(), heat.columns.len());
    // More have no room, and are not formatted to see that.
    let rows_of = |row: usize| {
        [heat.rows[row].clone()]
            .into_iter()
            .chain((0..columns).map(move |column| number(heat.at(row, column))))
            .collect()
    };
    let lines: Vec<Vec<String>> = if columns < pen.width() { (0..rows).map(rows_of).collect() } else { Vec::new() };
    let heading: Vec<String> = [heat.row_label.clone()].into_iter().chain(heat.columns.iter().cloned()).collect();
    if lines.is_empty() || grid::width(&heading, &lines) > pen.width() {
        return pen.text(
            "",
            &format!("{rows} by {columns} values have no room here; --format csv has them, --format html draws them"),
        );
    }
    pen.table(&heading, &[], &[], &lines)?;
    let gap = heat.tiles.iter().any(|tile| tile.value.is_none() && tile.reason.is_some());
    let gap = if gap { "; x: no result" } else { "" };
    pen.text("", &format!("columns: {}; numbers are {unit}{gap}", heat.column_label))?;
    heat.reasons.iter().take(3).try_for_each(|reason| pen.text("- ", reason))
}

#[cfg(test)]
mod tests;
