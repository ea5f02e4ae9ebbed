//! A machine as boxes inside each other.
//!
//! A part is a box with its name in the upper edge; parts of which each holds one other are one box with several names. Strands, and
//! ALU slots in brackets, stand in the box of their core. Siblings that are alike are drawn once or some times and counted where
//! all of them would take too many lines.

use std::io;

use textwrap::core::display_width;

use super::pen::{Pen, short};
use super::sheet::{Sheet, Style, bold, faint};
use charz_analysis::figure::{MachineDiagram, Part, What};
use charz_data::escape::plain;

/// The most lines of a machine whose parts are all drawn: a screen, or little more.
const SCREEN: usize = 48;
const MOST: usize = 200;
/// What a box takes on both sides of what is in it.
const SIDES: usize = 4;
/// Columns in which every name is told apart from others, however long it is.
const NAME: usize = 24;
/// The seats of an order that are told.
const SEATS: usize = 24;

/// How much of what is alike is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    Nothing,
    /// Of the innermost boxes those beyond a row.
    Inner,
    /// Of all boxes those beyond a row.
    Row,
    Alike,
}

/// Something with its place within what holds it.
struct Laid {
    width: usize,
    height: usize,
    content: Content,
}

enum Content {
    Word(String, Style),
    /// A box with its names and what is in it, each at its column and line within.
    Frame {
        names: Vec<String>,
        what: What,
        inside: Vec<(usize, usize, Laid)>,
    },
}

/// The machine on a sheet so wide; `None` where it does not fit.
pub fn boxes(nest: &MachineDiagram, width: usize) -> Option<Sheet> {
    let attempts = [Fold::Nothing, Fold::Inner, Fold::Row, Fold::Alike];
    // Without folding there may be as many boxes as strands, of which a screen holds no more than cells.
    let few = nest.strands() <= SCREEN * width;
    let laid = attempts.into_iter().filter(|fold| few || *fold != Fold::Nothing).find_map(|fold| {
        let laid = flow(&nest.parts, width, fold)?;
        let height = laid.iter().map(|(_, y, item)| y + item.height).max().unwrap_or(0);
        (height <= SCREEN || (fold == Fold::Alike && height <= MOST)).then_some((laid, height))
    });
    let (laid, height) = laid?;
    let mut sheet = Sheet::new(width, height);
    laid.iter().for_each(|(x, y, item)| item.draw(&mut sheet, *x, *y));
    Some(sheet)
}

/// Draws it, and says in which order mappings fill it.
pub fn draw(nest: &MachineDiagram, pen: &mut Pen<'_>) -> io::Result<()> {
    match boxes(nest, pen.width()) {
        Some(sheet) => pen.sheet(&sheet)?,
        None => pen.text("", "the machine has no room here; charz topo --format tree shows it in words")?,
    }
    if has_unusable(&nest.parts) {
        pen.aside(UNUSABLE)?;
    }
    for order in &nest.orders {
        let seats: Vec<String> = order.seats.iter().take(SEATS).map(u32::to_string).collect();
        let more = if order.seats.len() > SEATS { ", …" } else { "" };
        let words = match order.seats.as_slice() {
            [] => "the operating system decides".to_owned(),
            _ => format!("fills {}{more}", seats.join(", ")),
        };
        pen.text(&format!("{}  ", short(&order.mapping, 18)), &words)?;
    }
    Ok(())
}

/// What round brackets are.
pub const UNUSABLE: &str = "(…) may not be used by the process that looked";

/// Whether a strand is in round brackets.
pub fn has_unusable(parts: &[Part]) -> bool {
    parts.iter().any(|part| if part.what == What::Strand { !part.usable } else { has_unusable(&part.parts) })
}

/// Parts beside each other, in as many rows as it takes.
fn flow(parts: &[Part], width: usize, fold: Fold) -> Option<Vec<(usize, usize, Laid)>> {
    let mut items = Vec::new();
    for run in parts.chunk_by(alike) {
        let first = laid(run.first()?, width, fold)?;
        let row = ((width + 1) / (first.width + 1)).max(1);
        let inner = run.iter().all(|part| is_inline(core(part)));
        let keep = match fold {
            Fold::Nothing => run.len(),
            Fold::Inner if !inner => run.len(),
            Fold::Inner | Fold::Row => row,
            Fold::Alike => 1,
        };
        // A count takes as much room as one more.
        let keep = if run.len() <= keep + 1 && fold != Fold::Alike { run.len() } else { keep.min(run.len()) };
        items.push(first);
        for part in &run[1..keep] {
            items.push(laid(part, width, fold)?);
        }
        if let Some(last) = run[keep..].last() {
            let words = format!("… {} more like it, to {}", run.len() - keep, plain(&last.label));
            items.push(word(short(&words, width), faint()));
        }
    }
    Some(placed(items, width))
}

