//! When a shift counts. Everything here is arithmetic on measurements, so that it can be tried on invented ones.

use crate::stats::{holm, median, quantile, signed_rank_p};

/// A larger ratio of times counts as slower. Where the linker happens to place a loop moves it by a few percent without
/// any change of its code; 10 % lies beyond that, and halfway to the slowdown that has to be seen.
const SLOWER: f64 = 1.10;

/// The chance of calling any bench slower when none is, over all benches of a run together, were no bench slower by more
/// than noise. With the customary 1 %, twenty runs over unchanged code would not all be green often enough.
const ALPHA: f64 = 0.002;

/// The chance of saying "same" of a bench that is slower by [`SLOWER`].
const BETA: f64 = 0.05;

/// A larger ratio of instruction counts counts as slower. Counts of the same program repeat to the instruction but for
/// what depends on addresses, such as how a copy is aligned; on the benches here that is far below 0.1 %.
const MORE_INSTRUCTIONS: f64 = 1.01;

/// Fewer instructions than this are not worth a red light, whatever their share.
const FEW_INSTRUCTIONS: u64 = 2000;

/// What can be said of one bench.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Slower, beyond noise: this fails the gate.
    Slower,
    /// Faster, beyond noise.
    Faster,
    /// A slowdown that would count is ruled out.
    Same,
    /// Too noisy to tell. This does not fail the gate, and is not "same" either.
    Inconclusive,
    /// Only in the head.
    New,
    /// Only in the base.
    Gone,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Slower => "SLOWER",
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Inconclusive => "inconclusive",
            Verdict::New => "new",
            Verdict::Gone => "gone",
        }
    }
}

/// The line of one bench.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub bench: String,
    /// What can be said of it.
    pub verdict: Verdict,
    /// What that rests on.
    pub evidence: String,
}

impl Row {
    /// The row of a bench that only one side has.
    pub fn unmatched(bench: String, verdict: Verdict) -> Self {
        Row { bench, verdict, evidence: String::new() }
    }
}

/// Judges two counts of instructions.
pub fn of_counts(bench: String, base: u64, head: u64) -> Row {
    let worth = |more: u64, less: u64| {
        more as f64 > less as f64 * MORE_INSTRUCTIONS && more.saturating_sub(less) > FEW_INSTRUCTIONS
    };
    let verdict = match () {
        () if worth(head, base) => Verdict::Slower,
        () if worth(base, head) => Verdict::Faster,
        () => Verdict::Same,
    };
    let percent = (head as f64 / base.max(1) as f64 - 1.0) * 100.0;
    Row { bench, verdict, evidence: format!("{percent:+.3} %  {base} -> {head} instructions") }
}

/// Judges the ratios of times, head to base, one a round, of all benches together: the more of them are tried, the more
/// a single one has to show.
pub fn of_ratios(benches: Vec<(String, Vec<f64>)>) -> Vec<Row> {
    let p_of = |sign: f64| {
        let p: Vec<f64> = benches.iter().map(|(_, ratios)| signed_rank_p(&shifted(ratios, sign, 0.0))).collect();
        holm(&p)
    };
    let (slower, faster) = (p_of(1.0), p_of(-1.0));
    let judged = benches.into_iter().zip(slower.into_iter().zip(faster));
    judged.map(|((bench, ratios), (slower, faster))| of_bench(bench, &ratios, slower, faster)).collect()
}

fn of_bench(bench: String, ratios: &[f64], p_slower: f64, p_faster: f64) -> Row {
    let middle = median(ratios);
    // Were the head slower by just SLOWER, the ratios would lie below that as seldom as this.
    let p_hidden = signed_rank_p(&shifted(ratios, -1.0, SLOWER.ln()));
    let verdict = match () {
        () if middle > SLOWER && p_slower < ALPHA => Verdict::Slower,
        () if middle < 1.0 / SLOWER && p_faster < ALPHA => Verdict::Faster,
        () if p_hidden < BETA => Verdict::Same,
        () => Verdict::Inconclusive,
    };
    let (low, high) = (quantile(ratios, 0.25), quantile(ratios, 0.75));
    let evidence = format!(
        "{:+.1} % (quartiles {:+.1} to {:+.1}), p {:.4}, {} rounds",
        (middle - 1.0) * 100.0,
        (low - 1.0) * 100.0,
        (high - 1.0) * 100.0,
        p_slower.min(p_faster),
        ratios.len()
    );
    Row { bench, verdict, evidence }
}

/// The logarithms, times `sign`, plus `offset`.
fn shifted(ratios: &[f64], sign: f64, offset: f64) -> Vec<f64> {
    ratios.iter().map(|ratio| sign * ratio.ln() + offset).collect()
}

/// The rounds below which even the clearest shift could not count, with so many benches. One round more than the least
/// leaves room for a round that a neighbour spoilt a little.
pub fn least_rounds(benches: usize) -> usize {
    (benches.max(1) as f64 / ALPHA).log2().ceil() as usize + 1
}

#[cfg(test)]
mod tests;
