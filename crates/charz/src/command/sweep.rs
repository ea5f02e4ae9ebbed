use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use charz_kernels::Kernel;
use charz_topology::{Backend, Machine, Source, discover};

use super::STREAM;
use crate::exit::{Error, Exit};
use crate::log;
use crate::permit::{Consent, Permitted};
use crate::provenance::tool;
use crate::view::look;
use crate::view::plan::{self as plan_table, Planned};
use crate::view::present;
use crate::view::progress::note;
use charz_claims::pairs::Choice;
use charz_data::escape::{plain, quoted};
use charz_data::params::PAGES;
use charz_data::report::{self, Report};
use charz_data::{Better, Program, ReportedUnit};
use charz_measure::doctor;
use charz_measure::journal;
use charz_measure::limits::Limits;
use charz_measure::plan::{Budget, Plan, Request};
use charz_measure::predict::Predictor;
use charz_measure::sweep::{Context, new_report};
use charz_measure::user_program::{self, identity};
use charz_render::formats::{Format, JSON, ReportWriter};
use charz_render::wrapped;

pub(super) mod name;
mod recorder;
mod resume;
mod stage;

pub(crate) use recorder::from_bytes;
pub(super) use recorder::{JournalRecorder, cannot_record, recordable};
use stage::Session;
pub(super) use stage::{First, MeasuringContext};

/// What is to be measured, and how its report is shown.
pub enum Options {
    New(Box<New>, &'static Format),
    Resume(Resume),
}

pub struct New {
    /// What was typed or set elsewhere, as one command line.
    pub command: String,
    pub request: Request,
    /// The program of the request, which has it as reports keep it.
    pub program: Option<Permitted>,
    /// Which of its numbers are better, where that was said.
    pub direction: Option<Better>,
    pub clock: ClockKind,
    pub binder: Backend,
    /// The report's file, or [`STREAM`]; `None` takes a name made of the host and the date.
    pub output: Option<PathBuf>,
    pub force: bool,
    /// Only the plan is wanted.
    pub dry_run: Option<DryRun>,
    pub wait: bool,
    /// The longest to wait until the machine is quiet.
    pub wait_quiet: Option<Duration>,
    pub strict: bool,
    /// Whether the report, and what is printed of it, does not say whose it is.
    pub anonymous: bool,
    /// What the user calls the machine, by key.
    pub labels: BTreeMap<String, String>,
    /// Whether the name of the report's file is all that is printed.
    pub quiet: bool,
    /// Instructions that a core can issue per cycle, where it was said.
    pub issue_width: Option<u64>,
}

pub struct DryRun {
    /// Which machine the plan is for.
    pub source: Source,
    pub format: &'static plan_table::Format,
}

pub struct Resume {
    pub file: PathBuf,
    /// The sweep that the report must be of, if one was asked for.
    pub asked: Option<Box<New>>,
    /// What was typed of the report's program.
    pub consent: Consent,
    /// The longest that this session may take; where nothing is said, as long as the report's plan, or the usual
    /// time if that is more.
    pub budget: Budget,
    pub wait: bool,
    pub wait_quiet: Option<Duration>,
    pub strict: bool,
    /// Whether an anonymous report is wanted, as one has to be begun.
    pub anonymous: bool,
    /// Whether the name of the report's file is all that is printed.
    pub quiet: bool,
    pub format: &'static Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    Os,
    Realtime,
    Tsc,
    /// The time-stamp counter where it can serve as a clock, which is read in a quarter of the time; else the operating system's.
    Auto,
}

impl ClockKind {
    /// The clock's name in a report; `None` where it depends on the machine.
    fn name(self) -> Option<&'static str> {
        match self {
            ClockKind::Os => Some("os"),
            ClockKind::Realtime => Some("realtime"),
            ClockKind::Tsc => Some("tsc"),
            ClockKind::Auto => None,
        }
    }
}

/// The largest report, in bytes, that is written as plain JSON where the user names no file.
const MOST_PLAIN: u64 = 16 << 20;
/// How many times as large a report is before it is compressed: 5.3 as measured, by its laps.
const PACKED: u64 = 5;

pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<Exit, Error> {
    match options {
        Options::New(new, format) => start(&new, format, out),
        Options::Resume(resume) => resume::run(resume, out),
    }
}

/// Runs the requested sweep and prints its report in `format` when it ends.
pub(super) fn start(new: &New, format: &dyn ReportWriter, out: &mut dyn Write) -> Result<Exit, Error> {
    let request = &new.request;
    let kernels = |machine: &Machine, limits: &Limits| {
        request.fit(machine, limits)?;
        Ok(request.kernels.clone())
    };
    measure(new, format, out, kernels, |_, machine, limits, predictor| {
        Ok((Plan::new(request, &request.fit(machine, limits)?, limits, predictor), None))
    })
}

/// Plans a sweep, then prints the plan or measures it. `kernels` are those of the pilots, and refuses bad input before any runs;
/// `plan` plans for a machine, and also returns the pairs that it chose, if they are what a reader of the plan wants to see.
pub(super) fn measure(
    new: &New,
    format: &dyn ReportWriter,
    out: &mut dyn Write,
    kernels: impl FnOnce(&Machine, &Limits) -> Result<Vec<&'static dyn Kernel>, Error>,
    plan: impl FnOnce(Option<&MeasuringContext>, &Machine, &Limits, &Predictor) -> Result<(Plan, Option<Choice>), Error>,
) -> Result<Exit, Error> {
    let plan = |stage: Option<&MeasuringContext>, machine: &Machine, limits: &Limits, predictor: &Predictor| {
        let (mut plan, pairs) = plan(stage, machine, limits, predictor)?;
        for cell in &mut plan.cells {
            cell.obstacle = cell.obstacle.take().or_else(|| new.binder.cannot_seat(&cell.seats));
        }
        Ok::<_, Error>((plan, pairs))
    };
    let file = new.file()?;
    let is_taken = || !new.wait && stage::is_taken();
    if let Some(dry_run) = new.dry_run.as_ref().filter(|dry_run| dry_run.source != Source::ThisMachine || is_taken()) {
        let machine = discover(&dry_run.source)?;
        let limits = match dry_run.source {
            Source::ThisMachine => {
                note("another charz is measuring: times are assumed, and no run is made to predict them");
                Limits::read()
            }
            _ => Limits::of(&machine),
        };
        let predictor = Predictor::assumed(&kernels(&machine, &limits)?).on(&machine, machine.worth());
        let planned = plan(None, &machine, &limits, &predictor)?;
        let tool = tool();
        let context = Context::elsewhere(&tool, &new.command, &machine, &limits);
        return show(new, dry_run, planned, false, &context, file.as_deref(), out);
    }
    if let Some(file) = file.as_ref().filter(|_| new.dry_run.is_none()) {
        recordable(file)?;
    }
    let mut stage = MeasuringContext::set(new.clock, new.binder, new.wait, new.quiet)?;
    stage.is_anonymous = new.anonymous;
    // Looked for again: another sweep may have taken the name while this one waited for it.
    let mut file = new.file()?;
    if new.dry_run.is_none() {
        stage.wait_quiet(new.wait_quiet);
    }
    let (limits, machine) = (Limits::read(), &stage.machine);
    let kernels = kernels(machine, &limits)?;
    note_pages(&new.request, &kernels, &limits);
    let (Request { params, budget, .. }, processes) = (&new.request, stage.processes());
    let predictor = stage.predictor(&kernels, params, budget.least(), &processes);
    let first = First::of(&new.request);
    let (predictor, printed) =
        stage.with_program(predictor, params, new.program.as_ref(), first, *budget, &processes)?;
    let unit = unit(new.program.as_ref(), printed.as_deref(), new.direction);
    let predictor = predictor.on(machine, machine.worth());
    if let Some((exit, _)) = stage.signals.received() {
        return Ok(exit);
    }
    let (mut plan, pairs) = plan(Some(&stage), machine, &limits, &predictor)?;
    plan.program = plan.program.map(|program| Program { unit: unit.unwrap_or(program.unit), ..program });
    let program = new.program.clone().map(|program| match unit {
        Some(unit) => program.in_unit(unit),
        None => program,
    });
    let context = Context { issue_width: new.issue_width, ..stage.context(&new.command, &limits) };
    let plain_bytes = plan.report_bytes();
    if let Some(dated) = file.as_mut().filter(|_| new.output.is_none() && plain_bytes > MOST_PLAIN) {
        dated.as_mut_os_string().push(".gz");
    }
    log::line("plan", || {
        let (cells, runnable) = (plan.cells.len(), plan.runnable().count());
        format!("{cells} configurations, {runnable} of them to measure, budget {:?}, seed {}", plan.budget, plan.seed)
    });
    if let Some(shortfall) = plan.shortfall(stage.left(plan.budget)) {
        note(&shortfall);
    }
    if let Some(dry_run) = &new.dry_run {
        return show(new, dry_run, (plan, pairs), true, &context, file.as_deref(), out);
    }
    let mut report = Report { anonymous: new.anonymous, ..new_report(&plan, &context) };
    report.host.labels.clone_from(&new.labels);
    report.plan.program_identity = program.as_ref().map(|program| identity(program.program()));
    if let Some(busiest) = doctor::busiest(processes.culprits().iter()) {
        report.host.disturbances.push(format!("other programs: {busiest}"));
    }
    if let Some(fewer) = fewer_than_scheduled(machine, |name| std::env::var(name).ok()) {
        note(&format!("warning: {fewer}"));
        report.host.disturbances.push(fewer);
    }
    if let Some(Err(why)) = program.as_ref().map(|program| program.seal(&mut report))
        && !new.quiet
    {
        note(&format!("--resume will ask for the program again: {why}"));
    }
    let recorder = file.map(|file| JournalRecorder::begin(file, &report, new.force)).transpose()?;
    let format = if recorder.is_some() { format } else { JSON };
    if recorder.is_none() {
        note("the report goes to standard output when the sweep ends, without a journal: it cannot be resumed");
    }
    let quiet = new.quiet && recorder.is_some();
    let shown = if report.anonymous { Cow::Owned(report::anonymous(report.clone())) } else { Cow::Borrowed(&report) };
    // What the batch system gave is said already; details come after a semicolon.
    let disturbances = shown.host.disturbances.iter().filter(|one| !quiet && !one.starts_with(BATCH));
    let disturbances: Vec<&str> = disturbances.filter_map(|one| one.split("; ").next()).collect();
    if !disturbances.is_empty() {
        let all = disturbances.join("; ");
        note(&format!("warning: results will be noisier (charz doctor lists the fixes): {all}"));
    }
    let program = program.as_ref();
    let (budget, is_brief) = (plan.budget, plan.is_brief);
    let session = Session { predictor: &predictor, program, budget, is_brief, strict: new.strict, quiet, format };
    stage.sweep(&mut report, &session, recorder, out)
}

