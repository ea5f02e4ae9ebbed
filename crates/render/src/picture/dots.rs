//! A row for each name, with a spot for each series.

use super::colour::Paint;
use super::frame::{Frame, Side};
use super::legend::{self, Key, RADIUS, doubtful, missing};
use super::lines::keys;
use super::pen::{Pen, TextStyle, path};
use super::series::hit;
use super::{Place, shapes, width};
use charz_analysis::figure::{DataPoint, Plot, Quantity, Role, Scale, Series, Span, State};
use charz_data::{escape::plain, units};

const RIGHT: f64 = 24.0;
const SIZE: f64 = 12.0;
/// Names get at most that much of the width.
const NAMES: f64 = 300.0;
const SMALL: f64 = 11.0;
/// More numbers are not written at their dots.
const WRITTEN: usize = 60;
/// How far the series of a row are apart with their numbers, and without, then in a row of at most that height.
const LANES: [f64; 2] = [13.0, 10.0];
const HIGHEST: f64 = 70.0;
/// The room for a name above its row on a phone.
const HEAD: f64 = 16.0;
/// Rows beyond that are not drawn; the table has them.
const ROWS: usize = 400;

pub(super) fn draw(plot: &Plot, top: f64, pen: &mut Pen) -> f64 {
    let (is_phone, wide) = (pen.place() == Place::Phone, pen.place().width());
    let names: Vec<String> = match &plot.x.quantity {
        Quantity::Names(names) => names.iter().map(|name| plain(name)).collect(),
        _ => Vec::new(),
    };
    let count = names.len().min(ROWS);
    let measured: Vec<(usize, &Series)> = plot.measured().collect();
    // Series lie beside each other within a row, those that are in it.
    let in_row = |at: usize| {
        let is_there = |series: &Series| series.points.iter().any(|spot| nearest_row(spot) == Some(at));
        measured.iter().filter(|(_, series)| is_there(series)).map(|(at, _)| *at).collect::<Vec<usize>>()
    };
    let lanes: Vec<Vec<usize>> = (0..count).map(in_row).collect();
    let most = lanes.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let numbers = || measured.iter().flat_map(|(_, series)| series.numbers()).map(|(_, number)| number);
    let is_written = numbers().count() <= WRITTEN;
    let bars = match is_written {
        true => (8.0 + LANES[0] * most as f64).max(24.0),
        false => (8.0 + LANES[1] * most as f64).clamp(24.0, HIGHEST),
    };
    let head = if is_phone { HEAD } else { 0.0 };
    let row = head + bars;
    let widest = names.iter().map(|name| width::of(name, SIZE)).fold(0.0, f64::max).min(NAMES);
    let left = if is_phone { 10.0 } else { widest + 24.0 };
    let across = [left, wide - RIGHT];
    let mut keys = keys(plot);
    keys.retain(|(key, _)| measured.len() > 1 || !matches!(key, Key::Series(_)));
    let down = top + legend::draw(&keys, [left, top], across[1] - across[0], false, pen) + 6.0;
    // Bars begin at nothing, those of times too.
    let is_amount = matches!(plot.y.quantity, Quantity::Value(_) | Quantity::Nanos | Quantity::Plain);
    let is_measured = plot.y.scale == Scale::Linear && is_amount;
    let all = numbers().filter(|number| plot.y.scale.place(*number).is_some());
    // A marker beyond the axis would be beyond the picture.
    let range = plot.shown_range().map(|range| all.fold(range, |[low, high], one| [low.min(one), high.max(one)]));
    let range = range.map(|[low, high]| [if is_measured { low.min(0.0) } else { low }, high]);
    let x = Side::horizontal(&plot.y, range, across[1] - across[0]);
    // Rows count from above.
    let y = Side::blank(Span { scale: Scale::Linear, low: count.max(1) as f64 - 0.5, high: -0.5 });
    let frame = Frame { across, down: [down, down + row * count.max(1) as f64], x, y, gutter: 0.0 };
    frame.draw(true, pen);
    for (at, name) in names.iter().take(count).enumerate() {
        let Some(y) = frame.y(at as f64) else { continue };
        let style = match is_phone {
            true => {
                TextStyle { room: wide - 2.0 * RIGHT, halo: true, ..TextStyle::at(left, y - row / 2.0 + SIZE, SIZE) }
            }
            false => TextStyle { anchor: "end", room: NAMES, ..TextStyle::at(left - 10.0, y + 4.0, SIZE) },
        };
        pen.text(name, style);
    }
    // What the values are compared with.
    for limit in plot.series.iter().filter(|series| series.role != Role::Measured) {
        let Some(x) = limit.numbers().next().and_then(|(_, y)| frame.x(y)) else { continue };
        let [top, bottom] = frame.down;
        let line = pen.tag("path").word("d", &path([[x, top], [x, bottom]], false)).paint("stroke", Paint::Soft);
        line.word("stroke-dasharray", "5 4").titled(&limit.name);
    }
    let step = (bars - 8.0) / most as f64;
    let is_bar = frame.x.span.scale == Scale::Linear && frame.x.span.low == 0.0;
    for (at, series) in measured {
        let class = format!("series s{}", at % Paint::SERIES + 1);
        pen.tag("g").word("class", &class).word("data-series", &series.name).children(|pen| {
            for spot in &series.points {
                let Some(lanes) = nearest_row(spot).and_then(|row| lanes.get(row)) else { continue };
                let beside = lanes.iter().position(|lane| *lane == at).unwrap_or(0);
                let aside = head / 2.0 + (beside as f64 - (lanes.len() as f64 - 1.0) / 2.0) * step;
                if is_bar {
                    bar(at, spot, aside, &frame, pen);
                }
                dot(at, spot, aside, &frame, pen);
                if is_written {
                    value(plot, spot, aside, &frame, pen);
                }
            }
        });
    }
    frame.end(plot.is_empty(), pen)
}

