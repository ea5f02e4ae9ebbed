//! A value for each pair of things: numbers where they have room, shades where they do not.

use std::io;

use textwrap::core::display_width;

use super::pen::{Pen, short};
use super::sheet::{Sheet, Style, bold, faint, ground};
use charz_analysis::figure::{Heatmap, Quantity, State, Tile};
use charz_data::{Arrange, units};

/// Backgrounds of the fifths of all values from the best to the worst, among the 256 colours of terminals: green to red.
pub(crate) const COLOURS: [u8; 5] = [114, 156, 228, 215, 203];
/// The same without colours.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// The most lines of a square.
const MOST: usize = 256;

pub(super) fn draw(heat: &Heatmap, pen: &mut Pen<'_>) -> io::Result<()> {
    let label = heat.rows.iter().map(|name| display_width(name)).max().unwrap_or(0).min(pen.width() / 4);
    let room = pen.width().saturating_sub(label + 1);
    let fifths = Fifths::of(heat);
    let Some(layout) = Layout::of(heat, room) else {
        return pen.aside(&format!(
            "{} by {} values have no room in {} columns",
            heat.rows.len(),
            heat.columns.len(),
            pen.width()
        ));
    };
    let borders = |before: usize| heat.borders.iter().filter(|(at, _)| *at > 0 && *at <= before).count();
    let x = |column: usize| label + 1 + column * layout.wide + borders(column);
    let y = |row: usize| 1 + row + borders(row);
    let height = y(heat.rows.len().saturating_sub(1)) + 1;
    let mut sheet = Sheet::new(pen.width(), height);
    for (column, name) in heat.columns.iter().enumerate().filter(|_| layout.named) {
        let name = short(name, layout.wide - 1);
        sheet.put(x(column) + layout.wide - display_width(&name), 0, &name, faint());
    }
    for (row, name) in heat.rows.iter().enumerate() {
        let name = short(name, label);
        sheet.put(label - display_width(&name), y(row), &name, faint());
        for column in 0..heat.columns.len() {
            let tile = heat.at(row, column);
            let (text, style) = layout.tile(heat, tile, &fifths, pen.has_colour());
            sheet.put(x(column), y(row), &text, style);
        }
    }
    pen.sheet(&sheet)?;
    legend(heat, &layout, &fifths, pen)
}

/// How wide a tile is, and whether it has its number and each column its name.
struct Layout {
    wide: usize,
    numbers: bool,
    named: bool,
}

impl Layout {
    fn of(heat: &Heatmap, room: usize) -> Option<Self> {
        if heat.rows.len() > MOST {
            return None;
        }
        let columns = heat.columns.len().max(1);
        let fits = |wide: usize| columns.saturating_mul(wide) + heat.borders.len() <= room;
        let name = heat.columns.iter().map(|name| display_width(name)).max().unwrap_or(0);
        // Longer names than numbers are shortened: both are read from their ends.
        let number = heat.tiles.iter().map(|tile| figure(heat, *tile).len()).max().unwrap_or(1);
        let numbered = [number.max(name) + 1, number + 1].map(|wide| Layout { wide, numbers: true, named: true });
        let named = (name < 4).then_some(Layout { wide: name + 1, numbers: false, named: true });
        let plain = [2, 1].map(|wide| Layout { wide, numbers: false, named: false });
        numbered.into_iter().chain(named).chain(plain).find(|layout| fits(layout.wide))
    }

    fn tile(&self, heat: &Heatmap, tile: Tile, fifths: &Fifths, colours: bool) -> (String, Style) {
        let wide = self.wide;
        let Some(fifth) = tile.value.map(|value| fifths.at(value)) else {
            let gap = if tile.reason.is_some() { "x" } else { "·" };
            return (format!("{gap:>wide$}"), faint());
        };
        let style = if colours { ground(COLOURS[fifth]) } else { Style::default() };
        if self.numbers {
            let text = figure(heat, tile);
            return (format!("{text:>wide$}"), style);
        }
        let shade = if colours { ' ' } else { SHADES[fifth] };
        let last = if tile.state == State::Suspect { '~' } else { shade };
        (std::iter::repeat_n(shade, wide - 1).chain([last]).collect(), style)
    }
}

