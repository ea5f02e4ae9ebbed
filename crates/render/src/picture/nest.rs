//! A machine as boxes inside each other, its strands as cells.
//!
//! Most of what could be written repeats: so a cell has its number only, parts of which each holds one other are one box, and the
//! caches and the kinds of core are named once, below the boxes.

use std::collections::BTreeMap;

use super::colour::Paint;
use super::pen::{Pen, TextStyle};
use super::{WIDTH, width};
use charz_analysis::figure::{Level, MachineDiagram, Part, What};
use charz_data::{cpulist, escape::plain};

const CELL: [f64; 2] = [27.0, 18.0];
/// A cell with the place of its strand in an order.
const CELL_WITH_TURN: f64 = 29.0;
/// Within a box, around what it holds.
const PAD: f64 = 4.0;
/// What a box is called, above what it holds, and the most room for it where the box is narrower.
const HEAD: f64 = 15.0;
const NAME: f64 = 190.0;
const SIZE: f64 = 11.0;
/// The shape of a machine that fills a slide.
const WIDE: f64 = 16.0 / 9.0;
/// What boxes of cores may be shaped like.
const SHAPES: [f64; 5] = [1.5, 1.0, 2.2, 3.3, 0.7];
/// Boxes deeper than that are not drawn: no machine has so many levels.
const DEEPEST: usize = 12;
/// With more cores than that, caches of several cores that are alike and next to each other are drawn once.
const MOST_CORES: usize = 64;
const NARROW: f64 = 340.0;
const LEGEND_ROW: f64 = 18.0;

/// Draws it below a height; its width and the height at which it ends.
pub(super) fn draw(nest: &MachineDiagram, top: f64, pen: &mut Pen) -> [f64; 2] {
    let order = nest.orders.iter().find(|order| !order.seats.is_empty()).filter(|_| !pen.is_inline());
    let levels = nest.levels();
    let (boxes, [wide, high]) = laid(nest, &levels, if order.is_some() { CELL_WITH_TURN } else { CELL[1] });
    let turns: BTreeMap<u32, usize> =
        order.iter().flat_map(|order| order.seats.iter().enumerate().rev().map(|(at, strand)| (*strand, at))).collect();
    // A page has little room beside its first numbers.
    let width = (wide + 24.0).max(if pen.is_inline() { NARROW } else { WIDTH });
    let origin = [12.0, top + 4.0];
    // A kind of core has a ground of its own where there are several.
    let kinds: Vec<&str> =
        levels.iter().filter(|level| level.what == What::Core).map(|level| level.name.as_str()).collect();
    let kind = |part: &Part| kinds.iter().position(|name| part.kind().as_deref() == Some(name)).unwrap_or(0);
    let cells = Cells { turns, kind: &kind };
    for part in &boxes {
        part.draw(origin, 0, &cells, pen);
    }
    let mut end = legend(&levels, [12.0, width - 12.0], origin[1] + high + 12.0, pen);
    if let Some(order) = order {
        let text = format!("Large: the CPU's number. Small: its place in the order of {}.", order.mapping);
        pen.text(&text, TextStyle { paint: Paint::Soft, room: width - 24.0, ..TextStyle::at(12.0, end + 10.0, 12.0) });
        end += 20.0;
    }
    [width, end]
}

/// How strands are drawn.
struct Cells<'f> {
    /// The place of each in an order.
    turns: BTreeMap<u32, usize>,
    /// Which kind of core a core is, from 0.
    kind: &'f dyn Fn(&Part) -> usize,
}

/// The ground of the strands of a kind of core.
fn cell_ground(kind: usize) -> Paint {
    Paint::MachineDiagram(4_usize.saturating_sub(kind))
}

/// The ground of a box: a part of a kind has the same everywhere.
fn ground(what: What, is_shared: bool) -> Paint {
    Paint::MachineDiagram(match what {
        What::Package => 0,
        What::NumaNode | What::Group => 1,
        What::Cache if is_shared => 2,
        What::Cache | What::Core | What::Alu | What::Strand => 4,
    })
}

