//! What does not change during a session.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};

use charz_kernels::{Kernel, Params};
use charz_topology::{Backend, Binder, Machine, Mapping, Order, Present, Source, discover, parse_mappings, place};

use super::ClockKind;
use super::recorder::{JournalRecorder, cannot_record, stopper};
use crate::anonymous::anonymous;
use crate::exit::{Error, Exit};
use crate::log;
use crate::permit::Permitted;
use crate::provenance::tool;
use crate::signals::Signals;
use crate::view::look;
use crate::view::progress::{Progress, interject, note, why};
use charz_data::escape::counted;
use charz_data::report::{Cell, Ending, Report, Status, Timer, Tool};
use charz_data::{COMMAND, units};
use charz_measure::doctor::quiet::{self, Quiet};
use charz_measure::harness::clock::{self, Rates, Stamps, TscClock};
use charz_measure::harness::fingerprint::Fingerprint;
use charz_measure::invoke::{GRACE, Invoke, MeasureRequest, Processes};
use charz_measure::limits::Limits;
use charz_measure::lock::{LockError, MachineLock};
use charz_measure::plan::{Budget, PROGRAMS, Request, nanos};
use charz_measure::predict::Predictor;
use charz_measure::sweep::{Adaptive, Context, Listener, Recorder, Sweep};
use charz_measure::user_program::{Words, longest};
use charz_render::formats::ReportWriter;

/// Some 100,000 readings of the clock.
const WATCH: Duration = Duration::from_millis(3);

/// The machine, the clock, the signals, and the right to measure here.
pub(crate) struct MeasuringContext {
    pub(crate) machine: Machine,
    pub(crate) signals: Signals,
    pub(crate) timer: Timer,
    clock: &'static str,
    stamps: Stamps,
    binder: String,
    begun: Instant,
    tool: Tool,
    /// Whether what is printed does not say whose the report is.
    pub(super) is_anonymous: bool,
    /// No other process measures on this machine while it is held.
    _lock: MachineLock,
}

/// Whether another process measures on this machine.
pub(super) fn is_taken() -> bool {
    matches!(MachineLock::acquire(false, &|_| {}, &|| false), Err(LockError::Busy { .. }))
}

/// The machine's lock, and the signals that end a wait for it.
pub(super) struct Held {
    signals: Signals,
    lock: MachineLock,
}

impl Held {
    /// Waits for the lock if `wait` says so, and prints what for unless it is `quiet`.
    pub(super) fn take(wait: bool, quiet: bool) -> Result<Self, Error> {
        let refused = |error| Error::environment("the system refused the signal handlers").caused_by(error);
        let signals = Signals::catch().map_err(refused)?;
        let waits = |holder: &str| {
            if !quiet {
                note(&format!("waiting for {holder}"));
            }
        };
        let lock = MachineLock::acquire(wait, &waits, &|| signals.stop().raised()).map_err(|error| match error {
            LockError::Cancelled => Error::new(signals.received().map_or(Exit::Environment, |(exit, _)| exit), error),
            _ => Error::new(Exit::Environment, error),
        })?;
        if let Some(path) = lock.unshared().filter(|_| !quiet) {
            note(&format!(
                "the lock {path:?} is in a folder of this user: another user's charz may measure at the same time; set CHARZ_LOCK_DIR to \
                 one folder for all"
            ));
        }
        Ok(Held { signals, lock })
    }
}

impl MeasuringContext {
    /// Takes the machine's lock, as [`Held::take`] does, and looks at the machine and at the clock.
    pub(crate) fn set(clock: ClockKind, backend: Backend, wait: bool, quiet: bool) -> Result<Self, Error> {
        Self::of(Held::take(wait, quiet)?, clock, backend)
    }

