//! Lines over a quantity, with bands, gaps, limits and what is said of places.

use super::colour::Paint;
use super::frame::{BELOW, Frame, Labels};
use super::legend::{Key, Legend};
use super::pen::{Pen, Words};
use super::room::{Room, rows};
use super::series;
use super::ticks::{SIZE, Side, Span};
use super::{WIDTH, words};
use crate::figure::{Plot, Role, Rule, Series, State};
use crate::render::text::plain;

const HEIGHT: f64 = 330.0;
const RIGHT: f64 = 20.0;
/// Lines of words above the frame for the places on its axis; further ones are said when pointed at.
const RULE_ROWS: usize = 6;
const RULE_ROW: f64 = 14.0;
const RULE_SIZE: f64 = 11.0;

/// Draws it below a height; the height at which it ends.
pub(super) fn draw(plot: &Plot, id: &str, top: f64, pen: &mut Pen) -> f64 {
    let y = Span::new(&plot.y, shown_range(plot), HEIGHT, Side::Left);
    let widest = y.ticks.iter().map(|tick| words::width(&tick.label, SIZE)).fold(0.0, f64::max);
    let left = widest + 40.0;
    let across = [left, WIDTH - RIGHT];
    let legend = Legend::new(keys(plot), [left, top], across[1] - across[0]);
    let x = Span::new(&plot.x, plot.x_range(), across[1] - across[0], Side::Below);
    let down = top + legend.height + 6.0;
    let mut frame = Frame { across, down: [down, down + HEIGHT], x, y };
    let rules = ruled(&plot.rules, &frame);
    let rule_rows = rules.iter().filter_map(|(_, row)| *row).max().map_or(0, |row| row + 1);
    frame.down = frame.down.map(|end| end + rule_rows as f64 * RULE_ROW);

    legend.draw(true, pen);
    let labels =
        Labels { x: &plot.x.label, y: &plot.y.label, left: left - 6.0, below: BELOW, has_upright_lines: false };
    frame.draw(&labels, pen);
    for (rule, row) in rules {
        draw_rule(rule, row, plot, &frame, pen);
    }
    let mut room = Room::new(frame.across, frame.down);
    for series in &plot.series {
        series::take(series, &frame, &mut room);
    }
    pen.tag("clipPath").word("id", &format!("{id}-clip")).holds(|pen| {
        let [left, right] = frame.across;
        let [top, bottom] = frame.down;
        pen.tag("rect").rectangle(left - 8.0, top - 2.0, right - left + 16.0, bottom - top + 4.0).done();
    });
    for (at, series) in plot.series.iter().enumerate() {
        match series.role {
            Role::Measured => series::measured(at, series, &frame, pen),
            Role::Ideal | Role::Bound => series::limit(series, plot, id, &frame, &mut room, pen),
        }
    }
    for flag in &plot.flags {
        series::flag(flag, plot, &frame, &mut room, pen);
    }
    if plot.is_empty() {
        nothing(frame.across, frame.down, pen);
    }
    frame.down[1] + BELOW
}

/// Says that there is no number.
pub(super) fn nothing(across: [f64; 2], down: [f64; 2], pen: &mut Pen) {
    let middle = |ends: [f64; 2]| (ends[0] + ends[1]) / 2.0;
    let at = Words { anchor: "middle", paint: Paint::Soft, ..Words::at(middle(across), middle(down), 14.0) };
    pen.words("no number to show", at);
}

/// The numbers that the vertical axis shows: those that were measured, and of the limits what does not make them small.
fn shown_range(plot: &Plot) -> Option<[f64; 2]> {
    let has_place = |number: &f64| plot.y.scale.place(*number).is_some();
    let of = |measured: bool| {
        let series = plot.series.iter().filter(move |series| (series.role == Role::Measured) == measured);
        let numbers = series.flat_map(Series::numbers);
        numbers.flat_map(|(spot, y)| [y].into_iter().chain(spot.spread.into_iter().flatten())).filter(has_place)
    };
    let (least, most) = (of(true).reduce(f64::min), of(true).reduce(f64::max));
    match (least, most) {
        (Some(least), Some(most)) => {
            let limits = of(false).filter(|limit| (least / 2.0..=most * 1.6).contains(limit));
            let [low, high] = limits.fold([least, most], |[low, high], limit| [low.min(limit), high.max(limit)]);
            Some([low, high])
        }
        _ => Some([of(false).reduce(f64::min)?, of(false).reduce(f64::max)?]),
    }
}

