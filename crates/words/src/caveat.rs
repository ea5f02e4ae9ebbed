//! A phrase for each caveat.

use charz_estimate::{Caveat, Caveats, Effect};

/// Why there is no comparison: `cannot be compared: the host moved the CPUs`.
pub fn not_comparable(caveats: Caveats) -> String {
    format!("cannot be compared: {}", why_not_comparable(caveats))
}

/// The same as a clause of its own: `the host moved the CPUs`.
pub fn why_not_comparable(caveats: Caveats) -> &'static str {
    caveats.rows().find(|row| row.between == Effect::Forbids).map_or("", |row| between(row.caveat))
}

/// The same in a cell of a table: `CPUs moved`.
pub fn not_comparable_cell(caveats: Caveats) -> &'static str {
    match caveats.rows().find(|row| row.between == Effect::Forbids).map(|row| row.caveat) {
        Some(Caveat::Moved) => "CPUs moved",
        Some(Caveat::OtherSize) => "other sizes",
        _ => "not comparable",
    }
}

/// What it is between two estimates: a clause.
pub fn between(caveat: Caveat) -> &'static str {
    match caveat {
        Caveat::Suspect => "a check found one of them doubtful",
        Caveat::FewRuns => "one of them has too few runs",
        Caveat::Noisy => "the runs of one of them vary too much",
        Caveat::OtherPrograms => "other programs used CPUs",
        Caveat::Delivered => "by what was delivered",
        Caveat::Estimated => "by what unpinned threads delivered",
        Caveat::Quota => "in the time that the CPU quota leaves",
        Caveat::Guest => "measured in a virtual machine",
        Caveat::Clock => "at one clock",
        Caveat::Moved => "the host moved the CPUs",
        Caveat::OtherSize => "they are of different sizes",
    }
}
