//! What a kernel does with one thread, with all CPUs, and under which mapping.

use charz_claims::verdict::{Verdict, verdicts};
use charz_estimate::{
    Best, Caveat, Caveats, Effect, Estimate, Estimates, MARGIN, NEARLY_ALL, Quantity, Strength, grouped, host_distance,
    is_of_copies, kind, shared_cpus,
};
use charz_words::caveat;
use charz_words::estimate::doubt_of;
use charz_words::verdict::winner;
use std::collections::BTreeSet;

use super::{NONE, Reading, none};
use crate::figure::{Datum, Table};
use charz_claims::advise::{asked, is_short, rank};
use charz_data::card::Family;
use charz_data::escape::counted;
use charz_data::report::{Cell, Interval, Report};
use charz_data::{Arrange, Role, units};
use charz_words::point;

/// The most points of a kernel that have rows of their own.
const MOST_POINTS: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub kernel: String,
    /// The parameters that the sweep varies for it, e.g. `420 MiB`, and to which of several sizes it grew; empty where none.
    pub label: String,
    pub family: Option<Family>,
    /// The place of its role among those that a reader asks for first.
    pub asked: usize,
    /// With one thread, under the best mapping.
    pub one: Option<Reading>,
    /// With a thread per CPU, or the largest number of threads up to that which has a number, or the fewest beyond it; `None` where that
    /// is one.
    pub all: Option<Reading>,
    /// Whether the host moved the CPUs between its mappings: how far apart they were decides what it is.
    pub is_moved: bool,
    /// How many nanoseconds apart the CPUs of that were, where its memory is as fast as a host's placement of them.
    pub distance: Option<f64>,
    /// The larger number of threads that was tried for that.
    pub cut: Option<u64>,
    /// Why there is no number of one thread, and of that larger number, where they were tried.
    pub gaps: [Option<String>; 2],
    /// That of the fewest threads that are shown to be near the best value.
    pub best: Reading,
    /// The best value, with however many threads; where each has its own loads, [`best`](Self::best).
    pub peak: Reading,
    /// The best mapping as [`Verdict::winner`] names it.
    pub best_mapping: String,
    /// The fewest threads that reach 95% of the peak.
    pub knee: Option<u64>,
    /// The largest number of threads that was measured, if the curve still rises there.
    pub still_rising: Option<u64>,
    /// Whether CPUs, or a quota's time, are left for more threads than that.
    pub has_more: bool,
    /// Whether noise may hide another of the two.
    pub is_knee_open: bool,
    pub auto: Auto,
    /// Whether the number is what each thread's own loads take, or each copy's work: the more threads, the more of it.
    pub is_each: bool,
    /// The quota that bounds the numbers of threads, where it left some out or is smaller than theirs.
    pub quota: Option<f64>,
    /// Whether the pauses of a quota are part of the numbers, as of a program.
    pub is_paused: bool,
    /// The most threads beyond the number of CPUs, the share of the best that they lose, where they surely lose some under any mapping, and
    /// its doubt. `None` where the best has more threads than CPUs itself.
    pub oversubscribed: Option<(u64, f64, &'static str)>,
    /// What was delivered, where that is less than the capacity of some bound threads.
    pub shared: Option<Shared>,
}

/// What the machine delivered of a kernel, where it delivered less than it can.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// What the best placement delivered; `None` where it is not known.
    pub best: Option<Reading>,
    /// The placement that delivered most, and how much.
    pub most: Reading,
}

/// What leaving placement to the operating system costs, with as many threads as the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto {
    /// Nor where there is no other number.
    NotMeasured,
    /// It is better than all others.
    Best,
    /// What can be said of its loss beside the best, or of the best beside others where it is the best.
    Other {
        strength: Strength,
        caveats: Caveats,
        /// In which share of its iterations two threads were on one CPU, as a fraction.
        together: Option<f64>,
    },
}

