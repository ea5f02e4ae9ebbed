//! What a sweep, or `charz c2c`, is going to measure: for `--dry-run`.

use std::io::{self, Write};

use charz_data::machine::Machine;

use super::look;
use charz_analysis::page::matrix::class_name;
use charz_claims::pairs::{Choice, Chosen};
use charz_data::escape::counted;
use charz_data::params::{PARAMS, Param};
use charz_data::report::Report;
use charz_data::{Role, units};
use charz_measure::limits::{Limits, MEMORY_SHARE_PERCENT};
use charz_measure::plan::{Plan, PlannedCell, narrowed_until};
use charz_render::look::TerminalStyle;
use charz_render::term::ascii;
use charz_render::{grid, json, wrapped};
use charz_words::point;
use serde_json::json;

pub type Format = charz_render::formats::Format<fn(&Planned<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// A plan, and what it was made from and will make.
pub struct Planned<'a> {
    pub plan: &'a Plan,
    pub limits: &'a Limits,
    /// The one that the plan would fill.
    pub report: &'a Report,
    /// As large as its file will be.
    pub report_bytes: u64,
    /// Whether it is known how long the user's program takes, or there is none.
    pub is_timed: bool,
}

impl Planned<'_> {
    fn is_timed(&self, cell: &PlannedCell) -> bool {
        self.is_timed || cell.kernel.card().role != Role::Program
    }
}

#[rustfmt::skip]
pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "A row per configuration, then the totals.", write: |planned, look, out| ascii::within(look, out, |out| table(planned, look, out)) },
    Format { name: "json", about: "The totals, and every configuration with its predicted time or the reason why it is skipped.", write: as_json },
];

fn table(planned: &Planned<'_>, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let plan = planned.plan;
    let open = plan.is_open();
    let row = |(cell, open): (&PlannedCell, &bool)| row(cell, *open, planned.is_timed(cell));
    let rows: Vec<_> = plan.cells.iter().zip(&open).map(row).collect();
    let heading = ["kernel", "threads", "mapping", "level", "memory", "iterations", "one run", "planned"];
    grid::columns(&heading, &[0, 2, 3, 7], &[5, 3, 4], &rows, look, out)?;
    wrapped::folded(look.sentences(), out, |out| totals(planned, &open, out))
}

fn totals(planned: &Planned<'_>, open: &[bool], out: &mut dyn Write) -> io::Result<()> {
    let Planned { plan, limits, report_bytes, is_timed, .. } = *planned;
    writeln!(
        out,
        "\n{} of {} × {}",
        plan.runnable().count(),
        counted(plan.cells.len(), "configuration"),
        ends(plan, is_timed)
    )?;
    if plan.adaptive {
        let open = open.iter().filter(|open| **open).count();
        let what = if open == 0 {
            "each kernel has few configurations, and all are measured".to_owned()
        } else {
            format!("of {open}, about a fifth is measured, what decides the advice, and a model predicts the others")
        };
        writeln!(out, "adaptive: {what}")?;
    }
    let amounts = amounts(plan);
    if !amounts.is_empty() {
        writeln!(out, "an iteration: {}", amounts.join(", "))?;
    }
    writeln!(out, "report: about {}", units::iec(report_bytes))?;
    match limits.memory_budget_bytes {
        Some(bytes) => {
            writeln!(
                out,
                "memory: a configuration may take {}, {MEMORY_SHARE_PERCENT}% of the available memory",
                units::iec(bytes)
            )
        }
        None => writeln!(out, "memory: the system does not report what is available"),
    }
}

