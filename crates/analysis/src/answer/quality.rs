//! How good the numbers of a report are, what limits them, and what to do about it.

use charz_estimate::{NEARLY_ALL, grouped};
use std::collections::BTreeMap;

use crate::culprits::{Disturber, disturbers};
use charz_data::checks::{CHECKS, INTERVAL_NEEDS, NOT_REPORTED};
use charz_data::escape::counted;
use charz_data::report::{Cell, Ending, Mark, Report, Severity, Status};
use charz_data::units;
use charz_data::{Arrange, NO_MATCH, Role};

#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    pub level: Level,
    /// How many configurations there are, and how many of them have a reliable number, a noisy one, none.
    pub results: usize,
    pub reliable: usize,
    pub noisy: usize,
    pub missing: usize,
    /// How many others were not to be measured here.
    pub skipped: usize,
    /// The narrowest and the widest 95% interval, as fractions of their numbers: half the width. `None` without intervals.
    pub intervals: Option<(f64, f64)>,
    /// The causes of what is noisy or missing with how many configurations have each, the commonest first.
    pub causes: Vec<(&'static str, usize)>,
    /// What to do about the commonest cause, or why the first configuration was skipped where all were; `None` where nothing limits the
    /// numbers. May have foreign words.
    pub fix: Option<String>,
    /// What used the CPUs meanwhile, the most first.
    pub culprits: Vec<Disturber>,
    /// What the machine gave of its capacity while it was measured, as a fraction; `None` where no cell shows it.
    pub delivered: Option<f64>,
    /// How busy the machine was before the sweep; empty where it was not, and where something has a number.
    pub load: String,
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

charz_data::words! { Level { Good = "good", Fair = "fair", Noisy = "noisy", Empty = "no results" } }

/// Causes in the order in which they are named where they are equally common, and the deepest of a configuration first: the checks that
/// show them, and what to do; where that is empty, what the commonest check says.
const CAUSES: [(&str, &[&str], &str); 21] = [
    ("CPU quota", &["V07"], "lift it, or take fewer threads than the quota has CPUs (charz explain V07)"),
    ("no line of the output matches --value", &[], "the expression of --value, or what the program prints"),
    (
        "wrong number of threads",
        &["V36"],
        "write {threads} where the program takes its number of threads, or measure the number that it has alone",
    ),
    ("first run unlike the others", &["V37"], "undo before each run what a run leaves: --setup 'make clean'"),
    ("time that is charz's", &["V39", "V40"], "--follow none, or --program-output null (charz explain V39 V40)"),
    (TOO_FEW, &["V12", "V30"], FINISH),
    ("threads off their CPUs", &["V01", "V02"], ""),
    ("CPU contention", &["V03", "V04", "V05", "V06", "V18", "V33"], QUIETEN),
    ("other programs at work", &["V34"], QUIETEN),
    ("runs failed", &["V29"], ""),
    ("ended at another size", &["V35"], "a longer --span"),
    (SPEEDS, &["V16"], "find what differs between the runs; more of them do not help (charz explain V16)"),
    (WIDE, &["V28"], "a longer --budget"),
    (UNSTEADY, &["V13", "V14", "V15"], "a longer --budget"),
    (
        "short iterations",
        &["V09"],
        "more work in each: a larger --size, more --steps, or a longer --budget where neither is given",
    ),
    (CLOCK, &["V08", "V10", "V11", "V31", "V32"], ""),
    ("pages", &["V20", "V22"], "charz doctor shows which pages can be had"),
    (
        "memory on other NUMA nodes",
        &["V21"],
        "sysctl kernel.numa_balancing=0; where a node is full, a smaller --size (charz explain V21)",
    ),
    ("block within a cache", &["V27"], "a larger --size (charz explain V27)"),
    ("more threads than CPUs", &["V19"], "no more threads than CPUs"),
    ("checks", &["V17", "V23", "V24", "V25", "V26"], ""),
];
/// Those of which something else on the machine is the reason.
const CAUSED_BY_OTHERS: [&str; 2] = ["CPU contention", "other programs at work"];

/// Whether something else on the machine is the reason of a check's mark.
pub(crate) fn is_caused_by_others(code: &str) -> bool {
    CAUSES.iter().any(|(cause, codes, _)| CAUSED_BY_OTHERS.contains(cause) && codes.contains(&code))
}
/// What to do about them.
const QUIETEN: &str = "stop other programs, or wait for them with --wait-quiet";
/// Those that other programs cause too, where they used much.
const MAYBE_BY_OTHERS: [&str; 6] = [TOO_FEW, SPEEDS, WIDE, UNSTEADY, CLOCK, NOT_MEASURED.0];
const TOO_FEW: &str = "too few runs";
const SPEEDS: &str = "several speeds";
const WIDE: &str = "wide intervals";
const UNSTEADY: &str = "unsteady runs";
const CLOCK: &str = "clock";
/// What to do about them where a sweep made all the runs that it may, and had time left.
const MORE_RUNS: &str = "more runs, e.g. --runs 6-100";
/// What to do about numbers of another program.
const MORE_VALUES: &str = "give the table six values or more, or an interval, for each configuration";
/// What has no mark: cells that were not measured.
const NOT_MEASURED: (&str, &str) = ("not measured", FINISH);
/// What to do behind the command that resumes the sweep.
const FINISH: &str = ", or a longer --budget";

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
            groups.entry(cause(cell, *report.role(&cell.kernel) == Role::Program)).or_default().push(cell);
        }
        let mut causes: Vec<(usize, Vec<&Cell>)> = groups.into_iter().collect();
        causes.arrange_by_key(|(at, cells)| (std::cmp::Reverse(cells.len()), *at));
        // A check without a row is a cause by its title.
        let of_check = |at: usize| Some((CHECKS.get(at.checked_sub(CAUSES.len() + 1)?)?.title, ""));
        let known = |at: usize| match CAUSES.get(at) {
            Some((name, _, fix)) => (*name, *fix),
            None => of_check(at).unwrap_or(NOT_MEASURED),
        };
        let level = match reliable {
            _ if reliable + noisy == 0 => Level::Empty,
            all if all * 10 >= results * 9 => Level::Good,
            half if half * 2 >= results => Level::Fair,
            _ => Level::Noisy,
        };
        let culprits = disturbers(report.floor.iter().chain(&report.cells).flat_map(|cell| &cell.invocations));
        let delivered = delivered(report);
        let may_be_others = |cause| CAUSED_BY_OTHERS.contains(&cause) || MAYBE_BY_OTHERS.contains(&cause);
        let is_empty = level == Level::Empty && results > 0 && causes.iter().all(|(at, _)| may_be_others(known(*at).0));
        let load = Some(report).filter(|_| is_empty).map(load).unwrap_or_default();
        let is_busy = |cells: &[&Cell]| {
            let is_it = |mark: &Mark| is_caused_by_others(&mark.code) && !mark.reason.starts_with(NOT_REPORTED);
            let is_marked = |cell: &&&Cell| cell.marks.iter().any(is_it);
            let by_others = delivered.is_some_and(|share| share < NEARLY_ALL) && report.machine.quota().is_none();
            let cpus: f64 =
                culprits.iter().filter(|culprit| culprit.is_of_programs()).map(|culprit| culprit.cpus).sum();
            by_others
                || !load.is_empty()
                || cpus > (1.0 - NEARLY_ALL) * report.machine.usable_strands().count() as f64
                || cells.iter().filter(is_marked).count() * 2 > cells.len()
        };
        let more_runs = Some(MORE_RUNS).filter(|_| !is_topo(report));
        let fix = |(at, cells): &(usize, Vec<&Cell>)| match known(*at) {
            _ if report.measured_by.is_some() => MORE_VALUES.to_owned(),
            (_, QUIETEN) => quieten(report),
            (cause, fix) => {
                let is_done =
                    [WIDE, UNSTEADY, TOO_FEW].contains(&cause) && report.complete && report.stopped_by.is_none();
                let by_others = MAYBE_BY_OTHERS.contains(&cause) && is_busy(cells);
                let fix = match fix {
                    _ if is_done && by_others => more_runs.unwrap_or("measure again").to_owned(),
                    _ if is_done => {
                        ["a quieter machine"].into_iter().chain(more_runs).collect::<Vec<_>>().join(", or ")
                    }
                    FINISH => report.resume().map_or("a longer --budget".to_owned(), |resume| resume + FINISH),
                    "" => commonest(cells),
                    fix => fix.to_owned(),
                };
                if by_others { format!("{}; then {fix}", quieten(report)) } else { fix }
            }
        };
        Quality {
            level,
            results,
            reliable,
            noisy,
            missing: results - reliable - noisy,
            skipped: report.count(Status::Skipped),
            intervals,
            fix: causes.first().map(fix).or_else(|| report.cells.first().filter(|_| results == 0)?.reason.clone()),
            causes: causes.iter().map(|(at, cells)| (known(*at).0, cells.len())).collect(),
            delivered,
            load,
            culprits,
        }
    }

    /// `12 of 16 results reliable, 3 noisy (~), 1 missing; ±0.6% to ±4.1%; CPU contention (3), pages (1); make (pid 7) used 0.9 CPUs`.
    pub fn text(&self) -> String {
        let skipped = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        let is_disturbed =
            |(cause, _): &(&str, usize)| CAUSED_BY_OTHERS.contains(cause) || MAYBE_BY_OTHERS.contains(cause);
        let is_disturbed = self.causes.iter().any(is_disturbed) || self.share().is_some();
        let others = self.culprits.iter().filter(|_| is_disturbed).take(3).map(Disturber::clause);
        let load = Some(format!("at the start: {}", self.load)).filter(|_| !self.load.is_empty());
        let clauses = [
            Some(self.counts(&counted(self.results, "result")) + &skipped),
            self.widths(),
            self.commonest(3),
            self.share(),
        ];
        let others = Some(others.collect::<Vec<_>>().join(", ")).filter(|others| !others.is_empty());
        clauses.into_iter().chain([others, load]).flatten().collect::<Vec<_>>().join("; ")
    }

    /// The same as far as it fits into so many columns: what was counted, then what limits it. No other program is named.
    pub fn line(&self, columns: usize) -> String {
        let mut line = self.counts(&self.results.to_string());
        let causes = self.commonest(3).filter(|causes| line.len() + 2 + causes.len() <= columns);
        for clause in [self.share(), causes.or_else(|| self.commonest(1)), self.widths()].into_iter().flatten() {
            if line.chars().chain(clause.chars()).count() + 2 <= columns {
                line += &format!("; {clause}");
            }
        }
        line
    }

    fn counts(&self, all: &str) -> String {
        let more = [(self.noisy, "noisy (~)"), (self.missing, "missing")].into_iter().filter(|(count, _)| *count > 0);
        let more: String = more.map(|(count, what)| format!(", {count} {what}")).collect();
        format!("{} of {all} reliable{more}", self.reliable)
    }

    fn widths(&self) -> Option<String> {
        let shown = |width: f64| if width > 1.0 { "100% and more".to_owned() } else { units::percent(width) };
        let (low, high) = self.intervals?;
        let [low, high] = [low, high].map(shown);
        Some(if low == high { format!("±{low}") } else { format!("±{low} to ±{high}") })
    }

    fn commonest(&self, most: usize) -> Option<String> {
        let named = self.causes.iter().take(most).map(|(name, count)| format!("{name} ({count})"));
        Some(named.collect::<Vec<_>>().join(", ")).filter(|named| !named.is_empty())
    }

    /// What the machine gave, where that is not all.
    fn share(&self) -> Option<String> {
        let share = self.delivered.filter(|share| *share < NEARLY_ALL)?;
        Some(format!("threads had their CPUs {:.0}% of the time", 100.0 * share))
    }
}

