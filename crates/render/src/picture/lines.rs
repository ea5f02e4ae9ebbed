//! Lines over a quantity, with bands, gaps, limits and what is said of places.

use super::colour::Paint;
use super::ends;
use super::frame::{Frame, GUTTER, MARGIN, Side};
use super::layout::{LabelLayout, rows};
use super::legend::{self, Key};
use super::pen::{Pen, TextStyle};
use super::series;
use super::{Place, width};
use charz_analysis::figure::{Plot, ReferenceLine, Role, State};
use charz_data::escape::plain;

const HEIGHT: f64 = 330.0;
/// The height of one of several plots beside each other.
const PANEL_HEIGHT: f64 = 220.0;
/// Lines of words above the frame for the places on its axis; further ones are said when pointed at.
const RULE_ROWS: usize = 6;
const RULE_ROW: f64 = 14.0;
const RULE_SIZE: f64 = 11.0;

/// Draws it as wide as its place; the height at which it ends.
pub(super) fn draw(plot: &Plot, id: &str, top: f64, pen: &mut Pen) -> f64 {
    let (place, wide) = (pen.place(), pen.place().width());
    let high = if matches!(place, Place::Panel | Place::Phone) { PANEL_HEIGHT } else { HEIGHT };
    let y = Side::vertical(&plot.y, plot.shown_range(), high);
    // A phone has no room beside the frame.
    let names = if place == Place::Phone { Vec::new() } else { ends::names(plot) };
    let gutter = if plot.has(State::Missing) { GUTTER } else { 0.0 };
    let left = if gutter > 0.0 { y.width().max(62.0) } else { y.width() };
    let across = [left, wide - ends::width(&names).max(MARGIN)];
    let measured = plot.measured().flat_map(|(_, series)| &series.points).map(|point| point.x).collect();
    let x = Side::counted(&plot.x, plot.x_range(), across[1] - across[0], measured);
    let mut keys = keys(plot);
    // The gutter says what has no result, lines say their names, and a panel's neighbours what is noisy.
    keys.retain(|(key, _)| match key {
        Key::Series(_) => names.is_empty(),
        Key::Doubtful => place != Place::Panel,
        Key::Missing => false,
    });
    let down = top + legend::draw(&keys, [across[0], top], across[1] - across[0], true, pen) + 6.0;
    let mut frame = Frame { across, down: [down, down + high], x, y, gutter };
    let rules = ruled(&plot.reference_lines, &frame);
    let rule_rows = rules.iter().filter_map(|(_, row)| *row).max().map_or(0, |row| row + 1);
    frame.down = frame.down.map(|end| end + rule_rows as f64 * RULE_ROW);

    frame.draw(false, pen);
    for (rule, row) in rules {
        draw_rule(rule, row, plot, &frame, pen);
    }
    let mut room = LabelLayout::new(frame.across, frame.down);
    for series in &plot.series {
        series::take(series, &frame, &mut room);
    }
    pen.tag("clipPath").word("id", &format!("{id}-clip")).children(|pen| {
        let [left, right] = frame.across;
        let [top, bottom] = frame.down;
        pen.tag("rect").rectangle(left - 8.0, top - 2.0, right - left + 16.0, bottom - top + 4.0).empty();
    });
    for (at, series) in plot.series.iter().enumerate() {
        match series.role {
            Role::Measured => series::measured(at, series, &frame, pen),
            Role::Ideal | Role::Bound => series::limit(series, id, &frame, &mut room, pen),
        }
    }
    for flag in &plot.flags {
        series::flag(flag, plot, &frame, &mut room, pen);
    }
    ends::draw(&names, plot, &frame, pen);
    frame.end(plot.is_empty(), pen)
}

/// What the legend explains: the series that were measured, and the signs that occur.
pub(super) fn keys(plot: &Plot) -> Vec<(Key, String)> {
    let named = plot.measured().filter(|(_, series)| !series.name.is_empty() && !series.points.is_empty());
    let series = named.map(|(at, series)| (Key::Series(at), plain(&series.name)));
    let doubtful = plot.has(State::Suspect).then(|| (Key::Doubtful, "noisy".to_owned()));
    let missing = plot.has(State::Missing).then(|| (Key::Missing, "no result".to_owned()));
    series.chain(doubtful).chain(missing).collect()
}

/// The rules that are in view, each with the row of its words above the frame.
fn ruled<'a>(rules: &'a [ReferenceLine], frame: &Frame) -> Vec<(&'a ReferenceLine, Option<usize>)> {
    let inside = |rule: &&ReferenceLine| {
        rule.from.is_finite() && rule.to.is_finite() && frame.x.span.inside(rule.from.max(rule.to)).is_some()
    };
    let shown: Vec<&ReferenceLine> = rules.iter().filter(inside).collect();
    let stretch = |rule: &&ReferenceLine| {
        let [from, to] = words_of(rule, frame);
        [from, to + 10.0]
    };
    let stretches: Vec<[f64; 2]> = shown.iter().map(stretch).collect();
    shown.into_iter().zip(rows(&stretches, RULE_ROWS)).collect()
}

/// From where to where a rule's words go: to the right of its beginning, or to its left where the frame ends.
fn words_of(rule: &ReferenceLine, frame: &Frame) -> [f64; 2] {
    let wide = width::of(&plain(&rule.label), RULE_SIZE).min(frame.width() / 2.0);
    let from = frame.x(rule.from).unwrap_or(frame.across[0]).max(frame.across[0]);
    if from + wide > frame.across[1] { [from - wide, from] } else { [from, from + wide] }
}

fn draw_rule(rule: &ReferenceLine, row: Option<usize>, plot: &Plot, frame: &Frame, pen: &mut Pen) {
    let ends = [rule.from, rule.to].map(|end| frame.x(end).unwrap_or(frame.across[0]));
    let [from, to] = ends.map(|end| end.clamp(frame.across[0], frame.across[1]));
    let [top, bottom] = frame.down;
    pen.tag("g").word("class", "rule").children(|pen| {
        pen.tag("title").text(&rule.note(&plot.x));
        if to > from {
            let area = pen.tag("rect").rectangle(from, top, to - from, bottom - top);
            area.paint("fill", Paint::Soft).word("fill-opacity", ".1").empty();
        }
        // The words of higher rows are joined to their place by the line.
        let above = row.map_or(0.0, |row| (row as f64 + 0.2) * RULE_ROW);
        let line = pen.tag("path").word("d", &super::pen::path([[from, top - above], [from, bottom]], false));
        line.paint("stroke", Paint::Soft).word("stroke-dasharray", "3 3").word("stroke-opacity", ".7").empty();
        if let Some(row) = row {
            let [left, right] = words_of(rule, frame);
            let (x, anchor) = if right <= from { (from - 3.0, "end") } else { (left + 3.0, "start") };
            let style = TextStyle::at(x, top - 4.0 - row as f64 * RULE_ROW, RULE_SIZE);
            let style = TextStyle { anchor, paint: Paint::Soft, room: right - left + 1.0, halo: true, ..style };
            pen.text(&rule.label, style);
        }
    });
}
