//! `charz selftest`: `charz ab` of this machine against itself, with equal sides and with an injected slowdown.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use charz_topology::Backend;

use super::sweep::{ClockKind, MeasuringContext, cannot_record};
use crate::exit::{Error, Exit};
use crate::invoke::{Invoke, Processes};
use crate::limits::Limits;
use crate::noise::{Floor, Floors, Subject, noise_file};
use crate::plan::{Plan, Request};
use crate::predict::Predictor;
use crate::selftest::{Planted, Tally};
use crate::sweep::{new_report, take_turns};
use crate::view::progress::note;
use charz_analysis::compare::{self, Row, Verdict};
use charz_analysis::point;
use charz_data::escape::{counted, plain};
use charz_data::report::{Cell, Report};
use charz_data::units;

pub struct Options {
    /// Kernels under one mapping with one number of workers. Its budget is that of the whole, its iterations are ignored.
    pub request: Request,
    /// How many comparisons of equal sides, at least 1.
    pub rounds: usize,
    /// The slowdown to inject, as a fraction, in as many further comparisons.
    pub planted: Option<f64>,
    pub wait: bool,
    pub allow_suspect: bool,
    /// The file of noise floors; `None` takes the user's.
    pub noise: Option<PathBuf>,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    // Before anything is measured: a floor that cannot be kept is not learned.
    let file = noise_file(options.noise.as_deref())
        .ok_or_else(|| Error::bad_input("--noise: there is no home for the file; name one"))?;
    let mut floors = Floors::read(&file)
        .map_err(|why| Error::bad_input(format!("--noise: {file:?} {why}; name another file, or remove it")))?;
    let stage = MeasuringContext::set(ClockKind::Auto, Backend::Hwloc, options.wait)?;
    let limits = Limits::read();
    let request = &options.request;
    let fitted = request.fit(&stage.machine, &limits)?;
    let predictor = stage.predictor(&request.kernels, &request.params, &stage.processes());
    let iterations = Some(predictor.iterations(&request.kernels, SPAN));
    let request = &Request { iterations, ..request.clone() };
    let plan = Plan::new(request, fitted, &limits, &predictor);
    let blank = Report { floor: Vec::new(), ..new_report(&plan, &stage.context("", &limits)) };
    let mut trial = Trial { stage: &stage, plan: &plan, predictor: &predictor, blank: &blank, options, done: 0 };
    let findings = trial.findings(&stage.processes(), request.budget.least())?;
    for (cell, [equal, planted]) in blank.cells.iter().zip(&findings) {
        write_finding(cell, equal, options.planted.map(|share| (share, planted)), out)?;
    }
    if let Some((exit, _)) = stage.signals.received() {
        // The next comparison would rely on a floor of too few.
        return Ok(exit);
    }
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut learned = false;
    for ([equal, _], cell) in findings.iter().zip(&blank.cells) {
        let Some(floor) = equal.floor() else { continue };
        let comparisons = equal.effects.len() as u64;
        floors.learn(Floor { subject: Subject::of(&blank, cell), floor, comparisons, learned: now.clone() });
        learned = true;
    }
    if !learned {
        return Err(Error::environment(
            "nothing could be compared; charz doctor reports what disturbs measurements here",
        ));
    }
    floors.save(&file).map_err(|error| {
        Error::environment(format!("--noise: {file:?} cannot be written; name another file")).caused_by(error)
    })?;
    note(&format!("noise floors: {file:?}"));
    Ok(Exit::Done)
}

/// About how long a repetition takes: longer than the millisecond below which a clock is doubted, shorter than the time slice of
/// a scheduler, so most repetitions end before they are disturbed.
const SPAN: Duration = Duration::from_micros(1500);

struct Trial<'a> {
    stage: &'a MeasuringContext,
    plan: &'a Plan,
    predictor: &'a Predictor,
    blank: &'a Report,
    options: &'a Options,
    done: usize,
}

const PROGRESS: Duration = Duration::from_secs(10);

