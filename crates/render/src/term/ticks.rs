//! Ticks of axes on a sheet.

use textwrap::core::display_width;

use super::pen::short;
use super::sheet::{Sheet, Style, faint};
use charz_analysis::figure::{Axis, Span, Tick};

/// The column or line of a place from 0 to 1 among so many.
pub(super) fn nearest(place: f64, count: usize) -> usize {
    (place.clamp(0.0, 1.0) * count.saturating_sub(1) as f64).round() as usize
}

/// Ticks of an axis upwards over so many lines.
pub(super) fn above(axis: &Axis, span: &Span, lines: usize) -> Vec<Tick> {
    axis.ticks(span, |_| 3.0 / lines.max(1) as f64)
}

/// Draws an axis from left to right: a line, its ticks below, and below them its name.
pub(super) fn draw(axis: &Axis, span: &Span, (left, row): (usize, usize), columns: usize, sheet: &mut Sheet) {
    sheet.fill(left..left + columns, row, '─', faint());
    // Texts at the ends are moved inwards, where they may meet their neighbours.
    let mut free = 0;
    for tick in axis.ticks(span, |text| (display_width(text) + 2) as f64 / columns.max(1) as f64) {
        let Some(place) = span.inside(tick.number) else { continue };
        let column = left + nearest(place, columns);
        let text = short(&tick.text, columns);
        let wide = display_width(&text);
        let start = column.saturating_sub(wide / 2).min((left + columns).saturating_sub(wide)).max(left);
        if start >= free {
            sheet.put(column, row, "┬", faint());
            sheet.put(start, row + 1, &text, Style::default());
            free = start + wide + 2;
        }
    }
    let label = short(&axis.label, columns);
    sheet.put(left + columns - display_width(&label).min(columns), row + 2, &label, faint());
}
