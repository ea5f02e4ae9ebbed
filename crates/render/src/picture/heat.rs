//! A value for each pair of things as tiles.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::colour::{Paint, heat, is_light};
use super::frame::nothing;
use super::pen::{Pen, TextStyle, block, number, path};
use super::{WIDTH, width};
use charz_analysis::figure::{Heatmap, Span, State, Tile};
use charz_data::escape::plain;

/// Rows and columns up to which each tile is an element that can be pointed at.
const POINTED: usize = 64;
/// The same within a page, whose script finds the tile under a pointer by itself; a tile more is 200 bytes more.
const POINTED_INLINE: usize = 24;
/// Rows and columns beyond which nothing is drawn: an SVG of 10 MB.
const MOST: usize = 1024;
const SIDE: f64 = 520.0;
const SIZE: f64 = 11.0;
/// In a large matrix: tiles without a number, and the points on suspect ones. Neither is among the colours of numbers.
const GAP: [u8; 3] = [0xe8, 0xa0, 0xb8];
const MARK: [u8; 3] = [0xd0, 0x20, 0x60];
/// Points beyond that cover the matrix.
const MARKED: usize = 4096;
/// The longest name of a row or a column.
const NAME: f64 = 110.0;
/// Room right of the tiles for the scale of colours.
const SCALE: f64 = 124.0;

/// Draws it below a height; its width and the height at which it ends.
pub(super) fn draw(map: &Heatmap, id: &str, top: f64, pen: &mut Pen) -> [f64; 2] {
    let (rows, columns) = (map.rows.len(), map.columns.len());
    if rows == 0 || columns == 0 {
        nothing([0.0, WIDTH], [top, top + 60.0], pen);
        return [WIDTH, top + 60.0];
    }
    if rows.max(columns) > MOST {
        let text = format!("{rows} by {columns} values are too many to draw");
        pen.text(&text, TextStyle { paint: Paint::Soft, ..TextStyle::at(12.0, top + 30.0, 14.0) });
        return [WIDTH, top + 60.0];
    }
    let longest = |names: &[String]| names.iter().map(|name| width::of(&plain(name), SIZE)).fold(0.0, f64::max);
    let left = longest(&map.rows).min(NAME) + 34.0;
    let tile = ((WIDTH - left - SCALE).min(SIDE) / columns as f64).min(SIDE / rows as f64).min(60.0);
    // Places are written to a tenth: so neighbours meet.
    let tile = if tile > 1.0 { (tile * 10.0).floor() / 10.0 } else { tile };
    let is_turned = longest(&map.columns) > tile - 4.0;
    let names_height = if is_turned { longest(&map.columns).min(NAME) } else { SIZE };
    // A page has no more than it needs; alone it is in the middle, where few tiles do not fill the width.
    let free = (WIDTH - left - SCALE - tile * columns as f64).max(0.0);
    let aside = if pen.is_inline() { 0.0 } else { free / 2.0 };
    let unit = |number: f64| map.quantity.shown(number).split_once(' ').map(|(_, unit)| unit.to_owned());
    let grid = Grid {
        map,
        is_large: rows.max(columns) > if pen.is_inline() { POINTED_INLINE } else { POINTED },
        span: map.span(),
        is_even: map.is_even(),
        has_one_unit: map.range().is_some_and(|[low, high]| unit(low) == unit(high)),
        across: [left + aside, left + aside + columns as f64 * tile],
        down: [top + names_height + 28.0, top + names_height + 28.0 + rows as f64 * tile],
        tile,
    };
    grid.names(is_turned, aside + 16.0, names_height, pen);
    let pattern = pen.tag("pattern").word("id", &format!("{id}-gap")).number("width", 6.0).number("height", 6.0);
    pattern.word("patternUnits", "userSpaceOnUse").children(|pen| {
        pen.tag("path").word("d", "M0 6L6 0").paint("stroke", Paint::Soft).word("stroke-opacity", ".6").empty();
    });
    pen.tag("g").word("shape-rendering", "crispEdges").children(|pen| match grid.is_large {
        true => grid.rows(pen),
        false => grid.tiles(id, pen),
    });
    grid.borders(pen);
    grid.scale(id, pen);
    let wide = if pen.is_inline() { WIDTH - free } else { WIDTH };
    [wide, grid.down[1].max(grid.down[0] + 200.0) + 16.0]
}

/// The sign of a noisy tile.
fn noisy([x, y]: [f64; 2], paint: Paint, pen: &mut Pen) {
    let ring = pen.tag("circle").number("cx", x).number("cy", y).number("r", 2.6).word("fill", "none");
    let ring = ring.word("shape-rendering", "auto");
    ring.paint("stroke", paint).word("stroke-width", "1.2").empty();
}

struct Grid<'a> {
    map: &'a Heatmap,
    /// Whether tiles are drawn by rows, not one by one.
    is_large: bool,
    /// From the colour of the least to that of the greatest value.
    span: Option<Span>,
    /// Whether all values have one colour.
    is_even: bool,
    /// Whether all values are in one unit, which the scale names.
    has_one_unit: bool,
    across: [f64; 2],
    down: [f64; 2],
    tile: f64,
}

