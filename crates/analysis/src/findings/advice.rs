//! What a program on this machine should do, each with the cells that it is drawn from.

use super::on_cell;
use super::series::{Series, list, unknown};
use charz_data::card::{LineOperation, Waiter, WordOwner};
use charz_data::escape::counted;
use charz_data::report::{Cell, Finding, FindingKind, Unit};
use charz_data::{Role, units};
use charz_estimate::{Best, Estimate, contests, grouped};
use charz_stats::ratio_of_estimates;
use charz_words::estimate::cited;
use charz_words::estimate::{shown, times};

/// Counters of their own are worth their memory from so many times on.
const WORTH: f64 = 1.5;

pub(super) fn advice(all: &[Series<'_>], strands: u64) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(spin_before_park(all));
    found.extend(backoff_cap(all, strands));
    found.extend(shards(all, strands));
    found.extend(barriers(all));
    found.extend(hand_off(all));
    found
}

fn finding(number: &Estimate<'_>, value: Option<f64>, text: String, evidence: String) -> Finding {
    let kernel = number.cell.kernel.clone();
    Finding { kind: FindingKind::Advice, kernel, mapping: None, workers: None, value, text, evidence }
}

/// The most numbers that are set against each other one by one; no sweep has as many of one kernel.
const MOST: usize = 2000;

fn of<'a>(all: &[Series<'a>], unit: Unit, is_one: impl Fn(&Series<'a>) -> bool) -> Vec<Estimate<'a>> {
    let chosen = all.iter().filter(|series| is_one(series) && series.counts(unit));
    chosen.flat_map(Series::numbers).collect()
}

fn all_cited(numbers: &[Estimate<'_>]) -> String {
    list(&numbers.iter().map(cited).collect::<Vec<_>>())
}

/// Spinning for as long as parking and waking take, and then parking, never costs more than twice what the better of the two would
/// have cost: A. R. Karlin, K. Li, M. S. Manasse and S. Owicki, "Empirical Studies of Competitive Spinning for a
/// Shared-Memory Multiprocessor", SOSP 1991. One for each time of a wake-up from one CPU to another, with the mappings that have it: where
/// the two threads share a CPU, who spins keeps it from the other.
fn spin_before_park(all: &[Series<'_>]) -> Vec<Finding> {
    let wakings = of(all, Unit::NanosecondsSampled, |series| *series.role() == Role::HandOff(Waiter::AsleepBare));
    let two = || wakings.iter().copied().filter(|number| number.cell.workers == 2);
    let mappings = grouped(two().filter(|number| number.cell.has_own_cpus()), |number| number.cell.mapping.as_str());
    // Of several ways to wake the fastest.
    let mut limits: Vec<Vec<Estimate<'_>>> = Vec::new();
    for fastest in mappings.iter().filter_map(|numbers| numbers.iter().copied().min_by(Estimate::by_value)) {
        match limits.iter_mut().find(|group| group[0].meets(&fastest)) {
            Some(group) => group.push(fastest),
            None => limits.push(vec![fastest]),
        }
    }
    let names = |numbers: &[Estimate<'_>]| {
        let names = grouped(numbers.iter().map(|number| number.cell.mapping.clone()), Clone::clone);
        list(&names.iter().map(|all| all[0].clone()).collect::<Vec<_>>())
    };
    let shared: Vec<Estimate<'_>> = two().filter(|number| is_shared(number.cell)).collect();
    let useless = match shared.is_empty() {
        true => String::new(),
        false => format!("where two threads share a CPU ({}), spinning is useless", names(&shared)),
    };
    if limits.is_empty() {
        let advice =
            shared.first().map(|first| finding(first, None, format!("do not spin {useless}"), all_cited(&shared)));
        return advice.into_iter().collect();
    }
    let advice = |(at, group): (usize, &Vec<Estimate<'_>>)| {
        let longest = group.iter().copied().max_by(Estimate::by_value).unwrap_or(group[0]);
        let rest = if at == 0 && !useless.is_empty() { format!("; {useless}") } else { String::new() };
        let text = format!(
            "spin at most {} before parking, under {}: one wake-up of a thread on another CPU (2-competitive, Karlin 1991){rest}",
            shown(&longest),
            names(group)
        );
        finding(&longest, Some(longest.value), text, all_cited(group))
    };
    limits.iter().enumerate().map(advice).collect()
}

/// Whether two threads are on one CPU: by their seats, or where they were seen most of the time.
fn is_shared(cell: &Cell) -> bool {
    let share = |strands: &[Option<u32>]| strands.len() == 2 && strands[0].is_some() && strands[0] == strands[1];
    let runs = || cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    let seen = runs().filter(|run| share(&run.laps.iter().map(|lap| lap.strand).collect::<Vec<_>>())).count();
    share(&cell.seats) || (cell.seats.iter().all(Option::is_none) && 2 * seen > runs().count())
}

/// A failed attempt can only disturb the others until each strand has had the line once. That is a lower bound: how much longer pays
/// depends on the work between two attempts; pools that back off show it.
fn backoff_cap(all: &[Series<'_>], strands: u64) -> Option<Finding> {
    let by_cas = Role::LineTransfer(LineOperation::Cas);
    let ways = of(all, Unit::NanosecondsPerOp, |series| *series.role() == by_cas);
    // A single strand waits for no other.
    let longest = ways.into_iter().filter(|_| strands > 1).max_by(Estimate::by_value)?;
    let cap = longest.value * strands as f64;
    let further: String =
        backoffs(all).into_iter().filter_map(|pools| Some(gain(rivals(all, pools, strands)?))).collect();
    let text = format!(
        "let the back-off of a failed compare-and-swap grow to at least {}{}: {strands} cache-line transfers",
        units::nanos(cap),
        units::doubt(longest.is_doubtful())
    );
    Some(finding(&longest, Some(cap), text, format!("{}{further}", cited(&longest))))
}

/// Pools that try again at once, each with the one that backs off.
fn backoffs<'a>(all: &[Series<'a>]) -> Vec<[&'a str; 2]> {
    let mut pools: Vec<[&str; 2]> = Vec::new();
    for series in all {
        let pair = series.role().backs_off().map(|at_once| [at_once, series.kernel]);
        pools.extend(pair.filter(|pair| !pools.contains(pair)));
    }
    pools
}

/// The gain from a backoff of some microseconds over retries without delay.
fn gain((at_once, later): (Estimate<'_>, Estimate<'_>)) -> String {
    let cells = all_cited(&[at_once, later]);
    if at_once.meets(&later) {
        return format!("; a back-off of some microseconds makes no significant difference: {cells}");
    }
    format!("; with a back-off of some microseconds {} times as fast: {cells}", times(&later, &at_once))
}

/// The numbers of two kernels of the same place and point and as many workers: as many as both have numbers for, and as there are
/// strands for.
fn rivals<'a>(all: &[Series<'a>], kernels: [&str; 2], strands: u64) -> Option<(Estimate<'a>, Estimate<'a>)> {
    let [mut ones, mut others] = kernels.map(|kernel| of(all, Unit::OpsPerSecond, |series| series.kernel == kernel));
    ones.truncate(MOST);
    others.truncate(MOST);
    let pairs = ones.iter().filter_map(|one| {
        let key = |number: &Estimate<'a>| (number.cell.workers, &number.cell.mapping, number.cell.point);
        others.iter().find(|other| key(other) == key(one)).map(|other| (*one, *other))
    });
    pairs
        .filter(|(one, _)| (2..=strands).contains(&one.cell.workers))
        .reduce(|most, next| if next.0.cell.workers > most.0.cell.workers { next } else { most })
}

