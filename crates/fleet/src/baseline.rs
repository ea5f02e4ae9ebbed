//! What nodes of a kind do when they are well, and whether one still does: a check in the convention of Nagios, for the scripts of batch
//! systems that take a node out of service by an exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Deserialize;

use charz_data::escape::{counted, one_line};
use charz_stats::{Sample, median};

use crate::judge::{delivered, judge, once};
use crate::norms::{ENOUGH_NODES, LEAST, Norms, Own, PAIRS, is_timed, level};
use crate::parts::Part;
use crate::visit::{Build, Speed, Visit, usual_cpus};
use crate::words::quoted;
use crate::{Error, Node, State};

mod check;

pub use check::{Checked, Level};

/// Standard deviations of the fleet that make a warning; twice as many are critical.
const AWAY: f64 = 5.0;
/// The standard deviation of nodes that are too few to show one.
const OF_FEW: f64 = 2.0 * LEAST / AWAY;
/// The largest tolerance of a warning.
const MOST: f64 = 0.45;
/// The most configurations without a value that are named.
const MOST_NAMED: usize = 4;
/// A tolerance that hides more than noise: nodes that differ in a setting, as a rule.
const WIDE: f64 = 0.15;

/// The values of each kind of node, and how much less is tolerated: a file of TOML that people may edit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    group: Vec<Kind>,
}

/// A kind of node.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    name: String,
    nodes: usize,
    /// Of charz, which measured them.
    #[serde(default)]
    build: Build,
    /// How many nodes are slow, of all, and how many may be, of the others.
    #[serde(skip)]
    slow: [usize; 2],
    #[serde(skip)]
    unclear: [usize; 2],
    /// How many reports are incomplete, of all, and the configurations that they lack and no other report has.
    #[serde(skip)]
    incomplete: ([usize; 2], BTreeSet<(String, String)>),
    /// How many reports are of a part of their CPUs, of all.
    #[serde(skip)]
    part: [usize; 2],
    /// How many CPUs of such nodes could be used: the site may keep some for the system.
    usable: Option<usize>,
    /// The share of the capacity that such nodes deliver.
    delivered: Option<f64>,
    /// The share of their CPUs that such nodes may use for long: 1 without a quota.
    allowed: Option<f64>,
    parts: Tolerance,
    /// By how much parts are usually faster than their like, and how far nodes are from that.
    #[serde(default)]
    usual: Vec<Usual>,
    #[serde(default)]
    deviation: Vec<Deviation>,
    quantity: Vec<Quantity>,
}

/// Of a part, by its place; of a pair by its two CPUs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Usual {
    level: usize,
    part: [usize; 2],
    kernel: String,
    effect: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Deviation {
    level: usize,
    kernel: String,
    deviation: f64,
}

/// How much slower is a warning, and how much is critical, as fractions.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerance {
    warning: f64,
    critical: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quantity {
    kernel: String,
    configuration: String,
    value: f64,
    unit: String,
    warning: f64,
    critical: f64,
}

