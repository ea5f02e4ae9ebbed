//! `charz advise`: what a report says of where threads should go, and whether it holds when it is measured again.

mod near;

use charz_data::Arrange;
use std::collections::{BTreeMap, BTreeSet};
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
use charz_claims::advise::{Advice, advise, beside, not_advised, validate};
use charz_claims::compare::{other_machine, other_program};
use charz_data::card::{Access, Numbers};
use charz_data::checks::BLOCK_PER_CACHE;
use charz_data::machine::Machine;
use charz_data::report::{Cell, MemoryHome, Report};
use charz_data::{COMMAND, Program, ProgramValue, ReportedUnit, Role};
use charz_estimate::Estimates;
use charz_measure::invoke::{Beside, Invoke, MeasureRequest, Pace, Placement};
use charz_measure::limits::{Limits, MOST_THREADS};
use charz_measure::plan::{Budget, Plan, Request};
use charz_measure::predict::Predictor;
use charz_measure::sweep::new_report;
use charz_measure::user_program;
use charz_render::advise::{Advised, Format, Neighbour};
use charz_words::compare::{said, unlike};

pub use near::Asked;

pub struct Options {
    pub report: PathBuf,
    /// What was typed of the report's program.
    pub consent: Consent,
    /// The sweep of the placements that are measured again; its kernels and parameters are those of the report.
    pub again: Option<Box<New>>,
    /// The load beside which they are.
    pub beside: Option<Load>,
    /// The device that threads are to be near.
    pub near: Option<Asked>,
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let (mut report, file) = read_open(&options.report)?;
    let mut nearby = None;
    if let Some(asked) = &options.near {
        let (of_near, found) = near::near(&report, asked)?;
        (report, nearby) = (of_near, Some(found));
    }
    let estimates = Estimates::of(&report);
    let mut advice = advise(&estimates);
    if let Some(nearby) = &nearby {
        for advice in &mut advice {
            advice.asked_home = nearby.memory_node.map(MemoryHome::Node);
            // The CPUs that are left are not near.
            advice.open = advice.open.filter(|_| advice.best.cell.seats.len() < nearby.count);
        }
    }
    let mut again = None;
    if let Some(new) = &options.again {
        let flag = if options.beside.is_some() { "--beside" } else { "--validate" };
        let program = permit::of_report(flag, &options.report, file.as_ref(), &report, &options.consent)?;
        again = Some(measure(&report, &advice, program.as_ref(), new, (flag, options.beside.as_ref()))?);
    }
    let beside = again.as_ref().and_then(|again| {
        let (load, (alone, each)) = (options.beside.as_ref()?, again.paces.as_ref()?);
        let alone = alone.rate();
        let kept = |cell: &Cell| {
            let placement = (cell.kernel.clone(), cell.mapping.clone(), cell.workers as usize);
            Some(each.get(&placement)?.rate()? / alone?)
        };
        Some(Neighbour { load: load.text(), all: beside(&again.report, &report, kept) })
    });
    let validation = again.as_ref().filter(|_| beside.is_none()).map(|again| validate(&advice, &again.report));
    let is_empty = validation.as_ref().is_some_and(|all| all.iter().all(|one| one.regret.is_none()))
        || beside.as_ref().is_some_and(|beside| beside.all.is_empty());
    let (answer, why_not) = (Answer::of(&report), not_advised(&estimates));
    let predicted = if nearby.is_some() { Vec::new() } else { better(&report) };
    let advised = Advised { answer, nearby, advice, validation, beside, predicted, why_not };
    present(options.format, &advised, out)?;
    Ok(match again.and_then(|again| again.failure) {
        Some(failure) => failure,
        _ if is_empty => Exit::NoVerdict,
        _ => Exit::Done,
    })
}

/// A load beside which placements are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// So many threads that compute.
    Hog(usize),
    /// So many threads that read memory, of a NUMA node.
    Stream(Option<u32>, usize),
    /// A program.
    Program(Permitted),
}

