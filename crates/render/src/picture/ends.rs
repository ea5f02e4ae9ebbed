//! What the lines of a plot are called, each written at its end.

use super::colour::Paint;
use super::frame::Frame;
use super::legend::RADIUS;
use super::pen::{Pen, TextStyle};
use super::{shapes, width};
use charz_analysis::figure::Plot;
use charz_data::Arrange;
use charz_data::escape::plain;

const SIZE: f64 = 11.0;
/// How far lines of text are apart.
const LINE: f64 = 14.0;
/// With more lines than that there is a legend.
const MOST: usize = 6;
const WIDEST: f64 = 130.0;
const GAP: f64 = 10.0;
/// The sign of its line before a name: letters in the colours of lines are too light to read.
const SIGN: f64 = 10.0;

/// The series that are named at their ends, by their places from 0; none where a legend names them.
pub(super) fn names(plot: &Plot) -> Vec<(usize, String)> {
    let named = plot.measured().map(|(at, series)| (at, plain(&series.name)));
    let named: Vec<(usize, String)> = named.filter(|(_, name)| !name.is_empty()).collect();
    if named.len() > MOST { Vec::new() } else { named }
}

/// The room for them right of the frame.
pub(super) fn width(names: &[(usize, String)]) -> f64 {
    names.iter().map(|(_, name)| (width::of(name, SIZE) * 1.1).min(WIDEST) + GAP + SIGN + 8.0).fold(0.0, f64::max)
}

/// Writes each beside the last point of its line, as near to it as the others leave room.
pub(super) fn draw(names: &[(usize, String)], plot: &Plot, frame: &Frame, pen: &mut Pen) {
    let [top, bottom] = frame.down;
    let end = |at: usize| {
        let last = plot.series[at].numbers().filter_map(|(point, y)| frame.place(point.x, y)).last();
        last.map_or(bottom, |[_, y]| y.clamp(top, bottom))
    };
    let mut placed: Vec<(f64, usize, &str)> = names.iter().map(|(at, name)| (end(*at), *at, name.as_str())).collect();
    placed.arrange_by(|one, other| one.0.total_cmp(&other.0));
    // From above, then from below: so none leaves the frame.
    for at in 1..placed.len() {
        placed[at].0 = placed[at].0.max(placed[at - 1].0 + LINE);
    }
    let mut most = bottom;
    for one in placed.iter_mut().rev() {
        one.0 = one.0.min(most);
        most = one.0 - LINE;
    }
    for (y, at, name) in placed {
        let x = frame.across[1] + GAP;
        let sign = shapes::shape(at, [x + RADIUS, y], RADIUS);
        pen.tag("path").word("d", &sign).paint("fill", Paint::Series(at)).empty();
        pen.text(name, TextStyle { room: WIDEST, ..TextStyle::at(x + SIGN, y + SIZE * 0.35, SIZE) });
    }
}
