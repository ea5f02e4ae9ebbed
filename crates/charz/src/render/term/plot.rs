//! Lines over two axes, in dots of Braille.

use std::collections::BTreeMap;
use std::io;

use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};
use ratatui_core::symbols::Marker;
use ratatui_core::widgets::Widget;
use ratatui_widgets::canvas::{Canvas, Context, Line, Points};
use textwrap::core::display_width;

use super::axis::Span;
use super::pen::{Pen, short};
use super::sheet::{Sheet, bold, faint, ink};
use crate::figure::{Plot, Role, Series, Spot, State};
use crate::render::text::counted;

/// Colours of series: of the palette of Okabe and Ito (<https://jfly.uni-koeln.de/color/>), which people see apart however they see
/// colours, those among the 256 of terminals that come next to it.
const COLOURS: [u8; 7] = [32, 208, 36, 175, 74, 166, 178];
/// What series are called in the picture. Without x, which is a gap.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWYZ";
/// What is there but has no number.
const GAP: &str = "x";
/// Several series in one place.
const SEVERAL: &str = "*";

/// The mark and the colour of a series.
pub(super) fn mark(at: usize) -> (String, Style) {
    (char::from(LETTERS[at % LETTERS.len()]).to_string(), ink(COLOURS[at % COLOURS.len()]))
}

/// Where the picture lies on its sheet, and what its axes go over.
struct Frame<'a> {
    plot: &'a Plot,
    x: Span<'a>,
    y: Span<'a>,
    /// The column right of the y axis.
    left: usize,
    width: usize,
    height: usize,
}