fn placed(items: Vec<Laid>, width: usize) -> Vec<(usize, usize, Laid)> {
    let (mut x, mut y, mut high) = (0, 0, 0);
    let mut placed = Vec::with_capacity(items.len());
    for item in items {
        if x > 0 && x + item.width > width {
            (x, y, high) = (0, y + high, 0);
        }
        high = high.max(item.height);
        let place = x;
        x += item.width + 1;
        placed.push((place, y, item));
    }
    placed
}

fn word(text: String, style: Style) -> Laid {
    Laid { width: display_width(&text), height: 1, content: Content::Word(text, style) }
}

/// A part and what is in it; `None` where it does not fit.
fn laid(part: &Part, width: usize, fold: Fold) -> Option<Laid> {
    let room = width.checked_sub(SIDES).filter(|room| *room > 0)?;
    if is_word(part) {
        return Some(word(short(&strands(part), width), if part.usable { Style::default() } else { faint() }));
    }
    let core = core(part);
    let mut names = vec![plain(&part.name())];
    let mut outer = part;
    while !std::ptr::eq(outer, core) {
        outer = outer.parts.first()?;
        names.push(plain(&outer.name()));
    }
    // A model's name may be cut; the words that tell parts apart may not.
    if names.iter().any(|name| display_width(name) > room) && room < NAME {
        return None;
    }
    let names: Vec<String> = names.iter().map(|name| short(name, room)).collect();
    let inside = match is_inline(core) {
        true => placed(words(&core.parts, room), room),
        false => flow(&core.parts, room, fold)?,
    };
    // The first name is in the edge, the others in lines of their own.
    let below = names.len() - 1;
    let widest =
        inside.iter().map(|(x, _, item)| x + item.width).chain(names.iter().map(|name| display_width(name))).max();
    let height = below + inside.iter().map(|(_, y, item)| y + item.height).max().unwrap_or(0) + 2;
    let width = widest.unwrap_or(0) + SIDES;
    Some(Laid { width, height, content: Content::Frame { names, what: part.what, inside } })
}

/// The innermost of parts that each hold one other with parts of its own: they are one box.
fn core(part: &Part) -> &Part {
    match part.parts.as_slice() {
        [only] if !is_inline(part) && !is_word(only) && part.times <= 1 => core(only),
        _ => part,
    }
}

/// Whether all that is in a part are words.
fn is_inline(part: &Part) -> bool {
    part.parts.iter().all(is_word)
}

/// Strands, and ALU slots with nothing but strands, are words.
fn is_word(part: &Part) -> bool {
    part.what == What::Strand
        || (part.what == What::Alu
            && part.parts.iter().all(|strand| strand.what == What::Strand)
            && part.parts.len() <= 16)
}

fn words(parts: &[Part], room: usize) -> Vec<Laid> {
    parts
        .iter()
        .map(|part| word(short(&strands(part), room), if part.usable { Style::default() } else { faint() }))
        .collect()
}

/// `3`, `(3)` where it may not be used, `[0 1]` for an ALU slot.
fn strands(part: &Part) -> String {
    let times = if part.times > 1 { format!(" ×{}", part.times) } else { String::new() };
    match part.what {
        What::Strand if part.usable => plain(&part.name()),
        What::Strand => format!("({}){times}", plain(&part.label)),
        _ => format!("[{}]{times}", ranged(&part.parts)),
    }
}

