//! `charz import`: what another program measured, as a report.

mod table;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use charz_analysis::page::Source as Named;
use charz_data::card::{Family, Metric};
use charz_data::report::{
    Cell, Ending, Estimator, Host, Invocation, Memory, Plan, Point, Report, Run, Schema, Status, Unit,
};
use charz_data::{Better, Card, Params, ReportedUnit, unit_word, units};
use charz_measure::moment::rfc3339;
use charz_measure::sweep::{judge_report, random_name};
use charz_measure::user_program;
use charz_topology::{Machine, Mapping, Source, discover, place};

use super::render::{Showing, names, show};
use super::stream;
use crate::exit::{Error, Exit};
use crate::view::progress::note;
use table::{Row, Table};

pub struct Options {
    pub table: PathBuf,
    /// `None` takes what the table names.
    pub topology: Option<Source>,
    pub kernel: Option<String>,
    pub unit: Option<String>,
    pub better: Option<Better>,
    pub showing: Showing,
}

/// The longest table.
const MOST_BYTES: u64 = 16 << 20;

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let report = report(options)?;
    let name = names(std::slice::from_ref(&options.table)).remove(0);
    show(&[Named { name: &name, report: &report }], &options.showing, out)
}

/// The report that a table is, judged.
fn report(options: &Options) -> Result<Report, Error> {
    let file = &options.table;
    let table = Table::read(&text(file)?, file)?;
    let source = options.topology.clone().or_else(|| table.topology.clone()).ok_or_else(|| {
        Error::bad_input(format!(
            "{file:?} names no machine; give --topology a file of hwloc XML, or a description such as 'Package:2 Core:8 PU:2'"
        ))
    })?;
    let machine = discover(&source)?;
    let mut report = empty(machine, file);
    let mut places = HashMap::new();
    for row in &table.rows {
        add(&mut report, &mut places, row, options)
            .map_err(|why| Error::bad_input(format!("{file:?}, line {}: {why}", row.line)))?;
    }
    if let Some(unit) = report.cells.iter().map(|cell| cell.unit).find(|unit| is_guessed(*unit, options)) {
        note(&format!(
            "note: {:?} does not say which values are better; higher ones are taken to be, unless --direction is given",
            unit.symbol()
        ));
    }
    charz_data::report::check(&report).map_err(|why| Error::bad_input(format!("{file:?}: {why}")))?;
    judge_report(&mut report);
    Ok(report)
}

fn text(file: &Path) -> Result<String, Error> {
    let cannot = |error| Error::bad_input(format!("cannot read the table {file:?}: {error}"));
    let mut text = String::new();
    stream(file, &format!("the table {file:?}"))?.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(cannot)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(Error::bad_input(format!("the table {file:?} is longer than {}", units::iec(MOST_BYTES)))),
        false => Ok(text),
    }
}

/// Where each configuration is in the report.
type Places = HashMap<(String, String, Point, usize), usize>;

/// Adds a row: a configuration, or further values of one.
fn add(report: &mut Report, places: &mut Places, row: &Row, options: &Options) -> Result<(), String> {
    let kernel = row.kernel.clone().or_else(|| options.kernel.clone());
    let kernel = kernel.unwrap_or_else(|| names(std::slice::from_ref(&options.table)).remove(0));
    let (unit, factor) = unit(options.unit.as_deref().or(row.unit.as_deref()), options.better)?;
    let mapping = Mapping::of_data(&row.mapping).map_err(|error| error.to_string())?;
    if report.card(&kernel).is_none() {
        report.cards.push(card(&kernel, unit));
        report.plan.kernels.push(kernel.clone());
    }
    let key = (kernel, mapping.to_string(), row.point, row.threads);
    let known = places.get(&key).copied();
    let at = match known {
        Some(at) => at,
        None => {
            let order = mapping.order(&report.machine).map_err(|error| error.to_string())?;
            let seats = place(&order, row.threads).seats;
            report.cells.push(cell(key.0.clone(), key.1.clone(), row, seats, unit));
            places.insert(key, report.cells.len() - 1);
            report.cells.len() - 1
        }
    };
    let cell = &mut report.cells[at];
    if cell.unit != unit {
        return Err(format!(
            "its unit is {}, and that of its configuration above {}",
            unit.symbol(),
            cell.unit.symbol()
        ));
    }
    if known.is_some() && (cell.stated_interval.is_some() || row.interval.is_some()) {
        return Err("its configuration has a row already, and values with an interval are not repeated".to_owned());
    }
    cell.stated_interval = row.interval.map(|ends| ends.map(|end| end * factor).into());
    for value in &row.values {
        // The runs of a configuration differ in when they began.
        let started_ns = cell.invocations.len() as u64 + 1;
        cell.invocations.push(run_of(value * factor, started_ns));
    }
    Ok(())
}

