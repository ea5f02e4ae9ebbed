//! `charz sweep --resume`: the rest of an unfinished report, with its own plan.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use charz_data::params::{PARAMS, Param, Params, SIZE};
use charz_system::origin::{self, Invoker};
use charz_topology::{Backend, Machine, Present, Source, discover};

use super::recorder::JournalRecorder;
use super::stage::{Held, exit};
use super::{ClockKind, First, MeasuringContext, New, Resume, Session, kernels_of};
use crate::command::render::read_open;
use crate::exit::{Error, Exit};
use crate::permit::{self, Permitted};
use crate::provenance::tool;
use crate::view::look;
use crate::view::progress::{note, why};
use charz_claims::compare::{is_one_host, other_program};
use charz_data::escape::plain;
use charz_data::report::{self, Report};
use charz_measure::harness::MOST_REPETITIONS;
use charz_measure::journal;
use charz_measure::limits::Limits;
use charz_measure::plan::Budget;
use charz_measure::sweep;
use charz_measure::user_program::identity;
use charz_render::formats::ReportWriter;
use charz_words::compare::said;

pub(super) fn run(resume: Resume, out: &mut dyn Write) -> Result<Exit, Error> {
    let flag = if resume.asked.is_some() { "--continue" } else { "--resume" };
    let invoker = Invoker::current();
    if let Some(user) = origin::foreign_link(&resume.file, &invoker) {
        let user = origin::name(user);
        return Err(Error::bad_input(format!(
            "{flag}: {:?} is a link that {user} made; name the file that it leads to",
            resume.file
        )));
    }
    // The report replaces the file behind a link, not the link.
    let behind = resume.file.is_symlink().then(|| resume.file.canonicalize().ok()).flatten();
    let file = report_file(behind.unwrap_or_else(|| resume.file.clone()));
    let journal_file = journal::beside(&file);
    let refuse = |why: String| Error::bad_input(format!("{flag}: {file:?} {why}"));
    let same = |report: &Report| resume.asked.as_deref().map_or(Ok(()), |new| is_of(new, report)?.map_err(refuse));
    let program = |path: &Path, opened: Option<&File>, report: &Report| {
        permit::of_report(flag, path, opened, report, &resume.consent)
    };
    // Who says how long it may take wants narrower intervals, too.
    let goes_on = resume.asked.is_none() && matches!(resume.budget, Budget::Of(_));
    let is_done =
        |report: &Report| report.complete && (report.anonymous || !(goes_on && sweep::may_be_narrowed(report)));
    let has_journal = || journal_file.symlink_metadata().is_ok();
    let read = || {
        let (report, opened) = read_open(&file)?;
        let owner = opened.as_ref().and_then(|opened| opened.metadata().ok()).map(|about| about.uid());
        if let Some(user) = owner.filter(|user| !invoker.trusts(*user)) {
            let user = origin::name(user);
            return Err(refuse(format!(
                "belongs to {user}, so it is not continued; name another file, or a copy of it"
            )));
        }
        if report.anonymous {
            return if report.complete { Ok((report, opened)) } else { Err(refuse(ANONYMOUS.into())) };
        }
        same(&report).map(|()| (report, opened))
    };
    // A report that is refused or complete needs no lock.
    if !has_journal() {
        let (report, opened) = read()?;
        if is_done(&report) {
            return finished(&report, &file, &resume, out);
        }
        program(&file, opened.as_ref(), &report)?;
    }
    let held = Held::take(resume.wait, resume.quiet)?;
    // Only now: the sweep that had the lock may have measured the rest.
    let (recorder, mut report, program) = if has_journal() {
        let (recorder, report, lost) = JournalRecorder::resume(file.clone(), journal_file.clone())?;
        lost.iter().for_each(|line| note(line));
        same(&report)?;
        let program = program(&journal_file, Some(recorder.journal()), &report)?;
        (Some(recorder), report, program)
    } else {
        let (report, opened) = read()?;
        if is_done(&report) {
            return finished(&report, &file, &resume, out);
        }
        let program = program(&file, opened.as_ref(), &report)?;
        (None, report, program)
    };
    if resume.anonymous && !report.anonymous {
        return Err(Error::bad_input(format!(
            "--anonymous: {file:?} was begun without it; finish it without, then charz render --anonymous leaves out whose it is"
        )));
    }
    let params = params(&report).map_err(refuse)?;
    let clock = match report.plan.clock.as_str() {
        "os" => ClockKind::Os,
        "realtime" => ClockKind::Realtime,
        "tsc" => ClockKind::Tsc,
        other => return Err(refuse(format!("was stamped by a clock {other:?} that this program does not have"))),
    };
    let binder = Backend::from_str(&report.plan.binder).map_err(refuse)?;
    let mut stage = MeasuringContext::of(held, clock, binder)?;
    stage.is_anonymous = report.anonymous;
    let host = sweep::host(&stage.machine, &Limits::read());
    if let Some(difference) = difference(&report, &stage.machine, &host) {
        return Err(refuse(format!("cannot be finished here: {difference}")));
    }
    if let Some(difference) = other(&report, program.as_ref()) {
        return Err(refuse(difference));
    }
    if let Some(program) = program.as_ref().filter(|_| !resume.quiet) {
        note(&format!("running the report's program: {:?}", program.program().recorded().command));
    }
    let recorder = match recorder {
        Some(recorder) => recorder,
        None => JournalRecorder::begin(file, &report, true)?,
    };
    stage.wait_quiet(resume.wait_quiet);
    let budget = match resume.budget {
        Budget::Of(time) => time,
        fitting => Duration::from_nanos(report.plan.budget_ns).max(fitting.least()),
    };
    let (program, processes) = (program.as_ref(), stage.processes());
    let predictor = stage.predictor(&kernels_of(&report), &params, budget, &processes);
    let first = First::of_cells(report.cells.iter(), &stage.machine);
    let (predictor, _) = stage.with_program(predictor, &params, program, first, Budget::Of(budget), &processes)?;
    let session = Session {
        predictor: &predictor,
        program,
        budget,
        is_brief: false,
        strict: resume.strict,
        quiet: resume.quiet,
        format: resume.format,
    };
    stage.sweep(&mut report, &session, Some(recorder), out)
}