/// Strands in a line, three or more in a row as a range: `0-3`, `0 1`, `0 (1)`.
fn ranged(strands_of: &[Part]) -> String {
    let follows = |one: &Part, other: &Part| {
        let next = one.strand.and_then(|id| id.checked_add(1));
        next.is_some() && next == other.strand && one.usable && other.usable && one.times <= 1 && other.times <= 1
    };
    let words = strands_of.chunk_by(follows).flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{}-{}", plain(&first.label), plain(&last.label))],
        few => few.iter().map(strands).collect(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether two parts differ by their numbers only.
fn alike(one: &Part, other: &Part) -> bool {
    let same = |one: &Part, other: &Part| {
        (one.what, one.usable, one.times, one.parts.len()) == (other.what, other.usable, other.times, other.parts.len())
            && unnumbered(&one.label).eq(unnumbered(&other.label))
    };
    same(one, other) && one.parts.iter().zip(&other.parts).all(|(one, other)| alike(one, other))
}

/// A name without its first number: `package 0` and `package 1` are alike, `L2 (1 MiB)` and `L2 (2 MiB)` are not.
fn unnumbered(label: &str) -> impl Iterator<Item = char> + '_ {
    // The number behind the last blank, or before a bracket: that of the part itself.
    let name = label.split(" (").next().unwrap_or(label);
    let name = name.trim_end_matches(|mark: char| mark.is_ascii_digit());
    let rest = label.find(" (").map_or("", |at| &label[at..]);
    name.chars().chain(rest.chars())
}

impl Laid {
    fn draw(&self, sheet: &mut Sheet, x: usize, y: usize) {
        match &self.content {
            Content::Word(text, style) => sheet.put(x, y, text, *style),
            Content::Frame { names, what, inside } => {
                let (right, bottom) = (x + self.width - 1, y + self.height - 1);
                sheet.fill(x..right, y, '─', faint());
                sheet.fill(x..right, bottom, '─', faint());
                for line in y + 1..bottom {
                    sheet.put(x, line, "│", faint());
                    sheet.put(right, line, "│", faint());
                }
                for (column, line, mark) in [(x, y, "┌"), (right, y, "┐"), (x, bottom, "└"), (right, bottom, "┘")]
                {
                    sheet.put(column, line, mark, faint());
                }
                let style = if *what == What::Package { bold() } else { Style::default() };
                for (at, name) in names.iter().enumerate() {
                    sheet.put(
                        x + if at == 0 { 1 } else { 2 },
                        y + at,
                        name,
                        if at == 0 { style } else { Style::default() },
                    );
                }
                for (column, line, item) in inside {
                    item.draw(sheet, x + 2 + column, y + names.len() + line);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::TerminalStyle;

    fn strand(id: usize) -> Part {
        part(What::Strand, &id.to_string(), Vec::new())
    }

    fn part(what: What, label: &str, parts: Vec<Part>) -> Part {
        Part { what, label: label.to_owned(), strand: None, usable: true, times: 1, parts }
    }

    /// Packages with cores with pairs of strands.
    fn machine(packages: usize, cores: usize) -> MachineDiagram {
        let core = |package: usize, core: usize| {
            let first = 2 * (package * cores + core);
            part(What::Core, &format!("core {core}"), vec![strand(first), strand(first + 1)])
        };
        let package = |at: usize| {
            let inside = (0..cores).map(|number| core(at, number)).collect();
            part(What::Package, &format!("package {at}"), vec![part(What::Cache, "L3 (32 MiB)", inside)])
        };
        MachineDiagram { parts: (0..packages).map(package).collect(), orders: Vec::new() }
    }

    fn shown(nest: &MachineDiagram, width: usize) -> Option<String> {
        let mut out = Vec::new();
        boxes(nest, width)?.write(&TerminalStyle::PLAIN, &mut out).unwrap();
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn parts_are_boxes_in_boxes() {
        let expected = "\
┌package 0──────────────┐ ┌package 1──────────────┐
│ L3 (32 MiB)           │ │ L3 (32 MiB)           │
│ ┌core 0──┐ ┌core 1──┐ │ │ ┌core 0──┐ ┌core 1──┐ │
│ │ 0 1    │ │ 2 3    │ │ │ │ 4 5    │ │ 6 7    │ │
│ └────────┘ └────────┘ │ │ └────────┘ └────────┘ │
└───────────────────────┘ └───────────────────────┘
";
        assert_eq!(shown(&machine(2, 2), 100).unwrap(), expected);
    }

    #[test]
    fn what_is_alike_is_counted_beyond_a_screen() {
        let found = shown(&machine(4, 64), 80).unwrap();
        assert!(found.lines().count() <= SCREEN, "{found}");
        assert!(found.contains("more like it, to core 63"), "{found}");
        let huge = shown(&machine(64, 512), 80).unwrap();
        assert!(huge.contains("more like it, to package 63"), "{huge}");
    }

    #[test]
    fn what_differs_is_not_counted_as_the_same() {
        let mut nest = machine(1, 2);
        nest.parts[0].parts[0].parts[1].usable = false;
        let [one, other] = [&nest.parts[0].parts[0].parts[0], &nest.parts[0].parts[0].parts[1]];
        assert!(!alike(one, other) && alike(one, one));
        let cache = |label: &str| part(What::Cache, label, Vec::new());
        assert!(alike(&cache("L2:0 (1 MiB)"), &cache("L2:1 (1 MiB)")));
        assert!(!alike(&cache("L2 (1 MiB)"), &cache("L2 (2 MiB)")));
    }

    #[test]
    fn no_room_is_no_picture() {
        assert!(shown(&machine(2, 2), 10).is_none());
        assert_eq!(shown(&MachineDiagram { parts: Vec::new(), orders: Vec::new() }, 40).as_deref(), Some(""));
    }
}
