//! What makes two reports, or two of their cells, incomparable, and what is only worth knowing: tables, a reason a line.

use std::collections::{BTreeSet, HashSet};

use charz_data::Role;
use charz_data::checks::V19;
use charz_data::machine::{Machine, Strand};
use charz_data::params::{self, PARAMS, Param, Params};
use charz_data::report::{Cell, Estimator, Report, SCHEMA_MAJOR, SCHEMA_MINOR};

use super::facts::{BUILD, Both, Fact, SURROUNDINGS, Said, TERMS, usable_cpus};
use super::places::{Place, obeys_size, place, places};
use super::{Caveat, Options, Quantity};

/// In what two sides are not alike, with what each has.
#[derive(Clone, Debug, PartialEq)]
pub enum Unlike<'a> {
    /// Their processors.
    Processor([Option<&'a str>; 2]),
    /// How many sockets, cores and CPUs there are.
    Counts([[usize; 3]; 2]),
    /// Where a CPU is.
    Position([&'a Strand; 2]),
    /// Their installed memory, and on how many NUMA nodes it is.
    Memory([(Option<u64>, usize); 2]),
    /// The NUMA nodes of a CPU.
    Nodes([&'a Strand; 2]),
    /// A fact of [`BUILD`]; none where neither report knows it.
    Build(&'static str, Option<Both<'a>>),
    /// A parameter of their plans.
    Param(&'static Param, [&'a Params; 2]),
    /// A fact of [`TERMS`].
    Term(&'static str, Both<'a>),
    /// The sizes that their iterations grew to.
    LastSize([u64; 2]),
    /// Only in one the threads took turns on CPUs.
    Turns,
    /// The CPUs of their threads.
    Seats,
    /// The CPUs that threads without seats could use.
    Allowed([Said<'a>; 2]),
    /// The code paths that the kernel chose.
    Path([BTreeSet<&'a str>; 2]),
    /// How a value comes from iterations.
    Estimator,
    /// Of how many iterations a value is the best.
    BestOf([u64; 2]),
    /// The bytes of a thread's block.
    Block([u64; 2]),
    /// How far apart CPUs of the same ids were, in nanoseconds.
    Apart([f64; 2]),
}

impl Unlike<'_> {
    /// What a comparison in spite of it is marked with, if there is one; `None` where nothing allows it.
    pub fn caveat(&self) -> Option<Caveat> {
        Some(match self {
            Unlike::LastSize(_) | Unlike::Turns => return None,
            Unlike::Build(..) | Unlike::Path(_) => Caveat::OtherBuild,
            Unlike::Param(..) | Unlike::Term(..) | Unlike::Estimator | Unlike::BestOf(_) | Unlike::Block(_) => {
                Caveat::OtherPlan
            }
            _ => Caveat::OtherMachine,
        })
    }

    /// Whether it prevents a comparison by these rules.
    pub(super) fn is_refused(&self, options: &Options) -> bool {
        // On another machine a kernel takes another path, and that is the machine's.
        let is_of_machine = matches!(self, Unlike::Path(_)) && options.cross_machine;
        self.caveat().is_none_or(|caveat| !options.allow(caveat)) && !is_of_machine
    }
}

type OfReports = for<'a> fn([&'a Report; 2]) -> Option<Unlike<'a>>;

/// What two reports are asked for, the weightiest first.
const OF_REPORTS: [OfReports; 3] = [other_machine, build, plan];

/// All in which two reports are not alike, by the rows of the table.
pub(super) fn between<'a>(reports: [&'a Report; 2]) -> Vec<Unlike<'a>> {
    OF_REPORTS.iter().filter_map(|of| of(reports)).collect()
}

/// Two cells of two reports, and what of them is compared.
pub(super) struct Cells<'a> {
    pub(super) cells: [&'a Cell; 2],
    pub(super) reports: [&'a Report; 2],
    pub(super) quantity: Quantity,
}

type OfCells = for<'a> fn(&Cells<'a>) -> Option<Unlike<'a>>;

/// What two cells are asked for, the weightiest first; and whether that is asked where the sides were made to differ, too.
const OF_CELLS: [(bool, OfCells); 9] = [
    (true, |of| differ(of.cells.map(Cell::last_size)).map(Unlike::LastSize)),
    (false, |of| of.differ(|cell| cell.marks.iter().any(|mark| mark.code == V19.code)).map(|_| Unlike::Turns)),
    (false, |of| of.differ(|cell| &cell.seats).map(|_| Unlike::Seats)),
    (false, |of| {
        let floats = of.cells.iter().any(|cell| cell.seats.contains(&None));
        different(of.reports.map(usable_cpus))
            .filter(|_| floats && of.differ(|cell| &cell.seats).is_none())
            .map(Unlike::Allowed)
    }),
    (false, |of| of.differ(|cell| variants(cell)).map(Unlike::Path)),
    // What was delivered is all work over all time, however the values are made.
    (false, |of| of.of_values()?.differ(|cell| cell.estimator).map(|_| Unlike::Estimator)),
    // The best of more is better; the median of more is only surer.
    (false, |of| {
        let is_best = of.cells[0].estimator == Estimator::Best;
        of.of_values()?.differ(|cell| cell.repetitions).filter(|_| is_best).map(Unlike::BestOf)
    }),
    (false, |of| {
        let bytes = |at: usize| {
            let (cell, report) = (of.cells[at], of.reports[at]);
            obeys_size(cell, report).then(|| cell.params(&report.plan.params).size_bytes)
        };
        differ([bytes(0), bytes(1)]).map(Unlike::Block)
    }),
    (true, |of| {
        let is_seated_alike = of.differ(|cell| &cell.seats).is_none();
        of.cells[0].moved(of.cells[1]).filter(|_| is_seated_alike).map(Unlike::Apart)
    }),
];

/// All in which two cells are not alike; only what matters to sides that were made to differ, where they were.
pub(super) fn cells<'a>(of: &Cells<'a>, on_purpose: bool) -> impl Iterator<Item = Unlike<'a>> {
    OF_CELLS.iter().filter(move |(always, _)| *always || !on_purpose).filter_map(|(_, find)| find(of))
}

