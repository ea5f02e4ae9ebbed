//! What a program on this machine should do.

use charz_claims::findings::{Fastest, Lock, Rivals, Spin, Winner};
use charz_data::escape::counted;
use charz_data::units;
use charz_estimate::{Estimate, Quantity};

use super::{kernels, list, threads};
use crate::estimate::{cited, shown, times};
use crate::point;

/// Its number, with those that are not significantly different and those that have none.
pub(super) fn winner(own: &Winner<'_>) -> String {
    let others = match &own.alike[..] {
        [] => String::new(),
        alike => format!(" (not significantly different: {})", kernels(alike)),
    };
    format!("{}{others}{}", shown(&own.best), lacking(own))
}

/// How many should have a number and have none: any of them may be better than the best.
fn lacking(own: &Winner<'_>) -> String {
    match own.lacking {
        0 => String::new(),
        1 => "; 1 other has no number".to_owned(),
        missing => format!("; {missing} others have no number"),
    }
}

pub(super) fn fastest(own: &Fastest<'_>) -> String {
    let Winner { best, alike, .. } = &own.winner;
    let ties = match &alike[..] {
        [] => String::new(),
        _ => format!(", not significantly faster than {}", kernels(alike)),
    };
    let against = match own.reference {
        None => String::new(),
        Some(reference) if best.meets(&reference) => {
            format!("; not significantly faster than {}", reference.cell.kernel)
        }
        Some(reference) => format!("; {} times {}", times(best, &reference), reference.cell.kernel),
    };
    let few = match own.few {
        0 => String::new(),
        few => format!("; too few runs of {}", counted(few, "other")),
    };
    let what = match own.rivals {
        Rivals::LockedPools => "lock",
        Rivals::LockFreePools => "pool without a lock",
        Rivals::Locks => "lock alone",
    };
    let cell = best.cell;
    let head = format!("{} {}{}", threads(cell.workers), cell.mapping, point::label(&cell.point));
    let (kernel, number, lacking) = (&cell.kernel, shown(best), lacking(&own.winner));
    format!("{head}: the fastest {what} is {kernel}, {number}{ties}{against}{lacking}{few}")
}

pub(super) fn lock(own: &Lock<'_>) -> String {
    let [one, several] = &own.best;
    let (kernel, mapping, workers) = (&several.cell.kernel, &several.cell.mapping, threads(several.cell.workers));
    let which = match &own.alike[..] {
        _ if !own.is_one_of_several => format!("the lock {kernel} under contention"),
        [] => format!("the lock that does most under contention is {kernel}"),
        alike => format!(
            "the lock that does most under contention is {kernel} (not significantly different: {})",
            kernels(alike)
        ),
    };
    let against =
        own.worst.map(|worst| format!(", and {} times those of {}", times(several, &worst), worst.cell.kernel));
    let by = if several.quantity == Quantity::Delivered { ", by what was delivered" } else { "" };
    let outside = match own.enough {
        Some((found, enough)) => {
            let inside = if own.inside == 0 { String::new() } else { format!(" with {} steps inside", own.inside) };
            let ([middle, low, high], enough) = (found.map(units::nanos), units::nanos(enough));
            format!(
                "{inside}; below {middle} ({low} to {high}) of work outside a section it is the limit, from about {enough} on \
                 threads hardly wait"
            )
        }
        None => format!(", with {} steps inside and {} outside", own.inside, own.outside),
    };
    let (times, against) = (times(several, one), against.unwrap_or_default());
    format!("{which}: {workers} ({mapping}) do {times} times the sections of 1{against}{by}{outside}")
}

pub(super) fn spin(own: &Spin<'_>) -> String {
    let useless = match &own.shared[..] {
        [] => String::new(),
        shared => format!("where two threads share a CPU ({}), spinning is useless", list(shared)),
    };
    let Some(longest) = own.longest else { return format!("do not spin {useless}") };
    let rest = if useless.is_empty() { useless } else { format!("; {useless}") };
    format!(
        "spin at most {} before parking, under {}: one wake-up of a thread on another CPU (2-competitive, Karlin 1991){rest}",
        shown(&longest),
        list(&own.under)
    )
}

/// The gain from a backoff of some microseconds over retries without delay.
pub(super) fn gain([at_once, later]: &[Estimate<'_>; 2]) -> String {
    let cells = list(&[at_once, later].map(cited));
    if at_once.meets(later) {
        return format!("; a back-off of some microseconds makes no significant difference: {cells}");
    }
    format!("; with a back-off of some microseconds {} times as fast: {cells}", times(later, at_once))
}

pub(super) fn shards(own: &Estimate<'_>, shared: &Estimate<'_>, is_worth_it: bool) -> String {
    let gain = format!("{} times as fast, {}, {}", times(own, shared), threads(own.cell.workers), own.cell.mapping);
    match is_worth_it {
        true => format!("give each thread a counter of its own where they mostly count: fetch-add is then {gain}"),
        false => format!("keep one global counter: sharding it makes fetch-add only {gain}"),
    }
}