    pub(super) fn of(held: Held, clock: ClockKind, backend: Backend) -> Result<Self, Error> {
        // A wait for the lock is no part of a budget.
        let begun = Instant::now();
        let machine = discover(&Source::ThisMachine)?;
        let rates = Rates::measure();
        if let Some(reason) = rates.disagreement(clock::claimed_hz()) {
            return Err(Error::environment(format!("nothing was measured: {reason}")));
        }
        let tsc = || TscClock::calibrate(&rates).map(|tsc| Stamps::Tsc { nanos_per_tick: tsc.nanos_per_tick });
        let stamps = match clock {
            ClockKind::Os => Stamps::Os,
            ClockKind::Realtime => Stamps::Realtime,
            ClockKind::Auto => tsc().unwrap_or(Stamps::Os),
            ClockKind::Tsc => tsc()
                .map_err(|reason| Error::environment(format!("--clock: no tsc here: {reason}; take --clock os")))?,
        };
        let clock = stamps.clock();
        let strands: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
        let skew_ns = clock::skew(clock.as_ref(), &Binder::new(backend), &strands);
        let timer = Timer { skew_ns, ..clock::watch(clock.as_ref(), WATCH) };
        log::line("clock", || format!("{}, {timer:?}; seats on {} CPUs by {backend}", clock.name(), strands.len()));
        Ok(MeasuringContext {
            clock: clock.name(),
            timer,
            stamps,
            binder: backend.to_string(),
            machine,
            signals: held.signals,
            begun,
            tool: tool(),
            is_anonymous: false,
            _lock: held.lock,
        })
    }

    /// Waits until other programs leave the machine alone, at most as long as that, and reports how it is then. No part of a
    /// budget.
    pub(crate) fn wait_quiet(&mut self, most: Option<Duration>) {
        let Some(most) = most else { return };
        let waiting = Instant::now();
        let processes = self.processes();
        let rest = |time| {
            processes.rest(time);
            !self.signals.stop().raised()
        };
        let report = |what: &str, busy: f64| {
            let took = units::duration(waiting.elapsed());
            note(&format!("{what}: other programs use {busy:.2} CPUs after {took} of waiting"));
        };
        match quiet::wait(most, rest) {
            Ok(Quiet::Now(busy)) => report("the machine is quiet", busy),
            Ok(Quiet::Never(busy)) => report("the machine is still busy; measuring anyway", busy),
            Ok(Quiet::Cancelled) => {}
            Err(why) => note(&format!("--wait-quiet: {why}; measuring at once")),
        }
        self.begun += waiting.elapsed();
    }

    /// What is left of a budget, of which discovery and pilots are a part.
    pub(crate) fn left(&self, budget: Duration) -> Duration {
        budget.saturating_sub(self.begun.elapsed())
    }