/// Another machine, or another program, could not be distinguished from its own.
const ANONYMOUS: &str =
    "is anonymous: it does not say on which machine and of which program the rest is missing; start a new sweep";

/// Whether a report is of this sweep, as the machine is now; the error of the inner result is a clause that says how it differs. A complete
/// one of a machine that changed is not compared: nothing is measured.
fn is_of(new: &New, report: &Report) -> Result<Result<(), String>, Error> {
    let (machine, limits) = (discover(&Source::ThisMachine)?, Limits::read());
    let fitted = new.request.fit(&machine, &limits)?;
    let clocks = new.clock.name().filter(|name| *name != report.plan.clock).map(|name| [&*report.plan.clock, name]);
    let binders = Some([report.plan.binder.clone(), new.binder.to_string()]).filter(|[was, is]| was != is);
    let of = |flag: &str, values: [&str; 2]| values.map(|value| vec![format!("--{flag} {value}")]);
    let differs = (new.request.differs(&fitted, &limits, report))
        .or_else(|| clocks.map(|values| of("clock", values)))
        .or_else(|| binders.map(|[was, is]| of("binder", [&was, &is])));
    let Some([begun, now]) = differs.map(|lists| lists.map(|flags| flags.join(" and "))) else {
        return Ok(other(report, new.program.as_ref()).map_or(Ok(()), Err));
    };
    let why = match difference(report, &machine, &sweep::host(&machine, &limits)) {
        Some(_) if report.complete => return Ok(Ok(())),
        Some(difference) => format!("cannot be finished here: {difference}"),
        None => format!(
            "was begun with {begun}, and this command line has {now}; name another --output, or finish that report with charz sweep \
             --resume"
        ),
    };
    Ok(Err(why))
}

/// Shows a report that lacks nothing.
fn finished(report: &Report, file: &Path, resume: &Resume, out: &mut dyn Write) -> Result<Exit, Error> {
    let exit = exit(report, resume.strict);
    let file = plain(&file.to_string_lossy());
    if resume.quiet {
        writeln!(out, "{file}")?;
        why(report, exit).iter().for_each(|why| note(why));
        return Ok(exit);
    }
    resume.format.write(report, &look::of_stdout(), out)?;
    let complete = format!("{file} is complete: nothing is left to measure");
    match resume.format.for_people() {
        true => writeln!(out, "{complete}")?,
        false => note(&complete),
    }
    Ok(exit)
}

/// The report's file, also where its journal was named.
fn report_file(named: PathBuf) -> PathBuf {
    let report = named.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".journal"));
    match report.map(|name| named.with_file_name(name)) {
        Some(report) if journal::is_journal(&named) => report,
        _ => named,
    }
}

