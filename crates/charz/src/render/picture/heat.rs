//! A value for each pair of things, as tiles; of very many as one image.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::colour::{Paint, heat, is_light};
use super::lines::nothing;
use super::pen::{Pen, Words, path};
use super::raster;
use super::{WIDTH, words};
use crate::figure::{Heat, State, Tile};
use crate::render::text::plain;

/// Rows and columns up to which each pair is a tile that can be pointed at.
const POINTED: usize = 64;
/// The same within a page, which says by itself what lies under a pointer; a tile more is 200 bytes more.
const POINTED_INLINE: usize = 24;
/// Rows and columns beyond which nothing is drawn: an image of 64 MiB.
const MOST: usize = 4096;
const SIDE: f64 = 520.0;
const SIZE: f64 = 11.0;
/// In an image: what has no number, and the points on what is doubtful. Neither is among the colours of numbers.
const GAP: [u8; 3] = [0xe8, 0xa0, 0xb8];
const MARK: [u8; 3] = [0xd0, 0x20, 0x60];
const MARKED: usize = 4096;
/// The longest name of a row or a column.
const NAME: f64 = 110.0;
/// Room right of the tiles for the scale of colours.
const SCALE: f64 = 110.0;

/// Draws it below a height; the height at which it ends.
pub(super) fn draw(map: &Heat, id: &str, top: f64, pen: &mut Pen) -> f64 {
    let (rows, columns) = (map.rows.len(), map.columns.len());
    if rows == 0 || columns == 0 || rows.max(columns) > MOST {
        nothing([0.0, WIDTH], [top, top + 60.0], pen);
        return top + 60.0;
    }
    let widest = map.rows.iter().take(POINTED * 4).map(|name| words::width(&plain(name), SIZE)).fold(0.0, f64::max);
    let left = widest.min(NAME) + 34.0;
    let tile = ((WIDTH - left - SCALE).min(SIDE) / columns as f64).min(SIDE / rows as f64).min(60.0);
    // Places are written to a tenth: so neighbours meet.
    let tile = if tile > 1.0 { (tile * 10.0).floor() / 10.0 } else { tile };
    let column_names = map.columns.iter().map(|name| words::width(&plain(name), SIZE)).fold(0.0, f64::max);
    let is_turned = column_names > tile - 4.0;
    let above = 22.0 + if is_turned { column_names.min(NAME) } else { SIZE } + 6.0;
    // In the middle, where few tiles do not fill the width.
    let aside = ((WIDTH - left - SCALE - tile * columns as f64) / 2.0).max(0.0);
    let is_image = rows.max(columns) > if pen.is_inline() { POINTED_INLINE } else { POINTED };
    let grid =
        Grid { map, is_image, range: map.range(), left: left + aside, names: aside + 16.0, top: top + above, tile };
    grid.names(is_turned, pen);
    hatching(id, pen);
    match grid.is_image {
        true => grid.image(pen),
        false => pen.tag("g").word("shape-rendering", "crispEdges").holds(|pen| grid.tiles(id, pen)),
    }
    grid.borders(pen);
    grid.scale(id, pen);
    grid.bottom().max(grid.top + 200.0) + 16.0
}

/// Tiles in their place.
struct Grid<'a> {
    map: &'a Heat,
    /// Whether all tiles are one image.
    is_image: bool,
    /// The least and the greatest value.
    range: Option<[f64; 2]>,
    left: f64,
    /// Where the words for the rows stand.
    names: f64,
    top: f64,
    /// The side of a tile.
    tile: f64,
}

/// The pattern of what has no number.
fn hatching(id: &str, pen: &mut Pen) {
    let pattern = pen.tag("pattern").word("id", &format!("{id}-gap")).number("width", 6.0).number("height", 6.0);
    pattern.word("patternUnits", "userSpaceOnUse").holds(|pen| {
        pen.tag("path").word("d", "M0 6L6 0").paint("stroke", Paint::Soft).word("stroke-opacity", ".6").done();
    });
}

