//! What nodes of a kind do when they are well, and whether one still does: a check in the convention of Nagios, for the scripts of batch
//! systems that take a node out of service by an exit code.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use charz_stats::{Sample, median};

use crate::claim::{Group, Node, State};
use crate::judge::{delivered, judge, once};
use crate::norms::{ENOUGH_NODES, LEAST, Norms, Own, PAIRS, is_timed, level};
use crate::parts::Part;
use crate::setting::Structure;
use crate::visit::{Build, Configuration, Key, Load, Speed, Visit, usual_cpus};

mod check;

pub use check::{Checked, Finding, Level, Verdict};

/// Standard deviations of the fleet that make a warning; twice as many are critical.
const AWAY: f64 = 5.0;
/// The standard deviation of nodes that are too few to show one.
pub(crate) const OF_FEW: f64 = 2.0 * LEAST / AWAY;
/// The largest tolerance of a warning.
pub(crate) const MOST: f64 = 0.45;

/// Why a baseline cannot be made or used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No node that is not slow has a reliable result; so many were left out as slow.
    NoResult(usize),
    /// The file is no baseline: the line, and what its parser says.
    NoBaseline(usize, String),
    /// Numbers of the group of this name are out of their range.
    Group(String),
    /// Numbers of a quantity are, of this kernel and configuration.
    Quantity(String, Configuration),
}

impl std::error::Error for Error {}

/// The values of each kind of node, and how much less is tolerated: a file of TOML that people may edit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    pub(crate) group: Vec<Kind>,
}

/// A kind of node.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    pub(crate) name: Name,
    pub(crate) nodes: usize,
    /// Of charz, which measured them.
    #[serde(default)]
    pub(crate) build: Build,
    /// How many nodes are slow, of all, and how many may be, of the others.
    #[serde(skip)]
    pub(crate) slow: [usize; 2],
    #[serde(skip)]
    pub(crate) unclear: [usize; 2],
    /// How many reports are incomplete, of all, and the configurations that they lack and no other report has.
    #[serde(skip)]
    pub(crate) incomplete: ([usize; 2], BTreeSet<Key>),
    /// How many reports are of a part of their CPUs, of all.
    #[serde(skip)]
    pub(crate) part: [usize; 2],
    /// How many CPUs of such nodes could be used: the site may keep some for the system.
    pub(crate) usable: Option<usize>,
    /// The share of the capacity that such nodes deliver.
    pub(crate) delivered: Option<f64>,
    /// The share of their CPUs that such nodes may use for long: 1 without a quota.
    pub(crate) allowed: Option<f64>,
    pub(crate) parts: Tolerance,
    /// By how much parts are usually faster than their like, and how far nodes are from that.
    #[serde(default)]
    pub(crate) usual: Vec<Usual>,
    #[serde(default)]
    pub(crate) deviation: Vec<Deviation>,
    pub(crate) quantity: Vec<Quantity>,
}

/// Product and processor of nodes, and their size.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Name {
    pub(crate) kind: String,
    pub(crate) structure: Structure,
}

impl TryFrom<String> for Name {
    type Error = &'static str;

    /// As in `AMD EPYC, 8 CPUs, 8 cores, 1 socket, 1 NUMA node`.
    fn try_from(text: String) -> Result<Self, &'static str> {
        let mut words: Vec<&str> = text.rsplitn(5, ", ").collect();
        words.reverse();
        let size = |words: &&str| words.split(' ').next()?.parse().ok();
        let sizes: Option<Vec<usize>> = words.iter().skip(1).map(size).collect();
        let structure = sizes.and_then(|sizes| Structure::try_from(sizes).ok());
        let structure = structure.ok_or("a name ends with the numbers of CPUs, cores, sockets and NUMA nodes")?;
        Ok(Name { kind: words[0].to_owned(), structure })
    }
}

/// Of a part, by its place; of a pair by its two CPUs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Usual {
    pub(crate) level: usize,
    pub(crate) part: [usize; 2],
    pub(crate) kernel: String,
    pub(crate) effect: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deviation {
    pub(crate) level: usize,
    pub(crate) kernel: String,
    pub(crate) deviation: f64,
}

/// How much slower is a warning, and how much is critical, as fractions.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tolerance {
    pub(crate) warning: f64,
    pub(crate) critical: f64,
}

