//! `charz predict`: what threads do where they were not measured, or that there is no model.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use charz_topology::{Machine, Mapping, Source, discover, place};

use super::render::read;
use crate::exit::{Error, Exit};
use crate::view::predict::{Format, Predicted, Row, Told};
use charz_analysis::point;
use charz_analysis::predicted::points;
use charz_data::report::{Cell, Report, Status};
use charz_data::units;
use charz_model::{Model, Outcome, Placed, Table, Topology, fit, missed};

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

/// The longest table.
const MOST_BYTES: u64 = 16 << 20;

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let told = match &options.from {
        From::Table(file, source) => vec![of_table(file, &discover(source)?)?],
        From::Report { report, mapping, threads, other } => {
            let other = other.as_ref().map(discover).transpose()?;
            of_report(&read(report)?, mapping, *threads, other.as_ref())?
        }
    };
    (options.format.write)(&told, out)?;
    let has_nothing = |told: &Told| told.model.is_none() && told.rows.iter().all(|row| row.measured.is_none());
    Ok(if told.iter().all(has_nothing) { Exit::NoVerdict } else { Exit::Done })
}

pub(super) fn placed(
    topology: &Topology,
    machine: &Machine,
    mapping: &Mapping,
    threads: usize,
) -> Result<Placed, Error> {
    let seats = place(&mapping.order(machine)?, threads).seats;
    let cpus: Option<Vec<u32>> = seats.into_iter().collect();
    Ok(cpus.map_or_else(|| topology.spread(threads), |cpus| topology.seated(&cpus)))
}

/// A line of a table.
struct Line {
    mapping: String,
    threads: usize,
    value: Option<f64>,
    is_fitted: bool,
    placed: Placed,
}

fn of_table(file: &Path, machine: &Machine) -> Result<Told, Error> {
    let cannot = |error| Error::bad_input(format!("cannot read the table {file:?}: {error}"));
    if fs::metadata(file).map_err(cannot)?.len() > MOST_BYTES {
        return Err(Error::bad_input(format!("the table {file:?} is longer than {}", units::iec(MOST_BYTES))));
    }
    let text = fs::read_to_string(file).map_err(cannot)?;
    let topology = Topology::of(machine);
    let mut lines = Vec::new();
    let own = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    for (at, line) in own {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        if lines.is_empty() && fields.first().is_some_and(|first| *first == "mapping") {
            continue;
        }
        let refuse = |why: String| Error::bad_input(format!("{file:?}, line {}: {why}", at + 1));
        let [mapping, threads, value, rest @ ..] = &fields[..] else {
            return Err(refuse("it takes mapping, threads, value and fit (1 or 0) between tabs".into()));
        };
        let known: Mapping = mapping.parse().map_err(|error: charz_topology::Error| refuse(error.to_string()))?;
        let count = threads.parse().ok().filter(|count| (1..=MOST_THREADS).contains(count));
        let threads =
            count.ok_or_else(|| refuse(format!("{threads:?} is no number of threads from 1 to {MOST_THREADS}")))?;
        let value =
            match *value {
                "-" | "" => None,
                text => {
                    let number = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
                    Some(number.ok_or_else(|| {
                        refuse(format!("{text:?} is no rate above 0, nor - for one that is not known"))
                    })?)
                }
            };
        let is_fitted = match rest.first() {
            None | Some(&"1") => value.is_some(),
            Some(&"0") => false,
            Some(other) => {
                return Err(refuse(format!("{other:?} is neither 1 (may be fitted) nor 0 (to be predicted)")));
            }
        };
        let placed = placed(&topology, machine, &known, threads).map_err(|error| refuse(error.to_string()))?;
        lines.push(Line { mapping: (*mapping).to_owned(), threads, value, is_fitted, placed });
    }
    if lines.is_empty() {
        return Err(Error::bad_input(format!("the table {file:?} has no line with a measurement")));
    }
    let points = |is_fitted| {
        let own = lines.iter().filter(move |line| line.is_fitted == is_fitted);
        own.filter_map(|line| Some((line.placed.clone(), line.value?))).collect::<Vec<_>>()
    };
    let table = Table { fitted: points(true), held_back: points(false) };
    let outcome = fit(&topology, &table);
    let row = |line: &Line| Row {
        mapping: line.mapping.clone(),
        threads: line.threads,
        predicted: model(&outcome).map(|model| model.predict(&line.placed)),
        measured: line.value,
        noisy: false,
    };
    Ok(Told {
        kernel: None,
        unit: None,
        rows: lines.iter().filter(|line| !line.is_fitted).map(row).collect(),
        error: model(&outcome)
            .filter(|_| !table.held_back.is_empty())
            .map(|model| missed(table.held_back.iter().map(|(placed, value)| (model.predict(placed).value, *value)))),
        ..told(&outcome, table.fitted.len())
    })
}

