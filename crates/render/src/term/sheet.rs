//! Cells of a terminal in colours, and how they become text.

use std::io::{self, Write};

use textwrap::core::display_width;

use super::ascii::ascii;
use crate::look::{RESET, Style, TerminalStyle};

/// The most lines of a sheet: pictures are folded long before.
const HIGHEST: usize = 2000;
const WIDEST: usize = 1000;

/// A cell: a sign with what combines with it; nothing where it is blank.
#[derive(Clone, Debug, Default)]
struct Cell {
    sign: String,
    style: Style,
}

/// A rectangle of cells to draw on; what is drawn beyond its edges is lost.
pub struct Sheet {
    pub(super) width: usize,
    pub(super) height: usize,
    cells: Vec<Cell>,
}

impl Sheet {
    pub fn new(width: usize, height: usize) -> Self {
        let (width, height) = (width.min(WIDEST), height.min(HIGHEST));
        Sheet { width, height, cells: vec![Cell::default(); width * height] }
    }

    /// As large as a text.
    pub fn of(text: &str, style: Style) -> Self {
        let mut sheet = Sheet::new(display_width(text), 1);
        sheet.put(0, 0, text, style);
        sheet
    }

    /// Others beside each other, so far apart, in as many rows as it takes.
    pub fn flow(items: &[Sheet], width: usize, gap: usize) -> Self {
        let (mut x, mut y, mut high, mut wide) = (0, 0, 0, 0);
        let mut places = Vec::with_capacity(items.len());
        for item in items {
            if x > 0 && x + item.width > width {
                (x, y, high) = (0, y + high, 0);
            }
            places.push((x, y));
            high = high.max(item.height);
            wide = wide.max(x + item.width);
            x += item.width + gap;
        }
        let mut sheet = Sheet::new(wide, y + high);
        items.iter().zip(places).for_each(|(item, (x, y))| sheet.paste(x, y, item));
        sheet
    }

    /// With an edge around it.
    pub fn framed(width: usize, height: usize) -> Self {
        let mut sheet = Sheet::new(width, height);
        let (right, bottom) = (sheet.width.saturating_sub(1), sheet.height.saturating_sub(1));
        for (y, left, corner) in [(0, "┌", "┐"), (bottom, "└", "┘")] {
            sheet.fill(0..right, y, '─', Style::Faint);
            sheet.put(0, y, left, Style::Faint);
            sheet.put(right, y, corner, Style::Faint);
        }
        for (x, y) in (1..bottom).flat_map(|y| [(0, y), (right, y)]) {
            sheet.put(x, y, "│", Style::Faint);
        }
        sheet
    }

    fn cell(&mut self, x: usize, y: usize) -> Option<&mut Cell> {
        let place = (x < self.width).then(|| y.checked_mul(self.width)?.checked_add(x)).flatten()?;
        self.cells.get_mut(place)
    }

    /// Writes harmless text from a place on to the right.
    pub fn put(&mut self, mut x: usize, y: usize, text: &str, style: Style) {
        let mut last = None;
        for mark in text.chars() {
            let wide = display_width(mark.encode_utf8(&mut [0; 4]));
            // What has no width combines with the sign before it.
            let place = if wide == 0 { last } else { Some(x) };
            // A sign of two columns needs both.
            let fits = x.checked_add(wide).is_some_and(|end| end <= self.width);
            let Some(cell) = place.filter(|_| fits).and_then(|x| self.cell(x, y)) else { continue };
            match (wide, mark) {
                (0, _) => cell.sign.push(mark),
                (_, ' ') => *cell = Cell { sign: String::new(), style },
                _ => *cell = Cell { sign: mark.into(), style },
            }
            last = place;
            x += wide;
        }
    }

    /// The same mark in each cell of a line, or a part of it.
    pub fn fill(&mut self, columns: std::ops::Range<usize>, y: usize, mark: char, style: Style) {
        let text = mark.to_string();
        columns.for_each(|x| self.put(x, y, &text, style));
    }

    /// Puts another sheet over a part of this one.
    pub fn paste(&mut self, x: usize, y: usize, other: &Sheet) {
        for (at, cell) in other.cells.iter().enumerate() {
            if let Some(place) = self.cell(x + at % other.width, y + at / other.width) {
                *place = cell.clone();
            }
        }
    }

    /// Writes its lines, without the blanks at their ends.
    pub fn write(&self, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
        self.cells.chunks(self.width.max(1)).try_for_each(|cells| writeln!(out, "{}", line(cells, look)))
    }
}

fn line(cells: &[Cell], look: &TerminalStyle) -> String {
    let end = cells.iter().rposition(|cell| !cell.sign.is_empty()).map_or(0, |last| last + 1);
    let mut line = String::new();
    let mut current = "";
    let mut covered = 0;
    for cell in &cells[..end] {
        // A sign of two columns covers the cell behind it.
        if covered > 0 {
            covered -= 1;
            continue;
        }
        let sign = if cell.sign.is_empty() { " " } else { &cell.sign };
        covered = display_width(sign).saturating_sub(1);
        let code = if look.colour { cell.style.code() } else { "" };
        if code != current {
            if !current.is_empty() {
                line.push_str(RESET);
            }
            line.push_str(code);
            current = code;
        }
        line.push_str(&if look.unicode { sign.to_owned() } else { ascii(sign) });
    }
    if !current.is_empty() {
        line.push_str(RESET);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::written;

    fn shown(sheet: &Sheet, look: &TerminalStyle) -> String {
        written(|out| sheet.write(look, out))
    }

    #[test]
    fn cells_become_text() {
        let mut sheet = Sheet::new(6, 2);
        sheet.put(1, 0, "ab", Style::Faint);
        sheet.put(4, 1, "µcd", Style::Plain);
        sheet.put(0, 9, "lost", Style::Plain);
        assert_eq!(shown(&sheet, &TerminalStyle::PLAIN), " ab\n    µc\n");
        assert_eq!(shown(&sheet, &TerminalStyle { unicode: false, ..TerminalStyle::PLAIN }), " ab\n    uc\n");
        let coloured = shown(&sheet, &TerminalStyle { colour: true, ..TerminalStyle::PLAIN });
        assert_eq!(coloured, " \u{1b}[38;5;244mab\u{1b}[0m\n    µc\n");
    }

    #[test]
    fn wide_signs_take_two_columns_and_accents_none() {
        let mut sheet = Sheet::new(6, 1);
        sheet.put(0, 0, "漢字xé漢", Style::Plain);
        assert_eq!(shown(&sheet, &TerminalStyle::PLAIN), "漢字xé\n");
        sheet.put(0, 0, "e\u{301}", Style::Plain);
        assert!(shown(&sheet, &TerminalStyle::PLAIN).starts_with("e\u{301}"));
    }
}