impl<'a> Cells<'a> {
    fn differ<T: PartialEq>(&self, of: impl Fn(&'a Cell) -> T) -> Option<[T; 2]> {
        different(self.cells.map(of))
    }

    fn of_values(&self) -> Option<&Self> {
        (self.quantity == Quantity::Capacity).then_some(self)
    }
}

fn different<T: PartialEq>(values: [T; 2]) -> Option<[T; 2]> {
    (values[0] != values[1]).then_some(values)
}

/// Where both are known.
fn differ<T: PartialEq>([one, other]: [Option<T>; 2]) -> Option<[T; 2]> {
    different([one?, other?])
}

/// The code paths of the invocations that count.
fn variants(cell: &Cell) -> BTreeSet<&str> {
    let counted = cell.invocations.iter().filter(|invocation| invocation.value.is_some());
    counted.filter_map(|invocation| invocation.variant.as_deref()).collect()
}

/// Whether two names may be of one host: a batch system has the name alone where the system's has a domain too.
pub fn is_one_host(one: &str, other: &str) -> bool {
    let is_short = |name: &str, whole: &str| whole.split_once('.').is_some_and(|(first, _)| first == name);
    one == other || is_short(one, other) || is_short(other, one)
}

/// What shows that two reports are of different machines; `None` where they may be of one.
pub fn other_machine(reports: [&Report; 2]) -> Option<Unlike<'_>> {
    let machines = reports.map(|report| &report.machine);
    let counts = |machine: &Machine| [machine.packages.len(), machine.cores.len(), machine.strands.len()];
    let strand = |differs: &dyn Fn(&Strand, &Strand) -> bool| {
        let mut strands = machines[0].strands.iter().zip(&machines[1].strands);
        strands.find(|(one, other)| differs(one, other)).map(|(one, other)| [one, other])
    };
    // Whether it could be used shows in each cell, and the caches and groups that it is in may be described in another way by a later version of
    // the system.
    let position = |strand: &Strand| (strand.os_id, strand.package, strand.core);
    let memory = reports.map(|report| (report.host.memory.total_bytes, report.machine.numa_nodes.len()));
    let processor = different(reports.map(|report| report.host.processor.as_deref())).map(Unlike::Processor);
    processor
        .or_else(|| different(machines.map(counts)).map(Unlike::Counts))
        .or_else(|| strand(&|one, other| position(one) != position(other)).map(Unlike::Position))
        .or_else(|| (memory[0].1 != memory[1].1 || is_another(memory.map(|of| of.0))).then_some(Unlike::Memory(memory)))
        .or_else(|| strand(&|one, other| one.numa_nodes != other.numa_nodes).map(Unlike::Nodes))
}

/// The share by which the installed memory of one machine may differ from boot to boot: what firmware and kernel keep for
/// themselves moves by less, a module of memory is more.
const MEMORY_MOVES: f64 = 0.02;

fn is_another(bytes: [Option<u64>; 2]) -> bool {
    match bytes {
        [Some(one), Some(other)] => one.abs_diff(other) as f64 > MEMORY_MOVES * one.max(other) as f64,
        [one, other] => one != other,
    }
}

/// A fact of a build that a report does not know, such as the kernels' hash of one from before there was one.
pub const UNKNOWN: Said<'static> = Said::Text("unknown");

fn build(reports: [&Report; 2]) -> Option<Unlike<'_>> {
    BUILD.iter().find_map(|fact| {
        let said = reports.map(fact.of);
        let is_unknown = said[0] == Some(UNKNOWN);
        match said[0] == said[1] {
            true => is_unknown.then_some(Unlike::Build(fact.name, None)),
            false => Some(Unlike::Build(fact.name, Some(said))),
        }
    })
}

