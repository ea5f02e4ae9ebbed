//! `charz predict`: what threads do where they were not measured, or that there is no model.

mod table;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use charz_topology::{Machine, Mapping, Order, Source, discover, place};

use super::file_of;
use super::render::read;
use crate::exit::{Error, Exit};
use crate::view::predict::{Format, Measured, Row, Shown, Told};
use crate::view::present;
use charz_analysis::page::{Source as PageSource, about};
use charz_analysis::predicted::{is_measured, mapped, points};
use charz_data::escape::{counted, quoted};
use charz_data::report::{Cell, Report, Status};
use charz_data::{Arrange, Param, Params, Role, params, units};
use charz_model::{Model, Outcome, Placed, Prediction, Table, Topology, fit};
use charz_render::advise::Predicted;
use charz_words::point;
use charz_words::replicate::{missing, no_model};

pub struct Options {
    pub from: From,
    pub format: &'static Format,
}

pub enum From {
    /// A file of measurements, and the machine that they are of.
    Table(PathBuf, Source),
    Report {
        report: PathBuf,
        mapping: Mapping,
        threads: usize,
        /// Another machine than the report's.
        other: Option<Source>,
    },
}

impl Options {
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        let (file, source) = match &self.from {
            From::Table(file, source) => (file, Some(source)),
            From::Report { report, other, .. } => (report, other.as_ref()),
        };
        source.and_then(file_of).into_iter().chain([file.clone()]).collect()
    }
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let shown = match &options.from {
        From::Table(file, source) => Shown {
            title: format!("Predictions for {}", file.display()),
            source: None,
            told: vec![table::of_table(file, &discover(source)?)?],
        },
        From::Report { report, mapping, threads, other } => {
            let other = other.as_ref().map(discover).transpose()?;
            let report = read(report)?;
            let told = of_report(&report, mapping, *threads, other.as_ref())?;
            let host = [&report.host.name, &report.host.processor].into_iter().flatten();
            let host = host.map(|name| name.trim()).collect::<Vec<_>>().join(", ");
            let title = format!("{mapping} with {} predicted on {host}", counted(*threads, "thread"));
            Shown { title, source: Some(about(&PageSource { name: "the report", report: &report })), told }
        }
    };
    present(options.format, &shown, out)?;
    // A table without a line to predict asks for the model alone, and what was measured there is no answer.
    let is_table = matches!(options.from, From::Table(..));
    let has_nothing = |told: &Told| {
        let is_empty = |row: &Row| row.predicted.is_none() && (is_table || row.measured.is_none());
        told.rows.iter().all(is_empty) && (told.model.is_none() || !told.rows.is_empty())
    };
    Ok(if shown.told.iter().all(has_nothing) { Exit::NoVerdict } else { Exit::Done })
}

pub(super) fn placed(
    topology: &Topology,
    machine: &Machine,
    mapping: &Mapping,
    threads: usize,
) -> Result<Placed, Error> {
    Ok(in_order(topology, &mapping.order(machine)?, threads))
}

fn in_order(topology: &Topology, order: &Order, threads: usize) -> Placed {
    let cpus: Option<Vec<u32>> = place(order, threads).seats.into_iter().collect();
    cpus.map_or_else(|| topology.spread(threads), |cpus| topology.seated(&cpus))
}

fn model(outcome: &Outcome) -> Option<&Model> {
    match outcome {
        Outcome::Model(model) => Some(model),
        Outcome::None(_) => None,
    }
}

/// What was measured, by ascending number of threads.
fn sorted(measured: impl Iterator<Item = Measured>) -> Vec<Measured> {
    let mut measured: Vec<Measured> = measured.collect();
    measured.arrange_by_key(|own| own.threads);
    measured
}

/// What the model says of up to a thread on each CPU, placed by a function that knows too whether their mapping was measured.
fn curve(
    topology: &Topology,
    outcome: &Outcome,
    place: impl Fn(usize) -> Option<(bool, Placed)>,
) -> Vec<(usize, Prediction)> {
    /// As many points as a curve needs.
    const POINTS: usize = 64;
    let cpus = topology.cpus();
    let every = cpus.div_ceil(POINTS).max(1);
    let shown = (1..=cpus).filter(|threads| *threads == 1 || threads % every == 0 || *threads == cpus);
    let along = |threads| {
        let (is_known, placed) = place(threads)?;
        Some((threads, predicted(topology, outcome, is_known, &placed)?))
    };
    shown.filter_map(along).collect()
}

