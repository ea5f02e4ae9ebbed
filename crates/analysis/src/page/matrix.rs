//! What a line of memory takes from each strand to each other, as far as a report says it.

use charz_estimate::grouped;
use std::collections::{BTreeMap, HashMap};

use charz_data::machine::{Machine, Strand};

use charz_claims::pairs::{self, Class, Side};
use charz_data::Role;
use charz_data::card::LineOperation;
use charz_data::report::{Cell, MemoryHome, Report};
use charz_stats::Sample;

/// The most strands whose pairs are counted: more than Linux is built for, and soon done.
const MOST_COUNTED: usize = 8192;

/// Pairs of strands under one kernel.
pub struct Matrix<'a> {
    pub kernel: &'a str,
    pub operation: LineOperation,
    pub machine: &'a Machine,
    /// The strands that have a part in a pair, in logical order: neighbours on the machine are neighbours here.
    pub strands: Vec<&'a Strand>,
    /// By OS ids, home first.
    pub cells: BTreeMap<[u32; 2], &'a Cell>,
    /// Where the lines are, if not on the node of the first of each pair.
    pub home: Option<MemoryHome>,
}

pub struct Row {
    pub class: Class,
    /// How many the machine has; `None` where they are too many to count.
    pub pairs: Option<u64>,
    /// Pairs that have a number.
    pub measured: usize,
    pub suspect: usize,
    /// The numbers in nanoseconds, if there are any.
    pub values: Option<Sample>,
}

impl<'a> Matrix<'a> {
    /// The pairs of a kernel, for each home of the lines; none where it measures no pairs, or its workers were not bound to two strands
    /// each time.
    pub fn all(report: &'a Report, kernel: &'a str) -> Vec<Self> {
        let Some(operation) = line_operation(report.role(kernel)) else { return Vec::new() };
        let (cells, known) = (report.cells.iter().filter(|cell| cell.kernel == kernel), places(&report.machine));
        let of = |cells: Vec<&'a Cell>| Matrix::of_cells(&report.machine, &known, (kernel, operation), cells);
        grouped(cells, |cell| cell.point.memory).into_iter().map(of).collect::<Option<_>>().unwrap_or_default()
    }

    /// One of cells that are known to be the kernel's and to have one home, with the places of the strands by id.
    pub fn of_cells(
        machine: &'a Machine,
        known: &HashMap<u32, usize>,
        (kernel, operation): (&'a str, LineOperation),
        all: Vec<&'a Cell>,
    ) -> Option<Self> {
        let home = all.first().and_then(|cell| cell.point.memory).filter(|home| *home != MemoryHome::Local);
        let mut cells = BTreeMap::new();
        for cell in all {
            let [Some(home), Some(other)] = cell.seats[..] else { return None };
            if !known.contains_key(&home) || !known.contains_key(&other) {
                return None;
            }
            // Two mappings may seat the same pair: the first is shown.
            cells.entry([home, other]).or_insert(cell);
        }
        if cells.is_empty() {
            return None;
        }
        let mut places: Vec<usize> = cells.keys().flatten().map(|id| known[id]).collect();
        places.sort_unstable();
        places.dedup();
        let strands = places.into_iter().map(|place| &machine.strands[place]).collect();
        Some(Matrix { kernel, operation, machine, strands, cells, home })
    }

    /// The kernel, and where its lines are if that was asked for: `c2c-cas, lines on node:2`.
    pub fn title(&self) -> String {
        self.home.map_or_else(|| self.kernel.to_owned(), |home| format!("{}, lines on {home}", self.kernel))
    }

    /// Its classes, also those of which nothing was measured; the nearest first.
    pub fn rows(&self) -> Vec<Row> {
        let usable: Vec<&Strand> = self.machine.usable_strands().collect();
        let counted = (usable.len() <= MOST_COUNTED).then(|| pairs::count(self.machine, &usable));
        let mut cells: BTreeMap<Class, Vec<&Cell>> = BTreeMap::new();
        if let Some(counted) = &counted {
            cells.extend(counted.keys().map(|class| (*class, Vec::new())));
        }
        let strands: HashMap<u32, &Strand> = self.strands.iter().map(|strand| (strand.os_id, *strand)).collect();
        for ([home, other], cell) in &self.cells {
            cells.entry(Class::of(self.machine, strands[home], strands[other])).or_default().push(cell);
        }
        let row = |(class, cells): (Class, Vec<&Cell>)| {
            let numbered: Vec<&Cell> = cells.into_iter().filter(|cell| cell.value().is_some()).collect();
            Row {
                class,
                pairs: counted.as_ref().map(|counted| counted.get(&class).copied().unwrap_or(0)),
                measured: numbered.len(),
                suspect: numbered.iter().filter(|cell| cell.is_suspect()).count(),
                values: Sample::new(numbered.iter().filter_map(|cell| cell.value()).collect()),
            }
        };
        cells.into_iter().map(row).collect()
    }
}

/// The operation of a kernel that hands a line from one strand to another.
pub(super) fn line_operation(role: &Role) -> Option<LineOperation> {
    match role {
        Role::LineTransfer(operation) => Some(*operation),
        _ => None,
    }
}

pub fn places(machine: &Machine) -> HashMap<u32, usize> {
    machine.strands.iter().enumerate().map(|(place, strand)| (strand.os_id, place)).collect()
}

/// A class in words, with as much of its place as distinguishes it from others on this machine.
pub fn class_name(class: &Class, machine: &Machine) -> String {
    let Class { distance, from, to } = *class;
    let kinds = machine.strands.iter().any(|strand| strand.kind != machine.strands[0].kind);
    let place = |side: Side| {
        let words = [
            ("socket", side.package.filter(|_| machine.packages.len() > 1)),
            ("node", side.numa.filter(|_| machine.numa_nodes.len() > 1).map(|node| machine.node_id(node))),
            ("kind", side.kind.filter(|_| kinds)),
        ];
        let words = words.iter().filter_map(|(word, index)| Some(format!("{word} {}", (*index)?)));
        words.collect::<Vec<_>>().join(" ")
    };
    let (here, there) = (place(from), place(to));
    match here == there {
        _ if here.is_empty() && there.is_empty() => distance.to_string(),
        true => format!("{distance}, {here}"),
        false => format!("{distance}, {here} to {there}"),
    }
}

#[cfg(test)]
mod tests;
