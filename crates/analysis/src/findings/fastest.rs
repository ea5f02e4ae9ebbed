//! The fastest of the pools that do the same: of those under a lock, and of those without.

use std::collections::{BTreeMap, HashMap};

use super::series::{Number, Series, best, list};
use charz_data::Role;
use charz_data::report::{Finding, FindingKind, Unit};

/// For each mapping and number of workers with two or more pools of a kind, which of them does most.
pub(super) fn fastest(all: &[Series<'_>]) -> Vec<Finding> {
    let mut by_mapping: Vec<(&str, Vec<&Series<'_>>)> = Vec::new();
    let mut places = HashMap::new();
    for series in all.iter().filter(|series| is_pool(series)) {
        let at = *places.entry(series.mapping).or_insert(by_mapping.len());
        match by_mapping.get_mut(at) {
            Some((_, pools)) => pools.push(series),
            None => by_mapping.push((series.mapping, vec![series])),
        }
    }
    let mut found = Vec::new();
    for (mapping, pools) in by_mapping {
        let pools = || pools.iter().copied();
        let reference =
            numbers(pools().filter(|series| matches!(series.role(), Role::LockPool { is_reference: true, .. })));
        for (locks, what) in [(true, "lock"), (false, "pool without a lock")] {
            let group = numbers(pools().filter(|series| matches!(series.role(), Role::LockPool { .. }) == locks));
            for (workers, group) in group {
                let reference = reference.get(&workers).and_then(|reference| reference.first());
                found.extend(winner(mapping, workers, &group, reference, what));
            }
        }
    }
    found
}

fn is_pool(series: &Series<'_>) -> bool {
    let is_pool = matches!(series.role(), Role::LockPool { .. } | Role::LockFreePool { .. });
    is_pool && series.counts(Unit::OpsPerSecond)
}

/// By number of workers.
fn numbers<'a: 'b, 'b>(all: impl Iterator<Item = &'b Series<'a>>) -> BTreeMap<u64, Vec<Number<'a>>> {
    let mut by_workers = BTreeMap::<u64, Vec<Number<'_>>>::new();
    for number in all.flat_map(Series::numbers) {
        by_workers.entry(number.cell.workers).or_default().push(number);
    }
    by_workers
}

fn winner(
    mapping: &str,
    workers: u64,
    group: &[Number<'_>],
    reference: Option<&Number<'_>>,
    what: &str,
) -> Option<Finding> {
    let (best, alike) = best(group).filter(|_| group.len() > 1)?;
    let name = |number: &Number<'_>| number.cell.kernel.clone();
    let ties = match alike.as_slice() {
        [] => String::new(),
        alike => format!(", within the intervals of {}", list(&alike.iter().map(name).collect::<Vec<_>>())),
    };
    let ratio = reference.map(|reference| best.value / reference.value);
    let against = match reference {
        None => String::new(),
        Some(reference) if best.cell.kernel == reference.cell.kernel => String::new(),
        // Named among those within the interval, if it is one of the group.
        Some(reference) if alike.iter().any(|other| other.cell.kernel == reference.cell.kernel) => String::new(),
        Some(reference) if best.meets(reference) => format!("; {} does as much", name(reference)),
        Some(reference) => {
            format!("; {:.2}{} times {}", best.value / reference.value, best.doubt_beside(reference), name(reference))
        }
    };
    let of = if workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") };
    Some(Finding {
        kind: FindingKind::Fastest,
        kernel: name(&best),
        mapping: Some(mapping.to_owned()),
        workers: Some(workers),
        value: ratio,
        text: format!("{of} {mapping}: the fastest {what} is {}, {}{ties}{against}", name(&best), best.shown()),
    })
}