impl Grid<'_> {
    fn right(&self) -> f64 {
        self.left + self.map.columns.len() as f64 * self.tile
    }

    fn bottom(&self) -> f64 {
        self.top + self.map.rows.len() as f64 * self.tile
    }

    /// The names along two sides, as many as have room.
    fn names(&self, is_turned: bool, pen: &mut Pen) {
        let every = ((SIZE + 2.0) / self.tile).ceil().max(1.0) as usize;
        let middle = |at: usize| (at as f64 + 0.5) * self.tile;
        for (at, name) in self.map.rows.iter().enumerate().step_by(every) {
            let y = self.top + middle(at) + SIZE * 0.35;
            pen.words(name, Words { anchor: "end", room: NAME, ..Words::at(self.left - 6.0, y, SIZE) });
        }
        for (at, name) in self.map.columns.iter().enumerate().step_by(every) {
            let (x, y) = (self.left + middle(at), self.top - 6.0);
            let upright = Words { room: NAME, turned: -90.0, ..Words::at(x + SIZE * 0.35, y, SIZE) };
            let level = Words { anchor: "middle", room: NAME, ..Words::at(x, y, SIZE) };
            pen.words(name, if is_turned { upright } else { level });
        }
        let (across, down) = ((self.left + self.right()) / 2.0, (self.top + self.bottom()) / 2.0);
        let title = |x, y| Words { anchor: "middle", paint: Paint::Soft, ..Words::at(x, y, 12.0) };
        let columns = if is_turned {
            self.map.columns.iter().map(|name| words::width(&plain(name), SIZE)).fold(0.0, f64::max).min(NAME)
        } else {
            SIZE
        };
        pen.words(&self.map.column_label, title(across, self.top - columns - 14.0));
        pen.words(&self.map.row_label, Words { turned: -90.0, ..title(self.names, down) });
    }

    /// Each pair by itself.
    fn tiles(&self, id: &str, pen: &mut Pen) {
        let side = super::pen::number(self.tile);
        for row in 0..self.map.rows.len() {
            for column in 0..self.map.columns.len() {
                let tile = self.map.at(row, column);
                let [x, y] = [self.left + column as f64 * self.tile, self.top + row as f64 * self.tile];
                let outline = format!("M{} {}h{side}v{side}h-{side}z", super::pen::number(x), super::pen::number(y));
                // A page has the notes in a form that takes less room.
                let note = if pen.is_inline() { String::new() } else { self.map.note(row, column) };
                match self.colour(tile) {
                    Some(colour) => {
                        pen.tag("path").word("d", &outline).paint("fill", Paint::Fixed(colour)).noted(&note);
                        self.written(tile, [x, y], colour, pen);
                    }
                    None if tile == Tile::NOTHING => {}
                    None => {
                        let gap = pen.tag("path").word("d", &outline).word("class", "spot missing");
                        gap.word("fill", &format!("url(#{id}-gap)")).noted(&note);
                    }
                }
            }
        }
    }

    /// The number in its tile, or at least the sign that it is doubtful.
    fn written(&self, tile: Tile, [x, y]: [f64; 2], colour: [u8; 3], pen: &mut Pen) {
        let Some(value) = tile.value else { return };
        let doubt = if tile.state == State::Doubtful { " ?" } else { "" };
        let shown = self.map.quantity.shown(value);
        // The unit stands at the scale.
        let digits = shown.split(' ').next().unwrap_or_default();
        let full = [format!("{shown}{doubt}"), format!("{digits}{doubt}"), doubt.trim().to_owned()];
        let same_unit = self.range.is_some_and(|ends| {
            let unit = |number| self.map.quantity.shown(number).split_once(' ').map(|(_, unit)| unit.to_owned());
            unit(ends[0]) == unit(ends[1])
        });
        let fits = |text: &&String| words::width(text, SIZE) <= self.tile - 4.0;
        let skipped = if same_unit { 1 } else { 0 };
        let fitting = full.iter().enumerate().filter(|(at, _)| *at >= skipped && (*at != 1 || same_unit));
        let Some(text) = fitting.map(|(_, text)| text).find(fits).filter(|text| !text.is_empty()) else {
            if !doubt.is_empty() {
                let size = self.tile * 0.9;
                self.sign("?", [x, y], size, colour, pen);
            }
            return;
        };
        self.sign(text, [x, y], SIZE, colour, pen);
    }

    fn sign(&self, text: &str, [x, y]: [f64; 2], size: f64, colour: [u8; 3], pen: &mut Pen) {
        let half = self.tile / 2.0;
        let paint = Paint::Fixed(if is_light(colour) { [0; 3] } else { [255; 3] });
        pen.words(text, Words { anchor: "middle", paint, ..Words::at(x + half, y + half + size * 0.35, size) });
    }

    /// All pairs as an image of a dot each.
    fn image(&self, pen: &mut Pen) {
        let (rows, columns) = (self.map.rows.len(), self.map.columns.len());
        let colour = |tile: Tile| self.colour(tile).or((tile != Tile::NOTHING).then_some(GAP));
        let dots = (0..rows).flat_map(|row| (0..columns).map(move |column| colour(self.map.at(row, column))));
        let Ok(file) = raster::dots(columns as u32, rows as u32, dots) else { return };
        let [wide, high] = [self.right() - self.left, self.bottom() - self.top];
        let image = pen.tag("image").rectangle(self.left, self.top, wide, high).word("preserveAspectRatio", "none");
        let image = image.word("image-rendering", "pixelated");
        image.word("href", &format!("data:image/png;base64,{}", BASE64_STANDARD.encode(file))).done();
        // More than that cover the image.
        let doubtful = self.map.tiles.iter().enumerate().filter(|(_, tile)| tile.state == State::Doubtful).take(MARKED);
        let point = |(at, _): (usize, &Tile)| {
            let centre = |place: usize| (place as f64 + 0.35) * self.tile;
            let [x, y] = [self.left + centre(at % columns), self.top + centre(at / columns)];
            let side = super::pen::number((self.tile * 0.3).max(0.5));
            format!("M{} {}h{side}v{side}h-{side}z", super::pen::number(x), super::pen::number(y))
        };
        let points: String = doubtful.map(point).collect();
        if !points.is_empty() {
            pen.tag("path").word("d", &points).paint("fill", Paint::Fixed(MARK)).done();
        }
    }

    fn colour(&self, tile: Tile) -> Option<[u8; 3]> {
        let value = tile.value.filter(|value| value.is_finite() && tile.state != State::Missing)?;
        Some(heat(self.fraction(value)?))
    }

    /// Where a value lies among all: by ratios where they differ by much.
    fn fraction(&self, value: f64) -> Option<f64> {
        let [low, high] = self.range?;
        if low > 0.0 && high > low * 20.0 {
            return Some((value / low).ln() / (high / low).ln());
        }
        Some(if high > low { (value - low) / (high - low) } else { 0.5 })
    }

    /// The value at a fraction of the scale.
    fn value(&self, fraction: f64) -> Option<f64> {
        let [low, high] = self.range?;
        let by_ratio = low > 0.0 && high > low * 20.0;
        Some(if by_ratio { low * (high / low).powf(fraction) } else { low + (high - low) * fraction })
    }

    fn borders(&self, pen: &mut Pen) {
        let outline =
            pen.tag("rect").rectangle(self.left, self.top, self.right() - self.left, self.bottom() - self.top);
        // A page finds the tile under a pointer by where this lies.
        outline.word("class", "tiles-area").word("fill", "none").paint("stroke", Paint::Soft).done();
        let (rows, columns) = (self.map.rows.len(), self.map.columns.len());
        let mut from = 0;
        for (after, name) in &self.map.borders {
            let at = *after as f64 * self.tile;
            pen.tag("g").word("class", "rule").holds(|pen| {
                pen.tag("title").says(name);
                let mut line = |corners| {
                    let line = pen.tag("path").word("d", &path(corners, false)).paint("stroke", Paint::Paper);
                    line.word("stroke-width", "2").done();
                };
                if *after > 0 && *after < columns {
                    line([[self.left + at, self.top], [self.left + at, self.bottom()]]);
                }
                if *after > 0 && *after < rows {
                    line([[self.left, self.top + at], [self.right(), self.top + at]]);
                }
            });
            // The name of a part beside its rows, where it has room.
            let long = (after.saturating_sub(from) as f64) * self.tile;
            let middle = self.top + (from as f64) * self.tile + long / 2.0;
            if *after <= rows && words::width(&plain(name), SIZE) < long {
                let turned = Words {
                    anchor: "middle",
                    paint: Paint::Soft,
                    turned: 90.0,
                    ..Words::at(self.right() + 6.0, middle, SIZE)
                };
                pen.words(name, turned);
            }
            from = *after;
        }
    }

    /// Which colour is which value.
    fn scale(&self, id: &str, pen: &mut Pen) {
        const HIGH: f64 = 160.0;
        let x = self.right() + 26.0;
        let is_some = self.range.is_some();
        if is_some {
            for part in 0..40 {
                let low = f64::from(part) / 40.0;
                let tile =
                    pen.tag("rect").rectangle(x, self.top + HIGH * (1.0 - low) - HIGH / 40.0, 14.0, HIGH / 40.0 + 0.3);
                tile.paint("fill", Paint::Fixed(heat(low + 0.0125))).done();
            }
            let mut last = String::new();
            for part in 0..=4 {
                let part = f64::from(part) / 4.0;
                let shown = self.value(part).map(|value| self.map.quantity.shown(value)).unwrap_or_default();
                if shown != last {
                    let y = self.top + HIGH * (1.0 - part) + 4.0;
                    pen.words(&shown, Words { room: SCALE - 46.0, ..Words::at(x + 20.0, y, SIZE) });
                }
                last = shown;
            }
        }
        let is_gap = |tile: &Tile| tile.value.is_none() && *tile != Tile::NOTHING;
        let has = [self.map.tiles.iter().any(is_gap), self.map.tiles.iter().any(|tile| tile.state == State::Doubtful)];
        let mut y = self.top + if is_some { HIGH + 16.0 } else { 0.0 };
        if has[0] {
            let gap = pen.tag("rect").rectangle(x, y, 14.0, 14.0).paint("stroke", Paint::Soft);
            match self.is_image {
                true => gap.paint("fill", Paint::Fixed(GAP)).done(),
                false => gap.word("fill", &format!("url(#{id}-gap)")).done(),
            }
            pen.words("no number", Words { paint: Paint::Soft, ..Words::at(x + 20.0, y + 11.0, SIZE) });
            y += 20.0;
        }
        if has[1] {
            match self.is_image {
                true => pen.tag("rect").rectangle(x + 5.0, y + 5.0, 4.0, 4.0).paint("fill", Paint::Fixed(MARK)).done(),
                false => pen.words("?", Words { anchor: "middle", ..Words::at(x + 7.0, y + 11.0, SIZE) }),
            }
            pen.words("doubtful", Words { paint: Paint::Soft, ..Words::at(x + 20.0, y + 11.0, SIZE) });
        }
    }
}
