//! What limits an estimate, or a comparison of two: one row each, and no other place that decides by one.

use charz_data::checks::{V34, find};
use charz_data::report::{Cell, Mark, Report, Severity};
use charz_stats::LEAST_FOR_INTERVAL;

use crate::quantity::{Quantity, left_by_quota};

/// A circumstance that limits what an estimate shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Caveat {
    /// A check found the number doubtful.
    Suspect,
    /// Too few runs for an interval.
    FewRuns,
    /// Enough runs, which vary too much for an interval.
    Noisy,
    /// Other programs used CPUs meanwhile.
    OtherPrograms,
    /// It is what the machine delivered, not the capacity.
    Delivered,
    /// It is the capacity of bound threads times the ratio of two deliveries.
    Estimated,
    /// A CPU quota leaves the threads less than all of their time.
    Quota,
    /// It was measured in a virtual machine.
    Guest,
    /// The two are apart by the clock of the cores only.
    Clock,
    /// The host moved the CPUs between the two.
    Moved,
    /// The two ended at different sizes of the problem.
    OtherSize,
}

/// What a caveat does to a conclusion, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It is worth a word.
    Notes,
    /// It has changed the number, and the comparison takes the changed one.
    Scales,
    /// The conclusion is doubtful.
    Weakens,
    /// There is no conclusion.
    Forbids,
}

/// A row of [`CAVEATS`].
pub struct CaveatRow {
    /// The caveat.
    pub caveat: Caveat,
    /// Its name in files.
    pub code: &'static str,
    /// What it does to what is said of one estimate.
    pub alone: Effect,
    /// What it does to a comparison.
    pub between: Effect,
    applies: Applies,
}

/// What of an estimate shows its caveats.
pub(crate) struct Seen<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) quantity: Quantity,
    pub(crate) has_interval: bool,
    pub(crate) runs: usize,
    /// `None` where the cell is looked at by itself.
    pub(crate) report: Option<&'a Report>,
}

/// Where a caveat is seen.
enum Applies {
    /// In the estimate of a cell.
    One(fn(&Seen<'_>) -> bool),
    /// Between two cells.
    Two(fn(&Cell, &Cell) -> bool),
    /// The relation finds it by their runs.
    Runs,
}

/// All caveats. A new circumstance is measured, has a row here, and a phrase in `charz-words`.
pub static CAVEATS: [CaveatRow; 11] = {
    use Applies::{One, Runs, Two};
    use Caveat::*;
    use Effect::{Forbids, Notes, Scales, Weakens};
    const fn row(caveat: Caveat, code: &'static str, alone: Effect, between: Effect, applies: Applies) -> CaveatRow {
        CaveatRow { caveat, code, alone, between, applies }
    }
    [
        row(Suspect, "suspect", Weakens, Weakens, One(is_suspect)),
        row(FewRuns, "few_runs", Notes, Notes, One(|own| !own.has_interval && own.runs < LEAST_FOR_INTERVAL)),
        row(Noisy, "noisy", Notes, Notes, One(|own| !own.has_interval && own.runs >= LEAST_FOR_INTERVAL)),
        row(
            OtherPrograms,
            "other_programs",
            Notes,
            Notes,
            One(|own| own.cell.marks.iter().any(|mark| mark.code == V34.code && mark.severity > Severity::Note)),
        ),
        row(Delivered, "delivered", Notes, Notes, One(|own| own.quantity == Quantity::Delivered)),
        row(Estimated, "estimated", Notes, Notes, One(|own| own.quantity == Quantity::Estimated)),
        row(
            Quota,
            "quota",
            Notes,
            Scales,
            One(|own| {
                own.report
                    .is_some_and(|report| left_by_quota(report, &own.cell.kernel, own.cell.workers, own.quantity) < 1.0)
            }),
        ),
        row(
            Guest,
            "guest",
            Notes,
            Notes,
            One(|own| own.report.is_some_and(|report| report.host.virtual_machine == Some(true))),
        ),
        row(Clock, "clock", Notes, Scales, Runs),
        row(Moved, "moved", Weakens, Forbids, Two(|own, other| !is_placed_as(own, other))),
        row(
            OtherSize,
            "other_size",
            Notes,
            Forbids,
            Two(|own, other| own.kernel == other.kernel && own.last_size() != other.last_size()),
        ),
    ]
};

/// Whether a check doubts the number. A delivered number is doubted only by checks that doubt more than the capacity.
fn is_suspect(own: &Seen<'_>) -> bool {
    let counts = |mark: &Mark| !find(&mark.code).is_some_and(|check| check.of_capacity);
    let doubts = |mark: &Mark| mark.severity > Severity::Note && counts(mark);
    match own.quantity {
        Quantity::Delivered => own.cell.marks.iter().any(doubts),
        _ => own.cell.is_suspect(),
    }
}

/// A set of caveats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caveats(u32);

impl Caveats {
    /// Whether the set has it.
    pub fn has(self, caveat: Caveat) -> bool {
        self.0 & (1 << caveat as u32) != 0
    }

    /// The set with one more.
    #[must_use]
    pub fn with(self, caveat: Caveat) -> Self {
        Caveats(self.0 | 1 << caveat as u32)
    }

    /// Those of both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Caveats(self.0 | other.0)
    }

    /// Their rows, in the order of [`CAVEATS`].
    pub fn rows(self) -> impl Iterator<Item = &'static CaveatRow> {
        CAVEATS.iter().filter(move |row| self.has(row.caveat))
    }

