//! Which line is whose.

use super::colour::Paint;
use super::pen::{Pen, TextStyle};
use super::shapes;
use super::width;

pub(super) enum Key {
    /// A series, by its place from 0: its line and its spots.
    Series(usize),
    Doubtful,
    Missing,
}

const SIZE: f64 = 12.0;
const ROW: f64 = 19.0;
/// The key before the name.
const KEY: f64 = 34.0;
/// The longest name, and the room after it.
const NAME: f64 = 300.0;
const GAP: f64 = 18.0;

/// Draws it in rows of at most a width, from a point downwards; how high they are.
pub(super) fn draw(keys: &[(Key, String)], [left, top]: [f64; 2], width: f64, with_lines: bool, pen: &mut Pen) -> f64 {
    if keys.is_empty() {
        return 0.0;
    }
    let (mut x, mut y) = (left, top);
    pen.tag("g").word("class", "legend").children(|pen| {
        for (key, name) in keys {
            let room = NAME.min(width - KEY);
            let wide = KEY + width::of(name, SIZE).min(room) + GAP;
            if x > left && x + wide > left + width {
                (x, y) = (left, y + ROW);
            }
            let middle = [x + KEY / 2.0 - 3.0, y + ROW / 2.0];
            match key {
                Key::Series(at) => series(*at, middle, with_lines, pen),
                Key::Doubtful => doubtful(0, Paint::Soft, middle, pen),
                Key::Missing => missing(Paint::Soft, middle, pen),
            }
            let paint = if matches!(key, Key::Series(_)) { Paint::Ink } else { Paint::Soft };
            pen.text(name, TextStyle { paint, room, ..TextStyle::at(x + KEY, y + ROW / 2.0 + 4.0, SIZE) });
            x += wide;
        }
    });
    y - top + ROW
}

fn series(at: usize, [x, y]: [f64; 2], with_line: bool, pen: &mut Pen) {
    let paint = Paint::Series(at);
    if with_line {
        let line =
            pen.tag("path").word("d", &format!("M{} {}h28", super::pen::number(x - 14.0), super::pen::number(y)));
        let line = line.paint("stroke", paint).word("stroke-width", "2");
        line.optional("stroke-dasharray", shapes::dashes(at)).empty();
    }
    pen.tag("path").word("d", &shapes::shape(at, [x, y], RADIUS)).paint("fill", paint).empty();
}

pub(super) const RADIUS: f64 = 3.8;

/// A suspect spot: hollow.
pub(super) fn doubtful(series: usize, paint: Paint, [x, y]: [f64; 2], pen: &mut Pen) {
    let outline = pen.tag("path").word("d", &shapes::shape(series, [x, y], RADIUS)).paint("fill", Paint::Paper);
    outline.paint("stroke", paint).word("stroke-width", "1.6").empty();
}

/// A spot without a number: a hollow cross.
pub(super) fn missing(paint: Paint, [x, y]: [f64; 2], pen: &mut Pen) {
    const ARM: f64 = 3.5;
    let [left, right, top, bottom] = [x - ARM, x + ARM, y - ARM, y + ARM].map(super::pen::number);
    let cross = format!("M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}");
    pen.tag("path").word("d", &cross).paint("stroke", paint).word("stroke-width", "1.4").empty();
}
