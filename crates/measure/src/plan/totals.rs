//! What a plan adds up to: the size of its report, and whether its budget is enough.

use std::time::Duration;

use charz_data::Family;
use charz_data::escape::counted;
use charz_data::report::Lap;
use charz_data::units;
use charz_kernels::noop::NOOP;

use super::amounts::SLOWER;
use super::{Plan, PlannedCell, repetitions};

/// How many times the fewest invocations a sweep makes: 1.2 to 2.1 on modelled machines without disturbances.
const TIMES_FEWEST: f64 = 3.0;

impl Plan {
    /// What a budget of which so much is left is too small for: a sentence.
    pub fn shortfall(&self, left: Duration) -> Option<String> {
        let predicted = self.predicted();
        let minutes = predicted.mul_f64(SLOWER).as_secs() / 60 + 1;
        let remedy = format!("{} {minutes}m, or measure fewer configurations", self.remedy);
        if left.is_zero() {
            let budget = units::duration(self.budget);
            return Some(format!("starting and the first runs took the whole budget of {budget}; {remedy}"));
        }
        let told = format!(
            "it takes about {} to measure {} of each configuration, and {} of the budget is left: one kernel is measured after the other, and some not at \
             all; {remedy}",
            units::duration(predicted),
            counted(self.invocations.fewest(), "run"),
            units::duration(left),
        );
        (predicted > left).then_some(told)
    }

    /// About how large the report will be as plain JSON: intervals take up to [`TIMES_FEWEST`] times the fewest invocations, if there is
    /// time for them.
    pub fn report_bytes(&self) -> u64 {
        // As measured; a lap of the processor's and the memory's kernels has the times of its blocks.
        const LAP: usize = 450;
        const BLOCKS: usize = 450;
        const REPETITION: usize = 200;
        const INVOCATION: usize = 1000;
        let laps = |workers: usize| workers.div_ceil(Lap::group_size(workers));
        let of_cell = |cell: &PlannedCell| {
            let card = cell.kernel.card();
            let blocks = if matches!(card.family, Family::Compute | Family::Memory) { BLOCKS } else { 0 };
            INVOCATION + cell.repetitions * (REPETITION + laps(cell.seats.len()) * (LAP + blocks))
        };
        let of_floor = |workers| INVOCATION + repetitions(NOOP.card(), workers) * (REPETITION + laps(workers) * LAP);
        let round =
            self.runnable().map(of_cell).sum::<usize>() + self.threads().into_iter().map(of_floor).sum::<usize>();
        let rounds = self.budget.as_secs_f64() / self.predicted().as_secs_f64();
        let in_time = rounds.clamp(1.0, TIMES_FEWEST) * self.invocations.fewest() as f64;
        (round as f64 * in_time.min((self.invocations.most + self.invocations.counted) as f64)) as u64
    }
}