impl Load {
    /// Reads `hog:2`, `stream:node0:2`, or a command.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let mut words = text.split(':');
        let kind = words.next().unwrap_or_default();
        let is_known = matches!(kind, "hog" | "stream");
        let (mut node, mut threads) = (None, 1);
        for word in words.filter(|_| is_known) {
            match (kind, word.strip_prefix("node").map(str::parse), word.parse()) {
                ("stream", Some(Ok(number)), _) => node = Some(number),
                (_, _, Ok(count)) if (1..=MOST_THREADS).contains(&count) => threads = count,
                _ => {
                    return Err(Error::bad_input(format!(
                        "--beside {text}: {word:?} is neither a number of threads nor nodeN; write hog:2 or stream:node0:2"
                    )));
                }
            }
        }
        match kind {
            "hog" => Ok(Load::Hog(threads)),
            "stream" => Ok(Load::Stream(node, threads)),
            _ if text.trim().is_empty() => Err(Error::bad_input("--beside: name a load: hog, stream, or a command")),
            _ => {
                let program = Program::new(text, ProgramValue::Wall, ReportedUnit::SECONDS);
                permit::permit(program, &permit::Source::Words).map(Load::Program).map_err(Error::bad_input)
            }
        }
    }

    /// As it is typed, without the values of a program's environment.
    fn text(&self) -> String {
        match self {
            Load::Hog(threads) => format!("hog:{threads}"),
            Load::Stream(None, threads) => format!("stream:{threads}"),
            Load::Stream(Some(node), threads) => format!("stream:node{node}:{threads}"),
            Load::Program(program) => program.program().recorded().command,
        }
    }

    /// What its process is asked for on a machine: its blocks are no smaller than those of the report, nor than a number of memory needs.
    fn order(&self, order: MeasureRequest, machine: &Machine) -> MeasureRequest {
        let mut params = order.params;
        let least = machine.last_cache_bytes().map_or(0, |cache| cache.saturating_mul(BLOCK_PER_CACHE));
        (params.iterations, params.size_bytes) = (u64::MAX >> 16, params.size_bytes.max(LEAST_BLOCK).max(least));
        let of_kernel = |role: &Role, threads: usize, homes: Vec<Vec<u32>>| MeasureRequest {
            kernel: charz_workloads::kernels()
                .find(|kernel| kernel.card().role == *role)
                .map_or_else(String::new, |kernel| kernel.card().name.to_string()),
            seats: vec![None; threads],
            homes,
            params,
            ..order.clone()
        };
        match self {
            Load::Hog(threads) => of_kernel(&Role::Arithmetic(Numbers::Integer), *threads, Vec::new()),
            Load::Stream(node, threads) => {
                of_kernel(&Role::MemoryBandwidth(Access::Read), *threads, node.iter().map(|node| vec![*node]).collect())
            }
            Load::Program(program) => MeasureRequest {
                kernel: COMMAND.to_owned(),
                program: Some(program.program().clone()),
                seats: vec![None],
                ..order
            },
        }
    }
}

/// The least that a thread of a stream reads, where no cache is known.
const LEAST_BLOCK: u64 = 64 << 20;

/// What was measured again.
struct Again {
    report: Report,
    /// How to end where something went wrong.
    failure: Option<Exit>,
    /// What the load did alone, and beside each placement.
    paces: Option<(Pace, BTreeMap<Placement, Pace>)>,
}

/// Measures the contenders of all advice in rounds.
fn measure(
    report: &Report,
    advice: &[Advice<'_>],
    program: Option<&Permitted>,
    new: &New,
    (flag, load): (&str, Option<&Load>),
) -> Result<Again, Error> {
    if report.anonymous && report.plan.program.is_some() {
        return Err(Error::bad_input(format!(
            "{flag}: the report is anonymous and does not say which program to run again; take the one that names it"
        )));
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
        let why = "there is nothing to measure again; the report needs several mappings or numbers of threads";
        return Err(Error::ended(Exit::NoVerdict, format!("{flag}: {why}")));
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
            "{flag}: the report is not of this machine: {clause}; go on where it was measured"
        )));
    }
    let is = program.map(|program| user_program::identity(program.program()));
    let both = report.plan.program_identity.as_ref().zip(is.as_ref());
    if let Some((what, both)) = both.and_then(|(was, is)| other_program(was, is)) {
        let [was, is] = both.each_ref().map(said);
        return Err(Error::bad_input(format!(
            "{flag}: the report is of another program: the {what} was {was:?} and is {is:?}; start a new sweep"
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
    let mut swept = |invoke: &dyn Invoke| {
        let swept = stage.sweep_of(&mut again, program, &mut (), invoke, &predictor, budget).run(&mut listener);
        debug_assert!(swept.is_ok(), "nothing is recorded");
    };
    let mut paces = None;
    match load {
        None => swept(&processes),
        Some(load) => {
            let failed = |why: String| Error::ended(Exit::NoVerdict, format!("{flag} {}: {why}", load.text()));
            let beside = Beside::new(&processes, &load.order(stage.order(&params), &stage.machine)).map_err(failed)?;
            swept(&beside);
            paces = Some(beside.end().map_err(failed)?);
        }
    }
    let failure = stage.failure(&[&again]);
    Ok(Again { report: again, failure, paces })
}