/// The families in the order of the rows: the user's own programs, then as `charz kernels` has them.
const FAMILIES: [Family; 7] =
    [Family::Program, Family::Compute, Family::Memory, Family::Sync, Family::Timer, Family::Workload, Family::Floor];

pub(super) fn rows(report: &Report, cpus: u64) -> Vec<Row> {
    let table = Estimates::of(report);
    let (here, shared) = (verdicts(&table), Estimates::shared(report));
    let of_shared = if is_short(&table, &report.cells) { verdicts(&shared) } else { Vec::new() };
    // What contention and calls cost has places of its own.
    let here = here.iter().filter(|verdict| kind(report, verdict.best.cell).is_none());
    let kernels = grouped(here, |verdict| verdict.kernel);
    let mut shown: Vec<&Verdict<'_>> = kernels.iter().flat_map(|all| counting(report, all)).collect();
    shown.arrange_by_key(|verdict| {
        let family = report.card(verdict.kernel).map(|card| card.family);
        let family = FAMILIES.iter().position(|one| Some(*one) == family).unwrap_or(FAMILIES.len());
        (family, verdict.kernel, verdict.point.size_bytes, verdict.best.cell.last_size())
    });
    let row = |verdict: &Verdict<'_>| {
        let is_it = |other: &&Verdict<'_>| (other.kernel, other.point) == (verdict.kernel, verdict.point);
        let shared = of_shared.iter().find(is_it).map(|most| Shared {
            best: shared.estimate(verdict.best.cell).map(|number| Reading::of(&number)),
            most: Reading::of(&most.best),
        });
        Row { shared, ..row(report, verdict, cpus) }
    };
    shown.into_iter().map(row).collect()
}

/// The points of a kernel that have rows. Of many that is the one that is advised on; of products of matrices the depth of recursion that
/// is the fastest.
fn counting<'a>(report: &Report, all: &[&'a Verdict<'a>]) -> Vec<&'a Verdict<'a>> {
    let fastest = |one: &&&Verdict<'_>, other: &&&Verdict<'_>| one.best.value.total_cmp(&other.best.value);
    let only = match report.role(all[0].kernel) {
        Role::Product(_) => all.iter().max_by(fastest),
        _ if all.len() > MOST_POINTS => all.iter().max_by_key(|verdict| rank(verdict.best.cell)),
        _ => return all.to_vec(),
    };
    only.copied().into_iter().collect()
}

