//! Lines over two axes: a letter per number, dots between them.

use std::collections::BTreeMap;
use std::io;

use textwrap::core::display_width;

use super::pen::{Pen, short};
use super::sheet::{Sheet, Style, bold, faint, ink};
use super::ticks::{self, nearest};
use charz_analysis::figure::{DataPoint, Plot, Role, Series, Span, State, Tick};
use charz_data::escape::counted;

/// Colours of series: of the palette of Okabe and Ito (<https://jfly.uni-koeln.de/color/>), which people see apart however they see
/// colours, those among the 256 of terminals that come next to it.
const COLOURS: [u8; 7] = [32, 208, 36, 175, 74, 166, 178];
/// What series are called in the picture. Without x, which is a gap.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWYZ";
/// What is there but has no number.
const GAP: &str = "x";
/// Several series in one place.
const SEVERAL: &str = "*";

pub(super) fn mark(at: usize) -> (String, Style) {
    (char::from(LETTERS[at % LETTERS.len()]).to_string(), ink(COLOURS[at % COLOURS.len()]))
}

/// A part of a sheet. Places on it go from 0 at the left and at the bottom to 1.
struct Area {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Area {
    /// The cell of a place on the sheet.
    fn cell(&self, x: f64, y: f64) -> (usize, usize) {
        (self.left + nearest(x, self.width), self.top + nearest(1.0 - y, self.height))
    }
}

struct Frame<'a> {
    plot: &'a Plot,
    x: Span,
    y: Span,
    /// Right of the y axis, above the x axis.
    area: Area,
}

pub(super) fn draw(plot: &Plot, pen: &mut Pen<'_>) -> io::Result<()> {
    let height = (pen.width() / 5).clamp(8, 24);
    let places = |spot: &DataPoint| Some([plot.x.scale.place(spot.x)?, plot.y.scale.place(spot.y?)?]);
    if plot.series.iter().flat_map(|series| &series.points).find_map(places).is_none() {
        pen.text("", "no number to draw")?;
        return gaps(plot, pen);
    }
    let (x, y) = (plot.x.span(plot.x_range()), plot.y.span(plot.shown_range()));
    let labels = ticks::above(&plot.y, &y, height);
    let left = labels.iter().map(|tick| display_width(&tick.text)).max().unwrap_or(0).min(pen.width() / 3) + 2;
    let frame = Frame { plot, x, y, area: Area { left, top: 1, width: pen.width() - left - 1, height } };
    // A line for the label of the y axis, two and one below for the x axis.
    let mut sheet = Sheet::new(pen.width(), height + 4);
    frame.lines(&mut sheet);
    frame.rules(&mut sheet);
    frame.axes(&mut sheet, &labels);
    frame.marks(&mut sheet);
    pen.sheet(&sheet)?;
    legend(plot, pen)?;
    gaps(plot, pen)
}

