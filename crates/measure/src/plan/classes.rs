//! Which class of its problem a kernel solves, where none was asked for.

use std::time::Duration;

use charz_kernels::{Class, params};

use super::{Budget, FEWEST_SHARE, Plan, PlannedCell, QUICK_BUDGET, Request, repetitions};
use crate::limits::Limits;
use crate::predict::Predictor;

impl Plan {
    /// Gives each kernel with problem classes the largest that its share of half of the budget allows, and the memory, unless classes
    /// were asked for: one for all of its cells, so they can be compared.
    pub(super) fn fit_classes(&mut self, request: &Request, limits: &Limits, predictor: &Predictor) {
        if request.asked.list(&params::CLASS).is_some() {
            return;
        }
        let plan = self.params;
        let with_classes = |cell: &PlannedCell| cell.kernel.card().obeys(&params::CLASS);
        let same = |one: &PlannedCell, next: &PlannedCell| one.kernel.card().name == next.kernel.card().name;
        let kernels = self.cells.chunk_by(same).filter(|cells| with_classes(&cells[0])).count();
        let runs = kernels as f64 * request.invocations.least as f64;
        // Larger problems are no reason for more time in a coarse look.
        let budget = if request.budget == Budget::Quick { QUICK_BUDGET } else { request.budget.most() };
        let share = budget.mul_f64(FEWEST_SHARE / runs.max(1.0));
        for cells in self.cells.chunk_by_mut(same).filter(|cells| with_classes(&cells[0])) {
            let mut fits = |class: Class| {
                let mut predicted = Duration::ZERO;
                for cell in cells.iter_mut() {
                    cell.point.class = Some(class);
                    let own = cell.point.params(&plan);
                    cell.footprint_bytes = cell.kernel.footprint_together(&own, cell.seats.len()).0;
                    let repetitions =
                        self.repetitions.unwrap_or_else(|| repetitions(cell.kernel.card(), cell.seats.len()));
                    predicted += predictor.invocation(cell.kernel, &own, &cell.seats, repetitions);
                }
                let memory = cells.iter().map(|cell| cell.footprint_bytes).max().unwrap_or(0);
                predicted <= share && limits.memory_budget_bytes.is_none_or(|budget| memory <= budget)
            };
            // The last that is tried stays.
            Class::ALL.into_iter().rev().find(|class| fits(*class));
        }
    }
}
