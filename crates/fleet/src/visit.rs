//! What is kept of a report: the rest of it, a hundred times as much, is forgotten before the next one is read.

use std::collections::{BTreeMap, BTreeSet};

use charz_analysis::culprits::{Disturber, disturbers};
use charz_claims::compare::{BUILD, Fact, Said};
use charz_claims::history::seconds;
use charz_data::report::{Cell, Evidence, Frequency, Report, Status, Unit, packed_speeds};
use charz_data::{Arrange, Metric, PageKind, Role};
use charz_stats::median;

use crate::claim::{Loads, Remedy};
use crate::parts::{Part, Partitions};
use crate::setting::{self, Aspect, Setting, Structure, Value};

/// So many nodes show what the site keeps for the system.
const SHOWN: usize = 3;

/// The most disturbers of a node that are named.
const MOST_NAMED: usize = 2;

/// A report of a node.
#[derive(Clone, Debug)]
pub struct Visit {
    pub(crate) host: String,
    /// Its name as Slurm has it, where that is known.
    pub(crate) slurm_name: Option<String>,
    pub(crate) report: String,
    pub(crate) started: String,
    /// Of all configurations together.
    pub(crate) runs: usize,
    /// In seconds since 1970, and for how long.
    pub(crate) began: Option<i64>,
    pub(crate) lasted_s: i64,
    /// Product and processor: nodes that are alike in this may be held against each other.
    pub(crate) kind: String,
    pub(crate) structure: Structure,
    /// Those of the system that are known, and the labels that the user gave.
    pub(crate) settings: BTreeMap<Setting, Value>,
    /// In CPUs.
    pub(crate) quota: Option<String>,
    pub(crate) build: Build,
    pub(crate) is_guest: bool,
    /// CPUs that could be used, of all.
    pub(crate) cpus: [usize; 2],
    pub(crate) speeds: BTreeMap<Key, Speed>,
    /// What each kernel of the plan shows.
    pub(crate) kernels: BTreeMap<String, Option<Aspect>>,
    /// By how much a part is slower than its like, by kernel, at the size of memory where that is most.
    pub(crate) contrasts: BTreeMap<(Part, String), Shown>,
    /// The clocks of the runs whose clock is known.
    pub(crate) clocks: BTreeMap<Key, Vec<Clocked>>,
    /// The median share of the capacity that was delivered.
    pub(crate) delivered: Option<f64>,
    /// What else used its CPUs meanwhile, the most first.
    pub(crate) disturbers: Vec<Disturber>,
    /// Configurations with a reliable number, and all that were to be measured.
    pub(crate) reliable: [usize; 2],
    /// Those with the most threads of their kernel, skipped ones too, that have none under any mapping.
    pub(crate) unreliable: BTreeSet<(String, Load)>,
    /// The most threads that were asked for, by kernel, skipped ones too.
    pub(crate) asked: BTreeMap<String, u64>,
    /// The loads of all that was not skipped.
    pub(crate) tried: BTreeSet<(String, Load)>,
    /// Configurations without a run, where its sweep ended early.
    pub(crate) pending: Option<BTreeSet<Key>>,
    pub(crate) partitions: Partitions,
}

/// What makes two builds of charz run the same loops, by name: other loops have other speeds.
pub(crate) type Build = BTreeMap<String, String>;

/// A kernel and its configuration.
pub(crate) type Key = (String, Configuration);

/// All by which a configuration differs from others of its kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Configuration {
    pub(crate) mapping: String,
    pub(crate) load: Load,
}

/// A configuration without its mapping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load {
    pub(crate) threads: u64,
    /// The parameters that the kernel obeys, by names and values: these two among them.
    pub(crate) parameters: String,
    pub(crate) size: Option<u64>,
    pub(crate) pages: Option<PageKind>,
}

/// The contrast of a part by a kernel, one element a run, and whether it is that of a block inside of a cache.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) runs: Vec<f64>,
    pub(crate) is_in_cache: bool,
}

/// The seconds from the beginning of a sweep to that of a run, and the hertz of its fastest and of its slowest core.
pub(crate) type Clocked = [f32; 3];

/// The speed of a configuration: rates, or times the other way round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speed {
    /// Its logarithm.
    pub(crate) log: f64,
    /// The number as it was measured.
    pub(crate) value: f64,
    pub(crate) unit: Unit,
}

/// In which of these a build differs from the one that is wanted.
pub(crate) fn other_build<'a>(wanted: &'a Build, own: &Build) -> Option<&'a str> {
    wanted.iter().find(|(what, value)| own.get(*what) != Some(value)).map(|(what, _)| what.as_str())
}