impl Frame<'_> {
    fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x.inside(x)?, self.y.inside(y)?))
    }

    /// Intervals and limits behind, what was measured in front.
    fn lines(&self, sheet: &mut Sheet) {
        for (at, series) in self.plot.series.iter().enumerate() {
            let every = match series.role {
                Role::Measured => {
                    for end in 0..2 {
                        let edge = |spot: &DataPoint| Some([spot.x, spot.spread.map_or(spot.y?, |ends| ends[end])]);
                        self.line(series.points.iter().map(edge), 3, mark(at).1, sheet);
                    }
                    continue;
                }
                Role::Ideal => 2,
                Role::Bound => 3,
            };
            self.line(series.bent().into_iter().map(Some), every, faint(), sheet);
        }
        for (at, series) in self.plot.measured() {
            self.line(series.points.iter().map(|spot| Some([spot.x, spot.y?])), 1, mark(at).1, sheet);
        }
    }

    /// A line with gaps where there is no place, with a dot every so many columns.
    fn line(&self, places: impl Iterator<Item = Option<[f64; 2]>>, every: usize, style: Style, sheet: &mut Sheet) {
        let cells: Vec<_> =
            places.map(|place| place.and_then(|[x, y]| self.place(x, y)).map(|(x, y)| self.area.cell(x, y))).collect();
        for pair in cells.windows(2) {
            let [Some(from), Some(to)] = *pair else { continue };
            let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
            let between = |from: usize, to: usize, step: usize| (from * (steps - step) + to * step + steps / 2) / steps;
            for step in 0..=steps {
                let (column, line) = (between(from.0, to.0, step), between(from.1, to.1, step));
                if column % every == 0 {
                    sheet.put(column, line, "·", style);
                }
            }
        }
    }

    /// Dotted lines down where something is said of a place, with a number at the top.
    fn rules(&self, sheet: &mut Sheet) {
        for (at, rule) in self.plot.reference_lines.iter().enumerate() {
            let ends = if rule.from == rule.to { vec![rule.from] } else { vec![rule.from, rule.to] };
            for x in ends.into_iter().filter_map(|x| self.x.inside(x)) {
                let (column, _) = self.area.cell(x, 0.0);
                for y in 1..=self.area.height {
                    if sheet.is_free(column, y) {
                        sheet.put(column, y, "┊", faint());
                    }
                }
                sheet.put(column, 1, &(at + 1).to_string(), faint());
            }
        }
    }

    fn axes(&self, sheet: &mut Sheet, labels: &[Tick]) {
        let Area { left, top, width, height } = self.area;
        (top..=height).for_each(|y| sheet.put(left - 1, y, "│", faint()));
        sheet.put(left - 1, top + height, "└", faint());
        sheet.put(0, 0, &short(&self.plot.y.label, left + width), faint());
        for tick in labels {
            let Some(place) = self.y.inside(tick.number) else { continue };
            let (_, y) = self.area.cell(0.0, place);
            let text = short(&tick.text, left - 2);
            sheet.put(left - 2 - display_width(&text), y, &text, Style::default());
            sheet.put(left - 1, y, "┤", faint());
        }
        ticks::draw(&self.plot.x, &self.x, (left, top + height), width, sheet);
    }

    /// A letter for each spot, `~` for a noisy one, gaps on the x axis, flags above.
    fn marks(&self, sheet: &mut Sheet) {
        let mut spots: BTreeMap<(usize, usize), Vec<(usize, &DataPoint)>> = BTreeMap::new();
        for (at, series) in self.plot.measured() {
            for spot in &series.points {
                let Some(x) = self.x.inside(spot.x) else { continue };
                match spot.y.and_then(|y| self.y.fraction(y)) {
                    // A number beyond the axis is at its end.
                    Some(y) => spots.entry(self.area.cell(x, y.clamp(0.0, 1.0))).or_default().push((at, spot)),
                    None => sheet.put(self.area.cell(x, 0.0).0, self.area.height + 1, GAP, mark(at).1),
                }
            }
        }
        for (&(x, y), here) in &spots {
            let same = here.iter().all(|(at, _)| *at == here[0].0);
            let (letter, style) = mark(here[0].0);
            let style = if same { style.bold() } else { bold() };
            let doubtful = here.iter().any(|(_, spot)| spot.state == State::Suspect);
            sheet.put(x, y, if same { &letter } else { SEVERAL }, style);
            if doubtful {
                let beside = [(x + 1, y), (x.wrapping_sub(1), y), (x, y)];
                let free = beside.into_iter().find(|place| {
                    (self.area.left..self.area.left + self.area.width).contains(&place.0) && !spots.contains_key(place)
                });
                let (x, y) = free.unwrap_or((x, y));
                sheet.put(x, y, "~", style);
            }
        }
        for flag in &self.plot.flags {
            let spot =
                self.plot.series.get(flag.series).and_then(|series| series.points.iter().find(|spot| spot.x == flag.x));
            let Some((x, y)) = spot.and_then(|spot| self.place(spot.x, spot.y?)) else { continue };
            let (column, line) = self.area.cell(x, y);
            let line = if line > 1 && !spots.contains_key(&(column, line - 1)) { line - 1 } else { line + 1 };
            sheet.put(column, line, "!", mark(flag.series).1.bold());
        }
    }
}

fn legend(plot: &Plot, pen: &mut Pen<'_>) -> io::Result<()> {
    let entry = |(at, series): (usize, &Series)| match series.role {
        Role::Measured => {
            let (letter, style) = mark(at);
            (letter, style.bold(), series.name.clone())
        }
        Role::Ideal => ("· ·".into(), faint(), series.name.clone()),
        Role::Bound => ("·  ·".into(), faint(), series.name.clone()),
    };
    let mut entries: Vec<(String, Style, String)> = plot.series.iter().enumerate().map(entry).collect();
    let besides = [
        (plot.measured().count() > 1 && plot.has(State::Ok), SEVERAL, "several in one place"),
        (plot.has(State::Suspect), "~", "noisy"),
        (plot.has(State::Missing), GAP, "no number"),
    ];
    entries
        .extend(besides.iter().filter(|(is, ..)| *is).map(|(_, mark, name)| ((*mark).into(), faint(), (*name).into())));
    pen.legend(&entries)?;
    for (at, rule) in plot.reference_lines.iter().enumerate() {
        pen.text(&format!("{} ", at + 1), &rule.note(&plot.x))?;
    }
    for flag in &plot.flags {
        pen.text("! ", &flag.note(plot))?;
    }
    Ok(())
}

/// Why numbers are missing: each reason once, the first few, with where it holds.
fn gaps(plot: &Plot, pen: &mut Pen<'_>) -> io::Result<()> {
    const TOLD: usize = 3;
    let missing = plot.measured().flat_map(|(_, series)| &series.points).filter(|spot| spot.state == State::Missing);
    // A note begins with a name; what follows is the reason.
    let reasons = missing.filter_map(|spot| spot.note.split_once(": "));
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    reasons.for_each(|(name, why)| kinds.entry(why).or_default().push(name));
    for (why, names) in kinds.iter().take(TOLD) {
        let more = match names.len().saturating_sub(TOLD) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = &names[..names.len().min(TOLD)];
        pen.text("x ", &format!("{}{more}: {why}", names.join(", ")))?;
    }
    match kinds.len().saturating_sub(TOLD) {
        0 => Ok(()),
        more => pen.text("x ", &format!("{} more", counted(more, "reason"))),
    }
}
