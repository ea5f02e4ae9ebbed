//! Cells of a terminal in colours, and how they become text.

use std::fmt::Write as _;
use std::io::{self, Write};

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use super::ascii::ascii;
use crate::render::look::Look;

/// The most lines of a sheet: pictures are folded long before.
const HIGHEST: usize = 2000;

/// A rectangle of cells to draw on; what is drawn beyond its edges is lost.
pub(in crate::render) struct Sheet {
    buffer: Buffer,
}

impl Sheet {
    /// An empty one.
    pub(in crate::render) fn new(width: usize, height: usize) -> Self {
        let side = |length: usize, most: usize| u16::try_from(length.min(most)).unwrap_or(u16::MAX);
        Sheet { buffer: Buffer::empty(Rect::new(0, 0, side(width, 1000), side(height, HIGHEST))) }
    }

    /// The cells themselves, for what draws on such.
    pub(super) fn buffer(&mut self) -> &mut Buffer {
        &mut self.buffer
    }

    /// Writes harmless text from a place on to the right.
    pub(in crate::render) fn put(&mut self, x: usize, y: usize, text: &str, style: Style) {
        let (Ok(x), Ok(y)) = (u16::try_from(x), u16::try_from(y)) else { return };
        if x < self.buffer.area.width && y < self.buffer.area.height {
            self.buffer.set_string(x, y, text, style);
        }
    }

    /// The same mark in each cell of a line, or a part of it.
    pub(in crate::render) fn fill(&mut self, columns: std::ops::Range<usize>, y: usize, mark: char, style: Style) {
        let text = mark.to_string();
        columns.for_each(|x| self.put(x, y, &text, style));
    }

    /// Whether nothing stands in a cell; beyond the edges nothing can.
    pub(super) fn is_free(&self, x: usize, y: usize) -> bool {
        let place = u16::try_from(x).ok().zip(u16::try_from(y).ok());
        place.and_then(|place| self.buffer.cell(place)).is_some_and(|cell| cell.symbol() == " ")
    }

    /// Writes its lines, without the blanks at their ends.
    pub(in crate::render) fn write(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        for y in 0..self.buffer.area.height {
            writeln!(out, "{}", self.line(y, look))?;
        }
        Ok(())
    }

    fn line(&self, y: u16, look: &Look) -> String {
        let width = self.buffer.area.width;
        let cells: Vec<&Cell> = (0..width).filter_map(|x| self.buffer.cell((x, y))).collect();
        let is_blank = |cell: &&Cell| cell.symbol() == " " && (!look.colour || cell.bg == Color::Reset);
        let end = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
        let mut line = String::new();
        let mut current = String::new();
        let mut covered = 0;
        for cell in &cells[..end] {
            // A sign of two columns has an empty cell behind it.
            if covered > 0 {
                covered -= 1;
                continue;
            }
            covered = textwrap::core::display_width(cell.symbol()).saturating_sub(1);
            let code = if look.colour { code(cell) } else { String::new() };
            if code != current {
                if !current.is_empty() {
                    line.push_str(RESET);
                }
                line.push_str(&code);
                current = code;
            }
            line.push_str(&if look.unicode { cell.symbol().to_owned() } else { ascii(cell.symbol()) });
        }
        if !current.is_empty() {
            line.push_str(RESET);
        }
        line
    }
}

/// What ends every colour (ECMA-48, SGR 0).
const RESET: &str = "\u{1b}[0m";

/// Colour and weight of a cell as an escape of ECMA-48 (SGR), with the 256 colours of xterm; nothing where it has none.
fn code(cell: &Cell) -> String {
    let mut codes: Vec<String> = Vec::new();
    for (modifier, code) in [(Modifier::BOLD, "1"), (Modifier::DIM, "2")] {
        codes.extend(cell.modifier.contains(modifier).then(|| code.to_owned()));
    }
    for (colour, layer) in [(cell.fg, 38), (cell.bg, 48)] {
        if let Color::Indexed(index) = colour {
            codes.push(format!("{layer};5;{index}"));
        }
    }
    let mut text = String::new();
    if !codes.is_empty() {
        // A string takes all.
        let _ = write!(text, "\u{1b}[{}m", codes.join(";"));
    }
    text
}

/// One of the 256 colours of terminals for what is written.
pub(in crate::render) fn ink(colour: u8) -> Style {
    Style::new().fg(Color::Indexed(colour))
}

/// One of them for what is behind it, with black on it.
pub(in crate::render) fn ground(colour: u8) -> Style {
    Style::new().fg(Color::Indexed(16)).bg(Color::Indexed(colour))
}

/// What stands back.
pub(in crate::render) fn faint() -> Style {
    ink(244)
}

/// What stands out.
pub(in crate::render) fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(sheet: &Sheet, look: &Look) -> String {
        let mut out = Vec::new();
        sheet.write(look, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_become_text() {
        let mut sheet = Sheet::new(6, 2);
        sheet.put(1, 0, "ab", ink(33));
        sheet.put(4, 1, "µcd", Style::new());
        sheet.put(0, 9, "lost", Style::new());
        assert_eq!(shown(&sheet, &Look::PLAIN), " ab\n    µc\n");
        assert_eq!(shown(&sheet, &Look { unicode: false, ..Look::PLAIN }), " ab\n    uc\n");
        let coloured = shown(&sheet, &Look { colour: true, ..Look::PLAIN });
        assert_eq!(coloured, " \u{1b}[38;5;33mab\u{1b}[0m\n    µc\n");
    }

    #[test]
    fn wide_signs_take_two_columns() {
        let mut sheet = Sheet::new(5, 1);
        sheet.put(0, 0, "漢字x", Style::new());
        assert_eq!(shown(&sheet, &Look::PLAIN), "漢字x\n");
    }
}
