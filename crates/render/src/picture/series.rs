//! One series: its band, its line, its spots, and what can be pointed at.

use super::colour::Paint;
use super::frame::Frame;
use super::layout::LabelLayout;
use super::legend::{RADIUS, doubtful, missing};
use super::pen::{Pen, TextStyle, path};
use super::shapes;
use super::{Place, width};
use charz_analysis::figure::{DataPoint, Label, Plot, Role, Series, State, range};
use charz_data::escape::plain;

/// With more spots than that a line is drawn without their shapes.
const MARKED: usize = 150;
/// With more spots than that some cannot be pointed at.
const POINTED: usize = 2000;
/// The size of the words beside a limit.
const LIMIT: f64 = 11.0;
/// The radius within which a spot is pointed at.
const REACH: f64 = 8.0;

/// Takes the room of a series' spots and lines, so no words cover them.
pub(super) fn take(series: &Series, frame: &Frame, room: &mut LabelLayout) {
    let corners: Vec<Vec<[f64; 2]>> = match series.role {
        Role::Measured => runs(series, frame).iter().map(|run| run.iter().map(|(_, place)| *place).collect()).collect(),
        Role::Ideal | Role::Bound => vec![bent(series, frame)],
    };
    // More than that cover the frame anyway.
    for run in corners.iter().take(MARKED) {
        if series.role == Role::Measured {
            run.iter().take(MARKED).for_each(|place| room.take(*place, 6.0));
        }
        run.windows(2).take(MARKED).for_each(|pair| room.take_line(pair[0], pair[1]));
    }
}

pub(super) fn measured(at: usize, series: &Series, frame: &Frame, pen: &mut Pen) {
    let paint = Paint::Series(at);
    let class = format!("series s{}", at % Paint::SERIES + 1);
    pen.tag("g").word("class", &class).word("data-series", &series.name).children(|pen| {
        for run in runs(series, frame) {
            band(&run, paint, frame, pen);
            line(at, &run, pen);
        }
        spots(at, series, frame, pen);
    });
}

type Placed<'a> = (&'a DataPoint, [f64; 2]);

/// The spots that a line joins: neighbours that have numbers with a place on the axes.
fn runs<'a>(series: &'a Series, frame: &Frame) -> Vec<Vec<Placed<'a>>> {
    let placed = |spot: &'a DataPoint| Some((spot, clamped(frame.place(spot.x, spot.y?)?, frame)));
    let all: Vec<Option<Placed<'a>>> = series.points.iter().map(placed).collect();
    all.split(Option::is_none)
        .map(|run| run.iter().flatten().copied().collect())
        .filter(|run: &Vec<_>| !run.is_empty())
        .collect()
}

/// A number beyond the axis is at its end.
fn clamped([x, y]: [f64; 2], frame: &Frame) -> [f64; 2] {
    [x, y.clamp(frame.down[0], frame.down[1])]
}

/// Where numbers lie, as an area; of a single spot as a whisker.
fn band(run: &[Placed<'_>], paint: Paint, frame: &Frame, pen: &mut Pen) {
    let ends = |(spot, [x, y]): &Placed<'_>| {
        let [low, high] = spot.spread.map_or([*y; 2], |spread| spread.map(|end| frame.y(end).unwrap_or(*y)));
        (*x, low.clamp(frame.down[0], frame.down[1]), high.clamp(frame.down[0], frame.down[1]))
    };
    if let [only] = run {
        let (x, low, high) = ends(only);
        if low != high {
            let whisker = pen.tag("path").word("d", &path([[x, low], [x, high]], false)).paint("stroke", paint);
            whisker.word("stroke-opacity", ".5").word("stroke-width", "3").empty();
        }
        return;
    }
    if run.iter().all(|(spot, _)| spot.spread.is_none()) {
        return;
    }
    let upper = run.iter().map(|spot| [ends(spot).0, ends(spot).2]);
    let lower = run.iter().rev().map(|spot| [ends(spot).0, ends(spot).1]);
    let area = pen.tag("path").word("class", "band").word("d", &path(upper.chain(lower), true));
    area.paint("fill", paint).word("fill-opacity", ".16").empty();
}

