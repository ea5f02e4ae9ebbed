//! A row for each name, with a spot for each series.

use super::colour::Paint;
use super::frame::{BELOW, Frame, Labels};
use super::legend::{Legend, RADIUS, doubtful, missing};
use super::lines::{keys, nothing};
use super::pen::{Pen, Words, path};
use super::series::hit;
use super::ticks::{Side, Span, Tick};
use super::{WIDTH, marks, words};
use crate::figure::{Plot, Quantity, Role, Scale, Series, Spot, State};
use crate::render::text::plain;

const RIGHT: f64 = 24.0;
const SIZE: f64 = 12.0;
/// Names get at most that much of the width.
const NAMES: f64 = 250.0;
/// Rows beyond that are not drawn; the table has them.
const ROWS: usize = 400;

/// Draws it below a height; the height at which it ends.
pub(super) fn draw(plot: &Plot, top: f64, pen: &mut Pen) -> f64 {
    let names: Vec<String> = match &plot.x.quantity {
        Quantity::Names(names) => names.iter().map(|name| plain(name)).collect(),
        _ => Vec::new(),
    };
    let count = names.len().min(ROWS);
    let measured: Vec<(usize, &Series)> =
        plot.series.iter().enumerate().filter(|(_, series)| series.role == Role::Measured).collect();
    let row = (8.0 + 10.0 * measured.len() as f64).clamp(24.0, 70.0);
    let widest = names.iter().map(|name| words::width(name, SIZE)).fold(0.0, f64::max).min(NAMES);
    let left = widest + 24.0;
    let across = [left, WIDTH - RIGHT];
    let keys = if measured.len() > 1 { keys(plot) } else { keys(plot).split_off(measured.len()) };
    let legend = Legend::new(keys, [left, top], across[1] - across[0]);
    let down = top + legend.height + 6.0;
    let x = Span::new(&plot.y, range(plot), across[1] - across[0], Side::Below);
    // Rows count from above, and their names are written here, so that long ones are shortened.
    let (low, high) = (count.max(1) as f64 - 0.5, -0.5);
    let ticks = (0..count).map(|at| Tick { at: at as f64, label: String::new() }).collect();
    let y = Span { scale: Scale::Linear, low, high, ticks };
    let frame = Frame { across, down: [down, down + row * count.max(1) as f64], x, y };
    legend.draw(false, pen);
    frame.draw(&Labels { x: &plot.y.label, y: "", left, below: BELOW, has_upright_lines: true }, pen);
    for (at, name) in names.iter().take(count).enumerate() {
        let Some(y) = frame.y(at as f64) else { continue };
        let at = Words { anchor: "end", room: NAMES, ..Words::at(left - 10.0, y + 4.0, SIZE) };
        pen.words(name, at);
    }
    // Series lie beside each other within a row.
    let step = (row - 8.0) / measured.len().max(1) as f64;
    let last = (measured.len().max(1) - 1) as f64;
    for (beside, (at, series)) in measured.iter().enumerate() {
        let aside = (beside as f64 - last / 2.0) * step;
        let class = format!("series s{}", at % Paint::SERIES + 1);
        pen.tag("g").word("class", &class).word("data-series", &series.name).holds(|pen| {
            let inside = |spot: &&Spot| spot.x >= -0.5 && spot.x < count as f64 - 0.5;
            for spot in series.spots.iter().filter(inside) {
                dot(*at, spot, aside, &frame, pen);
            }
        });
    }
    if plot.is_empty() {
        nothing(frame.across, frame.down, pen);
    }
    frame.down[1] + BELOW
}

fn range(plot: &Plot) -> Option<[f64; 2]> {
    let numbers = plot.series.iter().flat_map(Series::numbers);
    let all = numbers.flat_map(|(spot, y)| [y].into_iter().chain(spot.spread.into_iter().flatten()));
    let shown = all.filter(|number| plot.y.scale.place(*number).is_some());
    shown.fold(None, |range: Option<[f64; 2]>, number| {
        let [low, high] = range.unwrap_or([number, number]);
        Some([low.min(number), high.max(number)])
    })
}

fn dot(at: usize, spot: &Spot, aside: f64, frame: &Frame, pen: &mut Pen) {
    let Some(y) = frame.y(spot.x).map(|y| y + aside) else { return };
    let paint = Paint::Series(at);
    let number = spot.y.filter(|_| spot.state != State::Missing).and_then(|y| frame.x(y));
    let Some(x) = number else {
        let place = [frame.across[0] + 8.0, y];
        missing(paint, place, pen);
        hit(spot, "spot missing", place, pen);
        return;
    };
    let ends = spot.spread.map(|spread| spread.map(|end| frame.x(end).unwrap_or(x)));
    if let Some([low, high]) = ends {
        let [low, high] = [low, high].map(|end| end.clamp(frame.across[0], frame.across[1]));
        let whisker = pen.tag("path").word("d", &path([[low, y], [high, y]], false)).paint("stroke", paint);
        whisker.word("stroke-opacity", ".45").word("stroke-width", "4").done();
    }
    match spot.state {
        State::Doubtful => {
            doubtful(at, paint, [x, y], pen);
            hit(spot, "spot doubtful", [x, y], pen);
        }
        _ => {
            pen.tag("path").word("d", &marks::shape(at, [x, y], RADIUS + 0.4)).paint("fill", paint).done();
            hit(spot, "spot sound", [x, y], pen);
        }
    }
}
