//! What the machine, compared with itself, shows: differences where there are none, and planted ones that must be found.

mod planted;
#[cfg(test)]
mod tests;

pub use planted::Planted;

use std::collections::BTreeMap;

use crate::compare::{Row, Verdict};
use crate::report::Point;

/// What a comparison of two equal sides, or of two with a planted difference, came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Verdicts that the second side is slower.
    pub slower: usize,
    /// Verdicts that it is faster.
    pub faster: usize,
    /// Verdicts that there is no difference beyond the margin.
    pub same: usize,
    /// Compared, without a verdict.
    pub inconclusive: usize,
    /// Not compared.
    pub uncompared: usize,
    /// The distances between the sides, as fractions: 0.02 where the one performs 1.02 times as well as the other.
    pub effects: Vec<f64>,
    /// Why there was no verdict, and how often.
    pub reasons: BTreeMap<String, usize>,
}

impl Tally {
    /// Counts a comparison.
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

    /// The distance below which a share `rank` of the comparisons lies, as a fraction: the smallest one that at least so many
    /// do not exceed. `None` where nothing was compared.
    pub fn quantile(&self, rank: f64) -> Option<f64> {
        let place = (self.effects.len() as f64 * rank).ceil() as usize;
        self.effects.get(place.saturating_sub(1)).copied()
    }

    /// The noise floor: what 95 % of the differences between equal sides do not exceed.
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

/// All that was found out about a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kernel's name.
    pub kernel: String,
    /// How many workers.
    pub workers: u64,
    /// The parameters that are varied for it.
    pub point: Point,
    /// Equal sides.
    pub equal: Tally,
    /// Sides of which the second one had more to do, if that was asked for.
    pub planted: Tally,
}
