//! A report before its first cell.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use charz_kernels::noop::NOOP;
use charz_kernels::{Card, Kernel};
use charz_topology::{Machine, Mapping};

use super::issue_width::issue_width;
use super::judging::is_about_memory;
use crate::invoke;
use crate::limits::Limits;
use crate::moment::rfc3339;
use crate::plan::{Plan, PlannedCell, nanos, repetitions};
use crate::user_program;
use charz_data::report::{self, Cell, Estimator, Point, Report, Schema, Status, Tool};
use charz_data::{Program, Role};

pub struct Context<'a> {
    /// The program that measures: a library does not know how that was built.
    pub tool: &'a Tool,
    pub command: &'a str,
    pub machine: &'a Machine,
    pub limits: &'a Limits,
    pub clock: &'a str,
    pub binder: &'a str,
    pub timer: report::Timer,
    /// Instructions that a core can issue per cycle; `None` takes what is known of the processor.
    pub issue_width: Option<u64>,
}

impl<'a> Context<'a> {
    /// For a plan of a machine that is not this one, of which no number is measured.
    pub fn elsewhere(tool: &'a Tool, command: &'a str, machine: &'a Machine, limits: &'a Limits) -> Self {
        let timer = report::Timer { overhead_ns: 0, resolution_ns: 0, worst_gap_ns: 0, skew_ns: None };
        Context { tool, command, machine, limits, clock: "os", binder: "hwloc", timer, issue_width: None }
    }
}

/// A report in which everything is pending, but for cells with an obstacle.
pub fn new_report(plan: &Plan, context: &Context<'_>) -> Report {
    let cells: Vec<_> = plan.cells.iter().map(|planned| cell(planned, plan.program.as_ref())).collect();
    let floor = floor(plan);
    Report {
        schema: Schema::of_reports(),
        id: random_name(),
        timer: Some(context.timer.clone()),
        tool: context.tool.clone(),
        command: context.command.to_owned(),
        started: rfc3339(SystemTime::now()),
        host: super::host(context.machine, context.limits),
        machine: context.machine.clone(),
        plan: wire_plan(plan, context),
        cards: cards(plan, &floor),
        floor,
        complete: false,
        cells,
        seal: None,
        measured_by: None,
        wall_ns: 0,
        stopped_by: None,
        anonymous: false,
        file: None,
    }
}

fn cell(planned: &PlannedCell, program: Option<&Program>) -> Cell {
    let status = if planned.obstacle.is_some() { Status::Skipped } else { Status::Pending };
    Cell {
        precision: planned.precision,
        repetitions: planned.repetitions as u64,
        point: planned.point,
        block_bytes: planned.block_bytes,
        about_memory: is_about_memory(planned.kernel, planned.level.as_deref()),
        level: planned.level.clone(),
        footprint_bytes: planned.footprint_bytes,
        status,
        reason: planned.obstacle.clone(),
        skipped: planned.obstacle.clone(),
        ..blank(planned.kernel, program, &planned.mapping, planned.seats.clone())
    }
}

fn blank(kernel: &dyn Kernel, program: Option<&Program>, mapping: &Mapping, seats: Vec<Option<u32>>) -> Cell {
    Cell {
        kernel: kernel.card().name.to_string(),
        mapping: mapping.to_string(),
        point: Point::default(),
        block_bytes: None,
        about_memory: false,
        level: None,
        traffic: kernel.traffic(),
        workers: seats.len() as u64,
        repetitions: repetitions(kernel.card(), seats.len()) as u64,
        seats,
        unit: invoke::unit(kernel, program),
        estimator: Estimator::of(kernel.card()),
        precision: 1.0,
        footprint_bytes: 0,
        skipped: None,
        stated_interval: None,
        status: Status::Pending,
        reason: None,
        capacity: None,
        delivered: None,
        marks: Vec::new(),
        invocations: Vec::new(),
        summary: None,
        distribution: None,
        contention: None,
        counted: Vec::new(),
        hardware: None,
        energy: None,
    }
}

/// 128 bits that the system hands out at random.
pub fn random_name() -> String {
    let half = || RandomState::new().hash_one(SystemTime::now());
    format!("{:016x}{:016x}", half(), half())
}

fn cards(plan: &Plan, floor: &[Cell]) -> Vec<Card> {
    let mut seen = HashSet::new();
    let planned = plan.cells.iter().map(|cell| cell.kernel.card());
    let empty = floor.first().map(|_| NOOP.card());
    let own = |card: &Card| match &plan.program {
        Some(program) if card.role == Role::Program => user_program::card(program),
        _ => card.clone(),
    };
    planned.chain(empty).filter(|card| seen.insert(&card.name)).map(own).collect()
}

/// One cell of the empty kernel for each number of workers, on the seats of the first mapping.
fn floor(plan: &Plan) -> Vec<Cell> {
    let Some(first) = plan.cells.first() else { return Vec::new() };
    plan.cells
        .iter()
        .filter(|cell| cell.mapping == first.mapping && *cell.kernel.card().name == *first.kernel.card().name)
        .filter(|cell| cell.point == first.point)
        .map(|cell| blank(NOOP, None, &cell.mapping, cell.seats.clone()))
        .collect()
}

fn wire_plan(plan: &Plan, context: &Context<'_>) -> report::Plan {
    report::Plan {
        kernels: distinct(plan.cells.iter().map(|cell| cell.kernel.card().name.to_string())),
        mappings: distinct(plan.cells.iter().map(|cell| cell.mapping.to_string())),
        threads: plan.threads().into_iter().map(|workers| workers as u64).collect(),
        params: plan.params,
        precision: plan.precision,
        repetitions: plan.repetitions.map(|repetitions| repetitions as u64),
        min_invocations: plan.invocations.least as u64,
        max_invocations: plan.invocations.most as u64,
        adaptive: plan.adaptive,
        seed: plan.seed,
        budget_ns: nanos(plan.budget),
        clock: context.clock.to_owned(),
        binder: context.binder.to_owned(),
        program: plan.program.clone(),
        program_identity: None,
        counters: plan.invocations.counted > 0,
        issue_width: context.issue_width.or_else(issue_width).filter(|_| plan.invocations.counted > 0),
    }
}

/// In order of first appearance.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_counts_where_others_can_only_slow_down() {
        let by = |name: &str| Estimator::of(charz_workloads::find(name).unwrap().card());
        for name in ["mem-read", "mem-memset", "level-copy", "copy-aligned", "chase-random", "cache-read"] {
            assert_eq!(by(name), Estimator::Best, "{name}");
        }
        for name in ["loaded-read", "pages-touch", "pages-map", "tlb-shootdown", "migrate-warm", "alloc-system", "flag"]
        {
            assert_eq!(by(name), Estimator::Median, "{name}");
        }
    }
}
