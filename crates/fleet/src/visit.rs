//! What is kept of a report: the rest of it, a hundred times as much, is forgotten before the next one is read.

use std::collections::{BTreeMap, BTreeSet};

use charz_analysis::culprits::{Disturber, disturbers};
use charz_claims::compare::{BUILD, Fact, Said};
use charz_claims::history::seconds;
use charz_data::escape::counted;
use charz_data::report::{Cell, Evidence, Report, Status, packed_speeds};
use charz_data::{Arrange, Family, Metric, Role};
use charz_stats::median;
use charz_words::point;

use crate::parts::{Part, Partitions};
use crate::words;

/// How a load is named that is on transparent huge pages.
const THP: &str = " pages thp";

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
    /// Nodes that are alike in this may be held against each other.
    pub(crate) kind: String,
    /// Its numbers of CPUs, cores, sockets and NUMA nodes.
    pub(crate) structure: String,
    /// Those of the system, and the labels that the user gave.
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) build: Build,
    pub(crate) is_guest: bool,
    /// CPUs that could be used, of all.
    pub(crate) cpus: [usize; 2],
    /// Speed by configuration: its kernel, and all by which it differs from others.
    pub(crate) speeds: BTreeMap<(String, String), Speed>,
    pub(crate) families: BTreeMap<String, Family>,
    /// By how much a part is slower than its like, by kernel, at the size of memory where that is most: one element a run.
    pub(crate) contrasts: BTreeMap<(Part, String), Vec<f64>>,
    /// The median share of the capacity that was delivered.
    pub(crate) delivered: Option<f64>,
    /// What else used its CPUs meanwhile, the most first.
    pub(crate) disturbers: Vec<Disturber>,
    /// Configurations with a reliable number, and all that were to be measured.
    pub(crate) reliable: [usize; 2],
    /// Those with the most threads of their kernel, skipped ones too, that have none under any mapping: the kernel, and its [`load`].
    pub(crate) unreliable: BTreeSet<(String, String)>,
    /// The most threads that were asked for, by kernel, skipped ones too.
    pub(crate) asked: BTreeMap<String, u64>,
    /// The loads of all that was not skipped.
    pub(crate) tried: BTreeSet<(String, String)>,
    /// Configurations without a run, where its sweep ended early.
    pub(crate) pending: Option<BTreeSet<(String, String)>>,
    pub(crate) partitions: Partitions,
}

/// What makes two builds of charz run the same loops, by name: other loops have other speeds.
pub(crate) type Build = BTreeMap<String, String>;

/// In which of these a build differs from the one that is wanted.
pub(crate) fn other_build<'a>(wanted: &'a Build, own: &Build) -> Option<&'a str> {
    wanted.iter().find(|(what, value)| own.get(*what) != Some(value)).map(|(what, _)| what.as_str())
}

/// The speed of a configuration: rates, or times the other way round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    /// Its logarithm.
    pub(crate) log: f64,
    /// The number as it was measured.
    pub(crate) value: f64,
    pub(crate) unit: charz_data::report::Unit,
}

