//! The answer that a report gives, as much as fits on one screen: the machine, how good the numbers are, one row per kernel, and what
//! to do with it.
//!
//! A pure function of a report. The terminal, the page and the findings in the report's JSON take their headlines from here and from
//! [`verdicts`], so they cannot disagree.

mod advice;
mod costs;
mod pairs;
mod quality;
pub(crate) mod ratio;
mod rows;
#[cfg(test)]
mod tests;

use charz_estimate::Estimates;
use charz_estimate::{Estimate, Quantity, grouped};
use charz_words::estimate::label;
use std::time::Duration;

use crate::figure::{self, Datum, Table};
use charz_claims::card::Card;
use charz_data::card::Chase;
use charz_data::escape::{counted, shortened};
use charz_data::report::{Cell, Energy, Hardware, Report, Status, Unit};
use charz_data::units;
use charz_data::{Arrange, Role};
use charz_words::findings::findings;
use charz_words::point;

pub use advice::Advice;
pub use charz_words::estimate::NONE;
pub use costs::Costs;
pub(crate) use quality::is_caused_by_others;
pub use quality::{Level, Quality};
pub use rows::{Auto, Row, quota_note, table, times_text};

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Host, processor, parts, e.g. `node7 · AMD EPYC 7763 · 128 CPUs, 64 cores, 1 socket`. Its words may be foreign.
    pub machine: String,
    /// When the sweep began and how long it took: `2026-01-31 12:00 UTC · 1 min 12 s`.
    pub when: String,
    pub quality: Quality,
    /// Why the sweep ended early; `None` where it is complete.
    pub incomplete: Option<String>,
    /// Configurations that failed, or that the system refused, each reason once: the first one, its reason, and how many more there are.
    pub failed: Vec<String>,
    /// What hardware counters say, or why there are none; `None` where they were not asked for.
    pub counters: Option<String>,
    /// What the packages took of energy; `None` where the system does not count it.
    pub energy: Option<String>,
    /// How many CPUs the process could use.
    pub cpus: u64,
    /// What kernels do, but for those that share something or do single operations: by family as `charz kernels` has them, a program of the
    /// user's first, then by name and size.
    pub rows: Vec<Row>,
    /// What the machine delivered, shared as it was; empty where threads had their CPUs.
    pub delivered: Table,
    /// The kernels of which no configuration has a number, each with the reason of one.
    pub without: Table,
    /// What pools and counters do under contention; empty where they were not measured.
    pub contended: Table,
    /// Latency and bandwidth of the caches and of memory; empty where they were not measured.
    pub levels: Table,
    /// The times of a cache line between CPUs, by the kind of pair; empty where that is not what was measured.
    pub lines: Table,
    /// Latency and bandwidth between NUMA nodes; empty where memory was not placed on each.
    pub nodes: Table,
    /// What is said of pairs of CPUs beyond their times. May have foreign words.
    pub found: Vec<String>,
    /// What calls, wake-ups, locks and clocks cost: one list for each kind.
    pub costs: Vec<Costs>,
    pub advice: Vec<Advice>,
}

/// A number of a report, with all that decides how it is printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub value: f64,
    pub unit: Unit,
    /// The ends of its 95% interval, as multiples of it; `None` after too few runs.
    pub(crate) ends: Option<[f64; 2]>,
    pub is_noisy: bool,
    pub threads: u64,
    pub mapping: String,
    /// [`Capacity`](Quantity::Capacity) where a heading says what it is.
    pub origin: Quantity,
}

impl Reading {
    fn of(number: &Estimate<'_>) -> Self {
        Reading {
            value: number.unscaled().value,
            unit: number.cell.unit,
            ends: number.interval.map(|interval| <[f64; 2]>::from(interval).map(|end| end / number.value)),
            is_noisy: number.is_doubtful(),
            threads: number.cell.workers,
            mapping: number.cell.mapping.clone(),
            origin: number.quantity,
        }
    }

    /// Half the width of its 95% interval, as a fraction of it; `None` after too few runs.
    pub fn half_width(&self) -> Option<f64> {
        self.ends.map(|[low, high]| (high - low).abs() / 2.0)
    }

