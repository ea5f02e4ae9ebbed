//! Where a curve is flat: its cheapest description by plateaus and points between them.
//!
//! A description says of each point that it is on a plateau, and pays for how far it is from the middle of that, or that it lies
//! between plateaus, and pays a fixed price; each plateau has a price of its own. The cheapest of all descriptions is found by
//! dynamic programming over the points, as in B. Jackson et al., "An algorithm for optimal partitioning of data on an interval",
//! IEEE Signal Processing Letters 12 (2005). Distances are ratios, and prices are per octave, so neither the unit of the times
//! nor the number of sizes changes the result.

use super::{Point, median};

/// How far points of a plateau are from its middle, as a fraction, where nothing more is known of how far they may be off. In a virtual
/// machine on Zen 4, each half octave of L3 took 12% longer than the one before: part of its translations missed the TLB.
const NOISE: f64 = 0.15;

/// The price of a plateau. It takes three points half an octave apart to be worth it: any two are as good as a plateau by chance.
const PLATEAU: f64 = 4.5;

/// The price of half an octave that is on no plateau. A point on a plateau pays 1 where it is as far off as noise makes it.
const BETWEEN: f64 = 2.0;

/// The max price of a point on a plateau, for half an octave: a point further off was disturbed. It exceeds [`BETWEEN`], so
/// plateaus do not begin or end with such a point.
const DISTURBED: f64 = 3.0;

/// The most half octaves that a point represents if its neighbours are missing.
const REACH: f64 = 1.5;

/// Levels differ by more than this factor; what differs by less is one. On Zen 4, the time of a level grew by up to 1.6 times from one end
/// of it to the other, by what the TLB misses; neighbouring levels of known processors are twice as slow or more.
const RISE: f64 = 1.6;

/// Points that are as fast as each other, by index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flat {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) ns: f64,
}

/// The plateaus of points in ascending order of their sizes.
pub(super) fn flats(points: &[Point]) -> Vec<Flat> {
    if points.len() < 3 {
        return Vec::new();
    }
    ascending(points, cheapest(points))
}

fn cheapest(points: &[Point]) -> Vec<Flat> {
    let weights: Vec<f64> = (0..points.len()).map(|at| weight(points, at)).collect();
    // The price of the cheapest description of the points before each, and where its last part begins.
    let mut best = vec![(0.0, 0)];
    for end in 1..=points.len() {
        let mut cheapest = (best[end - 1].0 + BETWEEN * weights[end - 1], end - 1);
        for first in 0..end - 1 {
            let price = best[first].0 + PLATEAU + distance(&points[first..end], &weights[first..end]);
            if price < cheapest.0 {
                cheapest = (price, first);
            }
        }
        best.push(cheapest);
    }
    let mut flats = Vec::new();
    let mut end = points.len();
    while end > 0 {
        let first = best[end].1;
        if end - first > 1 {
            flats.push(flat(points, first, end - 1));
        }
        end = first;
    }
    flats.reverse();
    flats
}

/// How many half octaves a point represents.
fn weight(points: &[Point], at: usize) -> f64 {
    let octave = |at: usize| (points[at].size_bytes as f64).log2();
    let (before, after) = (at.saturating_sub(1), (at + 1).min(points.len() - 1));
    // A point at an end has one neighbour, and represents as much beyond the end.
    let sides = if after - before == 2 { 1.0 } else { 2.0 };
    (sides * (octave(after) - octave(before))).min(REACH)
}

/// What points pay for being on one plateau.
fn distance(points: &[Point], weights: &[f64]) -> f64 {
    let middle = median(points.iter().map(|point| point.ns)).unwrap_or(f64::NAN);
    let price = |point: &Point| {
        let off = (point.ns / middle).ln() / point.slack.max(NOISE);
        (off * off).min(DISTURBED)
    };
    points.iter().zip(weights).map(|(point, weight)| weight * price(point)).sum()
}

fn flat(points: &[Point], first: usize, last: usize) -> Flat {
    let ns = median(points[first..=last].iter().map(|point| point.ns)).unwrap_or(f64::NAN);
    Flat { first, last, ns }
}

/// Larger blocks are never faster: plateaus that hardly differ are one, and of two that fall the first was disturbed.
fn ascending(points: &[Point], flats: Vec<Flat>) -> Vec<Flat> {
    let mut kept: Vec<Flat> = Vec::new();
    for mut next in flats {
        while let Some(last) = kept.pop_if(|last| next.ns < RISE * last.ns) {
            if next.ns * RISE > last.ns {
                next = flat(points, last.first, next.last);
            }
        }
        kept.push(next);
    }
    kept
}
