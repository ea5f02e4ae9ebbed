//! What the system did not tell, and which verdicts needed it.
//!
//! | not told | weighs | why |
//! | --- | --- | --- |
//! | a seated worker's mask and strand | suspect | nothing else says where the number belongs |
//! | migrations, and strands between blocks | suspect | a worker may have been away and back |
//! | run delay and involuntary switches | suspect | nothing else says that a worker waited; one of them will do |
//! | processor time, or both of the former | suspect | nothing else says that a worker stood still |
//! | steal | suspect | in a guest, or where nobody knows; nobody steals from bare metal |
//! | pressure | note | V03 tells what the workers themselves waited; many kernels are built without it |
//! | throttling | suspect | under a quota; without one nothing throttles |
//! | the frequency | note | there is no canary for every processor; V17 falls with it |
//! | the clock's steps and cost | suspect | nothing else says what can be timed |
//! | the skew of the strands' clocks | suspect | for several workers on strands of their own |
//! | what changed of the machine | suspect | no evidence at all came back |
//! | the kind of pages | suspect | kernels with `--pages`: the number is said to be of that kind |
//! | NUMA nodes of the blocks | suspect | seated workers on several nodes: as V20 |
//! | whether the kernel balances nodes | note | where the memory lay is known |
//! | faults | suspect | nothing else says that memory was there |
//! | the caches' sizes | suspect | kernels with `--size`: the number is said to be memory's |

use charz_kernels::params;

use super::case::Case;
use super::mark;
use charz_data::checks::{Check, V01, V02, V03, V04, V05, V06, V07, V08, V09, V11, V20, V21, V22, V25, V27};
use charz_data::report::Severity;
use charz_data::report::Severity::{Note, Suspect};
use charz_data::report::{Counts, Evidence, Lap, Mark, Run};

pub(super) fn marks(case: &Case<'_>) -> Vec<Mark> {
    let facts = case.facts;
    let several = case.cell.seats.len() > 1 && !case.crowded;
    let guest = facts.virtual_machine != Some(false);
    // Where the system is part of what is measured, its waits are no disturbance, whether it tells them or not.
    let own = case.timed && !facts.card.blocks_in_kernel;
    let blocks = case.obeys(&params::PAGES);
    let nodes = blocks && facts.numa_nodes > 1 && case.cell.seats.iter().any(Option::is_some);
    let timer = facts.timer.as_ref();
    let gaps: [(&Check, Severity, bool, &str); 16] = [
        (&V01, Suspect, seated(case, |lap| lap.on_seat.is_none()), "whether the binding was honoured"),
        (&V02, Suspect, seated(case, unfollowed), "whether seated workers were moved in between"),
        (&V03, Suspect, own && !case.crowded && counts(case, waits_unknown), "whether workers waited for a strand"),
        (&V04, Suspect, own && counts(case, stops_unknown), "whether workers stood still"),
        (&V05, Suspect, case.timed && guest && runs(case, |run| run.steal_ns.is_none()), "what the hypervisor took"),
        (&V06, Note, own && pressed(case), "whether other work waited for a processor"),
        (
            &V07,
            Suspect,
            facts.quota && runs(case, |run| run.throttled_periods.is_none()),
            "whether the CPU quota was used up",
        ),
        (&V08, Note, canary(case), "the clock frequency"),
        (&V09, Suspect, case.timed && timer.is_none(), "what its clock resolves and costs"),
        (&V11, Suspect, case.timed && several && timer.is_some_and(|timer| timer.skew_ns.is_none()), SKEW),
        (&V20, Suspect, blocks && evidence(case, |evidence| evidence.pages.is_none()), "what pages the memory got"),
        (
            &V21,
            Suspect,
            nodes && evidence(case, |evidence| evidence.nodes.is_none()),
            "which NUMA nodes the memory lies on",
        ),
        (&V21, Note, nodes && evidence(case, balance_unknown), "whether it moves pages between NUMA nodes by itself"),
        (&V22, Suspect, counts(case, faults_unknown), "whether memory was there when it was needed"),
        (&V25, Suspect, case.done().any(|invocation| invocation.evidence.is_none()), "whether the machine changed"),
        (&V27, Suspect, case.obeys(&params::SIZE) && facts.last_cache_bytes.is_none(), "how large the caches are"),
    ];
    let missing = gaps.into_iter().filter(|(_, _, is_missing, _)| *is_missing);
    missing
        .map(|(check, severity, _, what)| mark(check, severity, format!("the system does not tell {what}")))
        .collect()
}

const SKEW: &str = "how far the clocks of the strands are apart";

fn seated(case: &Case<'_>, missing: fn(&Lap) -> bool) -> bool {
    case.seated_laps().any(missing)
}

fn runs(case: &Case<'_>, missing: fn(&Run) -> bool) -> bool {
    case.runs().any(missing)
}

fn counts(case: &Case<'_>, missing: fn(&Counts) -> bool) -> bool {
    case.runs().flat_map(|run| &run.laps).any(|lap| missing(&lap.counts))
}

fn evidence(case: &Case<'_>, missing: fn(&Evidence) -> bool) -> bool {
    case.evidence().any(missing)
}

/// Either of the two would have seen a worker that was away and back.
fn unfollowed(lap: &Lap) -> bool {
    lap.counts.migrations.is_none() && lap.strays.is_none()
}

fn waits_unknown(counts: &Counts) -> bool {
    counts.run_delay_ns.is_none() && counts.involuntary_switches.is_none()
}

fn stops_unknown(counts: &Counts) -> bool {
    counts.cpu_ns.is_none() || waits_unknown(counts)
}

fn faults_unknown(counts: &Counts) -> bool {
    counts.minor_faults.is_none() || counts.major_faults.is_none()
}

fn pressed(case: &Case<'_>) -> bool {
    case.timed && !case.crowded && runs(case, |run| run.pressure_ns.is_none())
}

/// Where workers share strands a canary would tell of the scheduler, and none is asked.
fn canary(case: &Case<'_>) -> bool {
    case.timed && !case.crowded && evidence(case, |evidence| evidence.frequency.is_none())
}

fn balance_unknown(evidence: &Evidence) -> bool {
    evidence.nodes.is_some_and(|nodes| nodes.balancing.is_none())
}
