//! The fastest of the pools that do the same: of those under a lock, and of those without.

use std::collections::BTreeMap;

use super::on_cell;
use super::series::{Series, list};
use crate::group::grouped;
use crate::number::{Number, best};
use charz_data::Role;
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind, Unit};

/// For each mapping and number of workers with two or more pools of a kind, which of them does most.
pub(super) fn fastest(all: &[Series<'_>]) -> Vec<Finding> {
    let is_pool = |role: &Role| matches!(role, Role::LockPool { .. } | Role::LockFreePool { .. });
    let is_lock = |role: &Role| matches!(role, Role::LockPool { .. });
    let is_reference = |role: &Role| matches!(role, Role::LockPool { is_reference: true, .. });
    let pools = all.iter().filter(|series| is_pool(series.role()) && series.counts(Unit::OpsPerSecond));
    let mut found = Vec::new();
    for pools in grouped(pools, |series| series.mapping) {
        let references = by_workers(&pools, is_reference);
        let kinds =
            [(by_workers(&pools, is_lock), "lock"), (by_workers(&pools, |role| !is_lock(role)), "pool without a lock")];
        for (by_workers, what) in kinds {
            for (workers, numbers) in by_workers {
                let reference = references.get(&workers).and_then(|references| references.first());
                found.extend(winner(&numbers, reference, what));
            }
        }
    }
    found
}

fn by_workers<'a>(pools: &[&Series<'a>], is_one: impl Fn(&Role) -> bool) -> BTreeMap<u64, Vec<Number<'a>>> {
    let mut by_workers = BTreeMap::<u64, Vec<Number<'_>>>::new();
    for number in pools.iter().filter(|series| is_one(series.role())).flat_map(|series| series.numbers()) {
        by_workers.entry(number.cell.workers).or_default().push(number);
    }
    by_workers
}

/// The best of numbers with the same mapping and as many workers.
fn winner(group: &[Number<'_>], reference: Option<&Number<'_>>, what: &str) -> Option<Finding> {
    let (best, alike) = best(group).filter(|_| group.len() > 1)?;
    let name = |number: &Number<'_>| number.cell.kernel.clone();
    let ties = match alike.as_slice() {
        [] => String::new(),
        alike => format!(", within the intervals of {}", list(&alike.iter().map(name).collect::<Vec<_>>())),
    };
    let times = reference.map(|reference| best.value / reference.value);
    // Named among those within the interval, if it is one of the group.
    let named = |reference: &Number<'_>| {
        let is_it = |number: &Number<'_>| number.cell.kernel == reference.cell.kernel;
        is_it(&best) || alike.iter().any(is_it)
    };
    let against = match reference.zip(times).filter(|(reference, _)| !named(reference)) {
        None => String::new(),
        Some((reference, _)) if best.meets(reference) => format!("; {} does as much", name(reference)),
        Some((reference, times)) => format!("; {times:.2}{} times {}", best.doubt_beside(reference), name(reference)),
    };
    let (workers, mapping) = (counted(best.cell.workers as usize, "worker"), &best.cell.mapping);
    let text = format!("{workers} {mapping}: the fastest {what} is {}, {}{ties}{against}", name(&best), best.shown());
    Some(on_cell(best.cell, FindingKind::Fastest, times, text))
}