/// What the legend tells: the series that were measured, and the signs that occur.
pub(super) fn keys(plot: &Plot) -> Vec<(Key, String)> {
    let measured = plot.series.iter().enumerate().filter(|(_, series)| series.role == Role::Measured);
    let mut keys: Vec<(Key, String)> =
        measured.clone().map(|(at, series)| (Key::Series(at), plain(&series.name))).collect();
    let has = |state| measured.clone().any(|(_, series)| series.spots.iter().any(|spot| spot.state == state));
    if has(State::Doubtful) {
        keys.push((Key::Doubtful, "doubtful".to_owned()));
    }
    if has(State::Missing) {
        keys.push((Key::Missing, "no number".to_owned()));
    }
    keys
}

/// The rules that are in view, each with the row of its words above the frame.
fn ruled<'a>(rules: &'a [Rule], frame: &Frame) -> Vec<(&'a Rule, Option<usize>)> {
    let inside = |rule: &&Rule| rule.from.is_finite() && rule.to.is_finite() && frame.x.holds(rule.from.max(rule.to));
    let shown: Vec<&Rule> = rules.iter().filter(inside).collect();
    let stretch = |rule: &&Rule| {
        let [from, to] = words_of(rule, frame);
        [from, to + 10.0]
    };
    let stretches: Vec<[f64; 2]> = shown.iter().map(stretch).collect();
    shown.into_iter().zip(rows(&stretches, RULE_ROWS)).collect()
}

/// From where to where a rule's words go: to the right of its beginning, or to its left where the frame ends.
fn words_of(rule: &Rule, frame: &Frame) -> [f64; 2] {
    let wide = words::width(&plain(&rule.label), RULE_SIZE).min(frame.width() / 2.0);
    let from = frame.x(rule.from).unwrap_or(frame.across[0]).max(frame.across[0]);
    if from + wide > frame.across[1] { [from - wide, from] } else { [from, from + wide] }
}

fn draw_rule(rule: &Rule, row: Option<usize>, plot: &Plot, frame: &Frame, pen: &mut Pen) {
    let ends = [rule.from, rule.to].map(|end| frame.x(end).unwrap_or(frame.across[0]));
    let [from, to] = ends.map(|end| end.clamp(frame.across[0], frame.across[1]));
    let [top, bottom] = frame.down;
    let shown = |number| plot.x.quantity.shown(number);
    let place =
        if rule.from == rule.to { shown(rule.from) } else { format!("{} to {}", shown(rule.from), shown(rule.to)) };
    pen.tag("g").word("class", "rule").holds(|pen| {
        pen.tag("title").says(&format!("{}: {place}", rule.label));
        if to > from {
            let area = pen.tag("rect").rectangle(from, top, to - from, bottom - top);
            area.paint("fill", Paint::Soft).word("fill-opacity", ".1").done();
        }
        // Words of higher rows are joined to their place by the line.
        let above = row.map_or(0.0, |row| (row as f64 + 0.2) * RULE_ROW);
        let line = pen.tag("path").word("d", &super::pen::path([[from, top - above], [from, bottom]], false));
        line.paint("stroke", Paint::Soft).word("stroke-dasharray", "3 3").word("stroke-opacity", ".7").done();
        if let Some(row) = row {
            let [left, right] = words_of(rule, frame);
            let is_left = right <= from;
            let x = if is_left { from - 3.0 } else { left + 3.0 };
            let line = top - 4.0 - row as f64 * RULE_ROW;
            let anchor = if is_left { "end" } else { "start" };
            let at = Words {
                anchor,
                paint: Paint::Soft,
                room: right - left + 1.0,
                halo: true,
                ..Words::at(x, line, RULE_SIZE)
            };
            pen.words(&rule.label, at);
        }
    });
}
