//! Writes SVG. The one place where text becomes markup: what is foreign is made visible first, then escaped.

use std::fmt::Write;

use maud::Render;

use super::colour::Paint;
use super::{Place, width};
use charz_data::escape::plain;

pub(super) struct Pen {
    text: String,
    place: Place,
}

impl Pen {
    /// An empty picture. Colours are variables with a fallback if it is within a page, else plain.
    pub(super) fn new(place: Place) -> Self {
        Pen { text: String::new(), place }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Whether it is within a page, which has its own heading and scripts.
    pub(super) fn is_inline(&self) -> bool {
        self.place != Place::File
    }

    /// Begins an element; nothing is complete before one of the last methods of [`Tag`].
    pub(super) fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.text.push('<');
        self.text.push_str(name);
        Tag { pen: self, name }
    }

    /// A text at its place, shortened to its room.
    pub(super) fn text(&mut self, text: &str, at: TextStyle) {
        let full = plain(text);
        let short = width::shortened(&full, at.size, at.room);
        let tag = self.tag("text").number("x", at.x).number("y", at.y).number("font-size", at.size);
        let tag = tag.paint("fill", at.paint);
        let tag = tag.optional("text-anchor", Some(at.anchor).filter(|anchor| *anchor != "start"));
        let tag = if at.halo { tag.halo() } else { tag };
        let turn = || format!("rotate({} {} {})", number(at.turned), number(at.x), number(at.y));
        tag.optional("transform", (at.turned != 0.0).then(turn).as_deref()).children(|pen| {
            if short != full {
                pen.tag("title").text(&full);
            }
            short.render_to(&mut pen.text);
        });
    }

    pub(super) fn paste(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    pub(super) fn colour(&self, paint: Paint) -> String {
        paint.written(self.is_inline())
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[derive(Clone, Copy)]
pub(super) struct TextStyle {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    /// `start`, `middle` or `end`.
    pub(super) anchor: &'static str,
    pub(super) paint: Paint,
    /// The longest that it may be.
    pub(super) room: f64,
    /// Whether lines behind it are covered around its letters.
    pub(super) halo: bool,
    /// Degrees by which it is turned, clockwise.
    pub(super) turned: f64,
}

impl TextStyle {
    /// As [`TextStyle::at`], but around that place.
    pub(super) fn around(x: f64, y: f64, size: f64) -> Self {
        TextStyle { anchor: "middle", ..TextStyle::at(x, y, size) }
    }

    /// Level, in ink, from the left, as long as it likes.
    pub(super) fn at(x: f64, y: f64, size: f64) -> Self {
        TextStyle { x, y, size, anchor: "start", paint: Paint::Ink, room: f64::INFINITY, halo: false, turned: 0.0 }
    }
}

#[must_use = "an element is complete only by one of the last methods"]
pub(super) struct Tag<'p> {
    pen: &'p mut Pen,
    name: &'static str,
}

impl Tag<'_> {
    pub(super) fn number(self, key: &str, value: f64) -> Self {
        // Writing to a String does not fail; so everywhere here.
        let _ = write!(self.pen.text, " {key}=\"{}\"", number(value));
        self
    }

    pub(super) fn word(self, key: &str, value: &str) -> Self {
        let _ = write!(self.pen.text, " {key}=\"");
        plain(value).render_to(&mut self.pen.text);
        self.pen.text.push('"');
        self
    }

    pub(super) fn optional(self, key: &str, value: Option<&str>) -> Self {
        if let Some(value) = value { self.word(key, value) } else { self }
    }

    pub(super) fn paint(self, key: &str, paint: Paint) -> Self {
        let _ = write!(self.pen.text, " {key}=\"{}\"", self.pen.colour(paint));
        self
    }

    pub(super) fn rectangle(self, x: f64, y: f64, width: f64, height: f64) -> Self {
        self.number("x", x).number("y", y).number("width", width.max(0.0)).number("height", height.max(0.0))
    }

    /// Covers lines behind letters.
    fn halo(self) -> Self {
        // A page says so once for all.
        if self.pen.is_inline() {
            return self.word("class", "halo");
        }
        let tag = self.paint("stroke", Paint::Paper).word("stroke-width", "3");
        tag.word("paint-order", "stroke").word("stroke-linejoin", "round")
    }

    pub(super) fn empty(self) {
        self.pen.text.push_str("/>");
    }

    pub(super) fn text(self, text: &str) {
        self.children(|pen| plain(text).render_to(&mut pen.text));
    }

    /// Shows a title when pointed at, if there is one; has no other child.
    pub(super) fn titled(self, title: &str) {
        if title.is_empty() { self.empty() } else { self.children(|pen| pen.tag("title").text(title)) }
    }

    pub(super) fn children(self, inside: impl FnOnce(&mut Pen)) {
        self.pen.text.push('>');
        inside(self.pen);
        let _ = write!(self.pen.text, "</{}>", self.name);
    }
}

/// A number to a tenth, as short as it can be written; what is no number, or beyond every picture, is brought back to it.
pub(super) fn number(value: f64) -> String {
    /// Far outside of every picture, and exact.
    const FAR: f64 = 1e5;
    let value = if value.is_nan() { 0.0 } else { value.clamp(-FAR, FAR) };
    let tenths = (value * 10.0).round() / 10.0;
    // No minus before nothing.
    format!("{}", if tenths == 0.0 { 0.0 } else { tenths })
}

/// Corners as the data of a path: a line through all of them, closed if it should be.
pub(super) fn path(corners: impl IntoIterator<Item = [f64; 2]>, is_closed: bool) -> String {
    let mut data = String::new();
    for (at, [x, y]) in corners.into_iter().enumerate() {
        let _ = write!(data, "{}{} {}", if at == 0 { 'M' } else { 'L' }, number(x), number(y));
    }
    if is_closed && !data.is_empty() {
        data.push('Z');
    }
    data
}

/// A rectangle, by its corner, width and height, as the data of a path.
pub(super) fn block(rectangle: [f64; 4]) -> String {
    let [x, y, wide, high] = rectangle.map(number);
    format!("M{x} {y}h{wide}v{high}h-{wide}z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        for (value, expected) in
            [(1.0, "1"), (1.25, "1.3"), (-0.01, "0"), (f64::NAN, "0"), (f64::INFINITY, "100000"), (-1e300, "-100000")]
        {
            assert_eq!(number(value), expected);
        }
        assert_eq!(path([[0.0, 1.0], [2.0, 3.5]], true), "M0 1L2 3.5Z");
        assert_eq!(path([], true), "");
    }

    #[test]
    fn foreign_text_does_not_become_markup() {
        let mut pen = Pen::new(Place::Page);
        pen.tag("g").word("data-series", "\"><script>\u{202e}").text("</g>\u{1b}&");
        assert_eq!(pen.finish(), "<g data-series=\"&quot;&gt;&lt;script&gt;\\u{202e}\">&lt;/g&gt;\\u{1b}&amp;</g>");
    }
}