/// The levels beside each other, each with its ground, in rows between two places; the height at which they end.
fn legend(levels: &[Level], [left, right]: [f64; 2], top: f64, pen: &mut Pen) -> f64 {
    const KEY: f64 = 20.0;
    const GAP: f64 = 22.0;
    let (mut x, mut y) = (left, top);
    for (at, level) in levels.iter().enumerate() {
        let text = plain(&level.in_words());
        let wide = KEY + width::of(&text, SIZE).min(right - left - KEY) + GAP;
        if x > left && x + wide - GAP > right {
            (x, y) = (left, y + LEGEND_ROW);
        }
        let key = pen.tag("rect").rectangle(x, y, 13.0, 11.0).number("rx", 2.0);
        let key = key.paint(
            "fill",
            match level.what {
                What::Core => cell_ground(levels[..at].iter().filter(|level| level.what == What::Core).count()),
                what => ground(what, level.holds[1] > 1),
            },
        );
        key.paint("stroke", Paint::Soft).word("stroke-width", ".8").empty();
        pen.text(&text, TextStyle { room: right - x - KEY, ..TextStyle::at(x + KEY, y + 10.0, SIZE) });
        x += wide;
    }
    if levels.is_empty() { top } else { y + LEGEND_ROW }
}

/// All parts in their places, of several ways the one that comes nearest to the shape of a slide; how wide and high they are.
fn laid<'a>(nest: &'a MachineDiagram, levels: &[Level], cell: f64) -> (Vec<Laid<'a>>, [f64; 2]) {
    // Sizes of one level that differ are named at each.
    let caches = |name: &str| {
        let same = |level: &&Level| {
            level.what == What::Cache && level.holds[1] > 1 && level.name.split(' ').next() == Some(name)
        };
        levels.iter().filter(same).count()
    };
    let is_named = |part: &Part| match part.what {
        What::Package | What::NumaNode | What::Group => true,
        What::Cache => {
            part.count(What::Core) > part.times && caches(part.label.split(' ').next().unwrap_or_default()) > 1
        }
        What::Core | What::Alu | What::Strand => false,
    };
    let cores: usize = nest.parts.iter().map(|part| part.count(What::Core)).sum();
    let way = |shape: f64| {
        let layout = Layout { is_named: &is_named, shape, cell, gathers: cores > MOST_CORES };
        let mut boxes = layout.all(&nest.parts, 0);
        let size = arrange(&mut boxes, WIDE);
        (boxes, size)
    };
    let unlike = |[wide, high]: [f64; 2]| (wide / high.max(1.0) / WIDE).ln().abs();
    let ways = SHAPES.map(way).into_iter();
    ways.min_by(|one, other| unlike(one.1).total_cmp(&unlike(other.1))).unwrap_or((Vec::new(), [CELL[0], 0.0]))
}

/// A part, and those inside of which each is the only one, with its place within the outer one.
struct Laid<'a> {
    part: &'a Part,
    /// What is written in it, a line each.
    names: Vec<String>,
    ground: Paint,
    /// Whether it is a core, or a core is the only thing in it.
    is_core: bool,
    /// How many parts it represents.
    times: usize,
    at: [f64; 2],
    size: [f64; 2],
    inside: Vec<Laid<'a>>,
}

struct Layout<'f> {
    is_named: &'f dyn Fn(&Part) -> bool,
    /// What boxes of cores are shaped like.
    shape: f64,
    /// How high a cell is.
    cell: f64,
    /// Whether caches that are alike are drawn once.
    gathers: bool,
}

