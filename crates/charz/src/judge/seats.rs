//! Where the workers were, and whether the machine stayed what it was: V01, V02, V10, V19 and V25.

use super::case::{Case, excess, total};
use super::waits::plural;
use super::{dirt, raise};
use charz_data::checks::{V01, V02, V10, V19, V25};
use charz_data::report::{Evidence, Mark};

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    vec![off_seat(case), moved(case), clock_changed(case), shared(case), changed(case)]
}

fn off_seat(case: &Case<'_>) -> Option<Mark> {
    let laps = case.seated_laps().filter(|lap| dirt::off_seat(lap)).count();
    raise(&V01, laps as f64, || {
        let all = case.seated_laps().count();
        format!("in {laps} of {all} laps a worker was not on its seat: the binding was not honoured")
    })
}

fn moved(case: &Case<'_>) -> Option<Mark> {
    let moves = total(case.seated_laps().filter_map(|lap| lap.counts.migrations));
    raise(&V02, moves as f64, || format!("seated workers were moved {moves} {}", plural(moves, "time")))
}

fn shared(case: &Case<'_>) -> Option<Mark> {
    let (workers, strands) = (case.cell.seats.len(), case.facts.strands);
    raise(&V19, excess(&case.cell.seats, case.facts) as f64, || {
        if workers > strands {
            format!(
                "{workers} workers, and {strands} can run at once: there are no more strands, or the CPU quota is used up"
            )
        } else {
            "workers share a strand although others are free".into()
        }
    })
}

fn clock_changed(case: &Case<'_>) -> Option<Mark> {
    let changes = changes(case, true);
    raise(&V10, changes.len() as f64, || {
        format!("the kernel took another clock while it measured: {}", changes.join("; "))
    })
}

fn changed(case: &Case<'_>) -> Option<Mark> {
    let changes = changes(case, false);
    raise(&V25, changes.len() as f64, || format!("the machine changed while it was measured: {}", changes.join("; ")))
}

/// What changed, each once: the clock source, or everything else.
fn changes<'a>(case: &Case<'a>, of_the_clock: bool) -> Vec<&'a str> {
    let is_clock = |change: &str| change.split(':').next() == Some(Evidence::CLOCK_SOURCE);
    let all = case.evidence().flat_map(|evidence| &evidence.changes).map(String::as_str);
    let mut changes: Vec<&str> = all.filter(|change| is_clock(change) == of_the_clock).collect();
    changes.sort_unstable();
    changes.dedup();
    changes
}
