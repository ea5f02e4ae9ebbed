//! Where the workers were, what was taken from them, and whether the machine stayed the same: V01 to V07, V10, V19, V25, V32 and V36.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::{Follow, Role, params};

use super::case::{Case, excess, total};
use super::raise;
use charz_data::checks::{Check, STEAL_TICKS_NS, STEAL_WINDOW_NS};
use charz_data::checks::{V01, V02, V03, V04, V05, V06, V07, V10, V19, V25, V32, V36};
use charz_data::escape::counted;
use charz_data::report::{Evidence, Lap, Mark, ProgramSeen};
use charz_data::units;

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    vec![
        off_seat(case),
        other_threads(case),
        moved(case),
        dirty(case, &V03, "a thread was preempted"),
        dirty(case, &V04, "a thread was stalled (blocked, or VM paused)"),
        stolen(case),
        pressed(case),
        throttled(case),
        changed(case, &V10, true, "the clock changed"),
        shared(case),
        changed(case, &V25, false, "the machine changed during the sweep"),
        late(case),
    ]
}

fn off_seat(case: &Case<'_>) -> Option<Mark> {
    let laps = case.seated_laps().filter(|lap| lap.off_seat()).count();
    raise(&V01, laps as f64, || {
        let all = case.seated_laps().count();
        if case.facts.card.role != Role::Program {
            return format!("in {laps} of {all} laps a thread was not on its CPU");
        }
        let moved = case.seated_laps().find(|lap| lap.off_seat() && lap.strand != lap.seat);
        let to = moved.and_then(|lap| Some(format!(", e.g. from CPU {} to {}", lap.seat?, lap.strand?)));
        let to = to.unwrap_or_default();
        format!("in {laps} of {all} laps the affinity of a thread of the program was changed{to}")
    })
}

/// A program that was asked for more threads than worked, or for fewer CPUs than it used: its number is not that of so many.
fn other_threads(case: &Case<'_>) -> Option<Mark> {
    let asked = case.cell.seats.len();
    let programs = || case.evidence().filter_map(|evidence| evidence.program.as_ref());
    let working = |seen: &ProgramSeen| seen.working.unwrap_or(seen.threads).min(seen.threads);
    // Threads that the system places have CPUs of their own, however many there are. A twentieth is left to helpers.
    let floats = case.cell.seats.contains(&None);
    let wanted = programs().filter_map(|seen| seen.wanted_cpus.filter(|_| floats)).fold(0.0_f64, f64::max);
    let beyond = (0.95 * wanted).round() - asked as f64;
    // Of threads that were not looked for, none were seen.
    let seen = programs().filter(|seen| seen.followed != Follow::None.name()).min_by_key(|seen| working(seen));
    // Those of threads without a seat are counted on the first one.
    let idle = seen.filter(|seen| seen.followed == Follow::Ptrace.name()).map_or(0, |_| idle_seats(case));
    // Of threads that were not looked for in these runs, those of a first run that was followed.
    let first = programs().find_map(|seen| seen.first_working.filter(|_| seen.followed == Follow::None.name()));
    let lacking = seen.map(working).or(first).map_or(0, |working| (asked as u64).saturating_sub(working));
    raise(&V36, (lacking.max(idle) as f64).max(beyond), || {
        if let Some(first) = first.filter(|_| beyond <= 0.0 && seen.is_none()) {
            return format!("the program's first run had {} instead of {asked}", counted(first as usize, "thread"));
        }
        let Some(seen) = seen.filter(|_| beyond <= 0.0) else {
            return format!("the program had work for {wanted:.1} CPUs instead of {asked}");
        };
        if working(seen) >= asked as u64 {
            let busy = counted(asked - idle as usize, "CPU");
            return format!(
                "{} of the program worked on {busy}: one that waits has a CPU of its own",
                counted(asked, "thread")
            );
        }
        let (working, all) = (working(seen), seen.threads);
        let of_all = if working < all { format!(" at a time, of {all},") } else { String::new() };
        // Those that end before the next look are not seen.
        let ran = if seen.followed == "poll" { "polled, the program was seen with" } else { "the program ran" };
        format!("{ran} {}{of_all} instead of {asked}", counted(working as usize, "thread"))
    })
}

/// The seats of a program on which hardly anything ran: less than a hundredth of the time of the busiest one, as V36 has it.
fn idle_seats(case: &Case<'_>) -> u64 {
    let mut seats: BTreeMap<u32, u64> = BTreeMap::new();
    for lap in case.seated_laps() {
        if let (Some(seat), Some(cpu_ns)) = (lap.seat, lap.counts.cpu_ns) {
            *seats.entry(seat).or_default() += cpu_ns;
        }
    }
    let enough = seats.values().max().map_or(0, |most| (most / 100).min(10_000_000 * case.runs().count() as u64));
    seats.values().filter(|cpu_ns| **cpu_ns < enough).count() as u64
}