/// What the model says of threads with a CPU for each.
fn predicted(topology: &Topology, outcome: &Outcome, is_measured: bool, placed: &Placed) -> Option<Prediction> {
    model(outcome).filter(|_| topology.holds(placed)).map(|model| model.predict_under(is_measured, placed))
}

/// That these mappings have no point, where there is a model.
fn never_measured(outcome: &Outcome, mappings: BTreeSet<&str>) -> String {
    if mappings.is_empty() || model(outcome).is_none() {
        return String::new();
    }
    format!("; never measured under {}: intervals are wider", Vec::from_iter(mappings).join(", "))
}

fn told(topology: &Topology, outcome: &Outcome, table: &Table) -> Told {
    let points = table.fitted.iter().filter(|(placed, _)| topology.holds(placed)).count();
    let most = model(outcome).map(|model| model.most(topology)).unwrap_or_default();
    let (model, why, parameters) = match outcome {
        Outcome::Model(model) => {
            let taken = match (model.name, model.shares_work) {
                ("placement", false) => ", with equal work per thread,",
                ("placement", true) => ", with more work for faster threads,",
                _ => "",
            };
            let fits = format!("the model of {}{taken} fits {}", model.name, counted(points, "point"));
            let check = match model.left_out {
                Some(mean) => {
                    format!("; points left out one by one are missed by {} in the mean", units::percent(mean))
                }
                None if model.checked == 0 => "; unchecked: no point was left out".into(),
                None => String::new(),
            };
            let lacks = match &model.missing[..] {
                [] => String::new(),
                points => format!("; missing: {}", missing(points)),
            };
            (Some(model.name), fits + &check + &lacks, model.parameters())
        }
        Outcome::None(why) => (None, format!("no model: {}", no_model(why)), Vec::new()),
    };
    let beyond = table.fitted.len() - points;
    let left_out = if beyond > 0 {
        let is = if beyond == 1 { "is" } else { "are" };
        format!("; {} with several threads on a CPU {is} left out", counted(beyond, "point"))
    } else {
        String::new()
    };
    Told {
        kernel: None,
        unit: None,
        model,
        why: why + &left_out,
        parameters,
        most,
        threads: self::model(outcome).map_or(0, Model::threads),
        rows: Vec::new(),
        error: None,
        measured: Vec::new(),
        curves: Vec::new(),
        limit: self::model(outcome).map(|model| {
            let cpus = topology.cpus();
            (cpus, model.predict(&topology.spread(cpus)).interval[1])
        }),
    }
}

/// The configurations of a kernel that differ in placement only, by what is measured.
pub(super) fn of_kernels(report: &Report) -> Vec<Vec<&Cell>> {
    let has_rate = |cell: &&Cell| cell.unit.more_is_better() && cell.value().is_some();
    let mut kernels: Vec<Vec<&Cell>> = Vec::new();
    for cell in report.cells.iter().filter(has_rate) {
        let is_like = |own: &&mut Vec<&Cell>| own[0].kernel == cell.kernel && own[0].point == cell.point;
        match kernels.iter_mut().find(is_like) {
            Some(own) => own.push(cell),
            None => kernels.push(vec![cell]),
        }
    }
    kernels
}