fn row(report: &Report, verdict: &Verdict<'_>, cpus: u64) -> Row {
    let best = verdict.best;
    let quota = report.machine.quota().filter(|_| *report.role(verdict.kernel) != Role::Quota);
    let most_of_quota = quota.map(|_| report.machine.worth() as u64).filter(|most| best.cell.workers <= *most);
    let of_kernel = |cell: &&Cell| {
        let is_same = cell.point == verdict.point && cell.last_size() == best.cell.last_size();
        cell.kernel == verdict.kernel && is_same && cell.unit == best.cell.unit
    };
    let is_own = |cell: &&Cell| of_kernel(cell) && most_of_quota.is_none_or(|most| cell.workers <= most);
    let left_out = report.cells.iter().filter(of_kernel).any(|cell| !is_own(&cell));
    let numbers = Estimates::of(report).placed(report.cells.iter().filter(is_own));
    let with = |threads: u64| {
        let with: Vec<Estimate<'_>> = numbers.iter().copied().filter(|number| number.cell.workers == threads).collect();
        Best::of(&with).map(|best| Reading::of(&best.number))
    };
    let tried = || report.cells.iter().filter(is_own);
    // A mix, or what was asked for, may begin above the number of CPUs.
    let most_of = |counts: Vec<u64>| {
        let within = counts.iter().copied().filter(|threads| *threads <= cpus).max();
        within.or_else(|| counts.iter().copied().min()).filter(|most| *most > 1)
    };
    let wanted = most_of(tried().map(|cell| cell.workers).collect());
    let most = most_of(numbers.iter().map(|number| number.cell.workers).collect());
    let (one, all) = (with(1), most.and_then(with));
    let lacks = |threads: &u64| with(*threads).is_none();
    let missing = |threads: u64| tried().find(|cell| cell.workers == threads);
    let gaps = [Some(1), wanted].map(|threads| {
        threads.filter(lacks).and_then(missing).map(|cell| format!("{}: {}", point::name(cell), reason(cell)))
    });
    let is_each = matches!(report.role(verdict.kernel), Role::Latency(_)) || is_of_copies(report, best.cell);
    let saturation = verdict.saturates;
    let still_rising = saturation.filter(|found| found.workers.is_none()).map(|found| found.most);
    let is_over = |number: &&Estimate<'_>| number.cell.workers > cpus && best.cell.workers <= cpus;
    let over = numbers.iter().filter(is_over).filter(|number| number.cell.unit.more_is_better());
    let beaten = |number: &Estimate<'_>| {
        numbers.iter().any(|other| other.cell.workers == number.cell.workers && other.is_better(number))
    };
    let over = over.filter(|number| !beaten(number) && number.is_surely_below(&best));
    let loses = |number: &Estimate<'_>| 1.0 - number.value / best.value;
    let over = over.max_by_key(|number| number.cell.workers).filter(|number| loses(number) > MARGIN);
    let grew_otherwise = |cell: &Cell| {
        let is_same = cell.kernel == verdict.kernel && cell.point == verdict.point && cell.value().is_some();
        is_same && cell.last_size() != best.cell.last_size()
    };
    let size = best.cell.last_size().filter(|_| report.cells.iter().any(grew_otherwise));
    let size = size.map(|size| format!(" size {size}")).unwrap_or_default();
    let uses_memory = matches!(report.role(verdict.kernel), Role::MemoryBandwidth(_));
    Row {
        kernel: verdict.kernel.to_owned(),
        label: (point::label(&verdict.point) + &size).trim_start().to_owned(),
        family: report.card(verdict.kernel).map(|card| card.family),
        asked: asked(report.role(verdict.kernel)),
        is_moved: most.is_some_and(|most| {
            let with: Vec<&Estimate<'_>> = numbers.iter().filter(|number| number.cell.workers == most).collect();
            with.iter().any(|number| !number.is_placed_as(with[0]))
        }),
        distance: numbers
            .iter()
            .filter(|_| uses_memory)
            .find_map(|number| host_distance(report, number.cell).filter(|_| Some(number.cell.workers) == most)),
        one,
        all,
        cut: wanted.filter(lacks),
        gaps,
        best: Reading::of(&best),
        peak: Reading::of(&verdict.peak),
        best_mapping: winner(verdict),
        is_each,
        knee: saturation.and_then(|found| found.workers),
        still_rising,
        has_more: still_rising.is_some_and(|most| most < report.machine.worth() as u64),
        is_knee_open: saturation.is_some_and(|found| found.doubtful),
        auto: match verdict.auto {
            charz_claims::verdict::Auto::Unmeasured | charz_claims::verdict::Auto::Best(None) => Auto::NotMeasured,
            charz_claims::verdict::Auto::Best(Some(loss)) if loss.is_shown() => Auto::Best,
            charz_claims::verdict::Auto::Best(Some(loss)) | charz_claims::verdict::Auto::Other(loss) => {
                let together = shared_cpus(loss.estimate.cell).filter(|share| *share >= MARGIN);
                Auto::Other { strength: loss.strength(), caveats: loss.caveats, together }
            }
        },
        is_paused: *report.role(verdict.kernel) == Role::Program,
        quota: quota.filter(|cpus| left_out || most.is_some_and(|threads| threads as f64 > *cpus)),
        shared: None,
        oversubscribed: over.map(|number| (number.cell.workers, loses(number), doubt_of(number, &best))),
    }
}

/// Why a cell has no number.
pub(super) fn reason(cell: &Cell) -> String {
    let mark = cell.marks.iter().max_by_key(|mark| mark.severity).map(|mark| format!("{}: {}", mark.code, mark.reason));
    mark.or_else(|| cell.reason.clone()).unwrap_or_else(|| "not measured".to_owned())
}