impl Trial<'_> {
    /// Alternates comparisons of equal sides with those of an injected slowdown, so both see the same state of the machine.
    /// The first of each cell's tallies is that of equal sides.
    fn findings(&mut self, processes: &Processes<'_>, budget: Duration) -> Result<Vec<[Tally; 2]>, Error> {
        let mut findings = vec![<[Tally; 2]>::default(); self.blank.cells.len()];
        let planted = self.options.planted.map(|share| Planted { inner: processes, share });
        let seconds: Vec<&dyn Invoke> = [Some(processes as &dyn Invoke), planted.as_ref().map(|planted| planted as _)]
            .into_iter()
            .flatten()
            .collect();
        let all = self.options.rounds * seconds.len();
        let mut random = fastrand::Rng::with_seed(self.plan.seed);
        let begun = Instant::now();
        let mut noted = begun;
        for comparison in 0..all {
            let at = comparison % seconds.len();
            if self.stage.signals.stop().raised() || !self.fits(begun, budget) {
                break;
            }
            let rows = self.compare([processes, seconds[at]], random.u64(..), self.stage.left(budget))?;
            if self.stage.signals.stop().raised() {
                break;
            }
            self.done += 1;
            findings.iter_mut().zip(&rows).for_each(|(finding, row)| finding[at].count(row));
            if noted.elapsed() >= PROGRESS {
                noted = Instant::now();
                let left = begun.elapsed().mul_f64((all - self.done) as f64 / self.done as f64);
                note(&format!("{} of {all} comparisons, {} left", self.done, units::duration(left)));
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
        let (mut none_a, mut none_b) = ((), ());
        let mut sides = [
            self.stage.sweep_of(&mut a, &mut none_a, invoke[0], self.predictor, budget),
            self.stage.sweep_of(&mut b, &mut none_b, invoke[1], self.predictor, budget),
        ];
        take_turns(&mut sides, seed, &mut ()).map_err(cannot_record)?;
        let rules = compare::Options { allow_suspect: self.options.allow_suspect, ..compare::Options::default() };
        Ok(compare::interleaved(&a, &b, &rules).rows)
    }
}

/// The paragraph of a cell; `planted` is the injected slowdown as a fraction, and what was found of it.
fn write_finding(cell: &Cell, equal: &Tally, planted: Option<(f64, &Tally)>, out: &mut dyn Write) -> io::Result<()> {
    let kernel = format!("{}{}", plain(&cell.kernel), point::label(&cell.point));
    writeln!(out, "{kernel}, {} against itself:", counted(cell.workers as usize, "worker"))?;
    let false_verdicts = equal.times(Verdict::Faster) + equal.times(Verdict::Slower);
    writeln!(out, "  {false_verdicts} of {} false verdicts{}", equal.verdicts.len(), unsettled(equal))?;
    if let Some((share, tally)) = planted {
        let (found, percent) = (tally.times(Verdict::Slower), units::percent(share));
        writeln!(out, "  a planted {percent} was found in {found} of {}{}", tally.verdicts.len(), unsettled(tally))?;
    }
    if let (Some(median), Some(floor), Some(max)) = (equal.quantile(0.5), equal.floor(), equal.quantile(1.0)) {
        // Fractions of a percent matter here.
        let [median, floor, max] = [median, floor, max].map(|share| format!("{:.2}%", share * 100.0));
        writeln!(out, "  differences between equal sides: median {median}, 95th percentile {floor}, max {max}")?;
        writeln!(out, "  the noise floor of {kernel} here is {floor}")?;
    } else {
        writeln!(out, "  nothing could be compared: no noise floor was learned")?;
    }
    let mut reasons = BTreeMap::<&str, usize>::new();
    for (reason, times) in equal.reasons.iter().chain(planted.iter().flat_map(|(_, tally)| &tally.reasons)) {
        *reasons.entry(reason).or_default() += times;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    for (reason, times) in reasons.into_iter().take(MOST_REASONS) {
        writeln!(out, "  no verdict in {}: {}", counted(times, "comparison"), plain(reason))?;
    }
    Ok(())
}

const MOST_REASONS: usize = 4;

fn unsettled(tally: &Tally) -> String {
    let parts = [(Verdict::Inconclusive, "inconclusive"), (Verdict::Uncompared, "not compared")];
    let parts = parts.map(|(verdict, word)| (tally.times(verdict), word)).into_iter();
    let parts = parts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}
