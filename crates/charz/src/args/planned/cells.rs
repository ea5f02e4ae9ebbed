//! The only place that knows how a plan is made and what it is made of.

use std::ffi::OsString;
use std::time::Duration;

use charz_kernels::{PageKind, Period, params};
use charz_topology::Machine;

use crate::args::{Parsed, parse_with};
use crate::command::{Command, c2c, numa, replicate, sweep, topo};
use crate::limits::Limits;
use crate::plan::{Obstacle, Plan, PlannedCell, Request};
use crate::predict::Predictor;

pub(super) struct Cell {
    pub(super) kernel: &'static str,
    /// Names and values of what its kernel obeys.
    pub(super) parameters: Vec<(&'static str, String)>,
    /// The same of what says how much is measured.
    pub(super) amounts: Vec<(&'static str, String)>,
    pub(super) mapping: String,
    pub(super) workers: usize,
    /// Seats, level, footprint, repetitions, precision.
    pub(super) rest: String,
    pub(super) skipped: bool,
    /// Whether it depends on the computer that runs the test if the cell is skipped.
    pub(super) varies: bool,
}

impl Cell {
    pub(super) fn line(&self) -> String {
        let words =
            |list: &[(&str, String)]| list.iter().map(|(name, value)| format!("{name}={value} ")).collect::<String>();
        format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}",
            self.kernel,
            words(&self.parameters),
            words(&self.amounts),
            self.mapping,
            self.workers,
            if self.skipped { "skipped" } else { "planned" },
            self.rest
        )
    }
}

/// The cells of a command line on a machine with 64 GiB of free memory, on which each step takes 1 ns and each sample 20 µs.
pub(super) fn cells(line: &str, machine: &Machine) -> Vec<Cell> {
    let limits =
        Limits { memory_total_bytes: Some(128 << 30), memory_budget_bytes: Some(64 << 30), ..Limits::unlimited() };
    let rates = charz_kernels::kernels().map(|kernel| {
        let sampled = kernel.card().obeys(&params::SAMPLES);
        (&*kernel.card().name, if sampled { 20_000.0 } else { 1.0 }, 0.1)
    });
    let predictor = Predictor::with_rates(machine.usable_strands().count(), rates);
    let usual = |mut request: Request| {
        request.seed = Some(1);
        request
    };
    let of_request =
        |request: &Request| Plan::new(request, request.fit(machine, &limits).unwrap(), &limits, &predictor);
    let argv = ["charz"].into_iter().chain(line.split(' ')).map(OsString::from);
    let Ok(Parsed::Command { command, .. }) = parse_with(argv, &|_| None) else { panic!("{line} is not read") };
    let plan = match *command {
        Command::Sweep(options) => match *options {
            sweep::Options::New(new) => of_request(&usual(new.request)),
            sweep::Options::Resume(_) => panic!("{line} resumes"),
        },
        Command::Topo(options) => match *options {
            topo::Options::Measure { new, .. } => of_request(&usual(new.request)),
            _ => panic!("{line} measures nothing"),
        },
        Command::CoreToCore(options) => {
            let mut request = Request { iterations: Some(5_000_000), ..usual(options.new.request) };
            let wanted = |id| options.strands.as_ref().is_none_or(|ids| ids.contains(&id));
            let strands: Vec<_> = machine.strands.iter().filter(|strand| wanted(strand.os_id)).collect();
            let time = (!options.all_pairs).then_some(Duration::from_secs(100));
            c2c::plan(&mut request, &strands, time, machine, &limits, &predictor).unwrap().1
        }
        Command::Numa(options) => numa::plan(&mut usual(options.new.request), machine, &limits, &predictor).unwrap(),
        Command::Replicate(options) => match *options {
            replicate::Options::Measure { asked, new } => {
                let specs = asked.cells(machine);
                Plan::of_specs(&usual(new.request), &specs, machine, &limits, &predictor).unwrap()
            }
            _ => panic!("{line} measures nothing"),
        },
        _ => panic!("{line} is no sweep"),
    };
    plan.cells.iter().map(|cell| of_planned(cell, &plan)).collect()
}

fn of_planned(cell: &PlannedCell, plan: &Plan) -> Cell {
    let card = cell.kernel.card();
    let own = cell.point.params(&plan.params);
    let (mut parameters, mut amounts) = (Vec::new(), Vec::new());
    for param in &*card.params {
        // The lists call some of them by shorter words.
        let name = param.name.trim_end_matches("-steps");
        let value = match own.period {
            _ if **param != params::PERIOD => (param.raw)(&own),
            Period::Fitting => "auto".into(),
            Period::Closed => "closed".into(),
            Period::EveryNs(nanos) => nanos.to_string(),
        };
        let list = if param.is_amount() { &mut amounts } else { &mut parameters };
        list.push((name, value));
    }
    let seats: Vec<String> = cell.seats.iter().map(|seat| seat.map_or("-".into(), |id| id.to_string())).collect();
    let reserved = card.obeys(&params::PAGES) && matches!(own.pages, PageKind::Huge2M | PageKind::Huge1G);
    Cell {
        kernel: &card.name,
        parameters,
        amounts,
        mapping: cell.mapping.to_string(),
        workers: cell.seats.len(),
        rest: format!(
            "{}\t{}\t{}\t{}\t{}",
            cell.level.as_deref().unwrap_or("-"),
            cell.footprint_bytes,
            cell.repetitions,
            cell.precision,
            seats.join(",")
        ),
        skipped: matches!(cell.obstacle, Some(Obstacle::Skipped(_))),
        varies: reserved || matches!(cell.obstacle, Some(Obstacle::Unavailable(_))),
    }
}