fn moved(case: &Case<'_>) -> Option<Mark> {
    let (runs, all) = (case.runs().filter(|run| run.laps.iter().any(Lap::moved)).count(), case.runs().count());
    let moves = total(case.seated_laps().filter_map(|lap| lap.counts.migrations));
    // A kernel does nothing that moves its threads, so what moved one may have been at work in all of its runs.
    let lost = if case.facts.card.role == Role::Program || runs == 0 { runs as f64 / all.max(1) as f64 } else { 1.0 };
    raise(&V02, lost, || {
        let times = counted(moves as usize, "time");
        format!("pinned threads migrated {times} in {runs} of {all} iterations, which are discarded")
    })
}

fn shared(case: &Case<'_>) -> Option<Mark> {
    let (workers, strands) = (case.cell.seats.len(), case.facts.strands);
    // Threads without a seat are where they are seen.
    let seen = case.runs().flat_map(|run| &run.laps).filter_map(|lap| lap.seat.or(lap.strand));
    let cpus: BTreeSet<u32> = case.cell.seats.iter().copied().flatten().chain(seen).collect();
    // A quota that has time for fewer CPUs than threads are on.
    let is_quota = case.facts.quota && cpus.len() > strands;
    raise(&V19, excess(&case.cell.seats, case.facts) as f64, || {
        if workers > strands && is_quota {
            format!("oversubscribed: {workers} threads, and the CPU quota has time for {strands}")
        } else if workers > strands {
            format!("oversubscribed: {workers} threads on {}", counted(strands, "CPU"))
        } else {
            "threads share a CPU although others are free".into()
        }
    })
}

/// What changed, each once: the clock source, or everything else.
fn changed(case: &Case<'_>, check: &Check, of_the_clock: bool, what: &str) -> Option<Mark> {
    let is_clock = |change: &str| change.split(':').next() == Some(Evidence::CLOCK_SOURCE);
    let all = case.evidence().flat_map(|evidence| &evidence.changes).map(String::as_str);
    let changes: BTreeSet<&str> = all.filter(|change| is_clock(change) == of_the_clock).collect();
    raise(check, changes.len() as f64, || format!("{what}: {}", Vec::from_iter(changes).join("; ")))
}

/// By the share of repetitions that do not count for this cause.
fn dirty(case: &Case<'_>, check: &Check, what: &str) -> Option<Mark> {
    let dirty = case.runs().filter(|run| run.dirty.iter().any(|code| code == check.code)).count();
    let all = case.runs().count();
    raise(check, dirty as f64 / all.max(1) as f64, || format!("{dirty} of {all} iterations discarded: {what}"))
}

/// Of the repetitions that count, like pressure. Steal is read around a little more than the repetition, which is much
/// more than an empty one.
fn stolen(case: &Case<'_>) -> Option<Mark> {
    if !case.timed {
        return None;
    }
    let stolen = total(case.clean_runs().filter_map(|run| run.steal_ns));
    let window = total(case.clean_runs().map(|run| run.interval_ns)).max(1) as f64;
    let counted = window >= STEAL_WINDOW_NS as f64 || stolen >= STEAL_TICKS_NS;
    // What was there to be stolen: the time of the strands that the workers were on, or of all where one of them floats.
    let floats = case.cell.seats.contains(&None);
    let cpus = if floats { case.facts.cpus.max(1) } else { case.strands_in_use() };
    let share = stolen as f64 / (window * cpus as f64);
    raise(&V05, if counted { share } else { 0.0 }, || format!("{} CPU steal", units::percent(share.min(1.0))))
}

/// Of the repetitions that count: the others are reported by the check that excluded them.
fn pressed(case: &Case<'_>) -> Option<Mark> {
    if case.crowded || !case.timed || case.facts.card.blocks_in_kernel {
        return None;
    }
    let pressure = total(case.clean_runs().filter_map(|run| run.pressure_ns));
    let time = total(case.clean_runs().map(|run| run.interval_ns)).max(1);
    let share = (pressure as f64 / time as f64).min(1.0);
    raise(&V06, share, || format!("CPU pressure (PSI) {}", units::percent(share)))
}

fn throttled(case: &Case<'_>) -> Option<Mark> {
    let periods = total(case.runs().filter_map(|run| run.throttled_periods));
    raise(&V07, periods as f64, || {
        let periods = counted(periods as usize, "period");
        let is_program = case.facts.card.role == Role::Program;
        let counts = if is_program { ", whose pauses are part of the number" } else { "" };
        format!("throttled by the CPU quota in {periods}{counts}")
    })
}

/// Whether samples began when they were due.
fn late(case: &Case<'_>) -> Option<Mark> {
    if !case.obeys(&params::PERIOD) {
        return None;
    }
    let met = || case.clean_runs().flat_map(|run| &run.laps).filter_map(|lap| lap.contention);
    let samples = total(met().map(|met| met.attempts));
    let late = total(met().map(|met| met.waits)) as f64 / samples.max(1) as f64;
    raise(&V32, late, || format!("sampling fell behind schedule ({} late)", units::percent(late)))
}