/// Draws it with its legend.
pub(super) fn draw(plot: &Plot, pen: &mut Pen<'_>) -> io::Result<()> {
    let height = (pen.width() / 5).clamp(8, 24);
    let spans = plot.x_range().zip(plot.y_range());
    let spans = spans.and_then(|(x, y)| Some((Span::new(&plot.x, x, 8)?, Span::new(&plot.y, y, height / 4)?)));
    let Some((x, y)) = spans else {
        pen.text("", "no number to draw")?;
        return gaps(plot, pen);
    };
    let labels = y.ticks(height / 3);
    let left = labels.iter().map(|(_, words)| display_width(words)).max().unwrap_or(0).min(pen.width() / 3) + 2;
    let frame = Frame { plot, x, y, left, width: pen.width() - left - 1, height };
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
    /// The cell of a place of the axes.
    fn cell(&self, x: f64, y: f64) -> (usize, usize) {
        // As the canvas has it: two dots in a cell across, four down, rounded to the nearest.
        let dot = |place: f64, dots: usize| (place * (dots - 1) as f64).round() as usize;
        (self.left + dot(x, 2 * self.width) / 2, 1 + dot(1.0 - y, 4 * self.height) / 4)
    }

    fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x.place(x)?, self.y.place(y)?))
    }

    /// Bands and limits behind, what was measured in front.
    fn lines(&self, sheet: &mut Sheet) {
        let area = Rect::new(self.left as u16, 1, self.width as u16, self.height as u16);
        let paint = |context: &mut Context<'_>| {
            let series = self.plot.series.iter();
            for (at, series) in series.clone().enumerate() {
                match series.role {
                    Role::Measured => self.band(series, COLOURS[at % COLOURS.len()], context),
                    Role::Ideal => self.dotted(&path(series, |_, y| y), 4, Color::Indexed(244), context),
                    Role::Bound => self.dotted(&path(series, |_, y| y), 6, Color::Indexed(244), context),
                }
            }
            context.layer();
            for (at, series) in series.enumerate().filter(|(_, series)| series.role == Role::Measured) {
                let colour = Color::Indexed(COLOURS[at % COLOURS.len()]);
                for piece in path(series, |_, y| y) {
                    let places: Vec<(f64, f64)> = piece.iter().filter_map(|&(x, y)| self.place(x, y)).collect();
                    for pair in places.windows(2) {
                        let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
                        context.draw(&Line::new(x1, y1, x2, y2, colour));
                    }
                }
                context.layer();
            }
        };
        let canvas = Canvas::default().marker(Marker::Braille).x_bounds([0.0, 1.0]).y_bounds([0.0, 1.0]).paint(paint);
        canvas.render(area, sheet.buffer());
    }

    /// Where the numbers of a series lie, as dots at both ends.
    fn band(&self, series: &Series, colour: u8, context: &mut Context<'_>) {
        for end in 0..2 {
            let edge = path(series, |spot, y| spot.spread.map_or(y, |spread| spread[end]));
            self.dotted(&edge, 3, Color::Indexed(colour), context);
        }
    }

    /// Every so manieth dot of lines.
    fn dotted(&self, pieces: &[Vec<(f64, f64)>], stride: usize, colour: Color, context: &mut Context<'_>) {
        let columns = 2 * self.width;
        let mut dots = Vec::new();
        for piece in pieces {
            let places: Vec<(f64, f64)> = piece.iter().filter_map(|&(x, y)| self.place(x, y)).collect();
            for pair in places.windows(2) {
                let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
                let (first, last) = ((x1 * columns as f64).ceil() as usize, (x2 * columns as f64) as usize);
                let dot = |column: usize| {
                    let x = column as f64 / columns as f64;
                    (x, y1 + (y2 - y1) * (x - x1) / (x2 - x1))
                };
                dots.extend((first..=last).filter(|column| column % stride == 0 && x2 > x1).map(dot));
            }
        }
        context.draw(&Points::new(&dots, colour));
    }

    /// Dotted lines down where something is said of a place, with a number at the top.
    fn rules(&self, sheet: &mut Sheet) {
        for (at, rule) in self.plot.rules.iter().enumerate() {
            let ends = if rule.from == rule.to { vec![rule.from] } else { vec![rule.from, rule.to] };
            for x in ends.into_iter().filter_map(|x| self.x.place(x)) {
                let (column, _) = self.cell(x, 0.0);
                (1..=self.height).filter(|y| sheet.is_free(column, *y)).collect::<Vec<_>>().into_iter().for_each(|y| {
                    sheet.put(column, y, "┊", faint());
                });
                sheet.put(column, 1, &(at + 1).to_string(), faint());
            }
        }
    }

    fn axes(&self, sheet: &mut Sheet, labels: &[(f64, String)]) {
        let bottom = self.height + 1;
        (1..=self.height).for_each(|y| sheet.put(self.left - 1, y, "│", faint()));
        sheet.put(self.left - 1, bottom, "└", faint());
        sheet.fill(self.left..self.left + self.width, bottom, '─', faint());
        sheet.put(0, 0, &short(&self.plot.y.label, self.left + self.width), faint());
        for (place, words) in labels {
            let (_, y) = self.cell(0.0, *place);
            let room = self.left - 2;
            let words = short(words, room);
            sheet.put(room - display_width(&words), y, &words, Style::new());
            sheet.put(self.left - 1, y, "┤", faint());
        }
        // Each name under its tick, where the one before leaves room; the last one may not reach beyond the edge.
        let mut free = 0;
        for (place, words) in self.x.ticks((self.width / 9).max(2)) {
            let (column, _) = self.cell(place, 0.0);
            let words = short(&words, self.width);
            let wide = display_width(&words);
            let start = column.saturating_sub(wide / 2).min((self.left + self.width).saturating_sub(wide));
            if start >= free {
                sheet.put(column, bottom, "┬", faint());
                sheet.put(start, bottom + 1, &words, Style::new());
                free = start + wide + 2;
            }
        }
        let label = short(&self.plot.x.label, self.width);
        sheet.put(self.left + self.width - display_width(&label), bottom + 2, &label, faint());
    }

    /// A letter for each spot, a question mark behind a doubtful one, gaps on the x axis, flags above.
    fn marks(&self, sheet: &mut Sheet) {
        let mut spots: BTreeMap<(usize, usize), Vec<(usize, &Spot)>> = BTreeMap::new();
        let measured = self.plot.series.iter().enumerate().filter(|(_, series)| series.role == Role::Measured);
        for (at, series) in measured {
            for spot in &series.spots {
                let Some(x) = self.x.place(spot.x) else { continue };
                match spot.y.and_then(|y| self.y.place(y)) {
                    Some(y) => spots.entry(self.cell(x, y)).or_default().push((at, spot)),
                    None => sheet.put(self.cell(x, 0.0).0, self.height + 1, GAP, mark(at).1),
                }
            }
        }
        for (&(x, y), here) in &spots {
            let same = here.iter().all(|(at, _)| *at == here[0].0);
            let (letter, style) = mark(here[0].0);
            let style = if same { style.patch(bold()) } else { bold() };
            let doubtful = here.iter().any(|(_, spot)| spot.state == State::Doubtful);
            sheet.put(x, y, if same { &letter } else { SEVERAL }, style);
            if doubtful {
                let beside = [(x + 1, y), (x.wrapping_sub(1), y), (x, y)];
                let free = beside
                    .into_iter()
                    .find(|place| (self.left..self.left + self.width).contains(&place.0) && !spots.contains_key(place));
                let (x, y) = free.unwrap_or((x, y));
                sheet.put(x, y, "?", style);
            }
        }
        for flag in &self.plot.flags {
            let spot =
                self.plot.series.get(flag.series).and_then(|series| series.spots.iter().find(|spot| spot.x == flag.x));
            let Some((x, y)) = spot.and_then(|spot| self.place(spot.x, spot.y?)) else { continue };
            let (column, line) = self.cell(x, y);
            let line = if line > 1 && !spots.contains_key(&(column, line - 1)) { line - 1 } else { line + 1 };
            sheet.put(column, line, "!", mark(flag.series).1.patch(bold()));
        }
    }
}

