//! `charz advise`: what a report says of where threads should go, and whether it holds when it is measured again.

use charz_data::Arrange;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use charz_topology::Mapping;

use super::predict::better;
use super::render::read_open;
use super::sweep::{First, MeasuringContext, New};
use crate::exit::{Error, Exit};
use crate::permit::{self, Consent, Permitted};
use crate::view::present;
use crate::view::progress::{Progress, note};
use charz_analysis::answer::Answer;
use charz_claims::advise::{Advice, advise, not_advised, validate};
use charz_claims::compare::{other_machine, other_program};
use charz_data::report::{Cell, Report};
use charz_estimate::Estimates;
use charz_measure::limits::Limits;
use charz_measure::plan::{Budget, Plan, Request};
use charz_measure::predict::Predictor;
use charz_measure::sweep::new_report;
use charz_measure::user_program;
use charz_render::advise::{Advised, Format};
use charz_words::compare::{said, unlike};

pub struct Options {
    pub report: PathBuf,
    /// What was typed of the report's program.
    pub consent: Consent,
    /// The sweep of the placements that are measured again; its kernels and parameters are those of the report.
    pub validate: Option<Box<New>>,
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let (report, file) = read_open(&options.report)?;
    let estimates = Estimates::of(&report);
    let advice = advise(&estimates);
    let mut again = None;
    if let Some(new) = &options.validate {
        let program = permit::of_report("--validate", &options.report, file.as_ref(), &report, &options.consent)?;
        again = Some(measure(&report, &advice, program.as_ref(), new)?);
    }
    let validation = again.as_ref().map(|(again, _)| validate(&advice, again));
    let is_empty = validation.as_ref().is_some_and(|all| all.iter().all(|one| one.regret.is_none()));
    let (answer, predicted, why_not) = (Answer::of(&report), better(&report), not_advised(&estimates));
    let advised = Advised { answer, advice, validation, predicted, why_not };
    present(options.format, &advised, out)?;
    Ok(match again {
        Some((_, Some(failure))) => failure,
        _ if is_empty => Exit::NoVerdict,
        _ => Exit::Done,
    })
}

/// Measures the contenders of all advice in rounds, and also returns how to end where something went wrong.
fn measure(
    report: &Report,
    advice: &[Advice<'_>],
    program: Option<&Permitted>,
    new: &New,
) -> Result<(Report, Option<Exit>), Error> {
    if report.anonymous && report.plan.program.is_some() {
        let why = "--validate: the report is anonymous and does not say which program to run again; validate the one that names it";
        return Err(Error::bad_input(why));
    }
    let unknown = |cell: &Cell| match user_program::find(&cell.kernel) {
        None => Some(format!("{} is not measured again: this charz has no such kernel", cell.kernel)),
        Some(_) => Some(format!("not measured again: {}", Mapping::of_data(&cell.mapping).err()?)),
    };
    let mut cells: Vec<&Cell> = advice.iter().flat_map(Advice::contenders).collect();
    let notes: BTreeSet<String> = cells.iter().filter_map(|cell| unknown(cell)).collect();
    notes.iter().for_each(|why| note(why));
    cells.retain(|cell| unknown(cell).is_none());
    if cells.is_empty() {
        let why =
            "--validate: there is nothing to measure again; the report needs several mappings or numbers of threads";
        return Err(Error::ended(Exit::NoVerdict, why));
    }
    let stage = MeasuringContext::set(new.clock, new.binder, new.wait, new.quiet)?;
    let limits = Limits::read();
    let params = report.plan.params;
    let mut request = Request {
        iterations: Some(params.iterations),
        samples: Some(params.samples),
        span: Some(params.span()),
        params,
        program: report.plan.program.clone(),
        precision: report.plan.precision,
        ..new.request.clone()
    };
    request.kernels = cells.iter().filter_map(|cell| user_program::find(&cell.kernel)).collect();
    request.kernels.arrange_by_key(|kernel| &*kernel.card().name);
    request.kernels.dedup_by_key(|kernel| &*kernel.card().name);
    let processes = stage.processes();
    let budget = request.budget.least();
    // The apparatus was measured before.
    let blank = |plan: &Plan| Report { floor: Vec::new(), ..new_report(plan, &stage.context("", &limits)) };
    // First of all: the mappings of another machine may not fit this one, and its program may do harm here.
    let nothing = Plan::again(&request, &[], &stage.machine, &limits, &Predictor::assumed(&[]))?;
    if let Some(found) = other_machine([report, &blank(&nothing)]) {
        let clause = unlike(&found);
        return Err(Error::bad_input(format!(
            "--validate: the report is not of this machine: {clause}; validate it where it was measured"
        )));
    }
    let is = program.map(|program| user_program::identity(program.program()));
    let both = report.plan.program_identity.as_ref().zip(is.as_ref());
    if let Some((what, both)) = both.and_then(|(was, is)| other_program(was, is)) {
        let [was, is] = both.each_ref().map(said);
        return Err(Error::bad_input(format!(
            "--validate: the report is of another program: the {what} was {was:?} and is {is:?}; start a new sweep"
        )));
    }
    let predictor = stage.predictor(&request.kernels, &params, budget, &processes);
    if let Some(program) = &request.program {
        note(&format!("running the report's program again: {:?}", program.command));
    }
    let first = First::of_cells(cells.iter().copied(), &stage.machine);
    let (predictor, _) = stage.with_program(predictor, &params, program, first, Budget::Of(budget), &processes)?;
    let plan = Plan::again(&request, &cells, &stage.machine, &limits, &predictor)?;
    let mut again = blank(&plan);
    let budget = stage.left(plan.budget);
    let mut listener = Progress::on_stderr(false);
    let swept = stage.sweep_of(&mut again, program, &mut (), &processes, &predictor, budget).run(&mut listener);
    debug_assert!(swept.is_ok(), "nothing is recorded");
    let failure = stage.failure(&[&again]);
    Ok((again, failure))
}
