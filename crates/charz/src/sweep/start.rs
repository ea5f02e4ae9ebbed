//! A report before its first cell.

use std::time::SystemTime;

use charz_kernels::{Family, KERNELS, Kernel, Layout};
use charz_topology::{Machine, Mapping};

use super::convert;
use crate::limits::Limits;
use crate::plan::{Obstacle, Plan, PlannedCell};
use crate::report::{self, Cell, Outcome, Report, Schema, Status};

/// What a report says about its origin.
pub struct Context<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// What the system lets us have.
    pub limits: &'a Limits,
    /// The name of the clock.
    pub clock: &'a str,
    /// The name of what binds.
    pub binder: &'a str,
}

/// A report in which everything is pending, but for cells with an obstacle.
pub fn new_report(plan: &Plan, context: &Context<'_>) -> Report {
    let cells: Vec<_> = plan.cells.iter().map(cell).collect();
    Report {
        schema: Schema::default(),
        tool: super::tool(),
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        host: super::host(context.machine, context.limits),
        machine: super::machine(context.machine),
        plan: wire_plan(plan, context),
        floor: floor(plan),
        complete: !cells.iter().any(super::is_open),
        cells,
        wall_ns: 0,
        stopped_by: None,
    }
}

fn cell(planned: &PlannedCell) -> Cell {
    let outcome = match &planned.obstacle {
        None => Outcome { status: Status::Pending, reason: None },
        Some(Obstacle::Unavailable(reason)) => super::outcome(Status::Unavailable, reason.clone()),
        Some(Obstacle::Skipped(reason)) => super::outcome(Status::Skipped, reason.clone()),
    };
    blank(planned.kernel, &planned.mapping, planned.seats.clone(), planned.footprint_bytes, outcome)
}

fn blank(
    kernel: &dyn Kernel,
    mapping: &Mapping,
    seats: Vec<Option<u32>>,
    footprint_bytes: u64,
    outcome: Outcome,
) -> Cell {
    Cell {
        kernel: kernel.card().name.to_owned(),
        mapping: mapping.to_string(),
        workers: seats.len() as u64,
        seats,
        unit: convert::unit(kernel),
        variant: None,
        footprint_bytes,
        outcome,
        runs: Vec::new(),
        passport: None,
        summary: None,
    }
}

/// One cell of the empty kernel for each number of workers, on the seats of the first mapping.
fn floor(plan: &Plan) -> Vec<Cell> {
    let Some(&empty) = KERNELS.iter().find(|kernel| kernel.card().family == Family::Floor) else { return Vec::new() };
    let Some(first) = plan.cells.first() else { return Vec::new() };
    plan.cells
        .iter()
        .filter(|cell| cell.mapping == first.mapping && cell.kernel.card().name == first.kernel.card().name)
        .map(|cell| {
            let outcome = Outcome { status: Status::Pending, reason: None };
            blank(empty, &cell.mapping, cell.seats.clone(), 0, outcome)
        })
        .collect()
}

fn wire_plan(plan: &Plan, context: &Context<'_>) -> report::Plan {
    report::Plan {
        kernels: distinct(plan.cells.iter().map(|cell| cell.kernel.card().name.to_owned())),
        mappings: distinct(plan.cells.iter().map(|cell| cell.mapping.to_string())),
        threads: plan.threads.iter().map(|&workers| workers as u64).collect(),
        iterations: plan.params.iterations,
        size_bytes: plan.params.size.0,
        pages: plan.params.pages.name().to_owned(),
        layout: match plan.params.layout {
            Layout::Padded => "padded",
            Layout::Contiguous => "contiguous",
        }
        .to_owned(),
        repetitions: plan.repetitions as u64,
        budget_ns: super::nanos(plan.budget),
        clock: context.clock.to_owned(),
        binder: context.binder.to_owned(),
    }
}

/// In order of first appearance. The lists are as short as a command line.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
