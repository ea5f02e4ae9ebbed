//! `charz sweep`.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use charz_kernels::{Kernel, Params};
use charz_topology::{Backend, Binder, CacheHolds, Machine, Source, discover};

use super::render::read;
use crate::exit::{Error, Exit};
use crate::harness::Bench;
use crate::harness::clock::{Clock, OsClock, TscClock};
use crate::limits::Limits;
use crate::plan::{Plan, Request};
use crate::predict::Predictor;
use crate::render::{plan as plan_table, progress, report as report_table};
use crate::report::{self, Report, Status};
use crate::signals::Signals;
use crate::sweep::{Context, Sweep, new_report};

mod resume;

/// A new sweep, or the rest of an old one.
pub enum Options {
    /// From the start.
    New(New),
    /// From where it ended.
    Resume {
        /// The unfinished report.
        file: PathBuf,
        /// The longest that this sitting may take.
        budget: Duration,
    },
}

/// What to measure, and how.
pub struct New {
    /// The cells.
    pub request: Request,
    /// What stamps.
    pub clock: ClockKind,
    /// What binds.
    pub binder: Backend,
    /// The report's file; `None` takes a name made of the date.
    pub output: Option<PathBuf>,
    /// Whether an existing file may be replaced.
    pub force: bool,
    /// Whether only the plan is wanted.
    pub dry_run: bool,
}

/// What stamps starts and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// The operating system's monotonic clock.
    Os,
    /// The time-stamp counter.
    Tsc,
}

/// The longest name of an output file in bytes: the temporary file beside it has a longer one, and 255 is the most on
/// Linux's file systems.
const MOST_NAME: usize = 230;

pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<Exit, Error> {
    match options {
        Options::New(new) => start(&new, out),
        Options::Resume { file, budget } => resume::run(file, budget, out),
    }
}

fn start(options: &New, out: &mut dyn Write) -> Result<Exit, Error> {
    // Before anything is measured: a sweep that cannot be kept is not begun.
    let file = if options.dry_run { None } else { Some(output(options)?) };
    let stage = Stage::set(options.clock, options.binder)?;
    let limits = Limits::read();
    let request = &options.request;
    let bench = stage.bench();
    let predictor = Predictor::pilot(&request.kernels, &request.params, bench);
    if let Some((exit, _)) = stage.signals.received() {
        return Ok(exit);
    }
    let plan = Plan::new(request, &stage.machine, &limits, &predictor)?;
    let Some(file) = file else {
        plan_table::write(&plan, &limits, out)?;
        return Ok(Exit::Done);
    };
    let context = Context {
        machine: &stage.machine,
        limits: &limits,
        clock: stage.clock.name(),
        binder: &options.binder.to_string(),
    };
    let mut report = new_report(&plan, &context);
    create(&file, &report, options.force)?;
    stage.sweep(&mut report, plan.params, &predictor, request.budget, &file, out)
}

/// What does not change during a sitting.
struct Stage {
    machine: Machine,
    binder: Binder,
    clock: Box<dyn Clock>,
    signals: Signals,
    begun: Instant,
}

impl Stage {
    fn set(clock: ClockKind, binder: Backend) -> Result<Self, Error> {
        let begun = Instant::now();
        // First the machine: it reads the affinity mask, which seated threads do not have any more.
        let machine = discover(&Source::ThisMachine)?;
        let binder = Binder::new(binder)?;
        let clock: Box<dyn Clock> = match clock {
            ClockKind::Os => Box::new(OsClock::default()),
            ClockKind::Tsc => Box::new(
                TscClock::calibrate()
                    .map_err(|reason| Error::environment(format!("--clock: no tsc here: {reason}; take --clock os")))?,
            ),
        };
        Ok(Stage { machine, binder, clock, signals: Signals::catch()?, begun })
    }