fn line(at: usize, run: &[Placed<'_>], pen: &mut Pen) {
    if run.len() < 2 {
        return;
    }
    let line = pen.tag("path").word("d", &path(run.iter().map(|(_, place)| *place), false));
    let line = line.word("fill", "none").paint("stroke", Paint::Series(at)).word("stroke-width", "2");
    line.word("stroke-linejoin", "round").optional("stroke-dasharray", shapes::dashes(at)).empty();
}

/// The shapes of all spots, and above them what can be pointed at.
fn spots(at: usize, series: &Series, frame: &Frame, pen: &mut Pen) {
    let placed = |spot: &DataPoint| spot.y.and_then(|y| frame.place(spot.x, y)).map(|place| clamped(place, frame));
    let is_marked = series.points.len() <= MARKED;
    let sound = series.points.iter().filter(|spot| spot.state == State::Ok);
    let shapes: String = sound.filter_map(placed).map(|place| shapes::shape(at, place, RADIUS)).collect();
    if is_marked && !shapes.is_empty() {
        pen.tag("path").word("d", &shapes).paint("fill", Paint::Series(at)).empty();
    }
    let every = series.points.len().div_ceil(POINTED).max(1);
    for (count, spot) in series.points.iter().enumerate() {
        let Some(place) = placed(spot) else {
            gap(at, spot, frame, pen);
            continue;
        };
        // A number that is said to be missing is none, wherever it lies.
        match spot.state {
            State::Missing => gap(at, spot, frame, pen),
            State::Suspect => {
                doubtful(at, Paint::Series(at), place, pen);
                hit(spot, "spot doubtful", place, pen);
            }
            State::Ok if count % every == 0 => hit(spot, "spot sound", place, pen),
            State::Ok => {}
        }
    }
}

/// A gap: a cross below the frame, where it is no small number; those of several series beside each other.
fn gap(at: usize, spot: &DataPoint, frame: &Frame, pen: &mut Pen) {
    let Some(x) = frame.x(spot.x) else { return };
    let aside = 9.0 * (at % 6) as f64;
    let aside = if x + aside > frame.across[1] { -aside } else { aside };
    let place = [x + aside, frame.down[1] + frame.gutter / 2.0];
    missing(Paint::Series(at), place, pen);
    hit(spot, "spot missing", place, pen);
}

pub(super) fn hit(spot: &DataPoint, class: &str, [x, y]: [f64; 2], pen: &mut Pen) {
    if pen.place() == Place::Phone {
        return;
    }
    let pen_is_inline = pen.is_inline();
    let circle = pen.tag("circle").word("class", class).number("cx", x).number("cy", y).number("r", REACH);
    let circle = circle.word("fill", "transparent");
    // What the page draws of them: from the lowest to the highest, in percent.
    let runs = range(spot.runs.iter().copied()).filter(|[low, high]| pen_is_inline && low < high).map(|[low, high]| {
        let percent = spot.runs.iter().map(|run| ((run - low) / (high - low) * 100.0).round().to_string());
        percent.collect::<Vec<_>>().join(" ")
    });
    circle.optional("data-runs", runs.as_deref()).titled(&spot.note);
}

/// Draws a limit or what is expected: a faint line with its band, and its name.
pub(super) fn limit(series: &Series, id: &str, frame: &Frame, room: &mut LabelLayout, pen: &mut Pen) {
    let corners = bent(series, frame);
    pen.tag("g").word("class", "series limit").word("data-series", &series.name).children(|pen| {
        runs(series, frame).iter().for_each(|run| band(run, Paint::Soft, frame, pen));
        let line = pen.tag("path").word("d", &path(corners.iter().copied(), false)).word("fill", "none");
        let line = line.paint("stroke", Paint::Soft).word("stroke-dasharray", "2 4").word("stroke-opacity", ".8");
        line.word("stroke-width", "1.4").word("clip-path", &format!("url(#{id}-clip)")).titled(&series.name);
        // What linear scaling is, is known.
        if series.role == Role::Bound {
            named(series, &corners, frame, room, pen);
        }
    });
}

fn bent(series: &Series, frame: &Frame) -> Vec<[f64; 2]> {
    series.bent().into_iter().filter_map(|[x, y]| frame.place(x, y)).collect()
}

/// The name of a limit beside what is seen of it, as far to the right as there is room.
fn named(series: &Series, corners: &[[f64; 2]], frame: &Frame, room: &mut LabelLayout, pen: &mut Pen) {
    const STEPS: u32 = 30;
    let name = width::shortened(&plain(&series.name), LIMIT, frame.width() / 2.5);
    let half = width::of(&name, LIMIT) / 2.0;
    let step = frame.width() / f64::from(STEPS);
    let place = |count: u32| {
        let x = frame.across[1] - 2.0 - f64::from(count) * step;
        let pair = corners.windows(2).find(|pair| pair[0][0] <= x && x <= pair[1][0])?;
        let share = (x - pair[0][0]) / (pair[1][0] - pair[0][0]).max(1e-9);
        let y = pair[0][1] + (pair[1][1] - pair[0][1]) * share;
        (frame.down[0]..=frame.down[1]).contains(&y).then_some([x, y])
    };
    let mut places = (0..STEPS).filter_map(place);
    let found = places.find_map(|[x, y]| room.beside([x.min(frame.across[1] - half - 2.0), y], &name, LIMIT));
    if let Some([left, line]) = found {
        pen.text(&name, TextStyle { paint: Paint::Soft, halo: true, ..TextStyle::at(left, line, LIMIT) });
    }
}

/// Draws the label of a spot: a ring around it, and words where there is room.
pub(super) fn flag(flag: &Label, plot: &Plot, frame: &Frame, room: &mut LabelLayout, pen: &mut Pen) {
    const SIZE: f64 = 11.5;
    let Some(series) = plot.series.get(flag.series) else { return };
    let spot = series.numbers().find(|(spot, _)| spot.x == flag.x);
    let Some(place) = spot.and_then(|(spot, y)| frame.place(spot.x, y)) else { return };
    let paint = Paint::Series(flag.series);
    let text = width::shortened(&plain(&flag.label), SIZE, frame.width() / 2.5);
    pen.tag("g").word("class", "flag").children(|pen| {
        let ring = pen.tag("circle").number("cx", place[0]).number("cy", place[1]).number("r", RADIUS + 4.0);
        let ring = ring.word("fill", "none").paint("stroke", paint).word("stroke-width", "1.5");
        ring.titled(&flag.note(plot));
        if let Some([left, line]) = room.near(place, &text, SIZE) {
            pen.text(&text, TextStyle { halo: true, ..TextStyle::at(left, line, SIZE) });
        }
    });
}
