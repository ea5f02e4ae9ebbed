//! `charz selftest`: `charz ab` of this machine against itself.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use charz_topology::Backend;
use serde::Serialize;

use super::sweep::{ClockKind, MeasuringContext, cannot_record};
use crate::exit::{Error, Exit};
use crate::selftest::{FLOOR_NEEDS, Tally, Told};
use crate::view::present;
use crate::view::progress::note;
use charz_claims::compare::{self, Quantity, Verdict};
use charz_data::escape::{counted, plain};
use charz_data::report::{Cell, Point, Report, Schema};
use charz_data::{Arrange, units};
use charz_measure::invoke::Processes;
use charz_measure::limits::Limits;
use charz_measure::plan::{Plan, Request};
use charz_measure::predict::Predictor;
use charz_measure::sweep::{new_report, take_turns};
use charz_render::json;
use charz_render::look::TerminalStyle;
use charz_words::compare::reason;
use charz_words::point;

pub struct Options {
    /// Kernels under one mapping with one number of workers. Its budget is that of the whole, its iterations are ignored.
    pub request: Request,
    /// How many comparisons of equal sides, at least 1.
    pub rounds: usize,
    pub wait: bool,
    pub rules: compare::Options,
    pub format: &'static Format,
}

pub type Format = charz_render::formats::Format<fn(&Page<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "table",
        about: "",
        write: |page, _, out| page.cells.iter().try_for_each(|cell| write_finding(cell, page, out)),
    },
    Format { name: "json", about: "", write: |page, _, out| json::write_pretty_line(page, out) },
];

/// What a self-test found.
#[derive(Serialize)]
pub struct Page<'a> {
    schema: Schema,
    quantity: Quantity,
    cells: Vec<Finding<'a>>,
}

/// What the comparisons of a cell showed.
#[derive(Serialize)]
struct Finding<'a> {
    kernel: &'a str,
    point: Point,
    mapping: &'a str,
    workers: u64,
    equal: Outcome<'a>,
}

impl<'a> Finding<'a> {
    fn of(cell: &'a Cell, equal: &'a Tally) -> Self {
        Finding {
            kernel: &cell.kernel,
            point: cell.point,
            mapping: &cell.mapping,
            workers: cell.workers,
            equal: Outcome::of(equal),
        }
    }
}

/// How the comparisons ended, and the distances between their sides as fractions.
#[derive(Serialize)]
struct Outcome<'a> {
    comparisons: usize,
    faster: usize,
    slower: usize,
    same: usize,
    inconclusive: usize,
    uncompared: usize,
    median: Option<f64>,
    floor: Option<f64>,
    max: Option<f64>,
    /// Why there was no verdict, and how often.
    reasons: &'a BTreeMap<String, usize>,
}

impl<'a> Outcome<'a> {
    fn of(tally: &'a Tally) -> Self {
        let times = |verdict| tally.times(verdict);
        Outcome {
            comparisons: tally.verdicts.len(),
            faster: times(Verdict::Faster),
            slower: times(Verdict::Slower),
            same: times(Verdict::Same),
            inconclusive: times(Verdict::Inconclusive),
            uncompared: times(Verdict::Uncompared),
            median: tally.quantile(0.5),
            floor: tally.floor(),
            max: tally.quantile(1.0),
            reasons: &tally.reasons,
        }
    }

