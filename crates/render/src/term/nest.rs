//! A machine as boxes inside each other.
//!
//! A part is a box with its name in the upper edge; parts of which each holds one other are one box with several names. Strands, and
//! ALU slots in brackets, are in the box of their core. Siblings that are alike are drawn once or some times and counted where
//! all of them would take too many lines.

use std::io;

use textwrap::core::display_width;

use super::pen::{Pen, short};
use super::sheet::Sheet;
use crate::look::Style;
use charz_analysis::figure::{MachineDiagram, Part, What};
use charz_data::escape::plain;

/// The most lines of a machine whose parts are all drawn: a screen, or little more.
const SCREEN: usize = 48;
const MOST: usize = 200;
/// The columns of a box on both sides of its contents.
const SIDES: usize = 4;
/// Columns that are enough to distinguish names of any length.
const NAME: usize = 24;

/// Which of the boxes that are alike are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    Nothing,
    /// Of the innermost boxes those beyond a row.
    Inner,
    /// Of all boxes those beyond a row.
    Row,
    Alike,
}

/// The machine on a sheet so wide; `None` where it does not fit.
fn sheet(nest: &MachineDiagram, width: usize) -> Option<Sheet> {
    let attempts = [Fold::Nothing, Fold::Inner, Fold::Row, Fold::Alike];
    // Without folding there may be as many boxes as strands, of which a screen holds no more than cells.
    let few = nest.strands() <= SCREEN * width;
    attempts.into_iter().filter(|fold| few || *fold != Fold::Nothing).find_map(|fold| {
        let most = if fold == Fold::Alike { MOST } else { SCREEN };
        flow(&nest.parts, width, fold).filter(|sheet| sheet.height <= most)
    })
}

/// Draws it where it has room; says whether it has.
pub fn boxes(nest: &MachineDiagram, pen: &mut Pen<'_>) -> io::Result<bool> {
    let Some(sheet) = sheet(nest, pen.width()) else { return Ok(false) };
    pen.sheet(&sheet)?;
    if has_unusable(&nest.parts) {
        pen.aside("(…) may not be used by the process that looked")?;
    }
    Ok(true)
}

/// Whether a strand is in round brackets.
fn has_unusable(parts: &[Part]) -> bool {
    parts.iter().any(|part| if part.what == What::Strand { !part.usable } else { has_unusable(&part.parts) })
}

/// Parts beside each other, in as many rows as it takes; `None` where one does not fit.
fn flow(parts: &[Part], width: usize, fold: Fold) -> Option<Sheet> {
    let mut items = Vec::new();
    for run in parts.chunk_by(Part::is_like) {
        let first = drawn(run.first()?, width, fold)?;
        let row = ((width + 1) / (first.width + 1)).max(1);
        let inner = run.iter().all(|part| one_box(part).last().is_some_and(|core| core.parts.iter().all(is_word)));
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
            items.push(drawn(part, width, fold)?);
        }
        if let Some(last) = run[keep..].last() {
            let words = format!("… {} more like it, to {}", run.len() - keep, plain(&last.label));
            items.push(Sheet::of(&short(&words, width), Style::Faint));
        }
    }
    Some(Sheet::flow(&items, width, 1))
}

/// A part as a word, or as a box with what is in it; `None` where it does not fit.
fn drawn(part: &Part, width: usize, fold: Fold) -> Option<Sheet> {
    let room = width.checked_sub(SIDES).filter(|room| *room > 0)?;
    if is_word(part) {
        return Some(word(part, width));
    }
    let parts = one_box(part);
    let names: Vec<String> = parts.iter().map(|part| plain(&part.name())).collect();
    // A model's name may be cut; the words that distinguish parts may not.
    if names.iter().any(|name| display_width(name) > room) && room < NAME {
        return None;
    }
    let names: Vec<String> = names.iter().map(|name| short(name, room)).collect();
    let inner = &parts.last()?.parts;
    let inside = match inner.iter().all(is_word) {
        true => Sheet::flow(&inner.iter().map(|part| word(part, room)).collect::<Vec<_>>(), room, 1),
        false => flow(inner, room, fold)?,
    };
    let widest = names.iter().map(|name| display_width(name)).fold(inside.width, usize::max);
    // The first name is in the edge, the others in lines of their own.
    let mut sheet = Sheet::framed(widest + SIDES, names.len() + inside.height + 1);
    for (at, name) in names.iter().enumerate() {
        let is_bold = at == 0 && part.what == What::Package;
        sheet.put(if at == 0 { 1 } else { 2 }, at, name, if is_bold { Style::Bold } else { Style::Plain });
    }
    sheet.paste(2, names.len(), &inside);
    Some(sheet)
}

/// A part, and those in it of which each is the only one: they are one box, the innermost of which has more or only words.
fn one_box(part: &Part) -> Vec<&Part> {
    let mut parts = vec![part];
    let mut last = part;
    while let [only] = last.parts.as_slice()
        && !is_word(only)
        && last.times <= 1
    {
        parts.push(only);
        last = only;
    }
    parts
}

/// Strands, and ALU slots with nothing but strands, are words.
fn is_word(part: &Part) -> bool {
    let is_slot = part.what == What::Alu && part.parts.len() <= 16;
    part.what == What::Strand || (is_slot && part.parts.iter().all(|strand| strand.what == What::Strand))
}

fn word(part: &Part, room: usize) -> Sheet {
    Sheet::of(&short(&strands(part), room), if part.usable { Style::Plain } else { Style::Faint })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::written;
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
        sheet(nest, width).map(|sheet| written(|out| sheet.write(&TerminalStyle::PLAIN, out)))
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
    fn no_room_is_no_picture() {
        assert!(shown(&machine(2, 2), 10).is_none());
        assert_eq!(shown(&MachineDiagram { parts: Vec::new(), orders: Vec::new() }, 40).as_deref(), Some(""));
    }
}
