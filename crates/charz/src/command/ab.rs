//! `charz ab`: two configurations, or two programs, interleaved on this machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use charz_topology::Backend;

use super::STREAM;
use super::compare::Terms;
use super::sweep::name::{filled, output};
use super::sweep::{ClockKind, First, JournalRecorder, MeasuringContext, cannot_record, note_pages, recordable, unit};
use crate::exit::{Error, Exit};
use crate::permit::Permitted;
use crate::provenance;
use crate::view::present;
use crate::view::progress::{Progress, note};
use charz_analysis::page::Source;
use charz_claims::compare::{self, Comparison, Row};
use charz_data::report::{Report, Tool};
use charz_data::{Better, Program, units};
use charz_measure::limits::Limits;
use charz_measure::plan::{Budget, Plan, Request};
use charz_measure::predict::Predictor;
use charz_measure::sweep::{self, Recorder, new_report};
use charz_measure::user_program::identity;
use charz_render::compare::Compared;
use charz_stats::runs_for_verdict;
use charz_words::compare as words;

pub struct Options {
    pub a: Side,
    /// Its kernels, numbers of workers and invocations are those of the first, and so is the number of its mappings.
    pub b: Side,
    pub clock: ClockKind,
    pub binder: Backend,
    /// The name of the two reports: `NAME.a.json` and `NAME.b.json`; `None` keeps nothing.
    pub output: Option<PathBuf>,
    pub force: bool,
    pub wait: bool,
    pub terms: Terms,
}

pub struct Side {
    /// `--a` or `--b` with its flags, for the reader of the result.
    pub label: String,
    pub request: Request,
    /// The program that is measured, which the request has as reports keep it.
    pub measured: Option<Permitted>,
    /// Which of its numbers are better, where that was said.
    pub direction: Option<Better>,
    /// The program that measures; `None` is this one.
    pub program: Option<PathBuf>,
}

pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let files = files(&options)?;
    let stage = MeasuringContext::set(options.clock, options.binder, options.wait, false)?;
    let limits = Limits::read();
    let mut sides = [options.a, options.b];
    // Before anything runs: bad input is refused first.
    for side in &sides {
        side.request.fit(&stage.machine, &limits)?;
        note_pages(&side.request, &side.request.kernels, &limits);
    }
    let tool_a = tool(&stage, sides[0].program.as_deref(), "--a-program")?;
    let tool_b = tool(&stage, sides[1].program.as_deref(), "--b-program")?;
    let processes = sides.each_ref().map(|side| match &side.program {
        Some(program) => stage.processes().with_program(program),
        None => stage.processes(),
    });
    let predictor = |at: usize| {
        let Side { request, measured, .. } = &sides[at];
        let Request { kernels, params, budget, .. } = request;
        let until = if at == 0 { budget.least() / 2 } else { budget.least() };
        let predictor = stage.predictor(kernels, params, until, &processes[at]);
        stage.with_program(predictor, params, measured.as_ref(), First::of(request), Budget::Of(until), &processes[at])
    };
    let ((of_a, printed_a), (of_b, printed_b)) = (predictor(0)?, predictor(1)?);
    let of_b = of_b.following_as(&of_a);
    let predictors = [of_a.following_as(&of_b), of_b];
    // Both in the unit of the first, so they can be compared.
    let printed = printed_a.or(printed_b);
    for side in &mut sides {
        if let Some(unit) = unit(side.measured.as_ref(), printed.as_deref(), side.direction) {
            side.measured = side.measured.take().map(|program| program.in_unit(unit));
            side.request.program = side.request.program.take().map(|program| Program { unit, ..program });
        }
    }
    let plans = plans(&mut sides, &stage, &limits, &predictors)?;
    if let Some((exit, _)) = stage.signals.received() {
        return Ok(exit);
    }
    let report = |plan: &Plan, tool: Tool| {
        // An empty run takes the same on either side.
        Report { tool, floor: Vec::new(), ..new_report(plan, &stage.context("", &limits)) }
    };
    let (mut a, mut b) = (report(&plans[0], tool_a), report(&plans[1], tool_b));
    let programs = sides.each_ref().map(|side| side.measured.as_ref());
    for (report, program) in [&mut a, &mut b].into_iter().zip(programs) {
        report.plan.program_identity = program.map(|program| identity(program.program()));
        // Without a seal the program is typed again.
        let _ = program.map(|program| program.seal(report));
    }
    let mut journals = record(files, [&a, &b], options.force)?;
    let budget = stage.left(sides[0].request.budget.least());
    let taken = {
        let [none_a, none_b] = &mut [(), ()];
        let [recorder_a, recorder_b]: [&mut dyn Recorder; 2] = match &mut journals {
            Some([journal_a, journal_b]) => [journal_a, journal_b],
            None => [none_a, none_b],
        };
        let mut measured = [
            stage.sweep_of(&mut a, programs[0], recorder_a, &processes[0], &predictors[0], budget),
            stage.sweep_of(&mut b, programs[1], recorder_b, &processes[1], &predictors[1], budget),
        ];
        let mut listener = Progress::on_stderr(false);
        sweep::take_turns(&mut measured, plans[0].seed, &mut listener).map_err(cannot_record)
    };
    if let Some((_, name)) = stage.signals.received() {
        [&mut a, &mut b].into_iter().for_each(|report| report.stopped_by = Some(name.into()));
    }
    let comparison = compare::interleaved([&a, &b], &options.terms.rules);
    let labels = sides.iter().map(|side| side.label.clone());
    let asides: Vec<String> = labels.chain(ended_early(&comparison, sides[0].request.budget.least())).collect();
    // The numbers first: they are printed even if the disk refuses them, and kept even if they cannot be printed.
    let reports = [Source { name: "A", report: &a }, Source { name: "B", report: &b }];
    let compared = Compared { reports, comparison: &comparison, asides: &asides };
    let told = present(options.terms.format, &compared, out);
    let finishing = stage.signals.let_finish();
    let finished = journals.into_iter().flatten().zip([&a, &b]).map(|(journal, report)| journal.finish(report));
    let files: Vec<_> = finished.collect();
    drop(finishing);
    for file in files {
        note(&format!("report: {:?}", file?));
    }
    taken?;
    told?;
    exit(&stage, &comparison, options.terms.strict)
}

