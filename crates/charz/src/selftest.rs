//! Comparisons of the machine with itself: differences where there are none, and injected ones that must be found.

mod planted;
#[cfg(test)]
mod tests;

pub use planted::Planted;

use std::collections::BTreeMap;

use charz_analysis::compare::{Row, Verdict};
use charz_data::report::{Cell, Point};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub slower: usize,
    pub faster: usize,
    pub same: usize,
    pub inconclusive: usize,
    pub uncompared: usize,
    /// The distances between the sides, sorted, as fractions: 0.02 where one performs 1.02 times as well as the other.
    pub effects: Vec<f64>,
    /// Why there was no verdict, and how often.
    pub reasons: BTreeMap<String, usize>,
}

impl Tally {
    pub fn count(&mut self, row: &Row) {
        match row.verdict {
            Verdict::Slower => self.slower += 1,
            Verdict::Faster => self.faster += 1,
            Verdict::Same => self.same += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
            Verdict::Uncompared => self.uncompared += 1,
        }
        if let Some(effect) = row.effect.filter(|_| row.verdict != Verdict::Uncompared) {
            self.effects.push(effect.max(1.0 / effect) - 1.0);
            self.effects.sort_by(f64::total_cmp);
        }
        if let Some(reason) = &row.reason {
            *self.reasons.entry(without_numbers(reason)).or_default() += 1;
        }
    }

    /// All comparisons, compared or not.
    pub fn all(&self) -> usize {
        self.slower + self.faster + self.same + self.inconclusive + self.uncompared
    }

    /// The smallest distance that at least a share `rank` of the comparisons does not exceed; `None` if nothing was compared.
    pub fn quantile(&self, rank: f64) -> Option<f64> {
        let place = (self.effects.len() as f64 * rank).ceil() as usize;
        self.effects.get(place.saturating_sub(1)).copied()
    }

    /// The noise floor: the 95th percentile of the differences between equal sides.
    pub fn floor(&self) -> Option<f64> {
        self.quantile(0.95)
    }
}

/// Reasons of one kind differ in their numbers.
fn without_numbers(reason: &str) -> String {
    let mut kind = String::with_capacity(reason.len());
    let mut number = false;
    for mark in reason.chars() {
        let digit = mark.is_ascii_digit() || (number && mark == '.');
        if digit && !number {
            kind.push('N');
        } else if !digit {
            kind.push(mark);
        }
        number = digit;
    }
    kind
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kernel: String,
    pub workers: u64,
    pub point: Point,
    pub equal: Tally,
    pub planted: Tally,
}

impl Finding {
    pub fn new(cell: &Cell) -> Self {
        let Cell { kernel, workers, point, .. } = cell;
        Finding {
            kernel: kernel.clone(),
            workers: *workers,
            point: *point,
            equal: Tally::default(),
            planted: Tally::default(),
        }
    }
}
