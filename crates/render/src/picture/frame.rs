//! A rectangle between two axes.

use super::colour::Paint;
use super::pen::{Pen, TextStyle};
use super::width;
use charz_analysis::figure::{Axis, Span, Tick};
use charz_data::escape::plain;

pub(super) const SIZE: f64 = 12.0;

/// The max width of a tick's text: a frame keeps its width with any ticks.
const WIDEST: f64 = 150.0;

#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) span: Span,
    ticks: Vec<Tick>,
    label: String,
}

impl Side {
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
        Side { span, ticks: Vec::new(), label: String::new() }
    }

    fn new(axis: &Axis, range: Option<[f64; 2]>, extent: impl Fn(&str) -> f64) -> Self {
        let span = axis.span(range);
        Side { span, ticks: axis.ticks(&span, extent), label: axis.label.clone() }
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
}

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
        self.down[1] + 46.0
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
        let marks = xs.iter().map(|(x, _)| [[*x, bottom], [*x, bottom + 4.0]]);
        let marks = marks.chain(ys.iter().map(|(y, _)| [[left - 4.0, *y], [left, *y]]));
        let axes: Vec<_> =
            [[[left, top], [left, bottom]], [[left, bottom], [right, bottom]]].into_iter().chain(marks).collect();
        pen.tag("g").word("class", "axes").children(|pen| {
            for (lines, paint) in [(grid, Paint::Grid), (axes, Paint::Soft)] {
                let data: String = lines.into_iter().map(|line| super::pen::path(line, false)).collect();
                pen.tag("path").word("d", &data).paint("stroke", paint).empty();
            }
            for (x, text) in xs {
                pen.text(&text, TextStyle { room: WIDEST, ..TextStyle::around(x, bottom + 17.0, SIZE) });
            }
            for (y, text) in ys {
                let style = TextStyle::at(left - 8.0, y + SIZE * 0.35, SIZE);
                pen.text(&text, TextStyle { anchor: "end", room: WIDEST, ..style });
            }
            let soft = |x, y, room| TextStyle { paint: Paint::Soft, room, ..TextStyle::around(x, y, SIZE) };
            pen.text(&self.x.label, soft((left + right) / 2.0, bottom + 37.0, right - left));
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
    pen.text("no number to show", style);
}
