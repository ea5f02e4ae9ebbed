//! `charz selftest`: this machine against itself.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use charz_topology::Backend;

use super::sweep::{ClockKind, Stage};
use super::turns::{self, noise_file, subject, take_turns};
use crate::compare::{self, Row};
use crate::exit::{Error, Exit};
use crate::invoke::{Invoke, Processes};
use crate::limits::Limits;
use crate::noise::{Floor, Floors};
use crate::plan::{Plan, Request};
use crate::predict::Predictor;
use crate::render::human;
use crate::render::progress::note;
use crate::render::selftest as page;
use crate::report::Report;
use crate::selftest::{Finding, Planted, Tally};
use crate::sweep::{Context, Listener, NoRecorder, new_report};

/// What to compare with itself, and how often.
pub struct Options {
    /// What is measured: kernels under one mapping with one number of workers. Its budget is that of the whole, and its
    /// iterations are not looked at.
    pub request: Request,
    /// How many comparisons of equal sides, at least 1.
    pub rounds: usize,
    /// The work that the second side does beyond what it is credited with, as a fraction, in as many comparisons more.
    pub planted: Option<f64>,
    /// Whether to wait for another that is measuring.
    pub wait: bool,
    /// Whether suspect cells are compared.
    pub allow_suspect: bool,
    /// The file of noise floors; `None` takes the user's.
    pub noise: Option<PathBuf>,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    // Before anything is measured: what cannot be kept is not learned.
    let file = noise_file(options.noise.as_deref())
        .ok_or_else(|| Error::bad_input("--noise: there is no home for the file; name one"))?;
    let mut floors = Floors::read(&file)
        .map_err(|why| Error::bad_input(format!("--noise: {file:?} {why}; name another file, or remove it")))?;
    let stage = Stage::set(ClockKind::Auto, Backend::Hwloc, options.wait)?;
    let limits = Limits::read();
    let request = &options.request;
    let fitted = request.fit(&stage.machine, &limits)?;
    let predictor = stage.predictor(&request.kernels, &request.params);
    let iterations = Some(predictor.iterations(&request.kernels, SPAN));
    let request = &Request { iterations, ..request.clone() };
    let plan = Plan::new(request, fitted, &limits, &predictor);
    let context = Context {
        machine: &stage.machine,
        limits: &limits,
        clock: stage.clock(),
        binder: &Backend::Hwloc.to_string(),
        timer: stage.timer(),
    };
    let blank = Report { floor: Vec::new(), ..new_report(&plan, &context) };
    let mut machine = Trial { stage: &stage, plan: &plan, predictor: &predictor, blank: &blank, options, done: 0 };
    let processes = stage.processes();
    let findings = machine.findings(&processes, request.budget.least())?;
    page::write(&findings, options.planted, out)?;
    if let Some((exit, _)) = stage.signals.received() {
        // Of a part of the comparisons no floor is learned that the next user would rely on.
        return Ok(exit);
    }
    let learned = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    for (finding, cell) in findings.iter().zip(&blank.cells) {
        if let Some(floor) = finding.equal.floor() {
            let subject = subject(&blank, cell);
            let comparisons = finding.equal.effects.len() as u64;
            floors.learn(Floor { subject, floor, comparisons, learned: learned.clone() });
        }
    }
    if findings.iter().any(|finding| finding.equal.floor().is_some()) {
        floors.save(&file).map_err(|error| {
            Error::environment(format!("--noise: {file:?} cannot be written; name another file")).caused_by(error)
        })?;
        note(&format!("noise floors: {file:?}"));
        return Ok(Exit::Done);
    }
    Err(Error::environment("nothing could be compared; see charz doctor for what disturbs measurements here"))
}

/// What a repetition is to take, about: more than the millisecond below which a clock is doubted, and less than the turns of
/// some milliseconds that a scheduler gives, so that most repetitions are over before they are disturbed.
const SPAN: Duration = Duration::from_micros(1500);

/// Everything that all comparisons have in common.
struct Trial<'a> {
    stage: &'a Stage,
    plan: &'a Plan,
    predictor: &'a Predictor,
    blank: &'a Report,
    options: &'a Options,
    /// Comparisons made.
    done: usize,
}

/// Often enough to see that it lives, seldom enough for a log.
const TOLD_EVERY: Duration = Duration::from_secs(10);

struct Silent;

impl Listener for Silent {}

impl Trial<'_> {
    /// Comparisons of equal sides and of sides with a planted difference by turns, so that both meet the same machine.
    fn findings(&mut self, processes: &Processes<'_>, budget: Duration) -> Result<Vec<Finding>, Error> {
        let mut findings: Vec<Finding> = self
            .blank
            .cells
            .iter()
            .map(|cell| Finding {
                kernel: cell.kernel.clone(),
                workers: cell.workers,
                point: cell.point,
                equal: Tally::default(),
                planted: Tally::default(),
            })
            .collect();
        let planted = self.options.planted.map(|share| Planted { inner: processes, share });
        let all = self.options.rounds * if planted.is_some() { 2 } else { 1 };
        let mut told = Instant::now();
        let mut random = fastrand::Rng::with_seed(self.plan.seed);
        let begun = Instant::now();
        for _ in 0..self.options.rounds {
            for second in [Some(processes as &dyn Invoke), planted.as_ref().map(|planted| planted as _)] {
                let Some(second) = second else { continue };
                if self.stage.signals.stop().raised() || !self.fits(begun, budget) {
                    return Ok(findings);
                }
                let rows = self.compare([processes, second], random.u64(..), self.stage.left(budget))?;
                if self.stage.signals.stop().raised() {
                    return Ok(findings);
                }
                self.done += 1;
                let equal = std::ptr::addr_eq(second, processes);
                for (finding, row) in findings.iter_mut().zip(&rows) {
                    if equal { finding.equal.count(row) } else { finding.planted.count(row) }
                }
                if told.elapsed() >= TOLD_EVERY {
                    told = Instant::now();
                    let left = begun.elapsed().mul_f64((all - self.done) as f64 / self.done as f64);
                    note(&format!("{} of {all} comparisons, {} left", self.done, human::duration(left)));
                }
            }
        }
        Ok(findings)
    }

    /// Whether there is time for another comparison, by those that were made.
    fn fits(&self, begun: Instant, budget: Duration) -> bool {
        let typical = begun.elapsed().checked_div(u32::try_from(self.done).unwrap_or(u32::MAX)).unwrap_or_default();
        let fits = self.stage.left(budget) > typical;
        if !fits {
            note("the budget ended before all comparisons were made; give more time with --budget");
        }
        fits
    }

    fn compare(&self, invoke: [&dyn Invoke; 2], seed: u64, budget: Duration) -> Result<Vec<Row>, Error> {
        let (mut a, mut b) = (self.blank.clone(), self.blank.clone());
        let (mut recorder_a, mut recorder_b) = (NoRecorder, NoRecorder);
        let params = self.plan.params;
        let predictor = self.predictor;
        let sides = [
            turns::Side { invoke: invoke[0], params, predictor, report: &mut a, recorder: &mut recorder_a },
            turns::Side { invoke: invoke[1], params, predictor, report: &mut b, recorder: &mut recorder_b },
        ];
        take_turns(self.stage, sides, seed, budget, &mut Silent)?;
        let rules = compare::Options { allow_suspect: self.options.allow_suspect, ..compare::Options::default() };
        Ok(compare::interleaved(&a, &b, &rules).rows)
    }
}