impl Row {
    /// `mem-read 420 MiB`.
    pub fn name(&self) -> String {
        format!("{} {}", self.kernel, self.label).trim_end().to_owned()
    }

    /// How many times as much all CPUs do as one thread.
    pub fn scaling(&self) -> Option<f64> {
        let (one, all) = (self.one.as_ref()?, self.all.as_ref()?);
        let loads = if self.is_each { all.threads as f64 / one.threads as f64 } else { 1.0 };
        let times = if one.unit.more_is_better() { all.value / one.value } else { loads * one.value / all.value };
        times.is_finite().then_some(times)
    }

    /// The mark of a [scaling](Self::scaling) that is doubted: one of its numbers is, or both together are known to no better than 2%.
    pub fn scaling_doubt(&self) -> &'static str {
        let of_both: Vec<&Reading> = self.one.iter().chain(&self.all).collect();
        let width = of_both.iter().map(|reading| reading.half_width().unwrap_or(0.0)).fold(0.0, f64::hypot);
        units::doubt(width > MARGIN || of_both.iter().any(|reading| reading.is_noisy))
    }

    /// The fewest threads that reach 95% of the peak; `8+` where more threads might give more, and CPUs for them are left.
    fn reaches(&self) -> Datum {
        let open = if self.knee.is_none() && self.has_more { "+" } else { "" };
        let found = self.knee.or(self.still_rising);
        found.map_or_else(none, |threads| {
            Datum::number(format!("{threads}{open}{}", units::doubt(self.is_knee_open)), threads as f64)
        })
    }

    /// The number of the fewest threads that reach 95%, where it is neither that of one thread nor of all, nor within 2% of one of these.
    fn best_between(&self) -> Option<String> {
        let ends = || self.one.iter().chain(&self.all);
        let is_near = |end: &Reading| {
            end.threads == self.best.threads
                || self.best.value.max(end.value) <= (1.0 + MARGIN) * self.best.value.min(end.value)
        };
        let is_hidden = self.knee.or(self.still_rising) == Some(self.best.threads) && !ends().any(is_near);
        is_hidden.then(|| format!(" ({})", self.best.text()))
    }

    /// What `auto` costs: `3.2%`; `≈0%` where its interval lies within ±2%; else the interval, or `3.2%?` after too few runs for one; nothing
    /// where the host moved the CPUs.
    pub fn auto_costs(&self) -> String {
        let (strength, caveats, together) = match self.auto {
            Auto::NotMeasured => return NONE.to_owned(),
            Auto::Best => return "0%".to_owned(),
            Auto::Other { strength, caveats, together } => (strength, caveats, together),
        };
        let noisy = units::doubt(caveats.between() >= Some(Effect::Weakens));
        let clock = if caveats.has(Caveat::Clock) { " (clock)" } else { "" };
        let together = together.map(|share| format!(" ({:.0}% shared)", 100.0 * share)).unwrap_or_default();
        let costs = match strength {
            Strength::Shown(share) => units::percent(share),
            Strength::Same => format!("≈0%{clock}"),
            Strength::Open(found) => format!("{}{noisy}{clock}", range(found)),
            // A gain is no cost; of one mapping alone it is not known either.
            Strength::TooFew(share) => format!("{}?", units::percent(share.max(0.0))),
            Strength::TooNoisy(share) => units::percent(share.max(0.0)) + units::doubt(true),
            Strength::NotComparable => caveat::not_comparable_cell(caveats).to_owned(),
        };
        costs + &together
    }
}

/// A [scaling](Row::scaling) to a tenth: `32.0`; `0.0412` where that would be nothing.
pub fn times_text(times: f64) -> String {
    if times < 0.1 { units::ratio(times) } else { format!("{times:.1}") }
}