fn nearest_row(spot: &DataPoint) -> Option<usize> {
    (spot.x >= -0.5 && spot.x.is_finite()).then(|| spot.x.max(0.0).round() as usize)
}

/// The number beside its dot and interval, or before them where the frame ends.
fn value(plot: &Plot, spot: &DataPoint, aside: f64, frame: &Frame, pen: &mut Pen) {
    let number = spot.y.filter(|_| spot.state != State::Missing).and_then(|y| Some((y, frame.x(y)?)));
    let Some(((number, x), y)) = number.zip(frame.y(spot.x)) else { return };
    let [low, high] = spot.spread.map_or([x; 2], |ends| ends.map(|end| frame.x(end).unwrap_or(x)));
    let text = plot.y.quantity.shown(number) + units::doubt(spot.state == State::Suspect);
    let right = high.max(x) + 8.0;
    let fits = right + 1.1 * width::of(&text, SMALL) < frame.across[1] + RIGHT;
    let (x, anchor) = if fits { (right, "start") } else { (low.min(x) - 8.0, "end") };
    let style = TextStyle::at(x, y + aside + SMALL * 0.35, SMALL);
    pen.text(&text, TextStyle { anchor, paint: Paint::Soft, halo: true, ..style });
}

/// From zero to the number, where the axis has both.
fn bar(at: usize, spot: &DataPoint, aside: f64, frame: &Frame, pen: &mut Pen) {
    let number = spot.y.filter(|_| spot.state != State::Missing).and_then(|y| frame.x(y));
    let Some((x, y)) = number.zip(frame.y(spot.x)) else { return };
    let bar = pen.tag("rect").rectangle(frame.across[0], y + aside - 3.0, x - frame.across[0], 6.0);
    bar.paint("fill", Paint::Series(at)).word("fill-opacity", ".25").empty();
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
