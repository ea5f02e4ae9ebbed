//! Comparisons of the machine with itself: differences where there are none.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use charz_claims::compare::Verdict;
use charz_data::Arrange;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub verdicts: Vec<Verdict>,
    /// The distances between the sides, sorted, as fractions: 0.02 where one performs 1.02 times as well as the other.
    pub effects: Vec<f64>,
    /// Why there was no verdict, and how often. A number in which reasons of one kind differ is `N`.
    pub reasons: BTreeMap<String, usize>,
}

/// Counts a reason with those of its kind. What all of them have in common stays: the runs that a verdict takes are a number to act on.
fn add_reason(reasons: &mut BTreeMap<String, usize>, reason: &str, times: usize) {
    let kind = without_numbers(reason);
    let known = reasons.keys().find(|known| without_numbers(known) == kind).cloned();
    let (shown, before) = match known {
        Some(known) => (common(&known, reason), reasons.remove(&known).unwrap_or(0)),
        None => (reason.to_owned(), 0),
    };
    reasons.insert(shown, before + times);
}

/// Two reasons of one kind, word by word.
fn common(one: &str, other: &str) -> String {
    let words = one.split(' ').zip(other.split(' '));
    let word = |(one, other): (&str, &str)| if one == other { one.to_owned() } else { without_numbers(one) };
    words.map(word).collect::<Vec<_>>().join(" ")
}

/// What a comparison of equal sides found: the verdict, the effect, and why there was none.
pub type Told = (Verdict, Option<f64>, Option<String>);

impl Tally {
    pub fn count(&mut self, (verdict, effect, reason): &Told) {
        self.verdicts.push(*verdict);
        if let Some(effect) = effect.filter(|_| *verdict != Verdict::Uncompared) {
            self.effects.push(effect.max(1.0 / effect) - 1.0);
            self.effects.arrange_by(f64::total_cmp);
        }
        if let Some(reason) = reason {
            add_reason(&mut self.reasons, reason, 1);
        }
    }

    pub fn times(&self, verdict: Verdict) -> usize {
        self.verdicts.iter().filter(|found| **found == verdict).count()
    }

    /// The smallest distance that at least a share `rank` of the comparisons does not exceed; `None` if nothing was compared.
    pub fn quantile(&self, rank: f64) -> Option<f64> {
        let place = (self.effects.len() as f64 * rank).ceil() as usize;
        self.effects.get(place.saturating_sub(1)).copied()
    }

    /// The noise floor: the 95th percentile of the differences between equal sides; `None` of too few for one.
    pub fn floor(&self) -> Option<f64> {
        self.quantile(0.95).filter(|_| self.effects.len() >= FLOOR_NEEDS)
    }
}

/// The fewest comparisons of which one in twenty is the largest.
pub const FLOOR_NEEDS: usize = 20;

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