/// `−4..10%`.
fn range(found: Interval) -> String {
    let end = |share: f64| {
        let percent = 100.0 * share;
        let shown =
            if percent.abs() < 10.0 { format!("{:.1}", percent.abs()) } else { format!("{:.0}", percent.abs()) };
        let shown = shown.strip_suffix(".0").unwrap_or(&shown).to_owned();
        if percent < 0.0 && shown != "0" { format!("−{shown}") } else { shown }
    };
    format!("{}..{}%", end(found.low), end(found.high))
}

/// One row per kernel with the reasons for gaps by their letters. `cpus` is [`Answer::cpus`](super::Answer::cpus).
pub fn table(shown: &[Row], cpus: u64) -> (Table, Vec<String>) {
    let threads = shown.iter().filter_map(|row| row.all.as_ref().map(|all| all.threads).max(row.cut)).max();
    let has_one = shown.iter().any(|row| row.one.is_some() || row.gaps[0].is_some());
    let mut gaps: Vec<&str> = Vec::new();
    let mut data = Vec::new();
    for row in shown {
        let letters = row.gaps.each_ref().map(|gap| {
            gap.as_deref().map_or_else(String::new, |gap| {
                let at = gaps.iter().position(|other| *other == gap).unwrap_or(gaps.len());
                if at == gaps.len() {
                    gaps.push(gap);
                }
                format!(" {}", letter(at))
            })
        });
        let without = |letter: &str| if letter.is_empty() { none() } else { Datum::word(format!("{NONE}{letter}")) };
        let mut cells = vec![Datum::word(row.name())];
        cells.extend(has_one.then(|| row.one.as_ref().map_or_else(|| without(&letters[0]), Reading::datum)));
        if threads.is_some() {
            // Under a heading for more threads than it has, a number says how many they are.
            let at = |all: &Reading| match Some(all.threads) < threads {
                true => format!(" at {}", all.threads),
                false => String::new(),
            };
            cells.push(match &row.all {
                Some(all) => Datum::number(format!("{}{}{}", all.text(), at(all), letters[1]), all.value),
                None => without(&letters[1]),
            });
            if has_one {
                let noisy = row.scaling_doubt();
                let moved = if row.is_moved { " (CPUs moved)" } else { "" };
                let scaling = |times: f64| Datum::number(format!("{}x{noisy}{moved}", times_text(times)), times);
                cells.push(row.scaling().map_or_else(none, scaling));
                let reaches = row.reaches();
                let text = reaches.text.clone() + &row.best_between().unwrap_or_default();
                cells.push(Datum { text, ..reaches });
            }
        }
        cells.extend([Datum::word(&row.best_mapping), Datum::word(row.auto_costs())]);
        data.push(cells);
    }
    let all = threads.map(|threads| match threads == cpus {
        true => format!("all {threads} CPUs"),
        false => counted(threads as usize, "thread"),
    });
    let mut heading = vec!["kernel"];
    heading.extend(has_one.then_some("1 thread"));
    heading.extend(all.as_deref());
    if all.is_some() && has_one {
        heading.extend(["scaling", "95% at"]);
    }
    heading.extend(["best mapping", "auto costs"]);
    let notes = gaps.iter().enumerate().map(|(at, gap)| format!("{}  {gap}", letter(at)));
    // What follows from other columns.
    let table = Table::new(&heading, data).sparing(&["scaling", "95% at"]);
    (table, notes.chain(quota_note(shown)).chain(distance_note(shown)).collect())
}

