//! How good the numbers of a report are, what limits them, and what to do about it.

use std::collections::BTreeMap;

use crate::culprits::{Disturber, disturbers};
use crate::group::grouped;
use charz_data::NO_MATCH;
use charz_data::checks::INTERVAL_NEEDS;
use charz_data::escape::{counted, plain};
use charz_data::report::{Cell, Ending, Estimator, Mark, Report, Severity, Status};
use charz_data::units;

#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    pub level: Level,
    /// How many configurations there are, and how many of them have a reliable number, a noisy one, none.
    pub results: usize,
    pub reliable: usize,
    pub noisy: usize,
    pub missing: usize,
    /// The kernels that have no number in any configuration.
    pub missing_kernels: Vec<String>,
    /// How many others were not to be measured here.
    pub skipped: usize,
    /// The narrowest and the widest 95% interval, as fractions of their numbers: half the width. `None` without intervals.
    pub intervals: Option<(f64, f64)>,
    /// The causes of what is noisy or missing with how many configurations have each, the commonest first.
    pub causes: Vec<(&'static str, usize)>,
    /// What to do about the commonest cause; `None` where nothing limits the numbers. May have foreign words.
    pub fix: Option<String>,
    /// What used the CPUs meanwhile, the most first.
    pub culprits: Vec<Disturber>,
    /// What the machine gave of its capacity while it was measured, as a fraction; `None` where no cell shows both.
    pub delivered: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// At least nine in ten configurations are reliable.
    Good,
    Fair,
    /// Less than half of them are reliable.
    Noisy,
    /// Nothing has a number.
    Empty,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Good => "good",
            Level::Fair => "fair",
            Level::Noisy => "noisy",
            Level::Empty => "no results",
        }
    }
}

/// Causes in the order in which they are named where they are equally common, and the deepest of a configuration first: the checks that
/// show them, and what to do; where that is empty, what the commonest check says.
const CAUSES: [(&str, &[&str], &str); 13] = [
    ("CPU quota", &["V07"], "no more threads than the quota has CPUs, or lift it (charz explain V07)"),
    ("no line of the output matches --value", &[], "the expression of --value, or what the program prints"),
    (
        "fewer threads than asked for",
        &["V36"],
        "write {threads} where the program takes its number of threads, or measure --threads 1 alone",
    ),
    (TOO_FEW, &["V12", "V30"], "charz sweep --resume FILE, or a longer --budget"),
    (
        "CPU contention",
        &["V01", "V02", "V03", "V04", "V05", "V06", "V18", "V33"],
        "stop other programs, or wait for them with --wait-quiet",
    ),
    ("other programs at work", &["V34"], "stop other programs, or wait for them with --wait-quiet"),
    ("runs failed", &["V29"], ""),
    ("ended at another size", &["V35"], "a longer --span"),
    (WIDE, &["V13", "V14", "V15", "V16", "V28"], "a longer --budget"),
    ("clock", &["V08", "V09", "V10", "V11", "V31", "V32"], "charz doctor shows what moves the clock"),
    ("pages", &["V20", "V21", "V22", "V27"], "charz doctor shows which pages can be had"),
    ("more threads than CPUs", &["V19"], "no more threads than CPUs"),
    ("checks", &["V17", "V23", "V24", "V25", "V26"], ""),
];
/// Those of which something else on the machine is the reason.
const CAUSED_BY_OTHERS: [&str; 2] = ["CPU contention", "other programs at work"];

/// Whether something else on the machine is the reason of a check's mark.
pub(crate) fn is_caused_by_others(code: &str) -> bool {
    CAUSES.iter().any(|(cause, codes, _)| CAUSED_BY_OTHERS.contains(cause) && codes.contains(&code))
}
const TOO_FEW: &str = "too few runs";
/// From this share on what the machine gave is not worth a word.
const NEARLY_ALL: f64 = 0.95;
const WIDE: &str = "wide intervals";
/// What to do about them where a sweep made all the runs that it may, and had time left.
const MORE_RUNS: &str = "a quieter machine, or more runs, e.g. --invocations 6-100";
/// How many kernels without a number are named.
const FEW: usize = 3;
/// What has no mark: cells that were not measured.
const NOT_MEASURED: (&str, &str) = ("not measured", "charz sweep --resume FILE, or a longer --budget");