/// How many CPUs could be used, as a rule.
pub(crate) fn usual_cpus<'a>(visits: impl Iterator<Item = &'a Visit>) -> usize {
    let mut all: Vec<usize> = visits.map(|visit| visit.cpus[0]).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

/// A load of a kernel, or the kernel under any.
pub(crate) type Wanted<'a> = (&'a str, Option<&'a Load>);

/// These as claims have them.
pub(crate) fn loads<'a>(wanted: impl IntoIterator<Item = Wanted<'a>>) -> Loads {
    wanted.into_iter().map(|(kernel, load)| (kernel.to_owned(), load.map(|load| load.threads))).collect()
}

impl Visit {
    /// The share of its CPUs that a quota allows for long; `None` without a quota.
    pub(crate) fn allowed(&self) -> Option<f64> {
        let quota: f64 = self.quota.as_ref()?.parse().ok()?;
        Some((quota / self.cpus[0].max(1) as f64).min(1.0))
    }

    /// Whether a part of its CPUs was measured, among so many nodes that have `usual` of them as a rule. What a site keeps for the system
    /// it keeps on all nodes; where few show it, it is one core in eight at most.
    pub(crate) fn is_part(&self, usual: usize, nodes: usize) -> bool {
        let ([usable, all], [used, cores]) = (self.cpus, self.partitions.cores());
        let is_unusual = 8 * usable < 7 * usual.min(all) || (nodes < SHOWN && 8 * used < 7 * cores);
        usable < all && (is_unusual || self.partitions.is_half())
    }

    /// Whether other jobs may have been on its other cores: then a part that is slow is no fault.
    pub(crate) fn is_shared(&self, usual: usize, nodes: usize) -> bool {
        let [used, cores] = self.partitions.cores();
        used < cores && self.is_part(usual, nodes)
    }

    /// Whether it has a reliable result.
    pub(crate) fn has(&self, (kernel, load): Wanted<'_>) -> bool {
        self.speeds.keys().any(|(own, of)| own == kernel && load.is_none_or(|load| of.load == *load))
    }

    /// Whether a load has more threads than its sweep asked for of a kernel that it has.
    pub(crate) fn is_beyond(&self, (kernel, load): Wanted<'_>) -> bool {
        let more = load.zip(self.asked.get(kernel)).is_some_and(|(load, most)| load.threads > *most);
        more && self.has((kernel, None))
    }