/// A value as short as it can be, with its doubt, or nothing.
fn figure(heat: &Heatmap, tile: Tile) -> String {
    let Some(value) = tile.value else { return String::new() };
    let doubt = if tile.state == State::Suspect { "~" } else { "" };
    // Times in nanoseconds, rates in billions: the legend says which.
    let number = value / scale(&heat.quantity).map_or(1.0, |(by, _)| by);
    if number.abs() < 9.95 { units::ratio(number) + doubt } else { format!("{number:.0}{doubt}") }
}

/// By what numbers are divided, and what unit they have then.
fn scale(quantity: &Quantity) -> Option<(f64, &'static str)> {
    match quantity {
        Quantity::Nanos => Some((1.0, "nanoseconds")),
        Quantity::Value(unit) => Some(units::billions(*unit)),
        Quantity::Share => Some((0.01, "percent")),
        _ => None,
    }
}

/// The bounds between the fifths of all values.
struct Fifths {
    sorted: Vec<f64>,
    more_is_better: bool,
}

impl Fifths {
    fn of(heat: &Heatmap) -> Self {
        let mut sorted: Vec<f64> = heat.tiles.iter().filter_map(|tile| tile.value).collect();
        sorted.arrange_by(f64::total_cmp);
        let more_is_better = matches!(&heat.quantity, Quantity::Value(unit) if unit.more_is_better());
        Fifths { sorted, more_is_better }
    }

    /// In which fifth a value is, the best first.
    fn at(&self, value: f64) -> usize {
        let below = self.sorted.partition_point(|other| *other < value);
        let fifth = below * COLOURS.len() / self.sorted.len().max(1);
        let fifth = fifth.min(COLOURS.len() - 1);
        if self.more_is_better { COLOURS.len() - 1 - fifth } else { fifth }
    }

    /// From what to what the fifth goes; nothing where it is empty.
    fn ends(&self, fifth: usize) -> Option<[f64; 2]> {
        let mut inside = self.sorted.iter().filter(|value| self.at(**value) == fifth);
        let first = inside.next()?;
        Some([*first, *inside.next_back().unwrap_or(first)])
    }
}

fn legend(heat: &Heatmap, layout: &Layout, fifths: &Fifths, pen: &mut Pen<'_>) -> io::Result<()> {
    let unit = scale(&heat.quantity).filter(|_| layout.numbers).map(|(_, unit)| format!("; numbers are {unit}"));
    pen.aside(&format!("rows: {}, columns: {}{}", heat.row_label, heat.column_label, unit.unwrap_or_default()))?;
    if !heat.borders.is_empty() {
        let names: Vec<&str> = heat.borders.iter().map(|(_, name)| name.as_str()).collect();
        pen.aside(&format!("apart from each other: {}", names.join(", ")))?;
    }
    let entry = |fifth: usize| {
        let [low, high] = fifths.ends(fifth)?;
        let words = format!("{} to {}", heat.quantity.shown(low), heat.quantity.shown(high));
        let mark = if pen.has_colour() { "  ".to_owned() } else { SHADES[fifth].to_string().repeat(2) };
        let style = if pen.has_colour() { ground(COLOURS[fifth]) } else { Style::default() };
        Some((mark, style, words))
    };
    let told = pen.has_colour() || !layout.numbers;
    let mut entries: Vec<(String, Style, String)> = (0..COLOURS.len()).filter(|_| told).filter_map(entry).collect();
    let has = |is: fn(&Tile) -> bool| heat.tiles.iter().any(is);
    let besides = [
        (has(|tile| tile.state == State::Suspect), "~", "noisy"),
        (has(|tile| tile.value.is_none() && tile.reason.is_some()), "x", "no number"),
        (has(|tile| tile.value.is_none() && tile.reason.is_none()), "·", "not measured"),
    ];
    entries
        .extend(besides.iter().filter(|(is, ..)| *is).map(|(_, mark, name)| ((*mark).into(), bold(), (*name).into())));
    pen.legend(&entries)?;
    for reason in heat.reasons.iter().take(3) {
        pen.text("? ", reason)?;
    }
    Ok(())
}