    /// Whether one of them does so much to what is said of one estimate.
    pub fn weakens(self) -> bool {
        self.rows().any(|row| row.alone >= Effect::Weakens)
    }

    /// The strongest of what they do to a comparison.
    pub fn between(self) -> Option<Effect> {
        self.rows().map(|row| row.between).max()
    }

    /// Those of an estimate.
    pub(crate) fn of(own: &Seen<'_>) -> Self {
        Caveats::seen(|applies| matches!(applies, Applies::One(applies) if applies(own)))
    }

    fn seen(applies: impl Fn(&Applies) -> bool) -> Self {
        let seen = CAVEATS.iter().filter(|row| applies(&row.applies));
        seen.fold(Caveats::default(), |all, row| all.with(row.caveat))
    }

    /// Those that lie between two cells.
    pub(crate) fn between_cells(own: &Cell, other: &Cell) -> Self {
        Caveats::seen(|applies| matches!(applies, Applies::Two(applies) if applies(own, other)))
    }
}

/// Whether the CPUs of a cell are those of the other by their ids, and were as far apart: what differs is not where the host had put them.
pub(crate) fn is_placed_as(one: &Cell, next: &Cell) -> bool {
    let cpus = |cell: &Cell| {
        let mut cpus = cell.seats.clone();
        cpus.sort_unstable();
        cpus
    };
    // Of floating workers it is known only where they are as many as all CPUs.
    let floats = |cell: &Cell| cell.seats.contains(&None);
    one.moved(next).is_none()
        || one.workers != next.workers
        || !(floats(one) || floats(next) || cpus(one) == cpus(next))
}

/// How many nanoseconds apart the CPUs of a cell were, in a guest, whose host may put them elsewhere; `None` elsewhere and where that was not
/// measured.
pub fn host_distance(report: &Report, cell: &Cell) -> Option<f64> {
    cell.summary?.apart_ns.filter(|_| report.host.virtual_machine == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caveat_has_one_row_at_its_place() {
        for (at, row) in CAVEATS.iter().enumerate() {
            assert_eq!(row.caveat as usize, at, "{}", row.code);
        }
        let codes: std::collections::BTreeSet<&str> = CAVEATS.iter().map(|row| row.code).collect();
        assert_eq!(codes.len(), CAVEATS.len());
    }
}
