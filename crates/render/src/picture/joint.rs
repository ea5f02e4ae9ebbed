//! How often times came: pairs of them as intensity with the histogram of each at its side, or one alone as a histogram.

use super::colour::{Paint, heat};
use super::frame::{Frame, Side};
use super::layout::rows;
use super::pen::{Pen, TextStyle, block, path};
use super::{WIDTH, width};
use charz_analysis::figure::{Axis, Bar, JointPlot, Quantity, Scale, Span, range};
use charz_data::{Arrange, Peak};

const SIDE: f64 = 400.0;
/// How far a histogram rises.
const RISE: f64 = 84.0;
/// The height of a histogram of single times, without a square of pairs.
const ALONE: f64 = 260.0;
const SMALL: f64 = 11.0;
const ROW: f64 = 15.0;
/// Bands beyond that are said in words only.
const BANDS: usize = 6;

pub(super) fn draw(joint: &JointPlot, top: f64, pen: &mut Pen) -> f64 {
    match &joint.y {
        Some(y) => pairs(joint, y, top, pen),
        None => single(joint, top, pen),
    }
}

/// Two times: a square with a histogram above and one to the right.
fn pairs(joint: &JointPlot, y_axis: &Axis, top: f64, pen: &mut Pen) -> f64 {
    let across = joint.pairs.iter().map(|pair| pair.x).chain(joint.first.iter().map(|bar| bar.x));
    let up = joint.pairs.iter().map(|pair| pair.y).chain(joint.second.iter().map(|bar| bar.x));
    let (across, up) = (ends(across), ends(up));
    // One and the same stretch on both axes, unless one time is of another kind: equal times lie on the diagonal then.
    let both = [across, up].into_iter().flatten().reduce(|[low, high], [least, most]| [low.min(least), high.max(most)]);
    let alike = |own: Option<[f64; 2]>| match (own, both) {
        (Some(own), Some(both)) if decades(both) > 2.0 * decades(own) + 1.0 => Some(own),
        _ => both,
    };
    let y = Side::vertical(y_axis, alike(up), SIDE);
    let left = y.width();
    let x = Side::horizontal(&joint.x, alike(across), SIDE);
    let lines = summary(joint, pen, [left, top]);
    let rise = RISE + bracket_rows(&joint.first_bands, &x.span, left) as f64 * ROW;
    let down = lines + rise + 4.0;
    let frame = Frame { across: [left, left + SIDE], down: [down, down + SIDE], x, y, gutter: 0.0 };
    frame.draw(true, pen);
    diagonal(&frame, pen);
    intensity(joint, &frame, pen);
    above(joint, &frame, RISE, pen);
    beside(joint, &frame, pen);
    scale(joint, &frame, pen);
    frame.end(joint.pairs.is_empty(), pen)
}

/// One time: its histogram with its bands and what share of times lies below.
fn single(joint: &JointPlot, top: f64, pen: &mut Pen) -> f64 {
    let left = 24.0;
    let span = ends(joint.first.iter().map(|bar| bar.x));
    let x = Side::horizontal(&joint.x, span, WIDTH - 2.0 * left);
    let lines = summary(joint, pen, [left, top]);
    let rows = bracket_rows(&joint.first_bands, &x.span, left);
    let down = lines + 34.0 + rows as f64 * ROW;
    let high = joint.first.iter().map(|bar| bar.count).max().unwrap_or(1) as f64;
    let y = Side::blank(Span { scale: Scale::Linear, low: 0.0, high: high.max(1.0) });
    let frame = Frame { across: [left, WIDTH - left], down: [down, down + ALONE], x, y, gutter: 0.0 };
    frame.draw(true, pen);
    percentiles(joint, &frame, pen);
    // The bars rise within the frame: it is their own ground.
    let ground = Frame { down: [frame.down[1], frame.down[1]], ..frame.clone() };
    bars(&joint.first, &ground, ALONE, false, pen);
    brackets(&joint.first_bands, &frame, frame.down[0] - 22.0, pen);
    frame.end(joint.first.is_empty(), pen)
}

/// The words above: how many, and which of two is the shorter one; the height below them.
fn summary(joint: &JointPlot, pen: &mut Pen, [left, top]: [f64; 2]) -> f64 {
    let style = TextStyle { paint: Paint::Soft, room: WIDTH - left, ..TextStyle::at(left, top + 13.0, 12.0) };
    pen.text(&joint.summary(), style);
    top + 22.0
}

fn ends(bins: impl Iterator<Item = [f64; 2]>) -> Option<[f64; 2]> {
    range(bins.flatten().filter(|end| *end > 0.0))
}

fn decades([low, high]: [f64; 2]) -> f64 {
    (high / low).log10()
}

