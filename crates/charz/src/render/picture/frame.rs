//! Axes, grid and what is written along them: drawn by plotters, in the colours and the typeface of the picture.

use std::ops::Range;

use plotters::chart::ChartBuilder;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::drawing::IntoDrawingArea;
use plotters::prelude::{RGBAColor, RGBColor, SVGBackend};
use plotters::style::{IntoFont, ShapeStyle};

use super::colour::Paint;
use super::pen::Pen;
use super::ticks::{SIZE, Span};
use crate::render::text::plain;

/// A rectangle with an axis to the right and one upwards.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Where it begins and ends, from left to right.
    pub(super) across: [f64; 2],
    /// Where it begins and ends, from above.
    pub(super) down: [f64; 2],
    /// From left to right.
    pub(super) x: Span,
    /// From below upwards.
    pub(super) y: Span,
}

/// What stands beside the axes.
pub(super) struct Labels<'a> {
    /// Below the horizontal axis.
    pub(super) x: &'a str,
    /// Left of the vertical axis.
    pub(super) y: &'a str,
    /// Room left of the frame.
    pub(super) left: f64,
    /// Room below the frame.
    pub(super) below: f64,
    /// Whether there are lines for each tick of the horizontal axis.
    pub(super) has_upright_lines: bool,
}

/// Room below a frame for numbers and what they are.
pub(super) const BELOW: f64 = 46.0;

/// By what plotters divides the size of a typeface that it is given.
const SHRINKS: f64 = 1.24;

/// plotters counts whole dots: ten of them are one unit of the picture.
const DOTS: f64 = 10.0;

impl Frame {
    /// Where a number of the horizontal axis lies.
    pub(super) fn x(&self, number: f64) -> Option<f64> {
        let [left, right] = self.across;
        Some(left + self.x.fraction(number)? * (right - left))
    }

    /// Where a number of the vertical axis lies.
    pub(super) fn y(&self, number: f64) -> Option<f64> {
        let [top, bottom] = self.down;
        Some(bottom - self.y.fraction(number)? * (bottom - top))
    }

    /// Where a pair of numbers lies.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        Some([self.x(x)?, self.y(y)?])
    }

    /// How wide it is.
    pub(super) fn width(&self) -> f64 {
        self.across[1] - self.across[0]
    }

    /// Draws grid, axes and what stands along them.
    pub(super) fn draw(&self, labels: &Labels<'_>, pen: &mut Pen) {
        let mut drawn = String::new();
        // Writing to a String does not fail; a frame without axes would be worse than none.
        if self.mesh(labels, &mut drawn).is_ok() {
            let inner =
                drawn.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</svg>")).map_or("", |(all, _)| all);
            let group =
                pen.tag("g").word("class", "axes").word("transform", "scale(.1)").number("font-size", SIZE * DOTS);
            group.holds(|pen| {
                let dressed = dress(inner, pen);
                pen.paste(&dressed);
            });
        }
    }

    fn mesh(&self, labels: &Labels<'_>, out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let dots = |units: f64| (units * DOTS).round().max(0.0) as u32;
        let whole = (dots(self.across[1]), dots(self.down[1] + labels.below));
        let root = SVGBackend::with_string(out, whole).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin_left(dots(self.across[0] - labels.left))
            .margin_top(dots(self.down[0]))
            .x_label_area_size(dots(labels.below))
            .y_label_area_size(dots(labels.left))
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        let font = ("sans-serif", SIZE * DOTS * SHRINKS).into_font();
        let line = |colour: &RGBColor| ShapeStyle { color: (*colour).into(), filled: false, stroke_width: DOTS as u32 };
        let (x, y) = (|at: &f64| self.x.label(*at), |at: &f64| self.y.label(*at));
        let mut mesh = chart.configure_mesh();
        mesh.max_light_lines(0)
            // The same lines again: what is transparent is not written.
            .light_line_style(RGBAColor(0, 0, 0, 0.0))
            .bold_line_style(line(&GRID))
            .axis_style(line(&AXIS))
            .label_style(font.clone().color(&INK))
            .axis_desc_style(font.color(&SOFT))
            .x_label_formatter(&x)
            .y_label_formatter(&y)
            .x_desc(plain(labels.x))
            .y_desc(plain(labels.y))
            .set_all_tick_mark_size(40);
        if !labels.has_upright_lines {
            mesh.disable_x_mesh();
        }
        mesh.draw()?;
        drop(mesh);
        drop(chart);
        root.present()?;
        Ok(())
    }
}

/// Stand-ins, by which what plotters drew is found again.
const INK: RGBColor = RGBColor(1, 0, 1);
const SOFT: RGBColor = RGBColor(2, 0, 2);
const GRID: RGBColor = RGBColor(3, 0, 3);
const AXIS: RGBColor = RGBColor(4, 0, 4);

/// What plotters wrote, with our colours and without what says nothing. Text holds no quotation mark that is not escaped, so that
/// only attributes are found.
fn dress(drawn: &str, pen: &Pen) -> String {
    let mut text = drawn.replace(" opacity=\"1\"", "").replace(" font-family=\"sans-serif\"", "");
    // It stands at the group, once.
    text = text.replace(&format!(" font-size=\"{}\"", SIZE * DOTS * SHRINKS / SHRINKS), "");
    for (RGBColor(red, green, blue), paint) in
        [(INK, Paint::Ink), (SOFT, Paint::Soft), (GRID, Paint::Grid), (AXIS, Paint::Soft)]
    {
        text = text.replace(&format!("\"#{red:02X}{green:02X}{blue:02X}\""), &format!("\"{}\"", pen.colour(paint)));
    }
    text.replace(">\n", ">").replace("\n</text>", "</text>")
}

impl Span {
    /// What is written at a number.
    fn label(&self, at: f64) -> String {
        self.ticks.iter().find(|tick| tick.at == at).map_or(String::new(), |tick| plain(&tick.label))
    }
}

impl Ranged for Span {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let part = self.fraction(*value).unwrap_or(0.0).clamp(-10.0, 10.0);
        (f64::from(limit.0) + part * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|tick| tick.at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Span {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}