    /// What a report of this session says about its origin.
    pub(crate) fn context<'a>(&'a self, command: &'a str, limits: &'a Limits) -> Context<'a> {
        Context {
            tool: &self.tool,
            command,
            machine: &self.machine,
            limits,
            clock: self.clock,
            binder: &self.binder,
            timer: self.timer.clone(),
            issue_width: None,
        }
    }

    pub(crate) fn processes(&self) -> Processes<'_> {
        Processes::new(self.signals.stop(), self.signals.wake(), &interject)
    }

    pub(crate) fn order(&self, params: &Params) -> MeasureRequest {
        MeasureRequest {
            strands: self.machine.worth() as u64,
            stamps: self.stamps,
            binder: self.binder.clone(),
            time_box_ns: PILOT_TIME.as_nanos() as u64,
            deadline_ns: PILOT_TIME.as_nanos() as u64,
            ..MeasureRequest::new(params)
        }
    }

    /// From pilots, which take a quarter of what is left of the budget at most.
    pub(crate) fn predictor(
        &self,
        kernels: &[&'static dyn Kernel],
        params: &Params,
        budget: Duration,
        invoke: &dyn Invoke,
    ) -> Predictor {
        let seats = self.machine.usable_strands().map(|strand| Some(strand.os_id)).collect();
        Predictor::pilot(kernels, &MeasureRequest { seats, ..self.order(params) }, self.left(budget) / 4, invoke)
    }

    /// The same with the time of the user's program, which may take what is left of `budget`, and no more than its own limit. Also the unit that
    /// it printed behind its number.
    pub(crate) fn with_program(
        &self,
        predictor: Predictor,
        params: &Params,
        program: Option<&Permitted>,
        first: First,
        budget: Budget,
        invoke: &dyn Invoke,
    ) -> Result<(Predictor, Option<String>), Error> {
        let Some(program) = program.map(Permitted::program) else { return Ok((predictor, None)) };
        for (flag, line) in [("--command", Some(&program.command)), ("--setup", program.setup.as_ref())] {
            let checked = line.map_or(Ok(()), |line| Words::split(line).and_then(|words| words.check()));
            checked.map_err(|why| Error::bad_input(format!("{flag}: {why}")))?;
        }
        let (left, own) = (self.left(budget.most()), program.timeout_ns.map(Duration::from_nanos));
        // A resumed sweep may have to write its report only.
        if left.is_zero() {
            return Ok((predictor, None));
        }
        let limit = own.map_or(left, |own| own.min(left));
        let usual = || Ok::<_, Error>(parse_mappings(PROGRAMS)?.swap_remove(0));
        let mapping = first.mapping.map_or_else(usual, Ok)?;
        let (order, usable) = (mapping.order(&self.machine)?, self.machine.usable_strands().count());
        let strands = if let Order::Strands(strands) = &order { strands.len() } else { usable };
        // No more than CPUs: a program in copies would take turns.
        let seats = place(&order, first.threads.unwrap_or(strands).min(usable)).seats;
        let threads = match program.in_copies() {
            true => format!("{} at once", counted(seats.len(), "run")),
            false => counted(seats.len(), "thread"),
        };
        let order = MeasureRequest {
            seats,
            mapping: mapping.to_string(),
            program: Some(program.clone()),
            time_box_ns: nanos(limit),
            deadline_ns: nanos(longest(program, limit, 1).min(left).saturating_add(GRACE)),
            ..self.order(params)
        };
        let (predictor, run) = predictor.with_program(&order, invoke);
        match run {
            Some(failed) if failed.ending == Ending::TimedOut && self.left(budget.most()).is_zero() => {
                Err(Error::environment(format!(
                    "--command: a first run with {threads} did not end within the budget of {}; {}",
                    units::duration(budget.most()),
                    budget.remedy()
                )))
            }
            Some(failed) if ![Ending::Done, Ending::Stopped].contains(&failed.ending) => {
                let why = failed.reason.filter(|_| !self.is_anonymous).map(|why| format!(": {why}"));
                note(&format!("--command: a first run with {threads} failed{}", why.unwrap_or_default()));
                Ok((predictor, None))
            }
            run => {
                let runs = run.into_iter().flat_map(|run| run.runs);
                Ok((predictor, runs.filter_map(|run| run.printed_unit).next()))
            }
        }
    }

    /// The sweep that fills a report, with the program of its plan.
    pub(crate) fn sweep_of<'a>(
        &'a self,
        report: &'a mut Report,
        program: Option<&Permitted>,
        recorder: &'a mut dyn Recorder,
        invoke: &'a dyn Invoke,
        predictor: &'a Predictor,
        budget: Duration,
    ) -> Sweep<'a> {
        let params = report.plan.params;
        let program = program.map(|program| program.program().clone());
        let order = MeasureRequest { program, ..self.order(&params) };
        Sweep {
            report,
            recorder,
            invoke,
            order,
            machine: &self.machine,
            stop: self.signals.stop(),
            predictor,
            limits: &Limits::read,
            present: &Present::read,
            fingerprint: &Fingerprint::read,
            firsts: HashMap::new(),
            budget,
            is_brief: false,
            adaptive: Adaptive::default(),
        }
    }

    pub(super) fn sweep(
        &self,
        report: &mut Report,
        session: &Session<'_>,
        mut recorder: Option<JournalRecorder>,
        out: &mut dyn Write,
    ) -> Result<Exit, Error> {
        let mut progress: Box<dyn Listener> =
            if session.quiet { Box::new(()) } else { Box::new(Progress::on_stderr(report.anonymous)) };
        let (processes, before, budget) = (self.processes(), self.begun.elapsed(), self.left(session.budget));
        let mut sweep = self.sweep_of(report, session.program, &mut recorder, &processes, session.predictor, budget);
        sweep.is_brief = session.is_brief;
        let swept = sweep.run(progress.as_mut());
        // What went before it is of the budget too.
        report.wall_ns = report.wall_ns.saturating_add(nanos(before));
        report.file = recorder.as_ref().map(JournalRecorder::name);
        if let Some((_, name)) = self.signals.received() {
            report.stopped_by = Some(name.into());
        } else if let Err(error) = &swept {
            report.stopped_by = Some(stopper(error));
        }
        let shown = if report.anonymous { Cow::Owned(anonymous(report.clone())) } else { Cow::Borrowed(&*report) };
        // The numbers first: they are printed even if the file cannot be written.
        let told = if session.quiet { Ok(()) } else { session.format.write(&shown, &look::of_stdout(), out) };
        let finishing = self.signals.let_finish();
        let file = recorder.map(|recorder| recorder.finish(&shown)).transpose();
        drop(finishing);
        swept.map_err(cannot_record)?;
        let told = match file? {
            Some(file) => told.and_then(|()| super::tell_file(&file, session, out)),
            None => told,
        };
        match told {
            // The reader has closed the pipe; the exit code still reports how the sweep ended.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => {
                let exit = self.signals.received().map_or_else(|| exit(report, session.strict), |(exit, _)| exit);
                // No table says it.
                why(&shown, exit).filter(|_| session.quiet).iter().for_each(|why| note(why));
                Ok(exit)
            }
        }
    }

    /// How to end where a signal came or something went wrong, if so.
    pub(crate) fn failure(&self, reports: &[&Report]) -> Option<Exit> {
        self.signals.received().map(|(exit, _)| exit).or_else(|| failure(reports))
    }
}