/// The files of both sides, refused before anything is measured if they cannot become reports.
fn files(options: &Options) -> Result<Option<[PathBuf; 2]>, Error> {
    let Some(named) = &options.output else { return Ok(None) };
    if named.as_os_str() == STREAM {
        return Err(Error::bad_input("--output: two reports do not fit on standard output; name a file"));
    }
    let named = filled(named.clone(), SystemTime::now())?;
    let name = |side: &str| {
        let whole = named.file_name().unwrap_or_default();
        let stem = if named.extension().is_some_and(|end| end == "json") { named.file_stem() } else { None };
        let mut name = stem.unwrap_or(whole).to_owned();
        name.push(format!(".{side}.json"));
        let file = output(named.with_file_name(name), options.force)?;
        recordable(&file).map(|()| file)
    };
    Ok(Some([name("a")?, name("b")?]))
}

/// How the program of a side was built, by its own account.
fn tool(stage: &MeasuringContext, program: Option<&Path>, flag: &str) -> Result<Tool, Error> {
    let Some(program) = program else { return Ok(provenance::tool()) };
    let about = stage.processes().with_program(program).about();
    about.map_err(|why| Error::bad_input(format!("{flag}: {program:?} {why}")))
}

/// The plans of both sides, with the same iterations unless they were asked for, and the same repetitions in both cells of a
/// pair: the best of ten is not to be compared with the best of two.
fn plans(
    sides: &mut [Side; 2],
    stage: &MeasuringContext,
    limits: &Limits,
    predictors: &[Predictor; 2],
) -> Result<[Plan; 2], Error> {
    let make = |request: &Request, predictor: &Predictor| -> Result<Plan, Error> {
        // Either side has half of the time.
        let half = Request { budget: Budget::Of(request.budget.least() / 2), ..request.clone() };
        Ok(Plan::new(&half, &half.fit(&stage.machine, limits)?, limits, predictor))
    };
    let [a, b] = sides;
    let mut plans = [make(&a.request, &predictors[0])?, make(&b.request, &predictors[1])?];
    (a.request.seed, b.request.seed) = (Some(plans[0].seed), Some(plans[0].seed));
    // What a side requests is kept. For what neither side requests, both use the smaller of the two plans' values.
    let least =
        plans.iter().map(|plan| plan.params).min_by_key(|params| (params.iterations, params.samples, params.span_ns));
    for request in [&mut a.request, &mut b.request] {
        request.iterations = request.iterations.or(least.map(|params| params.iterations));
        request.samples = request.samples.or(least.map(|params| params.samples));
        request.span = request.span.or(least.map(|params| params.span()));
    }
    plans = [make(&a.request, &predictors[0])?, make(&b.request, &predictors[1])?];
    let [of_a, of_b] = &mut plans;
    if of_a.cells.len() != of_b.cells.len() {
        return Err(Error::bad_input(format!(
            "--a and --b: configurations are paired by place, so both sides need as many, not {} and {}; name as many sizes, pages, \
             strides, chains and delays on each",
            of_a.cells.len(),
            of_b.cells.len()
        )));
    }
    for (a, b) in of_a.cells.iter_mut().zip(&mut of_b.cells) {
        let repetitions = a.repetitions.max(b.repetitions);
        (a.repetitions, b.repetitions) = (repetitions, repetitions);
    }
    Ok(plans)
}

