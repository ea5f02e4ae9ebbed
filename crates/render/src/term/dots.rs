//! A row for each name, the numbers to the right of it.

use std::io;

use textwrap::core::display_width;

use super::braille::nearest;
use super::pen::{Pen, short};
use super::plot::mark;
use super::sheet::{Sheet, Style, faint};
use super::ticks;
use charz_analysis::figure::{DataPoint, Plot, Quantity, Series, Span, State};

/// The most rows: a terminal with more is no picture any more.
const MOST: usize = 200;

/// Draws it with its legend. The names are those of the x axis, which a terminal has from above to below.
pub(super) fn draw(plot: &Plot, pen: &mut Pen<'_>) -> io::Result<()> {
    let Quantity::Names(names) = &plot.x.quantity else { return super::plot::draw(plot, pen) };
    let rows = rows(plot, names);
    let width = pen.width();
    let values: Vec<String> = rows.iter().map(|(.., spot)| said(plot, spot)).collect();
    // The first line of a name has it.
    let is_first = |at: usize| at == 0 || rows[at - 1].0 != rows[at].0;
    let widest =
        |texts: &mut dyn Iterator<Item = &str>, most: usize| texts.map(display_width).max().unwrap_or(0).min(most);
    let label = widest(&mut rows.iter().map(|(place, ..)| names[*place].as_str()), width / 3);
    let value = widest(&mut values.iter().map(String::as_str), width / 4);
    // A letter is between the name and the picture if there are several series.
    let left = label + 3;
    let room = width.saturating_sub(left + value + 2).max(4);
    let span = plot.shown_range().map(|range| plot.y.span(Some(range)));
    let shown = rows.len().min(MOST);
    let mut sheet = Sheet::new(width, shown + 3);
    let many = plot.series.len() > 1;
    for (y, ((place, series, spot), value)) in rows.iter().zip(&values).take(shown).enumerate() {
        let (letter, style) = mark(*series);
        if is_first(y) {
            sheet.put(0, y, &short(&names[*place], label), Style::default());
        }
        if many {
            sheet.put(label + 1, y, &letter, style);
        }
        if let Some(span) = &span {
            whisker(&mut sheet, span, spot, (left, room), y, style);
        }
        sheet.put(left + room + 1, y, &short(value, width.saturating_sub(left + room + 1)), Style::default());
    }
    if let Some(span) = &span {
        ticks::draw(&plot.y, span, (left, shown), room, &mut sheet);
    }
    pen.sheet(&sheet)?;
    if rows.len() > shown {
        pen.aside(&format!("{} more rows have no room here", rows.len() - shown))?;
    }
    if many {
        let entry = |(at, series): (usize, &Series)| {
            let (letter, style) = mark(at);
            (letter, style.bold(), series.name.clone())
        };
        pen.legend(&plot.series.iter().enumerate().map(entry).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// A line of the picture: its place among the names, a series, and a spot of it.
type Row<'a> = (usize, usize, &'a DataPoint);

fn rows<'a>(plot: &'a Plot, names: &[String]) -> Vec<Row<'a>> {
    let placed = |spot: &DataPoint| spot.x.max(0.0).round() as usize;
    let of = |(at, series): (usize, &'a Series)| series.points.iter().map(move |spot| (placed(spot), at, spot));
    let mut rows: Vec<Row<'a>> = plot.series.iter().enumerate().flat_map(of).collect();
    rows.retain(|(place, ..)| *place < names.len());
    rows.sort_by_key(|(place, series, _)| (*place, *series));
    rows
}

/// A number in words, or why there is none.
fn said(plot: &Plot, spot: &DataPoint) -> String {
    match spot.y {
        Some(y) if spot.state == State::Suspect => format!("{}~", plot.y.quantity.shown(y)),
        Some(y) => plot.y.quantity.shown(y),
        None => "no number".to_owned(),
    }
}

/// A faint line to the number, its interval, and the number itself.
fn whisker(sheet: &mut Sheet, span: &Span, spot: &DataPoint, (left, room): (usize, usize), y: usize, style: Style) {
    let column = |number: f64| span.inside(number).map(|place| left + nearest(place, room));
    let Some(dot) = spot.y.and_then(column) else {
        if spot.y.is_none() {
            sheet.put(left, y, "x", style);
        }
        return;
    };
    sheet.fill(left..dot, y, '·', faint());
    if let Some((low, high)) = spot.spread.and_then(|[low, high]| column(low).zip(column(high)))
        && high > low
    {
        sheet.fill(low..high, y, '─', style);
        sheet.put(low, y, "├", style);
        sheet.put(high, y, "┤", style);
    }
    sheet.put(dot, y, if spot.state == State::Suspect { "~" } else { "●" }, style);
}