/// What threads gain that add to words of their own, beside threads that add to one: under the same mapping, as many, each on a CPU of
/// its own. The intervals have to decide; where they do not, nothing is said.
fn shards(all: &[Series<'_>], strands: u64) -> Option<Finding> {
    let adding = |owner| {
        let is_one = |series: &Series<'_>| *series.role() == Role::Adding(owner);
        let mut numbers = of(all, Unit::OpsPerSecond, is_one);
        numbers.retain(|number| number.cell.has_own_cpus());
        numbers.truncate(MOST);
        numbers
    };
    let [shared, own] = [WordOwner::All, WordOwner::Worker].map(adding);
    let pairs = shared.iter().filter_map(|one| {
        let is_same = |other: &&Estimate<'_>| {
            (other.cell.workers, &other.cell.mapping, other.cell.point)
                == (one.cell.workers, &one.cell.mapping, one.cell.point)
        };
        own.iter().find(is_same).filter(|own| own.is_placed_as(one)).map(|other| (*one, *other))
    });
    let (shared, own) = pairs
        .filter(|(one, _)| (2..=strands).contains(&one.cell.workers))
        .reduce(|most, next| if next.0.cell.workers > most.0.cell.workers { next } else { most })?;
    let times = own.value / shared.value;
    let (low, high) = ratio_of_estimates(shared.around()?, own.around()?)?;
    let where_to = format!("{}, {}", counted(own.cell.workers as usize, "thread"), own.cell.mapping);
    let gain = format!("{} times as fast, {where_to}", charz_words::estimate::times(&own, &shared));
    let (value, text) = if low >= WORTH {
        (times, format!("give each thread a counter of its own where they mostly count: fetch-add is then {gain}"))
    } else if high < WORTH {
        (1.0, format!("keep one global counter: sharding it makes fetch-add only {gain}"))
    } else {
        return None;
    };
    Some(finding(&own, Some(value), text, all_cited(&[shared, own])))
}

