//! Lines in dots of Braille: two in a cell across, four down.

use super::sheet::{Sheet, Style};

/// A part of a sheet. Places on it go from 0 at the left and at the bottom to 1.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Area {
    /// The dot nearest to a place, from the left and from above.
    fn dot(&self, x: f64, y: f64) -> (usize, usize) {
        (nearest(x, 2 * self.width), nearest(1.0 - y, 4 * self.height))
    }

    /// The cell of a place on the sheet.
    pub(super) fn cell(&self, x: f64, y: f64) -> (usize, usize) {
        let (column, line) = self.dot(x, y);
        (self.left + column / 2, self.top + line / 4)
    }
}

/// The column, line or dot of a place from 0 to 1 among so many.
pub(super) fn nearest(place: f64, count: usize) -> usize {
    (place.clamp(0.0, 1.0) * count.saturating_sub(1) as f64).round() as usize
}

/// Dots on an area.
pub(super) struct Braille {
    area: Area,
    /// The dots of each cell, as in the Unicode block, and the style of the last one.
    cells: Vec<(u8, Style)>,
}

impl Braille {
    pub(super) fn new(area: Area) -> Self {
        Braille { area, cells: vec![(0, Style::default()); area.width * area.height] }
    }

    /// A straight line, or every so many columns of it a dot.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), every: usize, style: Style) {
        /// The bits of the four dots of a cell's columns, from above.
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let (start, end) = (self.area.dot(from.0, from.1), self.area.dot(to.0, to.1));
        let steps = start.0.abs_diff(end.0).max(start.1.abs_diff(end.1));
        let between = |from: usize, to: usize, step: usize| {
            (from as f64 + (to as f64 - from as f64) * step as f64 / steps.max(1) as f64).round() as usize
        };
        let mut last_column = None;
        for step in 0..=steps {
            let (column, line) = (between(start.0, end.0, step), between(start.1, end.1, step));
            let is_drawn = every <= 1 || (column % every == 0 && last_column.replace(column) != Some(column));
            if let Some((bits, last)) = self.cells.get_mut(line / 4 * self.area.width + column / 2).filter(|_| is_drawn)
            {
                *bits |= BITS[column % 2][line % 4];
                *last = style;
            }
        }
    }

    /// Puts its dots onto the sheet, over what is there.
    pub(super) fn put(&self, sheet: &mut Sheet) {
        for (at, (bits, style)) in self.cells.iter().enumerate().filter(|(_, (bits, _))| *bits > 0) {
            let sign = char::from_u32(0x2800 + u32::from(*bits)).unwrap_or('*');
            let Area { left, top, width, .. } = self.area;
            sheet.put(left + at % width, top + at / width, &sign.to_string(), *style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::written;
    use crate::look::TerminalStyle;

    const AREA: Area = Area { left: 1, top: 0, width: 2, height: 2 };

    type Spot = (f64, f64);

    fn shown(lines: &[(Spot, Spot)], every: usize) -> String {
        let mut canvas = Braille::new(AREA);
        lines.iter().for_each(|(from, to)| canvas.line(*from, *to, every, Style::default()));
        let mut sheet = Sheet::new(3, 2);
        canvas.put(&mut sheet);
        written(|out| sheet.write(&TerminalStyle::PLAIN, out))
    }

    #[test]
    fn lines_become_dots() {
        assert_eq!(shown(&[((0.0, 1.0), (1.0, 1.0))], 1), " ⠉⠉\n\n");
        assert_eq!(shown(&[((0.0, 0.0), (1.0, 0.0))], 2), "\n ⡀⡀\n");
        assert_eq!(shown(&[((0.0, 0.0), (0.0, 1.0)), ((1.0, 0.0), (1.0, 1.0))], 1), " ⡇⢸\n ⡇⢸\n");
        assert_eq!(AREA.cell(1.0, 0.0), (2, 1));
    }
}