    fn bench(&self) -> Bench<'_> {
        Bench {
            binder: &self.binder,
            clock: self.clock.as_ref(),
            stop: self.signals.stop(),
            strands: worth(&self.machine),
        }
    }

    fn sweep(
        &self,
        report: &mut Report,
        params: Params,
        predictor: &Predictor,
        budget: Duration,
        file: &Path,
        out: &mut dyn Write,
    ) -> Result<Exit, Error> {
        let sweep = Sweep {
            bench: self.bench(),
            params,
            predictor,
            limits: &Limits::read,
            // Discovery and pilots are a part of the sitting.
            budget: budget.saturating_sub(self.begun.elapsed()),
            last_cache_bytes: last_cache(&self.machine),
            file,
        };
        let signal = || self.signals.received().map(|(_, name)| name);
        let mut progress = progress::on_stderr(std::io::stderr().is_terminal());
        let swept = sweep.run(report, &signal, progress.as_mut());
        // Also after a failure: what was measured is told even when it could not be saved.
        let told = tell(report, file, out);
        swept?;
        match told {
            // Whoever reads has seen enough; how the sweep ended is told all the same.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(self.exit(report)),
        }
    }

    fn exit(&self, report: &Report) -> Exit {
        let any = |status| report.cells.iter().any(|cell| cell.outcome.status == status);
        match self.signals.received() {
            Some((exit, _)) => exit,
            None if any(Status::Wrong) => Exit::Wrong,
            None if any(Status::Failed) => Exit::Environment,
            None => Exit::Done,
        }
    }
}

fn tell(report: &Report, file: &Path, out: &mut dyn Write) -> std::io::Result<()> {
    report_table::write_summary(report, out)?;
    writeln!(out, "report: {}", file.display())?;
    out.flush()
}

/// How many workers run at once: the usable strands, or fewer if a CPU quota says so.
fn worth(machine: &Machine) -> usize {
    let strands = machine.usable_strands().count();
    let quota = machine.usable.quota_cpus.map_or(strands, |cpus| cpus.ceil() as usize);
    strands.min(quota).max(1)
}

/// The largest cache for data that any one strand reaches.
fn last_cache(machine: &Machine) -> Option<u64> {
    machine
        .caches
        .iter()
        .filter(|cache| cache.holds != CacheHolds::Instruction)
        .filter_map(|cache| cache.size_bytes)
        .max()
}

/// The output's path, refused before anything is measured if it cannot become a report.
fn output(options: &New) -> Result<PathBuf, Error> {
    let file = options.output.clone().unwrap_or_else(dated_name);
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Some(name) = file.file_name().filter(|_| !file.is_dir()) else {
        return Err(Error::bad_input(format!("--output: {file:?} is a folder; name a file in it")));
    };
    if name.len() > MOST_NAME {
        return Err(Error::bad_input(format!("--output: the file's name has more than {MOST_NAME} bytes; shorten it")));
    }
    if !folder.is_dir() {
        return Err(Error::bad_input(format!("--output: there is no folder {folder:?}; create it first")));
    }
    match file.symlink_metadata() {
        Err(_) => Ok(file),
        Ok(_) if !options.force => Err(exists(&file)),
        // The report takes the place of the file behind a link, not that of the link.
        Ok(_) => match file.canonicalize() {
            Ok(target) if target.is_file() => Ok(target),
            _ => Err(Error::bad_input(format!("--output: {file:?} is no regular file; --force replaces only those"))),
        },
    }
}

fn exists(file: &Path) -> Error {
    Error::bad_input(format!("--output: {file:?} exists; name another file, or replace it with --force"))
}

/// `charz-20260131-120000.json`, in UTC.
fn dated_name() -> PathBuf {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let digits: String = now.chars().filter(char::is_ascii_digit).collect();
    PathBuf::from(format!("charz-{}-{}.json", &digits[..8], &digits[8..]))
}

/// Puts the report with everything pending where it will stand, so that nothing is measured that cannot be kept.
fn create(file: &Path, report: &Report, force: bool) -> Result<(), Error> {
    let written = if force { report::save(file, report) } else { report::write_new(file, report) };
    written.map_err(|error| match error.kind() {
        Some(ErrorKind::AlreadyExists) => exists(file),
        Some(ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded) => {
            Error::environment("--output: the disk or a limit is full; make room or name a file elsewhere")
                .caused_by(error)
        }
        _ => Error::bad_input("--output: no report can be written there; name a file elsewhere").caused_by(error),
    })
}

/// The kernels that a report's cells name, as far as this program has them.
fn kernels_of(report: &Report) -> Vec<&'static dyn Kernel> {
    report.plan.kernels.iter().filter_map(|name| charz_kernels::find(name)).collect()
}
