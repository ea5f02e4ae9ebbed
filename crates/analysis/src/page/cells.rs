//! The cells of all reports of a page, by kernel.

use charz_claims::verdict::Verdict;
use charz_estimate::grouped;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::Source;
use charz_claims::numa;
use charz_data::report::{Cell, Finding, FindingKind, MemoryHome, Unit};
use charz_data::{Arrange, Card, Family, Role};

/// What kernels of a role are called together, as a part of an id and as a title; of the others those whose names begin alike.
pub(super) fn family(kernel: &Kernel<'_>) -> (String, String) {
    let (slug, title) = match kernel.role() {
        Role::LockPool { .. } => ("locks", "Locks around a list"),
        Role::Lock { .. } => ("acquisitions", "Lock acquisitions"),
        Role::LockFreePool { .. } => ("lock-free", "Pools without a lock"),
        Role::Counter(_) => ("counters", "Shared counters"),
        Role::Ring => ("rings", "Token rings"),
        Role::Barrier => ("barriers", "Barriers"),
        Role::HandOff(_) => ("wake-ups", "Wake-ups"),
        _ => {
            let first = kernel.name.split('-').next().unwrap_or_default();
            return (first.to_owned(), format!("{first} kernels"));
        }
    };
    (slug.to_owned(), title.to_owned())
}

/// Reports with what is looked up in them more than once.
pub(super) struct CellsByKernel<'a> {
    pub(super) sources: &'a [Source<'a>],
    /// In the order of the plans; kernels that no plan names come last.
    pub(super) kernels: Vec<Kernel<'a>>,
    pub(super) findings: Vec<Vec<Finding>>,
    /// What comes out at each kernel of each report.
    pub(super) verdicts: Vec<Vec<Verdict<'a>>>,
}

pub(super) struct Kernel<'a> {
    pub(super) name: &'a str,
    /// As the first report has it that knows the kernel.
    pub(super) card: Option<&'a Card>,
    /// In what its cells differ, in all reports together.
    pub(super) shape: Shape,
    pub(super) cells: Vec<SourcedCell<'a>>,
}

#[derive(Clone, Copy)]
pub(super) struct SourcedCell<'a> {
    pub(super) source: usize,
    pub(super) cell: &'a Cell,
}

/// In what the cells of a kernel differ, which decides how they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Pairs of strands: a square.
    Pairs,
    /// Pairs of NUMA nodes: a square.
    Nodes,
    /// A number for each pace of the others that load the memory: a line over what they move.
    Loads,
    /// A number for each size of the block: a line over sizes.
    Sizes,
    /// A number for each number of workers: a line over workers.
    Workers,
    /// One of several that do the same in different ways: a figure for all of them.
    Family,
    /// Products of matrices by several numbers of levels: a line over levels.
    Products,
    /// Neither: a bar for each number.
    Single,
}

impl<'a> Kernel<'a> {
    pub(super) fn role(&self) -> &'a Role {
        self.card.map_or(&Role::Other, |card| &card.role)
    }

    /// Its cells, those that count the same together.
    pub(super) fn by_unit(&self) -> Vec<Vec<SourcedCell<'a>>> {
        grouped(self.cells.iter().copied(), |own| own.cell.unit)
    }

    /// Its cells that share a figure over workers: those of one point, and of a size that they grew to, that count the same, in the order of
    /// the points.
    pub(super) fn by_point(&self) -> Vec<Vec<SourcedCell<'a>>> {
        let mut groups =
            grouped(self.cells.iter().copied(), |own| (own.cell.point, own.cell.last_size(), own.cell.unit));
        groups.arrange_by_key(|cells| cells[0].cell.point);
        groups
    }
}