    /// What has no verdict, in brackets.
    fn unsettled(&self) -> String {
        let parts = [(self.inconclusive, "inconclusive"), (self.uncompared, "not compared")];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let stage = MeasuringContext::set(ClockKind::Auto, Backend::Hwloc, options.wait, false)?;
    let limits = Limits::read();
    let request = &options.request;
    let fitted = request.fit(&stage.machine, &limits)?;
    let predictor = stage.predictor(&request.kernels, &request.params, request.budget.least(), &stage.processes());
    let iterations = Some(predictor.iterations(&request.kernels, SPAN));
    let request = &Request { iterations, ..request.clone() };
    let plan = Plan::new(request, &fitted, &limits, &predictor);
    let blank = Report { floor: Vec::new(), ..new_report(&plan, &stage.context("", &limits)) };
    let mut trial = Trial { stage: &stage, plan: &plan, predictor: &predictor, blank: &blank, options, done: 0 };
    let findings = trial.findings(&stage.processes(), request.budget.least())?;
    let page = Page {
        schema: Schema { name: "charz-selftest".into(), major: 2, minor: 0 },
        quantity: options.rules.quantity,
        cells: blank.cells.iter().zip(&findings).map(|(cell, tally)| Finding::of(cell, tally)).collect(),
    };
    present(options.format, &page, out)?;
    if let Some((exit, _)) = stage.signals.received() {
        return Ok(exit);
    }
    if findings.iter().all(|equal| equal.floor().is_none()) {
        let most = findings.iter().map(|equal| equal.effects.len()).max().unwrap_or(0);
        let fix = match most {
            _ if options.rounds < FLOOR_NEEDS => format!("give --rounds {FLOOR_NEEDS}"),
            0 => String::new(),
            most => {
                let budget = request.budget.least().as_secs_f64() * FLOOR_NEEDS as f64 / most as f64;
                format!("give --budget {}", units::budget(budget))
            }
        };
        let why = match most {
            0 => "nothing could be compared; charz doctor reports what disturbs measurements here".to_owned(),
            _ => format!("no noise floor: it takes {FLOOR_NEEDS} comparisons, and {most} could be made; {fix}"),
        };
        return Err(Error::ended(Exit::NoVerdict, why));
    }
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
    fn findings(&mut self, processes: &Processes<'_>, budget: Duration) -> Result<Vec<Tally>, Error> {
        let mut findings = vec![Tally::default(); self.blank.cells.len()];
        let all = self.options.rounds;
        let mut random = fastrand::Rng::with_seed(self.plan.seed);
        let begun = Instant::now();
        let mut noted = begun;
        for _ in 0..all {
            if self.stage.signals.stop().raised() || !self.fits(begun, budget) {
                break;
            }
            let rows = self.compare(processes, random.u64(..), self.stage.left(budget))?;
            if self.stage.signals.stop().raised() {
                break;
            }
            self.done += 1;
            findings.iter_mut().zip(&rows).for_each(|(finding, row)| finding.count(row));
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

    fn compare(&self, processes: &Processes<'_>, seed: u64, budget: Duration) -> Result<Vec<Told>, Error> {
        let (mut a, mut b) = (self.blank.clone(), self.blank.clone());
        let (mut none_a, mut none_b) = ((), ());
        let mut sides = [
            self.stage.sweep_of(&mut a, None, &mut none_a, processes, self.predictor, budget),
            self.stage.sweep_of(&mut b, None, &mut none_b, processes, self.predictor, budget),
        ];
        take_turns(&mut sides, seed, &mut ()).map_err(cannot_record)?;
        let found = compare::interleaved([&a, &b], &self.options.rules);
        let why = |row: &compare::Row<'_>| row.reason.as_ref().map(|why| reason(why, found.design));
        Ok(found.rows.iter().map(|row| (row.verdict, row.shown.effect, why(row))).collect())
    }
}

/// The paragraph of a cell.
fn write_finding(cell: &Finding<'_>, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Finding { workers, equal, .. } = cell;
    let kernel = format!("{}{}", plain(cell.kernel), point::label(&cell.point));
    let (workers, quantity) = (counted(*workers as usize, "thread"), page.quantity.name());
    writeln!(out, "{kernel}, {workers} against itself, {quantity}:")?;
    let false_verdicts = equal.faster + equal.slower;
    let settled = equal.faster + equal.slower + equal.same;
    let of = counted(equal.comparisons, "comparison");
    writeln!(out, "  {} in {of}, {false_verdicts} false{}", counted(settled, "verdict"), equal.unsettled())?;
    // Fractions of a percent matter here.
    let shown = |share: f64| format!("{:.2}%", share * 100.0);
    if let (Some(median), Some(max)) = (equal.median, equal.max) {
        let floor = equal.floor.map(|floor| format!(", 95th percentile {}", shown(floor))).unwrap_or_default();
        let (median, max) = (shown(median), shown(max));
        writeln!(out, "  differences between equal sides: median {median}{floor}, max {max}")?;
    }
    match equal.floor {
        Some(floor) => writeln!(out, "  the noise floor of {kernel} here is {}", shown(floor))?,
        None => {
            let made = equal.comparisons - equal.uncompared;
            writeln!(out, "  no noise floor: too few comparisons, {made} of the {FLOOR_NEEDS} that it needs")?;
        }
    }
    let mut reasons: Vec<_> = equal.reasons.iter().collect();
    reasons.arrange_by_key(|(_, times)| std::cmp::Reverse(**times));
    for (reason, times) in reasons.into_iter().take(MOST_REASONS) {
        writeln!(out, "  no verdict in {}: {}", counted(*times, "comparison"), plain(reason))?;
    }
    Ok(())
}

const MOST_REASONS: usize = 4;