/// `6 runs: about 10.3 s, then refined until 1 min 30 s`.
fn ends(plan: &Plan, is_timed: bool) -> String {
    let of = plan.repetitions.map(|count| format!(" of {}", counted(count, "iteration"))).unwrap_or_default();
    let (runs, budget) = (counted(plan.invocations.fewest(), "run") + &of, units::duration(plan.budget));
    if plan.runnable().next().is_none() {
        return format!("{runs}: nothing to measure");
    }
    if !is_timed {
        return format!("{runs}, within {budget}: the time of the program is not known");
    }
    let end = match plan.predicted() <= plan.budget {
        true if plan.is_brief => {
            let until = narrowed_until(plan.predicted()).min(plan.budget);
            format!("then refined until about {}; on a busy machine up to {budget}", units::duration(until))
        }
        true => format!("then refined until {budget}"),
        false => format!("of which a budget of {budget} leaves some pending"),
    };
    format!("{runs}: about {}, {end}", units::duration(plan.predicted()))
}

/// How much work an iteration is, of the kinds of kernels that are planned: a program of the user's has none.
fn amounts(plan: &Plan) -> Vec<String> {
    let is_obeyed = |param: &&Param| plan.cells.iter().any(|cell| cell.kernel.card().obeys(param));
    let amounts = PARAMS.iter().copied().filter(|param| param.is_amount()).filter(is_obeyed);
    amounts.map(|param| format!("--{} {}", param.name, (param.show)(&plan.params))).collect()
}

fn as_json(planned: &Planned<'_>, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let Planned { plan, report, report_bytes, is_timed, .. } = *planned;
    let cells = plan.cells.iter().zip(plan.is_open()).map(|(cell, is_open)| {
        json!({
            "kernel": &*cell.kernel.card().name,
            "mapping": cell.mapping.to_string(),
            "workers": cell.seats.len(),
            "level": cell.level,
            "footprint_bytes": cell.footprint_bytes,
            "repetitions": cell.repetitions,
            "invocation_s": planned.is_timed(cell).then_some(cell.predicted.as_secs_f64()),
            "skipped": cell.obstacle,
            "if_needed": is_open,
        })
    });
    let totals = json!({
        "machine": report.machine.source,
        "strands": report.machine.usable_strands().count(),
        "threads": plan.threads(),
        "cells": plan.cells.len(),
        "skipped": plan.cells.len() - plan.runnable().count(),
        "invocations": plan.invocations.fewest(),
        "adaptive": plan.adaptive,
        "predicted_s": is_timed.then(|| plan.predicted().as_secs_f64()),
        "budget_s": plan.budget.as_secs_f64(),
        "report_bytes": report_bytes,
        "plan": cells.collect::<Vec<_>>(),
    });
    json::write_pretty_line(&totals, out)
}

fn row(cell: &PlannedCell, is_open: bool, is_timed: bool) -> [String; 8] {
    let time = if is_timed { units::duration(cell.predicted) } else { "-".to_owned() };
    let (time, runs) = match &cell.obstacle {
        None => (time, if is_open { "if needed" } else { "yes" }.to_owned()),
        Some(reason) => ("-".to_owned(), format!("no: {reason}")),
    };
    [
        format!("{}{}", &*cell.kernel.card().name, point::label(&cell.point)),
        cell.seats.len().to_string(),
        cell.mapping.to_string(),
        cell.level.clone().unwrap_or_else(|| "-".to_owned()),
        units::iec(cell.footprint_bytes),
        cell.repetitions.to_string(),
        time,
        runs,
    ]
}

/// Every class of pairs with how many there are and how many will be measured, then the totals.
pub fn write_pairs(choice: &Choice, machine: &Machine, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let row =
        |chosen: &Chosen| [class_name(&chosen.class, machine), chosen.pairs.to_string(), chosen.chosen.to_string()];
    let rows: Vec<_> = choice.classes.iter().map(row).collect();
    let all: u64 = choice.classes.iter().map(|chosen| chosen.pairs).sum();
    let (pairs, each) = (counted(choice.pairs.len(), "pair"), counted(plan.cells.len(), "configuration"));
    let look = &look::of_stdout();
    ascii::within(look, out, |out| {
        grid::columns(&["distance", "pairs", "to measure"], &[0], &[], &rows, look, out)?;
        let whole = format!("{pairs} of {all}, {each} × {}", ends(plan, true));
        writeln!(out)?;
        wrapped::hanging(&whole, 2, look.sentences(), out)
    })
}