fn record(
    files: Option<[PathBuf; 2]>,
    reports: [&Report; 2],
    force: bool,
) -> Result<Option<[JournalRecorder; 2]>, Error> {
    let Some([file_a, file_b]) = files else { return Ok(None) };
    let journal_a = JournalRecorder::begin(file_a, reports[0], force)?;
    match JournalRecorder::begin(file_b, reports[1], force) {
        Ok(journal_b) => Ok(Some([journal_a, journal_b])),
        Err(error) => {
            journal_a.discard();
            Err(error)
        }
    }
}

/// Warnings that follow from the flags: threads that share CPUs, small pages, a block in a cache, threads that the program did not make.
const LASTING: [&str; 4] = ["V19", "V20", "V27", "V36"];

/// Why there are too few runs for a verdict, or fewer than the plan has, and what gives more.
fn ended_early(comparison: &Comparison<'_>, budget: Duration) -> Option<String> {
    let (reports, totals) = (comparison.reports, &comparison.totals);
    let (fewest, needed) = (totals.fewest, totals.needed);
    let warned = |code: &&str| {
        let by = |row: &Row<'_>| row.reason.as_ref().is_some_and(|why| why.warnings().any(|warned| warned == *code));
        comparison.rows.iter().all(by)
    };
    if let Some(code) = LASTING.iter().find(|code| fewest == 0 && !comparison.rows.is_empty() && warned(code)) {
        // Against V36 there is no number to compare.
        let all_the_same = if *code == "V36" { "" } else { "; --allow-suspect compares all the same" };
        return Some(format!(
            "more time does not help against {code}: charz explain {code} has what does{all_the_same}"
        ));
    }
    match reports[0].stopped_by.as_deref() {
        Some("budget") => {
            let made = reports.iter().flat_map(|report| &report.cells).map(|cell| cell.invocations.len()).sum();
            let longer = longer(budget, made, reports[0].cells.len(), fewest)?;
            Some(format!("the budget ended before every configuration had its runs; give --budget {longer}"))
        }
        Some(signal) => Some(format!("ended early by {signal}")),
        None => (1..needed).contains(&fewest).then(|| format!("give --runs {needed}")),
    }
}

/// The budget in which each of so many pairs has the runs for a verdict, by what those that were made took with all around them; `None`
/// where they were enough.
fn longer(budget: Duration, made: usize, pairs: usize, fewest: usize) -> Option<String> {
    let needed = runs_for_verdict(pairs, compare::ALPHA);
    let all = 2 * pairs * needed;
    if made >= all && fewest >= needed {
        return None;
    }
    // The pair with the fewest runs may take longer than others.
    let times = (all as f64 / made.max(1) as f64).max(needed as f64 / fewest.max(1) as f64);
    Some(units::budget(budget.as_secs_f64() * times))
}

/// A regression outweighs what could not be judged; and where nothing could be, nothing was shown to be no regression.
fn exit(stage: &MeasuringContext, comparison: &Comparison<'_>, strict: bool) -> Result<Exit, Error> {
    let totals = &comparison.totals;
    let exit = super::compare::exit(totals, strict);
    let failure = stage.failure(&comparison.reports);
    if let Some(failure) = failure.filter(|failure| *failure != Exit::Environment) {
        return Ok(failure);
    }
    if exit != Exit::Regression && totals.compared() == 0 {
        let reason = comparison.rows.first().and_then(|row| row.reason.as_ref());
        let reason = reason.map_or_else(|| "there is no cell".to_owned(), |why| words::reason(why, comparison.design));
        let exit = failure.unwrap_or(Exit::NoVerdict);
        return Err(Error::ended(exit, format!("nothing could be compared; the first configuration is {reason}")));
    }
    Ok(failure.filter(|_| exit != Exit::Regression).unwrap_or(exit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Cell, Severity, Status, Unit, fixtures};

    #[test]
    fn the_longer_budget_follows_from_the_runs_that_were_made() {
        let needed = runs_for_verdict(37, compare::ALPHA);
        let of = |made, fewest| longer(Duration::from_secs(15), made, 37, fewest);
        // Most pairs have none yet: those that have some are not all that there are.
        assert_eq!(of(84, 2).unwrap(), units::budget(15.0 * (2 * 37 * needed) as f64 / 84.0));
        assert_eq!(of(2 * 37 * needed, 1).unwrap(), units::budget(15.0 * needed as f64), "one pair is slow");
        assert_eq!(of(2 * 37 * needed, needed), None);
    }

    #[test]
    fn more_time_is_no_remedy_against_what_was_asked_for() {
        let said = |cell: Cell| {
            let report = Report { stopped_by: Some("budget".into()), ..fixtures::report(vec![cell]) };
            let comparison = compare::interleaved([&report; 2], &compare::Options::default());
            ended_early(&comparison, Duration::from_secs(15)).unwrap()
        };
        let cell = fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e9);
        let warned = said(cell.clone().marked("V27", Severity::Suspect, "so"));
        assert!(warned.contains("charz explain V27") && !warned.contains("--budget"), "{warned}");
        let unmeasured = Cell { status: Status::Skipped, invocations: Vec::new(), ..cell };
        assert!(said(unmeasured).contains("--budget"));
    }
}