/// The place of a cell's deepest cause among [`CAUSES`]; the next where it was not measured, and beyond that those of checks without a row. Where no repetition is left because the
/// quota stopped all, that few are left is no cause; where the runs ended before there were enough for an interval, what disturbed these is
/// none.
fn cause(cell: &Cell, is_program: bool) -> usize {
    let has = |code: &str| cell.marks.iter().any(|mark| mark.code == code);
    let check = |code: &str| CHECKS.iter().position(|check| check.code == code);
    let place = |code: &str| {
        let row = CAUSES.iter().position(|(_, codes, _)| codes.contains(&code));
        row.or_else(|| Some(CAUSES.len() + 1 + check(code)?)).unwrap_or(CAUSES.len() - 1)
    };
    let unmatched = |reason: Option<&str>| reason.is_some_and(|reason| reason.contains(NO_MATCH));
    let reasons =
        cell.invocations.iter().map(|invocation| invocation.reason.as_deref()).chain([cell.reason.as_deref()]);
    let is_unmatched = cell.value().is_none() && reasons.into_iter().any(unmatched);
    let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done).count();
    // Fewer than are needed may have been made for want of time. The runs of a program count wherever a quota stopped it.
    if has("V07") && !is_program && (cell.value().is_none() || has("V12") && done >= INTERVAL_NEEDS) {
        return place("V07");
    }
    if is_unmatched {
        return CAUSES.iter().position(|(_, codes, _)| codes.is_empty()).unwrap_or(CAUSES.len());
    }
    // Iterations that other programs disturbed are made in vain, however many.
    let mut dirty = cell.invocations.iter().flat_map(|invocation| &invocation.runs).flat_map(|run| &run.dirty);
    if has("V12")
        && cell.value().is_none()
        && let Some(code) = dirty.find(|code| is_caused_by_others(code))
    {
        return place(code);
    }
    // Nor do more runs help where each iteration is too short.
    if cell.value().is_none() && has("V09") {
        return place("V09");
    }
    if has("V12") && done < INTERVAL_NEEDS {
        return place("V12");
    }
    // More runs of several speeds do not make an interval narrower.
    if has("V16") && has("V28") {
        return place("V16");
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

/// Whether it is of `charz topo --measured`, whose number of runs is its own.
fn is_topo(report: &Report) -> bool {
    report.command.split_whitespace().nth(1) == Some("topo")
}

/// What to do about other programs; one that has waited for them is not told to wait.
fn quieten(report: &Report) -> String {
    // The sides of charz ab have no command of their own, and it has no such flag.
    let can_wait = !report.command.is_empty() && !is_topo(report) && !report.command.contains("--wait-quiet");
    if can_wait { QUIETEN } else { "stop other programs" }.to_owned()
}

/// What doctor saw of other programs when the sweep began.
fn load(report: &Report) -> String {
    let told =
        |name: &&str| report.host.disturbances.iter().find_map(|told| told.strip_prefix(*name)?.strip_prefix(": "));
    let told: Vec<&str> = ["other load", "processor pressure", "other programs"].iter().filter_map(told).collect();
    told.join("; ")
}

/// Of all configurations that show it, each by the time that it was measured. A thread gets no more than its part of a quota, also where
/// repetitions are short enough to fall between its pauses.
fn delivered(report: &Report) -> Option<f64> {
    let quota = report.machine.quota();
    // What floating threads took from each other was not the machine's to give.
    let counts = |cell: &&Cell| cell.value().is_some() && (cell.workers == 1 || cell.has_own_cpus());
    let shares = report.cells.iter().filter(counts).filter_map(|cell| {
        let most = quota.map_or(1.0, |cpus| cpus / cell.workers.max(1) as f64);
        let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
        let time: f64 = runs.map(|run| run.interval_ns as f64).sum();
        Some((charz_estimate::delivered_share(report, cell)?.min(most), time))
    });
    let (given, time) = shares.fold((0.0, 0.0), |sum, (share, time)| (sum.0 + share * time, sum.1 + time));
    (time > 0.0).then(|| given / time)
}
