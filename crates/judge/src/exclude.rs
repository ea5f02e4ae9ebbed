//! Which repetitions do not count, and for what cause. Values are not looked at.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::slice;

use super::{JudgeContext, estimate, mark};
use charz_data::checks::{
    Check, FEWEST_SHARED, INTERVAL_NEEDS, LEAST_OF_A_GROUP, MOVED, V01, V02, V03, V04, V07, V16, V18, V22, V34, V35,
};
use charz_data::escape::counted;
use charz_data::report::{Cell, Ending, Invocation, Lap, Mark, Run, Severity};
use charz_data::{Role, units};
use charz_stats::{Sample, median};

#[derive(Clone, Copy)]
pub(super) struct Conditions {
    /// Whether the kernel has work to repeat: shares of no time say nothing.
    pub(super) timed: bool,
    pub(super) crowded: bool,
    /// Whether the measurement includes waiting, sleeping and faults.
    pub(super) system: bool,
    /// Whether some of the workers write files, and wait in the system meanwhile.
    pub(super) files: bool,
    /// Whether workers are to work all the time: of work that is taken part by part, the last parts occupy only some of them.
    pub(super) together: bool,
    /// Whether values are made of blocks, of which those count that nothing disturbed.
    pub(super) blocks: bool,
    /// Whether it is a program of the user's, which may wait for a disk as it does elsewhere.
    pub(super) foreign: bool,
    /// Whether what a CPU quota leaves is what is measured.
    pub(super) quota: bool,
}

pub(super) fn note(run: &mut Run, conditions: Conditions) {
    let any = |holds: fn(&Lap) -> bool| run.laps.iter().any(holds);
    let Conditions { timed, crowded, system, files, together, blocks, foreign, quota } = conditions;
    let whole = timed && !blocks && (crowded || !estimate::is_told_by_blocks(run));
    // A program gets the pauses of a quota with its CPUs, wherever it runs under it.
    let throttled = !quota && !foreign && run.throttled_periods.is_some_and(|periods| periods > 0);
    let causes: [(&Check, bool); 7] = [
        (&V01, any(Lap::off_seat)),
        (&V02, any(Lap::moved)),
        (&V03, whole && !crowded && !system && any(Lap::waited)),
        (&V04, whole && !system && !files && any(Lap::stood_still)),
        (&V07, whole && throttled),
        (&V18, whole && !crowded && together && V18.dirties(1.0 - run.overlap())),
        (&V22, (!foreign && any(Lap::waited_for_disk)) || (timed && !system && any(Lap::faulted))),
    ];
    run.dirty = causes.into_iter().filter(|(_, holds)| *holds).map(|(check, _)| check.code.to_owned()).collect();
}

/// The fewest invocations that must be left for others to be left out.
const LEAST_LEFT: usize = INTERVAL_NEEDS;

/// Leaves out the invocations during which other programs used the machine, if enough are left without.
pub(super) fn leave_out_shared(cell: &mut Cell, facts: &JudgeContext) {
    let workers = cell.seats.len();
    let shared = |invocation: &Invocation| {
        let used = others(slice::from_ref(invocation), workers, facts);
        used.is_some_and(|used| V34.severity(share_taken(used, workers, facts)).is_some())
    };
    let alone = |invocation: &&Invocation| invocation.ending == Ending::Done && !shared(invocation);
    if cell.invocations.iter().filter(alone).count() >= LEAST_LEFT {
        let shared = cell.invocations.iter_mut().filter(|invocation| shared(invocation));
        let runs = shared.flat_map(|invocation| &mut invocation.runs);
        runs.for_each(|run| run.dirty.push(V34.code.to_owned()));
    }
}

/// Leaves out the invocations whose CPUs were not as far apart as in most of those with a value: of as many the nearest count.
/// Gives what each of the placements is worth, where there are several.
pub(super) fn leave_out_moved(cell: &mut Cell) -> Option<Mark> {
    let apart = Sample::new(cell.invocations.iter().filter_map(Invocation::apart_ns).collect())?;
    let mut placements = apart.groups(1.0 + MOVED);
    placements.retain(|placement| placement.len() >= LEAST_OF_A_GROUP);
    placements.sort_by_key(|placement| Reverse(placement.len()));
    let (most, others) = placements.split_first().filter(|(_, others)| !others.is_empty())?;
    let is_in = |placement: &Sample, one: &Invocation| {
        one.apart_ns().is_some_and(|ns| (placement.min()..=placement.max()).contains(&ns))
    };
    let shown = |placement: &Sample| {
        let values = cell.invocations.iter().filter(|one| is_in(placement, one)).filter_map(|one| one.value);
        let value = median(values).unwrap_or(f64::NAN);
        let (value, ns) = (units::value(value, cell.unit), units::nanos(placement.median()));
        format!("{ns} apart in {} ({value})", counted(placement.len(), "run"))
    };
    let (most_shown, others) = (shown(most), others.iter().map(shown).collect::<Vec<_>>().join(", "));
    let left_out = cell.invocations.iter_mut().filter(|one| !is_in(most, one)).flat_map(|one| &mut one.runs);
    left_out.for_each(|run| run.dirty.push(V16.code.to_owned()));
    Some(mark(&V16, Severity::Note, format!("CPUs {most_shown}, which count, and {others}: the host moved them")))
}

