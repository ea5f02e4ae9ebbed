//! `charz sweep --resume`: the rest of an unfinished report, with its own plan.

use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use charz_kernels::{Bytes, Layout, PagePolicy, Params};
use charz_topology::Backend;

use super::{ClockKind, Stage, kernels_of, read};
use crate::exit::{Error, Exit};
use crate::predict::Predictor;
use crate::render::report as report_table;
use crate::report::{self, Report};
use crate::sweep;

pub(super) fn run(file: PathBuf, budget: Duration, out: &mut dyn Write) -> Result<Exit, Error> {
    let mut report = read(&file)?;
    if report.complete {
        report_table::write_summary(&report, out)?;
        writeln!(out, "{} is complete: nothing is left to measure", file.display())?;
        return Ok(Exit::Done);
    }
    let refuse = |why: String| Error::bad_input(format!("--resume: {file:?} {why}"));
    let params = params(&report.plan).map_err(refuse)?;
    let clock = match report.plan.clock.as_str() {
        "os" => ClockKind::Os,
        "tsc" => ClockKind::Tsc,
        other => return Err(refuse(format!("was stamped by a clock {other:?} that this program does not have"))),
    };
    let binder = Backend::from_str(&report.plan.binder).map_err(refuse)?;
    let stage = Stage::set(clock, binder)?;
    if let Some(difference) = difference(&report, &sweep::machine(&stage.machine)) {
        return Err(refuse(format!("cannot be finished here: {difference}; start a new sweep")));
    }
    let predictor = Predictor::pilot(&kernels_of(&report), &params, stage.bench());
    stage.sweep(&mut report, params, &predictor, budget, &file, out)
}

/// The parameters that the report's cells were measured with.
fn params(plan: &report::Plan) -> Result<Params, String> {
    if plan.iterations == 0 || plan.size_bytes == 0 || plan.repetitions == 0 {
        return Err("has a plan with a zero in it".into());
    }
    Ok(Params {
        iterations: plan.iterations,
        size: Bytes(plan.size_bytes),
        pages: PagePolicy::ALL
            .into_iter()
            .find(|policy| policy.name() == plan.pages)
            .ok_or_else(|| format!("asks for {:?} pages, which this program does not know", plan.pages))?,
        layout: match plan.layout.as_str() {
            "padded" => Layout::Padded,
            "contiguous" => Layout::Contiguous,
            other => return Err(format!("has a layout {other:?} that this program does not know")),
        },
    })
}

/// What keeps the two halves of a report from being comparable.
fn difference(report: &Report, here: &report::Machine) -> Option<String> {
    let tool = sweep::tool();
    if &report.machine != here {
        return Some("it is of another machine, or of this one with other strands usable".into());
    }
    let built =
        |tool: &report::Tool| (tool.version.clone(), tool.commit.clone(), tool.target.clone(), tool.profile.clone());
    if built(&report.tool) != built(&tool) {
        return Some(format!(
            "charz {} ({}, {}) measured its first half, and this is charz {} ({}, {})",
            report.tool.version, report.tool.commit, report.tool.profile, tool.version, tool.commit, tool.profile
        ));
    }
    None
}