/// Where the first run of a program is: as the configurations that follow it.
pub(crate) struct First {
    /// `None` takes the first of those that programs are measured with.
    mapping: Option<Mapping>,
    /// The largest number of threads; `None` takes one for each strand of the mapping.
    threads: Option<usize>,
}

impl First {
    pub(crate) fn of(request: &Request) -> Self {
        let mapping = request.mappings.as_ref().and_then(|mappings| mappings.first()).cloned();
        First { mapping, threads: request.threads.most() }
    }

    /// Of what a report measured. A mapping that does not fit this machine is left out.
    pub(crate) fn of_cells<'a>(cells: impl Iterator<Item = &'a Cell>, machine: &Machine) -> Self {
        let cells: Vec<&Cell> = cells.filter(|cell| cell.kernel == COMMAND).collect();
        let mapping = cells.first().and_then(|cell| Mapping::of_data(&cell.mapping).ok());
        First {
            mapping: mapping.filter(|mapping| mapping.order(machine).is_ok()),
            threads: cells.iter().map(|cell| cell.seats.len()).max(),
        }
    }
}

/// How a command ends whose result is this report.
pub(super) fn exit(report: &Report, strict: bool) -> Exit {
    match failure(&[report]) {
        Some(exit) => exit,
        // A budget that was used up before the first number, e.g. by waiting, or nothing that can be measured here.
        None if report.cells.iter().all(|cell| cell.value().is_none()) => Exit::NoVerdict,
        // What was not to be measured is no result.
        None if strict && report.cells.iter().any(|cell| ![Status::Ok, Status::Skipped].contains(&cell.status)) => {
            Exit::NoVerdict
        }
        None => Exit::Done,
    }
}

fn failure(reports: &[&Report]) -> Option<Exit> {
    let ended = |ending| {
        let mut invocations = reports.iter().flat_map(|report| &report.cells).flat_map(|cell| &cell.invocations);
        invocations.any(|invocation| invocation.ending == ending)
    };
    if ended(Ending::Wrong) {
        return Some(Exit::Wrong);
    }
    let away = |report: &&Report| report.cells.iter().any(Cell::is_away);
    let refused = [Ending::Refused, Ending::Died, Ending::TimedOut].into_iter().any(ended);
    (refused || reports.iter().any(away)).then_some(Exit::Environment)
}

/// What is measured with from start or resume to the end of the process.
pub(super) struct Session<'a> {
    pub(super) predictor: &'a Predictor,
    pub(super) program: Option<&'a Permitted>,
    /// The longest that it may take, what went before the sweep included.
    pub(super) budget: Duration,
    pub(super) is_brief: bool,
    pub(super) strict: bool,
    pub(super) quiet: bool,
    pub(super) format: &'a dyn ReportWriter,
}

/// A pilot takes milliseconds; one that takes longer than this is stuck.
const PILOT_TIME: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::Unit;
    use charz_data::report::fixtures::{barren, cell, report};

    #[test]
    fn what_was_not_to_be_measured_is_no_unreliable_result() {
        let of = |status, invocations| {
            let [one, two] = [1, 2].map(|threads| cell("arith-int", threads, Unit::OpsPerSecond, 1e9));
            let other = Cell { invocations, ..two.unmeasured(status, "too large") };
            exit(&report(vec![one, other]), true)
        };
        assert_eq!(of(Status::Skipped, Vec::new()), Exit::Done);
        assert_eq!(of(Status::Pending, Vec::new()), Exit::NoVerdict);
        assert_eq!(of(Status::Skipped, vec![barren(Ending::Refused)]), Exit::Environment);
    }
}