/// The parameters of the report's plan, if they and those of its cells could have been typed.
fn params(report: &Report) -> Result<Params, String> {
    let repetitions = report.floor.iter().chain(&report.cells).map(|cell| cell.repetitions).max().unwrap_or(1);
    if !(1..=MOST_REPETITIONS).contains(&repetitions) {
        return Err(format!("has {repetitions} iterations of a configuration; there can be 1 to {MOST_REPETITIONS}"));
    }
    let plan = report.plan.params;
    let check = |param: &Param, params: &Params| {
        let typed = (param.read)(&(param.show)(params), &mut Params::default());
        typed.map_err(|what| format!("has a wrong value of --{}: {what}", param.name))
    };
    PARAMS.iter().try_for_each(|param| check(param, &plan))?;
    for cell in &report.cells {
        let own = cell.params(&plan);
        let block = cell.block_bytes.map(|_| &SIZE);
        cell.point.varied().chain(block).try_for_each(|param| check(param, &own))?;
    }
    Ok(plan)
}

const NEW: &str = "start a new sweep";

/// What the program has become since the report was begun, as a clause about the report; `None` where it is the same, or the report does not
/// say which it was.
fn other(report: &Report, program: Option<&Permitted>) -> Option<String> {
    let (was, is) = (report.plan.program_identity.as_ref()?, identity(program?.program()));
    let (what, both) = other_program(was, &is)?;
    let [was, is] = both.each_ref().map(said);
    Some(format!("is of another program: the {what} was {was:?} and is {is:?}; {NEW}"))
}

/// What keeps the two halves of a report from being comparable, and what to do.
fn difference(report: &Report, machine: &Machine, host: &report::Host) -> Option<String> {
    let parts = |machine: &Machine| {
        let Machine { strands, cores, packages, mut numa_nodes, numa_distances, mut caches, .. } = machine.clone();
        // A guest is given memory, and has it taken, while it runs.
        numa_nodes.iter_mut().for_each(|node| node.memory_bytes = None);
        // An older build did not ask the processor.
        caches.iter_mut().for_each(|cache| cache.inclusive = None);
        (strands, cores, packages, numa_nodes, numa_distances, caches)
    };
    if parts(&report.machine) != parts(machine) {
        // Numbers that never were CPUs here are those of another machine.
        let used: Vec<u32> = report.machine.usable_strands().map(|strand| strand.os_id).collect();
        let own = used.iter().all(|cpu| Path::new(&format!("/sys/devices/system/cpu/cpu{cpu}")).exists());
        let gone = Present::read().gone(&used, &report.machine.nodes_for_memory()).filter(|_| own);
        return Some(gone.map_or_else(
            || format!("it is of another machine, or of this one with other CPUs usable; {NEW}"),
            |gone| format!("{gone}; resume it when that is back"),
        ));
    }
    let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
    let slack = |host: &report::Host| host.timer_slack_ns.map_or("unknown".into(), |nanos| format!("{nanos}ns"));
    let (then, now) = (&report.host, host);
    let (built, running) = (&report.tool, &tool());
    let [was, is] = [then, now].map(|host| word(&host.name));
    let is = if is_one_host(&was, &is) { was.clone() } else { is };
    let pairs = [
        ("the host", was, is),
        ("the processor", word(&then.processor), word(&now.processor)),
        ("the microcode", word(&then.microcode), word(&now.microcode)),
        ("the system", word(&then.kernel), word(&now.kernel)),
        ("the policy of huge pages", word(&then.transparent_huge_pages), word(&now.transparent_huge_pages)),
        ("the frequency governor", word(&then.frequency_governor), word(&now.frequency_governor)),
        ("the timer slack", slack(then), slack(now)),
        ("the CPU quota", word(&then.cpu_quota), word(&now.cpu_quota)),
        ("charz's version", built.version.clone(), running.version.clone()),
        ("charz's commit", built.commit.clone(), running.commit.clone()),
        ("charz's target", built.target.clone(), running.target.clone()),
        ("charz's build profile", built.profile.clone(), running.profile.clone()),
        ("the source of charz's kernels", built.kernels.clone(), running.kernels.clone()),
        ("charz's compiler", built.rustc.clone(), running.rustc.clone()),
        ("charz's compiler flags", built.rustflags.clone(), running.rustflags.clone()),
    ];
    let (what, then, now) = pairs.into_iter().find(|(_, then, now)| then != now)?;
    Some(format!("{what} was {then:?} and is {now:?}; {NEW}"))
}