/// The line of equal times.
fn diagonal(frame: &Frame, pen: &mut Pen) {
    let ends = |span: &Span| [0.0, 1.0].map(|end| span.number(end));
    let (x, y) = (ends(&frame.x.span), ends(&frame.y.span));
    let (low, high) = (x[0].max(y[0]), x[1].min(y[1]));
    let (Some(from), Some(to)) = (frame.place(low, low), frame.place(high, high)) else { return };
    if low >= high {
        return;
    }
    let line = pen.tag("path").word("d", &path([from, to], false)).paint("stroke", Paint::Soft);
    line.word("stroke-dasharray", "5 4").empty();
    let angle = -((from[1] - to[1]) / (to[0] - from[0])).atan().to_degrees();
    let [x, y] = [from[0] + (to[0] - from[0]) * 0.9 - 4.0, from[1] + (to[1] - from[1]) * 0.9 - 6.0];
    let style = TextStyle { paint: Paint::Soft, halo: true, turned: angle, ..TextStyle::around(x, y, SMALL) };
    pen.text("y = x", style);
}

/// How strongly a count shows beside the greatest: by ratios, since the rare is of interest too.
fn strength(count: u64, most: u64) -> f64 {
    ((count as f64 + 1.0).ln() / (most as f64 + 1.0).ln()).clamp(0.0, 1.0)
}

/// Bins with the most are dark.
fn shade(count: u64, most: u64) -> [u8; 3] {
    heat(1.0 - strength(count, most))
}

fn intensity(joint: &JointPlot, frame: &Frame, pen: &mut Pen) {
    let most = joint.pairs.iter().map(|pair| pair.count).max().unwrap_or(1);
    let mut sorted: Vec<_> = joint.pairs.iter().filter(|pair| pair.count > 0).collect();
    sorted.arrange_by_key(|pair| shade(pair.count, most));
    pen.tag("g").word("class", "pairs").word("shape-rendering", "crispEdges").children(|pen| {
        // Bins of one shade are one path.
        for alike in sorted.chunk_by(|one, other| shade(one.count, most) == shade(other.count, most)) {
            let outlines: String = alike.iter().filter_map(|pair| outline(pair.x, pair.y, frame)).collect();
            if !outlines.is_empty() {
                pen.tag("path").word("d", &outlines).paint("fill", Paint::Fixed(shade(alike[0].count, most))).empty();
            }
        }
    });
}

/// A bin as a rectangle, slightly enlarged so no paper shows between neighbours.
fn outline(x: [f64; 2], y: [f64; 2], frame: &Frame) -> Option<String> {
    let [left, bottom] = frame.place(x[0], y[0])?;
    let [right, top] = frame.place(x[1], y[1])?;
    let (left, right) = (left.max(frame.across[0]), right.min(frame.across[1]));
    let (top, bottom) = (top.max(frame.down[0]), bottom.min(frame.down[1]));
    (left < right + 0.5 && top < bottom + 0.5)
        .then(|| block([left, top, (right - left).max(0.8) + 0.2, (bottom - top).max(0.8) + 0.2]))
}

fn above(joint: &JointPlot, frame: &Frame, rise: f64, pen: &mut Pen) {
    let ground = Frame { down: [frame.down[0] - 2.0; 2], ..frame.clone() };
    bars(&joint.first, &ground, rise - 8.0, false, pen);
    brackets(&joint.first_bands, frame, frame.down[0] - rise - 2.0, pen);
}

fn beside(joint: &JointPlot, frame: &Frame, pen: &mut Pen) {
    let ground = Frame { across: [frame.across[1] + 2.0; 2], ..frame.clone() };
    bars(&joint.second, &ground, RISE - 8.0, true, pen);
    let x = frame.across[1] + RISE + 4.0;
    let mut last = f64::INFINITY;
    let mut shown: Vec<&Peak> = joint.second_bands.iter().take(BANDS).collect();
    shown.arrange_by(|one, other| one.low_ns.total_cmp(&other.low_ns));
    for band in shown {
        let (Some(low), Some(high)) = (frame.y(band.low_ns), frame.y(band.high_ns)) else { continue };
        let [low, high] = [low, high].map(|end| end.clamp(frame.down[0], frame.down[1]));
        let bracket = pen.tag("path").word("d", &path([[x - 4.0, low], [x, low], [x, high], [x - 4.0, high]], false));
        bracket.word("fill", "none").paint("stroke", Paint::Series(1)).empty();
        let line = ((low + high) / 2.0 + 4.0).min(last - ROW);
        last = line;
        let room = WIDTH - x - 8.0;
        pen.text(&band.in_words(), TextStyle { room, ..TextStyle::at(x + 6.0, line, SMALL) });
    }
}

