//! Reading reports of schema 1, which charz 0.1 wrote: in them `invocations` are runs and `runs` iterations, and conclusions stand among
//! what was measured.

use serde::Deserialize;

use super::cell::{Cell, Ending, Energy, Estimator, Invocation, Status, Summary};
use super::evidence::{Evidence, Mark};
use super::host::{Host, Tool};
use super::number::{Measured, Unit};
use super::point::Point;
use super::run::{Run, snug};
use super::{Plan, Report, Schema, Timer};
use crate::checks::V27;
use crate::machine::Machine;
use crate::{Card, Distribution, Hardware, Sharing};

/// A report of schema 1, with its conclusions: an excerpt has nothing else, and of a whole one they are judged anew.
///
/// # Errors
/// That it is not of this form.
pub(super) fn read(text: &str) -> serde_json::Result<Report> {
    serde_json::from_str::<OldReport>(text).map(Report::from)
}

#[derive(Deserialize)]
struct OldReport {
    schema: Schema,
    id: String,
    tool: Tool,
    command: String,
    started: String,
    host: Host,
    machine: Machine,
    timer: Option<Timer>,
    plan: Plan,
    cards: Vec<Card>,
    floor: Vec<OldCell>,
    cells: Vec<OldCell>,
    seal: Option<String>,
    wall_ns: u64,
    complete: bool,
    stopped_by: Option<String>,
    #[serde(default)]
    anonymous: bool,
}

#[derive(Deserialize)]
struct OldCell {
    kernel: String,
    mapping: String,
    point: Point,
    level: Option<String>,
    traffic: Option<f64>,
    block_bytes: Option<u64>,
    workers: u64,
    seats: Vec<Option<u32>>,
    unit: Unit,
    estimator: Estimator,
    precision: f64,
    repetitions: u64,
    footprint_bytes: u64,
    status: Status,
    reason: Option<String>,
    capacity: Option<Measured>,
    delivered: Option<Measured>,
    marks: Vec<Mark>,
    invocations: Vec<OldInvocation>,
    summary: Option<Summary>,
    distribution: Option<Distribution>,
    contention: Option<Sharing>,
    #[serde(default)]
    counted: Vec<OldInvocation>,
    hardware: Option<Hardware>,
    energy: Option<Energy>,
}

#[derive(Deserialize)]
struct OldInvocation {
    started_ns: u64,
    seed: u64,
    ending: Ending,
    reason: Option<String>,
    variant: Option<String>,
    evidence: Option<Evidence>,
    #[serde(deserialize_with = "snug")]
    runs: Vec<Run>,
    #[serde(default)]
    speeds: Vec<u16>,
    value: Option<f64>,
}

impl From<OldReport> for Report {
    fn from(old: OldReport) -> Self {
        let cells = |cells: Vec<OldCell>| cells.into_iter().map(Cell::from).collect();
        Report {
            schema: old.schema,
            id: old.id,
            tool: old.tool,
            command: old.command,
            measured_by: None,
            started: old.started,
            host: old.host,
            machine: old.machine,
            timer: old.timer,
            plan: old.plan,
            cards: old.cards,
            floor: cells(old.floor),
            cells: cells(old.cells),
            seal: old.seal,
            wall_ns: old.wall_ns,
            complete: old.complete,
            stopped_by: old.stopped_by,
            anonymous: old.anonymous,
            file: None,
        }
    }
}

impl From<OldCell> for Cell {
    fn from(old: OldCell) -> Self {
        let runs = |runs: Vec<OldInvocation>| runs.into_iter().map(Invocation::from).collect();
        let is_skipped = old.status == Status::Skipped && old.invocations.is_empty();
        Cell {
            kernel: old.kernel,
            mapping: old.mapping,
            point: old.point,
            level: old.level,
            traffic: old.traffic,
            block_bytes: old.block_bytes,
            // Of kernels of another program nothing else says so.
            about_memory: old.marks.iter().any(|mark| mark.code == V27.code),
            workers: old.workers,
            seats: old.seats,
            unit: old.unit,
            repetitions: old.repetitions,
            footprint_bytes: old.footprint_bytes,
            stated_interval: None,
            skipped: is_skipped.then(|| old.reason.clone().unwrap_or_default()),
            invocations: runs(old.invocations),
            counted: runs(old.counted),
            estimator: old.estimator,
            precision: old.precision,
            status: old.status,
            reason: old.reason,
            capacity: old.capacity,
            delivered: old.delivered,
            marks: old.marks,
            summary: old.summary,
            distribution: old.distribution,
            contention: old.contention,
            hardware: old.hardware,
            energy: old.energy,
        }
    }
}

impl From<OldInvocation> for Invocation {
    fn from(old: OldInvocation) -> Self {
        Invocation {
            started_ns: old.started_ns,
            seed: old.seed,
            ending: old.ending,
            reason: old.reason,
            variant: old.variant,
            evidence: old.evidence,
            runs: old.runs,
            speeds: old.speeds,
            value: old.value,
        }
    }
}