    /// Whether its sweep ended before all were measured.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| !pending.is_empty())
    }

    /// What gives a result.
    pub(crate) fn remedy(&self, (kernel, load): Wanted<'_>) -> Remedy {
        let is_it = |own: &str, of: &Load| own == kernel && load.is_none_or(|load| of == load);
        if self.pending.iter().flatten().any(|(own, of)| is_it(own, &of.load)) {
            return Remedy::Finish;
        }
        let was_tried = self.tried.iter().any(|(own, of)| is_it(own, of));
        if was_tried { Remedy::Again } else { Remedy::Skipped }
    }

    /// By kernel that was to be measured: whether it has a reliable result of its most threads.
    pub(crate) fn compared(&self) -> BTreeMap<&str, bool> {
        let mut all: BTreeMap<&str, bool> = self.speeds.keys().map(|(kernel, _)| (kernel.as_str(), true)).collect();
        // What was skipped takes nothing from the most threads that were tried.
        for (kernel, load) in self.unreliable.intersection(&self.tried) {
            let is_as_full = |(own, of): &Key| own == kernel && of.load.threads == load.threads;
            all.insert(kernel, self.speeds.keys().any(is_as_full));
        }
        all
    }

    /// The kernels of an aspect without a reliable result at the load that these have: each would confirm what these say.
    pub(crate) fn unreliable_like(&self, kernels: &[&str], aspect: Aspect) -> BTreeSet<String> {
        let own = self.speeds.keys().filter(|(kernel, _)| kernels.contains(&kernel.as_str()));
        let most = own.map(|(_, of)| of.load.threads).max();
        let is_like = |(kernel, load): &&(String, Load)| {
            self.kernels.get(kernel) == Some(&Some(aspect))
                && !kernels.contains(&kernel.as_str())
                && Some(load.threads) == most
        };
        self.unreliable.iter().filter(is_like).map(|(kernel, _)| kernel.clone()).collect()
    }

    /// Whether it has a result of this load on 4k pages, and none on transparent huge pages, which the load is of.
    pub(crate) fn lacks_huge_pages(&self, (kernel, load): Wanted<'_>) -> bool {
        let is_twin = |(own, of): &Key, load: &Load| {
            let is_alike = (of.load.threads, of.load.size) == (load.threads, load.size);
            own == kernel && is_alike && of.load.pages == Some(PageKind::Small)
        };
        load.filter(|load| load.pages == Some(PageKind::Transparent) && !self.has((kernel, Some(load))))
            .is_some_and(|load| self.speeds.keys().any(|key| is_twin(key, load)))
    }

    /// What a report says of its node. `name` stands for the host where the report has none.
    pub fn of(report: &Report, name: &str) -> Self {
        let (host, machine) = (&report.host, &report.machine);
        let partitions = Partitions::of(machine);
        let structure = [machine.strands.len(), machine.cores.len(), machine.packages.len(), machine.numa_nodes.len()];
        let structure = structure.map(|count| count.max(1));
        let usable = machine.strands.iter().filter(|strand| strand.usable).count();
        let processor = host.processor.as_deref().map_or("unknown processor", str::trim);
        let ok = || report.cells.iter().filter(|cell| cell.status == Status::Ok);
        let key = |cell: &Cell| {
            let params = report.card(&cell.kernel).map_or(&[][..], |card| &card.params);
            let values = cell.params(&report.plan.params);
            let own = params.iter().filter(|param| !param.is_amount());
            let parameters = own.flat_map(|param| [param.name.to_owned(), (param.raw)(&values)]);
            let parameters = parameters.collect::<Vec<_>>().join(" ");
            let has = |name| params.iter().any(|own| own.name == name);
            let (size, pages) = (has("size").then_some(values.size_bytes), has("pages").then_some(values.pages));
            let load = Load { threads: cell.workers, parameters, size, pages };
            (cell.kernel.clone(), Configuration { mapping: cell.mapping.clone(), load })
        };
        let speed = |cell: &Cell| {
            let (value, unit) = (cell.value().filter(|value| *value > 0.0)?, cell.unit);
            let log = if unit.more_is_better() { value.ln() } else { -value.ln() };
            Some((key(cell), Speed { log, value, unit }))
        };
        let speeds: BTreeMap<_, _> = ok().filter_map(speed).collect();
        let planned = || report.cells.iter().filter(|cell| cell.status != Status::Skipped);
        let loaded = |(kernel, of): Key| (kernel, of.load);
        let tried: BTreeSet<_> = planned().map(|cell| loaded(key(cell))).collect();
        let kernels: BTreeSet<&str> = tried.iter().map(|(kernel, _)| kernel.as_str()).collect();
        // Of a kernel that was tried, more threads than CPUs alone are skipped without a loss.
        let is_due = |cell: &&Cell| {
            let could_be = kernels.contains(cell.kernel.as_str()) && cell.workers <= usable as u64;
            cell.status != Status::Skipped || could_be
        };
        let due = || report.cells.iter().filter(is_due);
        let most = |cells: &mut dyn Iterator<Item = &'_ Cell>| {
            let mut most: BTreeMap<String, u64> = BTreeMap::new();
            for cell in cells {
                let most = most.entry(cell.kernel.clone()).or_default();
                *most = cell.workers.max(*most);
            }
            most
        };
        let asked = most(&mut report.cells.iter());
        let full = [most(&mut due()), most(&mut planned())];
        let full = due().filter(|cell| full.iter().any(|most| most.get(&cell.kernel) == Some(&cell.workers)));
        let mut unreliable: BTreeSet<_> = full.map(|cell| loaded(key(cell))).collect();
        let pending = report.cells.iter().filter(|cell| cell.status == Status::Pending);
        let pending = (!report.complete).then(|| pending.map(key).collect());
        for key in speeds.keys() {
            unreliable.remove(&loaded(key.clone()));
        }
        let aspect = |card: &charz_data::Card| {
            let cell = report.cells.iter().find(|cell| cell.kernel == card.name)?;
            Aspect::of(card.family, cell.unit)
        };
        let clocks = ok().map(|cell| (key(cell), cell.invocations.iter().filter_map(clocked).collect()));
        // Of noisy ones too: nodes differ in which are reliable, and configurations in what they deliver.
        let shares = report.cells.iter().filter_map(|cell| cell.delivered_share());
        let mut disturbers = disturbers(report.cells.iter().flat_map(|cell| &cell.invocations));
        disturbers.truncate(MOST_NAMED);
        let built = |fact: &Fact| match (fact.of)(report)? {
            Said::Text(value) => Some((fact.name.to_owned(), value.to_owned())),
            _ => None,
        };
        Visit {
            host: host.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| name.to_owned()),
            slurm_name: host.slurm_name.clone(),
            report: report.id.clone(),
            started: report.started.clone(),
            runs: report.cells.iter().map(|cell| cell.invocations.len()).sum(),
            began: seconds(&report.started),
            lasted_s: (report.wall_ns / 1_000_000_000) as i64,
            kind: host.product.as_deref().into_iter().chain([processor]).collect::<Vec<_>>().join(", "),
            structure,
            settings: setting::of(report, structure),
            quota: host.cpu_quota.clone(),
            build: BUILD.iter().filter_map(built).collect(),
            is_guest: host.virtual_machine == Some(true),
            cpus: [usable, machine.strands.len()],
            speeds,
            kernels: report.cards.iter().map(|card| (card.name.to_string(), aspect(card))).collect(),
            contrasts: contrasts(&partitions, report),
            clocks: clocks.collect(),
            // Where runs differ, some deliver more than the capacity that is found.
            delivered: median(shares).map(|share| share.min(1.0)),
            disturbers,
            reliable: [ok().count(), planned().count()],
            unreliable,
            asked,
            tried,
            pending,
            partitions,
        }
    }
}

