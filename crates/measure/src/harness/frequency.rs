//! The frequency of the workers' cores, before the first repetition and after each.

use std::sync::{Mutex, PoisonError};

use charz_data::report::Frequency;
use charz_kernels::canary;

#[derive(Debug, Default)]
pub(super) struct Frequencies(Mutex<Vec<Seen>>);

/// What one worker measured: first, last and highest.
#[derive(Clone, Copy, Debug)]
struct Seen {
    before_hz: f64,
    after_hz: f64,
    highest_hz: f64,
}

impl Frequencies {
    /// Takes what a worker measured, in order.
    pub(super) fn note(&self, measured: &[Option<f64>]) {
        let known: Option<Vec<f64>> = measured.iter().copied().collect();
        let known = known.unwrap_or_default();
        let (Some(&before_hz), Some(&after_hz)) = (known.first(), known.last()) else { return };
        let highest_hz = known.into_iter().fold(0.0, f64::max);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Seen { before_hz, after_hz, highest_hz });
    }

    /// `None` unless all `workers` measured a frequency: the one that did not may be the one that throttled.
    pub(super) fn summary(self, workers: usize) -> Option<Frequency> {
        let seen = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        if seen.is_empty() || seen.len() < workers {
            return None;
        }
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        Some(Frequency {
            before_hz: least(&mut seen.iter().map(|worker| worker.before_hz)),
            after_hz: least(&mut seen.iter().map(|worker| worker.after_hz)),
            highest_hz: seen.iter().map(|worker| worker.highest_hz).fold(0.0, f64::max),
            drift: seen.iter().map(|worker| (worker.after_hz / worker.before_hz - 1.0).abs()).fold(0.0, f64::max),
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
        frequencies.note(&[Some(4e9), Some(4e9)]);
        frequencies.note(&[Some(2e9), Some(5e9), Some(3e9)]);
        let found = frequencies.summary(2).unwrap();
        assert_eq!(found, Frequency { before_hz: 2e9, after_hz: 3e9, highest_hz: 5e9, drift: 0.5 });
    }

    #[test]
    fn a_silent_worker_makes_it_unknown() {
        let frequencies = Frequencies::default();
        frequencies.note(&[Some(4e9), Some(4e9)]);
        frequencies.note(&[Some(4e9), None]);
        assert_eq!(frequencies.summary(2), None);
        assert_eq!(Frequencies::default().summary(0), None);
    }
}