/// The most threads of a line.
const MOST_THREADS: usize = 1 << 20;

fn model(outcome: &Outcome) -> Option<&Model> {
    match outcome {
        Outcome::Model(model) => Some(model),
        Outcome::None(_) => None,
    }
}

fn told(outcome: &Outcome, points: usize) -> Told {
    let (model, why, parameters) = match outcome {
        Outcome::Model(model) => {
            (Some(model.name), format!("the model of {} fits {points} points", model.name), model.parameters())
        }
        Outcome::None(why) => (None, format!("no model: {why}"), Vec::new()),
    };
    Told { kernel: None, unit: None, model, why, parameters, rows: Vec::new(), error: None }
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
    let wanted = match other {
        Some(_) => topology.adopted(&there, &wanted).ok_or_else(|| {
            Error::bad_input(
                "--topology: that machine has other kinds of caches, cores or nodes, so nothing carries over to it",
            )
        })?,
        None => wanted,
    };
    let kernels = of_kernels(report);
    if kernels.is_empty() {
        return Err(Error::ended(
            Exit::NoVerdict,
            "the report has no kernel with a rate; times and latencies are not predicted",
        ));
    }
    let told = kernels.iter().map(|cells| {
        let table = points(&topology, cells);
        let outcome = fit(&topology, &table);
        let name = mapping.to_string();
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
            predicted: model(&outcome).map(|model| model.predict(&wanted)),
            measured: known.and_then(|cell| cell.value()),
            noisy: known.is_some_and(|cell| cell.is_suspect()),
        };
        let is_noisy = table.fitted.len() > cells.iter().filter(|cell| cell.status == Status::Ok).count();
        let mut base = told(&outcome, table.fitted.len());
        if is_noisy && base.model.is_some() {
            base.why += ", noisy ones (~) among them";
        }
        Told {
            kernel: Some(format!("{}{}", cells[0].kernel, point::label(&cells[0].point))),
            unit: Some(cells[0].unit),
            rows: vec![row],
            ..base
        }
    });
    Ok(told.collect())
}

/// Placements that were not measured, and should do better than all that were: of each kernel the best, if its whole interval does.
pub(super) fn better(report: &Report) -> Vec<Predicted> {
    let topology = Topology::of(&report.machine);
    let cpus = report.machine.usable_strands().count();
    let of_kernel = |cells: &Vec<&Cell>| {
        let outcome = fit(&topology, &points(&topology, cells));
        let model = model(&outcome)?;
        let best = cells.iter().filter_map(|cell| cell.value()).fold(0.0, f64::max);
        let mut mappings: Vec<&str> =
            cells.iter().map(|cell| cell.mapping.as_str()).filter(|name| *name != "auto").collect();
        mappings.sort_unstable();
        mappings.dedup();
        let tried = |mapping: &str, threads: usize| {
            cells.iter().any(|cell| cell.mapping == mapping && cell.workers == threads as u64)
        };
        let mut found: Option<Predicted> = None;
        for mapping in mappings {
            let known: Mapping = mapping.parse().ok()?;
            for threads in (1..=cpus).filter(|threads| !tried(mapping, *threads)) {
                let prediction = model.predict(&placed(&topology, &report.machine, &known, threads).ok()?);
                let is_better = prediction.interval[0] > best && prediction.distance <= 1.0;
                if is_better && found.as_ref().is_none_or(|known| known.prediction.value < prediction.value) {
                    found = Some(Predicted {
                        kernel: cells[0].kernel.clone(),
                        unit: cells[0].unit,
                        mapping: mapping.to_owned(),
                        threads,
                        prediction,
                    });
                }
            }
        }
        found
    };
    of_kernels(report).iter().filter_map(of_kernel).collect()
}