/// What the machine delivered, shared as it was: a row per kernel that delivered less than its capacity.
pub fn delivered(rows: &[Row]) -> Table {
    let plain = |reading: &Reading| Reading { origin: Quantity::Capacity, ..reading.clone() }.text();
    let placed = |reading: &Reading| format!("{} x{}", reading.mapping, reading.threads);
    let data = rows.iter().filter_map(|row| {
        let Shared { best, most } = row.shared.as_ref()?;
        let share =
            |of: &Reading| if of.unit.more_is_better() { of.value / row.best.value } else { row.best.value / of.value };
        let is_all = best.as_ref().is_some_and(|best| share(best) >= NEARLY_ALL);
        (!is_all).then(|| {
            vec![
                Datum::word(row.name()),
                Datum::word(placed(&row.best)),
                best.as_ref().map_or_else(none, |best| Datum::number(plain(best), best.value)),
                best.as_ref().map_or_else(none, |best| Datum::number(units::percent(share(best)), share(best))),
                Datum::word(format!("{}: {}", placed(most), plain(most))),
            ]
        })
    });
    Table::new(
        &["delivered here", "best by capacity", "delivered", "share", "most delivered"],
        data.collect::<Vec<_>>(),
    )
    .sparing(&["share"])
}

/// What a quota leaves out of their numbers, or has in them.
pub fn quota_note(rows: &[Row]) -> Option<String> {
    rows.iter().find_map(|row| Some((row.quota?, row.is_paused))).map(|(cpus, is_paused)| {
        let most = counted((cpus.ceil() as usize).max(1), "thread");
        let have = if is_paused { "include" } else { "are without" };
        format!("Numbers {have} the pauses of the CPU quota of {cpus:.2}, which has no time for more than {most}.")
    })
}

/// Where the host had the CPUs between which memory was shared.
fn distance_note(rows: &[Row]) -> Option<String> {
    let mut apart = rows.iter().filter(|row| !row.is_moved).filter_map(|row| row.distance.map(units::nanos));
    let ns = apart.next()?;
    Some(format!(
        "The host had the CPUs {ns} apart; elsewhere memory scales otherwise (charz history shows each placement)."
    ))
}

/// The letter of a footnote.
fn letter(at: usize) -> char {
    char::from(b'a' + (at % 26) as u8)
}

/// What threads do that share something: a row per kernel and what else the sweep varies, by name and size; a column per number of
/// threads: one, two or the fewest, the most up to a thread per CPU, twice as many as CPUs, and of a kernel without any of these its fewest.
pub(super) fn contended(report: &Report, cpus: u64) -> Table {
    let shares = |cell: &&Cell| kind(report, cell) == Some("throughput");
    let numbers = Estimates::of(report).estimates(report.cells.iter().filter(shares));
    let mut kernels = grouped(numbers.iter().copied(), |number| (number.cell.kernel.as_str(), number.cell.point));
    kernels.arrange_by_key(|own| (own[0].cell.kernel.as_str(), own[0].cell.point.size_bytes));
    let counts = |own: &[Estimate<'_>]| own.iter().map(|number| number.cell.workers).collect::<BTreeSet<u64>>();
    let measured = counts(&numbers);
    let most = measured.range(..=cpus).next_back().copied();
    let mut columns: BTreeSet<u64> =
        [1, 2, 2 * cpus].into_iter().chain(measured.first().copied()).chain(most).collect();
    columns.retain(|threads| measured.contains(threads));
    for own in kernels.iter().map(|own| counts(own)) {
        columns.extend(own.first().filter(|_| own.is_disjoint(&columns)).copied().as_slice());
    }
    let rows = kernels.iter().map(|own| {
        let with = |threads: &u64| {
            let with: Vec<Estimate<'_>> =
                own.iter().copied().filter(|number| number.cell.workers == *threads).collect();
            let best = Best::of(&with)?.number;
            Some(Reading { origin: Quantity::Capacity, ..Reading::of(&best) }.datum())
        };
        let name = Datum::word(format!("{}{}", own[0].cell.kernel, point::label(&own[0].cell.point)));
        [name].into_iter().chain(columns.iter().map(|threads| with(threads).unwrap_or_else(none))).collect::<Vec<_>>()
    });
    let is_delivered = numbers.iter().any(|number| number.quantity == Quantity::Delivered);
    let what = if is_delivered { "under contention, as delivered" } else { "under contention" };
    let counts = columns.iter().map(|threads| counted(*threads as usize, "thread"));
    let heading: Vec<String> = [what.to_owned()].into_iter().chain(counts).collect();
    Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}