/// The fastest barrier, under each mapping, for each number of workers.
fn barriers(all: &[Series<'_>]) -> Vec<Finding> {
    let barriers = || all.iter().filter(|series| *series.role() == Role::Barrier);
    let fastest =
        contests(barriers().flat_map(Series::numbers), |number| (number.cell.mapping.as_str(), number.cell.workers));
    let finding = |Best { number: best, alike, .. }: Best<'_>| {
        let workers = best.cell.workers;
        let rivals = barriers().filter(|series| series.mapping == best.cell.mapping);
        let (others, unknown) = (or_others(&alike), unknown(rivals, workers));
        let text = format!(
            "fastest barrier under {}, {}: {}, {}{others}{unknown}",
            best.cell.mapping,
            counted(workers as usize, "thread"),
            best.cell.kernel,
            shown(&best)
        );
        Finding { evidence: cited(&best), ..on_cell(best.cell, FindingKind::Advice, Some(best.value), text) }
    };
    fastest.map(finding).collect()
}

fn or_others(alike: &[Estimate<'_>]) -> String {
    let names: Vec<String> = alike.iter().map(|number| number.cell.kernel.clone()).collect();
    if names.is_empty() { String::new() } else { format!(" (not significantly different: {})", list(&names)) }
}

/// Under each mapping, how to hand something to another thread.
fn hand_off(all: &[Series<'_>]) -> Vec<Finding> {
    let is_one = |series: &Series<'_>, spins: bool| match series.role() {
        Role::HandOff(waiter) => (*waiter == Waiter::Spinning) == spins,
        _ => false,
    };
    let [mut sleeping, mut spinning] =
        [false, true].map(|spins| of(all, Unit::NanosecondsSampled, |series| is_one(series, spins)));
    sleeping.truncate(MOST);
    spinning.truncate(MOST);
    sleeping.retain(|number| number.cell.workers == 2);
    let finding = |Best { number: best, alike, .. }: Best<'_>| {
        let mapping = &best.cell.mapping;
        let flag = spinning.iter().find(|flag| flag.cell.mapping == *mapping && flag.is_surely_below(&best));
        let spin = flag.map(|flag| format!("; spinning is faster: {}", shown(flag)));
        let rivals = all.iter().filter(|series| is_one(series, false) && series.mapping == *mapping);
        let (others, spin, unknown) = (or_others(&alike), spin.unwrap_or_default(), unknown(rivals, best.cell.workers));
        let name = &best.cell.kernel;
        let text = format!("fastest wake-up under {mapping}: {name}, {}{others}{unknown}{spin}", shown(&best));
        let evidence = all_cited(&[best].into_iter().chain(flag.copied()).collect::<Vec<_>>());
        Finding { mapping: Some(mapping.clone()), ..finding(&best, Some(best.value), text, evidence) }
    };
    contests(sleeping.iter().copied(), |number| number.cell.mapping.as_str()).map(finding).collect()
}
