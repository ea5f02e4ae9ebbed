//! A rectangle between two axes.

use super::colour::Paint;
use super::pen::{Pen, TextStyle};
use super::width;
use charz_analysis::figure::{Axis, Quantity, Span, Tick, take_unit};
use charz_data::Arrange;
use charz_data::escape::plain;

pub(super) const SIZE: f64 = 12.0;

/// The max width of a tick's text: a frame keeps its width with any ticks.
const WIDEST: f64 = 150.0;

#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) span: Span,
    ticks: Vec<Tick>,
    /// Places that were measured, whether or not there is room for their texts.
    measured: Vec<f64>,
    label: String,
}

impl Side {
    /// The same, with a tick at each place that was measured if they are counts, and as many of their texts as have room.
    pub(super) fn counted(axis: &Axis, range: Option<[f64; 2]>, length: f64, mut measured: Vec<f64>) -> Self {
        /// More are a comb.
        const MOST: usize = 64;
        let mut side = Side::horizontal(axis, range, length);
        measured.retain(|number| number.is_finite() && side.span.inside(*number).is_some());
        measured.arrange_by(f64::total_cmp);
        measured.dedup();
        if axis.quantity != Quantity::Count || measured.is_empty() || measured.len() > MOST {
            return side;
        }
        let mut ticks: Vec<Tick> = Vec::new();
        // The last is what a reader looks for; the others are written from the left.
        let order = measured.last().into_iter().chain(&measured);
        for &number in order {
            let text = axis.quantity.shown(number);
            let place = |number: f64| side.span.fraction(number).unwrap_or(0.0) * length;
            let is_free = |tick: &Tick| {
                (place(tick.number) - place(number)).abs() >= (width_of(&tick.text) + width_of(&text)) / 2.0 + 6.0
            };
            if ticks.iter().all(is_free) {
                ticks.push(Tick { number, text });
            }
        }
        (side.ticks, side.measured) = (ticks, measured);
        side
    }

    /// From left to right over a length.
    pub(super) fn horizontal(axis: &Axis, range: Option<[f64; 2]>, length: f64) -> Self {
        Side::new(axis, range, |text| (width_of(text) + 12.0) / length)
    }

    /// Upwards over a length.
    pub(super) fn vertical(axis: &Axis, range: Option<[f64; 2]>, length: f64) -> Self {
        Side::new(axis, range, |_| 3.0 * SIZE / length)
    }

    /// Without ticks and label.
    pub(super) fn blank(span: Span) -> Self {
        Side { span, ticks: Vec::new(), measured: Vec::new(), label: String::new() }
    }

    fn new(axis: &Axis, range: Option<[f64; 2]>, extent: impl Fn(&str) -> f64) -> Self {
        let span = axis.span(range);
        let mut ticks = axis.ticks(&span, extent);
        let unit = take_unit(&mut ticks);
        let words = [Some(axis.label.clone()).filter(|label| !label.is_empty()), unit].into_iter().flatten();
        let mut label = words.collect::<Vec<_>>().join(", ");
        label.extend(axis.scale.name().filter(|_| !label.is_empty()).map(|name| format!(" ({name})")));
        Side { span, ticks, measured: Vec::new(), label }
    }

    /// The width of ticks and label left of a frame.
    pub(super) fn width(&self) -> f64 {
        self.ticks.iter().map(|tick| width_of(&tick.text)).fold(0.0, f64::max) + 40.0
    }
}

fn width_of(text: &str) -> f64 {
    width::of(&plain(text), SIZE).min(WIDEST)
}

/// A rectangle with an axis to the right and one upwards.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) across: [f64; 2],
    pub(super) down: [f64; 2],
    pub(super) x: Side,
    pub(super) y: Side,
    /// Room below the frame, above its ticks, for what has no result.
    pub(super) gutter: f64,
}

/// The least room right of a frame.
pub(super) const MARGIN: f64 = 20.0;
/// The room for what has no result.
pub(super) const GUTTER: f64 = 20.0;

impl Frame {
    pub(super) fn x(&self, number: f64) -> Option<f64> {
        let [left, right] = self.across;
        Some(left + self.x.span.fraction(number)? * (right - left))
    }