impl Baseline {
    /// Of nodes that are well: those that are slow are left out, and those that may be, unless no others are left.
    ///
    /// # Errors
    /// If no node that is not slow has a reliable number.
    pub fn of(visits: &[Visit]) -> Result<Self, Error> {
        let fleet = judge(visits, Vec::new());
        let is_timed = is_timed(visits);
        let is_well = |host: &str| fleet.nodes.iter().any(|node| node.host == host && node.state != State::Slow);
        let may_be_slow: BTreeSet<&str> =
            fleet.nodes.iter().filter(|node| !node.blame.is_empty()).map(|node| node.host.as_str()).collect();
        let mut kinds: BTreeMap<(usize, &Build), BTreeMap<&str, Vec<&Visit>>> = BTreeMap::new();
        for (host, visit) in once(visits).filter(|(host, _)| is_well(host)) {
            let name = visit.group();
            if let Some(group) = fleet.groups.iter().position(|group| group.name == name) {
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
            let is_slow = |node: &&Node| node.group == group && node.state == State::Slow;
            let own: Vec<Own<'_>> = hosts.into_iter().map(|(host, visits)| Own::of(host, visits, is_timed)).collect();
            let norms = Norms::of_well(&own);
            let mut cells: BTreeMap<&(String, String), BTreeMap<&str, Vec<Speed>>> = BTreeMap::new();
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
            let has = |(kernel, configuration): &&(String, String)| {
                quantity.iter().any(|own| own.kernel == *kernel && own.configuration == *configuration)
            };
            let lacked = pending.into_iter().flatten().filter(|key| !has(key)).cloned().collect();
            (!quantity.is_empty()).then(|| Kind {
                name: fleet.groups[group].name.clone(),
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
        match group.is_empty() {
            true => Err(Error(match fleet.count(State::Slow) {
                0 => "no node has a reliable result that a baseline could be made of".into(),
                slow => format!("{} left out as slow, and no other has a reliable result", counted(slow, "node")),
            })),
            false => Ok(Baseline { group }),
        }
    }

    /// Reads what [`Baseline::text`] wrote, as people have edited it.
    ///
    /// # Errors
    /// Where it is no such file.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let baseline: Baseline = toml::from_str(text).map_err(|error| {
            let at = error
                .span()
                .map_or(0, |span| text.as_bytes()[..span.start.min(text.len())].split(|b| *b == b'\n').count());
            Error(format!("is no baseline: line {at}: {}", one_line(&error.message().replace('\n', ", "))))
        })?;
        for kind in &baseline.group {
            let Tolerance { warning, critical } = kind.parts;
            let is_share = |share: &f64| (0.0..=1.0).contains(share);
            let is_usable = 0.0 < warning
                && warning <= critical
                && critical < 1.0
                && kind.delivered.iter().chain(&kind.allowed).all(is_share)
                && kind.deviation.iter().all(|own| own.deviation.is_finite() && own.deviation >= 0.0)
                && kind.usual.iter().all(|own| own.effect.is_finite());
            if !is_usable {
                return Err(Error(format!(
                    "has a group ({:?}) that cannot be checked: tolerances and shares are fractions, deviations 0 or more, the \
                     warning of parts above 0 and no larger than its critical one",
                    kind.name
                )));
            }
            for quantity in &kind.quantity {
                let Quantity { value, warning, critical, .. } = *quantity;
                let is_usable =
                    value.is_finite() && value > 0.0 && 0.0 < warning && warning <= critical && critical < 1.0;
                if !is_usable {
                    return Err(Error(format!(
                        "has a quantity ({:?}, {:?}) that cannot be checked: a value is above 0, and tolerances are fractions \
                         above 0, the warning's no larger than the critical one's",
                        quantity.kernel, quantity.configuration
                    )));
                }
            }
        }
        Ok(baseline)
    }

    /// The groups in which half of the nodes are slow or may be, those of incomplete reports or of reports of a part of their CPUs, and the
    /// quantities whose tolerance is so wide that a check would miss faults: one sentence each group.
    pub fn warnings(&self) -> Vec<String> {
        let many = |kind: &Kind, [count, all]: [usize; 2], are: &str| {
            let (name, nodes, of) = (&kind.name, kind.nodes, counted(all, "node"));
            (count > 0 && 2 * count >= all).then(|| {
                format!("{name}: {count} of {of} {are} slow; the values are those of {nodes}; see charz fleet show")
            })
        };
        let slow = |kind: &Kind| many(kind, kind.slow, "were left out as");
        let unclear = |kind: &Kind| many(kind, kind.unclear, "may be");
        let incomplete = |kind: &Kind| {
            let ([incomplete, all], lacked) = &kind.incomplete;
            let names: Vec<String> = lacked.iter().map(|(kernel, rest)| format!("{kernel} {rest}")).collect();
            let (named, others) = names.split_at(names.len().min(MOST_NAMED));
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            let lacked =
                if named.is_empty() { String::new() } else { format!(", no values of {}{more}", named.join(", ")) };
            let all = counted(*all, "report");
            (*incomplete > 0).then(|| format!("{}: {incomplete} of {all} incomplete{lacked}", kind.name))
        };
        let part = |kind: &Kind| {
            let [part, all] = kind.part;
            let left_out = if part < all { ", and were left out" } else { "" };
            let all = counted(all, "report");
            (part > 0).then(|| format!("{}: {part} of {all} are of a part of their CPUs{left_out}", kind.name))
        };
        let wide = |kind: &Kind| {
            let wide: Vec<&Quantity> = kind.quantity.iter().filter(|quantity| quantity.warning > WIDE).collect();
            let most = wide.iter().max_by(|one, other| one.warning.total_cmp(&other.warning))?;
            let what = format!("{} {}", most.kernel, most.configuration);
            let [most, limit] = [most.warning, WIDE].map(|tolerance| tolerance * 100.0);
            let count = wide.len();
            Some(format!(
                "{}: {count} of {} tolerances exceed {limit:.0}% ({what}: {most:.0}%), as the nodes differ by so much; see charz fleet \
                 show",
                kind.name,
                kind.quantity.len()
            ))
        };
        let all = |kind| [slow(kind), unclear(kind), incomplete(kind), part(kind), wide(kind)];
        self.group.iter().flat_map(all).flatten().collect()
    }

    /// The file.
    pub fn text(&self) -> String {
        let [least, most, assumed] = [LEAST, MOST, OF_FEW].map(|tolerance| tolerance * 100.0);
        let mut text = format!(
            "# What nodes of each kind do when they are well (charz fleet baseline). A check warns where a node is slower than\n\
             # the fraction `warning`: five standard deviations between the nodes, {least:.0}% to {most:.0}%. Fewer than {ENOUGH_NODES} nodes show no\n\
             # deviation, so {assumed:.1}% is assumed.\n",
        );
        for warning in self.warnings() {
            let _ = writeln!(text, "# Warning: {}", one_line(&warning));
        }
        for kind in &self.group {
            let Kind { name, nodes, build, usable, delivered, allowed, parts, usual, deviation, quantity, .. } = kind;
            let _ = write!(text, "\n[[group]]\nname = {}\nnodes = {nodes}\n", quoted(name));
            let build = build.iter().map(|(what, value)| format!("{} = {}", quoted(what), quoted(value)));
            let _ = writeln!(text, "build = {{ {} }}", build.collect::<Vec<_>>().join(", "));
            if let Some(usable) = usable {
                let _ = writeln!(text, "usable = {usable}");
            }
            if let Some(delivered) = delivered {
                let _ = writeln!(text, "delivered = {delivered:.3}");
            }
            if let Some(allowed) = allowed {
                let _ = writeln!(text, "allowed = {allowed:.3}");
            }
            let _ = writeln!(text, "# Of a core, cache, NUMA node or socket against its like in the same node.");
            let _ = writeln!(text, "parts = {{ warning = {}, critical = {} }}", parts.warning, parts.critical);
            let rows = deviation.iter().map(|Deviation { level, kernel, deviation }| {
                format!("    {{ level = {level}, kernel = {}, deviation = {deviation:.5} }},\n", quoted(kernel))
            });
            let _ = writeln!(text, "deviation = [\n{}]", rows.collect::<String>());
            let rows = usual.iter().map(|Usual { level, part: [one, other], kernel, effect }| {
                let kernel = quoted(kernel);
                format!(
                    "    {{ level = {level}, part = [{one}, {other}], kernel = {kernel}, effect = {effect:.5} }},\n"
                )
            });
            let _ = writeln!(text, "usual = [\n{}]", rows.collect::<String>());
            for Quantity { kernel, configuration, value, unit, warning, critical } in quantity {
                let _ = write!(
                    text,
                    "\n[[group.quantity]]\nkernel = {}\nconfiguration = {}\nvalue = {value:e}\nunit = {}\nwarning = {warning:.4}\n\
                     critical = {critical:.4}\n",
                    quoted(kernel),
                    quoted(configuration),
                    quoted(unit)
                );
            }
        }
        text
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

    fn place(&self) -> Part {
        let [one, other] = self.part;
        match self.level {
            PAIRS => Part::Pair(one as u32, other as u32),
            level => Part::Level(level, one),
        }
    }
}

impl Quantity {
    /// Of the visits of each node, which count as their median: they differ by less than nodes do.
    fn of((kernel, configuration): &(String, String), nodes: impl Iterator<Item = Vec<Speed>>) -> Option<Self> {
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