fn of_report(report: &Report, mapping: &Mapping, threads: usize, other: Option<&Machine>) -> Result<Vec<Told>, Error> {
    let topology = Topology::of(&report.machine);
    let machine = other.unwrap_or(&report.machine);
    let there = Topology::of(machine);
    let wanted = placed(&there, machine, mapping, threads)?;
    let mut seats = place(&mapping.order(machine)?, threads).seats;
    seats.sort_unstable();
    let (wanted, is_scaled) = match other {
        Some(_) => topology.adopted(&there, &wanted).map_err(|part| {
            Error::bad_input(format!(
                "--topology: CPUs share the {part} and no smaller part on only one of the two machines, so nothing carries over"
            ))
        })?,
        None => (wanted, false),
    };
    if other.is_some() && there.has_kinds() {
        return Err(Error::ended(
            Exit::NoVerdict,
            "no model: the machine has several kinds of core, or cores with different numbers of CPUs",
        ));
    }
    if !there.holds(&wanted) {
        let cpus = counted(there.cpus(), "CPU");
        return Err(Error::bad_input(format!(
            "--threads {threads}: {mapping} puts several threads on one of {cpus}, and no model predicts that"
        )));
    }
    let kernels = of_kernels(report);
    if kernels.is_empty() {
        return Err(Error::ended(
            Exit::NoVerdict,
            "the report has no kernel with a rate; times and latencies are not predicted",
        ));
    }
    let order = mapping.order(machine).ok();
    let told = kernels.iter().map(|cells| {
        let table = points(&topology, cells);
        let outcome = fit(&topology, &table);
        let name = mapping.to_string();
        let is_known = table.knows(&wanted) || is_measured(&topology, mapped(cells), &name, threads);
        let is_there = |cell: &&&Cell| {
            let mut own = cell.seats.clone();
            own.sort_unstable();
            other.is_none() && own == seats
        };
        let same = |cell: &&&Cell| is_there(cell) && cell.mapping == name;
        let known = cells.iter().find(same).or_else(|| cells.iter().find(is_there));
        let row = Row {
            mapping: name.clone(),
            threads,
            predicted: predicted(&there, &outcome, is_known, &wanted),
            measured: known.and_then(|cell| cell.value()),
            noisy: known.is_some_and(|cell| cell.is_suspect()),
        };
        let is_noisy = table.fitted.len() > cells.iter().filter(|cell| cell.status == Status::Ok).count();
        let mut base = told(&topology, &outcome, &table);
        if other.is_some() {
            // They are the measured machine's.
            base.most.clear();
            base.limit = None;
        }
        base.why += &never_measured(&outcome, (!is_known).then_some(name.as_str()).into_iter().collect());
        if is_noisy && base.model.is_some() {
            base.why += ", noisy ones (~) among them";
        }
        if is_scaled && base.model.is_some() {
            base.why += "; a part is taken as able to do as much more or less as it has more or fewer CPUs";
        }
        let has_number = row.predicted.is_some() || row.measured.is_some();
        if let Some(quota) = machine.quota().filter(|quota| has_number && threads as f64 > *quota) {
            let most = counted(machine.worth(), "thread");
            base.why += &format!(
                "; numbers are without the pauses of the CPU quota of {quota:.2}, which has no time for more than {most}"
            );
        }
        let curve = order.as_ref().map(|order| {
            curve(&there, &outcome, |threads| {
                let own = in_order(&there, order, threads);
                let own = if other.is_some() { topology.adopted(&there, &own).ok()?.0 } else { own };
                Some((table.knows(&own) || is_measured(&topology, mapped(cells), &name, threads), own))
            })
        });
        let measured = |cell: &&Cell| {
            let interval = cell.capacity.and_then(|capacity| capacity.interval);
            Some(Measured {
                name: cell.mapping.clone(),
                threads: cell.workers as usize,
                value: cell.value()?,
                interval: interval.map(|interval| [interval.low, interval.high]),
                noisy: cell.is_suspect(),
            })
        };
        let curves = curve.into_iter().filter(|curve| !curve.is_empty()).map(|curve| (name.clone(), curve)).collect();
        Told {
            measured: sorted(cells.iter().filter(|_| other.is_none()).filter_map(measured)),
            curves,
            kernel: Some(format!("{}{}", cells[0].kernel, point::label(&cells[0].point))),
            unit: Some(cells[0].unit),
            rows: vec![row],
            ..base
        }
    });
    Ok(told.collect())
}

/// What is predicted beside the mappings of a report.
const PLACEMENTS: [&str; 2] = ["round-robin", "compact"];

/// The flags with which a sweep measures a kernel as these cells did, which differ in placement only; `None` of a user's program, which takes
/// flags of its own.
fn flags(report: &Report, cells: &[&Cell]) -> Option<String> {
    let cell = cells.first()?;
    let card = report.card(&cell.kernel).filter(|card| card.role != Role::Program)?;
    let (own, usual) = (cell.point.params(&report.plan.params), Params::default());
    // Threads divide a block only where its size is not given.
    let is_divided = cells.iter().any(|cell| cell.block_bytes.is_some());
    let is_other = |param: &&&Param| {
        let is_of_sweep = param.is_amount() || is_divided && ***param == params::SIZE;
        !is_of_sweep && (param.auto || !param.same(&own, &usual))
    };
    let params = card.params.iter().filter(is_other);
    let params = params.map(|param| format!(" --{} {}", param.name, quoted(&(param.show)(&own).replace(' ', ""))));
    Some(format!("--kernel {}{}", quoted(&cell.kernel), params.collect::<String>()))
}

