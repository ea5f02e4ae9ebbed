//! How long an invocation takes: as long as the cell's others did, else as predicted, corrected by how far predictions were off.

use std::collections::HashMap;
use std::time::Duration;

#[derive(Default)]
pub(super) struct Pace {
    predicted: Duration,
    taken: Duration,
    /// For each cell that was measured, how many invocations took how long.
    cells: HashMap<usize, (u32, Duration)>,
    /// And after which predicted time the last of them ended.
    last: HashMap<usize, Duration>,
}

impl Pace {
    pub(super) fn learn(&mut self, place: usize, predicted: Duration, taken: Duration) {
        self.predicted += predicted;
        self.taken += taken;
        let (made, took) = self.cells.entry(place).or_default();
        (*made, *took) = (*made + 1, *took + taken);
        self.last.insert(place, self.predicted);
    }

    /// The time of all invocations, and that since the last one of a cell, both as predicted.
    pub(super) fn since(&self, place: usize) -> (Duration, Duration) {
        let last = self.last.get(&place).copied().unwrap_or_default();
        (self.predicted, self.predicted.saturating_sub(last))
    }

    pub(super) fn expect(&self, place: usize, predicted: Duration) -> Duration {
        self.cells.get(&place).map_or_else(|| self.correct(predicted), |(made, took)| *took / *made)
    }

    pub(super) fn correct(&self, predicted: Duration) -> Duration {
        if self.predicted.is_zero() {
            return predicted;
        }
        // One odd cell at the start must not stop a sweep or let it run for ever.
        predicted.mul_f64((self.taken.as_secs_f64() / self.predicted.as_secs_f64()).clamp(0.2, 5.0))
    }
}