/// The lines of a series, which end where a number is missing.
fn path(series: &Series, y: impl Fn(&Spot, f64) -> f64) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for spot in &series.spots {
        match (spot.y, pieces.last_mut()) {
            (Some(number), Some(piece)) => piece.push((spot.x, y(spot, number))),
            _ => pieces.push(Vec::new()),
        }
    }
    pieces
}

fn legend(plot: &Plot, pen: &mut Pen<'_>) -> io::Result<()> {
    let entry = |(at, series): (usize, &Series)| match series.role {
        Role::Measured => {
            let (letter, style) = mark(at);
            (letter, style.patch(bold()), series.name.clone())
        }
        Role::Ideal => ("· ·".into(), faint(), series.name.clone()),
        Role::Bound => ("·  ·".into(), faint(), series.name.clone()),
    };
    let mut entries: Vec<(String, Style, String)> = plot.series.iter().enumerate().map(entry).collect();
    let spots = || plot.series.iter().filter(|series| series.role == Role::Measured).flat_map(|series| &series.spots);
    let has = |state: State| spots().any(|spot| spot.state == state);
    let shared = has(State::Sound) && plot.series.iter().filter(|series| series.role == Role::Measured).count() > 1;
    let besides = [
        (shared, SEVERAL, "several in one place"),
        (has(State::Doubtful), "?", "doubtful"),
        (has(State::Missing), GAP, "no number"),
    ];
    entries
        .extend(besides.iter().filter(|(is, ..)| *is).map(|(_, mark, name)| ((*mark).into(), faint(), (*name).into())));
    pen.legend(&entries)?;
    for (at, rule) in plot.rules.iter().enumerate() {
        let shown = |number| plot.x.quantity.shown(number);
        let place =
            if rule.from == rule.to { shown(rule.from) } else { format!("{} to {}", shown(rule.from), shown(rule.to)) };
        pen.text(&format!("{} ", at + 1), &format!("{}: {place}", rule.label))?;
    }
    for flag in &plot.flags {
        let name = plot.series.get(flag.series).map(|series| series.name.as_str()).unwrap_or_default();
        pen.text("! ", &format!("{name} {} at {} {}", flag.label, plot.x.quantity.shown(flag.x), plot.x.label))?;
    }
    Ok(())
}

/// Why numbers are missing: each reason once, the first few, with where it holds.
fn gaps(plot: &Plot, pen: &mut Pen<'_>) -> io::Result<()> {
    const TOLD: usize = 3;
    let measured = plot.series.iter().filter(|series| series.role == Role::Measured);
    let missing = measured.flat_map(|series| &series.spots).filter(|spot| spot.state == State::Missing);
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
