//! A machine as boxes inside each other, its strands as cells.

use std::collections::BTreeMap;

use super::colour::Paint;
use super::pen::{Pen, TextStyle};
use super::{WIDTH, width};
use charz_analysis::figure::{MachineDiagram, Part, What};
use charz_data::escape::plain;

const CELL: [f64; 2] = [30.0, 24.0];
/// Within a box, around what it holds.
const PAD: f64 = 4.0;
/// What a box is called, above what it holds.
const HEAD: f64 = 14.0;
const SIZE: f64 = 10.0;
/// The shape of a machine that fills a slide.
const WIDE: f64 = 16.0 / 9.0;
/// What boxes of cores may be shaped like.
const SHAPES: [f64; 5] = [1.5, 1.0, 2.2, 3.3, 0.7];
/// Boxes deeper than that are not drawn: no machine has so many levels.
const DEEPEST: usize = 12;

/// Draws it below a height; its width and the height at which it ends.
pub(super) fn draw(nest: &MachineDiagram, top: f64, pen: &mut Pen) -> [f64; 2] {
    let (boxes, [wide, high]) = laid(nest);
    let order = nest.orders.iter().find(|order| !order.seats.is_empty()).filter(|_| !pen.is_inline());
    let turns: BTreeMap<u32, usize> =
        order.iter().flat_map(|order| order.seats.iter().enumerate().rev().map(|(at, strand)| (*strand, at))).collect();
    let width = (wide + 24.0).max(WIDTH);
    // In the middle; the rest of the width is air.
    let origin = [(width - wide) / 2.0, top + 4.0];
    for part in &boxes {
        part.draw(origin, 0, &turns, pen);
    }
    let mut end = origin[1] + high + 10.0;
    if let Some(order) = order {
        let text = format!("Large: the strand's number. Small: its place in the order of {}.", order.mapping);
        pen.text(&text, TextStyle { paint: Paint::Soft, room: width - 24.0, ..TextStyle::at(12.0, end + 10.0, 12.0) });
        end += 20.0;
    }
    [width, end]
}

/// All parts in their places, of several ways the one that comes nearest to the shape of a slide; how wide and high they are.
fn laid(nest: &MachineDiagram) -> (Vec<Laid<'_>>, [f64; 2]) {
    let way = |shape: f64| {
        let mut boxes: Vec<Laid<'_>> = nest.parts.iter().map(|part| lay(part, shape, 0)).collect();
        let size = arrange(&mut boxes, WIDE);
        (boxes, size)
    };
    let unlike = |[wide, high]: [f64; 2]| (wide / high.max(1.0) / WIDE).ln().abs();
    let ways = SHAPES.map(way).into_iter();
    ways.min_by(|one, other| unlike(one.1).total_cmp(&unlike(other.1))).unwrap_or((Vec::new(), [CELL[0], 0.0]))
}

/// A part with its place within the outer one.
struct Laid<'a> {
    part: &'a Part,
    at: [f64; 2],
    size: [f64; 2],
    inside: Vec<Laid<'a>>,
}

fn lay(part: &Part, outer: f64, depth: usize) -> Laid<'_> {
    if part.what == What::Strand || depth > DEEPEST {
        let wide = (width::of(&plain(&part.label), 12.0) + 10.0).clamp(CELL[0], 60.0);
        return Laid { part, at: [0.0; 2], size: [wide, CELL[1]], inside: Vec::new() };
    }
    let mut inside: Vec<Laid<'_>> = part.parts.iter().map(|inner| lay(inner, outer, depth + 1)).collect();
    // Parts of a core or a slot are in a row; outer parts are spread as on a page.
    let shape = if matches!(part.what, What::Core | What::Alu) { 3.0 } else { outer };
    let [wide, high] = arrange(&mut inside, shape);
    let title = width::of(&plain(&part.name()), SIZE).min(120.0);
    let size = [wide.max(title) + 2.0 * PAD, high + 2.0 * PAD + HEAD];
    for inner in &mut inside {
        inner.at = [inner.at[0] + PAD, inner.at[1] + PAD + HEAD];
    }
    Laid { part, at: [0.0; 2], size, inside }
}