/// Bars on a ground: upwards from below, or to the right.
fn bars(bars: &[Bar], ground: &Frame, rise: f64, to_the_right: bool, pen: &mut Pen) {
    // Per ratio of times, so bins of different widths have comparable areas.
    let height = |bar: &Bar| {
        let height = bar.count as f64 / (bar.x[1] / bar.x[0]).ln();
        (height.is_finite() && height > 0.0).then_some(height)
    };
    let most = bars.iter().filter_map(height).fold(0.0, f64::max);
    let one = |bar: &Bar| {
        let long = height(bar)? / most * rise;
        Some(block(if to_the_right {
            let (low, high) = (ground.y(bar.x[0])?, ground.y(bar.x[1])?);
            [ground.across[0], high.min(low), long, (low - high).abs()]
        } else {
            let (low, high) = (ground.x(bar.x[0])?, ground.x(bar.x[1])?);
            [low.min(high), ground.down[0] - long, (high - low).abs(), long]
        }))
    };
    let outlines: String = bars.iter().filter_map(one).collect();
    if !outlines.is_empty() {
        let class = if to_the_right { "bars s2" } else { "bars s1" };
        let shape = pen.tag("path").word("class", class).word("shape-rendering", "crispEdges").word("d", &outlines);
        shape.paint("fill", Paint::Series(usize::from(to_the_right))).word("fill-opacity", ".75").empty();
    }
}

/// The stretches of the words of bands, from left to right.
fn stretches(bands: &[Peak], x: &Span, left: f64, width: f64) -> Vec<[f64; 2]> {
    let place = |band: &&Peak| {
        let middle = x.fraction(band.mode_ns).unwrap_or(0.5).clamp(0.0, 1.0) * width + left;
        let wide = width::of(&band.in_words(), SMALL) + 8.0;
        let from = (middle - wide / 2.0).clamp(4.0, (WIDTH - wide).max(4.0));
        [from, from + wide]
    };
    bands.iter().take(BANDS).collect::<Vec<_>>().iter().map(place).collect()
}

fn bracket_rows(bands: &[Peak], x: &Span, left: f64) -> usize {
    let rows = rows(&stretches(bands, x, left, SIDE), BANDS);
    rows.iter().flatten().max().map_or(0, |row| row + 1)
}

/// Bands as brackets above, with their words.
fn brackets(bands: &[Peak], frame: &Frame, line: f64, pen: &mut Pen) {
    let places = stretches(bands, &frame.x.span, frame.across[0], frame.width());
    for ((band, [from, _]), row) in bands.iter().zip(&places).zip(rows(&places, BANDS)) {
        let (Some(low), Some(high), Some(row)) = (frame.x(band.low_ns), frame.x(band.high_ns), row) else { continue };
        let [low, high] = [low, high].map(|end| end.clamp(frame.across[0], frame.across[1]));
        let bracket = path([[low, line + 5.0], [low, line + 1.0], [high, line + 1.0], [high, line + 5.0]], false);
        let bracket = pen.tag("path").word("class", "band").word("d", &bracket).word("fill", "none");
        bracket.paint("stroke", Paint::Series(0)).empty();
        pen.text(&band.in_words(), TextStyle::at(*from, line - 3.0 - row as f64 * ROW, SMALL));
    }
}

/// The percentiles of the times, at the resolution of the bins.
fn percentiles(joint: &JointPlot, frame: &Frame, pen: &mut Pen) {
    let all: u64 = joint.first.iter().map(|bar| bar.count).sum();
    let mut end = 0.0;
    for (share, name) in [(0.5, "50%"), (0.9, "90%"), (0.99, "99%"), (0.999, "99.9%")] {
        let mut passed = 0;
        let reached = joint.first.iter().find(|bar| {
            passed += bar.count;
            passed as f64 >= share * all as f64 && all > 0
        });
        let Some((bar, x)) = reached.and_then(|bar| Some((bar, frame.x(bar.x[1])?))) else { continue };
        let line = pen.tag("path").word("d", &path([[x, frame.down[0]], [x, frame.down[1]]], false));
        let line = line.paint("stroke", Paint::Soft).word("stroke-dasharray", "3 3");
        line.titled(&format!("{name} of all times are at most {}", Quantity::Nanos.shown(bar.x[1])));
        // What would lie upon its neighbour is said when pointed at.
        if x - width::of(name, SMALL) / 2.0 > end {
            pen.text(name, TextStyle { paint: Paint::Soft, ..TextStyle::around(x, frame.down[0] - 4.0, SMALL) });
            end = x + width::of(name, SMALL) / 2.0 + 4.0;
        }
    }
}

fn scale(joint: &JointPlot, frame: &Frame, pen: &mut Pen) {
    let most = joint.pairs.iter().map(|pair| pair.count).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let (x, y) = (frame.across[1] + RISE + 10.0, frame.down[1] + 16.0);
    const PARTS: u32 = 24;
    const LONG: f64 = 120.0;
    for part in 0..PARTS {
        let share = (f64::from(part) + 0.5) / f64::from(PARTS);
        let wide = LONG / f64::from(PARTS);
        let tile = pen.tag("rect").rectangle(x + f64::from(part) * wide, y, wide + 0.3, 10.0);
        tile.paint("fill", Paint::Fixed(heat(1.0 - share))).empty();
    }
    pen.text("1", TextStyle { paint: Paint::Soft, ..TextStyle::at(x, y + 22.0, SMALL) });
    let all = format!("{} pairs", Quantity::Count.shown(most as f64));
    pen.text(&all, TextStyle { anchor: "end", paint: Paint::Soft, ..TextStyle::at(x + LONG, y + 22.0, SMALL) });
}
