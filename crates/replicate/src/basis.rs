//! Which of two numbers of a cell a figure or a conclusion is about.

use charz_data::CellSpec;
use charz_estimate::AUTO;

use super::cell::Target;
use super::document::{Claim, Figure, Series};
use super::statistic::Basis;

impl Figure {
    /// What was delivered, where threads that float are beside bound ones, or a curve goes beyond the CPUs: more threads than CPUs are never
    /// all at work, so nothing is known of them but that, and rows of one table have one basis.
    pub(super) fn basis(&self, target: &Target) -> Basis {
        let rates = || self.series.iter().filter(|series| series.statistic.is_rate());
        let cells = || rates().filter_map(Series::cell);
        let floats = cells().any(|one| cells().any(|other| floats_beside(one, other)));
        let is_mixed = |series: &Series| {
            straddles(series.counts().iter().filter_map(|count| count.number(target).ok()).collect(), target)
        };
        let is_concluded = || self.claims.iter().any(|claim| claim.basis(target) == Basis::Delivered);
        of(floats || rates().any(is_mixed) || is_concluded())
    }
}

impl Claim {
    /// What was delivered, where one side floats and the other is bound, or one has more threads than there are CPUs and the other has not.
    pub(super) fn basis(&self, target: &Target) -> Basis {
        let is_mixed = |count: &u64| {
            straddles(self.sides().filter_map(|side| side.workers(*count, target).ok()).collect(), target)
        };
        let counts = || self.counts(target).unwrap_or_default();
        let are_rates = self.sides().all(|side| side.statistic.is_rate());
        of(are_rates && (self.floats_beside_bound() || counts().iter().any(is_mixed)))
    }

    /// Whether it compares threads that float with bound ones: other programs on the machine are part of the question.
    pub(super) fn floats_beside_bound(&self) -> bool {
        self.right.as_ref().is_some_and(|right| floats_beside(&self.left.cell, &right.cell))
    }
}

fn of(is_delivered: bool) -> Basis {
    if is_delivered { Basis::Delivered } else { Basis::Capacity }
}

fn floats_beside(one: &CellSpec, other: &CellSpec) -> bool {
    one.kernel == other.kernel && (one.mapping == AUTO) != (other.mapping == AUTO)
}

fn straddles(counts: Vec<u64>, target: &Target) -> bool {
    let is_beyond = |count: &u64| *count > target.strands;
    counts.iter().any(is_beyond) && !counts.iter().all(is_beyond)
}