    /// `12.3 GB/s`, with the marker of a noisy number, and `delivered` or `estimated` where it is that.
    pub fn text(&self) -> String {
        format!("{}{}{}", units::value(self.value, self.unit), units::doubt(self.is_noisy), label(self.origin))
    }

    fn datum(&self) -> Datum {
        Datum::number(self.text(), self.value)
    }
}

impl Answer {
    pub fn of(report: &Report) -> Self {
        let cpus = report.machine.usable_strands().count() as u64;
        let rows = rows::rows(report, cpus);
        let findings = findings(&Estimates::of(report));
        let advice = advice::advice(report, &rows, &findings, cpus);
        Answer {
            machine: machine(report),
            when: when(report),
            quality: Quality::of(report),
            failed: failed(report),
            counters: counters(report),
            energy: energy(report),
            incomplete: report.incomplete(),
            cpus,
            delivered: rows::delivered(&rows),
            contended: rows::contended(report, cpus),
            levels: levels(report),
            without: without(report),
            lines: pairs::lines(report),
            nodes: pairs::nodes(report),
            found: pairs::found(report, &findings),
            costs: costs::costs(report),
            advice,
            rows,
        }
    }
}

/// How many rows of a table of a page are kept, and kinds of costs, and kernels of a kind.
const MOST: usize = 60;

/// The longest line to paste: a loop over a thousand CPUs.
const LONGEST_LAUNCH: usize = 10_000;

impl Answer {
    /// Keeps it small for any report: at most [`MOST`] rows, names and sentences at most so many characters long.
    pub(crate) fn bound(&mut self, [longest, sentence]: [usize; 2]) {
        let cut = |text: &mut String| *text = shortened(text, longest as f64, |_| 1.0);
        let cut_sentence = |text: &mut String| *text = shortened(text, sentence as f64, |_| 1.0);
        cut(&mut self.machine);
        cut(&mut self.when);
        self.incomplete.iter_mut().for_each(cut);
        self.failed.truncate(MOST);
        self.failed.iter_mut().chain(&mut self.counters).chain(&mut self.quality.fix).for_each(cut_sentence);
        self.rows.truncate(MOST);
        for row in &mut self.rows {
            let mappings = [&mut row.best.mapping, &mut row.peak.mapping, &mut row.best_mapping];
            let named = [&mut row.kernel, &mut row.label].into_iter().chain(mappings);
            named.chain(row.gaps.iter_mut().flatten()).for_each(cut);
        }
        for table in [&mut self.delivered, &mut self.contended, &mut self.lines, &mut self.nodes, &mut self.without] {
            table.rows.truncate(MOST);
            table.rows.iter_mut().flat_map(|row| &mut row.data).for_each(|datum| cut(&mut datum.text));
        }
        self.found.truncate(MOST);
        self.found.iter_mut().for_each(cut_sentence);
        self.costs.truncate(MOST);
        for costs in &mut self.costs {
            costs.place.iter_mut().chain([&mut costs.kind]).for_each(cut);
            costs.kernels.truncate(MOST);
            let named = costs.fastest.iter_mut().chain(&mut costs.slowest);
            costs.kernels.iter_mut().map(|(name, _)| name).chain(named).for_each(cut);
        }
        self.advice.truncate(MOST);
        for advice in &mut self.advice {
            cut_sentence(&mut advice.text);
            // A part of a command is another command.
            advice.launch.take_if(|launch| launch.len() > LONGEST_LAUNCH);
        }
    }
}