    pub(super) fn y(&self, number: f64) -> Option<f64> {
        let [top, bottom] = self.down;
        Some(bottom - self.y.span.fraction(number)? * (bottom - top))
    }

    pub(super) fn place(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        Some([self.x(x)?, self.y(y)?])
    }

    pub(super) fn width(&self) -> f64 {
        self.across[1] - self.across[0]
    }

    /// Says so where there is nothing to show; the height at which ticks and label end.
    pub(super) fn end(&self, is_empty: bool, pen: &mut Pen) -> f64 {
        if is_empty {
            nothing(self.across, self.down, pen);
        }
        self.down[1] + self.gutter + 46.0
    }

    /// Draws grid, axes and what is written along them.
    pub(super) fn draw(&self, has_upright_lines: bool, pen: &mut Pen) {
        let ([left, right], [top, bottom]) = (self.across, self.down);
        let placed = |side: &Side, at: &dyn Fn(f64) -> Option<f64>| -> Vec<(f64, String)> {
            side.ticks.iter().filter_map(|tick| Some((at(tick.number)?, tick.text.clone()))).collect()
        };
        let (xs, ys) = (placed(&self.x, &|number| self.x(number)), placed(&self.y, &|number| self.y(number)));
        let level = ys.iter().map(|(y, _)| [[left, *y], [right, *y]]);
        let upright = xs.iter().filter(|_| has_upright_lines).map(|(x, _)| [[*x, top], [*x, bottom]]);
        let grid: Vec<[[f64; 2]; 2]> = level.chain(upright).collect();
        let below = bottom + self.gutter;
        let measured = self.x.measured.iter().filter_map(|number| self.x(*number));
        let marks = xs.iter().map(|(x, _)| *x).chain(measured).map(|x| [[x, below], [x, below + 4.0]]);
        let marks = marks.chain(ys.iter().map(|(y, _)| [[left - 4.0, *y], [left, *y]]));
        let axes: Vec<_> =
            [[[left, top], [left, bottom]], [[left, bottom], [right, bottom]]].into_iter().chain(marks).collect();
        if self.gutter > 0.0 {
            let ground = pen.tag("rect").rectangle(left, bottom + 1.0, right - left, self.gutter - 1.0);
            ground.paint("fill", Paint::Soft).word("fill-opacity", ".08").empty();
            let style =
                TextStyle { anchor: "end", paint: Paint::Soft, ..TextStyle::at(left - 8.0, bottom + 16.0, 11.0) };
            pen.text("no result", style);
        }
        pen.tag("g").word("class", "axes").children(|pen| {
            for (lines, paint) in [(grid, Paint::Grid), (axes, Paint::Soft)] {
                let data: String = lines.into_iter().map(|line| super::pen::path(line, false)).collect();
                pen.tag("path").word("d", &data).paint("stroke", paint).empty();
            }
            for (x, text) in xs {
                // The last one stays within the picture.
                let x = x.min(right + MARGIN - width_of(&text) / 2.0);
                pen.text(&text, TextStyle { room: WIDEST, ..TextStyle::around(x, below + 17.0, SIZE) });
            }
            for (y, text) in ys {
                let style = TextStyle::at(left - 8.0, y + SIZE * 0.35, SIZE);
                pen.text(&text, TextStyle { anchor: "end", room: WIDEST, ..style });
            }
            let soft = |x, y, room| TextStyle { paint: Paint::Soft, room, ..TextStyle::around(x, y, SIZE) };
            pen.text(&self.x.label, soft((left + right) / 2.0, below + 37.0, right - left));
            if !self.y.label.is_empty() {
                let style = soft(left - self.y.width() + 18.0, (top + bottom) / 2.0, bottom - top);
                pen.text(&self.y.label, TextStyle { turned: -90.0, ..style });
            }
        });
    }
}

pub(super) fn nothing(across: [f64; 2], down: [f64; 2], pen: &mut Pen) {
    let middle = |ends: [f64; 2]| (ends[0] + ends[1]) / 2.0;
    let style = TextStyle { paint: Paint::Soft, ..TextStyle::around(middle(across), middle(down), 14.0) };
    pen.text("no result to show", style);
}
