//! The frequency of the workers' cores, before the first repetition and after the last.

use std::sync::{Mutex, PoisonError};

use charz_data::report::Frequency;
use charz_kernels::canary;

#[derive(Debug, Default)]
pub(super) struct Frequencies(Mutex<Vec<(f64, f64)>>);

impl Frequencies {
    pub(super) fn note(&self, before: Option<f64>, after: Option<f64>) {
        let Some(pair) = before.zip(after) else { return };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(pair);
    }

    /// `None` unless all `workers` measured a frequency: the one that did not may be the one that throttled.
    pub(super) fn summary(self, workers: usize) -> Option<Frequency> {
        let pairs = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        if pairs.is_empty() || pairs.len() < workers {
            return None;
        }
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        Some(Frequency {
            before_hz: least(&mut pairs.iter().map(|pair| pair.0)),
            after_hz: least(&mut pairs.iter().map(|pair| pair.1)),
            highest_hz: pairs.iter().map(|pair| pair.0.max(pair.1)).fold(0.0, f64::max),
            drift: pairs.iter().map(|(before, after)| (after / before - 1.0).abs()).fold(0.0, f64::max),
        })
    }
}

pub(super) fn measure() -> Option<f64> {
    canary::measure().map(|canary| canary.hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_and_the_most_changed_are_reported() {
        let frequencies = Frequencies::default();
        frequencies.note(Some(4e9), Some(4e9));
        frequencies.note(Some(2e9), Some(3e9));
        let found = frequencies.summary(2).unwrap();
        assert_eq!(found, Frequency { before_hz: 2e9, after_hz: 3e9, highest_hz: 4e9, drift: 0.5 });
    }

    #[test]
    fn a_silent_worker_makes_it_unknown() {
        let frequencies = Frequencies::default();
        frequencies.note(Some(4e9), Some(4e9));
        frequencies.note(Some(4e9), None);
        assert_eq!(frequencies.summary(2), None);
        assert_eq!(Frequencies::default().summary(0), None);
    }
}
