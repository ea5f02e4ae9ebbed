//! How far predictions are off.

use std::time::Duration;

/// How far the predictions have been off so far.
#[derive(Default)]
pub(super) struct Pace {
    predicted: Duration,
    taken: Duration,
}

impl Pace {
    pub(super) fn learn(&mut self, predicted: Duration, taken: Duration) {
        self.predicted += predicted;
        self.taken += taken;
    }

    pub(super) fn correct(&self, predicted: Duration) -> Duration {
        if self.predicted.is_zero() {
            return predicted;
        }
        // One odd cell at the start must not stop a sweep or let it run for ever.
        predicted.mul_f64((self.taken.as_secs_f64() / self.predicted.as_secs_f64()).clamp(0.2, 5.0))
    }
}