impl Layout<'_> {
    fn all<'a>(&self, parts: &'a [Part], depth: usize) -> Vec<Laid<'a>> {
        let is_group = |part: &Part| self.gathers && part.what == What::Cache && part.count(What::Core) > part.times;
        let runs = parts.chunk_by(|one, other| is_group(one) && one.is_like(other));
        runs.map(|run| self.run(run, depth)).collect()
    }

    /// Parts that are alike, as one.
    fn run<'a>(&self, run: &'a [Part], depth: usize) -> Laid<'a> {
        let mut laid = self.one(&run[0], depth);
        laid.times = run.iter().map(|part| part.times).sum();
        if laid.times > 1 && laid.part.what != What::Strand {
            let mut ids: Vec<u32> = run.iter().flat_map(strands).collect();
            ids.sort_unstable();
            // A part that represents others does not know their numbers.
            let ids = if run.len() > 1 { format!(": {}", cpulist::cpus(&ids)) } else { String::new() };
            laid.names.push(format!("× {}{ids}", laid.times));
            laid.size = self.outer(&laid);
        }
        laid
    }

    fn one<'a>(&self, part: &'a Part, depth: usize) -> Laid<'a> {
        let nothing = |size| Laid {
            part,
            names: vec![part.name()],
            ground: Paint::Paper,
            is_core: false,
            times: 1,
            at: [0.0; 2],
            size,
            inside: Vec::new(),
        };
        if part.what == What::Strand || depth > DEEPEST {
            let wide = (width::of(&plain(&part.name()), 12.0) + 8.0).clamp(CELL[0], 60.0);
            return nothing([wide, self.cell]);
        }
        let mut chain = vec![part];
        let mut last = part;
        while let [only] = last.parts.as_slice()
            && only.what != What::Strand
            && only.times <= 1
        {
            chain.push(only);
            last = only;
        }
        let names = chain.iter().filter(|part| (self.is_named)(part)).map(|part| part.label.clone()).collect();
        let shared = |part: &&&Part| part.what != What::Cache || part.count(What::Core) > part.times;
        let outer = chain.iter().rfind(shared).map_or(What::Core, |part| part.what);
        let mut laid = nothing([0.0; 2]);
        laid.is_core = chain.iter().any(|part| part.what == What::Core);
        laid.ground = if laid.is_core { ground(What::Core, false) } else { ground(outer, true) };
        laid.names = names;
        laid.inside = self.all(&last.parts, depth + chain.len());
        // Parts of a core or a slot are in a row; outer parts are spread as on a page.
        let shape = if matches!(last.what, What::Core | What::Alu) { 6.0 } else { self.shape };
        laid.size = arrange(&mut laid.inside, shape);
        laid.size = self.outer(&laid);
        laid
    }

    /// How large a box is around what it holds, which is moved below its names.
    fn outer(&self, laid: &Laid<'_>) -> [f64; 2] {
        let [wide, high] = extent(&laid.inside);
        let names = laid.names.iter().map(|name| (1.1 * width::of(&plain(name), SIZE)).min(NAME)).fold(0.0, f64::max);
        let pad = laid.pad();
        [wide.max(names) + 2.0 * pad, high + 2.0 * pad + HEAD * laid.names.len() as f64]
    }
}

/// The numbers of the strands in a part.
fn strands(part: &Part) -> Vec<u32> {
    part.strand.into_iter().chain(part.parts.iter().flat_map(strands)).collect()
}