/// What a configuration does.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    pub(crate) kernel: String,
    pub(crate) configuration: Configuration,
    pub(crate) value: f64,
    pub(crate) unit: String,
    pub(crate) warning: f64,
    pub(crate) critical: f64,
}

impl TryFrom<String> for Configuration {
    type Error = &'static str;

    /// As in `round-robin x8 size 65536 memory local pages 4k`.
    fn try_from(text: String) -> Result<Self, &'static str> {
        let mut words = text.splitn(3, ' ');
        let (mapping, threads) = (words.next().unwrap_or_default(), words.next());
        let threads = threads.and_then(|word| word.strip_prefix('x')?.parse().ok());
        let threads = threads.ok_or("a configuration is a mapping, x and the number of threads, and parameters")?;
        let parameters = words.next().unwrap_or_default().to_owned();
        let value = |name: &str| parameters.split(' ').skip_while(|word| *word != name).nth(1);
        let size = value("size").and_then(|size| size.parse().ok());
        let pages = value("pages").and_then(|pages| pages.parse().ok());
        Ok(Configuration { mapping: mapping.to_owned(), load: Load { threads, parameters, size, pages } })
    }
}

impl Baseline {
    /// Of nodes that are well: those that are slow are left out, and those that may be, unless no others are left.
    ///
    /// # Errors
    /// If no node that is not slow has a reliable number.
    pub fn of(visits: &[Visit]) -> Result<Self, Error> {
        let fleet = judge(visits, Vec::new());
        let is_timed = is_timed(visits);
        let is_well = |host: &str| fleet.nodes.iter().any(|node| node.host == host && node.state() != State::Slow);
        let may_be_slow: BTreeSet<&str> =
            fleet.nodes.iter().filter(|node| !node.blame().is_empty()).map(|node| node.host.as_str()).collect();
        let mut kinds: BTreeMap<(usize, &Build), BTreeMap<&str, Vec<&Visit>>> = BTreeMap::new();
        for (host, visit) in once(visits).filter(|(host, _)| is_well(host)) {
            let is_its = |group: &Group| group.kind == visit.kind && group.structure == visit.structure;
            if let Some(group) = fleet.groups.iter().position(is_its) {
                let hosts = kinds.entry((group, &visit.build)).or_default();
                hosts.entry(host).or_default().push(visit);
            }
        }
        let kinds = kinds.into_iter().filter_map(|((group, build), mut hosts)| {
            let unclear = hosts.keys().filter(|host| may_be_slow.contains(*host)).count();
            let unclear = [unclear, hosts.len()];
            if unclear[0] < unclear[1] {
                hosts.retain(|host, _| !may_be_slow.contains(host));
            }
            let (usual, count) = (usual_cpus(hosts.values().flatten().copied()), hosts.len());
            let is_part = |visit: &&Visit| visit.is_part(usual, count);
            let parts = || hosts.values().flatten().filter(|visit| is_part(visit));
            let part = [parts().count(), hosts.values().flatten().count()];
            if part[0] < part[1] {
                hosts.values_mut().for_each(|visits| visits.retain(|visit| !is_part(visit)));
                hosts.retain(|_, visits| !visits.is_empty());
            }
            let is_slow = |node: &&Node| node.group == group && node.state() == State::Slow;
            let own: Vec<Own<'_>> = hosts.into_iter().map(|(host, visits)| Own::of(host, visits, is_timed)).collect();
            let norms = Norms::of_well(&own);
            let mut cells: BTreeMap<&Key, BTreeMap<&str, Vec<Speed>>> = BTreeMap::new();
            for node in &own {
                for (key, speed) in node.visits.iter().flat_map(|visit| &visit.speeds) {
                    cells.entry(key).or_default().entry(node.host).or_default().push(*speed);
                }
            }
            let quantity: Vec<Quantity> =
                cells.into_iter().filter_map(|(key, hosts)| Quantity::of(key, hosts.into_values())).collect();
            let reports = || own.iter().flat_map(|node| &node.visits);
            let pending: Vec<_> = reports().filter_map(|visit| visit.pending.as_ref()).collect();
            let counts = [pending.len(), reports().count()];
            let has = |(kernel, configuration): &&Key| {
                quantity.iter().any(|own| own.kernel == *kernel && own.configuration == *configuration)
            };
            let lacked = pending.into_iter().flatten().filter(|key| !has(key)).cloned().collect();
            (!quantity.is_empty()).then(|| Kind {
                name: Name { kind: fleet.groups[group].kind.clone(), structure: fleet.groups[group].structure },
                nodes: own.len(),
                build: build.clone(),
                slow: [fleet.nodes.iter().filter(is_slow).count(), fleet.groups[group].nodes.len()],
                unclear,
                incomplete: (counts, lacked),
                part,
                usable: Some(usual_cpus(own.iter().map(Own::newest))),
                delivered: median(delivered(&own).into_iter().flatten()),
                allowed: median(own.iter().map(|node| node.newest().allowed().unwrap_or(1.0))),
                parts: Tolerance { warning: LEAST, critical: 2.0 * LEAST },
                usual: Usual::of(&norms),
                deviation: norms
                    .deviations
                    .into_iter()
                    .map(|((level, kernel), deviation)| Deviation { level, kernel, deviation })
                    .collect(),
                quantity,
            })
        });
        let group: Vec<Kind> = kinds.collect();
        if group.is_empty() { Err(Error::NoResult(fleet.count(State::Slow))) } else { Ok(Baseline { group }) }
    }

