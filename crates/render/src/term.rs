//! Texts and tables for a terminal, and what `charz topo` draws: machines as boxes.
//!
//! Colour is never the only distinction: values have shades, noisy numbers `~`, gaps `x`. Where the locale is not one of UTF-8 the
//! same comes in ASCII.

pub mod ascii;
pub mod heat;
pub mod nest;
pub mod pen;
mod sheet;

use std::io::{self, Write};

use textwrap::core::display_width;

use super::look::TerminalStyle;
use super::outline::{self, Block, Extent};
use charz_analysis::answer::Answer;
use charz_analysis::figure::{Body, DataPoint, Datum, Figure, Plot, Quantity, Row, Series, State, Table};
use charz_analysis::page::whole;
use charz_data::report::Report;
use charz_data::{Arrange, units};
use pen::{Pen, short};

/// The answer of a report: on a terminal folded by family where it is long.
pub fn answer(report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let extent = if look.tables == usize::MAX { Extent::Rows } else { Extent::Folded };
    text(&outline::answer(&Answer::of(report), extent, look.columns, look.tables), look, out)
}

/// Every number of a report.
pub fn tables(report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    text(&outline::whole(&whole(report), look.columns), look, out)
}

pub fn text(blocks: &[Block<'_>], look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut pen = Pen::new(look, out);
    blocks.iter().try_for_each(|block| part(block, &mut pen))
}

fn part(block: &Block<'_>, pen: &mut Pen<'_>) -> io::Result<()> {
    match block {
        Block::Title(title) => pen.heading(title),
        Block::Heading(heading) => {
            pen.gap()?;
            pen.heading(&heading.to_uppercase())
        }
        Block::Caption(caption) => {
            pen.gap()?;
            pen.heading(caption)
        }
        Block::Text(words) => pen.text("", words),
        Block::Code(words) => pen.code(words),
        Block::Item(label, words) if label.is_empty() => pen.text("- ", words),
        Block::Item(label, words) => pen.text(&format!("{:<9}  ", short(label, 22)), words),
        Block::Table { heading, words, rows } => pen.table(heading, words, rows),
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
        Block::Folded(summary, blocks) => {
            part(&Block::Heading(summary.clone()), pen)?;
            blocks.iter().try_for_each(|block| part(block, pen))
        }
    }
}

/// A sentence with its full stop.
fn stopped(sentence: &str) -> String {
    format!("{}.", sentence.trim_end_matches('.'))
}

/// The numbers of a figure: those of pairs in a square, others in a table.
fn numbers(figure: &Figure, pen: &mut Pen<'_>) -> io::Result<()> {
    pen.heading(&figure.title)?;
    let table = match &figure.body {
        Body::Heatmap(heat) => {
            heat::draw(heat, pen)?;
            None
        }
        Body::Dots(plot) => Some(listed(plot)),
        Body::Lines(_) | Body::Joint(_) | Body::MachineDiagram(_) => figure.table.clone(),
    };
    for sentence in &figure.about {
        pen.text("", &stopped(sentence))?;
    }
    let blocks = table.map(|table| outline::fitting(&table, pen.width())).unwrap_or_default();
    blocks.iter().try_for_each(|block| part(block, pen))
}

/// Rows of dots as a table: a row per name and series that was measured.
fn listed(plot: &Plot) -> Table {
    let Quantity::Names(names) = &plot.x.quantity else { return Table::default() };
    let shown = |number: f64| plot.y.quantity.shown(number);
    let row = |series: &Series, spot: &DataPoint| {
        let at = spot.x.max(0.0).round() as usize;
        let value = spot.y.map_or("no number".to_owned(), |y| shown(y) + units::doubt(spot.state == State::Suspect));
        let interval = spot.spread.map_or("-".to_owned(), |[low, high]| format!("{} to {}", shown(low), shown(high)));
        let (value, interval) = (Datum { text: value, number: spot.y }, Datum { text: interval, number: spot.y });
        let data = vec![Datum::word(names.get(at)?), Datum::word(&series.name), value, interval];
        Some((at, Row::new(data, spot.state)))
    };
    let spots = plot.measured().flat_map(|(_, series)| series.points.iter().map(move |spot| (series, spot)));
    let mut rows: Vec<(usize, Row)> = spots.filter_map(|(series, spot)| row(series, spot)).collect();
    rows.arrange_by_key(|(at, _)| *at);
    Table::new(&["name", "series", &plot.y.label, "interval"], rows.into_iter().map(|(_, row)| row))
}

#[cfg(test)]
mod tests;
