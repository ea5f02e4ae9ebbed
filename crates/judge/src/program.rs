//! What the runs of a user's program say of each other, and what charz did to them: V37 to V40.

use std::collections::BTreeSet;

use charz_data::checks::{FIRST_RUN_NS, SAME_TIME, V37, V38, V39, V40};
use charz_data::escape::counted;
use charz_data::report::{Invocation, Lap, Mark, Run, Severity};
use charz_data::{Follow, units};
use charz_stats::median;

use super::case::{Case, total};
use super::{mark, raise};

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    vec![
        unlike_the_first(case).or_else(|| unlike_the_very_first(case)),
        as_long_as_alone(case),
        stood_still(case),
        waited_for_its_reader(case),
    ]
}

/// A program that stood still for charz, or that nothing followed, so its threads had their seats together.
fn stood_still(case: &Case<'_>) -> Option<Mark> {
    let programs = || case.done().filter_map(|one| Some((one, one.evidence.as_ref()?.program.as_ref()?)));
    let laps = |one: &Invocation| one.runs.first().map_or(1, |run| run.laps.len()).max(1);
    // Copies stand still beside each other, each with a thread of its own or more.
    let copies = |one: &Invocation| if case.facts.in_copies { laps(one) } else { 1 };
    let stopped =
        programs().filter_map(|(one, seen)| Some((seen.stops? as f64 / copies(one) as f64, seen.stop_ns? as f64)));
    let stopped: f64 = stopped.map(|(stops, cost)| stops * cost).sum();
    let time = total(programs().flat_map(|(one, _)| &one.runs).map(|run| run.interval_ns)) as f64;
    if stopped > 0.0 && time > 0.0 {
        return raise(&V39, stopped / time, || {
            format!(
                "the program stood still for charz for {} of its time: --follow none leaves it alone",
                units::percent(stopped / time)
            )
        });
    }
    let cpus: BTreeSet<u32> = case.cell.seats.iter().copied().flatten().collect();
    let is_free = programs().any(|(_, seen)| seen.followed == Follow::None.name());
    (is_free && cpus.len() > 1 && !case.facts.in_copies).then(|| {
        let cpus = counted(cpus.len(), "CPU");
        mark(&V39, Severity::Note, format!("nothing followed the program, so its threads had its {cpus} together"))
    })
}

/// A program that printed faster than it was read.
fn waited_for_its_reader(case: &Case<'_>) -> Option<Mark> {
    let waited = |one: &Invocation| one.evidence.as_ref()?.program.as_ref()?.write_wait_ns;
    let counted = || case.done().filter(|one| waited(one).is_some());
    let time = total(counted().flat_map(|one| &one.runs).map(|run| run.interval_ns)) as f64;
    let share = total(counted().filter_map(waited)) as f64 / time.max(1.0);
    raise(&V40, share, || {
        format!(
            "stood still for up to {:.1}% of its time until charz read its output; --program-output null reads none",
            share * 100.0
        )
    })
}

/// A program whose first run did what the others found done.
fn unlike_the_first(case: &Case<'_>) -> Option<Mark> {
    let first_ns = |one: &Invocation| one.evidence.as_ref()?.program.as_ref()?.first_ns;
    let first = case.done().find_map(first_ns)? as f64;
    // Where there was no time for more, the first run is itself an invocation, before the one that has its time.
    let later = || case.done().skip_while(|one| first_ns(one).is_none());
    // As of the first run, the pauses of a quota are left out, which are waiting for a CPU.
    let paused = |run: &Run| {
        let waits = run.laps.iter().filter_map(Lap::waited_ns);
        waits.max().filter(|_| run.throttled_periods.is_some_and(|periods| periods > 0)).unwrap_or(0)
    };
    let middle = |runs: &mut dyn Iterator<Item = &Run>| {
        median(runs.map(|run| run.interval_ns.saturating_sub(paused(run)) as f64))
    };
    // Runs that waited for a CPU are longer for another reason.
    let clean = middle(&mut later().flat_map(Invocation::clean_runs));
    let later = clean.or_else(|| middle(&mut later().flat_map(|one| &one.runs)))?;
    let is_apart = (first - later).abs() >= FIRST_RUN_NS as f64;
    let ratio = if is_apart { (first / later).max(later / first) } else { 0.0 };
    raise(&V37, ratio, || {
        let [first, later] = [first, later].map(units::nanos);
        format!("the first run took {first} and the later ones {later}: they find what it left; --setup can undo that")
    })
}

/// A program whose very first run, of another configuration, did what all others found done. The later ones of that configuration say so or, as long as
/// there is none, these if they took less time than its threads explain: one after the other at most.
fn unlike_the_very_first(case: &Case<'_>) -> Option<Mark> {
    let seen = || case.evidence().filter_map(|evidence| evidence.program.as_ref()?.first_elsewhere);
    // A sweep that is resumed has a first run of its own, which finds what the first of all left.
    let first = seen().max_by_key(|first| first.ns)?;
    let own = median(case.clean_runs().map(|run| run.interval_ns as f64))?;
    let turns = (first.threads as f64 / case.cell.workers.max(1) as f64).max(1.0);
    let later = seen().filter_map(|first| first.later_ns).last();
    let explained = later.map_or(own * turns, |later| own.max(later as f64));
    let took = first.ns as f64;
    let ratio = if took - explained >= FIRST_RUN_NS as f64 { took / explained } else { 0.0 };
    raise(&V37, ratio, || {
        let ([took, own], threads) = ([took, own].map(units::nanos), counted(first.threads as usize, "thread"));
        format!(
            "the first run of all, with {threads}, took {took} and these {own}: they find what it left; --setup can undo that"
        )
    })
}

/// A program whose time the number of its threads does not change, though they work.
fn as_long_as_alone(case: &Case<'_>) -> Option<Mark> {
    let seen = case
        .evidence()
        .filter_map(|evidence| evidence.program.as_ref())
        .filter_map(|seen| Some((seen.alone_ns? as f64, seen.alone_cpu_ns? as f64)));
    let (alone, alone_cpu) = seen.last()?;
    let wall = median(case.clean_runs().map(|run| run.interval_ns as f64))?;
    let cpu = |run: &Run| total(run.laps.iter().filter_map(|lap| lap.counts.cpu_ns)) as f64;
    let cpu = median(case.clean_runs().map(cpu))?;
    let is_same = (wall / alone - 1.0).abs() <= SAME_TIME && alone_cpu > 0.0;
    raise(&V38, if is_same { cpu / alone_cpu } else { 0.0 }, || {
        let (wall, more) = (units::nanos(wall), cpu / alone_cpu);
        format!(
            "took {wall} as with 1 thread, and {more:.1} times the processor time: it runs for a fixed time, or does not scale; --value takes \
             its own count"
        )
    })
}