/// Leaves out the iterations that were stopped within a size, or that ended at another one than most did: of as many, the larger one.
pub(super) fn leave_out_other_sizes(invocations: &mut [Invocation]) {
    let sizes =
        |run: &Run| run.growth.as_ref().filter(|growth| growth.unfinished.is_none()).map(|growth| growth.steps.len());
    let mut counts = BTreeMap::<usize, usize>::new();
    for size in invocations.iter().flat_map(|invocation| &invocation.runs).filter_map(sizes) {
        *counts.entry(size).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(size, count)| (*count, *size)).map(|(size, _)| size);
    let grown = invocations.iter_mut().flat_map(|invocation| &mut invocation.runs).filter(|run| run.growth.is_some());
    grown.filter(|run| sizes(run) != most || most == Some(0)).for_each(|run| run.dirty.push(V35.code.to_owned()));
}

/// Of so many strands that others used, the share of the machine's CPUs; beside a program, without what its free CPUs hold.
pub(super) fn share_taken(used: f64, workers: usize, facts: &JudgeContext) -> f64 {
    let free = if facts.card.role == Role::Program { facts.cpus.saturating_sub(workers) } else { 0 };
    share_of_cpus((used - free as f64).max(0.0), facts)
}

/// So many strands as a share of the machine's CPUs.
pub(super) fn share_of_cpus(used: f64, facts: &JudgeContext) -> f64 {
    used / facts.cpus.max(FEWEST_SHARED) as f64
}

/// What other programs used for sure while these were made, in strands; `None` where that is not known of any.
///
/// `/proc/stat` shows whole ticks of three times: over n readings their differences are off by some 7 ms √n, of which twenty are
/// three standard deviations. Where the kernel counts by ticks of its own (4 ms at 250 per second), all CPUs may look at the same moment:
/// a repetition that begins and ends between ticks is then off by 0.4 ticks on each worker's CPU alike, and by √n as much over n of them.
pub(super) fn others<'a>(
    invocations: impl IntoIterator<Item = &'a Invocation>,
    workers: usize,
    facts: &JudgeContext,
) -> Option<f64> {
    others_less(invocations, workers, facts, |_| 0)
}

/// The same without what they used of the workers' own strands, for which the workers waited.
pub(super) fn others_elsewhere<'a>(
    invocations: impl IntoIterator<Item = &'a Invocation>,
    workers: usize,
    facts: &JudgeContext,
) -> Option<f64> {
    others_less(invocations, workers, facts, |invocation| {
        let laps = invocation.runs.iter().flat_map(|run| &run.laps);
        laps.filter_map(|lap| lap.counts.run_delay_ns).fold(0, u64::saturating_add)
    })
}

fn others_less<'a>(
    invocations: impl IntoIterator<Item = &'a Invocation>,
    workers: usize,
    facts: &JudgeContext,
    less: impl Fn(&Invocation) -> u64,
) -> Option<f64> {
    const DOUBT_NS: f64 = 20e6;
    const DOUBT_OF_A_WORKER: f64 = 0.75;
    /// Of most distributions' kernels.
    const USUAL_TICK_NS: u64 = 4_000_000;
    let (mut used, mut time, mut count, mut of_workers) = (0.0, 0.0, 0.0, 0.0);
    let busy_strands = workers.min(facts.cpus) as f64;
    for invocation in invocations {
        let Some(busy) = invocation.evidence.as_ref().and_then(|evidence| evidence.busy) else { continue };
        // What is too little in one invocation is too much in another.
        used += busy.all_ns as f64 - busy.own_ns as f64 - less(invocation) as f64;
        time += busy.time_ns as f64;
        count += 1.0;
        let tick = busy.tick_ns.unwrap_or(USUAL_TICK_NS) as f64;
        of_workers += (DOUBT_OF_A_WORKER * tick * busy_strands).powi(2) * invocation.runs.len() as f64;
    }
    let doubt = f64::sqrt(DOUBT_NS.powi(2) * count + of_workers);
    (time > 0.0).then(|| ((used - doubt) / time).max(0.0))
}