impl Quality {
    pub(super) fn of(report: &Report) -> Self {
        let cells = || report.cells.iter().filter(|cell| cell.status != Status::Skipped);
        let results = cells().count();
        let reliable = cells().filter(|cell| cell.status == Status::Ok && cell.value().is_some()).count();
        let noisy = cells().filter(|cell| cell.is_suspect() && cell.value().is_some()).count();
        let widths = || cells().filter_map(|cell| Some(cell.capacity?.interval?.half_width(cell.value()?)));
        let intervals = widths().reduce(f64::min).zip(widths().reduce(f64::max));
        let mut groups: BTreeMap<usize, Vec<&Cell>> = BTreeMap::new();
        for cell in cells().filter(|cell| cell.status != Status::Ok) {
            groups.entry(cause(cell)).or_default().push(cell);
        }
        let mut causes: Vec<(usize, Vec<&Cell>)> = groups.into_iter().collect();
        causes.sort_by_key(|(at, cells)| (std::cmp::Reverse(cells.len()), *at));
        let known = |at: usize| CAUSES.get(at).map_or(NOT_MEASURED, |(name, _, fix)| (*name, *fix));
        let level = match reliable {
            _ if reliable + noisy == 0 => Level::Empty,
            all if all * 10 >= results * 9 => Level::Good,
            half if half * 2 >= results => Level::Fair,
            _ => Level::Noisy,
        };
        Quality {
            level,
            results,
            reliable,
            noisy,
            missing: results - reliable - noisy,
            missing_kernels: grouped(cells(), |cell| cell.kernel.as_str())
                .into_iter()
                .filter(|cells| cells.iter().all(|cell| cell.value().is_none()))
                .map(|cells| plain(&cells[0].kernel))
                .collect(),
            skipped: report.count(Status::Skipped),
            intervals,
            fix: causes.first().map(|(at, cells)| match known(*at) {
                (WIDE | TOO_FEW, _) if report.complete && report.stopped_by.is_none() => MORE_RUNS.to_owned(),
                (_, "") => commonest(cells),
                (_, fix) => fix.to_owned(),
            }),
            causes: causes.iter().map(|(at, cells)| (known(*at).0, cells.len())).collect(),
            culprits: disturbers(report.cells.iter().flat_map(|cell| &cell.invocations)),
            delivered: delivered(report),
        }
    }

    /// `12 of 16 results reliable, ±0.6% to ±4.1%; noisy: CPU contention (3); no number: pages (1)`.
    pub fn text(&self) -> String {
        let mut text = format!("{} of {} reliable", self.reliable, counted(self.results, "result"));
        if self.noisy > 0 {
            text += &format!(", {} noisy (~)", self.noisy);
        }
        if self.missing > 0 {
            text += &format!(", {} missing", self.missing);
            let few = self.missing_kernels[..self.missing_kernels.len().min(FEW)].join(", ");
            match self.missing_kernels.len().checked_sub(FEW) {
                // Where there is no number at all, it is every kernel.
                _ if few.is_empty() || self.level == Level::Empty => {}
                Some(more) if more > 0 => text += &format!(" (all of {few} and {more} more)"),
                _ => text += &format!(" (all of {few})"),
            }
        }
        if self.skipped > 0 {
            text += &format!(", {} skipped", self.skipped);
        }
        if let Some((low, high)) = self.intervals {
            let shown = |width: f64| if width > 1.0 { "100% and more".to_owned() } else { units::percent(width) };
            let [low, high] = [low, high].map(shown);
            text += &if low == high { format!("; ±{low}") } else { format!("; ±{low} to ±{high}") };
        }
        let causes: Vec<String> = self.causes.iter().take(3).map(|(name, count)| format!("{name} ({count})")).collect();
        if !causes.is_empty() {
            text += &format!("; {}", causes.join(", "));
        }
        if let Some(share) = self.delivered.filter(|share| *share < NEARLY_ALL) {
            text += &format!("; the machine gave {:.0}% of that meanwhile", 100.0 * share);
        }
        let is_disturbed = self.causes.iter().any(|(cause, _)| CAUSED_BY_OTHERS.contains(cause));
        if is_disturbed || self.delivered.is_some_and(|share| share < NEARLY_ALL) {
            let told = self.culprits.iter().take(2).map(|culprit| format!("{} while it ran", culprit.clause()));
            let told: Vec<String> = told.collect();
            if !told.is_empty() {
                text += &format!("; {}", told.join(", "));
            }
        }
        text
    }
}