/// Puts parts into rows, as many to a row as come nearest to a shape; how wide and how high they are together.
fn arrange(parts: &mut [Laid<'_>], shape: f64) -> [f64; 2] {
    const GAP: f64 = 4.0;
    let count = parts.len();
    let [wide, high] = [0, 1].map(|at| parts.iter().map(|part| part.size[at]).fold(0.0, f64::max));
    let extent = |columns: usize| {
        let rows = count.div_ceil(columns);
        [columns as f64 * (wide + GAP) - GAP, rows as f64 * (high + GAP) - GAP]
    };
    // A last row that is not full counts as a worse shape.
    let unlike = |columns: &usize| {
        let [wide, high] = extent(*columns);
        let ragged = (columns * count.div_ceil(*columns) - count) as f64 / count as f64;
        (wide / high / shape).ln().abs() + ragged
    };
    let columns = (1..=count).min_by(|one, other| unlike(one).total_cmp(&unlike(other))).unwrap_or(1);
    if count == 0 {
        return [CELL[0], 0.0];
    }
    for (at, part) in parts.iter_mut().enumerate() {
        part.at = [(at % columns) as f64 * (wide + GAP), (at / columns) as f64 * (high + GAP)];
        // Neighbours end at one line.
        part.size = if part.part.what == What::Strand { [wide, part.size[1]] } else { [wide, high] };
    }
    extent(columns)
}

fn class(what: What) -> &'static str {
    match what {
        What::Package => "part package",
        What::NumaNode => "part node",
        What::Group => "part group",
        What::Cache => "part cache",
        What::Core => "part core",
        What::Alu => "part alu",
        What::Strand => "strand",
    }
}

impl Laid<'_> {
    fn draw(&self, origin: [f64; 2], depth: usize, turns: &BTreeMap<u32, usize>, pen: &mut Pen) {
        let at = [origin[0] + self.at[0], origin[1] + self.at[1]];
        if self.part.what == What::Strand {
            return self.strand(at, turns, pen);
        }
        let [wide, high] = self.size;
        pen.tag("g").word("class", class(self.part.what)).children(|pen| {
            // Others like it lie behind.
            if self.part.times > 1 {
                let behind = pen.tag("rect").rectangle(at[0] + 3.0, at[1] + 3.0, wide, high).number("rx", 3.0);
                behind.paint("fill", Paint::MachineDiagram(depth)).paint("stroke", Paint::Soft).empty();
            }
            let ground = if self.part.what == What::Core { 4 } else { depth.min(3) };
            let outline = pen.tag("rect").rectangle(at[0], at[1], wide, high).number("rx", 3.0);
            let outline = outline.paint("fill", Paint::MachineDiagram(ground)).paint("stroke", Paint::Soft);
            outline.word("stroke-width", ".8").empty();
            let paint = if self.part.what == What::Package { Paint::Ink } else { Paint::Soft };
            let place = TextStyle { paint, room: wide - 2.0 * PAD, ..TextStyle::at(at[0] + PAD, at[1] + 12.0, SIZE) };
            pen.text(&self.part.name(), place);
            for inner in &self.inside {
                inner.draw(at, depth + 1, turns, pen);
            }
        });
    }

    fn strand(&self, at: [f64; 2], turns: &BTreeMap<u32, usize>, pen: &mut Pen) {
        let [wide, high] = self.size;
        let strand = self.part.strand;
        pen.tag("g").word("class", if self.part.usable { "strand" } else { "strand unusable" }).children(|pen| {
            let turn = strand.and_then(|strand| turns.get(&strand));
            let cell =
                pen.tag("rect").rectangle(at[0], at[1], wide, high).number("rx", 2.0).paint("fill", Paint::Paper);
            // By the number a page finds the cell and lights it.
            let cell = cell.optional("data-strand", strand.map(|strand| strand.to_string()).as_deref());
            match self.part.usable {
                true => cell.paint("stroke", Paint::Series(0)).empty(),
                false => {
                    let cell = cell.paint("stroke", Paint::Soft).word("stroke-dasharray", "2 2").word("opacity", ".6");
                    cell.titled(&format!("{}: not for this process", self.part.label));
                }
            }
            let paint = if self.part.usable { Paint::Ink } else { Paint::Soft };
            let line = at[1] + if turn.is_some() { 12.0 } else { high / 2.0 + 4.0 };
            let middle = at[0] + wide / 2.0;
            let name = TextStyle { paint, room: wide - 4.0, ..TextStyle::around(middle, line, 12.0) };
            pen.text(&self.part.name(), name);
            if let Some(turn) = turn {
                let paint = Paint::Series(0);
                let small = TextStyle { paint, ..TextStyle::around(middle, at[1] + high - 3.0, 8.5) };
                pen.text(&(turn + 1).to_string(), small);
            }
        });
    }
}