/// `node7 · AMD EPYC 7763 · 128 CPUs, 64 cores, 1 socket · CPU quota 1.50 · guest`.
fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let usable = machine.usable_strands().count();
    let cpus = match machine.strands.len() {
        all if all == usable => counted(all, "CPU"),
        all => format!("{usable} of {}", counted(all, "CPU")),
    };
    let parts = [(machine.cores.len(), "core"), (machine.packages.len(), "socket")];
    let nodes = (machine.numa_nodes.len() > 1).then(|| counted(machine.numa_nodes.len(), "NUMA node"));
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun));
    let parts: Vec<String> = [cpus].into_iter().chain(parts).chain(nodes).collect();
    let known =
        |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let name = known(&report.host.name).or_else(|| known(&report.measured_by));
    let name = name.unwrap_or_else(|| "unnamed host".to_owned());
    let foreign = report.measured_by.as_ref().map(|_| "measured by another program".to_owned());
    let processor = known(&report.host.processor);
    let processor = processor.or_else(|| foreign.is_none().then(|| "unnamed processor".to_owned()));
    let quota = machine.usable.quota_cpus.map(|cpus| format!("CPU quota {cpus:.2}"));
    let guest = (report.host.virtual_machine == Some(true)).then(|| "guest".to_owned());
    let who = [name].into_iter().chain(processor).chain(foreign).chain([parts.join(", ")]);
    who.chain(quota).chain(guest).collect::<Vec<_>>().join(" · ")
}

fn when(report: &Report) -> String {
    // RFC 3339 to the minute; another text is foreign and stays.
    let started = match report.started.split_at_checked("2026-01-31T12:00".len()) {
        Some((minute, _)) => format!("{} UTC", minute.replace('T', " ")),
        None => report.started.clone(),
    };
    match report.measured_by {
        Some(_) => "from a table; when and how it was measured is not known".to_owned(),
        None => format!("{started} · {}", units::duration(Duration::from_nanos(report.wall_ns))),
    }
}

/// `mem-read dumb x2: signal 11 (and 3 more)`.
fn failed(report: &Report) -> Vec<String> {
    // What the system refused at the first run was not known when the sweep was planned.
    let refused = |cell: &Cell| cell.status == Status::Skipped && !cell.invocations.is_empty();
    let failed = report.cells.iter().filter(|cell| cell.status == Status::Failed || refused(cell));
    let reasons = grouped(failed, |cell| cell.reason.as_deref().unwrap_or_default());
    let line = |cells: &Vec<&Cell>| {
        let more = if cells.len() > 1 { format!(" (and {} more)", cells.len() - 1) } else { String::new() };
        format!("{}: {}{more}", point::name(cells[0]), cells[0].reason.as_deref().unwrap_or_default())
    };
    reasons.iter().map(line).collect()
}

/// A row per kernel that was tried and has no number at all.
fn without(report: &Report) -> Table {
    let tried = report.cells.iter().filter(|cell| cell.status != Status::Skipped || !cell.invocations.is_empty());
    let mut kernels = grouped(tried, |cell| cell.kernel.as_str());
    kernels.retain(|cells| cells.iter().all(|cell| cell.value().is_none()));
    kernels.arrange_by_key(|cells| cells[0].kernel.as_str());
    let rows = kernels.iter().map(|cells| vec![Datum::word(&cells[0].kernel), Datum::word(rows::reason(cells[0]))]);
    Table::new(&["no number", "why"], rows)
}

/// `0.31 to 3.90 instructions per cycle; the counters cost up to 0.4%`, or `no counters here: REASON`.
fn counters(report: &Report) -> Option<String> {
    let found: Vec<_> =
        report.cells.iter().filter(|cell| cell.value().is_some()).filter_map(|cell| cell.hardware).collect();
    let range = |of: fn(&Hardware) -> Option<f64>| figure::range(found.iter().filter_map(of));
    let cost = range(|found| Some(found.cost?.value)).map(|[_, most]| most.max(0.0));
    let cost = cost.map(|most| format!("; the counters cost up to {}", units::percent(most))).unwrap_or_default();
    match range(Hardware::ipc) {
        Some([low, high]) if low == high => Some(format!("{} instructions per cycle{cost}", units::count_of(low))),
        Some([low, high]) => {
            Some(format!("{} to {} instructions per cycle{cost}", units::count_of(low), units::count_of(high)))
        }
        None if !report.plan.counters => None,
        None => Some(match report.cells.iter().find_map(Cell::no_counters) {
            Some(reason) => format!("no counters here: {reason}"),
            None => "nothing was counted yet".to_owned(),
        }),
    }
}