impl<'a> CellsByKernel<'a> {
    pub(super) fn of(sources: &'a [Source<'a>], findings: Vec<Vec<Finding>>, verdicts: Vec<Vec<Verdict<'a>>>) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut kernels: Vec<Kernel<'_>> = Vec::new();
        let planned = sources.iter().flat_map(|source| &source.report.plan.kernels);
        let measured = sources.iter().flat_map(|source| &source.report.cells).map(|cell| &cell.kernel);
        for name in planned.chain(measured) {
            places.entry(name).or_insert_with(|| {
                let card = sources.iter().find_map(|source| source.report.card(name));
                kernels.push(Kernel { name, card, shape: Shape::Single, cells: Vec::new() });
                kernels.len() - 1
            });
        }
        for (source, report) in sources.iter().map(|source| source.report).enumerate() {
            for cell in &report.cells {
                kernels[places[cell.kernel.as_str()]].cells.push(SourcedCell { source, cell });
            }
        }
        kernels.retain(|kernel| !kernel.cells.is_empty());
        let strands: Vec<HashSet<u32>> = sources
            .iter()
            .map(|source| source.report.machine.strands.iter().map(|strand| strand.os_id).collect())
            .collect();
        let is_pair = |own: &SourcedCell<'_>| match own.cell.seats[..] {
            [Some(home), Some(other)] => {
                home != other && [home, other].iter().all(|id| strands[own.source].contains(id))
            }
            _ => false,
        };
        for kernel in &mut kernels {
            let pairs = matches!(kernel.role(), Role::LineTransfer(_)) && kernel.cells.iter().all(is_pair);
            kernel.shape = if pairs { Shape::Pairs } else { shape(kernel) };
        }
        let is_related = |kernel: &Kernel<'_>| {
            let is_sync = kernel.card.is_some_and(|card| card.family == Family::Sync);
            is_sync && matches!(kernel.shape, Shape::Single | Shape::Workers)
        };
        let mut relatives: HashMap<(String, Unit), usize> = HashMap::new();
        let key = |kernel: &Kernel<'_>| (family(kernel).0, kernel.cells[0].cell.unit);
        for kernel in kernels.iter().filter(|kernel| is_related(kernel)) {
            *relatives.entry(key(kernel)).or_insert(0) += 1;
        }
        for kernel in kernels.iter_mut().filter(|kernel| is_related(kernel)) {
            if relatives.get(&key(kernel)).is_some_and(|count| *count > 1) {
                kernel.shape = Shape::Family;
            }
        }
        CellsByKernel { sources, kernels, findings, verdicts }
    }

    pub(super) fn shaped(&self, shape: Shape) -> impl Iterator<Item = &Kernel<'a>> {
        self.kernels.iter().filter(move |kernel| kernel.shape == shape)
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = SourcedCell<'a>> {
        self.kernels.iter().flat_map(|kernel| kernel.cells.iter().copied())
    }

    /// The findings on the latencies of a kernel, in words.
    pub(super) fn latencies(&self, kernel: &str) -> Vec<String> {
        let of_source = |(source, findings): (usize, &Vec<Finding>)| {
            let own = findings.iter().filter(|found| found.kind == FindingKind::Latency && found.kernel == kernel);
            own.map(|found| self.prefixed(&found.text, source)).collect::<Vec<_>>()
        };
        self.findings.iter().enumerate().flat_map(of_source).collect()
    }

    pub(super) fn are_several(&self) -> bool {
        self.sources.len() > 1
    }

    /// A sentence, with the report's name before it where there are several.
    pub(super) fn prefixed(&self, sentence: &str, source: usize) -> String {
        match self.sources.get(source).filter(|_| self.are_several()) {
            Some(source) => format!("{}: {sentence}", source.name),
            None => sentence.to_owned(),
        }
    }

    /// A name, with the report's behind it where there are several.
    pub(super) fn named(&self, name: &str, source: usize) -> String {
        match self.sources.get(source).filter(|_| self.are_several()) {
            Some(source) => format!("{name}, {}", source.name),
            None => name.to_owned(),
        }
    }
}

/// The shape of a kernel that does not measure pairs of strands.
fn shape(kernel: &Kernel<'_>) -> Shape {
    let cells = &kernel.cells;
    let count =
        |of: fn(&Cell) -> Option<u64>| cells.iter().filter_map(|own| of(own.cell)).collect::<BTreeSet<u64>>().len();
    let several = |of: fn(&Cell) -> Option<u64>| count(of) > 1;
    let node = |cell: &Cell| match cell.point.memory {
        Some(MemoryHome::Node(id)) => Some(u64::from(id)),
        _ => None,
    };
    let between_nodes = numa::is_latency(kernel.role()) || numa::is_bandwidth(kernel.role());
    if between_nodes && several(node) && cells.iter().all(|own| node(own.cell).is_some()) {
        Shape::Nodes
    } else if several(|cell| cell.point.delay) {
        Shape::Loads
    } else if several(|cell| cell.point.size_bytes) {
        Shape::Sizes
    } else if matches!(kernel.role(), Role::Product(_)) && several(|cell| cell.point.depth) {
        Shape::Products
    } else if count(|cell| Some(cell.workers)) < LINE {
        Shape::Single
    } else {
        Shape::Workers
    }
}

/// The fewest numbers of workers that are a line: bars say more of two.
pub(super) const LINE: usize = 3;