/// The number of iterations is no difference: rates are by step, and sweeps choose it by what their budget allows.
fn plan(reports: [&Report; 2]) -> Option<Unlike<'_>> {
    let plans = reports.map(|report| &report.plan);
    let params = plans.map(|plan| &plan.params);
    // A parameter is of no interest where no kernel of both obeys it; one without a card may.
    let may = |report: &Report, name: &str, param: &Param| report.card(name).is_none_or(|card| card.obeys(param));
    let obeys = |param: &Param| {
        let mut both = plans[0].kernels.iter().filter(|name| plans[1].kernels.contains(name));
        both.any(|name| reports.iter().any(|report| may(report, name, param)))
    };
    // Where each configuration has a value of its own, that is compared, and what the plan had for none of them is not. The plan's size is
    // a configuration's own where the other report has a size for it.
    let is_own = |report: &Report, others: &HashSet<Place<'_>>, param: &Param| {
        let mut obey = report.cells.iter().filter(|cell| may(report, &cell.kernel, param)).peekable();
        let is_sized = |cell: &Cell| *param == params::SIZE && !others.contains(&place(cell));
        obey.peek().is_some() && obey.all(|cell| cell.point.has(param) || is_sized(cell))
    };
    let differs = |param: &&Param| {
        let differs = !param.is_amount() && !param.same(params[0], params[1]) && obeys(param);
        let are_own =
            || [(0, 1), (1, 0)].into_iter().all(|(own, other)| is_own(reports[own], &places(reports[other]), param));
        differs && !are_own()
    };
    let param = PARAMS.iter().copied().find(differs).map(|param| Unlike::Param(param, params));
    let term = |fact: &Fact| Some(Unlike::Term(fact.name, fact.differs(reports)?));
    param.or_else(|| TERMS.iter().find_map(term))
}

/// What is worth knowing of two reports, and no obstacle.
#[derive(Clone, Debug, PartialEq)]
pub enum Note<'a> {
    /// They are one.
    Same,
    /// One has a later format than this program, by the minor version.
    Later { side: usize, minor: u32 },
    /// One is not complete.
    Incomplete { side: usize },
    /// A fact of [`SURROUNDINGS`].
    Surroundings(&'static str, Both<'a>),
    /// Neither names its program.
    Unnamed,
    /// What systems of two versions describe in other ways.
    Described(Vec<Described>),
    /// These kernels differ in what the host of a guest gives.
    GuestMemory(BTreeSet<&'a str>),
}

/// What of a CPU a system describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Described {
    /// The caches that it uses.
    Caches,
    /// The groups that it is in.
    Groups,
    /// The execution units that it shares.
    AluGroups,
    /// The kind of its core.
    Kinds,
}

pub(super) fn notes<'a>(reports: [&'a Report; 2]) -> Vec<Note<'a>> {
    let [base, new] = reports;
    let mut notes = Vec::new();
    notes.extend((!base.id.is_empty() && base.id == new.id).then_some(Note::Same));
    for (side, report) in reports.into_iter().enumerate() {
        let minor = report.schema.minor;
        notes.extend(
            (minor > SCHEMA_MINOR && report.schema.major == SCHEMA_MAJOR).then_some(Note::Later { side, minor }),
        );
        notes.extend((!report.complete).then_some(Note::Incomplete { side }));
    }
    notes.extend(SURROUNDINGS.iter().filter_map(|fact| Some(Note::Surroundings(fact.name, fact.differs(reports)?))));
    let is_unnamed = |report: &Report| report.anonymous && report.plan.program.is_some();
    notes.extend((base.id != new.id && reports.into_iter().all(is_unnamed)).then_some(Note::Unnamed));
    type Differ = fn(&Strand, &Strand) -> bool;
    let described: [(Described, Differ); 4] = [
        (Described::Caches, |one, other| one.caches != other.caches),
        (Described::Groups, |one, other| one.groups != other.groups),
        (Described::AluGroups, |one, other| (one.alu, one.slot) != (other.alu, other.slot)),
        (Described::Kinds, |one, other| one.kind != other.kind),
    ];
    let strands = || base.machine.strands.iter().zip(&new.machine.strands);
    let described = described.into_iter().filter(|(_, differ)| strands().any(|(one, other)| differ(one, other)));
    let described: Vec<Described> = described.map(|(what, _)| what).collect();
    notes.extend((!described.is_empty() && other_machine(reports).is_none()).then_some(Note::Described(described)));
    notes
}

/// The level of a cell whose block is larger than all caches.
const MEMORY: &str = "memory";

/// That differences of memory say less, where a report is of a guest: the kernels of the cells that differ in it.
pub fn guest_memory<'a>(reports: &[&'a Report], differs: impl Fn(&Cell) -> bool) -> Option<Note<'a>> {
    let is_guest = reports.iter().any(|report| report.host.virtual_machine == Some(true));
    let is_memory = |report: &Report, cell: &Cell| match cell.level.as_deref() {
        Some(level) => level == MEMORY,
        None => matches!(report.role(&cell.kernel), Role::MemoryBandwidth(_) | Role::LoadedLatency),
    };
    let cells = reports.iter().flat_map(|report| report.cells.iter().map(move |cell| (*report, cell)));
    let cells = cells.filter(|(report, cell)| is_guest && is_memory(report, cell) && differs(cell));
    let kernels: BTreeSet<&str> = cells.map(|(_, cell)| cell.kernel.as_str()).collect();
    (!kernels.is_empty()).then_some(Note::GuestMemory(kernels))
}
