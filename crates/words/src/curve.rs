//! Levels of caches, and what a curve of latencies lacks.

use charz_claims::card::MEMORY;
use charz_claims::curve::{BETWEEN, ENOUGH, Lack, Level};
use charz_claims::curves::Curve;
use charz_data::units;

/// `L2`, or `memory`: a cache is called by the level of the one that is claimed, else by its order.
pub fn level_name(curve: &Curve<'_>, level: Level) -> String {
    match level {
        Level::Cache(at) => self::level(Some(curve.level_of(at))),
        Level::Memory => self::level(None),
    }
}

/// `L2`, or `memory`.
pub fn level(cache: Option<u32>) -> String {
    cache.map_or(MEMORY.to_owned(), |cache| format!("L{cache}"))
}

/// What a curve lacks, in a clause.
pub fn lack(lack: &Lack) -> String {
    match *lack {
        Lack::Sizes { inner, bytes, found, asked } => {
            let from = if inner > 0 { format!("from {} ", units::iec(inner)) } else { String::new() };
            let more = asked.iter().all(|asked| *asked >= ENOUGH);
            let more = if more { "; a longer --budget makes more of them reliable" } else { "" };
            let (to, [inside, beyond], [of_inside, of_beyond]) = (units::iec(bytes), found, asked);
            format!(
                "edge unknown: needs {ENOUGH} reliable sizes {from}up to {to} (has {inside} of {of_inside}) and {ENOUGH} beyond \
                 (has {beyond} of {of_beyond}){more}"
            )
        }
        Lack::Between { above, to, found } => {
            let (above, to) = (units::iec(above), units::iec(to));
            format!("edge unknown: needs {BETWEEN} reliable sizes from {above} up to {to} (has {found})")
        }
    }
}