/// What is said of a unit whose direction nothing says.
pub(crate) fn guessed(symbol: &str) -> String {
    format!("the number is in {symbol:?}, of which higher is taken for better; --direction says otherwise")
}

/// The unit of a program's numbers where only its first run says it; what is guessed of it is said.
pub(super) fn unit(program: Option<&Permitted>, printed: Option<&str>, asked: Option<Better>) -> Option<ReportedUnit> {
    let unit = program.map(|program| program.program().unit).filter(|unit| unit.symbol == ReportedUnit::UNNAMED)?;
    let usual = printed.and_then(ReportedUnit::usual);
    let named = printed.and_then(|word| ReportedUnit::new(word, asked.or(usual).unwrap_or(unit.better)).ok());
    if asked.or(usual).is_none() {
        note(&guessed(named.unwrap_or(unit).symbol.as_str()));
    }
    named
}

/// Says on which pages blocks are where the system has none of the usual ones.
pub(super) fn note_pages(request: &Request, kernels: &[&'static dyn Kernel], limits: &Limits) {
    if request.lacks_huge_pages(limits) && kernels.iter().any(|kernel| kernel.card().obeys(&PAGES)) {
        note(
            "blocks are on 4k pages: the system has no transparent huge pages (/sys/kernel/mm/transparent_hugepage/enabled)",
        );
    }
}

/// Begins what is said of the batch system.
const BATCH: &str = "batch system: ";

/// Where the batch system gave the job more CPUs of this node than the process may use: the numbers are then those of a part of it.
fn fewer_than_scheduled(machine: &Machine, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let number = |name| {
        let text = variable(name)?;
        // `16(x2),8`: the first entry is that of the first node, of which the others are like it as a rule.
        text.split(['(', ',']).next()?.trim().parse::<usize>().ok()
    };
    let given = ["SLURM_JOB_CPUS_PER_NODE", "SLURM_CPUS_ON_NODE"].into_iter().filter_map(number).max()?;
    let usable = machine.usable_strands().count();
    // A batch system may believe in more CPUs than there are.
    let given = given.min(machine.strands.len() + machine.absent.len());
    (given > usable).then(|| {
        format!(
            "{BATCH}the job has {given} CPUs of this node, and this process may use {usable}: start charz in the job's script \
             without srun, or with srun --cpu-bind=none -c {given}"
        )
    })
}

/// A report's file, and whether a sweep was begun there.
pub(crate) struct Begun {
    pub(crate) file: PathBuf,
    pub(crate) is_begun: bool,
}

/// The file of a report by its name, fields filled in. A journal in which nothing was recorded is removed.
pub(crate) fn begun(named: &Path) -> Result<Begun, Error> {
    let file = name::filled(named.to_owned(), SystemTime::now())?;
    let is_there = |file: &Path| file.symlink_metadata().is_ok();
    let journal = journal::beside(&file);
    let is_begun = is_there(&file) || is_there(&journal) && !journal::remove_unbegun(&journal);
    Ok(Begun { file, is_begun })
}

/// Prints a plan instead of measuring it, the times of a program only where it was run.
fn show(
    new: &New,
    dry_run: &DryRun,
    (plan, pairs): (Plan, Option<Choice>),
    is_piloted: bool,
    context: &Context<'_>,
    file: Option<&Path>,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let plain_bytes = plan.report_bytes();
    let packed = file.is_some_and(report::is_packed) || (new.output.is_none() && plain_bytes > MOST_PLAIN);
    let report_bytes = if packed { plain_bytes / PACKED } else { plain_bytes };
    let report = new_report(&plan, context);
    let is_timed = is_piloted || new.request.program.is_none();
    // Programs get every configuration.
    match pairs.filter(|_| dry_run.format.name == plan_table::FORMATS[0].name) {
        Some(choice) => plan_table::write_pairs(&choice, context.machine, &plan, out)?,
        None => {
            let limits = context.limits;
            present(dry_run.format, &Planned { plan: &plan, limits, report: &report, report_bytes, is_timed }, out)?
        }
    }
    Ok(Exit::Done)
}

impl New {
    /// The report's file, refused before anything is measured if it cannot become one: a sweep that cannot be kept is not begun.
    /// `None` is standard output.
    fn file(&self) -> Result<Option<PathBuf>, Error> {
        if self.output.as_ref().is_some_and(|output| output.as_os_str() == STREAM) {
            return Ok(None);
        }
        let now = SystemTime::now();
        let named = match &self.output {
            Some(named) => name::filled(named.clone(), now)?,
            None => name::usual(self.anonymous, now, |file| file.exists())?,
        };
        name::output(named, self.force).map(Some)
    }
}

/// Where the report is, and what shows more of it: behind what people read, beside what programs do, alone where that was asked for.
fn tell_file(file: &Path, session: &Session<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let file = plain(&file.to_string_lossy());
    if session.quiet {
        writeln!(out, "{file}")?;
    } else if session.format.for_people() {
        writeln!(out, "\nreport: {file}")?;
        let more = format!("more: charz render {} --format table (every number), -o page.html (a page)", quoted(&file));
        wrapped::hanging(&more, 2, look::tables(), out)?;
    } else {
        note(&format!("report: {file}"));
    }
    out.flush()
}

/// The kernels that a report's cells name, as far as this program has them.
fn kernels_of(report: &Report) -> Vec<&'static dyn Kernel> {
    report.plan.kernels.iter().filter_map(|name| user_program::find(name)).collect()
}