/// How many CPUs could be used, as a rule.
pub(crate) fn usual_cpus<'a>(visits: impl Iterator<Item = &'a Visit>) -> usize {
    let mut all: Vec<usize> = visits.map(|visit| visit.cpus[0]).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

/// A configuration without its mapping: its threads, and its parameters.
pub(crate) fn load(configuration: &str) -> &str {
    configuration.split_once(' ').map_or("", |(_, load)| load)
}

/// The number of threads of a [`load`].
pub(crate) fn threads(load: &str) -> Option<u64> {
    load.split(' ').next()?.strip_prefix('x')?.parse().ok()
}

impl Visit {
    /// The share of its CPUs that a quota allows for long; `None` without a quota.
    pub(crate) fn allowed(&self) -> Option<f64> {
        let quota = self.settings.get(words::QUOTA).filter(|quota| *quota != "none")?;
        Some((quota.parse::<f64>().ok()? / self.cpus[0].max(1) as f64).min(1.0))
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

    /// Whether it has a reliable result of a kernel.
    pub(crate) fn has(&self, kernel: &str) -> bool {
        self.speeds.keys().any(|(own, _)| own == kernel)
    }

    /// Whether a load has more threads than its sweep asked for of a kernel that it has.
    pub(crate) fn is_beyond(&self, (kernel, of): (&str, &str)) -> bool {
        self.has(kernel) && threads(of).zip(self.asked.get(kernel)).is_some_and(|(of, most)| of > *most)
    }

    /// What to say of it if no configuration has a reliable result.
    pub(crate) fn unmeasured(&self) -> String {
        words::unmeasured(self.reliable[1], self.pending.iter().flatten().next().is_some())
    }

    /// What gives a result of a load, or of the kernel where the load has no name.
    pub(crate) fn remedy(&self, (kernel, of): (&str, &str)) -> &'static str {
        let is_it = |own: &str, load: &str| own == kernel && (of.is_empty() || load == of);
        if self.pending.iter().flatten().any(|(own, rest)| is_it(own, load(rest))) {
            return words::FINISH;
        }
        let was_tried = self.tried.iter().any(|(own, load)| is_it(own, load));
        if was_tried { words::AGAIN } else { words::SKIPPED }
    }

    /// By kernel that was to be measured: whether it has a reliable result of its most threads.
    pub(crate) fn compared(&self) -> BTreeMap<&str, bool> {
        let mut all: BTreeMap<&str, bool> = self.speeds.keys().map(|(kernel, _)| (kernel.as_str(), true)).collect();
        // What was skipped takes nothing from the most threads that were tried.
        for (kernel, of) in self.unreliable.intersection(&self.tried) {
            let is_as_full = |(own, rest): &(String, String)| own == kernel && threads(load(rest)) == threads(of);
            all.insert(kernel, self.speeds.keys().any(is_as_full));
        }
        all
    }

    /// The kernels of a family without a reliable result at the load that these have: each would confirm what these say.
    pub(crate) fn unreliable_like(&self, kernels: &[&str], of: Family) -> BTreeSet<&str> {
        let own = self.speeds.keys().filter(|(kernel, _)| kernels.contains(&kernel.as_str()));
        let most = own.filter_map(|(_, rest)| threads(load(rest))).max();
        let is_like = |(kernel, load): &&(String, String)| {
            self.families.get(kernel) == Some(&of) && !kernels.contains(&kernel.as_str()) && threads(load) == most
        };
        self.unreliable.iter().filter(is_like).map(|(kernel, _)| kernel.as_str()).collect()
    }

    /// Whether it has a result of this load on 4k pages, and none on transparent huge pages, which the load is of.
    pub(crate) fn lacks_huge_pages(&self, kernel: &str, of: &str) -> bool {
        let has = |wanted: &str| self.speeds.keys().any(|(own, rest)| own == kernel && load(rest) == wanted);
        of.contains(THP) && !has(of) && has(&of.replace(THP, " pages 4k"))
    }

    /// The name of the group of nodes like it.
    pub(crate) fn group(&self) -> String {
        format!("{}, {}", self.kind, self.structure)
    }

    /// What a report says of its node. `name` stands for the host where the report has none.
    pub fn of(report: &Report, name: &str) -> Self {
        let (host, machine) = (&report.host, &report.machine);
        let partitions = Partitions::of(machine);
        let known = |text: &Option<String>| text.as_deref().map_or("unknown", str::trim).to_owned();
        let total =
            host.memory.total_bytes.map_or("unknown".to_owned(), |bytes| format!("{} GiB", (bytes + (1 << 29)) >> 30));
        let [cpus, cores, sockets, nodes] =
            [machine.strands.len(), machine.cores.len(), machine.packages.len(), machine.numa_nodes.len()]
                .map(|n| n.max(1));
        let settings = [
            ("CPUs", cpus.to_string()),
            ("cores", cores.to_string()),
            ("sockets", sockets.to_string()),
            ("NUMA nodes", nodes.to_string()),
            ("governor", known(&host.frequency_governor)),
            ("microcode", known(&host.microcode)),
            ("firmware", known(&host.firmware)),
            ("kernel", known(&host.kernel)),
            ("transparent huge pages", known(&host.transparent_huge_pages)),
            ("clock source", known(&host.clock_source)),
            (words::QUOTA, host.cpu_quota.clone().unwrap_or_else(|| "none".into())),
            ("memory", total),
            ("memory modules", known(&host.memory.modules)),
            ("charz", format!("{} {}", report.tool.version, report.tool.kernels)),
        ];
        let labels = host.labels.iter().map(|(name, value)| (format!("label {name}"), value.clone()));
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(labels).collect();
        let usable = machine.strands.iter().filter(|strand| strand.usable).count();
        let processor = host.processor.as_deref().map_or("unknown processor", str::trim);
        let product = host.product.as_deref().map(|product| format!("{product}, ")).unwrap_or_default();
        let kind = format!("{product}{processor}");
        let structure = [(cpus, "CPU"), (cores, "core"), (sockets, "socket"), (nodes, "NUMA node")]
            .map(|(count, noun)| counted(count, noun))
            .join(", ");
        let mut sizes: BTreeMap<_, Vec<Vec<f64>>> = BTreeMap::new();
        for (kernel, size, contrast) in partitions.contrasts(report) {
            sizes.entry((contrast.part, kernel, size)).or_default().push(contrast.runs);
        }
        let mut contrasts: BTreeMap<(Part, String), Vec<f64>> = BTreeMap::new();
        for ((part, kernel, _), cells) in sizes {
            // A cache or a memory that is slow shows only at the sizes that are in it.
            let own = middle_of(cells);
            let lowest = contrasts.entry((part, kernel.to_owned())).or_insert_with(|| own.clone());
            if middle(&own) < middle(lowest) {
                *lowest = own;
            }
        }
        let ok = || report.cells.iter().filter(|cell| cell.status == Status::Ok);
        let key = |cell: &Cell| {
            let rest = format!("{} x{} {}", cell.mapping, cell.workers, point::parameters(cell, report));
            (cell.kernel.clone(), rest.trim().to_owned())
        };
        let speed = |cell: &Cell| {
            let (value, unit) = (cell.value().filter(|value| *value > 0.0)?, cell.unit);
            let log = if unit.more_is_better() { value.ln() } else { -value.ln() };
            Some((key(cell), Speed { log, value, unit }))
        };
        let speeds: BTreeMap<_, _> = ok().filter_map(speed).collect();
        let planned = || report.cells.iter().filter(|cell| cell.status != Status::Skipped);
        let loaded = |(kernel, configuration): (String, String)| (kernel, load(&configuration).to_owned());
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
            kind,
            structure,
            settings,
            build: BUILD.iter().filter_map(built).collect(),
            is_guest: host.virtual_machine == Some(true),
            cpus: [usable, machine.strands.len()],
            speeds,
            families: report.cards.iter().map(|card| (card.name.to_string(), card.family)).collect(),
            contrasts,
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
            let looked = run.evidence.take().filter(|evidence| evidence.looked_ns.is_some());
            run.evidence = looked.map(|Evidence { culprits, looked_ns, .. }| Evidence {
                culprits,
                looked_ns,
                ..Evidence::default()
            });
            run.runs = Vec::new();
            (run.seed, run.started_ns, run.variant, run.reason) = (0, 0, None, None);
        }
    }
    report
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