/// Placements that were not measured, and should do better than all that were: of each kernel the best, if its whole interval does.
pub(super) fn better(report: &Report) -> Vec<Predicted> {
    let topology = Topology::of(&report.machine);
    let cpus = report.machine.worth();
    let of_kernel = |cells: &Vec<&Cell>| {
        let outcome = fit(&topology, &points(&topology, cells));
        let model = model(&outcome)?;
        let best = cells.iter().filter_map(|cell| cell.value()).fold(0.0, f64::max);
        let own = cells.iter().map(|cell| cell.mapping.as_str()).filter(|name| *name != "auto");
        let mut mappings: Vec<&str> = own.chain(PLACEMENTS).collect();
        mappings.sort_unstable();
        mappings.dedup();
        let tried = |mapping: &str, threads: usize| {
            cells.iter().any(|cell| cell.mapping == mapping && cell.workers == threads as u64)
        };
        let mut found: Option<Predicted> = None;
        for mapping in mappings {
            let Ok(known) = Mapping::of_data(mapping) else { continue };
            let order = known.order(&report.machine).ok()?;
            for threads in (1..=cpus).filter(|threads| !tried(mapping, *threads)) {
                let is_known = is_measured(&topology, mapped(cells), mapping, threads);
                let prediction = model.predict_under(is_known, &in_order(&topology, &order, threads));
                let is_better = prediction.interval[0] > best && prediction.distance <= 1.0;
                if is_better && found.as_ref().is_none_or(|known| known.value < prediction.value) {
                    found = Some(Predicted {
                        kernel: format!("{}{}", cells[0].kernel, point::label(&cells[0].point)),
                        flags: flags(report, cells),
                        unit: cells[0].unit,
                        mapping: mapping.to_owned(),
                        threads,
                        value: prediction.value,
                        interval: prediction.interval,
                    });
                }
            }
        }
        found
    };
    of_kernels(report).iter().filter_map(of_kernel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Unit, fixtures};

    #[test]
    fn the_flags_measure_a_kernel_as_it_was_and_a_program_has_none() {
        let cell = fixtures::cell("mem-read", 2, Unit::BytesPerSecond, 1e9).sized(256 << 20);
        let mut report = fixtures::report(vec![cell.clone()]);
        report.plan.params.memory = "node:1".parse().unwrap();
        assert_eq!(
            flags(&report, &[&cell]).as_deref(),
            Some("--kernel mem-read --size 256MiB --memory node:1 --pages thp")
        );
        let divided = Cell { block_bytes: Some(128 << 20), ..cell.clone() };
        assert_eq!(
            flags(&report, &[&cell, &divided]).as_deref(),
            Some("--kernel mem-read --memory node:1 --pages thp"),
            "the size was automatic"
        );
        report.cards.iter_mut().for_each(|card| card.role = Role::Program);
        assert_eq!(flags(&report, &[&cell]), None);
    }

    #[test]
    fn a_prediction_for_more_threads_than_a_quota_has_time_for_says_so() {
        let cells = [1, 2, 3, 4].map(|threads| {
            let cell = fixtures::cell("arith-int", threads, Unit::OpsPerSecond, threads as f64 * 1e9);
            cell.under("list:0-7").in_order()
        });
        let mut report = fixtures::report(cells.into()).on(8);
        for (quota, threads, expected) in [(None, 8, false), (Some(2.0), 8, true), (Some(2.0), 2, false)] {
            report.machine.usable.quota_cpus = quota;
            let mapping = Mapping::of_data("list:0-7").unwrap();
            let told = of_report(&report, &mapping, threads, None).unwrap();
            assert!(told[0].rows[0].predicted.is_some(), "{}", told[0].why);
            assert_eq!(told[0].why.contains("CPU quota of 2.00"), expected, "{}", told[0].why);
        }
    }
}
