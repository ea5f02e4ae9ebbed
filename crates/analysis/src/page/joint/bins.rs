//! Fewer bins out of many: neighbours become one.

use std::collections::BTreeMap;

use crate::figure::{Bar, Pair};
use charz_data::histogram::{bin, bin_end};
use charz_data::report::{Histogram, JointHistogram};

/// The least that a logarithmic axis shows.
const LEAST: f64 = 0.5;

#[derive(Clone, Copy)]
enum Width {
    /// An octave has two to this power of them.
    Part(u32),
    /// This many octaves.
    Octaves(u32),
}

/// From fine to coarse. Where every octave of 64 bits had pairs with every other, the last would still be four.
const WIDTHS: [Width; 10] = [
    Width::Part(6),
    Width::Part(5),
    Width::Part(4),
    Width::Part(3),
    Width::Part(2),
    Width::Part(1),
    Width::Part(0),
    Width::Octaves(2),
    Width::Octaves(8),
    Width::Octaves(32),
];

/// From what to what the bin goes in which a time is.
fn span(nanos: u64, width: Width) -> [u64; 2] {
    match width {
        Width::Part(bits) => [bin(nanos, bits), bin_end(nanos, bits)],
        Width::Octaves(_) if nanos == 0 => [0, 1],
        Width::Octaves(many) => {
            let first = nanos.ilog2() / many * many;
            [1_u64 << first, 1_u64.checked_shl(first + many).unwrap_or(u64::MAX)]
        }
    }
}

/// The ends as an axis has them.
fn ends([low, high]: [u64; 2]) -> [f64; 2] {
    [(low as f64).max(LEAST), (high as f64).max(1.0)]
}

/// The bins of pairs, no more than so many; and whether they are wider than those of the samples, of which an octave has eight.
pub(super) fn pairs(samples: &JointHistogram, most: usize) -> (Vec<Pair>, bool) {
    let fine = WIDTHS.iter().position(|width| matches!(width, Width::Part(3))).unwrap_or(0);
    let bins = samples.bins.iter().map(|[first, second, count]| ([*first, *second], *count));
    let (found, steps) = widened(bins, &WIDTHS[fine..], most);
    let pair = |([x, y], count): ([[u64; 2]; 2], u64)| Pair { x: ends(x), y: ends(y), count };
    (found.into_iter().map(pair).collect(), steps > 0)
}

/// The bins of one time, no more than so many.
pub(super) fn bars(marginal: &Histogram, most: usize) -> Vec<Bar> {
    let bins = marginal.bins.iter().map(|[low, count]| ([*low], *count));
    let (found, _) = widened(bins, &WIDTHS, most);
    found.into_iter().map(|([span], count)| Bar { x: ends(span), count }).collect()
}

/// Bins of the first of these widths at which there are no more than `most`, or of the last; and the place of that width.
fn widened<const N: usize>(
    bins: impl Iterator<Item = ([u64; N], u64)> + Clone,
    widths: &[Width],
    most: usize,
) -> (BTreeMap<[[u64; 2]; N], u64>, usize) {
    let at = |width: Width| {
        let mut found = BTreeMap::new();
        for (times, count) in bins.clone() {
            let sum: &mut u64 = found.entry(times.map(|time| span(time, width))).or_default();
            *sum = sum.saturating_add(count);
        }
        found
    };
    let mut places = widths.iter().enumerate().map(|(place, width)| (at(*width), place));
    let fits = |(found, place): &(BTreeMap<_, _>, usize)| found.len() <= most || place + 1 == widths.len();
    places.find(fits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Nothing is lost, bins do not overlap, and there are no more than there may be.
        #[test]
        fn bins_become_fewer_and_keep_their_sum(times in prop::collection::vec((any::<u64>(), 0_u32..64, 1_u64..9), 1..400), most in 4_usize..100) {
            let mut bins: Vec<[u64; 3]> =
                times.iter().map(|(time, shift, count)| [time >> shift, (time >> (shift / 2)) ^ 5, *count]).collect();
            bins.sort_unstable();
            let all: u64 = bins.iter().map(|[.., count]| count).sum();
            let samples = JointHistogram { bins, ..JointHistogram::default() };
            let (pairs, _) = pairs(&samples, most);
            prop_assert!(pairs.len() <= most.max(9), "{}", pairs.len());
            prop_assert_eq!(pairs.iter().map(|pair| pair.count).sum::<u64>(), all);
            let marginal = Histogram { bins: samples.bins.iter().map(|[first, _, count]| [*first, *count]).collect(), ..Histogram::default() };
            let bars = bars(&marginal, most);
            prop_assert!(bars.len() <= most);
            prop_assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), all);
            prop_assert!(bars.windows(2).all(|two| two[0].x[1] <= two[1].x[0] && two[0].x[0] < two[0].x[1]), "{:?}", bars);
        }
    }

    #[test]
    fn a_bin_holds_its_time() {
        for nanos in [0, 1, 2, 7, 8, 9, 100, 1023, 1024, u64::MAX / 3, u64::MAX] {
            for width in WIDTHS {
                let [low, high] = span(nanos, width);
                assert!(low <= nanos && (nanos < high || high == u64::MAX), "{nanos}: {low} to {high}");
            }
        }
    }
}
