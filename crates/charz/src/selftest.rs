//! Comparisons of the machine with itself: differences where there are none, and injected ones that must be found.

#[cfg(test)]
mod tests;

use charz_data::Arrange;
use std::collections::BTreeMap;
use std::time::Duration;

use charz_kernels::{Card, Params, params};

use charz_analysis::compare::{Row, Verdict};
use charz_data::report::Invocation;
use charz_measure::invoke::{Invoke, MeasureRequest};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub verdicts: Vec<Verdict>,
    /// The distances between the sides, sorted, as fractions: 0.02 where one performs 1.02 times as well as the other.
    pub effects: Vec<f64>,
    /// Why there was no verdict, and how often. A number in which reasons of one kind differ is `N`.
    pub reasons: BTreeMap<String, usize>,
}

/// Counts a reason with those of its kind. What all of them have in common stays: the runs that a verdict takes are a number to act on.
pub fn add_reason(reasons: &mut BTreeMap<String, usize>, reason: &str, times: usize) {
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

impl Tally {
    pub fn count(&mut self, row: &Row) {
        self.verdicts.push(row.verdict);
        if let Some(effect) = row.effect.filter(|_| row.verdict != Verdict::Uncompared) {
            self.effects.push(effect.max(1.0 / effect) - 1.0);
            self.effects.arrange_by(f64::total_cmp);
        }
        if let Some(reason) = &row.reason {
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

/// Whether a kernel can be given more work by what [`Planted`] changes.
pub fn can_grow(card: &Card) -> bool {
    card.obeys(&params::ITERATIONS) || card.obeys(&params::SIZE)
}

/// Does more work than ordered and reports only what was ordered, so it is slower by a known share on any machine.
pub struct Planted<'a> {
    pub inner: &'a dyn Invoke,
    pub share: f64,
}

impl Planted<'_> {
    fn more(&self, order: &MeasureRequest) -> MeasureRequest {
        let grown = |number: u64, step: u64| ((number as f64 * (1.0 + self.share) / step as f64).round() as u64) * step;
        let obeys = |param| charz_workloads::find(&order.kernel).is_some_and(|kernel| kernel.card().obeys(param));
        let mut more = order.clone();
        if obeys(&params::ITERATIONS) {
            more.params.iterations = grown(order.params.iterations, 1);
        } else if obeys(&params::SIZE) {
            more.params.size_bytes = grown(order.params.size_bytes, LINE_BYTES);
        }
        more
    }
}

/// Kernels stream whole cache lines.
const LINE_BYTES: u64 = 64;

impl Invoke for Planted<'_> {
    fn invoke(&self, order: &MeasureRequest, seed: u64) -> Invocation {
        let more = self.more(order);
        let mut invocation = self.inner.invoke(&more, seed);
        // Only one of the two grew; the other factor is 1.
        let credited = |done: u64| {
            let done = u128::from(done) * u128::from(order.params.iterations) * u128::from(order.params.size_bytes);
            let share = done / (u128::from(more.params.iterations) * u128::from(more.params.size_bytes)).max(1);
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let work = |params: &Params| params.iterations as f64 * params.size_bytes as f64;
        let slowdown = work(&more.params) / work(&order.params);
        for lap in invocation.runs.iter_mut().flat_map(|run| &mut run.laps) {
            (lap.ops, lap.bytes) = (credited(lap.ops), credited(lap.bytes));
            lap.blocks.iter_mut().flat_map(|blocks| &mut blocks.times).for_each(|time| *time *= slowdown);
        }
        invocation
    }

    fn rest(&self, time: Duration) {
        self.inner.rest(time);
    }
}
