//! What of a machine's card contradicts what.

use charz_claims::card::{About, Contradiction, OffNominal, Unknown};
use charz_data::units;

use crate::curve::{lack, level};
use crate::estimate::time;

/// The name of a level, `unclaimed` or `numa`.
pub fn about(about: About) -> String {
    match about {
        About::Cache(cache) => level(Some(cache)),
        About::Unclaimed => "unclaimed".to_owned(),
        About::Numa => "numa".to_owned(),
    }
}

/// Why a measured clock is not the nominal one.
pub fn off_nominal(off: OffNominal) -> &'static str {
    match off {
        OffNominal::Above => "boost above the nominal clock, or a guest that sees another one",
        OffNominal::Below => "below the nominal clock: limited by power, heat or the governor",
    }
}

/// What was measured, what is reported, and why.
pub fn contradiction(found: &Contradiction) -> String {
    match *found {
        Contradiction::Size { edge, claimed, is_guest, .. } => {
            let why = match edge.beyond_bytes < claimed {
                true if is_guest => "neighbours of the guest use the rest, or the host reports another size",
                true => "other programs use the rest, or its ways are limited for this process",
                false => "it hides the next level, or the system reports another size",
            };
            let [inside, beyond, claimed] = [edge.inside_bytes, edge.beyond_bytes, claimed].map(units::iec);
            format!("{inside} to {beyond}{} measured, {claimed} reported: {why}", units::doubt(edge.doubtful))
        }
        Contradiction::Excluded { claimed, size_bytes, ns, limit_ns, .. } => {
            excluded(claimed, size_bytes, ns, limit_ns)
        }
        Contradiction::Missing { claimed, .. } => format!(
            "{} reported, no plateau measured: too small beside its neighbours to show, or other programs use it",
            units::iec(claimed)
        ),
        Contradiction::Unclaimed(plateau) => {
            let (from, to) = (units::iec(plateau.from_bytes), units::iec(plateau.to_bytes));
            let time = time(plateau.ns, plateau.doubtful);
            format!("{from} to {to} take {time} per load, but no cache of that size is reported")
        }
        Contradiction::Distances(times, claimed) => format!(
            "remote memory takes {:.2}{} times as long as local, {claimed:.2} times reported: the firmware's distances are a guess, \
             and mappers that use them may be wrong",
            times.value,
            units::doubt(times.suspect)
        ),
    }
}

/// How a curve excludes the size of a cache.
pub fn excluded(claimed: u64, size_bytes: u64, ns: f64, limit_ns: f64) -> String {
    let [claimed, size] = [claimed, size_bytes].map(units::iec);
    let [ns, limit] = [ns, limit_ns].map(units::nanos);
    format!("{claimed} reported, but a block of {size} takes {ns} per load, more than halfway to memory ({limit})")
}

/// What was not measured well enough, in a clause.
pub fn unknown(unknown: &Unknown) -> String {
    match unknown {
        Unknown::Edge(_, found) => lack(found),
        Unknown::Distances => {
            "too few reliable latencies to compare with the distances that the firmware reports".to_owned()
        }
    }
}