/// How much room parts in their places take.
fn extent(parts: &[Laid<'_>]) -> [f64; 2] {
    [0, 1].map(|at| parts.iter().map(|part| part.at[at] + part.size[at]).fold(CELL[0] * (1 - at) as f64, f64::max))
}

/// Puts parts into rows, as many to a row as come nearest to a shape, those of one size and kind together; how wide and how high
/// they are.
fn arrange(parts: &mut [Laid<'_>], shape: f64) -> [f64; 2] {
    const GAP: f64 = 4.0;
    /// Sizes that differ by more are in rows of their own.
    const ODD: f64 = 1.7;
    let alike = |one: &Laid<'_>, other: &Laid<'_>| {
        let near = |at: usize| (one.size[at] / other.size[at]).ln().abs() < ODD.ln();
        one.part.what == What::Strand || (near(0) && near(1))
    };
    let area: f64 = parts.iter().map(|part| (part.size[0] + GAP) * (part.size[1] + GAP)).sum();
    let is_one = parts.chunk_by(alike).count() == 1;
    let mut top = 0.0;
    for run in parts.chunk_by_mut(alike) {
        let count = run.len();
        let [wide, high] = [0, 1].map(|at| run.iter().map(|part| part.size[at]).fold(0.0, f64::max));
        // A last row that is not full counts as a worse shape.
        let unlike = |columns: &usize| {
            let rows = count.div_ceil(*columns);
            let [all_wide, all_high] = [*columns as f64 * (wide + GAP) - GAP, rows as f64 * (high + GAP) - GAP];
            let ragged = (columns * rows - count) as f64 / count as f64;
            (all_wide / all_high / shape).ln().abs() + 2.0 * ragged
        };
        let columns = match is_one {
            true => (1..=count).min_by(|one, other| unlike(one).total_cmp(&unlike(other))).unwrap_or(1),
            // Runs below each other are about as wide.
            false => (((area * shape).sqrt() / (wide + GAP)).round() as usize).clamp(1, count),
        };
        for (at, part) in run.iter_mut().enumerate() {
            part.at = [(at % columns) as f64 * (wide + GAP), top + (at / columns) as f64 * (high + GAP)];
            // Neighbours end at one line.
            part.size = if part.part.what == What::Strand { [wide, part.size[1]] } else { [wide, high] };
        }
        top += count.div_ceil(columns) as f64 * (high + GAP);
    }
    extent(parts)
}

fn class(what: What) -> &'static str {
    match what {
        What::Package => "part socket",
        What::NumaNode => "part node",
        What::Group => "part group",
        What::Cache => "part cache",
        What::Core => "part core",
        What::Alu => "part alu",
        What::Strand => "strand",
    }
}

impl Laid<'_> {
    /// A box without a name is tight around its strands.
    fn pad(&self) -> f64 {
        if self.names.is_empty() && self.inside.iter().all(|inner| inner.part.what == What::Strand) { 2.0 } else { PAD }
    }

    fn draw(&self, origin: [f64; 2], kind: usize, cells: &Cells<'_>, pen: &mut Pen) {
        let at = [origin[0] + self.at[0], origin[1] + self.at[1]];
        if self.part.what == What::Strand {
            return self.strand(at, kind, cells, pen);
        }
        let [wide, high] = self.size;
        pen.tag("g").word("class", class(self.part.what)).children(|pen| {
            // Others like it lie behind.
            if self.times > 1 {
                let behind = pen.tag("rect").rectangle(at[0] + 3.0, at[1] + 3.0, wide, high).number("rx", 3.0);
                behind.paint("fill", self.ground).paint("stroke", Paint::Soft).empty();
            }
            let outline = pen.tag("rect").rectangle(at[0], at[1], wide, high).number("rx", 3.0);
            outline.paint("fill", self.ground).paint("stroke", Paint::Soft).word("stroke-width", ".8").empty();
            let pad = self.pad();
            for (line, name) in self.names.iter().enumerate() {
                let paint = if self.part.what == What::Package && line == 0 { Paint::Ink } else { Paint::Soft };
                let y = at[1] + 12.0 + line as f64 * HEAD;
                pen.text(name, TextStyle { paint, room: wide - 2.0 * pad, ..TextStyle::at(at[0] + pad, y, SIZE) });
            }
            let inner = [at[0] + pad, at[1] + pad + HEAD * self.names.len() as f64];
            let kind = if self.is_core { (cells.kind)(self.part) } else { kind };
            for part in &self.inside {
                part.draw(inner, kind, cells, pen);
            }
        });
    }

    fn strand(&self, at: [f64; 2], kind: usize, cells: &Cells<'_>, pen: &mut Pen) {
        let [wide, high] = self.size;
        let strand = self.part.strand;
        pen.tag("g").word("class", if self.part.usable { "strand" } else { "strand unusable" }).children(|pen| {
            let turn = strand.and_then(|strand| cells.turns.get(&strand));
            let cell = pen.tag("rect").rectangle(at[0], at[1], wide, high).number("rx", 2.0);
            let cell = cell.paint("fill", cell_ground(kind));
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
            let name = TextStyle { paint, room: wide - 2.0, ..TextStyle::around(middle, line, 12.0) };
            pen.text(&self.part.name(), name);
            if let Some(turn) = turn {
                let paint = Paint::Series(0);
                let small = TextStyle { paint, ..TextStyle::around(middle, at[1] + high - 3.5, 11.0) };
                pen.text(&(turn + 1).to_string(), small);
            }
        });
    }
}