fn clocked(run: &charz_data::report::Invocation) -> Option<Clocked> {
    let clock = run.evidence.as_ref()?.frequency.filter(|_| run.value.is_some())?;
    let clocked = [run.started_ns as f64 / 1e9, clock.highest_hz, clock.before_hz.min(clock.after_hz)];
    (clocked[2] > 0.0).then_some(clocked.map(|number| number as f32))
}

fn contrasts(partitions: &Partitions, report: &Report) -> BTreeMap<(Part, String), Shown> {
    let mut sizes: BTreeMap<_, (bool, Vec<Vec<f64>>)> = BTreeMap::new();
    for (cell, contrast) in partitions.contrasts(report) {
        let (is_in_cache, runs) = sizes.entry((contrast.part, &cell.kernel, cell.point.size_bytes)).or_default();
        *is_in_cache |= cell.level.as_ref().is_some_and(|level| level.starts_with('L'));
        runs.push(contrast.runs);
    }
    let mut contrasts: BTreeMap<(Part, String), Shown> = BTreeMap::new();
    for ((part, kernel, _), (is_in_cache, cells)) in sizes {
        // A cache or a memory that is slow shows only at the sizes that are in it.
        let own = Shown { runs: middle_of(cells), is_in_cache };
        let lowest = contrasts.entry((part, kernel.clone())).or_insert_with(|| own.clone());
        if middle(&own.runs) < middle(&lowest.runs) {
            *lowest = own;
        }
    }
    contrasts
}

/// A report with all that its visit is made of and no more: a hundredth of its size. It is as good for [`Visit::of`], and for nothing else.
pub fn compact(mut report: Report) -> Report {
    report.floor = Vec::new();
    // Nor is whose program was run a part of it, with which arguments.
    (report.command, report.plan.program, report.stopped_by) = (String::new(), None, None);
    report.plan.program_identity = None;
    report.host.disturbances = Vec::new();
    report.cards.retain(|card| report.cells.iter().any(|cell| cell.kernel == *card.name));
    for card in report.cards.iter_mut().filter(|card| card.role == Role::Program) {
        (card.about, card.metric) = ("".into(), Metric::Reported("".into()));
    }
    for cell in &mut report.cells {
        (cell.reason, cell.skipped) = (None, None);
        (cell.marks, cell.counted, cell.hardware, cell.distribution) = (Vec::new(), Vec::new(), None, None);
        let workers = cell.seats.len();
        for run in &mut cell.invocations {
            if run.speeds.is_empty() {
                let clean: Vec<_> = run.clean_runs().cloned().collect();
                run.speeds = packed_speeds(&clean, workers);
            }
            run.evidence = run.evidence.take().map(|Evidence { culprits, looked_ns, frequency, .. }| Evidence {
                culprits: looked_ns.map_or(Vec::new(), |_| culprits),
                looked_ns,
                frequency: frequency.map(|clock| Frequency {
                    before_hz: in_mhz(clock.before_hz),
                    after_hz: in_mhz(clock.after_hz),
                    highest_hz: in_mhz(clock.highest_hz),
                    drift: 0.0,
                }),
                ..Evidence::default()
            });
            run.runs = Vec::new();
            (run.seed, run.variant, run.reason) = (0, None, None);
        }
    }
    report
}

/// Hertz without digits that say nothing.
fn in_mhz(hz: f64) -> f64 {
    (hz / 1e6).round() * 1e6
}

fn middle(runs: &[f64]) -> f64 {
    median(runs.iter().copied()).unwrap_or(0.0)
}

/// The runs of the configuration in the middle: one that was disturbed says nothing against the others.
fn middle_of(mut cells: Vec<Vec<f64>>) -> Vec<f64> {
    cells.arrange_by(|one, other| middle(one).total_cmp(&middle(other)));
    // Of two the one that says less.
    if cells.len() == 2 {
        cells.arrange_by(|one, other| middle(one).abs().total_cmp(&middle(other).abs()));
    }
    let at = (cells.len() - 1) / 2;
    cells.swap_remove(at)
}