    /// Reads the file of a baseline, as people have edited it.
    ///
    /// # Errors
    /// Where it is no such file.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let baseline: Baseline = toml::from_str(text).map_err(|error| {
            let before = |span: std::ops::Range<usize>| &text.as_bytes()[..span.start.min(text.len())];
            let line = error.span().map_or(0, |span| before(span).split(|byte| *byte == b'\n').count());
            Error::NoBaseline(line, error.message().to_owned())
        })?;
        let is_tolerance = |warning: f64, critical: f64| 0.0 < warning && warning <= critical && critical < 1.0;
        for kind in &baseline.group {
            let is_share = |share: &f64| (0.0..=1.0).contains(share);
            let is_usable = is_tolerance(kind.parts.warning, kind.parts.critical)
                && kind.delivered.iter().chain(&kind.allowed).all(is_share)
                && kind.deviation.iter().all(|own| own.deviation.is_finite() && own.deviation >= 0.0)
                && kind.usual.iter().all(|own| own.effect.is_finite());
            if !is_usable {
                return Err(Error::Group(kind.name.kind.clone()));
            }
            let is_usable =
                |own: &&Quantity| own.value.is_finite() && own.value > 0.0 && is_tolerance(own.warning, own.critical);
            if let Some(quantity) = kind.quantity.iter().find(|own| !is_usable(own)) {
                return Err(Error::Quantity(quantity.kernel.clone(), quantity.configuration.clone()));
            }
        }
        Ok(baseline)
    }
}

/// What is less is as good as nothing, and of 256 cores a long list.
const LEAST_USUAL: f64 = 0.005;

impl Usual {
    fn of(norms: &Norms) -> Vec<Self> {
        let told = norms.usual.iter().filter(|(_, effect)| effect.abs() >= LEAST_USUAL);
        let row = |((part, kernel), effect): (&(Part, String), &f64)| {
            let place = match *part {
                Part::Level(_, index) => [index, 0],
                Part::Pair(one, other) => [one as usize, other as usize],
            };
            Usual { level: level(*part), part: place, kernel: kernel.clone(), effect: *effect }
        };
        told.map(row).collect()
    }

    pub(crate) fn place(&self) -> Part {
        let [one, other] = self.part;
        match self.level {
            PAIRS => Part::Pair(one as u32, other as u32),
            level => Part::Level(level, one),
        }
    }
}

impl Quantity {
    /// Of the visits of each node, which count as their median: they differ by less than nodes do.
    fn of((kernel, configuration): &Key, nodes: impl Iterator<Item = Vec<Speed>>) -> Option<Self> {
        let mut unit = None;
        let logs = nodes.filter_map(|visits| {
            unit = unit.or(visits.first().map(|speed| speed.unit));
            median(visits.iter().map(|speed| speed.log))
        });
        let (logs, unit) = (Sample::new(logs.collect())?, unit?);
        let middle = logs.median();
        let deviation = if logs.len() < ENOUGH_NODES { OF_FEW } else { logs.deviation() };
        let warning = (-(-AWAY * deviation).exp_m1()).clamp(LEAST, MOST);
        Some(Quantity {
            kernel: kernel.clone(),
            configuration: configuration.clone(),
            value: if unit.more_is_better() { middle.exp() } else { (-middle).exp() },
            unit: unit.symbol().to_owned(),
            warning,
            critical: (2.0 * warning).min(0.9),
        })
    }
}
