//! What a line of memory takes from each strand to each other, as far as a report says it.

mod export;
pub(super) mod heat;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use super::value;
use crate::pairs::{self, Class, Side};
use crate::report::{Cell, Machine, Report, Status, Strand};
use crate::stats::Sample;

pub(super) use export::{csv, json};

/// What the names of kernels begin with that hand a line from one core to the other.
const PREFIX: &str = "c2c-";

/// The most strands whose pairs are counted: more than Linux is built for, and soon done.
const MOST_COUNTED: usize = 8192;

/// Pairs of strands under one kernel.
pub(super) struct Matrix<'a> {
    kernel: &'a str,
    machine: &'a Machine,
    /// Those that have a part in a pair, in logical order: neighbours on the machine are neighbours here.
    strands: Vec<&'a Strand>,
    /// By OS ids, home first.
    cells: BTreeMap<[u32; 2], &'a Cell>,
}

/// What is known of a class of pairs.
struct Row {
    class: Class,
    /// How many the machine has; `None` where nobody counted.
    pairs: Option<u64>,
    /// Those that have a number.
    measured: usize,
    /// How many of these numbers are suspect.
    suspect: usize,
    /// The numbers in nanoseconds, if there are any.
    values: Option<Sample>,
}

impl<'a> Matrix<'a> {
    /// The pairs of a kernel; `None` where it measures none, or its workers were not bound to two strands each time.
    pub(super) fn of(report: &'a Report, kernel: &'a str) -> Option<Self> {
        let known: HashMap<u32, usize> =
            report.machine.strands.iter().enumerate().map(|(place, strand)| (strand.os_id, place)).collect();
        let mut cells = BTreeMap::new();
        for cell in report.cells.iter().filter(|cell| cell.kernel == kernel && kernel.starts_with(PREFIX)) {
            let [Some(home), Some(other)] = cell.seats[..] else { return None };
            if !known.contains_key(&home) || !known.contains_key(&other) {
                return None;
            }
            // Two mappings may come to the same pair: the first is shown.
            cells.entry([home, other]).or_insert(cell);
        }
        if cells.is_empty() {
            return None;
        }
        let mut places: Vec<usize> = cells.keys().flatten().map(|id| known[id]).collect();
        places.sort_unstable();
        places.dedup();
        let strands = places.into_iter().map(|place| &report.machine.strands[place]).collect();
        Some(Matrix { kernel, machine: &report.machine, strands, cells })
    }

    /// Those of all kernels of a report that have one.
    fn all(report: &'a Report) -> Vec<Self> {
        report.plan.kernels.iter().filter_map(|kernel| Matrix::of(report, kernel)).collect()
    }

    /// Its cells, by pair.
    pub(super) fn cells(&self) -> impl Iterator<Item = &'a Cell> {
        self.cells.values().copied()
    }

    /// How the line is handed over.
    fn mode(&self) -> &'a str {
        self.kernel.strip_prefix(PREFIX).unwrap_or(self.kernel)
    }

    /// What was measured of the pair.
    fn at(&self, home: &Strand, other: &Strand) -> Option<&'a Cell> {
        self.cells.get(&[home.os_id, other.os_id]).copied()
    }

    /// Its classes, also those of which nothing was measured; the nearest first.
    fn rows(&self) -> Vec<Row> {
        let usable: Vec<&Strand> = self.machine.strands.iter().filter(|strand| strand.usable).collect();
        let counted = (usable.len() <= MOST_COUNTED).then(|| pairs::count(&usable));
        let mut cells: BTreeMap<Class, Vec<&Cell>> = BTreeMap::new();
        if let Some(counted) = &counted {
            cells.extend(counted.keys().map(|class| (*class, Vec::new())));
        }
        let strands: HashMap<u32, &Strand> = self.strands.iter().map(|strand| (strand.os_id, *strand)).collect();
        for ([home, other], cell) in &self.cells {
            cells.entry(Class::of(strands[home], strands[other])).or_default().push(cell);
        }
        let row = |(class, cells): (Class, Vec<&Cell>)| {
            let numbered: Vec<&Cell> = cells.into_iter().filter(|cell| value(cell).is_some()).collect();
            Row {
                class,
                pairs: counted.as_ref().map(|counted| counted.get(&class).copied().unwrap_or(0)),
                measured: numbered.len(),
                suspect: numbered.iter().filter(|cell| cell.outcome.status == Status::Suspect).count(),
                values: Sample::new(numbered.iter().filter_map(|cell| value(cell)).collect()),
            }
        };
        cells.into_iter().map(row).collect()
    }
}

/// A class in words, with as much of where it is as tells it from others on this machine.
pub(in crate::render) fn class_name(class: &Class, machine: &Machine) -> String {
    let Class { distance, from, to } = *class;
    let kinds = machine.strands.iter().any(|strand| strand.kind != machine.strands[0].kind);
    let place = |side: Side| {
        let words = [
            ("package", side.package.filter(|_| machine.packages > 1)),
            ("node", side.numa.filter(|_| machine.numa_nodes > 1)),
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