/// The unit of a value in its smallest form, and by what the value is multiplied.
fn unit(symbol: Option<&str>, better: Option<Better>) -> Result<(Unit, f64), String> {
    let symbol = symbol.unwrap_or(ReportedUnit::UNNAMED.as_str());
    let better = better.or(ReportedUnit::usual(symbol)).unwrap_or(Better::Higher);
    let (factor, symbol) = unit_word::smallest(symbol).unwrap_or((1.0, symbol.to_owned()));
    let unit = ReportedUnit::new(&symbol, better).map_err(|what| format!("{symbol:?} {what}"))?;
    Ok((Unit::Reported(unit), factor))
}

/// Whether neither the unit nor the user says which values are better.
fn is_guessed(unit: Unit, options: &Options) -> bool {
    options.better.is_none() && ReportedUnit::usual(unit.symbol()).is_none()
}

/// The card of a kernel of this program; of any other one that says that each is a load of its own.
fn card(kernel: &str, unit: Unit) -> Card {
    if let Some(known) = user_program::find(kernel) {
        return known.card().clone();
    }
    let metric = if unit.more_is_better() { Metric::Ops("unit".into()) } else { Metric::Duration };
    let mut card = Card::new("", Family::Workload, "Measured by another program.", metric);
    card.name = kernel.to_owned().into();
    card
}

fn cell(kernel: String, mapping: String, row: &Row, seats: Vec<Option<u32>>, unit: Unit) -> Cell {
    Cell {
        kernel,
        mapping,
        point: row.point,
        level: None,
        traffic: None,
        block_bytes: None,
        about_memory: false,
        workers: row.threads as u64,
        seats,
        unit,
        estimator: Estimator::Median,
        precision: 1.0,
        repetitions: 1,
        footprint_bytes: 0,
        skipped: None,
        stated_interval: None,
        invocations: Vec::new(),
        counted: Vec::new(),
        status: Status::Pending,
        reason: None,
        capacity: None,
        delivered: None,
        marks: Vec::new(),
        summary: None,
        distribution: None,
        contention: None,
        hardware: None,
        energy: None,
    }
}

fn run_of(value: f64, started_ns: u64) -> Invocation {
    let runs = vec![Run { reported: Some(value), ..Run::default() }];
    Invocation { runs, started_ns, reason: None, ..Invocation::without_runs(Ending::Done, "") }
}

/// A report of a machine without a configuration.
fn empty(machine: Machine, file: &Path) -> Report {
    let host = Host {
        name: None,
        slurm_name: None,
        product: None,
        kernel: None,
        processor: None,
        microcode: None,
        firmware: None,
        claimed_hz: None,
        tlb_4k_entries: None,
        tlb_2m_entries: None,
        virtual_machine: None,
        clock_source: None,
        transparent_huge_pages: None,
        frequency_governor: None,
        timer_slack_ns: None,
        cpu_quota: None,
        disturbances: Vec::new(),
        labels: Default::default(),
        energy: None,
        memory: Memory { total_bytes: None, modules: None, available_bytes: None, budget_bytes: None },
    };
    let plan = Plan {
        kernels: Vec::new(),
        mappings: Vec::new(),
        threads: Vec::new(),
        params: Params::default(),
        precision: None,
        repetitions: None,
        min_invocations: 1,
        max_invocations: 1,
        adaptive: false,
        seed: 0,
        budget_ns: 0,
        clock: "os".to_owned(),
        binder: "hwloc".to_owned(),
        program: None,
        program_identity: None,
        counters: false,
        issue_width: None,
    };
    Report {
        schema: Schema::of_reports(),
        id: random_name(),
        tool: crate::provenance::tool(),
        command: String::new(),
        measured_by: Some(names(&[file.to_owned()]).remove(0)),
        started: rfc3339(SystemTime::now()),
        host,
        machine,
        timer: None,
        plan,
        cards: Vec::new(),
        floor: Vec::new(),
        cells: Vec::new(),
        seal: None,
        wall_ns: 0,
        complete: true,
        stopped_by: None,
        anonymous: false,
        file: None,
    }
}