impl Grid<'_> {
    /// The names along two sides, as many as have room.
    fn names(&self, is_turned: bool, rows_at: f64, height: f64, pen: &mut Pen) {
        let ([left, right], [top, bottom]) = (self.across, self.down);
        let every = ((SIZE + 2.0) / self.tile).ceil().max(1.0) as usize;
        let middle = |at: usize| (at as f64 + 0.5) * self.tile;
        for (at, name) in self.map.rows.iter().enumerate().step_by(every) {
            let y = top + middle(at) + SIZE * 0.35;
            pen.text(name, TextStyle { anchor: "end", room: NAME, ..TextStyle::at(left - 6.0, y, SIZE) });
        }
        for (at, name) in self.map.columns.iter().enumerate().step_by(every) {
            let (x, y) = (left + middle(at), top - 6.0);
            let upright = TextStyle { room: NAME, turned: -90.0, ..TextStyle::at(x + SIZE * 0.35, y, SIZE) };
            let level = TextStyle { room: NAME, ..TextStyle::around(x, y, SIZE) };
            pen.text(name, if is_turned { upright } else { level });
        }
        let title = |x, y| TextStyle { paint: Paint::Soft, ..TextStyle::around(x, y, 12.0) };
        pen.text(&self.map.column_label, title((left + right) / 2.0, top - height - 14.0));
        pen.text(&self.map.row_label, TextStyle { turned: -90.0, ..title(rows_at, (top + bottom) / 2.0) });
    }

    fn tiles(&self, id: &str, pen: &mut Pen) {
        let columns = self.map.columns.len();
        for (row, column) in (0..self.map.rows.len()).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let tile = self.map.at(row, column);
            let [x, y] = [self.across[0] + column as f64 * self.tile, self.down[0] + row as f64 * self.tile];
            let outline = block([x, y, self.tile, self.tile]);
            // A page has the notes in a form that takes less room.
            let note = if pen.is_inline() { String::new() } else { self.map.note(row, column) };
            match self.colour(tile) {
                Some(colour) => {
                    pen.tag("path").word("d", &outline).paint("fill", Paint::Fixed(colour)).titled(&note);
                    self.value(tile, [x, y], colour, pen);
                }
                None if tile == Tile::NOTHING => {}
                None => {
                    let gap = pen.tag("path").word("d", &outline).word("class", "spot missing");
                    gap.word("fill", &format!("url(#{id}-gap)")).titled(&note);
                }
            }
        }
    }

    /// The number in its tile, without its unit if all have the same, where it has room, and a ring if it is noisy.
    fn value(&self, tile: Tile, [x, y]: [f64; 2], colour: [u8; 3], pen: &mut Pen) {
        let Some(value) = tile.value else { return };
        let shown = self.map.quantity.shown(value);
        // The unit is at the scale.
        let text = if self.has_one_unit { shown.split(' ').next().unwrap_or_default() } else { &shown };
        let half = self.tile / 2.0;
        let paint = Paint::Fixed(if is_light(colour) { [0; 3] } else { [255; 3] });
        if tile.state == State::Suspect {
            noisy([x + self.tile - 6.0, y + 6.0], paint, pen);
        }
        // Smaller letters are not read on a screen.
        if width::of(text, SIZE) <= self.tile - 2.0 {
            pen.text(text, TextStyle { paint, ..TextStyle::around(x + half, y + half + SIZE * 0.35, SIZE) });
        }
    }

    /// All pairs, those of one colour as one path of level lines as wide as a tile.
    fn rows(&self, pen: &mut Pen) {
        let mut lines: BTreeMap<[u8; 3], String> = BTreeMap::new();
        for row in 0..self.map.rows.len() {
            let colour = |tile: Tile| self.colour(tile).or((tile != Tile::NOTHING).then_some(GAP));
            let colours: Vec<_> = (0..self.map.columns.len()).map(|column| colour(self.map.at(row, column))).collect();
            let mut from = 0;
            for run in colours.chunk_by(|one, other| one == other) {
                if let Some(colour) = run[0] {
                    // Writing to a String does not fail.
                    let _ = write!(lines.entry(colour).or_default(), "M{from} {row}h{}", run.len());
                }
                from += run.len();
            }
        }
        let place =
            format!("translate({} {}) scale({})", number(self.across[0]), self.down[0] + self.tile / 2.0, self.tile);
        pen.tag("g").word("transform", &place).children(|pen| {
            for (colour, data) in lines {
                pen.tag("path").word("d", &data).paint("stroke", Paint::Fixed(colour)).empty();
            }
        });
        let columns = self.map.columns.len();
        let suspect = self.map.tiles.iter().enumerate().filter(|(_, tile)| tile.state == State::Suspect).take(MARKED);
        let point = |(at, _): (usize, &Tile)| {
            let centre = |place: usize| (place as f64 + 0.35) * self.tile;
            let side = (self.tile * 0.3).max(0.5);
            block([self.across[0] + centre(at % columns), self.down[0] + centre(at / columns), side, side])
        };
        let points: String = suspect.map(point).collect();
        if !points.is_empty() {
            pen.tag("path").word("d", &points).paint("fill", Paint::Fixed(MARK)).empty();
        }
    }

    fn colour(&self, tile: Tile) -> Option<[u8; 3]> {
        /// More shades than the eye can distinguish; fewer paths than values.
        const SHADES: f64 = 63.0;
        let value = tile.value.filter(|value| value.is_finite() && tile.state != State::Missing)?;
        let fraction = if self.is_even { 0.5 } else { self.span?.fraction(value)? };
        Some(heat((fraction * SHADES).round() / SHADES))
    }

    fn borders(&self, pen: &mut Pen) {
        let ([left, right], [top, bottom]) = (self.across, self.down);
        let outline = pen.tag("rect").rectangle(left, top, right - left, bottom - top);
        // A page finds the tile under a pointer by where this lies.
        outline.word("class", "tiles-area").word("fill", "none").paint("stroke", Paint::Soft).empty();
        let mut from = 0;
        for (after, name) in &self.map.borders {
            let at = *after as f64 * self.tile;
            pen.tag("g").word("class", "rule").children(|pen| {
                pen.tag("title").text(name);
                let upright =
                    (*after > 0 && *after < self.map.columns.len()).then_some([[left + at, top], [left + at, bottom]]);
                let level =
                    (*after > 0 && *after < self.map.rows.len()).then_some([[left, top + at], [right, top + at]]);
                for corners in [upright, level].into_iter().flatten() {
                    let line = pen.tag("path").word("d", &path(corners, false)).paint("stroke", Paint::Paper);
                    line.word("stroke-width", "2").empty();
                }
            });
            // The name of a part beside its rows, where it has room.
            let long = after.saturating_sub(from) as f64 * self.tile;
            if *after <= self.map.rows.len() && width::of(&plain(name), SIZE) < long {
                let middle = top + from as f64 * self.tile + long / 2.0;
                let style = TextStyle::around(right + 6.0, middle, SIZE);
                pen.text(name, TextStyle { paint: Paint::Soft, turned: 90.0, ..style });
            }
            from = *after;
        }
    }

    /// The colours with their values, then the signs that occur.
    fn scale(&self, id: &str, pen: &mut Pen) {
        const HIGH: f64 = 160.0;
        const PARTS: u32 = 40;
        let (x, top) = (self.across[1] + 26.0, self.down[0]);
        let soft = |y| TextStyle { paint: Paint::Soft, ..TextStyle::at(x + 20.0, y, SIZE) };
        let mut y = top;
        if let Some([low, high]) = self.map.range().filter(|_| self.is_even) {
            pen.tag("rect").rectangle(x, y, 14.0, 14.0).paint("fill", Paint::Fixed(heat(0.5))).empty();
            let [low, high] = [low, high].map(|end| self.map.quantity.shown(end));
            let range = if low == high { vec![low] } else { vec![format!("{low} to"), high] };
            for end in range {
                pen.text(&end, TextStyle { room: SCALE - 46.0, ..TextStyle::at(x + 20.0, y + 11.0, SIZE) });
                y += 14.0;
            }
            pen.text("all within 2%", TextStyle { room: SCALE - 46.0, ..soft(y + 11.0) });
            y += 24.0;
        } else if let Some(span) = self.span {
            for part in 0..PARTS {
                let [low, high] = [part, part + 1].map(|part| f64::from(part) / f64::from(PARTS));
                let tile = pen.tag("rect").rectangle(x, top + HIGH * (1.0 - high), 14.0, HIGH * (high - low) + 0.3);
                tile.paint("fill", Paint::Fixed(heat((low + high) / 2.0))).empty();
            }
            let mut last = String::new();
            for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
                let shown = self.map.quantity.shown(span.number(part));
                if shown != last {
                    let y = top + HIGH * (1.0 - part) + 4.0;
                    pen.text(&shown, TextStyle { room: SCALE - 46.0, ..TextStyle::at(x + 20.0, y, SIZE) });
                }
                last = shown;
            }
            y += HIGH + 16.0;
        }
        if self.map.tiles.iter().any(|tile| tile.value.is_none() && *tile != Tile::NOTHING) {
            let gap = pen.tag("rect").rectangle(x, y, 14.0, 14.0).paint("stroke", Paint::Soft);
            match self.is_large {
                true => gap.paint("fill", Paint::Fixed(GAP)).empty(),
                false => gap.word("fill", &format!("url(#{id}-gap)")).empty(),
            }
            pen.text("no result", soft(y + 11.0));
            y += 20.0;
        }
        if self.map.tiles.iter().any(|tile| tile.state == State::Suspect) {
            match self.is_large {
                true => pen.tag("rect").rectangle(x + 5.0, y + 5.0, 4.0, 4.0).paint("fill", Paint::Fixed(MARK)).empty(),
                false => noisy([x + 7.0, y + 7.0], Paint::Ink, pen),
            }
            pen.text("noisy", soft(y + 11.0));
        }
    }
}