/// `95.2 W to 180 W for all packages; least energy: arith-int 520 pJ per operation (dumb x8)`.
fn energy(report: &Report) -> Option<String> {
    let cells = report.cells.iter().filter(|cell| cell.value().is_some());
    let found: Vec<(&Cell, &Energy)> = cells.filter_map(|cell| Some((cell, cell.energy.as_ref()?))).collect();
    let ends = figure::range(found.iter().map(|(_, energy)| energy.watts.iter().sum()))?.map(units::watts);
    let power = if ends[0] == ends[1] { ends[0].clone() } else { ends.join(" to ") };
    let mut least: Vec<(&Cell, f64)> = Vec::new();
    for (cell, joules) in found.iter().filter_map(|(cell, energy)| Some((*cell, energy.joules?))) {
        match least.iter_mut().find(|(known, _)| known.kernel == cell.kernel && known.point == cell.point) {
            Some(known) if known.1 > joules => *known = (cell, joules),
            Some(_) => {}
            None => least.push((cell, joules)),
        }
    }
    let word = |(cell, joules): &(&Cell, f64)| {
        let (name, doubt) = (format!("{}{}", cell.kernel, point::label(&cell.point)), units::doubt(cell.is_suspect()));
        let joules = format!("{}{doubt} {}", units::joules(*joules), cell.unit.per_work());
        format!("{name} {joules} ({} x{})", cell.mapping, cell.workers)
    };
    let words: Vec<String> = least.iter().take(MOST_ENERGIES).map(word).collect();
    let more = least.len().saturating_sub(MOST_ENERGIES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let least = if words.is_empty() { String::new() } else { format!("; least energy: {}{more}", words.join(", ")) };
    Some(format!("{power} for all packages{least}"))
}

/// The most kernels that are named with their energy.
const MOST_ENERGIES: usize = 4;

/// A row per cache level and one for memory, of which there is a number.
fn levels(report: &Report) -> Table {
    let card = Card::of(report);
    let measured = || card.levels.iter().filter(|level| card.found(level).is_some() || !level.bandwidths.is_empty());
    let most = measured().flat_map(|level| &level.bandwidths).map(|found| found.workers).max().unwrap_or(0);
    let memory = report.host.memory.total_bytes.map(units::iec);
    let rows = measured().map(|level| {
        let name = charz_words::curve::level(level.cache);
        let size = level.claimed.as_ref().and_then(|(cache, _)| cache.size_bytes).map(units::iec);
        let size = if level.cache.is_none() { memory.clone() } else { size };
        let read = |workers: u64| {
            let found = level.bandwidths.iter().find(|found| found.operation == "read" && found.workers == workers);
            found.map_or_else(none, |found| {
                let rate = units::value(found.bytes_per_second, Unit::BytesPerSecond);
                Datum::number(format!("{rate}{}", units::doubt(found.suspect)), found.bytes_per_second)
            })
        };
        let latency = card.found(level).map(|found| (found.ns, found.doubtful)).or_else(|| of_one_size(report, &name));
        let latency =
            latency.map_or_else(none, |(ns, doubtful)| Datum::number(charz_words::estimate::time(ns, doubtful), ns));
        let mut row = vec![Datum::word(&name), size.map_or_else(none, Datum::word), latency, read(1)];
        row.extend((most > 1).then(|| read(most)));
        row
    });
    let mut heading = ["level", "reported size", "latency", "read, 1 thread"].map(str::to_owned).to_vec();
    heading.extend((most > 1).then(|| format!("{most} threads")));
    Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>(), rows.collect::<Vec<_>>())
}

/// What a load takes from a level for which one size was chosen, on the pages with which it is shortest, and whether that is noisy.
fn of_one_size(report: &Report, level: &str) -> Option<(f64, bool)> {
    let is_load = |cell: &&Cell| *report.role(&cell.kernel) == Role::Latency(Chase::Random) && cell.workers == 1;
    let own = report.cells.iter().filter(is_load).filter(|cell| cell.level.as_deref() == Some(level));
    let own: Vec<&Cell> = own.collect();
    let is_one = own.windows(2).all(|two| two[0].point.size_bytes == two[1].point.size_bytes);
    let numbers = own.iter().filter(|_| is_one).filter_map(|cell| Some((cell.value()?, cell.is_suspect())));
    numbers.min_by(|one, other| one.0.total_cmp(&other.0))
}

fn none() -> Datum {
    Datum::word(NONE)
}
