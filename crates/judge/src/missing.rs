//! Evidence that the system did not report, and the verdicts that needed it.

use charz_data::{Follow, Role, params};

use super::case::{Case, shares_memory};
use super::mark;
use charz_data::checks::{
    Check, NOT_REPORTED, V01, V02, V03, V04, V05, V06, V07, V08, V09, V11, V20, V21, V22, V25, V27, V34,
};
use charz_data::report::Severity::{self, Note, Suspect};
use charz_data::report::{Counts, Evidence, Lap, Mark, Run};

pub(super) fn marks(case: &Case<'_>) -> Vec<Mark> {
    let facts = case.facts;
    let alone = case.timed && !case.crowded;
    let guest = facts.virtual_machine != Some(false);
    // If a kernel measures the system itself, waits in the system are no disturbance, reported or not.
    let own = case.timed && !facts.card.blocks_in_kernel;
    // What a program touches and how fast its cores run in between is its own affair.
    let foreign = facts.card.role == Role::Program;
    // Blocks tell by themselves.
    let by_runs = case.modes.is_none();
    let blocks = case.obeys(&params::PAGES);
    let memory = shares_memory(case.cell, facts);
    // Of a line that workers share, nothing says where it lies.
    let placed = blocks || case.obeys(&params::SIZE) && case.obeys(&params::MEMORY);
    let nodes = placed && facts.numa_nodes > 1 && case.cell.seats.iter().any(Option::is_some);
    let unskewed = facts.timer.as_ref().is_some_and(|timer| timer.skew_ns.is_none());

    // V39 says of a program that nothing follows what is not known of it.
    let is_free =
        case.evidence().filter_map(|found| found.program.as_ref()).any(|seen| seen.followed == Follow::None.name());
    let seated = |missing: fn(&Lap) -> bool| !is_free && case.seated_laps().any(missing);
    let run = |missing: fn(&Run) -> bool| case.runs().any(missing);
    let counts =
        |missing: &dyn Fn(&Counts) -> bool| case.runs().flat_map(|run| &run.laps).any(|lap| missing(&lap.counts));
    let evidence = |missing: fn(&Evidence) -> bool| case.evidence().any(missing);

    let unfollowed = |lap: &Lap| lap.counts.migrations.is_none() && lap.strays.is_none();
    let waits = |counts: &Counts| counts.run_delay_ns.is_none() && counts.involuntary_switches.is_none();
    let stops = |counts: &Counts| counts.cpu_ns.is_none() || waits(counts);
    let faults = |counts: &Counts| counts.minor_faults.is_none() || counts.major_faults.is_none();
    let balance = |found: &Evidence| found.nodes.is_some_and(|nodes| nodes.balancing.is_none());

    let gaps: [(&Check, Severity, bool, &str); 17] = [
        // Nothing else says where the number belongs.
        (&V01, Suspect, seated(|lap| lap.on_seat.is_none()), "whether the binding was honoured"),
        // A worker may have been away and back: either of migrations and strands between blocks would have seen it.
        (&V02, Suspect, seated(unfollowed), "whether seated workers were moved in between"),
        // Nothing else says that a worker waited; run delay or involuntary switches will do.
        (&V03, Suspect, own && by_runs && !case.crowded && counts(&waits), "whether workers waited for a strand"),
        // Nothing else says that a worker stood still.
        (&V04, Suspect, own && by_runs && counts(&stops), "whether workers stood still"),
        // Bare metal has no hypervisor that steals.
        (&V05, Note, case.timed && guest && run(|run| run.steal_ns.is_none()), "what the hypervisor took"),
        // V03 has the waits of the workers themselves; many Linux kernels are built without pressure.
        (&V06, Note, own && alone && run(|run| run.pressure_ns.is_none()), "whether other work waited for a processor"),
        // Without a quota nothing throttles.
        (&V07, Note, facts.quota && run(|run| run.throttled_periods.is_none()), "whether the CPU quota was used up"),
        // Not every processor has a canary, and workers that share strands have none: it would measure the scheduler. V17
        // falls with it.
        (&V08, Note, alone && !foreign && evidence(|found| found.frequency.is_none()), "the clock frequency"),
        // Nothing else says what can be timed.
        (&V09, Suspect, case.timed && facts.timer.is_none(), "what its clock resolves and costs"),
        // For several workers on strands of their own.
        (&V11, Suspect, alone && case.cell.seats.len() > 1 && unskewed, "how far the clocks of the strands are apart"),
        // The number is said to be of that kind.
        (&V20, Suspect, blocks && evidence(|found| found.pages.is_none()), "what pages the memory got"),
        // The same, for seated workers on several nodes.
        (&V21, Suspect, nodes && evidence(|found| found.nodes.is_none()), "which NUMA nodes the memory lies on"),
        // Where the memory lay is known.
        (&V21, Note, nodes && evidence(balance), "whether it moves pages between NUMA nodes by itself"),
        // Nothing else says that memory was there.
        (&V22, Suspect, !foreign && counts(&faults), "whether memory was there when it was needed"),
        // No evidence at all came back.
        (&V25, Suspect, case.done().any(|invocation| invocation.evidence.is_none()), "whether the machine changed"),
        // What others used shows in the spread too.
        (
            &V34,
            Note,
            alone && memory && evidence(|found| found.busy.is_none()),
            "what other programs used of the machine",
        ),
        // The number is said to be memory's.
        (&V27, Suspect, case.obeys(&params::SIZE) && facts.last_cache_bytes.is_none(), "how large the caches are"),
    ];
    let missing = gaps.into_iter().filter(|(_, _, is_missing, _)| *is_missing);
    missing.map(|(check, severity, _, what)| mark(check, severity, format!("{NOT_REPORTED}: {what}"))).collect()
}
