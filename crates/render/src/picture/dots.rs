//! A row for each name, with a spot for each series.

use super::colour::Paint;
use super::frame::{Frame, Side};
use super::legend::{self, RADIUS, doubtful, missing};
use super::lines::keys;
use super::pen::{Pen, TextStyle, path};
use super::series::hit;
use super::{WIDTH, shapes, width};
use charz_analysis::figure::{DataPoint, Plot, Quantity, Role, Scale, Series, Span, State};
use charz_data::escape::plain;

const RIGHT: f64 = 24.0;
const SIZE: f64 = 12.0;
/// Names get at most that much of the width.
const NAMES: f64 = 250.0;
/// Rows beyond that are not drawn; the table has them.
const ROWS: usize = 400;

pub(super) fn draw(plot: &Plot, top: f64, pen: &mut Pen) -> f64 {
    let names: Vec<String> = match &plot.x.quantity {
        Quantity::Names(names) => names.iter().map(|name| plain(name)).collect(),
        _ => Vec::new(),
    };
    let count = names.len().min(ROWS);
    let measured: Vec<(usize, &Series)> = plot.measured().collect();
    let row = (8.0 + 10.0 * measured.len() as f64).clamp(24.0, 70.0);
    let widest = names.iter().map(|name| width::of(name, SIZE)).fold(0.0, f64::max).min(NAMES);
    let left = widest + 24.0;
    let across = [left, WIDTH - RIGHT];
    let keys = if measured.len() > 1 { keys(plot) } else { keys(plot).split_off(measured.len()) };
    let down = top + legend::draw(&keys, [left, top], across[1] - across[0], false, pen) + 6.0;
    let x = Side::horizontal(&plot.y, plot.shown_range(), across[1] - across[0]);
    // Rows count from above.
    let y = Side::blank(Span { scale: Scale::Linear, low: count.max(1) as f64 - 0.5, high: -0.5 });
    let frame = Frame { across, down: [down, down + row * count.max(1) as f64], x, y, gutter: 0.0 };
    frame.draw(true, pen);
    for (at, name) in names.iter().take(count).enumerate() {
        let Some(y) = frame.y(at as f64) else { continue };
        let at = TextStyle { anchor: "end", room: NAMES, ..TextStyle::at(left - 10.0, y + 4.0, SIZE) };
        pen.text(name, at);
    }
    // What the values are compared with.
    for limit in plot.series.iter().filter(|series| series.role != Role::Measured) {
        let Some(x) = limit.numbers().next().and_then(|(_, y)| frame.x(y)) else { continue };
        let [top, bottom] = frame.down;
        let line = pen.tag("path").word("d", &path([[x, top], [x, bottom]], false)).paint("stroke", Paint::Soft);
        line.word("stroke-dasharray", "5 4").titled(&limit.name);
    }
    // Series lie beside each other within a row.
    let step = (row - 8.0) / measured.len().max(1) as f64;
    let last = (measured.len().max(1) - 1) as f64;
    for (beside, (at, series)) in measured.iter().enumerate() {
        let aside = (beside as f64 - last / 2.0) * step;
        let class = format!("series s{}", at % Paint::SERIES + 1);
        pen.tag("g").word("class", &class).word("data-series", &series.name).children(|pen| {
            let inside = |spot: &&DataPoint| spot.x >= -0.5 && spot.x < count as f64 - 0.5;
            for spot in series.points.iter().filter(inside) {
                dot(*at, spot, aside, &frame, pen);
            }
        });
    }
    frame.end(plot.is_empty(), pen)
}

fn dot(at: usize, spot: &DataPoint, aside: f64, frame: &Frame, pen: &mut Pen) {
    let Some(y) = frame.y(spot.x).map(|y| y + aside) else { return };
    let paint = Paint::Series(at);
    let number = spot.y.filter(|_| spot.state != State::Missing).and_then(|y| frame.x(y));
    let Some(x) = number else {
        // Beside the frame: at its beginning it would be a small number.
        let place = [frame.across[1] + 12.0, y];
        missing(paint, place, pen);
        hit(spot, "spot missing", place, pen);
        return;
    };
    let ends = spot.spread.map(|spread| spread.map(|end| frame.x(end).unwrap_or(x)));
    if let Some([low, high]) = ends {
        let [low, high] = [low, high].map(|end| end.clamp(frame.across[0], frame.across[1]));
        let whisker = pen.tag("path").word("d", &path([[low, y], [high, y]], false)).paint("stroke", paint);
        whisker.word("stroke-opacity", ".45").word("stroke-width", "4").empty();
    }
    match spot.state {
        State::Suspect => {
            doubtful(at, paint, [x, y], pen);
            hit(spot, "spot doubtful", [x, y], pen);
        }
        _ => {
            pen.tag("path").word("d", &shapes::shape(at, [x, y], RADIUS + 0.4)).paint("fill", paint).empty();
            hit(spot, "spot sound", [x, y], pen);
        }
    }
}