/// The place of a cell's deepest cause among [`CAUSES`]; beyond them where it was not measured. Where no repetition is left because the
/// quota stopped all, that few are left is no cause; where the runs ended before there were enough for an interval, what disturbed these is
/// none.
fn cause(cell: &Cell) -> usize {
    let has = |code: &str| cell.marks.iter().any(|mark| mark.code == code);
    let place = |code: &str| CAUSES.iter().position(|(_, codes, _)| codes.contains(&code)).unwrap_or(CAUSES.len() - 1);
    let unmatched = |reason: Option<&str>| reason.is_some_and(|reason| reason.contains(NO_MATCH));
    let reasons =
        cell.invocations.iter().map(|invocation| invocation.reason.as_deref()).chain([cell.reason.as_deref()]);
    let is_unmatched = cell.value().is_none() && reasons.into_iter().any(unmatched);
    let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done).count();
    if cell.value().is_none() && has("V07") {
        return place("V07");
    }
    if is_unmatched {
        return CAUSES.iter().position(|(_, codes, _)| codes.is_empty()).unwrap_or(CAUSES.len());
    }
    if has("V12") && done < INTERVAL_NEEDS {
        return place("V12");
    }
    weightiest(cell).map(|mark| place(&mark.code)).min().unwrap_or(CAUSES.len())
}

/// The marks that decide a cell's status.
fn weightiest(cell: &Cell) -> impl Iterator<Item = &Mark> {
    let weightiest = cell.marks.iter().map(|mark| mark.severity).max().filter(|severity| *severity > Severity::Note);
    cell.marks.iter().filter(move |mark| Some(mark.severity) == weightiest)
}

/// `charz explain V23: REASON`, of the check that decides most of these.
fn commonest(cells: &[&Cell]) -> String {
    let checks = grouped(cells.iter().filter_map(|cell| weightiest(cell).next()), |mark| mark.code.as_str());
    let most = checks.iter().rev().max_by_key(|marks| marks.len());
    most.map(|marks| format!("charz explain {}: {}", marks[0].code, marks[0].reason)).unwrap_or_default()
}

/// Of all configurations that show both numbers, each by the time that it was measured. A thread gets no more than its part of a quota, also
/// where repetitions are short enough to fall between its pauses.
fn delivered(report: &Report) -> Option<f64> {
    let quota = report.machine.usable.quota_cpus;
    let shares = report.cells.iter().filter(|cell| cell.estimator == Estimator::FastMode && cell.value().is_some());
    let shares = shares.filter_map(|cell| {
        let most = quota.map_or(1.0, |cpus| cpus / cell.workers.max(1) as f64);
        let time: u64 =
            cell.invocations.iter().flat_map(|invocation| &invocation.runs).map(|run| run.interval_ns).sum();
        Some((cell.delivered_share()?.min(most), time as f64))
    });
    let (given, time) = shares.fold((0.0, 0.0), |sum, (share, time)| (sum.0 + share * time, sum.1 + time));
    (time > 0.0).then(|| given / time)
}
