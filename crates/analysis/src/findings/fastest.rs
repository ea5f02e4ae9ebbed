//! The fastest of the pools that do the same: of those under a lock, and of those without.

use super::on_cell;
use super::series::{Series, list, unknown};
use charz_data::Role;
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind, Report, Unit};
use charz_estimate::{Best, Estimate, contests, grouped};
use charz_words::estimate::shown;
use charz_words::point;

/// For each mapping, point and number of workers with two or more pools of a kind, which of them does most.
pub(super) fn fastest(all: &[Series<'_>], report: &Report) -> Vec<Finding> {
    let is_pool = |role: &Role| matches!(role, Role::LockPool { .. } | Role::LockFreePool { .. });
    let pools = all.iter().filter(|series| is_pool(series.role()) && series.counts(Unit::OpsPerSecond));
    let mut found = Vec::new();
    for pools in grouped(pools, |series| series.mapping) {
        let role = |number: &Estimate<'_>| report.role(&number.cell.kernel);
        // Of a run or two none is shown to be the fastest.
        let sound = pools.iter().flat_map(|series| series.numbers()).filter(|number| number.interval.is_some());
        let numbers: Vec<Estimate<'_>> = sound.collect();
        let is_reference = |number: &&Estimate<'_>| matches!(role(number), Role::LockPool { is_reference: true, .. });
        for (locks, what) in [(true, "lock"), (false, "pool without a lock")] {
            let own = numbers.iter().copied().filter(|number| is_lock(role(number)) == locks);
            let place = |number: &Estimate<'_>| (number.cell.point, number.cell.workers);
            for Best { number: best, alike, .. } in contests(own, place) {
                let (point, workers) = place(&best);
                let is_rival = |series: &&Series<'_>| is_lock(series.role()) == locks && series.cells[0].point == point;
                let rivals = || pools.iter().copied().filter(is_rival);
                let reference = numbers.iter().filter(is_reference).find(|number| place(number) == (point, workers));
                let mut finding = winner(&best, &alike, reference, what);
                finding.text += &unknown(rivals(), workers);
                let beside = rivals().flat_map(|series| series.numbers()).filter(|one| one.cell.workers == workers);
                let few = beside.filter(|number| number.interval.is_none()).count();
                if few > 0 {
                    finding.text += &format!("; too few runs of {}", counted(few, "other"));
                }
                found.push(finding);
            }
        }
    }
    found
}

fn is_lock(role: &Role) -> bool {
    matches!(role, Role::LockPool { .. })
}

/// The best of numbers with the same mapping and as many workers, with those that meet it.
fn winner(best: &Estimate<'_>, alike: &[Estimate<'_>], reference: Option<&Estimate<'_>>, what: &str) -> Finding {
    let name = |number: &Estimate<'_>| number.cell.kernel.clone();
    let ties = match alike {
        [] => String::new(),
        _ => format!(", not significantly faster than {}", list(&alike.iter().map(name).collect::<Vec<_>>())),
    };
    let times = reference.map(|reference| best.value / reference.value);
    // Named among those within the interval, if it is one of the group.
    let named = |reference: &Estimate<'_>| {
        let is_it = |number: &Estimate<'_>| number.cell.kernel == reference.cell.kernel;
        is_it(best) || alike.iter().any(is_it)
    };
    let against = match reference.filter(|reference| !named(reference)) {
        None => String::new(),
        Some(reference) if best.meets(reference) => format!("; not significantly faster than {}", name(reference)),
        Some(reference) => format!("; {} times {}", charz_words::estimate::times(best, reference), name(reference)),
    };
    let (workers, mapping) = (counted(best.cell.workers as usize, "thread"), &best.cell.mapping);
    let point = point::label(&best.cell.point);
    let text =
        format!("{workers} {mapping}{point}: the fastest {what} is {}, {}{ties}{against}", name(best), shown(best));
    on_cell(best.cell, FindingKind::Fastest, times, text)
}
